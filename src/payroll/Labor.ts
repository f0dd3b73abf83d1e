/** The cost of punches in cents, sums by any key with their text as CSV and JSON, and the hours over a threshold. */
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Function from "effect/Function"
import * as HashMap from "effect/HashMap"
import * as MutableHashMap from "effect/MutableHashMap"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as Sink from "effect/Sink"
import type { InvalidRequest } from "../ApiError.ts"
import { BusinessDate, Cents, TimePunchId, type UserId } from "../Ids.ts"
import { type Cell, csvRecord } from "../internal/wire/csv.ts"
import type { TimePunch } from "../TimePunch.ts"
import { byLocation, type DayRule, type DayRules, type Interval, isDayRuleOrRules, zonesOf } from "./DayRule.ts"
import {
  addClasses,
  type Classes,
  compareParts,
  countsWeeks,
  makeClasses,
  noTime,
  type Part,
  thresholdChecks,
  type Thresholds
} from "./hourClasses.ts"
import {
  type Checks,
  each,
  isFunction,
  makeOrThrow,
  must,
  optional,
  orFailing,
  orThrow,
  refusalOf,
  word
} from "./options.ts"
import * as Period from "./Period.ts"
import { divide, divideSafe, Rounding } from "./Rounding.ts"
import { toSink } from "./running.ts"
import * as WorkedTime from "./WorkedTime.ts"

export type { Thresholds } from "./hourClasses.ts"
export { Rounding } from "./Rounding.ts"

/** How a punch is priced. */
export interface LaborOptions extends WorkedTime.WorkedTimeOptions {
  /** How a fraction of a cent is rounded. Required: it is a matter of agreement. */
  readonly rounding: Rounding
}

/** @internal */
export const laborChecks: Checks<LaborOptions> = { ...WorkedTime.measureChecks, rounding: word(Rounding.literals) }

const requireLabor = makeOrThrow(laborChecks)

/**
 * The wages of a punch in cents: net time × `hourlyWage`, rounded once. Without tips; with paid breaks. The arithmetic
 * is on integers, so rounding is its only error.
 *
 * `None` if the durations of the punch are unknown (`WorkedTime.measure`), or if the amount is not a safe integer. The
 * service calls `hourlyWage` a calculated wage, so this is an estimate and not a payroll.
 *
 * Laws: `down <= halfEven <= halfUp <= up <= down + 1`; all are equal if the amount is whole; a longer punch never
 * costs less.
 */
export const cost = (punch: WorkedTime.Measured, options: LaborOptions): Option.Option<Cents> => {
  requireLabor(options)
  return Option.flatMap(
    Option.fromUndefinedOr(WorkedTime.measureMillis(punch, options).times),
    ({ net }) => Cents.makeOption(amountOf(net, punch, options.rounding))
  )
}

/**
 * Sums punches by a key, in one pass. Memory grows with the number of keys only. Keys are compared by value: an id, an
 * `Option` of one, a tuple, a plain record. Every punch that arrives counts, a deleted one too. Fails with
 * `SumOverflow` before a sum could be wrong.
 *
 * Laws: it equals a fold over the punches one by one, however they are chunked and ordered.
 *
 * **Example** (Wages of a month by user)
 *
 * ```ts
 * import { DateTime, Effect, HashMap, Stream } from "effect"
 * import { BusinessDate, CompanyId, TimePunches } from "effect-time-punches"
 * import { Labor, Period } from "effect-time-punches/payroll"
 *
 * const newYork = DateTime.zoneMakeNamedUnsafe("America/New_York")
 * const march = { clockedIn: Period.month(newYork, BusinessDate.make("2026-03-01")) }
 *
 * export const wages = TimePunches.list(CompanyId.make(7), march).pipe(
 *   Stream.run(Labor.rollup((punch) => punch.userId, { rounding: "halfUp" })),
 *   Effect.map(HashMap.map((totals) => totals.cost))
 * )
 * ```
 */
