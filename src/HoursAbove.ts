/** The hours of each person above a threshold, by local week and day. `Labor` exports it all. Pure: reads no clock. */
import type * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Function from "effect/Function"
import * as HashMap from "effect/HashMap"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Sink from "effect/Sink"
import type { BusinessDate, UserId } from "./Ids.ts"
import { SumOverflow } from "./LaborTotals.ts"
import * as Period from "./Period.ts"
import type { TimePunch } from "./TimePunch.ts"
import * as WorkedTime from "./WorkedTime.ts"
import { type Zones, zonesOf } from "./Zones.ts"

/** The thresholds, and the clock by which days and weeks are counted. @since 0.1.0 */
export interface HoursAboveOptions<out E = never> extends WorkedTime.Options {
  /** The zone of all locations, or `Period.zones`: each location by its own clock. */
  readonly zone: DateTime.TimeZone | Zones<E>
  /** The threshold for the net time of a local week. Default: none, so that no time is above it. */
  readonly above?: Duration.Input | undefined
  /** The threshold for the net time of a local day. Default: none, so that no time is above it. */
  readonly aboveDay?: Duration.Input | undefined
  /** The first day of a week. Default: `"monday"`. */
  readonly firstDay?: Period.Weekday | undefined
}

/**
 * The net time of a person in a local day or week.
 *
 * @since 0.1.0
 */
export interface TimeAbove {
  /** The day, or the first date of the week. */
  readonly date: BusinessDate
  /** Net time of the punches that were clocked in then. */
  readonly net: Duration.Duration
  /** The part of `net` above the threshold. */
  readonly above: Duration.Duration
}

/**
 * The net time of a person, and how much of it lies above the thresholds.
 *
 * @since 0.1.0
 */
export interface HoursAbove {
  /** Number of punches with unknown durations (`WorkedTime.of`): their time is in no figure here. */
  readonly incomplete: number
  /** Net time of all punches. */
  readonly net: Duration.Duration
  /** The sum of `above` over `weeks`. */
  readonly above: Duration.Duration
  /** The sum of `above` over `days`. It does not reduce the other sum, and the other does not reduce it. */
  readonly aboveDay: Duration.Duration
  /** The weeks with a punch of known time, by date. */
  readonly weeks: ReadonlyArray<TimeAbove>
  /** The days with a punch of known time, by date. */
  readonly days: ReadonlyArray<TimeAbove>
}

/**
 * The net time of each person above `above` in a local week, and above `aboveDay` in a local day. These are figures, not a
 * pay rule: they know no rate, no law and no agreement, and the two thresholds do not affect each other.
 *
 * A punch counts, whole, in the day and the week in which it was clocked in, by the clock of its location. A person who
 * works at several locations has one sum for each date. If the punches cover only a part of a week, only that part counts:
 * list whole weeks.
 *
 * One pass; memory grows with the number of persons and their days. Every punch that arrives counts, a deleted one too.
 * Fails with the error of `zone`, and with `SumOverflow` before a sum could be wrong.
 *
 * Laws: `net` is the sum of the `net` of its days, and of its weeks; a threshold of zero gives all of it, an infinite one
 * nothing, and a higher one never more. The order of the punches does not matter.
 *
 * **Example** (Hours above 40 in a week and 8 in a day)
 *
 * ```ts
 * import { DateTime, Effect, HashMap, Stream } from "effect"
 * import { BusinessDate, CompanyId, Labor, Period, TimePunches } from "effect-time-punches"
 *
 * const zone = DateTime.zoneMakeNamedUnsafe("America/New_York")
 * const week = { clockedIn: Period.week(zone, BusinessDate.make("2026-03-09")) }
 *
 * export const above = TimePunches.list(CompanyId.make(7), week).pipe(
 *   Stream.run(Labor.hoursAbove({ zone, above: "40 hours", aboveDay: "8 hours" })),
 *   Effect.map(HashMap.map((person) => [person.above, person.aboveDay]))
 * )
 * ```
 *
 * @since 0.1.0
 */
