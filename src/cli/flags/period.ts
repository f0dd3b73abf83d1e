/** The flags of a period of local dates, and what they mean now: by a zone, or by one for each location, as a window of clock-ins. */
import type * as Command from "effect/cli/Command"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { BusinessDate } from "../../Ids.ts"
import { isWritable } from "../../internal/wire/instant.ts"
import { dayStartsOf, isDayRules, union, zoneOf, zonesOf } from "../../payroll/DayRule.ts"
import { type PayCalendar, PayCalendarText, type PayPeriod } from "../../payroll/PayCalendar.ts"
import * as Period from "../../payroll/Period.ts"
import { Weekday } from "../../payroll/Weekday.ts"
import type { TimePunch } from "../../TimePunch.ts"
import { type CommandFailure, refused, usage } from "../failure.ts"
import { printHint } from "../print/messages.ts"
import { describeFilter, type FilterInput, firstGiven, type SomeFilters } from "./filter.ts"
import { orDefault, orReadDefault } from "./settings.ts"
import { choice, date, dateForm, readDate, readInterval, text } from "./values.ts"
import {
  dayRuleAt,
  dayStarts,
  dayStartsForm,
  type LocationDayRules,
  readDayStarts,
  readZone,
  readZones,
  warnOfSigns,
  zone,
  zoneFileFlag,
  zoneFormOf
} from "./zones.ts"

/** A word for the date of a period: the one before today's, or today's. */
export type PeriodWord = "last" | "current"

export const isPeriodWord = (text: string): text is PeriodWord => text === "last" || text === "current"

/** A date, or a word for it. */
export const dateOrWord = (
  name: string,
  metavar: string,
  description: string,
  expected: string,
  read: typeof readDate
) =>
  text(
    name,
    `${metavar}|last|current`,
    description,
    `${expected}, or last or current`,
    (text): Option.Option<BusinessDate | PeriodWord> => isPeriodWord(text) ? Option.some(text) : read(text)
  )

/** Reads `14d:2026-01-05`, `4w,4w,5w:2026-01-05`, `1,16` or `26`. */
export const readCalendar = Schema.decodeOption(PayCalendarText)

/** What `readCalendar` expects; it completes "must be …". */
export const calendarForm =
  "days from 1d to 10000000d with a date on which a period begins, such as 14d:2026-01-05, or a list of them, such as " +
  "4w,4w,5w:2026-01-05, or one or two days of a month, such as 26 or 1,16, the first of two at most 27"

export const calendar = text(
  "calendar",
  "CALENDAR",
  "The pay periods of --pay-period: 14d:2026-01-05 (every 14 days), 4w,4w,5w:2026-01-05 (the lengths repeat), " +
    "1,16 (twice a month) or 26 (from the 26th)",
  calendarForm,
  readCalendar
)

/** The pay periods of a week, a month or a pay period; none without one of them. */
export const calendarOf = ({ calendar, month, week, weekStarts }: PeriodInput): Option.Option<PayCalendar> =>
  Option.isSome(week)
    ? Option.some(weeks(Option.getOrUndefined(weekStarts)))
    : Option.isSome(month)
    ? Option.some(months)
    : calendar

/** Reads a number of days, `1d` to `366d`. A local day is not always 24 hours, so no other unit will do. */
export const readLastDays = (text: string): Option.Option<number> =>
  text.endsWith("d") ? Option.map(readInterval(text), (interval) => Duration.toDays(interval)) : Option.none()

