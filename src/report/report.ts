/** START HERE for reports. The punches of a period as one page of HTML: hours, cost, people on the clock, findings and sums. */
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Function from "effect/Function"
import * as HashMap from "effect/HashMap"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type * as Stream from "effect/Stream"
import { countedPunches, formatSignedHours } from "../internal/page/amounts.ts"
import type { Html } from "../internal/page/html.ts"
import * as Labor from "../payroll/Labor.ts"
import type { PayPeriod } from "../payroll/PayCalendar.ts"
import * as Period from "../payroll/Period.ts"
import * as PeriodCheck from "../payroll/PeriodCheck.ts"
import { byLocation, dayStartsOf, type Interval, type LocalClock, zoneOf, zonesOf } from "../payroll/Zones.ts"
import type { TimePunch } from "../TimePunch.ts"
import { type Figures, figuresOf } from "./figures.ts"
import * as Page from "./page.ts"

/** What a report shows, and by which clock. */
export interface ReportOptions<out E = never>
  extends Labor.LaborOptions, Labor.Thresholds, Omit<PeriodCheck.PeriodCheckOptions<E>, "isChecked" | "asOf">
{
  /** The first day of a week. Default: `"monday"`. */
  readonly firstDay?: Period.Weekday | undefined
  /**
   * Which punches of the period the report shows, such as those of one location. The others are read for overlaps only.
   * Default: all.
   */
  readonly isSelected?: ((punch: TimePunch) => boolean) | undefined
  /** The name of an id, such as the name of a person. It is shown as it is, as text. Default: ids only. */
  readonly names?: Page.NameLookup | undefined
  /** The title of the page. Default: `Labour report`. */
  readonly title?: string | undefined
  /** Sentences below the list of what to look at, such as what the source of the punches does not know. */
  readonly notes?: ReadonlyArray<string> | undefined
}

/**
 * What to list for a report: the period by the clock of each location, the days before it in its first week if there is a
 * weekly threshold, and `maxDuration` on each side for overlaps.
 */
export const queryWindow = <E = never>(options: ReportOptions<E>): Interval => {
  const [one, other] = [PeriodCheck.queryWindow(checkOf(options)), Labor.queryWindow(options)]
  return { gte: DateTime.min(one.gte, other.gte), lt: DateTime.max(one.lt, other.lt) }
}

/**
 * Writes a report as one HTML file without a script, which loads nothing: hours by day and location, cost by location, hours
 * by person, people on the clock by weekday and hour, what `PeriodCheck` finds, and the sums as tables.
 *
 * It takes the punches of `queryWindow(options)`, in any order, in one pass. Deleted punches are left out. A punch belongs,
 * whole, to the period and the date in which it was clocked in, by the clock of its location. The sums are those of
 * `Labor.rollup` and `Labor.hoursOverThreshold`: a punch of unknown time is counted as incomplete, and its time is in no sum.
 *
 * Memory grows with the findings: about 130 bytes a punch. Fails with the error of `clock`, and with `SumOverflow` before a
 * sum could be wrong. Every text is escaped. The page holds wages.
 *
 * **Example** (The report of a week)
 *
 * ```ts
 * import { DateTime } from "effect"
 * import { BusinessDate, CompanyId, TimePunches } from "effect-time-punches"
 * import { Period } from "effect-time-punches/payroll"
 * import { type ReportOptions, queryWindow, toHtmlReport } from "effect-time-punches/report"
 *
 * const options: ReportOptions = {
 *   clock: DateTime.zoneMakeNamedUnsafe("America/New_York"),
 *   period: (clock) => Period.week(clock, BusinessDate.make("2026-03-09")),
 *   rounding: "halfUp",
 *   weeklyThreshold: "40 hours"
 * }
 *
 * const punches = TimePunches.list(CompanyId.make(7), { clockedIn: queryWindow(options) })
 *
 * export const page = toHtmlReport(punches, options)
 * ```
 */
