/** The sums over punches, and their text as CSV and JSON. `Labor` exports it all. Pure. */
import * as Duration from "effect/Duration"
import * as Schema from "effect/Schema"
import { type Cents, TimePunchId } from "./Ids.ts"
import { type Cell, csvRecord } from "./internal/base/csvCell.ts"

/**
 * The sums over the punches of one key.
 *
 * @since 0.1.0
 */
export interface Totals {
  /** Number of punches, incomplete and anomalous ones included. */
  readonly punches: number
  /** Number of punches with unknown durations (`WorkedTime.of`). Of these only the tips are in the sums below. */
  readonly incomplete: number
  /** Number of punches with at least one anomaly (`WorkedTime.of`). */
  readonly anomalous: number
  /** Time from clock-in to clock-out. */
  readonly gross: Duration.Duration
  /** Time in paid breaks, without what an unpaid break covers. Part of `net`. */
  readonly paidBreaks: Duration.Duration
  /** Time in unpaid breaks. */
  readonly unpaidBreaks: Duration.Duration
  /** Paid time: `gross` without `unpaidBreaks`. */
  readonly net: Duration.Duration
  /** Wages in cents, rounded punch by punch. Without tips. */
  readonly cost: Cents
  /** Tips in cents. */
  readonly tips: Cents
}

/**
 * A sum exceeds the safe integers, beyond which an addition can lose cents. No real sum is that large: check the wage,
 * the tips and the instants of the punch.
 *
 * @since 0.1.0
 */
export class SumOverflow
  extends Schema.TaggedError<SumOverflow>("effect-time-punches/Labor/SumOverflow")("SumOverflow", {
    /** The sum that overflows. */
    field: Schema.Literals(["gross", "cost", "tips", "net"]),
    /** The punch whose addition overflows it. */
    punchId: TimePunchId
  })
{
  /** The sum and the punch. */
  override get message(): string {
    return `the sum of ${this.field} is no safe integer with punch ${this.punchId}`
  }
}

/** The names of the sums, in CSV or in JSON. */
type SumName =
  | "punches"
  | "incomplete"
  | "anomalous"
  | `${"gross" | "paid_break" | "unpaid_break" | "net"}_seconds`
  | `${"gross" | "paidBreak" | "unpaidBreak" | "net"}Seconds`
  | `${"cost" | "tips"}${"_cents" | "Cents"}`

/** The columns of the sums. */
const sums: ReadonlyArray<readonly [csv: SumName, json: SumName, value: (totals: Totals) => number]> = [
  ["punches", "punches", (totals) => totals.punches],
  ["incomplete", "incomplete", (totals) => totals.incomplete],
  ["anomalous", "anomalous", (totals) => totals.anomalous],
  ["gross_seconds", "grossSeconds", (totals) => Duration.toSeconds(totals.gross)],
  ["paid_break_seconds", "paidBreakSeconds", (totals) => Duration.toSeconds(totals.paidBreaks)],
  ["unpaid_break_seconds", "unpaidBreakSeconds", (totals) => Duration.toSeconds(totals.unpaidBreaks)],
  ["net_seconds", "netSeconds", (totals) => Duration.toSeconds(totals.net)],
  ["cost_cents", "costCents", (totals) => totals.cost],
  ["tips_cents", "tipsCents", (totals) => totals.tips]
]

/**
 * The columns before the sums: a name, and the value of it for a key. The columns of the sums have names already, and no
 * other column may have one of these.
 *
 * @since 0.1.0
 */
export type KeyColumns<K> =
  & { readonly [name: string]: (key: K) => string | number | boolean | null | undefined }
  & { readonly [name in SumName]?: never }

/** How the sums are written as CSV. @since 0.1.0 */
export interface TotalsCsvOptions<K> {
  /** The columns before the sums. */
  readonly columns: KeyColumns<K>
  /** Ends every record, the last one too. Default `\r\n`, as in RFC 4180. */
  readonly newline?: "\r\n" | "\n" | undefined
}

