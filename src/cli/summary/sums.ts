/** The sums of a summary, and the hours above its thresholds, in one pass over the punches. */
import * as Effect from "effect/Effect"
import * as HashMap from "effect/HashMap"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { UserId } from "../../Ids.ts"
import * as Labor from "../../Labor.ts"
import type { MissingZone } from "../../Period.ts"
import type { TimePunch } from "../../TimePunch.ts"
import type { Key } from "./groups.ts"

/** What a summary shows. */
export interface Sums {
  readonly groups: HashMap.HashMap<Key, Labor.Totals>
  /** The hours of each person; empty without a threshold. */
  readonly people: HashMap.HashMap<UserId, Labor.HoursAbove>
}

/** Sums the punches by a key, and by person if there are limits. */
export const sumsOf = Effect.fnUntraced(function*<E, R>(
  punches: Stream.Stream<TimePunch, E, R>,
  key: (punch: TimePunch) => Key,
  options: Labor.Options,
  limits: Option.Option<Labor.HoursAboveOptions<MissingZone>>
): Effect.fn.Return<Sums, E | Labor.SumOverflow | MissingZone, R> {
  const rollup = Labor.rollup(key, options)
  if (Option.isNone(limits)) return { groups: yield* Stream.run(punches, rollup), people: HashMap.empty() }
  const hours = Labor.hoursAbove({ ...limits.value, ...options })
  return yield* Effect.gen(function*() {
    // The two read side by side: neither keeps the punches for the other.
    const [one, other] = yield* Stream.broadcastN(punches, { n: 2, capacity: 2 })
    const [groups, people] = yield* Effect.all([Stream.run(one, rollup), Stream.run(other, hours)], { concurrency: 2 })
    return { groups, people }
  }).pipe(Effect.scoped)
})