export const periodFlags = {
  week: dateOrWord(
    "week",
    "DATE",
    "Clocked in during the local week of this date; every period needs --zone or --zone-file",
    dateForm,
    readDate
  ),
  month: dateOrWord(
    "month",
    "YYYY-MM",
    "Clocked in during this local month",
    "a month as YYYY-MM, from 0001-01 to 9999-12",
    (month) => readDate(`${month}-01`)
  ),
  payPeriod: dateOrWord(
    "pay-period",
    "DATE",
    "Clocked in during the pay period of this date; goes with --calendar",
    dateForm,
    readDate
  ),
  calendar,
  last: text(
    "last",
    "DAYS",
    "Clocked in during the last days, today included, such as 7d",
    "a number of days from 1d to 366d, such as 7d",
    readLastDays
  ),
  from: date("from", "Clocked in on this local date or later; goes with --to"),
  to: date("to", "Clocked in on this local date or earlier; goes with --from"),
  weekStarts: choice(
    "week-starts",
    Weekday.literals,
    "The first day of --week, and of the weeks of summary --weekly-threshold (default: monday)"
  ),
  zone,
  zoneFile: zoneFileFlag,
  dayStarts
}

export type PeriodInput = Command.Command.Config.Infer<typeof periodFlags>

/** By which day rule the dates of a punch are: one for all locations, or one for each. */
export type LocationDayRule = Period.DayRule | Period.DayRules<Period.MissingDayRule>

/** What a period and its day rules mean for the punches. */
export interface LocalPeriod {
  /** None without `--zone` and `--zone-file`. */
  readonly dayRule: Option.Option<LocationDayRule>
  /** The day rules of the file; none without `--zone-file`. */
  readonly locations: Option.Option<LocationDayRules>
  /** The flag of the period, as errors name it; none without a period. */
  readonly periodFlag: Option.Option<string>
  /** The period by a day rule; none without a period. */
  readonly period: Option.Option<(dayRule: Period.DayRule) => Period.Interval>
  /** The window of the period, or that of the flags. */
  readonly clockedIn: FilterInput["clockedIn"]
  /** The dates of the period; none without a period, and for `--last`, whose dates are those of each location. */
  readonly dates: Option.Option<PayPeriod>
  /** What `last` or `current` means now; none without such a word. */
  readonly word: Option.Option<ResolvedWord>
  /**
   * Whether a punch belongs to the period of its location; every punch does without a period. With `--zone-file` it fails for
   * a location that is not in the file, also without a period and for a punch that is in no period.
   */
  readonly keeps: (punch: TimePunch) => Result.Result<boolean, Period.MissingDayRule>
  /** The day rule of a punch that `keeps` accepts; none without `--zone` and `--zone-file`. */
  readonly dayRuleOf: (punch: TimePunch) => Option.Option<Period.DayRule>
  /** The zone of that day rule, in which its times are shown. */
  readonly zoneOf: (punch: TimePunch) => Option.Option<DateTime.TimeZone>
}

/** A period that was named by a word, as it is named on any other day. */
interface ResolvedWord {
  /** The flag with its word, such as `--week last`. */
  readonly given: string
  /** The flag with a date, such as `--week 2026-03-02`. */
  readonly fixed: string
  readonly dates: PayPeriod
}

/** A period with the flag that names it. */
type FlaggedPeriod =
  | { readonly _tag: "Dates"; readonly flag: string; readonly dates: PayPeriod }
  | {
    readonly _tag: "Word"
    readonly flag: string
    readonly word: PeriodWord
    readonly calendar: PayCalendar
    /** The flag's value for a period that begins on a date. */
    readonly valueOf: (first: BusinessDate) => string
  }
  | { readonly _tag: "LastDays"; readonly flag: string; readonly days: number }

/**
 * The flags with their period as a window of clock-ins, at this time. A punch belongs to the period in which it was
 * clocked in, with all of its time. A period beside another, or beside a window, is refused: one of them would be ignored.
 *
 * With `locations` the window covers the period in every zone of the world, so that a location which is missing there is
 * found by its punches; `keeps` then decides of each punch. `countsWeeks`: the command counts weeks, so that
 * `--week-starts` has a meaning without `--week`.
 */