/**
 * Writes the sums of `rollup` as CSV: a header, also for no sums, and a record for each key, sorted by the columns from
 * left to right, so that equal sums are equal texts. Behind the columns of the key stand `punches`, `incomplete`,
 * `anomalous`, `gross_seconds`, `paid_break_seconds`, `unpaid_break_seconds`, `net_seconds`, `cost_cents` and
 * `tips_cents`. Seconds have up to three decimals.
 *
 * A text that a spreadsheet could run as a formula is guarded as in `toCsv` of the export.
 *
 * **Example** (The payroll of a week as CSV)
 *
 * ```ts
 * import { DateTime, Effect, Stream } from "effect"
 * import { BusinessDate, CompanyId, Labor, Period, TimePunches } from "effect-time-punches"
 *
 * const newYork = DateTime.zoneMakeNamedUnsafe("America/New_York")
 * const week = { clockedIn: Period.week(newYork, BusinessDate.make("2026-03-09")) }
 *
 * export const csv = TimePunches.list(CompanyId.make(7), week).pipe(
 *   Stream.run(Labor.rollup((punch) => punch.userId, { rounding: "halfUp" })),
 *   Effect.map((totals) => Labor.toCsv(totals, { columns: { user_id: (userId) => userId } }))
 * )
 * ```
 *
 * @since 0.1.0
 */
export const toCsv = <K>(
  totals: Iterable<readonly [K, Totals]>,
  options: TotalsCsvOptions<K>
): string => {
  const header = [...Object.keys(options.columns), ...sums.map(([csv]) => csv)]
  const rows = rowsOf(totals, options.columns)
  return [header, ...rows].map((cells) => `${csvRecord(cells)}${options.newline ?? "\r\n"}`).join("")
}

/**
 * Writes the sums of `rollup` as JSON: an array with an object for each key, in the order of `toCsv`, one a line. Behind
 * the columns of the key stand `punches`, `incomplete`, `anomalous`, `grossSeconds`, `paidBreakSeconds`,
 * `unpaidBreakSeconds`, `netSeconds`, `costCents` and `tipsCents`. A column without a value is `null`.
 *
 * @since 0.1.0
 */
export const toJson = <K>(
  totals: Iterable<readonly [K, Totals]>,
  options: {
    /** The columns before the sums. */
    readonly columns: KeyColumns<K>
  }
): string => {
  const names = [...Object.keys(options.columns), ...sums.map(([, json]) => json)]
  const lines = rowsOf(totals, options.columns).map((cells) => {
    const fields = cells.map((cell, at) => `${JSON.stringify(names[at])}:${JSON.stringify(cell ?? null)}`)
    return `{${fields.join(",")}}`
  })
  return lines.length === 0 ? "[]\n" : `[\n${lines.join(",\n")}\n]\n`
}

const rowsOf = <K>(
  totals: Iterable<readonly [K, Totals]>,
  columns: KeyColumns<K>
): ReadonlyArray<ReadonlyArray<Cell>> => {
  const values: ReadonlyArray<(key: K) => Cell> = Object.values(columns)
  return [...totals]
    .map(([key, each]) => values.map((value) => value(key)).concat(sums.map(([, , sum]) => sum(each))))
    .toSorted(compareRows)
}

const compareRows = (a: ReadonlyArray<Cell>, b: ReadonlyArray<Cell>): number => {
  for (const [at, cell] of a.entries()) {
    const order = compareCells(cell, b[at])
    if (order !== 0) return order
  }
  return 0
}

/** Numbers by value, then texts by their characters; no value is last. */
const compareCells = (a: Cell, b: Cell): number => {
  if (typeof a === "number" && typeof b === "number") return a - b
  const [left, right] = [rankOf(a), rankOf(b)]
  if (left !== right) return left - right
  return String(a) < String(b) ? -1 : String(a) > String(b) ? 1 : 0
}

const rankOf = (cell: Cell): number => {
  if (cell === null || cell === undefined) return 2
  return typeof cell === "number" ? 0 : 1
}
