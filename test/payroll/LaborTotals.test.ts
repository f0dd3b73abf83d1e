import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Duration, Effect, HashMap, Schema, Stream } from "effect"
import { Csv } from "effect/encoding"
import { Cents, UserId } from "../../src/Ids.ts"
import * as Labor from "../../src/payroll/Labor.ts"
import { Sample } from "../support/arbitraryPunch.ts"
import { untyped } from "../support/untyped.ts"

const totals = (changes: Partial<Labor.Totals> = {}): Labor.Totals => ({
  punches: 3,
  incomplete: 1,
  anomalous: 2,
  gross: Duration.hours(8),
  paidBreaks: Duration.minutes(10),
  unpaidBreaks: Duration.minutes(30),
  net: Duration.millis(27_000_500),
  cost: Cents.make(11_625),
  tips: Cents.make(-30),
  ...changes
})

const header = [
  "punches",
  "incomplete",
  "anomalous",
  "gross_seconds",
  "paid_break_seconds",
  "unpaid_break_seconds",
  "net_seconds",
  "cost_cents",
  "tips_cents"
]
const sums = "3,1,2,28800,600,1800,27000.5,11625,-30"

describe("Labor.toCsv", () => {
  const columns = { user_id: (id: number) => id }

  it("writes the columns of the key, then the sums, seconds and cents", () => {
    assert.strictEqual(Labor.toCsv([[501, totals()]], { columns }), `user_id,${header}\r\n501,${sums}\r\n`)
  })

  it("writes the header for no sums, and the newline that is wanted", () => {
    assert.strictEqual(Labor.toCsv([], { columns, newline: "\n" }), `user_id,${header}\n`)
  })

  it("sorts by the columns from left to right: numbers by value, then texts, then what is missing", () => {
    const entries = [["zz", 2], ["!", 10], [undefined, 1], ["!", 9], [7, 0], [10, 0]] as const
    const text = Labor.toCsv(
      entries.map((key): [typeof key, Labor.Totals] => [key, totals()]),
      { columns: { first: ([first]) => first, second: ([, second]) => second } }
    )

    assert.deepStrictEqual(
      text.split("\r\n").slice(1, -1).map((line) => line.replace(`,${sums}`, "")),
      ["7,0", "10,0", "!,9", "!,10", "zz,2", ",1"]
    )
  })

  it("guards a text that a spreadsheet could run, and quotes", () => {
    const names = ["=1+1", `Ann "A", x`, "a\rb"]
    const entries = names.map((name): [string, Labor.Totals] => [name, totals()])
    const text = Labor.toCsv(entries, { columns: { name: (name) => name }, newline: "\n" })

    assert.deepStrictEqual(text.split("\n").slice(1, -1), [
      `'=1+1,${sums}`,
      `"Ann ""A"", x",${sums}`,
      `"a\rb",${sums}`
    ])
    assert.strictEqual(
      Labor.toCsv(entries.slice(0, 1), { columns: { name: (name) => name }, newline: "\n", formulas: "keep" }),
      `name,${header}\n=1+1,${sums}\n`
    )
  })

  it("refuses a column with the name of a sum when it is compiled", () => {
    const text = Labor.toCsv([[501, totals()]], {
      columns: {
        // @ts-expect-error: a sum has this name
        punches: (id: number) => id
      }
    })

    assert.match(text, /^punches,punches,/)
  })
})

describe("the columns of Labor.toCsv", () => {
  const columns = { user_id: (user: number) => user }

  it("have the key and its sums", () => {
    const text = Labor.toCsv([[501, totals()]], {
      columns: { user_id: (user) => user, hours: (_, { net }) => Duration.toHours(net).toFixed(2) },
      sums: [],
      newline: "\n"
    })

    assert.strictEqual(text, `user_id,hours\n501,${Duration.toHours(totals().net).toFixed(2)}\n`)
  })

  it("are the sums that are chosen, in their order", () => {
    const text = Labor.toCsv([[501, totals()]], { columns, sums: ["cost_cents", "punches"], newline: "\n" })

    assert.strictEqual(text, `user_id,cost_cents,punches\n501,${totals().cost},${totals().punches}\n`)
  })

  it("are sums that exist", () => {
    assert.throws(
      () => Labor.toCsv([], { columns, sums: untyped(["net"]) }),
      /sums\[0\]: must be one of "punches".*did you mean net_seconds\?/
    )
  })
})

describe("Labor.toJson", () => {
  it("writes an array with an object for each key, one a line", () => {
    const text = Labor.toJson([[502, totals()], [501, totals({ net: Duration.zero })]], {
      columns: { userId: (id) => id, department: () => undefined }
    })

    assert.strictEqual(text.split("\n").length, 5)
    assert.deepStrictEqual(
      JSON.parse(text),
      [501, 502].map((userId) => ({
        userId,
        department: null,
        punches: 3,
        incomplete: 1,
        anomalous: 2,
        grossSeconds: 28_800,
        paidBreakSeconds: 600,
        unpaidBreakSeconds: 1800,
        netSeconds: userId === 501 ? 0 : 27_000.5,
        costCents: 11_625,
        tipsCents: -30
      }))
    )
  })

  it("writes an empty array for no sums", () => {
    assert.strictEqual(Labor.toJson([], { columns: {} }), "[]\n")
  })
})

const Name = Schema.String

describe("The text of sums", () => {
  it.effect.prop(
    "has every sum of a rollup, as a reader of CSV and of JSON gets it, whatever the order of the punches",
    [Arbitrary.array(Sample, { maxLength: 20 }), Name],
    ([samples, name]) =>
      Effect.gen(function*() {
        const punches = samples.map((sample) => sample.punch)
        const columns = { userId: (id: UserId) => id, name: () => name }
        const run = (input: typeof punches) =>
          Stream.run(Stream.fromIterable(input), Labor.rollup((punch) => punch.userId, { rounding: "halfUp" }))
        const [byUser, turned] = [yield* run(punches), yield* run(punches.toReversed())]
        const [csv, json] = [Labor.toCsv(byUser, { columns }), Labor.toJson(byUser, { columns })]

        assert.strictEqual(Labor.toCsv(turned, { columns }), csv)
        assert.strictEqual(Labor.toJson(turned, { columns }), json)
        const [, ...rows] = yield* Stream.make(csv).pipe(
          Stream.pipeThroughChannel(Csv.decodeString({ headers: false })),
          Stream.runCollect
        )
        const objects: ReadonlyArray<Record<string, unknown>> = JSON.parse(json)
        const expected = [...HashMap.entries(byUser)].toSorted(([a], [b]) => a - b).map(([id, each]) => [
          each.punches,
          each.incomplete,
          each.anomalous,
          Duration.toSeconds(each.gross),
          Duration.toSeconds(each.paidBreaks),
          Duration.toSeconds(each.unpaidBreaks),
          Duration.toSeconds(each.net),
          each.cost,
          each.tips,
          id
        ])
        assert.deepStrictEqual(rows.map(([id, , ...cells]) => [...cells, id].map(Number)), expected)
        assert.deepStrictEqual(
          objects.map(({ name: _, userId, ...cells }) => [...Object.values(cells), userId]),
          expected
        )
        assert.isTrue(objects.every((each) => each["name"] === name))
      })
  )
})