export const withPeriod = <Input extends SomeFilters & PeriodInput>(
  flags: Input,
  now: DateTime.Utc,
  { countsWeeks = false, locations = Option.none() }: {
    readonly countsWeeks?: boolean
    readonly locations?: Option.Option<LocationDayRules>
  } = {}
): Result.Result<Input & LocalPeriod, CommandFailure> =>
  Result.gen(function*() {
    const [period, other] = yield* periodsOf(flags)
    if (Option.isSome(flags.weekStarts) && Option.isNone(flags.week) && !countsWeeks) {
      return yield* refused("--week-starts is the first day of --week, which is missing")
    }
    if (Option.isSome(flags.zone) && Option.isSome(locations)) {
      return yield* refused("--zone and --zone-file both say which clock counts", "Give one or the other.")
    }
    const { dayStarts, zone } = flags
    const dayRule: Option.Option<LocationDayRule> = Option.isSome(zone)
      ? Option.some(dayRuleAt(zone.value, dayStarts))
      : Option.map(locations, Period.dayRules)
    if (Option.isSome(dayStarts) && Option.isNone(dayRule)) {
      return yield* refused("--day-starts has no zone: a local day begins by the clocks of a place", zoneAdvice)
    }
    const zones = Option.map(dayRule, zonesOf)
    const dayRuleOf = ({ locationId }: TimePunch) =>
      Option.map(zones, ({ getDayRule }) => Result.getOrThrow(getDayRule(locationId)))
    const local: LocalPeriod = {
      dayRule,
      locations,
      clockedIn: flags.clockedIn ?? { gte: Option.none(), lte: Option.none(), lt: Option.none() },
      periodFlag: Option.none(),
      period: Option.none(),
      dates: Option.none(),
      word: Option.none(),
      keeps: ({ locationId }) =>
        Option.match(zones, {
          onNone: () => Result.succeed(true),
          onSome: ({ getDayRule }) => Result.map(getDayRule(locationId), () => true)
        }),
      dayRuleOf,
      zoneOf: (punch) => Option.map(dayRuleOf(punch), zoneOf)
    }
    if (period === undefined) return { ...flags, ...local }
    if (other !== undefined) {
      return yield* refused(`${period.flag} and ${other.flag} are two periods`, "Give one or the other.")
    }
    const window = Object.keys(describeFilter(flags)).find((name) => windows.test(name))
    if (window !== undefined) {
      return yield* refused(
        `${period.flag} and ${window} both say which punches to request: a period is a window of clock-ins in --zone`,
        "Give one or the other."
      )
    }
    if (Option.isNone(dayRule)) {
      return yield* refused(
        `${period.flag} has no zone: a local date begins and ends by the clocks of a place`,
        zoneAdvice
      )
    }
    const word = period._tag === "Word"
      ? Option.some(yield* readWord(period, zonesOf(dayRule.value), now))
      : Option.none()
    const dates = period._tag === "Dates" ? Option.some(period.dates) : Option.map(word, ({ dates }) => dates)
    const datesAt = (today: BusinessDate): PayPeriod =>
      period._tag === "LastDays"
        ? { first: Option.getOrThrow(Period.addDays(today, 1 - period.days)), last: today }
        : Option.getOrThrow(dates)
    const interval = (each: Period.DayRule) => intervalOf(each, datesAt(Period.businessDate(each, now)))
    const { gte, lt } = isDayRules(dayRule.value) ? widestOf(dayRule.value, datesAt, now) : interval(dayRule.value)
    if (!isDayRules(dayRule.value) && DateTime.isGreaterThanOrEqualTo(gte, lt)) {
      return yield* refused(`${period.flag} has no instant in ${DateTime.zoneToString(zoneOf(dayRule.value))}`)
    }
    if (!isWritable(gte.epochMilliseconds) || !isWritable(lt.epochMilliseconds)) {
      return yield* refused(`${period.flag} reaches beyond the years 0001 to 9999 by the clocks of its zone`)
    }
    return {
      ...flags,
      ...local,
      periodFlag: Option.some(period.flag),
      period: Option.some(interval),
      dates,
      word,
      keeps: Period.byLocation(dayRule.value, interval).contains,
      clockedIn: { gte: Option.some(gte), lte: Option.none(), lt: Option.some(lt) }
    }
  })

const zoneAdvice =
  "Add --zone, such as --zone America/New_York, or --zone UTC; or --zone-file FILE, a zone for each location."

