/** The hours of each person above a threshold, as columns of a summary: figures, no pay rule. */
import type * as Command from "effect/cli/Command"
import * as Duration from "effect/Duration"
import * as HashMap from "effect/HashMap"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type { UserId } from "../../Ids.ts"
import type * as Labor from "../../Labor.ts"
import type { MissingZone, Weekday } from "../../Period.ts"
import { type CommandFailure, usage } from "../failure.ts"
import { hoursForm, readHours } from "../flags/interval.ts"
import type { LocalPeriod } from "../flags/period.ts"
import { text } from "../flags/values.ts"
import type { Grouping, Key } from "./groups.ts"

const hours = (name: string, description: string) => text(name, "HOURS", description, hoursForm, readHours)

export const aboveFlags = {
  above: hours("above", "Net time above this in each local week, such as 40h; with --by user. A figure, no pay rule"),
  aboveDay: hours(
    "above-day",
    "Net time above this on each local day, such as 8h; with --by user. A figure, no pay rule"
  )
}

type AboveInput = Command.Command.Config.Infer<typeof aboveFlags>

/** The thresholds with the clock by which they count; none without one. Fails where no person or no local date is known. */
export const limitsOf = (
  { above, aboveDay, by, clock, weekStarts }: AboveInput & LocalPeriod & {
    readonly by: Grouping
    readonly weekStarts: Option.Option<Weekday>
  }
): Result.Result<Option.Option<Labor.HoursAboveOptions<MissingZone>>, CommandFailure> => {
  const given = Option.isSome(above) ? "--above" : Option.isSome(aboveDay) ? "--above-day" : undefined
  if (given === undefined) return Result.succeedNone
  if (by !== "user") {
    return Result.fail(usage(`${given} goes with --by user, not --by ${by}: the hours are those of a person`))
  }
  if (Option.isNone(clock)) {
    return Result.fail(usage(
      `${given} has no zone: local days and weeks begin by the clocks of a place`,
      "Add --zone, such as --zone America/New_York, or --zones FILE, a zone for each location."
    ))
  }
  return Result.succeedSome({
    zone: clock.value,
    above: Option.getOrUndefined(above),
    aboveDay: Option.getOrUndefined(aboveDay),
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
  people: HashMap.HashMap<UserId, Labor.HoursAbove>
): ReadonlyArray<AboveColumn> => [
  ...column(above, "above", "above_seconds", "aboveSeconds", people, (person) => person.above),
  ...column(aboveDay, "above day", "above_day_seconds", "aboveDaySeconds", people, (person) => person.aboveDay)
]

const column = (
  threshold: Option.Option<Duration.Duration>,
  title: string,
  csv: string,
  json: string,
  people: HashMap.HashMap<UserId, Labor.HoursAbove>,
  timeOf: (person: Labor.HoursAbove) => Duration.Duration
): ReadonlyArray<AboveColumn> => {
  if (Option.isNone(threshold)) return []
  const times = new Map<Key, Duration.Duration>(
    Array.from(people, ([userId, person]) => [userId, timeOf(person)])
  )
  const total = [...times.values()].reduce((sum, time) => sum + Duration.toMillis(time), 0)
  return [{ title, csv, json, of: (key) => times.get(key) ?? Duration.zero, total: Duration.millis(total) }]
}
