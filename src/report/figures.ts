/** The figures of a report, in one pass over its punches. */
import * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import type { BusinessDate, LocationId, UserId } from "../Ids.ts"
import { byLocation, type DayRule, isDayRules, isWithin, union } from "../payroll/DayRule.ts"
import { addClasses, type Classes, hasDouble, hasOver, noTime } from "../payroll/hourClasses.ts"
import * as Labor from "../payroll/Labor.ts"
import type { PayPeriod } from "../payroll/PayCalendar.ts"
import * as PeriodCheck from "../payroll/PeriodCheck.ts"
import { toSink } from "../payroll/running.ts"
import type { TimePunch } from "../TimePunch.ts"
import { makePresence, type Presence } from "./presence.ts"
import type { Excess } from "./sums.ts"

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
interface DayOfLocation extends Labor.Totals, Excess {
  readonly locationId: LocationId
  readonly date: BusinessDate
}

export interface Figures {
  readonly days: ReadonlyArray<DayOfLocation>
  readonly people: ReadonlyArray<readonly [UserId, Labor.Totals & Excess]>
  /** None without a punch. */
  readonly total: Option.Option<Labor.Totals>
  readonly presence: Presence
  /** @internal */
  readonly found: ReadonlyArray<PeriodCheck.Finding>
}

/** Counts punches in one pass: no part keeps them for another. Deleted ones are left out. */
export const figuresOf = <E, E2, R>(
  punches: Stream.Stream<TimePunch, E2, R>,
  options: FiguresOptions<E>
): Effect.Effect<Figures, E | E2 | Labor.SumOverflow, R> =>
  Stream.run(punches, toSink(() => makeFigures(options), (figures) => figures.result()))

const makeFigures = <E>({ check, datesOf, hours, labor, placeOf }: FiguresOptions<E>) => {
  const presence = makePresence(labor.asOf)
  const groups = new Map<string, Pick<DayOfLocation, "locationId" | "date">>()
  let place: CountedDay | undefined
  const keyOf = ({ locationId }: TimePunch): string => {
    const key = `${locationId} ${place?.date}`
    if (place !== undefined && !groups.has(key)) groups.set(key, { locationId, date: place.date })
    return key
  }
  const days = Labor.makeRollup(keyOf, labor)
  const people = Labor.makeRollup(({ userId }) => userId, labor)
  const total = Labor.makeRollup(() => "total", labor)
  const over = hours && Labor.makeClassesBy(hours, keyOf)
  const found = PeriodCheck.makeCheck(check)
  const isChecked = isRead(check)

  const add = (punch: TimePunch): Result.Result<void, E | Labor.SumOverflow> => {
    if (punch.deleted) return Result.void
    const placed = placeOf(punch)
    if (Result.isFailure(placed)) return Result.fail(placed.failure)
    place = placed.success
    if (place !== undefined) {
      presence.add(punch, place.dayRule)
      for (const sums of [days, people, total]) {
        const added = sums.add(punch)
        if (Result.isFailure(added)) return added
      }
    }
    const counted = hours?.isCounted(punch) === true && over !== undefined ? over.add(punch) : Result.void
    if (Result.isFailure(counted)) return counted
    return isChecked(punch) ? found.add(punch) : Result.void
  }

  const result = (): Figures => {
    // A person has a number, and a location on a date a text.
    const classes = new Map<UserId | string, Classes>()
    over?.each((userId, key, each) => {
      for (const  of of[userId, key]) classes.set(of, addClasses(classes.get(of) ?? noTime, each))
    })
    const excessOf = (of: UserId | string): Excess => {
      const { double, over } = classes.get(of) ?? noTime
      return {
        over: hours && hasOver(hours) ? Duration.millis(over) : undefined,
        double: hours && hasDouble(hours) ? Duration.millis(double) : undefined
      }
    }
    return {
      days: days.result().flatMap(([key, totals]) => {
        const group = groups.get(key)
        return group === undefined
          ? []
          : [{ ...totals, ...excessOf(key), locationId: group.locationId, date: group.date }]
      }),
      people: people.result().map(([userId, totals]) => [userId, { ...totals, ...excessOf(userId) }] as const),
      total: Option.map(Option.fromUndefinedOr(total.result()[0]), ([, totals]) => totals),
      presence: presence.result(datesOf),
      found: found.result()
    }
  }

  return { add, result }
}

/**
 * Whether `check` of the command would have read a punch. The thresholds read more days before the period, whose open punches
 * would add overlaps to the findings.
 */
const isRead = <E>(check: PeriodCheck.PeriodCheckOptions<E>) => {
  const window = PeriodCheck.windowOf(check)
  const { widest } = isDayRules(check.dayRule) ? byLocation(check.dayRule, check.period) : { widest: window }
  const read = union([window, widest])
  return ({ clockedIn }: TimePunch): boolean => isWithin(read, clockedIn)
}
