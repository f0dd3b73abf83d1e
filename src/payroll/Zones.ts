/** A zone for each location, and a period by the clock of each. `Period` exports it. */
import * as DateTime from "effect/DateTime"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { LocationId } from "../Ids.ts"
import type { TimePunch } from "../TimePunch.ts"

/** A half-open range of instants, ready for a filter: `{ clockedIn: interval }`. */
export interface Interval {
  /** The first instant of the range. */
  readonly gte: DateTime.Utc
  /** The first instant after the range. */
  readonly lt: DateTime.Utc
}

/**
 * A location without a zone. Its punches belong to no local day, and a sum without them would be wrong. Add the location
 * and its zone.
 */
export class MissingZone
  extends Schema.TaggedError<MissingZone>("effect-time-punches/Zones/MissingZone")("MissingZone", {
    /** The location. */
    locationId: LocationId
  })
{
  /** Names the location. */
  override get message(): string {
    return `location ${this.locationId} has no zone`
  }
}

/** The zones of the locations of a company. `Period.zones` makes them from a map. */
export interface Zones<out E = never> {
  /** Every zone that a location has, each once. */
  readonly all: ReadonlyArray<DateTime.TimeZone>
  /** The zone of a location; a failure if it has none. */
  readonly clockOf: (locationId: LocationId) => Result.Result<DateTime.TimeZone, E>
}

/**
 * A zone for each location. A location that is not in the map fails with `MissingZone`, which names it: no other zone
 * replaces it.
 */
export const zones = (byLocation: ReadonlyMap<LocationId, DateTime.TimeZone>): Zones<MissingZone> => {
  // One object for each zone, so that what is computed of a zone can be kept by it.
  const unique = new Map([...byLocation.values()].map((zone) => [DateTime.zoneToString(zone), zone]))
  const known = new Map(
    [...byLocation].map(([locationId, zone]) => {
      const found = Result.succeed(unique.get(DateTime.zoneToString(zone)) ?? zone)
      return [locationId, found]
    })
  )
  return {
    all: [...unique.values()],
    clockOf: (locationId) => known.get(locationId) ?? Result.fail(new MissingZone({ locationId }))
  }
}

/** The zones, also if one zone stands for all locations. */
export const zonesOf = <E = never>(zone: DateTime.TimeZone | Zones<E>): Zones<E> =>
  DateTime.isTimeZone(zone) ? { all: [zone], clockOf: () => Result.succeed(zone) } : zone

/** One period, such as a week, by the clock of each location. */
export interface LocalPeriods<out E = never> {
  /**
   * What to list: from the first instant at which the period begins at any location to the last at which it ends. It is
   * `widest` if no location has a zone.
   */
  readonly window: Interval
  /**
   * The same over all zones of the world, UTC-12:00 to UTC+14:00. List it to fail with `MissingZone` also for a location
   * whose punches all lie outside `window`.
   */
  readonly widest: Interval
  /** The period of a location. */
  readonly periodOf: (locationId: LocationId) => Result.Result<Interval, E>
  /** Whether a punch was clocked in during the period of its location, and so belongs to it as a whole. */
  readonly contains: (punch: Pick<TimePunch, "locationId" | "clockedIn">) => Result.Result<boolean, E>
}

/**
 * A period by the clock of each location, or by one zone for all. List `window`, then keep the punches that the period of
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
 * const zones = Period.zones(new Map([
 *   [LocationId.make(301), DateTime.zoneMakeNamedUnsafe("America/New_York")],
 *   [LocationId.make(302), DateTime.zoneMakeNamedUnsafe("America/Chicago")],
 *   [LocationId.make(303), DateTime.zoneMakeNamedUnsafe("Pacific/Honolulu")]
 * ]))
 * const week = Period.byLocation(zones, (zone) => Period.week(zone, BusinessDate.make("2026-03-09")))
 *
 * // Fails with MissingZone if a punch is at another location.
 * export const punches = TimePunches.list(CompanyId.make(7), { clockedIn: week.window }).pipe(
 *   Stream.filterEffect((punch) => Effect.fromResult(week.contains(punch)))
 * )
 * ```
 */
export const byLocation = <E = never>(
  zone: DateTime.TimeZone | Zones<E>,
  period: (zone: DateTime.TimeZone) => Interval
): LocalPeriods<E> => {
  const { all, clockOf } = zonesOf(zone)
  const intervals = new Map(all.map((each) => [each, period(each)]))
  const intervalOf = (each: DateTime.TimeZone): Interval => intervals.get(each) ?? period(each)
  const widest = union([...intervals.values(), ...offsets.map(period)])
  return {
    window: intervals.size === 0 ? widest : union([...intervals.values()]),
    widest,
    periodOf: (locationId) => Result.map(clockOf(locationId), intervalOf),
    contains: (punch) => Result.map(clockOf(punch.locationId), (each) => isWithin(intervalOf(each), punch.clockedIn))
  }
}

/**
 * The offsets of the world, from where days begin last to where they begin first. All of them, since the dates of a period
 * that depends on today change with the zone.
 */
const offsets = Array.from(
  { length: 26 * 4 + 1 },
  (_, quarter) => DateTime.zoneMakeOffset((quarter - 12 * 4) * 900_000)
)

const isWithin = ({ gte, lt }: Interval, { epochMilliseconds }: DateTime.Utc): boolean =>
  gte.epochMilliseconds <= epochMilliseconds && epochMilliseconds < lt.epochMilliseconds

const union = (intervals: ReadonlyArray<Interval>): Interval => ({
  gte: DateTime.makeUnsafe(Math.min(...intervals.map(({ gte }) => gte.epochMilliseconds))),
  lt: DateTime.makeUnsafe(Math.max(...intervals.map(({ lt }) => lt.epochMilliseconds)))
})
