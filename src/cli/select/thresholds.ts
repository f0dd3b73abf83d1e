/** `--weekly-threshold`, `--daily-threshold` and `--double-threshold`, and the clock by which they count. */
import type * as Command from "effect/cli/Command"
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Struct from "effect/Struct"
import type * as Labor from "../../payroll/Labor.ts"
import type { MissingDayRule, Weekday } from "../../payroll/Period.ts"
import { type CommandFailure, refused } from "../failure.ts"
import { flagNameOf } from "../flags/filter.ts"
import { text, units } from "../flags/values.ts"
import type { LocalPeriod } from "./period.ts"

/** What `readHours` expects; it completes "must be …". */
export const hoursForm = "hours up to 99999.99h or minutes up to 9999999m, such as 40h, 37.5h or 450m"

/**
 * Reads a length of work: hours with up to two decimals, or whole minutes. `1d` is rejected: a day of work has no length. `0.01h` is
 * too: a threshold is zero, or at least a minute.
 */
export const readHours = (text: string): Option.Option<Duration.Duration> => {
  const [, hours, minutes] = /^(?:(\d{1,5}(?:\.\d{1,2})?)h|(\d{1,7})m)$/.exec(text) ?? []
  if (hours !== undefined) {
    const millis = Math.round(Number(hours) * units.h)
    return millis > 0 && millis < units.m ? Option.none() : Option.some(Duration.millis(millis))
  }
  return minutes === undefined ? Option.none() : Option.some(Duration.millis(Number(minutes) * units.m))
}

/** Writes such a length: what `readHours` reads, to the hundredth of an hour or the minute. */
export const hoursText = (hours: Duration.Duration): string => {
  const millis = Duration.toMillis(hours)
  return millis % (units.h / 100) === 0 ? `${millis / units.h}h` : `${millis / units.m}m`
}

const hours = (name: string, description: string) => text(name, "HOURS", description, hoursForm, readHours)

/** `verb`: what the command does with the time over a threshold. */
export const makeThresholdFlags = (verb: "Show" | "Record") => ({
  weeklyThreshold: hours(
    "weekly-threshold",
    `${verb} the net time of each person over this in each local week, such as 40h, without what is over a daily threshold: ` +
      "a figure, not a pay rule"
  ),
  dailyThreshold: hours(
    "daily-threshold",
    `${verb} the net time of each person over this on each local day, such as 8h: a figure, not a pay rule`
  ),
  doubleThreshold: hours(
    "double-threshold",
    `${verb} the net time of each person over this second threshold of a local day, such as 12h, as a separate class`
  )
})

export const thresholdFlags = makeThresholdFlags("Show")

export type ThresholdInput = Command.Command.Config.Infer<typeof thresholdFlags>

/** The thresholds that are given. Fails for a second daily one that is the lower of the two: no hour would be between them. */
export const givenThresholds = (
  { dailyThreshold, doubleThreshold, weeklyThreshold }: ThresholdInput
): Result.Result<Labor.Thresholds, CommandFailure> => {
  const given = {
    weeklyThreshold: Option.getOrUndefined(weeklyThreshold),
    dailyThreshold: Option.getOrUndefined(dailyThreshold),
    doubleThreshold: Option.getOrUndefined(doubleThreshold)
  }
  const { dailyThreshold: first = Duration.zero, doubleThreshold: second = Duration.infinity } = given
  return Duration.isLessThan(second, first)
    ? refused("--double-threshold is lower than --daily-threshold", "Give the longer time as --double-threshold.")
    : Result.succeed(given)
}

/**
 * The thresholds with the clock by which they count, and the period; none without a threshold. Fails for a grouping that the
 * hours do not have, and if no local date is known.
 */
export const thresholdsOf = (
  { by, dayRule, period, weekStarts, ...flags }: ThresholdInput & LocalPeriod & {
    readonly by: ReadonlyArray<string>
    readonly weekStarts: Option.Option<Weekday>
  }
): Result.Result<Option.Option<Labor.HoursOverThresholdOptions<MissingDayRule>>, CommandFailure> => {
  const name = Struct.keys(thresholdFlags).find((each) => Option.isSome(flags[each]))
  if (name === undefined) return Result.succeedNone
  const flag = `--${flagNameOf(name)}`
  const other = by.find((each) => each !== "user" && each !== "week" && each !== "day")
  if (other !== undefined) {
    return refused(
      `${flag} does not go with --by ${other}: the hours of all locations, departments and roles of a person count ` +
        "together",
      "Give --by user; week and day may follow it."
    )
  }
  if (Option.isNone(dayRule)) {
    return refused(
      `${flag} has no zone: local days and weeks begin by the clocks of a place`,
      "Add --zone, such as --zone America/New_York, or --zone-file FILE, a zone for each location."
    )
  }
  return Result.map(givenThresholds(flags), (given) =>
    Option.some({
      dayRule: dayRule.value,
      period: Option.getOrUndefined(period),
      ...given,
      firstDay: Option.getOrUndefined(weekStarts)
    }))
}
