/** START HERE. The punches of a period as one page of HTML: hours, cost, people on the clock, findings and sums. */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Function from "effect/Function"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type * as Stream from "effect/Stream"
import type { InvalidRequest } from "../ApiError.ts"
import { countedPunches } from "../internal/page/amounts.ts"
import { byLocation, type DayRule, dayStartsOf, type Interval, zoneOf, zonesOf } from "../payroll/DayRule.ts"
import { hasOver } from "../payroll/hourClasses.ts"
import * as Labor from "../payroll/Labor.ts"
import {
  type Checks,
  each,
  isFunction,
  isText,
  must,
  optional,
  orFail,
  orThrow,
  refusalOf
} from "../payroll/options.ts"
import type { PayPeriod } from "../payroll/PayCalendar.ts"
import * as Period from "../payroll/Period.ts"
import * as PeriodCheck from "../payroll/PeriodCheck.ts"
import type { TimePunch } from "../TimePunch.ts"
import { type Figures, figuresOf } from "./figures.ts"
import * as Page from "./page.ts"
import { byTime, sumsBy } from "./sums.ts"

export type { NameLookup } from "./page.ts"

/** What a report shows, and by which day rule. */
export interface ReportOptions<out E = never>
  extends
    Labor.LaborOptions,
    Labor.Thresholds,
    Pick<Labor.HoursOverThresholdOptions<E>, "firstDay">,
    Omit<PeriodCheck.PeriodCheckOptions<E>, "select" | "asOf">
{
  /**
   * Which punches of the period the report shows, such as those of one location. The others are read for overlaps only.
   * Default: all.
   */
  readonly select?: ((punch: TimePunch) => boolean) | undefined
  /** The name of an id, such as the name of a person. It is shown as it is, as text. Default: ids only. */
  readonly names?: Page.NameLookup | undefined
  /** The title of the page. Default: `Labour report`. */
  readonly title?: string | undefined
  /** Sentences below the list of issues, such as what the source of the punches does not know. */
  readonly notes?: ReadonlyArray<string> | undefined
}

const reportChecks: Checks<ReportOptions<unknown>> = {
  ...Labor.laborChecks,
  ...Labor.hoursChecks,
  ...PeriodCheck.checkChecks,
  names: optional(isFunction()),
  title: isText,
  notes: optional(each(must(Predicate.isString, "a text")))
}

/**
 * What to list for a report: the period by the day rule of each location, the days before it in its first week if there is a
 * weekly threshold or a seventh day, and `maxDuration` on each side for overlaps.
 */
export const queryWindow = <E = never>(options: ReportOptions<E>): Interval => {
  orThrow(refusalOf(options, reportChecks))
  const [one, other] = [PeriodCheck.windowOf(options), Labor.windowOf(options)]
  return { gte: DateTime.min(one.gte, other.gte), lt: DateTime.max(one.lt, other.lt) }
}

/**
 * Writes a report as one HTML file without a script, which loads nothing: what `PeriodCheck` finds, hours by day and location,
 * cost by location, hours by person, people on the clock by weekday and hour, and the sums as tables.
 *
 * It takes the punches of `queryWindow(options)`, in any order, in one pass. Deleted punches are left out. A punch belongs,
 * whole, to the period and the date in which it was clocked in, by the day rule of its location. The sums are those of
 * `Labor.rollup` and `Labor.hoursOverThreshold`: a punch of unknown time is counted as incomplete, and its time is in no sum.
 *
 * Memory grows with people and findings, and without `sorted` by about 130 bytes a punch. Fails with the error of `dayRule`,
 * and with `SumOverflow` before a sum could be wrong. Every text is escaped. The page holds wages.
 *
 * **Example** (The report of a week)
 *
 * ```ts
 * import { DateTime } from "effect"
 * import { BusinessDate, CompanyId, TimePunches } from "effect-time-punches"
 * import { Period } from "effect-time-punches/payroll"
 * import { Report } from "effect-time-punches/report"
 *
 * const options: Report.ReportOptions = {
 *   dayRule: DateTime.zoneMakeNamedUnsafe("America/New_York"),
 *   period: (dayRule) => Period.week(dayRule, BusinessDate.make("2026-03-09")),
 *   rounding: "halfUp",
 *   weeklyThreshold: "40 hours"
 * }
 *
 * const punches = TimePunches.list(CompanyId.make(7), { clockedIn: Report.queryWindow(options) })
 *
 * export const page = Report.toHtml(punches, options)
 * ```
 */
export const toHtml = <E2, R, E = never>(
  punches: Stream.Stream<TimePunch, E2, R>,
  options: ReportOptions<E>
): Effect.Effect<string, E | E2 | Labor.SumOverflow | InvalidRequest, R> =>
  Effect.gen(function*() {
    yield* orFail(refusalOf(options, reportChecks))
    const { dayRule, firstDay, names, notes = [], period, title = "Labour report" } = options
    const select = options.select ?? (() => true)
    const zones = zonesOf(dayRule)
    const periods = byLocation(dayRule, period)
    const dateOf = Function.memoize(Period.makeBusinessDate)
    const datesOf = Function.memoize((dayRule: DayRule): PayPeriod => {
      const { gte, lt } = period(dayRule)
      const last = Period.businessDate(dayRule, DateTime.subtract(lt, { milliseconds: 1 }))
      return { first: Period.businessDate(dayRule, gte), last }
    })
    const figures = yield* figuresOf(punches, {
      placeOf: (punch) =>
        Result.flatMap(periods.contains(punch), (isWithin) =>
          Result.map(zones.getDayRule(punch.locationId), (dayRule) =>
            isWithin && select(punch) ? { date: dateOf(dayRule)(punch.clockedIn), dayRule } : undefined)),
      datesOf,
      labor: options,
      hours: hasOver(options) ? { ...options, isCounted: select } : undefined,
      check: options
    })
    const people = figures.people.map(([key, totals]) => ({ ...totals, key })).toSorted(byTime)
    const locations = sumsBy(figures.days, ({ locationId }) =>
      locationId).toSorted(byTime)
    const days = sumsBy(figures.days, ({ date }) =>
      date).toSorted((one, other) => one.key < other.key ? -1 : 1)
    const all = zones.all.map((dayRule) => datesOf(dayRule))
    const first = all.map(({ first }) => first).toSorted()[0]
    const last = all.map(({ last }) => last).toSorted().at(-1)
    return yield* Page.documentOf(
      title,
      [
        ...(first === undefined ? [] : [`${first} to ${last}`]),
        dayRulesText(zones.all),
        ...incompleteText(figures, options)
      ],
      [
        Page.keyFigures(people, true),
        Page.issuesSection(figures.found, names, notes),
        ...(people.length === 0 ? [Page.note("No punch matches.")] : [
          Page.hoursByDaySection(figures.days, names),
          Page.costSection(locations, names),
          Page.peopleSection(people, options, names),
          Page.presenceSection(figures.presence, firstDay)
        ]),
        Page.section(
          "Sums",
          Page.sumsTable("By location", "location", locations, names),
          Page.sumsTable("By day", "day", days, names),
          Page.sumsTable("By person", "user", people, names)
        )
      ]
    )
  })

/** The day rules of a report, each once. */
const dayRulesText = (dayRules: ReadonlyArray<DayRule>): string => {
  const texts = dayRules.map((dayRule) => {
    const starts = dayStartsOf(dayRule)
    const zone = DateTime.zoneToString(zoneOf(dayRule))
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
