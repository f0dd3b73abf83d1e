/** Local days, weeks, months and pay periods by a day rule, as dates and as half-open ranges of instants. */
import * as DateTime from "effect/DateTime"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { BusinessDate } from "../Ids.ts"
import { dayMillis } from "../internal/wire/instant.ts"
import { type DayRule, dayStartsOf, type Interval, offsetAt, zoneOf } from "./DayRule.ts"
import { type Checks, isDate, must, optional, orThrow, refusalOf, word } from "./options.ts"
import { lengthsOf, PayCalendar, type PayPeriod } from "./PayCalendar.ts"
import { modulo } from "./Rounding.ts"
import { Weekday } from "./Weekday.ts"
export {
  byLocation,
  type DayRule,
  type DayRules,
  dayRules,
  type Interval,
  type LocalPeriods,
  MissingDayRule
} from "./DayRule.ts"
export { Weekday } from "./Weekday.ts"

/**
 * The instants of the local dates `first` to `last`, both inclusive. A day lasts as long as its clocks say: 23, 24 or
 * 25 hours, or another length where the clocks move otherwise; one that the zone skipped is empty (`gte` equals `lt`).
 *
 * A date begins at the first instant at which the wall clock shows `dayStarts` of it or a later time: without `dayStarts`
 * at midnight, at the first of two midnights, or at the end of the gap that skips midnight.
 *
 * Law: days tile. `localDays(dayRule, a, c)` is `localDays(dayRule, a, b)` followed by `localDays(dayRule, b + 1, c)`, without
 * gap or overlap, for every day rule. Throws `InvalidRequest` if `last` lies before `first`.
 */
export const localDays = (dayRule: DayRule, first: BusinessDate, last: BusinessDate): Interval => {
  const [begin, end] = [givenDay(first, "first"), givenDay(last, "last")]
  orThrow(refusalOf({ last }, { last: must((last) => first <= last, "the first date or a later one") }))
  return between(dayRule, begin, end + 1)
}

/** How weeks are counted. */
export interface WeekOptions {
  /** The first day of a week. Default: `"monday"`. */
  readonly firstDay?: Weekday | undefined
}

const weekChecks: Checks<WeekOptions> = { firstDay: optional(word(Weekday.literals)) }

/**
 * The local week that contains `date`: seven days from `firstDay`.
 *
 * Law: it is the same for every date of the week, and consecutive weeks tile.
 *
 * **Example** (The punches of a week)
 *
 * ```ts
 * import { DateTime } from "effect"
 * import { BusinessDate, CompanyId, TimePunches } from "effect-time-punches"
 * import { Period } from "effect-time-punches/payroll"
 *
 * const berlin = DateTime.zoneMakeNamedUnsafe("Europe/Berlin")
 *
 * // From Monday, 23 March to Sunday, 29 March. The clocks change on Sunday: the week has 167 hours.
 * const week = Period.week(berlin, BusinessDate.make("2026-03-25"))
 *
 * export const punches = TimePunches.list(CompanyId.make(7), { clockedIn: week })
 * ```
 */
export const week = (
  dayRule: DayRule,
  date: BusinessDate,
  options?: WeekOptions
): Interval => {
  const start = weekStart(date, options)
  return between(dayRule, start, start + 7)
}

/**
 * The first date of the week that contains `date`. In the first week of the year 0001 it is the first date of the
 * calendar.
 */
export const firstDateOfWeek = (
  date: BusinessDate,
  options?: WeekOptions
): BusinessDate => fromDay(weekStart(date, options))

/** Returns `firstDateOfWeek` for many dates: a function that caches the dates it meets. */
export const makeFirstDateOfWeek = (options?: WeekOptions): (date: BusinessDate) => BusinessDate => {
  const weeks = new Map<BusinessDate, BusinessDate>()
  return (date) => {
    const week = weeks.get(date) ?? firstDateOfWeek(date, options)
    weeks.set(date, week)
    return week
  }
}

/** Day 0, 1 January 1970, was a Thursday. */
const weekStart = (date: BusinessDate, options: WeekOptions = {}): number => {
  orThrow(refusalOf(options, weekChecks))
  const day = givenDay(date)
  return day - modulo(day + 4 - Weekday.literals.indexOf(options.firstDay ?? "monday"), 7)
}