export const rollup = <K>(
  key: (punch: TimePunch) => K,
  options: LaborOptions
): Sink.Sink<HashMap.HashMap<K, Totals>, TimePunch, never, SumOverflow | InvalidRequest> =>
  orFailing(
    refusalOf(options, laborChecks),
    () => toSink(() => makeRollup(key, options), (rollup) => HashMap.fromIterable(rollup.result()))
  )

/** `rollup` punch by punch. @internal */
export const makeRollup = <K>(key: (punch: TimePunch) => K, options: LaborOptions) => {
  const byKey = MutableHashMap.empty<K, RunningTotals>()
  const add = (punch: TimePunch): Result.Result<void, SumOverflow> => {
    const field = addPunch(sumsOf(byKey, key(punch)), punch, options)
    return field === undefined ? Result.void : Result.fail(new SumOverflow({ field, punchId: punch.id }))
  }
  return { add, result: () => Array.from(byKey, ([key, sums]) => [key, totalsOf(sums)] as const) }
}

/** The sums over the punches of one key. */
export class Totals extends Schema.Opaque<Totals>()(Schema.Struct({
  /** Number of punches, incomplete and anomalous ones included. */
  punches: Schema.Int,
  /** Number of punches with unknown durations (`WorkedTime.measure`). Of these only the tips are in the sums below. */
  incomplete: Schema.Int,
  /** Number of punches with at least one anomaly (`WorkedTime.measure`). */
  anomalous: Schema.Int,
  /** Time from clock-in to clock-out. */
  gross: Schema.DurationFromMillis,
  /** Time in paid breaks, without what an unpaid break covers. Part of `net`. */
  paidBreaks: Schema.DurationFromMillis,
  /** Time in unpaid breaks. */
  unpaidBreaks: Schema.DurationFromMillis,
  /** Paid time: `gross` without `unpaidBreaks`. */
  net: Schema.DurationFromMillis,
  /** Wages in cents, rounded punch by punch. Without tips. */
  cost: Cents,
  /** Tips in cents. */
  tips: Cents
})) {}

/**
 * A sum exceeds the safe integers, beyond which an addition can lose cents. No real sum is that large: check the wage,
 * the tips and the instants of the punch.
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
    return `adding punch ${this.punchId} makes the sum of ${this.field} exceed 2^53`
  }

  /** Whether the same call may succeed later with nothing changed: no. */
  get isRetryable(): boolean {
    return false
  }
}

/** The names of the sums, in CSV or in JSON. */
type SumName = CsvSum | `${"gross" | "paidBreak" | "unpaidBreak" | "net"}Seconds` | `${"cost" | "tips"}Cents`

/** The name of a column of sums in CSV. */
export type CsvSum =
  | "punches"
  | "incomplete"
  | "anomalous"
  | `${"gross" | "paid_break" | "unpaid_break" | "net"}_seconds`
  | `${"cost" | "tips"}_cents`

