/** `--max-shift`: how long a punch may be, and how much time around a period is read for overlaps. */
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { isWritable } from "../../internal/wire/instant.ts"
import { type CommandFailure, usage } from "../failure.ts"
import type { FilterInput } from "../flags/filter.ts"
import { readInterval, text } from "../flags/values.ts"
import type { LocalPeriod } from "./period.ts"

export const defaultMaxShift = Duration.hours(16)

export const maxShift = text(
  "max-shift",
  "TIME",
  "Report longer punches; also how much time around the period is read for overlaps (default: 16h)",
  "a time from 1m to 366d, such as 16h",
  (text) => Option.filter(readInterval(text), Duration.isGreaterThanOrEqualTo(Duration.minutes(1)))
)

/** The time around the period must be in the calendar too. Fails before anything is sent. */
export const refuseBeyondCalendar = (
  { clockedIn, periodFlag }: LocalPeriod & Pick<FilterInput, "clockedIn">,
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
