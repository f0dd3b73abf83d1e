/** Reads the punches of a period and of some time around it, and finds what must be looked at. */
import * as DateTime from "effect/DateTime"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import type { TimePunchId } from "../../Ids.ts"
import type { Interval } from "../../Interval.ts"
import * as Period from "../../Period.ts"
import * as PeriodCheck from "../../PeriodCheck.ts"
import type { PunchFilter } from "../../PunchFilter.ts"
import type { TimePunch } from "../../TimePunch.ts"
import type { LocationClock } from "../flags/period.ts"
import type { Order } from "../punches/source.ts"
import { type Selected, selects } from "./selection.ts"

/** What is checked. */
export interface Look {
  readonly zone: LocationClock
  /** The period in a zone. */
  readonly period: (zone: DateTime.TimeZone) => Interval
  /** The window that the flags of the period make. With a zone for each location it has the period in any zone. */
  readonly clockedIn: { readonly gte: Option.Option<DateTime.Utc>; readonly lt: Option.Option<DateTime.Utc> }
  readonly selected: Selected
  readonly longest: Duration.Duration
  readonly asOf: DateTime.Utc | undefined
  /** Whether the punches come from where disputes are known. */
  readonly knowsDisputes: boolean
}

/** What was found, and how many punches of the period were checked. */
export interface Looked {
  readonly issues: ReadonlyArray<PeriodCheck.Issue>
  readonly checked: number
}

/** Looks at the punches that `list` lists. */
export const look = Effect.fnUntraced(function*<E, R>(
  { asOf, clockedIn, knowsDisputes, longest, period, selected, zone }: Look,
  list: (filter: PunchFilter, order: Order) => Stream.Stream<TimePunch, E, R>
): Effect.fn.Return<Looked, E | Period.MissingZone | PeriodCheck.OutOfOrder, R> {
  const periods = Period.byLocation(zone, period)
  const isChecked = selects(selected)
  const disputed = knowsDisputes
    ? yield* idsOf(list({ ...selected, clockedIn: periods.window, employeeApprovalStatuses: ["disputed"] }, "any"))
    : undefined
  const options = { zone, period, asOf, longest, isChecked, disputed }
  const window = PeriodCheck.window(options)
  let checked = 0
  // A punch of the same person at another location is read too, for the overlap. In this order none can be missed,
  // however many punches a person has.
  const issues = yield* list({
    userId: selected.userId,
    clockedIn: {
      gte: DateTime.min(window.gte, Option.getOrElse(clockedIn.gte, () => window.gte)),
      lt: DateTime.max(window.lt, Option.getOrElse(clockedIn.lt, () => window.lt))
    }
  }, "clockedIn").pipe(
    Stream.mapArray((punches) => {
      // A punch of a location without a zone is not counted: it fails the check.
      const belong = punches.filter((punch) => Result.getOrElse(periods.contains(punch), () => false))
      checked += belong.filter((punch) => !punch.deleted && isChecked(punch)).length
      return punches
    }),
    Stream.run(PeriodCheck.of(options))
  )
  return { issues, checked }
})

const idsOf = <E, R>(punches: Stream.Stream<TimePunch, E, R>): Effect.Effect<ReadonlySet<TimePunchId>, E, R> =>
  Stream.runFold(punches, () => new Set<TimePunchId>(), (ids, { id }) => ids.add(id))
