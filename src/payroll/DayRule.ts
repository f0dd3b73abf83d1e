/** By which rule the dates of a location are: a day rule for each location, and a period by the rule of each. */
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { LocationId } from "../Ids.ts"
import { unknownKey } from "../internal/text/meant.ts"
import { dayMillis } from "../internal/wire/instant.ts"
import { durationOf } from "../internal/wire/retryOptions.ts"
import type { TimePunch } from "../TimePunch.ts"
import { orThrow, refusalOf, type Wrong, wrong } from "./options.ts"

/** A half-open range of instants, ready for a filter: `{ clockedIn: interval }`. */
export interface Interval {
  /** The first instant of the range. */
  readonly gte: DateTime.Utc
  /** The first instant after the range. */
  readonly lt: DateTime.Utc
}

/** A half-open range of instants, in epoch milliseconds. */
export interface MillisInterval {
  /** The first instant. */
  readonly from: number
  /** The first instant after it. */
  readonly to: number
}

/**
 * When local dates begin: a zone, in which they begin at midnight, or a zone and the time at which they begin.
 * `{ zone, dayStarts: "4 hours" }`: what happens before 04:00 belongs to the day before. `{ zone, dayStarts: "-2 hours" }`:
 * a day begins at 22:00 of the day before.
 */
export type DayRule = DateTime.TimeZone | {
  /** The zone of the wall clock. */
  readonly zone: DateTime.TimeZone
  /** When a day begins on the wall clock, counted from midnight: from -12 to 12 hours, and not less than a minute unless zero. */
  readonly dayStarts: Duration.Input
}

/** The zone of a day rule, in which its times are shown. */
export const zoneOf = (dayRule: DayRule): DateTime.TimeZone => DateTime.isTimeZone(dayRule) ? dayRule : dayRule.zone

/** When a day begins by a day rule, in milliseconds from midnight. Throws `InvalidRequest` for one that is not from -12 to 12 hours. */
export const dayStartsOf = (dayRule: DayRule): number => {
  if (DateTime.isTimeZone(dayRule)) return 0
  const millis = startMillis(dayRule.dayStarts)
  if (!isStart(millis)) orThrow(refusalOf({ dayRule }, { dayRule: isDayRule }))
  return millis
}

const startMillis = (dayStarts: Duration.Input): number =>
  Option.match(durationOf(dayStarts), { onNone: () => NaN, onSome: Duration.toMillis })

/**
 * In a start that is further from midnight, two changes of the clocks of a zone could lie between a date and its day. A number
 * alone is milliseconds, and 4 of them are not meant.
 */
const isStart = (millis: number): boolean =>
  millis === 0 || (Math.abs(millis) >= 60_000 && Math.abs(millis) <= dayMillis / 2)

/** No clock of a place is a day away from UTC. */
const isPlace = (zone: DateTime.TimeZone): boolean => zone._tag === "Named" || Math.abs(zone.offset) < dayMillis

const offsetForm = "must be a time zone less than a day away from UTC"

const dayRuleForm = "must be a time zone, or { zone, dayStarts }"

/** The day rule of all locations, as options have it. */
export const isDayRule = (dayRule: DayRule): Wrong | undefined => {
  if (DateTime.isTimeZone(dayRule)) return isPlace(dayRule) ? undefined : wrong(offsetForm)
  if (!Predicate.isObject(dayRule)) return wrong(dayRuleForm)
  const unknown = Object.keys(dayRule).find((key) => key !== "zone" && key !== "dayStarts")
  if (unknown !== undefined)
    return wrong(unknownKey(unknown, ["zone", "dayStarts"], "a key of a day rule"), `.${unknown}`)
  if (!DateTime.isTimeZone(dayRule.zone)) return wrong("must be a time zone", ".zone")
  if (!isPlace(dayRule.zone)) return wrong(offsetForm, ".zone")
  return isStart(startMillis(dayRule.dayStarts))
    ? undefined
    : wrong(
      "must be a duration from -12 to 12 hours, such as \"4 hours\"; a number alone is milliseconds",
      ".dayStarts"
    )
}

