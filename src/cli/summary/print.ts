/**
 * A summary as a table with bars and a line of totals, and for programs: exact sums, a row for each group in the order of
 * its key, without a line of totals.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { Cents } from "../../Ids.ts"
import * as Amounts from "../../payroll/Amounts.ts"
import * as Labor from "../../payroll/Labor.ts"
import { CommandFailure, failure } from "../failure.ts"
import type { Names } from "../flags/names.ts"
import { formatHours, formatMoney, formatNumber } from "../print/format.ts"
import type { CsvStyle } from "../print/machine.ts"
import { bar, type Column, makeTable, nameColumn, type Screen } from "../print/table.ts"
import {
  compareKeys,
  type Grouping,
  type Groupings,
  isId,
  type Keys,
  nameOfKey,
  type ThresholdColumn
} from "./groups.ts"

/** The columns of a summary that its flags add. */
interface SummaryColumns {
  readonly names: Names | undefined
  readonly overThreshold: ReadonlyArray<ThresholdColumn>
}

type Entries = ReadonlyArray<readonly [Keys, Labor.Totals]>

/** The lines of the table. Fails if a total over all groups exceeds 2^53. */
export const tableOf = (
  by: Groupings,
  entries: Entries,
  added: SummaryColumns,
  screen: Screen
): Effect.Effect<ReadonlyArray<string>, CommandFailure> =>
  Effect.map(sumOf(entries), (totals) => makeTable(columnsOf(by, added), screen).lines(linesOf(by, entries, totals)))

interface Line {
  /** Empty in the line of totals. */
  readonly keys: Keys
  /** How many keys, from the first one, are those of the line above. */
  readonly same: number
  readonly totals: Omit<Labor.Totals, "gross" | "paidBreaks" | "unpaidBreaks">
  /** Share of the longest net time, 0 to 1. */
  readonly share: number
}

const isTotal = ({ keys }: Line): boolean => keys.length === 0

const barCells = 24

const columnsOf = (by: Groupings, { names, overThreshold }: SummaryColumns): ReadonlyArray<Column<Line>> => [
  ...by.flatMap((each, at) => keyColumnsOf(each, at, names)),
  { title: "punches", align: "right", cell: ({ totals }) => formatNumber(totals.punches) },
  {
    title: "incomplete",
    align: "right",
    cell: ({ totals }) => formatNumber(totals.incomplete),
    dropOrder: 3,
    warns: ({ totals }) => totals.incomplete > 0
  },
  { title: "net", align: "right", cell: ({ totals }) => formatHours(totals.net) },
  ...(by.length > 1
    ? []
    : [{ title: "", cell: (line: Line) => isTotal(line) ? "" : bar(line.share, barCells), dropOrder: 1 }]),
  ...overThreshold.map(({ of, title, total }): Column<Line> => ({
    title,
    align: "right",
    cell: (line) => formatHours(isTotal(line) ? total : of(line.keys))
  })),
  { title: "cost", align: "right", cell: ({ totals }) => formatMoney(totals.cost) },
  { title: "tips", align: "right", cell: ({ totals }) => formatMoney(totals.tips) }
]

/** A key, and its name. They are blank if they and all keys before them are those of the line above. */
const keyColumnsOf = (by: Grouping, at: number, names: Names | undefined): ReadonlyArray<Column<Line>> => {
  const idOf = ({ keys, same }: Line) =>
    keys.length === 0 ? (at === 0 ? "total" : "") : at < same ? "" : `${keys[at] ?? "none"}`
  const nameOf = ({ keys, same }: Line) =>
    names === undefined || !isId(by) || keys.length === 0
      ? undefined
      : at < same
      ? ""
      : nameOfKey(by, names, keys[at] ?? null)
  const hasNames = names !== undefined && isId(by)
  return [
    { title: isId(by) ? `${by}_id` : by, cell: idOf, dropOrder: hasNames ? 2 : undefined },
    ...hasNames ? [nameColumn(by, nameOf, idOf, undefined, 40)] : []
  ]
}

/** Sorts by the keys; groups by one id by net time, longest first. */
const linesOf = (
  by: Groupings,
  entries: Entries,
  totals: Line["totals"]
): ReadonlyArray<Line> => {
  const byTime = by.length === 1 && by.every(isId)
  const longest = Math.max(...entries.map(([, { net }]) => Duration.toMillis(net)))
  const groups = entries
    .map(([keys, totals]) => ({ keys, totals, share: longest === 0 ? 0 : Duration.toMillis(totals.net) / longest }))
    .toSorted((a, b) => (byTime ? b.share - a.share : 0) || compareKeys(a.keys, b.keys))
  return [
    ...groups.map(({ keys, share, totals }, index) => {
      const same = sameKeys(keys, groups[index - 1]?.keys ?? [])
      return { keys, same, totals, share }
    }),
    { keys: [], same: 0, totals, share: 0 }
  ]
}

const sameKeys = (one: Keys, other: Keys): number => {
  const first = one.findIndex((key, at) => key !== other[at])
  return first < 0 ? one.length : first
}

/** The total of all groups, which may exceed 2^53 although no group does. */
const sumOf = Effect.fnUntraced(function*(
  entries: Entries
): Effect.fn.Return<Line["totals"], CommandFailure> {
  const sums = Amounts.total(entries.map(([, totals]) => totals))
  const name = Amounts.overflow(sums)
  if (name !== undefined) {
    return yield* failure(
      "data",
      `the sum of ${name} over all groups exceeds 2^53`,
      "Sum fewer punches at a time."
    )
  }
  return {
    punches: sums.punches,
    incomplete: sums.incomplete,
    anomalous: entries.reduce((sum, [, { anomalous }]) => sum + anomalous, 0),
    net: Duration.millis(sums.net),
    cost: Cents.make(sums.cost),
    tips: Cents.make(sums.tips)
  }
})

/** The columns before the sums. The name of a key follows its id. */
const keyColumns = (
  by: Groupings,
  { names, overThreshold }: SummaryColumns,
  form: "csv" | "json"
): Labor.KeyColumns<Keys> => ({
  ...Object.fromEntries(by.flatMap((each, at) => [
    [isId(each) ? `${each}${form === "csv" ? "_id" : "Id"}` : each, (keys: Keys) => keys[at]] as const,
    ...(isId(each) && names !== undefined
      ? [[`${each}${form === "csv" ? "_name" : "Name"}`, (keys: Keys) => nameOfKey(each, names, keys[at])] as const]
      : [])
  ])),
  ...Object.fromEntries(
    overThreshold.map((column) => [column[form], (keys: Keys) => Duration.toSeconds(column.of(keys))])
  )
})

/** CSV, with columns such as `user_id`, `user_name` and `over_seconds`. */
export const csvOf = (
  by: Groupings,
  entries: Entries,
  added: SummaryColumns,
  { start, ...form }: CsvStyle
): string => start + Labor.toCsv(entries, { columns: keyColumns(by, added, "csv"), ...form })

/** A JSON array, with keys such as `userId`, `userName` and `overSeconds`. */
export const jsonOf = (by: Groupings, entries: Entries, added: SummaryColumns): string =>
  Labor.toJson(entries, { columns: keyColumns(by, added, "json") })
