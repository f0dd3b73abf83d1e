/** The time that a page and each try of it may take, kept by one fiber beside the work instead of one for either. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"

/** Milliseconds of the monotonic clock. */
const now: Effect.Effect<number> = Effect.map(Clock.monotonicTimeNanos, (nanos) => Number(nanos) / 1e6)

/** Since when the part of the work that is timed has been running; `undefined` before it begins and while it rests. */
export interface Watch {
  since: number | undefined
}

/** Runs `part` as the one that is timed, from now on. */
export const timed = <A, E, R>(watch: Watch, part: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(now, (at) => {
    watch.since = at
    return part
  })

/** When the work has to be over, how long its timed part may take, in milliseconds, and what is done instead. */
export interface Bounds<E> {
  readonly end: number
  readonly limit: number
  readonly expired: Effect.Effect<never, E>
}

/** Runs `work` within its bounds; what goes past them is interrupted. */
export const bounded = <A, E, R>(
  { end, expired, limit }: Bounds<E>,
  work: (watch: Watch) => Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> =>
  Effect.suspend(() => {
    const watch: Watch = { since: undefined }
    const watchdog: Effect.Effect<never, E> = Effect.flatMap(now, (at) => {
      // What has not begun by then begins later, and so does its end: nothing is missed in the meantime.
      const due = watch.since === undefined ? at + Math.max(limit, 1) : watch.since + limit
      const rest = toMicros(Math.min(due, end) - at)
      return rest > 0 ? Effect.flatMap(Effect.sleep(rest), () => watchdog) : expired
    })
    return Effect.raceFirst(work(watch), watchdog)
  })

/** Finer than that is noise of the arithmetic, and no clock could be waited on for it. */
const toMicros = (millis: number): number => Math.round(millis * 1000) / 1000
