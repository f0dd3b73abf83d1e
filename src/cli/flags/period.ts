/** The flags of a period of local dates by a zone, or by one for each location, and the window of clock-ins to request. */
import type * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type { BusinessDate } from "../../Ids.ts"
import * as Period from "../../payroll/Period.ts"
import { weekdays } from "../../payroll/Period.ts"
import { zonesOf } from "../../payroll/Zones.ts"
import type { TimePunch } from "../../TimePunch.ts"
import { type CommandFailure, usage } from "../failure.ts"
import { describeFilter, type FilterInput } from "./filter.ts"
import { date, readDate, readLastDays, text, zone } from "./values.ts"
import { type LocationZones, readZones, zonesFlag } from "./zones.ts"

export const periodFlags = {
  week: date("week", "Clocked in during the local week of this date; every period needs --zone or --zones"),
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
    Flag.withDescription("The first day of --week, and of the weeks of summary --above (default: monday)"),
    Flag.optional
  ),
  zone,
  zones: zonesFlag
}

/** What the flags were parsed to. */
export type PeriodInput = Command.Command.Config.Infer<typeof periodFlags>

/** By which clock the dates of a punch are: one zone for all locations, or a zone for each. */
export type LocationClock = DateTime.TimeZone | Period.Zones<Period.MissingZone>

/** What a period and its zones mean for the punches. */
export interface LocalPeriod {
  /** None without `--zone` and `--zones`. */
  readonly clock: Option.Option<LocationClock>
  /** The zones of the file; none without `--zones`. */
  readonly locations: Option.Option<LocationZones>
  /** The period in a zone; none without a period. */
  readonly period: Option.Option<(zone: DateTime.TimeZone) => Period.Interval>
  /**
   * Whether a punch belongs to the period of its location; every punch does without a period. With `--zones` it fails for
   * a location that is not in the file, also without a period and for a punch that is in no period.
   */
  readonly keeps: (punch: TimePunch) => Result.Result<boolean, Period.MissingZone>
  /** The zone of a punch that `keeps` accepts; none without `--zone` and `--zones`. */
  readonly zoneOf: (punch: TimePunch) => Option.Option<DateTime.TimeZone>
}

/** A period with the flag that names it. Its dates depend on the zone and the time. */
interface FlaggedPeriod {
  readonly flag: string
  readonly interval: (zone: DateTime.TimeZone, now: DateTime.Utc) => Period.Interval
  /** The period by today's date, if its dates depend on that. */
  readonly byDate?: (today: BusinessDate) => (zone: DateTime.TimeZone) => Period.Interval
}

/**
 * The flags with their period as a window of clock-ins, at this time. A punch belongs to the period in which it was
 * clocked in, with all of its time. A period beside another, or beside a window, is refused: one of them would be ignored.
 *
 * With `locations` the window covers the period in every zone of the world, so that a location which is missing there is
 * found by its punches; `keeps` then decides of each punch. `countsWeeks`: the command counts weeks, so that
 * `--week-starts` has a meaning without `--week`.
 */
export const withPeriod = <Input extends FilterInput & PeriodInput>(
  flags: Input,
  now: DateTime.Utc,
  { countsWeeks = false, locations = Option.none() }: {
    readonly countsWeeks?: boolean
    readonly locations?: Option.Option<LocationZones>
  } = {}
): Result.Result<Input & LocalPeriod, CommandFailure> =>
  Result.gen(function*() {
    const [period, other] = yield* periodsOf(flags)
    if (Option.isSome(flags.weekStarts) && Option.isNone(flags.week) && !countsWeeks) {
      return yield* Result.fail(usage("--week-starts is the first day of --week, which is missing"))
    }
    if (Option.isSome(flags.zone) && Option.isSome(locations)) {
      return yield* Result.fail(usage("--zone and --zones both say which clock counts", "Give one or the other."))
    }
    const clock: Option.Option<LocationClock> = Option.orElse(flags.zone, () => Option.map(locations, Period.zones))
    const zones = Option.map(clock, zonesOf)
    const local: LocalPeriod = {
      clock,
      locations,
      period: Option.none(),
      keeps: ({ locationId }) =>
        Option.match(zones, {
          onNone: () => Result.succeed(true),
          onSome: ({ clockOf }) => Result.map(clockOf(locationId), () => true)
        }),
      zoneOf: ({ locationId }) => Option.map(zones, ({ clockOf }) => Result.getOrThrow(clockOf(locationId)))
    }
    if (period === undefined) return { ...flags, ...local }
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
    if (Option.isNone(clock)) {
      return yield* Result.fail(usage(
        `${period.flag} has no zone: a local date begins and ends by the clocks of a place`,
        "Add --zone, such as --zone America/New_York, or --zone UTC; or --zones FILE, a zone for each location."
      ))
    }
    const interval = (zone: DateTime.TimeZone) => period.interval(zone, now)
    const { gte, lt } = DateTime.isTimeZone(clock.value) ? interval(clock.value) : widestOf(clock.value, period, now)
    if (DateTime.isTimeZone(clock.value) && DateTime.isGreaterThanOrEqualTo(gte, lt)) {
      return yield* Result.fail(usage(`${period.flag} has no instant in ${DateTime.zoneToString(clock.value)}`))
    }
    return {
      ...flags,
      ...local,
      period: Option.some(interval),
      keeps: Period.byLocation(clock.value, interval).contains,
      clockedIn: { gte: Option.some(gte), lte: Option.none(), lt: Option.some(lt) }
    }
  })

