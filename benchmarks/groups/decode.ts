/** Decoding one page of 200 punches: the library against the floor, `JSON.parse`, and against validators. */
import { pageSize, shapes } from "../clients/page.ts"
import { called, type Case, compare, type Row, rowOf } from "../measure.ts"
import { atLeast, atMost, number, range, type Section, type Setting, table } from "../report.ts"

const floor = "`JSON.parse` alone"
const own = "**effect-time-punches**"
const zod = "zod 4"

const basic: ReadonlyArray<Case> = [
  { name: floor, client: "decoding.ts#parse" },
  { name: own, client: "decoding.ts#ours" }
]

const others: ReadonlyArray<Case> = [
  { name: "the same schema, interpreted", client: "decoding.ts#interpreted" },
  { name: zod, client: "validators.ts#zod" },
  { name: "valibot", client: "validators.ts#valibot" },
  { name: "arktype", client: "validators.ts#arktype" },
  { name: "typebox, compiled, then dates", client: "validators.ts#typebox" },
  { name: "ajv, then dates", client: "validators.ts#ajv" }
]

export const decode = ({ quick }: Setting): Section => {
  const cases = quick ? basic : [...basic, ...others]
  const measured = shapes.map((target) => {
    const rows = compare(cases, {
      target,
      punches: pageSize,
      warmup: 200,
      times: 200,
      samples: 3
    })
    const bytes = new Map(
      cases.map((
        { client, name }
      ) => [name, called<number>("allocated.ts", "allocated", { client, target }) / pageSize])
    )
    return { target, rows, bytes }
  })
  const tableOf = (target: string, rows: ReadonlyArray<Row>, bytes: ReadonlyMap<string, number>) =>
    table(
      [
        `one page, ${target === "ascii" ? "ASCII" : "other scripts"}`,
        "ns a punch",
        "cpu ns",
        "× `JSON.parse`",
        "quartiles",
        "bytes"
      ],
      rows.map((row) => [
        row.name,
        number(row.wall * 1000, 0),
        number(row.cpu * 1000, 0),
        number(row.cpuRatio),
        range(row.cpuRange),
        number(bytes.get(row.name) ?? NaN, 0)
      ])
    )
  return {
    name: "decode",
    text: measured.map(({ bytes, rows, target }) => tableOf(target, rows, bytes)).join("\n\n"),
    targets: measured.flatMap(({ bytes, rows, target }) => {
      const text = target === "ascii" ? "ASCII" : "other scripts"
      const ratio = rowOf(rows, own).cpuRatio
      return [
        atMost(`decode, × \`JSON.parse\`, ${text}`, 1.3, ratio),
        atMost(
          `decode, × the bytes of \`JSON.parse\`, ${text}`,
          2.3,
          (bytes.get(own) ?? NaN) / (bytes.get(floor) ?? NaN)
        ),
        ...(quick ? [] : [atLeast(`decode, times as fast as zod 4, ${text}`, 2.3, rowOf(rows, zod).cpuRatio / ratio)])
      ]
    }),
    chart: measured.slice(0, 1).map(({ rows }) => ({
      title: "Decode one page, ASCII: processor time, as a multiple of JSON.parse",
      bars: rows.map(({ cpuRatio, name }) => ({
        name: name.replaceAll(/[`*]/g, ""),
        value: cpuRatio,
        own: name === own
      }))
    }))
  }
}