export const hoursAbove = <E = never>(
  options: HoursAboveOptions<E>
): Sink.Sink<HashMap.HashMap<UserId, HoursAbove>, TimePunch, never, E | SumOverflow> =>
  Sink.foldArray(
    () => ({ people: new Map<UserId, Person>(), dateOf: makeDateOf(zonesOf(options.zone)) }),
    Function.constTrue,
    (state, punches: ReadonlyArray<TimePunch>) => {
      for (const punch of punches) {
        const date = state.dateOf(punch)
        if (Result.isFailure(date)) return Effect.fail<E | SumOverflow>(date.failure)
        if (!add(personOf(state.people, punch.userId), date.success, punch, options)) {
          return Effect.fail(new SumOverflow({ field: "net", punchId: punch.id }))
        }
      }
      return Effect.succeed(state)
    }
  ).pipe(Sink.map(({ people }) => HashMap.map(HashMap.fromIterable(people), (person) => hoursOf(person, options))))

/** Running sums in milliseconds. */
interface Person {
  incomplete: number
  net: number
  readonly days: Map<BusinessDate, number>
}

const personOf = (people: Map<UserId, Person>, userId: UserId): Person => {
  const known = people.get(userId)
  if (known !== undefined) return known
  const person: Person = { incomplete: 0, net: 0, days: new Map() }
  people.set(userId, person)
  return person
}

/** The local date of the clock-in of a punch, with the days of each zone in a cache. */
const makeDateOf = <E>(zones: Zones<E>): (punch: TimePunch) => Result.Result<BusinessDate, E> => {
  const byZone = new Map<DateTime.TimeZone, (instant: DateTime.DateTime) => BusinessDate>()
  return (punch) =>
    Result.map(zones.of(punch.locationId), (zone) => {
      const known = byZone.get(zone)
      if (known !== undefined) return known(punch.clockedIn)
      const dateOf = Period.businessDates(zone)
      byZone.set(zone, dateOf)
      return dateOf(punch.clockedIn)
    })
}

/** Whether the sum is exact with the punch. No part of it exceeds the whole. */
const add = (person: Person, date: BusinessDate, punch: TimePunch, options: WorkedTime.Options): boolean => {
  const { durations } = WorkedTime.of(punch, options)
  if (Option.isNone(durations)) {
    person.incomplete += 1
    return true
  }
  const net = Duration.toMillis(durations.value.net)
  person.net += net
  person.days.set(date, (person.days.get(date) ?? 0) + net)
  return Number.isSafeInteger(person.net)
}

const hoursOf = (person: Person, options: HoursAboveOptions<unknown>): HoursAbove => {
  const weeks = new Map<BusinessDate, number>()
  for (const [day, net] of person.days) {
    const week = Period.firstDateOfWeek(day, options)
    weeks.set(week, (weeks.get(week) ?? 0) + net)
  }
  const byWeek = timesAbove(weeks, options.above)
  const byDay = timesAbove(person.days, options.aboveDay)
  return {
    incomplete: person.incomplete,
    net: Duration.millis(person.net),
    above: sumAbove(byWeek),
    aboveDay: sumAbove(byDay),
    weeks: byWeek,
    days: byDay
  }
}

/** A negative threshold counts as zero: no more than all time is above it. */
const timesAbove = (
  sums: ReadonlyMap<BusinessDate, number>,
  threshold: Duration.Input = Duration.infinity
): ReadonlyArray<TimeAbove> => {
  const least = Math.max(0, Duration.toMillis(threshold))
  return [...sums]
    .toSorted(([a], [b]) => a < b ? -1 : 1)
    .map(([date, net]) => ({ date, net: Duration.millis(net), above: Duration.millis(Math.max(0, net - least)) }))
}

const sumAbove = (times: ReadonlyArray<TimeAbove>): Duration.Duration =>
  Duration.millis(times.reduce((sum, { above }) => sum + Duration.toMillis(above), 0))
