/** Time limits of a page and of each of its attempts, kept by one fiber for all the pages of a run. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import { monotonicMillis } from "./retry.ts"

/** Measures the attempts of one page. */
export interface Watch {
  /** An attempt starts at this time, in ms on the monotonic clock. */
  readonly start: (at: number) => void
  /** No attempt runs from here to the next start. */
  readonly pause: () => void
  /** The attempt waits for its place in a limit of requests, from here to the next start: that is not the time of its page. */
  readonly queue: (at: number) => void
}

/** The watch of the attempt that sends a request, for a limit below its client. */
export const AttemptWatch = Context.Reference<Watch>("effect-time-punches/AttemptWatch", {
  defaultValue: () => ({ start: () => {}, pause: () => {}, queue: () => {} })
})

/** What the attempts of a page have waited for their places, in milliseconds, which puts its end off. */
export interface Queued {
  waited: number
  /** The end of the run, which is not put off. */
  readonly latest: number
}

/** Starts the watch and runs the attempt. */
export const timed = <A, E, R>(watch: Watch, attempt: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(monotonicMillis, (at) => {
    watch.start(at)
    return attempt
  })

/** The work of one page. */
export interface Work extends Watch {
  /** When the work is late: at its end or when its attempt has reached the limit, whichever is earlier. */
  readonly dueAt: (at: number) => number
  /** Interrupts the work. */
  readonly expire: () => void
}

/** What runs and when it is due, without a clock: times are arguments, in milliseconds. */
export const makeWatchdog = (limit: number) => {
  const running = new Set<Work>()
  return {
    /** Work that may take until `end`, put off by `queued`; `expire` is called at most once, if it is late. */
    makeWork: (end: number, expire: () => void, queued: Queued = { waited: 0, latest: end }): Work => {
      // An infinite end is not put off, and infinity less infinity is no number.
      const mostWaited = end === Infinity ? 0 : queued.latest - end
      /** Start of the current attempt; `undefined` while none runs. */
      let started: number | undefined
      /** Since when it waits for its place. */
      let queuedAt: number | undefined
      return {
        expire,
        start: (at) => {
          if (queuedAt !== undefined) queued.waited = Math.min(queued.waited + at - queuedAt, mostWaited)
          queuedAt = undefined
          started = at
        },
        pause: () => {
          started = undefined
        },
        queue: (at) => {
          started = undefined
          queuedAt = at
        },
        // An attempt that starts later is due later, so none is missed. A limit of zero must not expire what has not started.
        dueAt: (at) =>
          Math.min(
            queuedAt === undefined ? end + queued.waited : queued.latest,
            started === undefined ? at + Math.max(limit, 1) : started + limit
          )
      }
    },
    /** Adds work that runs, and returns when it is due. */
    register: (work: Work, at: number): number => {
      running.add(work)
      return work.dueAt(at)
    },
    /** Removes work that has ended, and returns whether none is left. */
    release: (work: Work): boolean => {
      running.delete(work)
      return running.size === 0
    },
    /** Whether no work runs. */
    isIdle: () => running.size === 0,
    /** The earliest time at which any work can be due; `Infinity` if none is. */
    nextDue: (at: number): number => Math.min(...Array.from(running, (work) => work.dueAt(at))),
    /** Removes and expires what is due, and returns whether there was any. */
    expireDue: (at: number): boolean => {
      const late = [...running].filter((work) => toMicros(work.dueAt(at) - at) <= 0)
      for (const work of late) {
        running.delete(work)
        work.expire()
      }
      return late.length > 0
    }
  }
}

/** Interrupts the work of a run that is past `end`, or whose attempt is past its limit, and continues as `expired`. */
export interface Deadlines<X> {
  readonly bounded: <A, E, R>(
    end: number,
    work: (watch: Watch) => Effect.Effect<A, E, R>,
    queued?: Queued
  ) => Effect.Effect<A, E | X, R>
}

/**
 * Deadlines for a run; `limit` is the limit of an attempt, in milliseconds. A race for each attempt costs two fibers, a timer
 * and 3 % of a page; here one fiber sleeps until the earliest deadline. It ends when the run is idle, so that a stream that
 * waits for its consumer holds no timer, but it keeps sleeping if the next page follows at once.
 */
export const makeDeadlines = <X>(
  limit: number,
  expired: Effect.Effect<never, X>
): Effect.Effect<Deadlines<X>, never, Scope.Scope> =>
  Effect.map(Effect.scope, (scope) => {
    const watchdog = makeWatchdog(limit)
    let sleeper: Fiber.Fiber<void> | undefined
    /** When the sleeper wakes; `Infinity` while there is none. */
    let wake = Infinity
    let isEndScheduled = false

    const sleepAndExpire: Effect.Effect<void> = Effect.flatMap(monotonicMillis, (at) => {
      // Work that begins inside an expire callback is seen before this fiber sleeps again: it must not start another.
      wake = -Infinity
      if (watchdog.expireDue(at)) return sleepAndExpire
      wake = watchdog.nextDue(at)
      return wake === Infinity ? Effect.void : Effect.andThen(Effect.sleep(toMicros(wake - at)), sleepAndExpire)
    })

    const restart = (context: Context.Context<never>) => {
      sleeper?.interruptUnsafe()
      sleeper = Fiber.runIn(Effect.runForkWith(context)(sleepAndExpire), scope)
    }

    const endIfIdle = () => {
      isEndScheduled = false
      if (!watchdog.isIdle()) return
      sleeper?.interruptUnsafe()
      sleeper = undefined
      wake = Infinity
    }

    // Not at once: the next page mostly starts in the same turn, and a timer for each page would cost more than this.
    const scheduleEnd = () => {
      if (sleeper === undefined || isEndScheduled) return
      isEndScheduled = true
      sleeper.currentDispatcher.scheduleTask(endIfIdle, 0)
    }

    const bounded = <A, E, R>(
      end: number,
      work: (watch: Watch) => Effect.Effect<A, E, R>,
      queued?: Queued
    ): Effect.Effect<A, E | X, R> =>
      Effect.contextWith((context: Context.Context<R>) =>
        Effect.flatMap(monotonicMillis, (at) =>
          Effect.callback<A, E | X>((resume) => {
            let isLate = false
            const mine = watchdog.makeWork(end, () => {
              isLate = true
              fiber.interruptUnsafe()
            }, queued)
            // Not the exit of the fiber: a fiber that waited long outlives its page in the collector, with what it holds.
            let kept: Effect.Effect<A> = Effect.never
            const keep = (value: A) => {
              kept = Effect.succeed(value)
            }
            const fiber = Effect.runForkWith(context)(Effect.map(work(mine), keep))
            // Called at once if the work has already ended.
            fiber.addObserver((exit) => {
              if (watchdog.release(mine)) scheduleEnd()
              const ended = Exit.isFailure(exit) ? Exit.failCause(exit.cause) : kept
              kept = Effect.never
              resume(isLate ? expired : ended)
            })
            if (fiber.pollUnsafe() === undefined && watchdog.register(mine, at) < wake) restart(context)
            return Fiber.interrupt(fiber)
          }))
      )

    return { bounded }
  })

/** Finer than that is rounding noise, and no clock can wait for it. */
const toMicros = (millis: number): number => Math.round(millis * 1000) / 1000
