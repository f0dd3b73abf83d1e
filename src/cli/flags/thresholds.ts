/** How time and cost are counted: the thresholds and `--seventh-day`, `--as-of`, `--rounding`, `--max-shift`. */
import type * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { isWritable } from "../../internal/wire/instant.ts"
import type * as Labor from "../../payroll/Labor.ts"
import { Rounding } from "../../payroll/Rounding.ts"
import type { TimePunch } from "../../TimePunch.ts"
import { type CommandFailure, usage } from "../failure.ts"
import { counted } from "../print/format.ts"
import { printWarning } from "../print/messages.ts"
import type { LocalPeriod } from "./period.ts"
import { choice, instantOrNow, readInterval, readWhole, text, units } from "./values.ts"

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

const hours = (name: string, description: string, usual?: string) =>
  text(name, "HOURS", description, hoursForm, readHours, usual)

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
  ),
  seventhDay: hours(
    "seventh-day",
    `${verb} no time as regular on the last day of a week whose seven days were all worked: 8 hours are over, or 6 with =6h, ` +
      "and the rest is double",
    "8h"
  )
})

export const thresholdFlags = makeThresholdFlags("Show")

export type ThresholdInput = Command.Command.Config.Infer<typeof thresholdFlags>

/** The thresholds that are given. Fails for a second daily one that is the lower of the two: no hour would be between them. */
export const givenThresholds = (
  { dailyThreshold, doubleThreshold, seventhDay, weeklyThreshold }: ThresholdInput
): Effect.Effect<Labor.Thresholds, CommandFailure> => {
  const given = {
    weeklyThreshold: Option.getOrUndefined(weeklyThreshold),
    dailyThreshold: Option.getOrUndefined(dailyThreshold),
    doubleThreshold: Option.getOrUndefined(doubleThreshold),
    seventhDay: Option.getOrUndefined(seventhDay)
  }
  const { dailyThreshold: first = Duration.zero, doubleThreshold: second = Duration.infinity } = given
  return Duration.isLessThan(second, first)
    ? usage("--double-threshold is lower than --daily-threshold", "Give the longer time as --double-threshold.")
    : Effect.succeed(given)
}

export const asOf = instantOrNow(
  "as-of",
  "Count open punches up to this instant, for the current day alone; without it their time is not counted"
)

/** How cost is rounded; none if not given. */
export const optionalRounding = choice(
  "rounding",
  Rounding.literals,
  "How the cost of each punch is rounded to the cent (default: halfUp)"
)

/** The rounding of the flag, else the usual one. */
export const orHalfUp = Option.getOrElse(() => "halfUp" as const)

export const rounding = Flag.map(optionalRounding, orHalfUp)

export const defaultMaxShift = Duration.hours(16)

/** The open punches that `--as-of` counts for longer than a shift lasts, and a warning of them: nothing in the sums shows it. */
export const makeForgotten = (asOf: DateTime.Utc | undefined, maxShift = defaultMaxShift) => {
  const found: Array<TimePunch> = []
  return {
    add: (punches: ReadonlyArray<TimePunch>): void => {
      if (asOf === undefined) return
      found.push(
        ...punches.filter(({ clockedIn, clockedOut }) =>
          Option.isNone(clockedOut) && Duration.isGreaterThan(DateTime.distance(clockedIn, asOf), maxShift)
        )
      )
    },
    warn: Effect.suspend(() => {
      if (found.length === 0) return Effect.void
      // The same ones in whatever order a service or a copy lists them.
      const first = found.toSorted((a, b) => a.id - b.id).slice(0, 5).map(({ id, userId }) => `${id} of user ${userId}`)
      const count = counted(found.length, "open punch", "open punches")
      return printWarning(
        `--as-of counts ${count} for more than ${Duration.format(maxShift)}: is a clock-out missing? ${
          first.join(", ")
        }${found.length > 5 ? ", …" : ""}`
      )
    })
  }
}

export const maxShift = text(
  "max-shift",
  "TIME",
  "Report longer punches; also how much time around the period is read for overlaps (default: 16h)",
  "a time from 1m to 366d, such as 16h",
  (text) => Option.filter(readInterval(text), Duration.isGreaterThanOrEqualTo(Duration.minutes(1)))
)

/** In cents. */
export const maxWage = text(
  "max-wage",
  "AMOUNT",
  "Report a higher hourly wage; without it only one above ten times the median of five people or more",
  "an amount with at most two decimals, up to 999999999999.99",
  (text) =>
    Option.flatMap(
      Option.fromNullishOr(/^(\d{1,12})(?:\.(\d{1,2}))?$/.exec(text)),
      ([, whole = "", part = ""]) => readWhole(whole + part.padEnd(2, "0"))
    )
)

/** The time around the period must be in the calendar too. Fails before anything is sent. */
export const refuseBeyondCalendar = (
  { clockedIn, periodFlag }: LocalPeriod,
  maxShift: Duration.Duration
): Effect.Effect<void, CommandFailure> => {
  const [gte, lt] = [Option.map(clockedIn.gte, DateTime.subtractDuration(maxShift)), clockedIn.lt]
  const isInCalendar = [gte, lt].every((end) => !Option.exists(end, (at) => !isWritable(at.epochMilliseconds)))
  return isInCalendar
    ? Effect.void
    : usage(
      `${Option.getOrElse(periodFlag, () => "the period")} begins less than --max-shift (${
        Duration.format(maxShift)
      }) after the year 0001, and that time is read for overlaps`
    )
}
