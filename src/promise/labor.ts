/** Worked time and cost of plain punches, by the arithmetic of the payroll entry. */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { Cents } from "../Ids.ts"
import * as Labor from "../payroll/Labor.ts"
import { type Measured, measureMillis } from "../payroll/WorkedTime.ts"
import { orThrow } from "./plain.ts"
import type { CostOptions, TimePunch, WorkedTime } from "./values.ts"

const instantOf = (at: Date | undefined) => Option.map(Option.fromNullishOr(at), DateTime.makeUnsafe)

const measured = (punch: TimePunch): Measured => ({
  clockedIn: DateTime.makeUnsafe(punch.clockedIn),
  clockedOut: instantOf(punch.clockedOut),
  hourlyWage: Cents.make(punch.hourlyWage),
  breaks: punch.breaks.map((each) => ({ ...each, in: DateTime.makeUnsafe(each.in), out: instantOf(each.out) }))
})

const until = ({ asOf }: Pick<CostOptions, "asOf"> = {}) => ({ asOf: Option.getOrUndefined(instantOf(asOf)) })

/**
 * Measures a punch. Breaks are clipped to it and united, so that no instant counts twice, and a deleted break counts nowhere: a sum
 * over `breaks` of your own would subtract overlapping ones twice.
 */
export const measure = (punch: TimePunch, options?: Pick<CostOptions, "asOf">): WorkedTime =>
  measureMillis(measured(punch), until(options))

/**
 * The wages of a punch in cents: its net time by its hourly wage, rounded once, without tips. `undefined` if the time is unknown.
 * Throws an `InvalidRequest` without a `rounding`.
 */
export const cost = (punch: TimePunch, options: CostOptions): number | undefined =>
  orThrow(Effect.sync(() => Option.getOrUndefined(Labor.cost(measured(punch), { ...options, ...until(options) }))))