/**
 * The local calendar month that contains `date`.
 *
 * Law: it is the same for every date of the month, and consecutive months tile.
 */
export const month = (dayRule: DayRule, date: BusinessDate): Interval => {
  givenDay(date)
  return between(dayRule, monthStart(date), monthStart(date, 1))
}

/** @internal */
export const calendarChecks = {
  calendar: must(Schema.is(PayCalendar), "a calendar that `PayCalendar.make` takes")
}

/**
 * The pay period that contains `date`, as dates: `localDays(dayRule, first, last)` has its instants. At the ends of the
 * calendar it has only the dates of the years 0001 to 9999.
 *
 * Laws: it is the same for every date of the period, and consecutive periods tile.
 *
 * **Example** (The fortnight of a date, and its punches)
 *
 * ```ts
 * import { DateTime } from "effect"
 * import { BusinessDate, CompanyId, TimePunches } from "effect-time-punches"
 * import { PayCalendar, Period } from "effect-time-punches/payroll"
 *
 * const fortnights = PayCalendar.make({ kind: "days", days: 14, anchor: BusinessDate.make("2026-01-05") })
 * // From Monday, 2 March to Sunday, 15 March.
 * const { first, last } = Period.payPeriod(fortnights, BusinessDate.make("2026-03-11"))
 *
 * // A bar closes at two: what is clocked in before four belongs to the day before.
 * const dayRule = { zone: DateTime.zoneMakeNamedUnsafe("America/New_York"), dayStarts: "4 hours" } as const
 *
 * export const punches = TimePunches.list(CompanyId.make(7), { clockedIn: Period.localDays(dayRule, first, last) })
 * ```
 */
export const payPeriod = (calendar: PayCalendar, date: BusinessDate): PayPeriod => {
  orThrow(refusalOf({ calendar }, calendarChecks))
  const day = givenDay(date)
  // The months before and after have the edges of a period that begins or ends there.
  const starts = calendar.kind === "days"
    ? turnOf(lengthsOf(calendar), day - modulo(day - dayOf(calendar.anchor), turnDays(calendar)))
    : [-1, 0, 1].flatMap((months) =>
      calendar.firstDays.map((first) => Math.min(monthStart(date, months) + first, monthStart(date, months + 1)) - 1)
    )
  const next = starts.findIndex((start) => start > day)
  return { first: fromDay(starts[next - 1] ?? firstDay), last: fromDay((starts[next] ?? lastDay + 1) - 1) }
}

/** The days on which the periods of one turn begin, and the next turn. */
const turnOf = (lengths: ReadonlyArray<number>, begin: number): ReadonlyArray<number> => {
  const starts = [begin]
  for (const length of lengths) starts.push(begin += length)
  return starts
}

const turnDays = (calendar: Parameters<typeof lengthsOf>[0]): number =>
  lengthsOf(calendar).reduce((sum, days) => sum + days, 0)

/**
 * A calendar in the one form that all equal calendars have: the shortest list of lengths, begun with the period whose first
 * beginning from 1970-01-01 on is the earliest. @internal
 */
export const normalCalendar = (calendar: PayCalendar): PayCalendar => {
  if (calendar.kind === "months") return calendar
  const given = lengthsOf(calendar)
  const size = given.findIndex((_, size) =>
    size > 0 && given.length % size === 0 && given.every((days, at) => days === given[at % size])
  )
  const lengths = size < 0 ? given : given.slice(0, size)
  const turn = turnDays(calendar) * lengths.length / given.length
  const begins = turnOf(lengths.slice(0, -1), dayOf(calendar.anchor)).map((start) => modulo(start, turn))
  const begin = Math.min(...begins)
  const place = begins.indexOf(begin)
  const [first = turn, ...more] = [...lengths.slice(place), ...lengths.slice(0, place)]
  return begin > lastDay
    ? calendar
    : { kind: "days", days: more.length === 0 ? first : [first, ...more], anchor: fromDay(begin) }
}

/**
 * The local date of an instant: the one whose `localDays` contain it. A night shift has the date of its clock-in. For many
 * instants, call `makeBusinessDate` once.
 */
export const businessDate = (dayRule: DayRule, instant: DateTime.DateTime): BusinessDate =>
  makeBusinessDate(dayRule)(instant)

