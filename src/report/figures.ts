/** The figures of a report, in one pass over its punches. */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as HashMap from "effect/HashMap"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import type { BusinessDate, LocationId, UserId } from "../Ids.ts"
import * as Labor from "../payroll/Labor.ts"
import type { PayPeriod } from "../payroll/PayCalendar.ts"
import * as PeriodCheck from "../payroll/PeriodCheck.ts"
import { byLocation, type DayRule, isZones } from "../payroll/Zones.ts"
import type { TimePunch } from "../TimePunch.ts"
import { makePresence, type Presence } from "./presence.ts"

/** Where a punch of the report stands. */
interface CountedDay {
  readonly date: BusinessDate
  readonly dayRule: DayRule
}

/** What is counted. */
interface FiguresOptions<out E> {
  /** Where a punch stands; `undefined` for one that is read for the thresholds or the findings only. */
  readonly placeOf: (punch: TimePunch) => Result.Result<CountedDay | undefined, E>
  /** The dates of the period by a day rule. */
  readonly datesOf: (dayRule: DayRule) => PayPeriod
  readonly labor: Labor.LaborOptions
  /** The thresholds, and which punches count; `undefined` without a threshold. */
  readonly hours:
    | (Labor.HoursOverThresholdOptions<E> & { readonly isCounted: (punch: TimePunch) => boolean })
    | undefined
  readonly check: PeriodCheck.PeriodCheckOptions<E>
}

/** The sums of a location on a date. */
interface DayOfLocation extends Labor.Totals {
  readonly locationId: LocationId
  readonly date: BusinessDate
}

export interface Figures {
  readonly days: ReadonlyArray<DayOfLocation>
  readonly people: ReadonlyArray<readonly [UserId, Labor.Totals]>
  /** None without a punch. */
  readonly total: Option.Option<Labor.Totals>
  /** The hours of each person over the thresholds; empty without a threshold. */
  readonly hours: HashMap.HashMap<UserId, Labor.HoursOverThreshold>
  readonly presence: Presence
  /** @internal */
  readonly found: ReadonlyArray<PeriodCheck.Finding>
}

/** Counts punches in one pass: no part keeps them for another. Deleted ones are left out. */
export const figuresOf = <E, E2, R>(
  punches: Stream.Stream<TimePunch, E2, R>,
  { check, datesOf, hours, labor, placeOf }: FiguresOptions<E>
): Effect.Effect<Figures, E | E2 | Labor.SumOverflow, R> =>
  Effect.gen(function*() {
    const presence = makePresence(labor.asOf)
    const groups = new Map<string, CountedDay & { readonly locationId: LocationId }>()
    const keyOf = (punch: TimePunch): string => {
      const place = Option.getOrUndefined(Result.getSuccess(placeOf(punch)))
      const key = `${punch.locationId} ${place?.date}`
      if (place !== undefined && !groups.has(key)) groups.set(key, { ...place, locationId: punch.locationId })
      return key
    }
    const pages = punches.pipe(
      Stream.filter(({ deleted }) => !deleted),
      Stream.rechunk(pageSize),
      Stream.chunks,
      Stream.mapEffect((all) =>
        Effect.fromResult(Result.map(Result.all(all.map(placeOf)), (places) => {
          const placed = all.filter((punch, at) => {
            const place = places[at]
            if (place !== undefined) presence.add(punch, place.dayRule)
            return place !== undefined
          })
          return { all, placed }
        }))
      )
    )
    const [forDays, forPeople, forTotal, forHours, forCheck] = yield* Stream.broadcastN(pages, { n: 5, capacity: 2 })
    const placedOf = (each: typeof forDays) => Stream.flatMap(each, ({ placed }) => Stream.fromArray(placed))
    const allOf = (each: typeof forDays) => Stream.flatMap(each, ({ all }) => Stream.fromArray(all))
    const counted = yield* Effect.all({
      days: Stream.run(placedOf(forDays), Labor.rollup(keyOf, labor)),
      people: Stream.run(placedOf(forPeople), Labor.rollup(({ userId }) => userId, labor)),
      total: Stream.run(placedOf(forTotal), Labor.rollup(() => "total", labor)),
      hours: hours === undefined
        ? Effect.as(Stream.runDrain(forHours), HashMap.empty<UserId, Labor.HoursOverThreshold>())
        : Stream.run(Stream.filter(allOf(forHours), hours.isCounted), Labor.hoursOverThreshold(hours)),
      found: Stream.run(Stream.filter(allOf(forCheck), isRead(check)), PeriodCheck.findings(check))
    }, { concurrency: "unbounded" })
    return {
      days: [...counted.days].flatMap(([key, totals]) => {
        const group = groups.get(key)
        return group === undefined ? [] : [{ ...totals, locationId: group.locationId, date: group.date }]
      }),
      people: [...counted.people],
      total: HashMap.get(counted.total, "total"),
      hours: counted.hours,
      presence: presence.result(datesOf),
      found: counted.found
    }
  }).pipe(Effect.scoped)

/** How many punches the parts share at a time. */
const pageSize = 1024

/**
 * Whether `check` of the command would have read a punch. The thresholds read more days before the period, whose open punches
 * would add overlaps to the findings.
 */
const isRead = <E>(check: PeriodCheck.PeriodCheckOptions<E>) => {
  const window = PeriodCheck.queryWindow(check)
  const { widest } = isZones(check.dayRule) ? byLocation(check.dayRule, check.period) : { widest: window }
  const gte = DateTime.min(window.gte, widest.gte)
  const lt = DateTime.max(window.lt, widest.lt)
  return ({ clockedIn }: TimePunch): boolean =>
    DateTime.isGreaterThanOrEqualTo(clockedIn, gte) && DateTime.isLessThan(clockedIn, lt)
}