/** By how many milliseconds the wall clock of a zone is ahead of UTC at an instant. */
export const offsetAt = (zone: DateTime.TimeZone, millis: number): number =>
  zone._tag === "Offset" ? zone.offset : DateTime.zonedOffset(DateTime.setZone(DateTime.makeUnsafe(millis), zone))

/** Equal texts are equal day rules. */
export const dayRuleKey = (dayRule: DayRule): string =>
  `${DateTime.zoneToString(zoneOf(dayRule))} ${dayStartsOf(dayRule)}`

/**
 * A location without a zone. Its punches belong to no local day, and a sum without them would be wrong. Add the location
 * and its zone.
 */
export class MissingDayRule
  extends Schema.TaggedError<MissingDayRule>("effect-time-punches/DayRule/MissingDayRule")("MissingDayRule", {
    /** The location. */
    locationId: LocationId
  })
{
  /** Names the location. */
  override get message(): string {
    return `location ${this.locationId} has no zone`
  }

  /** Whether the same call may succeed later with nothing changed: no. */
  get isRetryable(): boolean {
    return false
  }
}

/** The day rules of the locations of a company. `Period.dayRules` makes them from a map. */
export interface DayRules<out E = never> {
  /** Every day rule that a location has, each once. */
  readonly all: ReadonlyArray<DayRule>
  /** The day rule of a location; a failure if it has none. */
  readonly getDayRule: (locationId: LocationId) => Result.Result<DayRule, E>
}

/**
 * A zone for each location, and the time at which its days begin if that is not midnight. A location that is not in the map
 * fails with `MissingDayRule`, which names it: no other zone replaces it.
 */
export const dayRules = (byLocation: ReadonlyMap<LocationId, DayRule>): DayRules<MissingDayRule> => {
  // One object for each day rule, so that what is computed of it can be kept by it.
  const unique = new Map([...byLocation.values()].map((dayRule) => [dayRuleKey(dayRule), dayRule]))
  const known = new Map(
    [...byLocation].map(([locationId, dayRule]) => {
      const found = Result.succeed(unique.get(dayRuleKey(dayRule)) ?? dayRule)
      return [locationId, found]
    })
  )
  return {
    all: [...unique.values()],
    getDayRule: (locationId) => known.get(locationId) ?? Result.fail(new MissingDayRule({ locationId }))
  }
}

/** Whether each location has a separate day rule. */
export const isDayRules = <E>(dayRule: DayRule | DayRules<E>): dayRule is DayRules<E> => "getDayRule" in dayRule

/** A day rule, or one for each location. */
export const isDayRuleOrRules = (dayRule: DayRule | DayRules<unknown>): Wrong | undefined => {
  if (!Predicate.isObject(dayRule)) return wrong(dayRuleForm)
  return !isDayRules(dayRule) ? isDayRule(dayRule) : dayRule.all.map(isDayRule).find((found) => found !== undefined)
}

/** The day rules, also if one stands for all locations. */
export const zonesOf = <E = never>(dayRule: DayRule | DayRules<E>): DayRules<E> =>
  isDayRules(dayRule) ? dayRule : { all: [dayRule], getDayRule: () => Result.succeed(dayRule) }

/** One period, such as a week, by the day rule of each location. */
export interface LocalPeriods<out E = never> {
  /**
   * What to list: from the first instant at which the period begins at any location to the last at which it ends. It is
   * `widest` if no location has a zone.
   */
  readonly queryWindow: Interval
  /**
   * The same over all zones of the world, UTC-12:00 to UTC+14:00, each with every `dayStarts` that a location has. List it
   * to fail with `MissingDayRule` also for a location whose punches all lie outside `queryWindow`.
   */
  readonly widest: Interval
  /** The period of a location. */
  readonly getPeriod: (locationId: LocationId) => Result.Result<Interval, E>
  /** Whether a punch was clocked in during the period of its location, and so belongs to it as a whole. */
  readonly contains: (punch: Pick<TimePunch, "locationId" | "clockedIn">) => Result.Result<boolean, E>
}

