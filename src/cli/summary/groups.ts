/** What a summary sums by: the key of a punch, the name of a key, and the hours of a person above a threshold. */
import type * as Command from "effect/cli/Command"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as HashMap from "effect/HashMap"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type { UserId } from "../../Ids.ts"
import type * as Labor from "../../payroll/Labor.ts"
import * as Period from "../../payroll/Period.ts"
import type { MissingZone, Weekday } from "../../payroll/Period.ts"
import type { TimePunch } from "../../TimePunch.ts"
import { type CommandFailure, usage } from "../failure.ts"
import type { Names } from "../flags/names.ts"
import type { LocalPeriod } from "../flags/period.ts"
import { hoursForm, readHours, text } from "../flags/values.ts"

export const groupings = ["location", "user", "role", "department", "day"] as const

/** What a summary sums by. */
export type Grouping = typeof groupings[number]

/** An id or a date; `null` for the punches without a department. */
export type Key = number | string | null

/** The key of a punch. A punch without a zone has the day of UTC. */
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

/** The name of a key; `undefined` if the file has none. */
export const nameOfKey = (by: Grouping, names: Names, key: Key): string | undefined =>
  by === "day" || typeof key !== "number" ? undefined : names(by, key)

/** Ids by value, dates in their order, and last the punches without a department. No two keys are equal. */
export const compareKeys = (a: Key, b: Key): number => b === null || (a !== null && a < b) ? -1 : 1

const hours = (name: string, description: string) => text(name, "HOURS", description, hoursForm, readHours)

export const aboveFlags = {
  above: hours(
    "above",
    "Net time above this in each local week, such as 40h; with --by user: a figure, not a pay rule"
  ),
  aboveDay: hours(
    "above-day",
    "Net time above this on each local day, such as 8h; with --by user: a figure, not a pay rule"
  )
}

type AboveInput = Command.Command.Config.Infer<typeof aboveFlags>

/** The thresholds with the clock by which they count; none without one. Fails if no person or no local date is known. */
export const limitsOf = (
  { above, aboveDay, by, clock, weekStarts }: AboveInput & LocalPeriod & {
    readonly by: Grouping
    readonly weekStarts: Option.Option<Weekday>
  }
): Result.Result<Option.Option<Labor.HoursAboveOptions<MissingZone>>, CommandFailure> => {
  const flag = Option.isSome(above) ? "--above" : Option.isSome(aboveDay) ? "--above-day" : undefined
  if (flag === undefined) return Result.succeedNone
  if (by !== "user") {
    return Result.fail(usage(`${flag} goes with --by user, not --by ${by}: it counts the hours of a person`))
  }
  if (Option.isNone(clock)) {
    return Result.fail(usage(
      `${flag} has no zone: local days and weeks begin by the clocks of a place`,
      "Add --zone, such as --zone America/New_York, or --zones FILE, a zone for each location."
    ))
  }
  return Result.succeedSome({
    zone: clock.value,
    weeklyThreshold: Option.getOrUndefined(above),
    dailyThreshold: Option.getOrUndefined(aboveDay),
    firstDay: Option.getOrUndefined(weekStarts)
  })
}

/** A column of hours above a threshold. */
export interface AboveColumn {
  readonly title: string
  /** Its name in CSV and in JSON, in seconds. */
  readonly csv: string
  readonly json: string
  readonly of: (key: Key) => Duration.Duration
  readonly total: Duration.Duration
}

/** The columns of the thresholds that are given. */
export const aboveColumns = (
  { above, aboveDay }: AboveInput,
  people: HashMap.HashMap<UserId, Labor.HoursOverThreshold>
): ReadonlyArray<AboveColumn> => [
  ...column(above, "above", "above_seconds", "aboveSeconds", people, (person) => person.above),
  ...column(aboveDay, "above day", "above_day_seconds", "aboveDaySeconds", people, (person) => person.aboveDay)
]

const column = (
  threshold: Option.Option<Duration.Duration>,
  title: string,
  csv: string,
  json: string,
  people: HashMap.HashMap<UserId, Labor.HoursOverThreshold>,
  timeOf: (person: Labor.HoursOverThreshold) => Duration.Duration
): ReadonlyArray<AboveColumn> => {
  if (Option.isNone(threshold)) return []
  const times = new Map<Key, Duration.Duration>(
    Array.from(people, ([userId, person]) => [userId, timeOf(person)])
  )
  const total = [...times.values()].reduce((sum, time) => sum + Duration.toMillis(time), 0)
  return [{ title, csv, json, of: (key) => times.get(key) ?? Duration.zero, total: Duration.millis(total) }]
}
