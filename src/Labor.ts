/** The cost of punches: the wages of one, in cents, and the sums of many by any key. Pure: reads no clock. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Function from "effect/Function"
import * as HashMap from "effect/HashMap"
import * as MutableHashMap from "effect/MutableHashMap"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Sink from "effect/Sink"
import { Cents } from "./Ids.ts"
import { SumOverflow, type Totals } from "./LaborTotals.ts"
import type { TimePunch } from "./TimePunch.ts"
import * as WorkedTime from "./WorkedTime.ts"

export * from "./HoursAbove.ts"
export * from "./LaborTotals.ts"

/**
 * How a fraction of a cent is rounded: `down` and `up` to the next cent below and above, `halfUp` and `halfEven` to the
 * nearest cent, and a half up, or to the even cent.
 *
 * @since 0.1.0
 */
export const Rounding = Schema.Literals(["halfUp", "halfEven", "down", "up"])

/** How a fraction of a cent is rounded. @since 0.1.0 */
export type Rounding = typeof Rounding.Type

/** How a punch is priced. @since 0.1.0 */
export interface Options extends WorkedTime.Options {
  /** How a fraction of a cent is rounded. Required: it is a matter of agreement. */
  readonly rounding: Rounding
}

/**
 * The wages of a punch in cents: net time × `hourlyWage`, rounded once. Without tips; with paid breaks. The arithmetic
 * is on integers, so rounding is its only error.
 *
 * `None` if the durations of the punch are unknown (`WorkedTime.of`), or if the amount is not a safe integer. The
 * service calls `hourlyWage` a calculated wage, so this is an estimate and not a payroll.
 *
 * Laws: `down <= halfEven <= halfUp <= up <= down + 1`; all are equal if the amount is whole; a longer punch never
 * costs less.
 *
 * @since 0.1.0
 */
export const cost = (punch: TimePunch, options: Options): Option.Option<Cents> =>
  Option.flatMap(
    WorkedTime.of(punch, options).durations,
    ({ net }) => Cents.makeOption(amount(net, punch, options.rounding))
  )

/**
 * Sums punches by a key, in one pass. Memory grows with the number of keys only. Keys are compared by value: an id, an
 * `Option` of one, a tuple, a plain record. Every punch that arrives counts, a deleted one too. Fails with
 * `SumOverflow` before a sum could be wrong.
 *
 * Laws: it equals a fold over the punches one by one, however they are chunked and ordered.
 *
 * **Example** (Wages of a month by user)
 *
 * ```ts
 * import { DateTime, Effect, HashMap, Stream } from "effect"
 * import { BusinessDate, CompanyId, Labor, Period, TimePunches } from "effect-time-punches"
 *
 * const newYork = DateTime.zoneMakeNamedUnsafe("America/New_York")
 * const march = { clockedIn: Period.month(newYork, BusinessDate.make("2026-03-01")) }
 *
 * export const wages = TimePunches.list(CompanyId.make(7), march).pipe(
 *   Stream.run(Labor.rollup((punch) => punch.userId, { rounding: "halfUp" })),
 *   Effect.map(HashMap.map((totals) => totals.cost))
 * )
 * ```
 *
 * @since 0.1.0
 */
export const rollup = <K>(
  key: (punch: TimePunch) => K,
  options: Options
): Sink.Sink<HashMap.HashMap<K, Totals>, TimePunch, never, SumOverflow> =>
  Sink.foldArray(
    () => MutableHashMap.empty<K, Sums>(),
    Function.constTrue,
    (byKey: MutableHashMap.MutableHashMap<K, Sums>, punches: ReadonlyArray<TimePunch>) => {
      for (const punch of punches) {
        const field = add(sumsOf(byKey, key(punch)), punch, options)
        if (field !== undefined) return Effect.fail(new SumOverflow({ field, punchId: punch.id }))
      }
      return Effect.succeed(byKey)
    }
  ).pipe(Sink.map((byKey) => HashMap.map(HashMap.fromIterable(byKey), totalsOf)))

const hourMillis = 3_600_000n

/** The rounded wages as an integer, which may exceed the safe ones. Neither factor is negative. */
const amount = (net: Duration.Duration, punch: TimePunch, rounding: Rounding): number => {
  const exact = BigInt(Duration.toMillis(net)) * BigInt(punch.hourlyWage)
  const whole = exact / hourMillis
  return Number(whole + (roundsUp(whole, exact % hourMillis, rounding) ? 1n : 0n))
}

const roundsUp = (whole: bigint, rest: bigint, rounding: Rounding): boolean => {
  switch (rounding) {
    case "down":
      return false
    case "up":
      return rest > 0n
    case "halfUp":
      return rest * 2n >= hourMillis
    case "halfEven":
      return rest * 2n > hourMillis || (rest * 2n === hourMillis && whole % 2n === 1n)
  }
}

/** Running sums: durations in milliseconds, amounts in cents. */
interface Sums {
  punches: number
  incomplete: number
  anomalous: number
  gross: number
  paidBreaks: number
  unpaidBreaks: number
  net: number
  cost: number
  tips: number
}

const sumsOf = <K>(byKey: MutableHashMap.MutableHashMap<K, Sums>, key: K): Sums => {
  const known = MutableHashMap.get(byKey, key)
  if (Option.isSome(known)) return known.value
  const sums: Sums = {
    punches: 0,
    incomplete: 0,
    anomalous: 0,
    gross: 0,
    paidBreaks: 0,
    unpaidBreaks: 0,
    net: 0,
    cost: 0,
    tips: 0
  }
  MutableHashMap.set(byKey, key, sums)
  return sums
}

/** Adds the punch, or returns the sum that overflows. No other duration exceeds the gross one. */
const add = (sums: Sums, punch: TimePunch, options: Options): SumOverflow["field"] | undefined => {
  const worked = WorkedTime.of(punch, options)
  sums.punches += 1
  if (worked.anomalies.length > 0) sums.anomalous += 1
  sums.tips += punch.tips
  if (!Number.isSafeInteger(sums.tips)) return "tips"
  if (Option.isNone(worked.durations)) {
    sums.incomplete += 1
    return undefined
  }
  const { gross, net, paidBreaks, unpaidBreaks } = worked.durations.value
  sums.gross += Duration.toMillis(gross)
  sums.paidBreaks += Duration.toMillis(paidBreaks)
  sums.unpaidBreaks += Duration.toMillis(unpaidBreaks)
  sums.net += Duration.toMillis(net)
  sums.cost += amount(net, punch, options.rounding)
  return !Number.isSafeInteger(sums.gross) ? "gross" : !Number.isSafeInteger(sums.cost) ? "cost" : undefined
}

const totalsOf = (sums: Sums): Totals => ({
  punches: sums.punches,
  incomplete: sums.incomplete,
  anomalous: sums.anomalous,
  gross: Duration.millis(sums.gross),
  paidBreaks: Duration.millis(sums.paidBreaks),
  unpaidBreaks: Duration.millis(sums.unpaidBreaks),
  net: Duration.millis(sums.net),
  cost: Cents.make(sums.cost),
  tips: Cents.make(sums.tips)
})
