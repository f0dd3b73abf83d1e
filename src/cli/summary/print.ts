/**
 * A summary as a table with bars and a line of totals, and for programs: exact sums, a row for each group in the order of
 * its key, without a line of totals.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { Cents } from "../../Ids.ts"
import * as Labor from "../../payroll/Labor.ts"
import { CommandFailure, exitCode } from "../failure.ts"
import type { Names } from "../flags/names.ts"
import { formatHours, formatMoney, formatNumber } from "../terminal/format.ts"
import { bar, type Column, makeTable, nameColumn } from "../terminal/table.ts"
import { type AboveColumn, compareKeys, type Grouping, type Key, nameOfKey } from "./groups.ts"

/** The columns of a summary that its flags add. */
export interface SummaryColumns {
  readonly names: Names | undefined
  /** Only with `--by user`. */
  readonly above: ReadonlyArray<AboveColumn>
}

type Entries = ReadonlyArray<readonly [Key, Labor.Totals]>

/** The lines of the table, for a terminal of a width. Fails if a total over all groups exceeds 2^53. */
export const tableOf = (
  by: Grouping,
  entries: Entries,
  further: SummaryColumns,
  width: number
): Effect.Effect<ReadonlyArray<string>, CommandFailure> =>
  Effect.map(sumOf(entries), (totals) => makeTable(columnsOf(by, further), width).lines(linesOf(by, entries, totals)))

interface Line {
  readonly key: Key
  readonly totals: Omit<Labor.Totals, "gross" | "paidBreaks" | "unpaidBreaks">
  /** Share of the longest net time, 0 to 1; undefined in the line of totals. */
  readonly share: number | undefined
}

const barCells = 24

const columnsOf = (by: Grouping, { above, names }: SummaryColumns): ReadonlyArray<Column<Line>> => [
  { title: by === "day" ? "day" : `${by}_id`, cell: ({ key }) => `${key ?? "none"}` },
  ...(names === undefined || by === "day"
    ? []
    : [nameColumn(by, ({ key }: Line) => nameOfKey(by, names, key) ?? "", 2, 40)]),
  { title: "punches", align: "right", cell: ({ totals }) => formatNumber(totals.punches) },
  { title: "incomplete", align: "right", cell: ({ totals }) => formatNumber(totals.incomplete), leaves: 3 },
  { title: "net", align: "right", cell: ({ totals }) => formatHours(totals.net) },
  { title: "", cell: ({ share }) => share === undefined ? "" : bar(share, barCells), leaves: 1 },
  ...above.map(({ of, title, total }): Column<Line> => ({
    title,
    align: "right",
    cell: ({ key, share }) => formatHours(share === undefined ? total : of(key))
  })),
  { title: "cost", align: "right", cell: ({ totals }) => formatMoney(totals.cost) },
  { title: "tips", align: "right", cell: ({ totals }) => formatMoney(totals.tips) }
]

/** Sorts days by date, other groups by net time, longest first. */
const linesOf = (
  by: Grouping,
  entries: Entries,
  totals: Line["totals"]
): ReadonlyArray<Line> => {
  const longest = Math.max(...entries.map(([, { net }]) => Duration.toMillis(net)))
  const lines = entries
    .map(([key, totals]) => ({ key, totals, share: longest === 0 ? 0 : Duration.toMillis(totals.net) / longest }))
    .toSorted((a, b) => (by === "day" ? 0 : b.share - a.share) || compareKeys(a.key, b.key))
  return [...lines, { key: "total", totals, share: undefined }]
}

/** The total of all groups, which may exceed 2^53 although no group does. */
const sumOf = Effect.fnUntraced(function*(
  entries: Entries
): Effect.fn.Return<Line["totals"], CommandFailure> {
  const sum = (f: (totals: Labor.Totals) => number) => entries.reduce((total, [, totals]) => total + f(totals), 0)
  const sums = {
    net: sum((totals) => Duration.toMillis(totals.net)),
    cost: sum((totals) => totals.cost),
    tips: sum((totals) => totals.tips)
  }
  for (const [name, value] of Object.entries(sums)) {
    if (!Number.isSafeInteger(value)) {
      const message = `the sum of ${name} over all groups exceeds 2^53`
      return yield* new CommandFailure({ message, advice: ["Sum fewer punches at a time."], code: exitCode.data })
    }
  }
  return {
    punches: sum((totals) => totals.punches),
    incomplete: sum((totals) => totals.incomplete),
    anomalous: sum((totals) => totals.anomalous),
    net: Duration.millis(sums.net),
    cost: Cents.make(sums.cost),
    tips: Cents.make(sums.tips)
  }
})

/** The columns before the sums. `idOf` joins the words of a column's name. The name of the key follows its id. */
const keyColumns = (
  by: Grouping,
  { above, names }: SummaryColumns,
  form: "csv" | "json",
  idOf: (word: string) => string
): Labor.KeyColumns<Key> => ({
  [by === "day" ? by : idOf("id")]: (key: Key) => key,
  ...(by === "day" || names === undefined ? {} : { [idOf("name")]: (key: Key) => nameOfKey(by, names, key) }),
  ...Object.fromEntries(above.map((column) => [column[form], (key: Key) => Duration.toSeconds(column.of(key))]))
})

/** CSV, with columns such as `user_id`, `user_name` and `above_seconds`. */
export const csvOf = (by: Grouping, entries: Entries, further: SummaryColumns): string =>
  Labor.toCsv(entries, { columns: keyColumns(by, further, "csv", (word) => `${by}_${word}`) })

/** A JSON array, with keys such as `userId`, `userName` and `aboveSeconds`. */
export const jsonOf = (by: Grouping, entries: Entries, further: SummaryColumns): string =>
  Labor.toJson(entries, {
    columns: keyColumns(by, further, "json", (word) => `${by}${word === "id" ? "Id" : "Name"}`)
  })