/**
 * A period by the day rule of each location, or by one for all. List `queryWindow`, then keep the punches that the period of
 * their own location `contains`.
 *
 * Law: of consecutive periods, exactly one contains a punch.
 *
 * **Example** (A week of three locations in three zones)
 *
 * ```ts
 * import { DateTime, Effect, Stream } from "effect"
 * import { BusinessDate, CompanyId, LocationId, TimePunches } from "effect-time-punches"
 * import { Period } from "effect-time-punches/payroll"
 *
 * const zones = Period.dayRules(new Map([
 *   [LocationId.make(301), DateTime.zoneMakeNamedUnsafe("America/New_York")],
 *   [LocationId.make(302), DateTime.zoneMakeNamedUnsafe("America/Chicago")],
 *   [LocationId.make(303), DateTime.zoneMakeNamedUnsafe("Pacific/Honolulu")]
 * ]))
 * const week = Period.byLocation(zones, (dayRule) => Period.week(dayRule, BusinessDate.make("2026-03-09")))
 *
 * // Fails with MissingDayRule if a punch is at another location.
 * export const punches = TimePunches.list(CompanyId.make(7), { clockedIn: week.queryWindow }).pipe(
 *   Stream.filterEffect((punch) => Effect.fromResult(week.contains(punch)))
 * )
 * ```
 */
export const byLocation = <E = never>(
  dayRule: DayRule | DayRules<E>,
  period: (dayRule: DayRule) => Interval
): LocalPeriods<E> => {
  const { all, getDayRule } = zonesOf(dayRule)
  const intervals = new Map(all.map((each) => [each, period(each)]))
  const intervalOf = (each: DayRule): Interval => intervals.get(each) ?? period(each)
  const widest = union([...intervals.values(), ...worldDayRules(all).map(period).map(withChange)])
  return {
    queryWindow: intervals.size === 0 ? widest : union([...intervals.values()]),
    widest,
    getPeriod: (locationId) => Result.map(getDayRule(locationId), intervalOf),
    contains: (punch) => Result.map(getDayRule(punch.locationId), (each) => isWithin(intervalOf(each), punch.clockedIn))
  }
}

/** Each offset of the world with each start of a day. All of them, since a period that depends on today moves with both. */
const worldDayRules = (all: ReadonlyArray<DayRule>): ReadonlyArray<DayRule> =>
  [...new Set([0, ...all.map(dayStartsOf)])].flatMap((dayStarts) => offsets.map((zone) => ({ zone, dayStarts })))

/** The offsets of the world, from where days begin last to where they begin first. */
const offsets = Array.from(
  { length: 26 * 4 + 1 },
  (_, quarter) => DateTime.zoneMakeOffset((quarter - 12 * 4) * 900_000)
)

/**
 * The days of an offset have 24 hours. A day on which the clocks of a zone are set back begins or ends as much farther
 * away: up to 3 hours, in Antarctica.
 */
const withChange = ({ gte, lt }: Interval): Interval => ({
  gte: DateTime.subtract(gte, { hours: 3 }),
  lt: DateTime.add(lt, { hours: 3 })
})

/** @internal */
export const isWithin = ({ gte, lt }: Interval, { epochMilliseconds }: DateTime.Utc): boolean =>
  gte.epochMilliseconds <= epochMilliseconds && epochMilliseconds < lt.epochMilliseconds

/** From the earliest start of these ranges to their latest end. */
export const union = (intervals: ReadonlyArray<Interval>): Interval => ({
  gte: DateTime.makeUnsafe(Math.min(...intervals.map(({ gte }) => gte.epochMilliseconds))),
  lt: DateTime.makeUnsafe(Math.max(...intervals.map(({ lt }) => lt.epochMilliseconds)))
})
