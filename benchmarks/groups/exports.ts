/** Exports to a file, against a loop that writes JSON lines without validation. */
import { type Case, compare, rowOf } from "../measure.ts"
import { atMost, number, range, type Section, type Setting, table } from "../report.ts"

const [ndjson, csv] = ["**effect-time-punches**, NDJSON", "**effect-time-punches**, CSV"]

const cases: ReadonlyArray<Case> = [
  { name: "raw undici, `json()`, a line of JSON a punch", client: "rawExport.ts#lines" },
  { name: ndjson, client: "exports.ts#ndjson" },
  { name: csv, client: "exports.ts#csv" }
]

export const exports = ({ pages, quick, url }: Setting): Section => {
  const rows = compare(cases, {
    target: `${url}/scripts`,
    punches: pages * 200,
    warmup: 1,
    times: quick ? 2 : 1,
    samples: 3
  })
  return {
    name: "export",
    text: table(
      [
        "punches to a file, other scripts",
        "cpu µs a punch",
        "wall µs a punch",
        "peak RSS MB",
        "× raw cpu",
        "quartiles",
        "× raw wall"
      ],
      rows.map((row) => [
        row.name,
        number(row.cpu),
        number(row.wall),
        number(row.peakRssMb, 0),
        number(row.cpuRatio),
        range(row.cpuRange),
        number(row.wallRatio)
      ])
    ),
    targets: [
      atMost("export to NDJSON, × the cpu of a raw loop that writes JSON lines", 2.2, rowOf(rows, ndjson).cpuRatio),
      atMost("export to CSV, × the cpu of a raw loop that writes JSON lines", 2.2, rowOf(rows, csv).cpuRatio)
    ]
  }
}
