/** What a summary sums by: the key of a punch, and the name of a key. */
import * as DateTime from "effect/DateTime"
import * as Option from "effect/Option"
import * as Period from "../../Period.ts"
import type { TimePunch } from "../../TimePunch.ts"
import type { Names } from "../flags/names.ts"

export const groupings = ["location", "user", "role", "department", "day"] as const

/** What a summary sums by. */
export type Grouping = typeof groupings[number]

/** An id, a date, or none for the punches without a department. */
export type Key = number | string | null

/** `zoneOf`: the zone of a punch; a day without one is that of UTC. */
export const keyOf = (
  by: Grouping,
  zoneOf: (punch: TimePunch) => Option.Option<DateTime.TimeZone>
): (punch: TimePunch) => Key => {
  switch (by) {
    case "location":
      return (punch) => punch.locationId
    case "user":
      return (punch) => punch.userId
    case "role":
      return (punch) => punch.roleId
    case "department":
      return (punch) => Option.getOrUndefined(punch.departmentId) ?? null
    case "day": {
      const dateOf = makeDateOf()
      return (punch) => dateOf(Option.getOrElse(zoneOf(punch), () => utc))(punch.clockedIn)
    }
  }
}

const utc = DateTime.zoneMakeOffset(0)

/** The dates in a zone, with the days of each zone in a cache. */
const makeDateOf = () => {
  const byZone = new Map<DateTime.TimeZone, ReturnType<typeof Period.businessDates>>()
  return (zone: DateTime.TimeZone) => {
    const known = byZone.get(zone)
    if (known !== undefined) return known
    const dateOf = Period.businessDates(zone)
    byZone.set(zone, dateOf)
    return dateOf
  }
}

/** The name of a key; `undefined` where the file has none. */
export const nameOfKey = (by: Grouping, names: Names, key: Key): string | undefined =>
  by === "day" || typeof key !== "number" ? undefined : names(by, key)

/** Ids by value, dates in their order, and last the punches without a department. No two keys are equal. */
export const compareKeys = (a: Key, b: Key): number => b === null || (a !== null && a < b) ? -1 : 1