export const toHtmlReport = <E2, R, E = never>(
  punches: Stream.Stream<TimePunch, E2, R>,
  options: ReportOptions<E>
): Effect.Effect<string, E | E2 | Labor.SumOverflow, R> =>
  Effect.gen(function*() {
    const { clock, names, notes = [], period, title = "Labour report" } = options
    const isSelected = options.isSelected ?? (() => true)
    const zones = zonesOf(clock)
    const periods = byLocation(clock, period)
    const dateOf = Function.memoize(Period.makeBusinessDate)
    const datesOf = Function.memoize((clock: LocalClock): PayPeriod => {
      const { gte, lt } = period(clock)
      const last = Period.businessDate(clock, DateTime.subtract(lt, { milliseconds: 1 }))
      return { first: Period.businessDate(clock, gte), last }
    })
    const figures = yield* figuresOf(punches, {
      placeOf: (punch) =>
        Result.flatMap(periods.contains(punch), (isWithin) =>
          Result.map(zones.getDayRule(punch.locationId), (clock) =>
            isWithin && isSelected(punch) ? { date: dateOf(clock)(punch.clockedIn), clock } : undefined)),
      datesOf,
      labor: options,
      hours: hasThreshold(options) ? { ...options, isCounted: isSelected } : undefined,
      check: checkOf(options)
    })
    const people = peopleOf(figures, options)
    const locations = Page.sumsBy(figures.days, ({ locationId }) =>
      locationId).toSorted(Page.byTime)
    const days = Page.sumsBy(figures.days, ({ date }) =>
      date).toSorted((one, other) => one.key < other.key ? -1 : 1)
    const { byDay, presence } = hoursSections(figures, options)
    const { cost, people: hoursOfPeople } = sumsSections(locations, people, options)
    const all = zones.all.map((clock) => datesOf(clock))
    const first = all.map(({ first }) => first).toSorted()[0]
    const last = all.map(({ last }) => last).toSorted().at(-1)
    return yield* Page.documentOf(
      title,
      [
        ...(first === undefined ? [] : [`${first} to ${last}`]),
        clocksText(zones.all),
        ...incompleteText(figures, options)
      ],
      [
        Page.keyFigures(people),
        ...(people.length === 0 ? [Page.note("No punch matches.")] : [byDay, cost, hoursOfPeople, presence]),
        Page.issuesSection(figures.issues, names, notes),
        Page.section(
          "Sums",
          Page.sumsTable("By location", "location", locations, names),
          Page.sumsTable("By day", "day", days, names),
          Page.sumsTable("By person", "user", people, names)
        )
      ]
    )
  })

const checkOf = <E>(options: ReportOptions<E>): PeriodCheck.PeriodCheckOptions<E> => ({
  ...options,
  isChecked: options.isSelected
})

/** The clocks of a report, each once. */
const clocksText = (clocks: ReadonlyArray<LocalClock>): string => {
  const texts = clocks.map((clock) => {
    const starts = dayStartsOf(clock)
    const zone = DateTime.zoneToString(zoneOf(clock))
    return starts === 0 ? zone : `${zone}, days from ${startText(starts)}`
  })
  return `By the clocks of ${[...new Set(texts)].join("; ")}`
}

/** `04:00`, or `22:00 of the day before`. */
const startText = (millis: number): string =>
  DateTime.formatIso(DateTime.makeUnsafe(millis)).slice(11, 16) + (millis < 0 ? " of the day before" : "")

const incompleteText = ({ total }: Figures, { asOf }: Labor.LaborOptions): ReadonlyArray<string> => {
  const incomplete = Option.match(total, { onNone: () => 0, onSome: ({ incomplete }) => incomplete })
  return [
    ...(asOf === undefined ? [] : [`Open punches count up to ${DateTime.formatIso(asOf)}.`]),
    ...(incomplete === 0 ? [] : [`The time of ${countedPunches(incomplete)} is unknown and not in the sums.`])
  ]
}

/** The thresholds as people read them; empty without one. */
const thresholdsText = (
  { dailyThreshold, doubleThreshold, weeklyThreshold }: Labor.Thresholds
): string =>
  [
    ...(weeklyThreshold === undefined ? [] : [`${lengthText(weeklyThreshold)} in a week`]),
    ...(dailyThreshold === undefined ? [] : [`${lengthText(dailyThreshold)} in a day`]),
    ...(doubleThreshold === undefined ? [] : [`${lengthText(doubleThreshold)} in a day (double)`])
  ].join(" or ")

const lengthText = (length: Duration.Input): string => {
  const duration = Duration.fromInputUnsafe(length)
  return Duration.isFinite(duration) ? formatSignedHours(duration) : "any number of hours"
}

const peopleOf = (
  { hours, people }: Figures,
  options: ReportOptions<unknown>
): ReadonlyArray<Page.Sums> =>
  people.map(([key, totals]) => {
    const over = Option.getOrUndefined(HashMap.get(hours, key))
    return {
      ...totals,
      key,
      over: hasThreshold(options) ? over?.over ?? Duration.zero : undefined,
      double: options.doubleThreshold === undefined ? undefined : over?.double ?? Duration.zero
    }
  }).toSorted(Page.byTime)

const hasThreshold = (thresholds: Labor.Thresholds): boolean => thresholdsText(thresholds) !== ""

/** What the punches themselves show: hours by day and location, and people on the clock. */
export const hoursSections = (
  { days, presence }: Figures,
  { firstDay, names }: Pick<ReportOptions<unknown>, "firstDay" | "names">
): { readonly byDay: Html; readonly presence: Html } => ({
  byDay: Page.hoursByDaySection(days, names),
  presence: Page.presenceSection(presence, firstDay)
})

/** What the sums show: the cost of each location, and the hours of each person. */
export const sumsSections = (
  locations: ReadonlyArray<Page.Sums>,
  people: ReadonlyArray<Page.Sums>,
  options: Pick<ReportOptions<unknown>, "names"> & Labor.Thresholds
): { readonly cost: Html; readonly people: Html } => ({
  cost: Page.costSection(locations, options.names),
  people: Page.peopleSection(people, thresholdsText(options), options.names)
})