/** The columns of the sums. */
const sums: ReadonlyArray<readonly [csv: CsvSum, json: SumName, value: (totals: Totals) => number]> = [
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
 * The columns before the sums: for each name, its value for a key and its sums, such as hours with two decimals. No column may
 * have the name of a sum.
 */
export type KeyColumns<K> =
  & { readonly [name: string]: (key: K, totals: Totals) => string | number | boolean | null | undefined }
  & { readonly [name in SumName]?: never }

const csvSums = sums.map(([csv]) => csv)

/** How the sums are written as JSON. */
export interface TotalsJsonOptions<K> {
  /** The columns before the sums. */
  readonly columns: KeyColumns<K>
}

/** How the sums are written as CSV. */
export interface TotalsCsvOptions<K> extends TotalsJsonOptions<K> {
  /** Which columns of sums to write, in this order; `[]` writes none. Default: all nine. */
  readonly sums?: ReadonlyArray<CsvSum> | undefined
  /** Ends every record, the last one too. Default `\r\n`, as in RFC 4180. */
  readonly newline?: "\r\n" | "\n" | undefined
  /** What stands between two cells. Default `,`. With `;` a text is also guarded behind each `,`. */
  readonly separator?: "," | ";" | undefined
  /** Whether a text that a spreadsheet could run is changed. Default `guard`; `keep` writes texts as they are, for a program. */
  readonly formulas?: "guard" | "keep" | undefined
}

const jsonChecks: Checks<TotalsJsonOptions<never>> = { columns: must(Predicate.isObject, "an object of functions") }

const csvChecks: Checks<TotalsCsvOptions<never>> = {
  ...jsonChecks,
  sums: optional(each(word(csvSums))),
  newline: optional(word(["\r\n", "\n"])),
  separator: optional(word([",", ";"])),
  formulas: optional(word(["guard", "keep"]))
}

/**
 * Writes the sums of `rollup` as CSV: a header, also for no sums, and a record for each key, sorted by the columns from
 * left to right, so that equal sums are equal texts. Behind the columns of the key stand `punches`, `incomplete`,
 * `anomalous`, `gross_seconds`, `paid_break_seconds`, `unpaid_break_seconds`, `net_seconds`, `cost_cents` and
 * `tips_cents`, or those of the option `sums`. Seconds have up to three decimals.
 *
 * A text that a spreadsheet could run as a formula is guarded as in `Csv.encode` of the export.
 *
 * **Example** (The payroll of a week as CSV)
 *
 * ```ts
 * import { DateTime, Effect, Stream } from "effect"
 * import { BusinessDate, CompanyId, TimePunches } from "effect-time-punches"
 * import { Labor, Period } from "effect-time-punches/payroll"
 *
 * const newYork = DateTime.zoneMakeNamedUnsafe("America/New_York")
 * const week = { clockedIn: Period.week(newYork, BusinessDate.make("2026-03-09")) }
 *
 * export const csv = TimePunches.list(CompanyId.make(7), week).pipe(
 *   Stream.run(Labor.rollup((punch) => punch.userId, { rounding: "halfUp" })),
 *   Effect.map((totals) => Labor.toCsv(totals, { columns: { user_id: (userId) => userId } }))
 * )
 * ```
 */
export const toCsv = <K>(
  totals: Iterable<readonly [K, Totals]>,
  options: TotalsCsvOptions<K>
): string => {
  orThrow(refusalOf(options, csvChecks))
  const chosen = options.sums ?? csvSums
  const places = chosen.map((name) => csvSums.indexOf(name))
  const names = Object.keys(options.columns)
  const header = [...names, ...chosen]
  const kept = [...names.keys(), ...places.map((place) => names.length + place)]
  const rows = rowsOf(totals, options.columns).map((cells) => kept.map((at) => cells[at]))
  return [header, ...rows].map((cells) => `${csvRecord(cells, options)}${options.newline ?? "\r\n"}`).join("")
}

/**
 * Writes the sums of `rollup` as JSON: an array with an object for each key, in the order of `toCsv`, one a line. Behind
 * the columns of the key stand `punches`, `incomplete`, `anomalous`, `grossSeconds`, `paidBreakSeconds`,
 * `unpaidBreakSeconds`, `netSeconds`, `costCents` and `tipsCents`. A column without a value is `null`.
 */
export const toJson = <K>(
  totals: Iterable<readonly [K, Totals]>,
  options: TotalsJsonOptions<K>
): string => {
  orThrow(refusalOf(options, jsonChecks))
  const names = [...Object.keys(options.columns), ...sums.map(([, json]) => json)]
  const lines = rowsOf(totals, options.columns).map((cells) => {
    const fields = cells.map((cell, at) => `${JSON.stringify(names[at])}:${JSON.stringify(cell ?? null)}`)
    return `{${fields.join(",")}}`
  })
  return lines.length === 0 ? "[]\n" : `[\n${lines.join(",\n")}\n]\n`
}

/** The thresholds, and the day rule by which days and weeks are counted. */
export interface HoursOverThresholdOptions<out E = never> extends Thresholds, WorkedTime.WorkedTimeOptions {
  /** The day rule of all locations, or `Period.dayRules`: each location by its own. */
  readonly dayRule: DayRule | DayRules<E>
  /**
   * The period whose time counts, by a day rule: `(dayRule) => Period.localDays(dayRule, first, last)`. List
   * `Labor.queryWindow`: it has the days before the period in its first week too, which count for the threshold. Default: all
   * punches count.
   */
  readonly period?: ((dayRule: DayRule) => Interval) | undefined
  /** The first day of a week. Default: `"monday"`. */
  readonly firstDay?: Period.Weekday | undefined
}

/** @internal */
export const hoursChecks: Checks<HoursOverThresholdOptions<unknown>> = {
  ...WorkedTime.measureChecks,
  ...thresholdChecks,
  dayRule: isDayRuleOrRules,
  period: optional(isFunction()),
  firstDay: optional(word(Period.Weekday.literals))
}

/** Net time and its classes, which add up to it. */
const parts = {
  /** Net time of the punches that were clocked in then. */
  net: Schema.DurationFromMillis,
  /** The part of `net` up to the thresholds. */
  regular: Schema.DurationFromMillis,
  /** The part of `net` over a threshold of a day or a week, or of a seventh day. Not what is `double`. */
  over: Schema.DurationFromMillis,
  /** The part of `net` over the second daily threshold, or of a seventh day. */
  double: Schema.DurationFromMillis
}

/** The net time of a person in a local day. */
export class DayOverThreshold extends Schema.Opaque<DayOverThreshold>()(Schema.Struct({
  /** The local date. */
  date: BusinessDate,
  ...parts
})) {}

/** The net time of a person in a local week. */
export class WeekOverThreshold extends Schema.Opaque<WeekOverThreshold>()(Schema.Struct({
  /** The first date of the week. */
  date: BusinessDate,
  ...parts
})) {}

/** The net time of a person, and how much of it lies over the thresholds. */
export class HoursOverThreshold extends Schema.Opaque<HoursOverThreshold>()(Schema.Struct({
  /** Number of punches with unknown durations (`WorkedTime.measure`): their time is in no figure here. */
  incomplete: Schema.Int,
  ...parts,
  /** The weeks with a punch of known time, by date. */
  weeks: Schema.Array(WeekOverThreshold),
  /** The days with a punch of known time, by date. */
  days: Schema.Array(DayOverThreshold)
})) {}

/**
 * The net time of each person by class: `regular`, `over` and `double`. An hour counts once. Over `dailyThreshold` in a local
 * day it is `over`, over `doubleThreshold` it is `double`; the other hours count in the local week, over whose
 * `weeklyThreshold` they are `over` too. Of the last day of a local week whose seven days were all worked, `seventhDay` says how
 * much is `over`; the rest is `double`. These rules are arithmetic, not legal advice: they know no rate, no law and no agreement.
 *
 * A punch counts, whole, in the day and the week in which it was clocked in, by the day rule of its location. A person who
 * works at several locations has one sum for each date. A week is summed date by date, and the time over its threshold belongs
 * to the dates that exceed it: a period that cuts a week has the excess of its own dates.
 *
 * With `period`, only the time of the period is returned. Earlier days of its first week add to the sum of that week; later
 * punches change nothing. Without `period`, list whole weeks: days that are not listed do not count.
 *
 * One pass; memory grows with the number of persons and their days. Every punch that arrives counts, a deleted one too.
 * Fails with the error of `dayRule`, and with `SumOverflow` before a sum could be wrong.
 *
 * Laws: the classes of a day, of a week and of the person add up to `net`. Each class is the sum of its days, and of its weeks.
 * Periods that tile add up to the whole, also if they cut a week. With a threshold of zero all time is over it; an infinite one
 * has no effect, but as `seventhDay`. The order of the punches does not matter.
 *
 * **Example** (Hours over 40 in a week and 8 in a day, in half a month that cuts weeks)
 *
 * ```ts
 * import { DateTime, Effect, HashMap, Stream } from "effect"
 * import { BusinessDate, CompanyId, TimePunches } from "effect-time-punches"
 * import { Labor, Period } from "effect-time-punches/payroll"
 *
 * const options: Labor.PeriodHoursOptions = {
 *   dayRule: DateTime.zoneMakeNamedUnsafe("America/New_York"),
 *   period: (dayRule) => Period.localDays(dayRule, BusinessDate.make("2026-03-01"), BusinessDate.make("2026-03-15")),
 *   weeklyThreshold: "40 hours",
 *   dailyThreshold: "8 hours"
 * }
 *
 * export const hours = TimePunches.list(CompanyId.make(7), { clockedIn: Labor.queryWindow(options) }).pipe(
 *   Stream.run(Labor.hoursOverThreshold(options)),
 *   Effect.map(HashMap.map((person) => [person.regular, person.over]))
 * )
 * ```
 */
export const hoursOverThreshold = <E = never>(
  options: HoursOverThresholdOptions<E>
): Sink.Sink<HashMap.HashMap<UserId, HoursOverThreshold>, TimePunch, never, E | SumOverflow | InvalidRequest> =>
  orFailing(
    refusalOf(options, hoursChecks),
    () => toSink(() => makeHours(options), (hours) => HashMap.fromIterable(hours.result()))
  )

/** `hoursOverThreshold` punch by punch. */
const makeHours = <E = never>(options: HoursOverThresholdOptions<E>) => {
  const people = new Map<UserId, PersonTime>()
  const dayOf = makeDayOf(options)
  const add = (punch: TimePunch): Result.Result<void, E | SumOverflow> => {
    const day = dayOf(punch)
    if (Result.isFailure(day)) return Result.fail(day.failure)
    const net = WorkedTime.measureMillis(punch, options).times?.net
    return addTime(timeOf(people, punch.userId), day.success, net)
      ? Result.void
      : Result.fail(new SumOverflow({ field: "net", punchId: punch.id }))
  }
  const result = (): ReadonlyArray<readonly [UserId, HoursOverThreshold]> => {
    const weekOf = Period.makeFirstDateOfWeek({ firstDay: options.firstDay })
    // Who has no punch in the period has no hours in it.
    return [...people].flatMap(([userId, person]) =>
      person.punches === 0 ? [] : [[userId, hoursOf(person, options, weekOf)] as const]
    )
  }
  return { add, result }
}

/**
 * The classes of a period by what `rowOf` gives for a punch, such as its job: of the order in which each person worked, as in a
 * close. Memory grows with punches. @internal
 */
export const makeClassesBy = <Row extends {} | null, E = never>(
  options: HoursOverThresholdOptions<E>,
  rowOf: (punch: TimePunch) => Row
) => {
  const people = new Map<UserId, { net: number; readonly parts: Array<Part<Row> & Pick<DayOf, "date">> }>()
  const dayOf = makeDayOf(options)
  const add = (punch: TimePunch): Result.Result<void, E | SumOverflow> => {
    const day = dayOf(punch)
    if (Result.isFailure(day)) return Result.fail(day.failure)
    const { date, place } = day.success
    const net = WorkedTime.measureMillis(punch, options).times?.net
    if (net === undefined || place === "after") return Result.void
    const person = people.get(punch.userId) ?? { net: 0, parts: [] }
    people.set(punch.userId, person)
    person.net += net
    if (!Number.isSafeInteger(person.net)) return Result.fail(new SumOverflow({ field: "net", punchId: punch.id }))
    const row = place === "within" ? rowOf(punch) : undefined
    person.parts.push({ date, day: Period.dayOf(date), at: punch.clockedIn.epochMilliseconds, id: punch.id, net, row })
    return Result.void
  }
  /** Gives each part of the period, with its classes. */
  const each = (use: (userId: UserId, row: Row, classes: Classes) => void): void => {
    const weekOf = Period.makeFirstDateOfWeek({ firstDay: options.firstDay })
    for (const [userId, { parts }] of people) {
      const classesOf = makeClasses(options, weekOf)
      for (const { date, net, row } of parts.toSorted(compareParts)) {
        const classes = classesOf(date, net)
        if (row !== undefined) use(userId, row, classes)
      }
    }
  }
  return { add, each }
}

/** `HoursOverThresholdOptions` with a period. */
export interface PeriodHoursOptions<out E = never> extends HoursOverThresholdOptions<E> {
  readonly period: (dayRule: DayRule) => Interval
}

/**
 * What to list for `hoursOverThreshold` of a period: the period by the day rule of each location, and with `weeklyThreshold` or
 * `seventhDay` also the days before it in its first week.
 */
export const queryWindow = <E = never>(options: PeriodHoursOptions<E>): Interval => {
  orThrow(refusalOf(options, hoursChecks))
  return windowOf(options)
}

/** `queryWindow` of options that were checked. @internal */
export const windowOf = <E = never>(options: PeriodHoursOptions<E>): Interval => {
  const { firstDay, period } = options
  return byLocation(options.dayRule, (dayRule) => {
    const { gte, lt } = period(dayRule)
    if (!countsWeeks(options)) return { gte, lt }
    const first = Period.firstDateOfWeek(Period.businessDate(dayRule, gte), { firstDay })
    return { gte: DateTime.min(gte, Period.localDays(dayRule, first, first).gte), lt }
  }).queryWindow
}

const hourMillis = 3_600_000

/** The rounded wages of a net time in milliseconds, an integer that may exceed the safe ones. Neither factor is negative. @internal */
export const amountOf = (net: number, { hourlyWage }: WorkedTime.Measured, rounding: Rounding): number => {
  const product = net * hourlyWage
  return Number.isSafeInteger(product)
    ? divideSafe(product, hourMillis, rounding)
    : Number(divide(BigInt(net) * BigInt(hourlyWage), BigInt(hourMillis), rounding))
}

/** Running sums: durations in milliseconds, amounts in cents. */
interface RunningTotals {
  punches: number
  incomplete: number
  anomalous: number
  gross: number
  paidBreaks: number
  unpaidBreaks: number
  net: number
  cost: number
  tips: number
}

const sumsOf = <K>(byKey: MutableHashMap.MutableHashMap<K, RunningTotals>, key: K): RunningTotals => {
  const known = MutableHashMap.get(byKey, key)
  if (Option.isSome(known)) return known.value
  const sums: RunningTotals = {
    punches: 0,
    incomplete: 0,
    anomalous: 0,
    gross: 0,
    paidBreaks: 0,
    unpaidBreaks: 0,
    net: 0,
    cost: 0,
    tips: 0
  }
  MutableHashMap.set(byKey, key, sums)
  return sums
}

/** Adds the punch, or returns the sum that overflows. No other duration exceeds the gross one. */
const addPunch = (sums: RunningTotals, punch: TimePunch, options: LaborOptions): SumOverflow["field"] | undefined => {
  const { anomalies, times } = WorkedTime.measureMillis(punch, options)
  sums.punches += 1
  if (anomalies.length > 0) sums.anomalous += 1
  sums.tips += punch.tips
  if (!Number.isSafeInteger(sums.tips)) return "tips"
  if (times === undefined) {
    sums.incomplete += 1
    return undefined
  }
  sums.gross += times.gross
  sums.paidBreaks += times.paidBreaks
  sums.unpaidBreaks += times.unpaidBreaks
  sums.net += times.net
  sums.cost += amountOf(times.net, punch, options.rounding)
  return !Number.isSafeInteger(sums.gross) ? "gross" : !Number.isSafeInteger(sums.cost) ? "cost" : undefined
}

const totalsOf = (sums: RunningTotals): Totals => ({
  punches: sums.punches,
  incomplete: sums.incomplete,
  anomalous: sums.anomalous,
  gross: Duration.millis(sums.gross),
  paidBreaks: Duration.millis(sums.paidBreaks),
  unpaidBreaks: Duration.millis(sums.unpaidBreaks),
  net: Duration.millis(sums.net),
  cost: Cents.make(sums.cost),
  tips: Cents.make(sums.tips)
})

const rowsOf = <K>(
  totals: Iterable<readonly [K, Totals]>,
  columns: KeyColumns<K>
): ReadonlyArray<ReadonlyArray<Cell>> => {
  const values: ReadonlyArray<(key: K, totals: Totals) => Cell> = Object.values(columns)
  return [...totals]
    .map(([key, each]) => values.map((value) => value(key, each)).concat(sums.map(([, , sum]) => sum(each))))
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

/** Running sums in milliseconds. */
interface PersonTime {
  /** Number of punches in the period. */
  punches: number
  incomplete: number
  /** Time in the period and before it. */
  net: number
  readonly days: Map<BusinessDate, DayTime>
}

/** The time of a day: of punches before the period, and in it. A period that begins with a day has days of one kind only. */
interface DayTime {
  before: number
  /** `undefined` without a punch of known time in the period. */
  within: number | undefined
}

const timeOf = (people: Map<UserId, PersonTime>, userId: UserId): PersonTime => {
  const known = people.get(userId)
  if (known !== undefined) return known
  const person: PersonTime = { punches: 0, incomplete: 0, net: 0, days: new Map() }
  people.set(userId, person)
  return person
}

/** Where a punch counts. */
interface DayOf {
  readonly date: BusinessDate
  readonly place: "before" | "within" | "after"
}

/** Whether the sum is exact with the time of a punch. No part of it exceeds the whole. */
const addTime = (
  person: PersonTime,
  { date, place }: DayOf,
  net: number | undefined
): boolean => {
  if (place === "after") return true
  if (place === "within") person.punches += 1
  if (net === undefined) {
    if (place === "within") person.incomplete += 1
    return true
  }
  person.net += net
  const day = person.days.get(date) ?? { before: 0, within: undefined }
  person.days.set(date, day)
  day[place] = (day[place] ?? 0) + net
  return Number.isSafeInteger(person.net)
}

/** The classes of a person, date by date. */
const hoursOf = (
  person: PersonTime,
  options: Thresholds,
  weekOf: (date: BusinessDate) => BusinessDate
): HoursOverThreshold => {
  const classesOf = makeClasses(options, weekOf)
  const days = new Map<BusinessDate, Classes>()
  const weeks = new Map<BusinessDate, Classes>()
  let all = noTime
  for (const [date, { before, within }] of [...person.days].toSorted(([a], [b]) => a < b ? -1 : 1)) {
    classesOf(date, before)
    if (within === undefined) continue
    const day = classesOf(date, within)
    days.set(date, day)
    weeks.set(weekOf(date), addClasses(weeks.get(weekOf(date)) ?? noTime, day))
    all = addClasses(all, day)
  }
  const timesOf = (classes: ReadonlyMap<BusinessDate, Classes>) =>
    Array.from(classes, ([date, each]) => ({ date, ...durationsOf(each) }))
  return { incomplete: person.incomplete, ...durationsOf(all), weeks: timesOf(weeks), days: timesOf(days) }
}

const durationsOf = ({ double, over, regular }: Classes) => ({
  net: Duration.millis(regular + over + double),
  regular: Duration.millis(regular),
  over: Duration.millis(over),
  double: Duration.millis(double)
})

/** The local date of the clock-in of a punch, and on which side of the period it lies. What is computed of a day rule is kept. */
const makeDayOf = <E>(
  { dayRule, period }: HoursOverThresholdOptions<E>
): (punch: TimePunch) => Result.Result<DayOf, E> => {
  const { getDayRule } = zonesOf(dayRule)
  const daysOf = Function.memoize((each: DayRule) => {
    const dateOf = Period.makeBusinessDate(each)
    const interval = period?.(each)
    return (instant: DateTime.Utc): DayOf => ({
      date: dateOf(instant),
      place: interval === undefined
        ? "within"
        : DateTime.isLessThan(instant, interval.gte)
        ? "before"
        : DateTime.isLessThan(instant, interval.lt)
        ? "within"
        : "after"
    })
  })
  return (punch) => Result.map(getDayRule(punch.locationId), (each) => daysOf(each)(punch.clockedIn))
}