/**
 * Returns a function from instants to local dates. It caches the days that it meets, so that only the first punch of a
 * day reads the rules of the zone. Use it in the key of `Labor.rollup`.
 *
 * Law: `localDays(dayRule, d, d)` contains the instant exactly if `d` is its date. So without `dayStarts` it is the date on
 * the wall clock, except after clocks are set back across midnight: the minutes that repeat the old date belong to the
 * new one.
 * Instants beyond the years 0001 to 9999 have the first or the last date of the calendar.
 */
export const makeBusinessDate = (dayRule: DayRule): (instant: DateTime.DateTime) => BusinessDate => {
  const starts = new Map<number, number>()
  const dates = new Map<number, BusinessDate>()
  const startOf = (day: number): number => {
    const known = starts.get(day)
    if (known !== undefined) return known
    const start = startOfDay(dayRule, day)
    starts.set(day, start)
    return start
  }
  return (instant) => {
    const millis = instant.epochMilliseconds
    let day = clamp(Math.floor(millis / dayMillis))
    while (day > firstDay && millis < startOf(day)) day--
    while (day < lastDay && millis >= startOf(day + 1)) day++
    const known = dates.get(day)
    if (known !== undefined) return known
    const date = fromDay(day)
    dates.set(day, date)
    return date
  }
}

/**
 * The date that lies `days` after `date`, or before it if `days` is negative. Beyond the years 0001 to 9999 it is the first or
 * the last date of the calendar. `None` unless `days` is a safe integer.
 */
export const addDays = (date: BusinessDate, days: number): Option.Option<BusinessDate> =>
  Number.isSafeInteger(days) ? Option.some(fromDay(givenDay(date) + days)) : Option.none()

/** 0001-01-01 and 9999-12-31 as days since 1970-01-01. */
const firstDay = -719_162
const lastDay = 2_932_896

const clamp = (day: number): number => Math.min(Math.max(day, firstDay), lastDay)

const toDay = (midnight: DateTime.Utc): number => midnight.epochMilliseconds / dayMillis

/** The days from 1970-01-01 to a date. @internal */
export const dayOf = (date: BusinessDate): number => toDay(DateTime.makeUnsafe(date))

/** The same of an argument. A text that was cast may be no date, or one that rolls over into the next month. */
const givenDay = (date: BusinessDate, name = "date"): number => {
  orThrow(refusalOf({ [name]: date }, { [name]: isDate }))
  return dayOf(date)
}

const fromDay = (day: number): BusinessDate =>
  BusinessDate.make(DateTime.formatIsoDateUtc(DateTime.makeUnsafe(clamp(day) * dayMillis)))

/** The first day of the month that contains `date`, or of the month that many months later. */
const monthStart = (date: BusinessDate, months = 0): number =>
  toDay(DateTime.add(DateTime.startOf(DateTime.makeUnsafe(date), "month"), { months }))

const between = (dayRule: DayRule, start: number, end: number): Interval => ({
  gte: DateTime.makeUnsafe(startOfDay(dayRule, start)),
  lt: DateTime.makeUnsafe(startOfDay(dayRule, end))
})

/**
 * The first instant at which the wall clock shows the start of the day or a later time. No zone is a whole day from UTC, so
 * it lies within a day of the instant at which UTC shows it; in those two days the offset of a zone changes at most once.
 */
const startOfDay = (dayRule: DayRule, day: number): number => {
  const zone = zoneOf(dayRule)
  const wall = day * dayMillis + dayStartsOf(dayRule)
  const before = offsetAt(zone, wall - dayMillis)
  const after = offsetAt(zone, wall + dayMillis)
  if (before === after) return wall - before
  const change = changeWithin(zone, wall - dayMillis, wall + dayMillis, before)
  return wall - before < change ? wall - before : Math.max(change, wall - after)
}

/** The first instant after `low` whose offset differs from `before`; the offset at `high` does. */
const changeWithin = (zone: DateTime.TimeZone, low: number, high: number, before: number): number => {
  let [from, to] = [low, high]
  while (to - from > 1) {
    const middle = Math.floor((from + to) / 2)
    if (offsetAt(zone, middle) === before) from = middle
    else to = middle
  }
  return to
}
