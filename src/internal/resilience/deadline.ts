/** The time that a page and each try of it may take, kept by one fiber for all the pages of a run. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"

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

/** Keeps the work of a run within its time: what goes past `end`, or past the limit of its timed part, is interrupted. */
export interface Deadlines<X> {
  readonly bounded: <A, E, R>(
    end: number,
    work: (watch: Watch) => Effect.Effect<A, E, R>
  ) => Effect.Effect<A, E | X, R>
}

interface Running extends Watch {
  readonly end: number
  readonly expire: () => void
}

/**
 * Deadlines for a run, in milliseconds, with what is done instead of what went past one. A race for each try would cost
 * two fibers and a timer for each page; here one fiber sleeps until the first of all that is due.
 */
export const makeDeadlines = <X>(
  limit: number,
  expired: Effect.Effect<never, X>
): Effect.Effect<Deadlines<X>, never, Scope.Scope> =>
  Effect.map(Effect.scope, (scope) => {
    const running = new Set<Running>()
    let watchdog: Fiber.Fiber<void> | undefined
    let wake = Infinity

    /** What has not begun by then begins later, and so does its end: nothing is missed in the meantime. */
    const dueOf = ({ end, since }: Running, at: number) =>
      Math.min(end, since === undefined ? at + Math.max(limit, 1) : since + limit)

    const watch: Effect.Effect<void> = Effect.flatMap(now, (at) => {
      const late = [...running].filter((work) => toMicros(dueOf(work, at) - at) <= 0)
      // Whoever goes on from here may begin something: that is seen before this fiber sleeps again.
      wake = -Infinity
      for (const work of late) {
        running.delete(work)
        work.expire()
      }
      if (late.length > 0) return watch
      wake = Math.min(...Array.from(running, (work) => dueOf(work, at)))
      return wake === Infinity ? Effect.void : Effect.andThen(Effect.sleep(toMicros(wake - at)), watch)
    })

    const bounded: Deadlines<X>["bounded"] = (end, work) =>
      Effect.contextWith((context) =>
        Effect.flatMap(now, (at) =>
          Effect.callback((resume) => {
            let isLate = false
            const mine: Running = {
              end,
              since: undefined,
              expire: () => {
                isLate = true
                fiber.interruptUnsafe()
              }
            }
            const fiber = Effect.runForkWith(context)(work(mine))
            running.add(mine)
            // Where it is over already, this is done at once.
            fiber.addObserver((exit) => {
              running.delete(mine)
              resume(isLate ? expired : exit)
            })
            if (running.has(mine) && dueOf(mine, at) < wake) {
              watchdog?.interruptUnsafe()
              watchdog = Fiber.runIn(Effect.runForkWith(context)(watch), scope)
            }
            return Fiber.interrupt(fiber)
          }))
      )

    return { bounded }
  })

/** Finer than that is noise of the arithmetic, and no clock could be waited on for it. */
const toMicros = (millis: number): number => Math.round(millis * 1000) / 1000
