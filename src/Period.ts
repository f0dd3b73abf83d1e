/** Local days, weeks, months and pay cycles of a time zone, as half-open ranges of instants. Pure: no clock is read. */
import * as DateTime from "effect/DateTime"
import { BusinessDate } from "./Ids.ts"

/**
 * The instants from `gte` up to, but not with, `lt`. It is a filter's window as it stands: `{ clockedIn: interval }`.
 *
 * @since 0.1.0
 */
export interface Interval {
  readonly gte: DateTime.Utc
  readonly lt: DateTime.Utc
}

/**
 * The instants of the local dates `first` to `last`, both inclusive. A day lasts as long as its clocks say: 23, 24 or
 * 25 hours, or another length where the clocks move otherwise; one that the zone skipped is empty (`gte` equals `lt`).
 *
 * A date begins at the first instant at which the local calendar shows it or a later one. That is midnight where
 * midnight exists, the first of two where it comes twice, and the end of the gap where it is skipped.
 *
 * Law: days tile. `localDays(zone, a, c)` is `localDays(zone, a, b)` followed by `localDays(zone, b + 1, c)`, without
 * gap or overlap, in every zone. Where `last` lies before `first` the range is inverted, which a listing refuses.
 *
 * @since 0.1.0
 */
export const localDays = (zone: DateTime.TimeZone, first: BusinessDate, last: BusinessDate): Interval =>
  between(zone, dayOf(first), dayOf(last) + 1)

/** The day a week begins with. @since 0.1.0 */
export type Weekday = "sunday" | "monday" | "tuesday" | "wednesday" | "thursday" | "friday" | "saturday"

/**
 * The local week that contains `date`: seven days from `firstDay`, by default Monday.
 *
 * Law: it is the same for every date of the week, and consecutive weeks tile.
 *
 * @since 0.1.0
 */
export const week = (
  zone: DateTime.TimeZone,
  date: BusinessDate,
  options?: { readonly firstDay?: Weekday | undefined }
): Interval => {
  // Day 0, 1 January 1970, was a Thursday.
  const day = dayOf(date)
  const start = day - modulo(day + 4 - weekdays.indexOf(options?.firstDay ?? "monday"), 7)
  return between(zone, start, start + 7)
}

/**
 * The local calendar month that contains `date`.
 *
 * Law: it is the same for every date of the month, and consecutive months tile.
 *
 * @since 0.1.0
 */
export const month = (zone: DateTime.TimeZone, date: BusinessDate): Interval => {
  const start = DateTime.startOf(DateTime.makeUnsafe(date), "month")
  return between(zone, toDay(start), toDay(DateTime.add(start, { months: 1 })))
}

/**
 * The pay cycle that contains `date`, where a cycle of `days` local days begins on `anchor` and on every `days`th day
 * before and after it: `{ anchor, days: 14 }` is a fortnight. Throws a `RangeError` unless `days` is an integer >= 1.
 *
 * Law: it is the same for every date of the cycle, and consecutive cycles tile.
 *
 * @since 0.1.0
 */
export const cycle = (
  zone: DateTime.TimeZone,
  date: BusinessDate,
  options: { readonly anchor: BusinessDate; readonly days: number }
): Interval => {
  if (!Number.isSafeInteger(options.days) || options.days < 1) {
    throw new RangeError("Period.cycle: days must be an integer of at least 1")
  }
  const day = dayOf(date)
  const start = day - modulo(day - dayOf(options.anchor), options.days)
  return between(zone, start, start + options.days)
}

/**
 * The local date of an instant: the one whose `localDays` contain it. For many instants, make `businessDates` once.
 *
 * @since 0.1.0
 */
export const businessDate = (zone: DateTime.TimeZone, instant: DateTime.DateTime): BusinessDate =>
  businessDates(zone)(instant)

/**
 * Reads local dates off instants, and remembers the days it has met: the second punch of a day costs no look at the
 * zone's rules. Made once, it is the key of a roll-up by local date.
 *
 * Law: `localDays(zone, d, d)` contains the instant exactly if `d` is its date. So it is the date on the wall clock,
 * but where clocks were set back across midnight: the minutes that the old date then lives again are the new date's.
 * Instants beyond the years 0001 to 9999 have the first or the last date of the calendar.
 *
 * @since 0.1.0
 */
export const businessDates = (zone: DateTime.TimeZone): (instant: DateTime.DateTime) => BusinessDate => {
  const starts = new Map<number, number>()
  const dates = new Map<number, BusinessDate>()
  const startOf = (day: number): number => {
    const known = starts.get(day)
    if (known !== undefined) return known
    const start = startOfDay(zone, day)
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
 * The date `days` after `date`, or before it where `days` is negative. It stays within the years 0001 to 9999: beyond
 * them it is the first or the last date. Throws a `RangeError` unless `days` is an integer.
 *
 * @since 0.1.0
 */
export const addDays = (date: BusinessDate, days: number): BusinessDate => {
  if (!Number.isSafeInteger(days)) throw new RangeError("Period.addDays: days must be an integer")
  return fromDay(dayOf(date) + days)
}

const weekdays: ReadonlyArray<Weekday> = [
  "sunday",
  "monday",
  "tuesday",
  "wednesday",
  "thursday",
  "friday",
  "saturday"
]

const dayMillis = 86_400_000

/** 0001-01-01 and 9999-12-31 as days since 1970-01-01. */
const firstDay = -719_162
const lastDay = 2_932_896

const clamp = (day: number): number => Math.min(Math.max(day, firstDay), lastDay)

const modulo = (dividend: number, divisor: number): number => ((dividend % divisor) + divisor) % divisor

const toDay = (midnight: DateTime.Utc): number => midnight.epochMilliseconds / dayMillis

const dayOf = (date: BusinessDate): number => toDay(DateTime.makeUnsafe(date))

const fromDay = (day: number): BusinessDate =>
  BusinessDate.make(DateTime.formatIsoDateUtc(DateTime.makeUnsafe(clamp(day) * dayMillis)))

const between = (zone: DateTime.TimeZone, start: number, end: number): Interval => ({
  gte: DateTime.makeUnsafe(startOfDay(zone, start)),
  lt: DateTime.makeUnsafe(startOfDay(zone, end))
})

const offsetAt = (zone: DateTime.TimeZone, millis: number): number =>
  zone._tag === "Offset" ? zone.offset : DateTime.zonedOffset(DateTime.setZone(DateTime.makeUnsafe(millis), zone))

/**
 * The first instant at which the wall clock shows the day or a later one. No zone is a whole day from UTC, so it lies
 * within a day of UTC's midnight; in those two days the rules of a zone change once at most.
 */
const startOfDay = (zone: DateTime.TimeZone, day: number): number => {
  const wall = day * dayMillis
  const before = offsetAt(zone, wall - dayMillis)
  const after = offsetAt(zone, wall + dayMillis)
  if (before === after) return wall - before
  const change = changeWithin(zone, wall - dayMillis, wall + dayMillis, before)
  return wall - before < change ? wall - before : Math.max(change, wall - after)
}

/** The first instant after `low`, and not after `high`, whose offset is not `before`: `high`'s is not. */
const changeWithin = (zone: DateTime.TimeZone, low: number, high: number, before: number): number => {
  let [from, to] = [low, high]
  while (to - from > 1) {
    const middle = Math.floor((from + to) / 2)
    if (offsetAt(zone, middle) === before) from = middle
    else to = middle
  }
  return to
}