const intervalOf = (dayRule: Period.DayRule, { first, last }: PayPeriod) => Period.localDays(dayRule, first, last)

/**
 * The same, at the current time, with the day rules of the file. The dates of the period are printed on standard error if its
 * first one is not in the call: a word means another period on another day, and a week may begin on another day than expected.
 */
export const resolvePeriod = Effect.fnUntraced(function*<Input extends SomeFilters & PeriodInput>(
  flags: Input,
  { countsWeeks = false, ...options }: DefaultsOfPeriod & { readonly countsWeeks?: boolean } = {}
) {
  const completed = yield* withDefaults(flags, { takesWeekStarts: countsWeeks, ...options })
  yield* warnOfSigns(Option.toArray(completed.zone))
  const locations = yield* readZones(completed.zoneFile, completed.dayStarts)
  const resolved = yield* Effect.fromResult(withPeriod(completed, yield* DateTime.now, { countsWeeks, locations }))
  const { dates, periodFlag, word } = resolved
  const day = Option.orElse(completed.week, () => completed.payPeriod)
  if (Option.isSome(word)) {
    yield* printHint(`${word.value.given}: ${textOfDates(word.value.dates)}`)
  } else if (Option.isSome(day) && Option.isSome(dates) && Option.isSome(periodFlag)) {
    if (day.value !== dates.value.first) {
      yield* printHint(`${periodFlag.value} ${day.value}: ${textOfDates(dates.value)}`)
    }
  } else if (Option.isSome(completed.last)) {
    const { dayRule } = resolved
    // With a zone for each location there may be two todays.
    if (Option.isSome(dayRule) && !isDayRules(dayRule.value)) {
      const last = Period.businessDate(dayRule.value, yield* DateTime.now)
      const first = Option.getOrThrow(Period.addDays(last, 1 - completed.last.value))
      yield* printHint(`--last ${completed.last.value}d: ${textOfDates({ first, last })}`)
    }
  }
  return resolved
})

interface DefaultsOfPeriod {
  /** Days or weeks are counted also without a period, so the clock of the profile counts. */
  readonly countsDays?: boolean
  /** The first day of the week of the profile counts also without `--week`. Default: where weeks are counted. */
  readonly takesWeekStarts?: boolean
}

/**
 * The flags with the defaults of the profile, each only where it decides on something: a listing without a period needs no
 * clock, and a clock that is given replaces that of the profile.
 */
const withDefaults = Effect.fnUntraced(function*<Input extends PeriodInput>(
  flags: Input,
  { countsDays = false, takesWeekStarts = false }: DefaultsOfPeriod
) {
  const isGiven = isPeriodGiven(flags)
  const needsClock = isGiven || countsDays
  const hasClock = Option.isSome(flags.zone) || Option.isSome(flags.zoneFile)
  const zone = needsClock && !hasClock ? yield* orReadDefault(flags.zone, "zone", readZone, zoneFormOf) : flags.zone
  const zoneFile = needsClock && !hasClock ? yield* orDefault(flags.zoneFile, "zoneFile") : flags.zoneFile
  return {
    ...flags,
    zone,
    zoneFile,
    dayStarts: needsClock && (Option.isSome(zone) || Option.isSome(zoneFile))
      ? yield* dayStartsOrDefault(flags.dayStarts)
      : flags.dayStarts,
    weekStarts: Option.isSome(flags.week) || takesWeekStarts
      ? yield* orReadDefault(
        flags.weekStarts,
        "weekStarts",
        readWeekday,
        `one of ${Period.Weekday.literals.join(", ")}`
      )
      : flags.weekStarts,
    calendar: Option.isSome(flags.payPeriod)
      ? yield* orReadDefault(flags.calendar, "calendar", readCalendar, calendarForm)
      : flags.calendar
  }
})

const readWeekday = (text: string) =>
  Option.fromUndefinedOr(Period.Weekday.literals.find((weekday) => weekday === text))

