/** The flags of a period of local dates, and the window of clock-ins that they make: half-open, and whole days of a zone. */
import type * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Period from "../../Period.ts"
import { type CommandFailure, usage } from "../failure.ts"
import { describeFilter, type FilterInput } from "./filter.ts"
import { readLastDays } from "./interval.ts"
import { date, readDate, text, zone } from "./values.ts"

const weekdays = [
  "sunday",
  "monday",
  "tuesday",
  "wednesday",
  "thursday",
  "friday",
  "saturday"
] as const satisfies ReadonlyArray<Period.Weekday>

export const periodFlags = {
  week: date("week", "Clocked in during the local week of this date; needs --zone, as every period does"),
  month: text(
    "month",
    "YYYY-MM",
    "Clocked in during this local month",
    "a month as YYYY-MM",
    (month) => readDate(`${month}-01`)
  ),
  last: text(
    "last",
    "DAYS",
    "Clocked in during the last days, today included, such as 7d",
    "a number of days, such as 7d",
    readLastDays
  ),
  start: date("start", "Clocked in on this local date or later; goes with --end"),
  end: date("end", "Clocked in on this local date or earlier; goes with --start"),
  weekStarts: Flag.Literals("week-starts", weekdays).pipe(
    Flag.withDescription("The first day of --week (default: monday)"),
    Flag.optional
  ),
  zone
}

/** What the flags were parsed to. */
export type PeriodInput = Command.Command.Config.Infer<typeof periodFlags>

/** A period as it was given: the flag, and its dates once the zone and the time are known. */
interface Given {
  readonly flag: string
  readonly interval: (zone: DateTime.TimeZone, now: DateTime.Utc) => Period.Interval
}

/**
 * The flags with their period as a window of clock-ins, at this time. A punch belongs to the period in which it was
 * clocked in, with all of its time. A period beside another, or beside a window, is refused: one of them would be ignored.
 */
export const withPeriod = <Input extends FilterInput & PeriodInput>(
  flags: Input,
  now: DateTime.Utc
): Result.Result<Input, CommandFailure> =>
  Result.gen(function*() {
    const [period, other] = yield* periodsOf(flags)
    if (Option.isSome(flags.weekStarts) && Option.isNone(flags.week)) {
      return yield* Result.fail(usage("--week-starts is the first day of --week, which is missing"))
    }
    if (period === undefined) return flags
    if (other !== undefined) {
      return yield* Result.fail(usage(`${period.flag} and ${other.flag} are two periods`, "Give one or the other."))
    }
    const window = Object.keys(describeFilter(flags)).find((name) => windows.test(name))
    if (window !== undefined) {
      return yield* Result.fail(usage(
        `${period.flag} and ${window} both say which punches to request: a period is a window of clock-ins in --zone`,
        "Give one or the other."
      ))
    }
    if (Option.isNone(flags.zone)) {
      return yield* Result.fail(usage(
        `${period.flag} has no zone: a local date begins and ends by the clocks of a place`,
        "Add --zone, such as --zone America/New_York, or --zone UTC."
      ))
    }
    const { gte, lt } = period.interval(flags.zone.value, now)
    if (DateTime.isGreaterThanOrEqualTo(gte, lt)) {
      return yield* Result.fail(usage(`${period.flag} has no instant in ${DateTime.zoneToString(flags.zone.value)}`))
    }
    return { ...flags, clockedIn: { gte: Option.some(gte), lte: Option.none(), lt: Option.some(lt) } }
  })

/** The same, at the current time. */
export const resolvePeriod = <Input extends FilterInput & PeriodInput>(flags: Input) =>
  Effect.flatMap(DateTime.now, (now) => Effect.fromResult(withPeriod(flags, now)))

/** Whether a period is given. */
export const isPeriodGiven = ({ end, last, month, start, week }: PeriodInput): boolean =>
  Option.isSome(last) || [week, month, start, end].some((flag) => Option.isSome(flag))

/**
 * The window of `--last` as flags that mean the same on every day, for a run that resumes this one; empty for other
 * periods, which are the same window on every day.
 */
export const fixedWindowHint = (flags: FilterInput & PeriodInput): ReadonlyArray<string> => {
  if (Option.isNone(flags.last)) return []
  const given = describeFilter(flags)
  return [
    `On another day, replace --last by --clocked-in-gte ${given["--clocked-in-gte"]} --clocked-in-lt ${
      given["--clocked-in-lt"]
    }`
  ]
}

/** The flags of a filter that say when: a period replaces them. */
const windows = /^--(clocked-(in|out)|business-date)-|^--localize-search-time$/

const periodsOf = (flags: PeriodInput): Result.Result<ReadonlyArray<Given>, CommandFailure> => {
  const { end, last, month, start, week } = flags
  const firstDay = Option.getOrUndefined(flags.weekStarts)
  const periods = [
    Option.map(week, (date): Given => ({
      flag: "--week",
      interval: (zone) => Period.week(zone, date, { firstDay })
    })),
    Option.map(month, (date): Given => ({ flag: "--month", interval: (zone) => Period.month(zone, date) })),
    Option.map(last, (days): Given => ({
      flag: "--last",
      interval: (zone, now) => {
        const today = Period.businessDate(zone, now)
        return Period.localDays(zone, Period.addDaysUnsafe(today, 1 - days), today)
      }
    })),
    Option.map(Option.all([start, end]), ([first, last]): Given => ({
      flag: "--start",
      interval: (zone) => Period.localDays(zone, first, last)
    }))
  ]
  if (Option.isSome(start) !== Option.isSome(end)) {
    const [given, missing] = Option.isSome(start) ? ["--start", "--end"] : ["--end", "--start"]
    return Result.fail(
      usage(`${given} goes with ${missing}, which is missing: the two are the first and the last date`)
    )
  }
  if (Option.isSome(start) && Option.isSome(end) && end.value < start.value) {
    return Result.fail(usage(`--end ${end.value} is before --start ${start.value}`))
  }
  return Result.succeed(periods.flatMap((period) => Option.toArray(period)))
}