/** The same, at the current time, with the zones of the file. */
export const resolvePeriod = Effect.fnUntraced(function*<Input extends FilterInput & PeriodInput>(
  flags: Input,
  options?: { readonly countsWeeks?: boolean }
) {
  const locations = yield* readZones(flags.zones)
  return yield* Effect.fromResult(withPeriod(flags, yield* DateTime.now, { ...options, locations }))
})

/**
 * The clock and the period of a command that needs them, as `PeriodCheck.check` takes them. Fails without a period; `command`
 * is its name in the message.
 */
export const requirePeriod = (
  { clock, period }: LocalPeriod,
  command: string
): Result.Result<
  { readonly zone: LocationClock; readonly period: (zone: DateTime.TimeZone) => Period.Interval },
  CommandFailure
> =>
  Result.fromOption(
    Option.all({ zone: clock, period }),
    () => usage(`${command} needs a period`, "Add one, such as --week DATE, with --zone or --zones.")
  )

/** The punches of a page that belong to the period, in their order. */
export const keptOf = (
  punches: ReadonlyArray<TimePunch>,
  { clock, keeps }: LocalPeriod
): Result.Result<ReadonlyArray<TimePunch>, Period.MissingZone> => {
  if (Option.isNone(clock)) return Result.succeed(punches)
  const kept: Array<TimePunch> = []
  for (const punch of punches) {
    const belongs = keeps(punch)
    if (Result.isFailure(belongs)) return Result.fail(belongs.failure)
    if (belongs.success) kept.push(punch)
  }
  return Result.succeed(kept)
}

/** Whether a period is given. */
export const isPeriodGiven = ({ end, last, month, start, week }: PeriodInput): boolean =>
  Option.isSome(last) || [week, month, start, end].some((flag) => Option.isSome(flag))

/**
 * What a run that resumes this one on another day has to know of `--last`; empty for other periods, which are the same on
 * every day. By one zone its window is named, as flags that mean the same on every day. By several zones it has no such
 * flags: its days change at the midnight of each.
 */
export const fixedWindowHint = (flags: FilterInput & PeriodInput): ReadonlyArray<string> => {
  if (Option.isNone(flags.last)) return []
  if (Option.isSome(flags.zones)) {
    return [
      "Only until the next midnight of a location: then --last has other days. Start over after it, without --from."
    ]
  }
  const window = describeFilter(flags)
  return [
    `On another day, replace --last by --clocked-in-gte ${window["--clocked-in-gte"]} --clocked-in-lt ${
      window["--clocked-in-lt"]
    }`
  ]
}

/** The widest window of the period: over all zones of the world and the zones of the locations. */
const widestOf = (
  zones: Period.Zones<Period.MissingZone>,
  { byDate, interval }: FlaggedPeriod,
  now: DateTime.Utc
): Period.Interval => {
  const dates = extremes.map((zone) => Period.businessDate(zone, now))
  const periods = [(zone: DateTime.TimeZone) => interval(zone, now), ...(byDate === undefined ? [] : dates.map(byDate))]
  const widest = periods.map((period) => Period.byLocation(zones, period).widest)
  return {
    gte: DateTime.makeUnsafe(Math.min(...widest.map(({ gte }) => gte.epochMilliseconds))),
    lt: DateTime.makeUnsafe(Math.max(...widest.map(({ lt }) => lt.epochMilliseconds)))
  }
}

/** The zones with the earliest and the latest date. */
const extremes = [-12, 14].map((hours) => DateTime.zoneMakeOffset(hours * 3_600_000))

/** The flags of a filter that say when: a period replaces them. */
const windows = /^--(clocked-(in|out)|business-date)-|^--localize-search-time$/

const periodsOf = (flags: PeriodInput): Result.Result<ReadonlyArray<FlaggedPeriod>, CommandFailure> => {
  const { end, last, month, start, week } = flags
  const firstDay = Option.getOrUndefined(flags.weekStarts)
  const periods = [
    Option.map(week, (date): FlaggedPeriod => ({
      flag: "--week",
      interval: (zone) => Period.week(zone, date, { firstDay })
    })),
    Option.map(month, (date): FlaggedPeriod => ({ flag: "--month", interval: (zone) => Period.month(zone, date) })),
    Option.map(last, (days): FlaggedPeriod => {
      const byDate = (today: BusinessDate) => (zone: DateTime.TimeZone) =>
        Period.localDays(zone, Period.addDaysUnsafe(today, 1 - days), today)
      return { flag: "--last", interval: (zone, now) => byDate(Period.businessDate(zone, now))(zone), byDate }
    }),
    Option.map(Option.all([start, end]), ([first, last]): FlaggedPeriod => ({
      flag: "--start",
      interval: (zone) => Period.localDays(zone, first, last)
    }))
  ]
  if (Option.isSome(start) !== Option.isSome(end)) {
    const [flag, missing] = Option.isSome(start) ? ["--start", "--end"] : ["--end", "--start"]
    return Result.fail(
      usage(`${flag} goes with ${missing}, which is missing: the two are the first and the last date`)
    )
  }
  if (Option.isSome(start) && Option.isSome(end) && end.value < start.value) {
    return Result.fail(usage(`--end ${end.value} is before --start ${start.value}`))
  }
  return Result.succeed(periods.flatMap((period) => Option.toArray(period)))
}