/** The start of a day, or the default that the profile has for it. */
export const dayStartsOrDefault = (given: PeriodInput["dayStarts"]) =>
  orReadDefault(given, "dayStarts", readDayStarts, dayStartsForm)

/** The dates of a period, for people and for the note of an export. */
export const textOfDates = ({ first, last }: PayPeriod): string => `${first} to ${last}`

/**
 * The day rule and the period of a command that needs them, as `PeriodCheck.check` takes them. Fails without a period; `command`
 * is its name in the message.
 */
export const requirePeriod = ({ dayRule, period }: LocalPeriod, command: string, ...advice: ReadonlyArray<string>) =>
  Effect.mapError(
    Effect.fromOption(Option.all({ dayRule, period })),
    () => usage(`${command} needs a period`, "Add one, such as --week DATE, with --zone or --zone-file.", ...advice)
  )

/** Refuses the first of these flags that is given beside `--close`. `keys` are those of the parsed flags. */
export const refuseBesideClose = (input: object, keys: ReadonlyArray<string>) => {
  const given = firstGiven(input, keys)
  return given === undefined
    ? Effect.void
    : usage(`--close goes without ${given}: dates, zones, thresholds and rounding are those of the record`)
}

/** The punches of a page that belong to the period, in their order. */
export const keptOf = (
  punches: ReadonlyArray<TimePunch>,
  { dayRule, keeps }: LocalPeriod
): Result.Result<ReadonlyArray<TimePunch>, Period.MissingDayRule> => {
  if (Option.isNone(dayRule)) return Result.succeed(punches)
  const kept: Array<TimePunch> = []
  for (const punch of punches) {
    const belongs = keeps(punch)
    if (Result.isFailure(belongs)) return Result.fail(belongs.failure)
    if (belongs.success) kept.push(punch)
  }
  return Result.succeed(kept)
}

/** Whether a period is given. */
export const isPeriodGiven = ({ from, last, month, payPeriod, to, week }: PeriodInput): boolean =>
  [week, month, payPeriod, last, from, to].some((flag) => Option.isSome<unknown>(flag))

/**
 * What a run that resumes this one on another day has to know of a period that depends on the day: its date, or for
 * `--last` by one zone its window. By several zones it has neither: its days change at the midnight of each. Empty for other
 * periods, which are the same on every day.
 */
export const fixedWindowHint = (flags: FilterInput & PeriodInput & LocalPeriod): ReadonlyArray<string> => {
  if (Option.isSome(flags.word)) {
    const { fixed, given } = flags.word.value
    return [`On another day, replace ${given} by ${fixed}`]
  }
  if (Option.isNone(flags.last)) return []
  if (Option.isSome(flags.zoneFile)) {
    return [
      "Only until the next midnight of a location: then --last has other days. Start over after it, without --cursor."
    ]
  }
  const window = describeFilter(flags)
  return [
    `On another day, replace --last by --clocked-in-gte ${window["--clocked-in-gte"]} --clocked-in-lt ${
      window["--clocked-in-lt"]
    }`
  ]
}

/** The widest window of the period: over all zones of the world and the clocks of the locations, whatever their date. */
const widestOf = (
  zones: Period.DayRules<Period.MissingDayRule>,
  datesAt: (today: BusinessDate) => PayPeriod,
  now: DateTime.Utc
): Period.Interval => {
  const starts = [0, ...zones.all.map(dayStartsOf)]
  const dates = extremes.flatMap((zone) =>
    starts.map((dayStarts) => datesAt(Period.businessDate({ zone, dayStarts }, now)))
  )
  const unique = new Map(dates.map((each) => [textOfDates(each), each]))
  const widest = [...unique.values()].map((each) =>
    Period.byLocation(zones, (dayRule) => intervalOf(dayRule, each)).widest
  )
  return union(widest)
}

/** The zones with the earliest and the latest date. */
const extremes = [-12, 14].map((hours) => DateTime.zoneMakeOffset(hours * 3_600_000))

