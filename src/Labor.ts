/** What punches cost: the wages of one, in cents, and the sums of many by any key in one pass. Pure: no clock is read. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Function from "effect/Function"
import * as HashMap from "effect/HashMap"
import * as MutableHashMap from "effect/MutableHashMap"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Sink from "effect/Sink"
import { Cents, TimePunchId } from "./Ids.ts"
import type { TimePunch } from "./TimePunch.ts"
import * as WorkedTime from "./WorkedTime.ts"

/**
 * What becomes of a fraction of a cent: `down` and `up` go to the next cent below and above, `halfUp` and `halfEven`
 * to the nearest, with a half going up, or to the even cent.
 *
 * @since 0.1.0
 */
export const Rounding = Schema.Literals(["halfUp", "halfEven", "down", "up"])
export type Rounding = typeof Rounding.Type

/** How a punch is priced. `rounding` has no default: it is a matter of agreement. @since 0.1.0 */
export interface Options extends WorkedTime.Options {
  readonly rounding: Rounding
}

/**
 * The wages of a punch: net time × `hourlyWage`, rounded to a cent once. Tips are not in it. The arithmetic is on
 * integers, so there is no error but the rounding. Paid breaks are paid.
 *
 * `None` where it cannot be known: see `WorkedTime.durations`; also where the amount is no safe integer. The service
 * calls `hourlyWage` a calculated wage (spec 2.1), so this is an estimate and not a payroll.
 *
 * Laws: `down <= halfEven <= halfUp <= up <= down + 1`; all are equal where the amount is whole; a longer punch never
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
 * The sums over the punches of one key. `cost` is the sum of what each punch costs, rounded punch by punch.
 *
 * `incomplete` counts the punches whose durations cannot be known (`WorkedTime.of`): they are among `punches` and
 * their tips are in `tips`, but no time and no cost of theirs is in the sums. `anomalous` counts those with an anomaly.
 *
 * @since 0.1.0
 */
export interface Totals {
  readonly punches: number
  readonly incomplete: number
  readonly anomalous: number
  readonly gross: Duration.Duration
  readonly paidBreaks: Duration.Duration
  readonly unpaidBreaks: Duration.Duration
  readonly net: Duration.Duration
  readonly cost: Cents
  readonly tips: Cents
}

/**
 * A sum left the safe integers, where adding starts to lose cents, at punch `punchId`: look at its wage, its tips and
 * its instants, for no real sum is that large.
 *
 * @since 0.1.0
 */
export class SumOverflow
  extends Schema.TaggedError<SumOverflow>("effect-time-punches/Labor/SumOverflow")("SumOverflow", {
    field: Schema.Literals(["gross", "cost", "tips"]),
    punchId: TimePunchId
  })
{
  override get message(): string {
    return `the sum of ${this.field} is no safe integer with punch ${this.punchId}`
  }
}

/**
 * Adds punches up by a key, in one pass and in memory that grows with the number of keys only. Keys are compared by
 * value: an id, an `Option` of one, a tuple, a plain record. Every punch that arrives counts, a deleted one too.
 *
 * Laws: it equals a fold over the punches one by one, however they are chunked, and the order does not matter. It
 * fails with `SumOverflow` before a sum could be wrong.
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

/** The rounded wages as an integer that may be beyond the safe ones. Neither factor is negative. */
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

/** Sums in the making: durations in milliseconds, amounts in cents. */
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

/** Adds the punch, or says which sum would not be a safe integer. The other durations are at most the gross one. */
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
