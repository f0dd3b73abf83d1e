/** How many people are on the clock at each hour of a week, by the wall clock of their location. */
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import { dayMillis } from "../internal/wire/instant.ts"
import { type DayRule, offsetAt, zoneOf } from "../payroll/DayRule.ts"
import type { PayPeriod } from "../payroll/PayCalendar.ts"
import { modulo } from "../payroll/Rounding.ts"
import { paidParts } from "../payroll/WorkedTime.ts"
import type { TimePunch } from "../TimePunch.ts"

/** The average number of people on the clock, for each of the 168 hours of a week from Sunday at midnight. */
export type Presence = ReadonlyArray<number>

const noTime = (): Array<number> => Array.from({ length: 168 }, () => 0)

const hourMillis = 3_600_000
const quarterMillis = 900_000
const weekMillis = 7 * dayMillis

/**
 * Adds up the time of punches in the hours of a week, and divides it by how often the period has each weekday.
 *
 * A person is on the clock from clock-in to clock-out, except in unpaid breaks. The time of a night stands in the hours in
 * which it passed, after midnight in those of the next weekday. A punch counts whole: after the last day of the period its
 * remaining time counts in the weekday that follows. An hour that the clocks repeat has the time of both, one that they skip has none.
 *
 * Law: before the division, the hours add up to the net time of the punches.
 */
export const makePresence = (asOf: DateTime.DateTime | undefined) => {
  const byDayRule = new Map<DayRule, { readonly hours: Array<number>; readonly offset: (at: number) => number }>()

  const add = (punch: TimePunch, dayRule: DayRule): void => {
    const known = byDayRule.get(dayRule) ?? { hours: noTime(), offset: offsets(dayRule) }
    byDayRule.set(dayRule, known)
    for (const { from, to } of paidParts(punch, { asOf })) addTime(known.hours, known.offset, from, to)
  }

  const result = (datesOf: (dayRule: DayRule) => PayPeriod): Presence => {
    const people = noTime()
    for (const [dayRule, { hours }] of byDayRule) {
      const days = weekdaysOf(datesOf(dayRule))
      for (const [hour, time] of hours.entries()) {
        people[hour] = (people[hour] ?? 0) + time / hourMillis / Math.max(1, days[Math.floor(hour / 24)] ?? 0)
      }
    }
    return people
  }

  return { add, result }
}

const addTime = (hours: Array<number>, offset: (at: number) => number, from: number, to: number): void => {
  // A punch of years, which somebody forgot to end, has the same time at each hour of its whole weeks.
  const weeks = Math.max(0, Math.floor((to - from) / weekMillis) - 1)
  if (weeks > 0) { for (const [hour, time] of hours.entries()) hours[hour] = time + weeks * hourMillis }
  let at = from + weeks * weekMillis
  while (at < to) {
    const ahead = offset(at)
    let end = Math.min(to, at + hourMillis - modulo(at + ahead, hourMillis))
    // Clocks change at a quarter of an hour.
    if (offset(end) !== ahead) end = Math.min(end, at + quarterMillis - modulo(at, quarterMillis))
    // 1 January 1970 was a Thursday.
    const hour = modulo(Math.floor((at + ahead) / hourMillis) + 4 * 24, 168)
    hours[hour] = (hours[hour] ?? 0) + end - at
    at = end
  }
}

/** `offsetAt` of a day rule. It caches the days on which the offset stays, and of other days the quarters of an hour. */
const offsets = (dayRule: DayRule) => {
  const zone = zoneOf(dayRule)
  /** `undefined`: the offset changes within it. */
  const ofSpan = (length: number) => {
    const known = new Map<number, number | undefined>()
    return (at: number): number | undefined => {
      const span = Math.floor(at / length)
      if (!known.has(span)) {
        const [first, last] = [offsetAt(zone, span * length), offsetAt(zone, (span + 1) * length - 1)]
        known.set(span, first === last ? first : undefined)
      }
      return known.get(span)
    }
  }
  const [ofDay, ofQuarter] = [ofSpan(dayMillis), ofSpan(quarterMillis)]
  return (at: number): number => ofDay(at) ?? ofQuarter(at) ?? offsetAt(zone, at)
}

/** How often a range of dates has each weekday, from Sunday. */
const weekdaysOf = ({ first, last }: PayPeriod): ReadonlyArray<number> => {
  const start = DateTime.makeUnsafe(first)
  const days = Duration.toDays(DateTime.distance(start, DateTime.makeUnsafe(last))) + 1
  const weekday = DateTime.getPartUtc(start, "weekDay")
  return Array.from({ length: 7 }, (_, each) => Math.ceil((days - modulo(each - weekday, 7)) / 7))
}