/** The flags of a filter that say when: a period replaces them. */
const windows = /^--(clocked-(in|out)|business-date)-|^--localize-search-time$/

/** What a word means now: one period for all locations, else none is meant. */
const readWord = (
  { calendar, flag, valueOf, word }: Extract<FlaggedPeriod, { _tag: "Word" }>,
  { all }: Period.DayRules<Period.MissingDayRule>,
  now: DateTime.Utc
): Result.Result<ResolvedWord, CommandFailure> => {
  const found = all.map((dayRule) => {
    const today = Period.payPeriod(calendar, Period.businessDate(dayRule, now))
    const before = Period.addDays(today.first, -1)
    const dates = word === "current" ? today : Period.payPeriod(calendar, Option.getOrThrow(before))
    return { dates, fixed: `${flag} ${valueOf(dates.first)}`, zone: DateTime.zoneToString(zoneOf(dayRule)) }
  })
  const given = `${flag} ${word}`
  const [one, ...others] = found
  if (one === undefined) return refused(`${given} has no zone`, zoneAdvice)
  const other = others.find(({ dates }) => dates.first !== one.dates.first)
  return other === undefined
    ? Result.succeed({ given, fixed: one.fixed, dates: one.dates })
    : refused(
      `${given} means two periods now: ${textOfDates(one.dates)} in ${one.zone}, ${
        textOfDates(other.dates)
      } in ${other.zone}`,
      `Give a date: ${one.fixed}, or ${other.fixed}.`
    )
}

const periodsOf = (flags: PeriodInput): Result.Result<ReadonlyArray<FlaggedPeriod>, CommandFailure> => {
  const { calendar, from, last, month, payPeriod, to, week } = flags
  const firstDay = Option.getOrUndefined(flags.weekStarts)
  if (Option.isSome(payPeriod) !== Option.isSome(calendar)) {
    return Option.isSome(payPeriod)
      ? refused(
        "--pay-period goes with --calendar, which is missing",
        "Add --calendar, such as 14d:2026-01-05 (every 14 days), 1,16 (twice a month) or 26 (from the 26th)."
      )
      : refused("--calendar goes with --pay-period, which is missing")
  }
  const named = (
    flag: string,
    given: Option.Option<BusinessDate | PeriodWord>,
    calendar: PayCalendar,
    valueOf: (first: BusinessDate) => string = String
  ): Option.Option<FlaggedPeriod> =>
    Option.map(given, (date) =>
      isPeriodWord(date)
        ? { _tag: "Word", flag, word: date, calendar, valueOf }
        : { _tag: "Dates", flag, dates: Period.payPeriod(calendar, date) })
  const periods: ReadonlyArray<Option.Option<FlaggedPeriod>> = [
    named("--week", week, weeks(firstDay)),
    named("--month", month, months, (first) => first.slice(0, "YYYY-MM".length)),
    Option.flatMap(calendar, (each) => named("--pay-period", payPeriod, each)),
    Option.map(last, (days) => ({ _tag: "LastDays", flag: "--last", days })),
    Option.map(
      Option.all([from, to]),
      ([first, last]) => ({ _tag: "Dates", flag: "--from", dates: { first, last } })
    )
  ]
  if (Option.isSome(from) !== Option.isSome(to)) {
    const [flag, missing] = Option.isSome(from) ? ["--from", "--to"] : ["--to", "--from"]
    return refused(`${flag} goes with ${missing}, which is missing: the two are the first and the last date`)
  }
  if (Option.isSome(from) && Option.isSome(to) && to.value < from.value) {
    return refused(`--to ${to.value} is before --from ${from.value}`)
  }
  return Result.succeed(periods.flatMap((period) => Option.toArray(period)))
}

/** Weeks are pay periods of seven days, and months those from the first of each. */
const weeks = (firstDay: Period.Weekday | undefined): PayCalendar => ({
  kind: "days",
  days: 7,
  anchor: Period.firstDateOfWeek(BusinessDate.make("2026-01-05"), { firstDay })
})

const months: PayCalendar = { kind: "months", firstDays: [1] }
