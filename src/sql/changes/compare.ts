/** Compares the punches of a period with what they were: each change, and its sums by person. Pure. */
import * as Duration from "effect/Duration"
import * as Equal from "effect/Equal"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type { UserId } from "../../Ids.ts"
import * as Labor from "../../Labor.ts"
import type { TimePunch } from "../../TimePunch.ts"
import * as WorkedTime from "../../WorkedTime.ts"
import { byLocation, type LocalPeriods } from "../../Zones.ts"
import type { ChangeKind, Changes, ChangesOptions, PersonChange, PunchChange } from "./Changes.ts"

/** A punch of a copy, at one time. */
export interface State {
  readonly punch: TimePunch
  readonly isGone: boolean
}

/** A punch of the copy, then and now. */
export interface Pair {
  /** `undefined`: it was not in the copy. */
  readonly before: State | undefined
  readonly after: State
}

/** The instants within which a punch may belong to the period in some zone of the world. */
export const windowOf = (options: ChangesOptions<unknown>) => byLocation(options.zone, options.period).widest

export const compare = <E>(
  pairs: Iterable<Pair>,
  options: ChangesOptions<E>
): Result.Result<Changes, E | Labor.SumOverflow> => {
  const counts = counter(byLocation(options.zone, options.period))
  const punches: Array<PunchChange & { readonly shown: TimePunch }> = []
  const sums = new Map<UserId, Sums>()
  for (const { after, before } of pairs) {
    const [then, now] = [counts(before), counts(after)]
    if (Result.isFailure(then)) return Result.fail(then.failure)
    if (Result.isFailure(now)) return Result.fail(now.failure)
    const kind = kindOf(before, then.success, after, now.success)
    if (kind === undefined) continue
    for (const [punch, sign] of [[then.success, -1], [now.success, 1]] as const) {
      const overflow = punch === undefined ? undefined : add(sums, punch, sign, options)
      if (overflow !== undefined) return Result.fail(overflow)
    }
    const shown = now.success ?? then.success ?? after.punch
    const { id, userId } = shown
    punches.push({ id, userId, kind, before: shownOf(before, kind), after: shownOf(after, kind), shown })
  }
  return Result.succeed({
    punches: punches
      .toSorted(({ shown: one }, { shown: other }) =>
        one.userId - other.userId || one.clockedIn.epochMilliseconds - other.clockedIn.epochMilliseconds ||
        one.id - other.id
      )
      .map(({ shown: _, ...change }) => change),
    people: [...sums].map(differenceOf).filter(isSome).toSorted((one, other) => one.userId - other.userId)
  })
}

/** The punch, where it counts in the period. */
const counter =
  <E>({ contains, widest }: LocalPeriods<E>) => (state: State | undefined): Result.Result<TimePunch | undefined, E> => {
    if (state === undefined || !isVisible(state)) return Result.succeed(undefined)
    const { punch } = state
    const millis = punch.clockedIn.epochMilliseconds
    // Beyond every zone of the world, a location needs none.
    if (millis < widest.gte.epochMilliseconds || millis >= widest.lt.epochMilliseconds) return Result.succeed(undefined)
    return Result.map(contains(punch), (isWithin) => isWithin ? punch : undefined)
  }

const isVisible = ({ isGone, punch }: State): boolean => !isGone && !punch.deleted

/** How a punch changed for the period; `undefined` where it did not. */
const kindOf = (
  before: State | undefined,
  then: TimePunch | undefined,
  after: State,
  now: TimePunch | undefined
): ChangeKind | undefined => {
  if (then !== undefined && now !== undefined) return isSame(then, now) ? undefined : "edited"
  if (now !== undefined) {
    return before === undefined
      ? "added"
      : before.punch.deleted
      ? "undeleted"
      : before.isGone
      ? "back"
      : "movedIn"
  }
  if (then === undefined) return undefined
  return after.punch.deleted ? "deleted" : after.isGone ? "gone" : "movedOut"
}

/** A punch of which only `modified` differs was touched: nothing that is paid or printed changed. */
const isSame = (one: TimePunch, other: TimePunch): boolean => Equal.equals({ ...one, modified: other.modified }, other)

/** What the service no longer shows has no state. */
const shownOf = (state: State | undefined, kind: ChangeKind): Option.Option<TimePunch> =>
  state === undefined || (state.isGone && (kind === "gone" || kind === "back"))
    ? Option.none()
    : Option.some(state.punch)

/** Time in milliseconds, amounts in cents. */
interface Sums {
  net: number
  cost: number
  tips: number
}

/** Adds a punch or takes it away, or returns the sum that overflows. */
const add = (
  people: Map<UserId, Sums>,
  punch: TimePunch,
  sign: 1 | -1,
  options: Labor.Options
): Labor.SumOverflow | undefined => {
  const sums = people.get(punch.userId) ?? { net: 0, cost: 0, tips: 0 }
  people.set(punch.userId, sums)
  const { durations } = WorkedTime.of(punch, options)
  const net = Option.match(durations, { onNone: () => 0, onSome: ({ net }) => Duration.toMillis(net) })
  // Unknown without durations; with them, no safe integer.
  const cost = Option.getOrElse(Labor.cost(punch, options), () => Option.isNone(durations) ? 0 : Infinity)
  sums.net += sign * net
  sums.cost += sign * cost
  sums.tips += sign * punch.tips
  const field = (["net", "cost", "tips"] as const).find((name) => !Number.isSafeInteger(sums[name]))
  return field === undefined ? undefined : new Labor.SumOverflow({ field, punchId: punch.id })
}

const differenceOf = ([userId, { cost, net, tips }]: readonly [UserId, Sums]): PersonChange => ({
  userId,
  minutes: net / 60_000,
  cents: cost,
  tips
})

const isSome = ({ cents, minutes, tips }: PersonChange): boolean => minutes !== 0 || cents !== 0 || tips !== 0
