/** `--weekly-threshold`, `--daily-threshold` and `--double-threshold`, and the clock by which they count. */
import type * as Command from "effect/cli/Command"
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Struct from "effect/Struct"
import type * as Labor from "../../payroll/Labor.ts"
import type { MissingZone, Weekday } from "../../payroll/Period.ts"
import { type CommandFailure, refused } from "../failure.ts"
import { flagNameOf } from "../flags/filter.ts"
import { hoursForm, readHours, text } from "../flags/values.ts"
import type { LocalPeriod } from "./period.ts"

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
): Result.Result<Option.Option<Labor.HoursOverThresholdOptions<MissingZone>>, CommandFailure> => {
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
