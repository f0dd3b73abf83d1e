/** The two deadlines of a page, in virtual time. */
import { assert, describe, it } from "@effect/vitest"
import { Clock, type Duration, Effect, Exit, Fiber, type Scope } from "effect"
import { TestClock } from "effect/testing"
import { type Deadlines, makeDeadlines, timed, type Watch } from "../../../src/internal/resilience/deadline.ts"

const now = Effect.map(Clock.monotonicTimeNanos, (nanos) => Number(nanos) / 1e6)

const limit = 30_000
const end = 120_000
const late = Effect.fail("late")

/** How something ended and when: its value, or that it was late. */
const outcome = <A>(work: Effect.Effect<A, string>) =>
  Effect.gen(function*() {
    const exit = yield* Effect.exit(work)
    return [Exit.isSuccess(exit) ? exit.value : String(exit.cause).includes("late") ? "late" : "broken", yield* now]
  })

/** Runs work that may take until 120 s, and of which what is timed may take 30 s; says how it ended and when. */
const endOf = <A>(
  work: (watch: Watch) => Effect.Effect<A>,
  bounds: { readonly end?: number; readonly limit?: number } = {}
) =>
  Effect.gen(function*() {
    const { bounded } = yield* makeDeadlines(bounds.limit ?? limit, late)
    const fiber = yield* Effect.forkChild(outcome(bounded(bounds.end ?? end, work)))
    yield* TestClock.adjust("1 hour")
    return yield* Fiber.join(fiber)
  }).pipe(Effect.scoped)

const stuck = (watch: Watch) => timed(watch, Effect.never)

describe("Deadlines", () => {
  it.effect("gives what is done in time, and its own failure", () =>
    Effect.gen(function*() {
      const soon = Effect.as(Effect.sleep(29_999), "done")

      assert.deepStrictEqual(yield* endOf((watch) => timed(watch, soon)), ["done", 29_999])
    }))

  it.effect("ends the timed part at its limit, to the millisecond", () =>
    Effect.gen(function*() {
      let interruptedAt = 0
      const told = Effect.onInterrupt(
        Effect.never,
        () => Effect.map(now, (at) => void (interruptedAt = at))
      )

      assert.deepStrictEqual(yield* endOf((watch) => timed(watch, told)), ["late", 30_000])
      assert.strictEqual(interruptedAt, 30_000)
    }))

  it.effect("counts from where the timed part began, however long it waited for that", () =>
    Effect.gen(function*() {
      const work = (watch: Watch) => Effect.andThen(Effect.sleep(50_500), timed(watch, Effect.never))

      assert.deepStrictEqual(yield* endOf(work), ["late", 80_500])
    }))

  it.effect("does not time what comes before, between and after", () =>
    Effect.gen(function*() {
      const part = (watch: Watch) => timed(watch, Effect.sleep(20_000))
      const rest = (watch: Watch) => Effect.sync(() => watch.pause())
      const work = (watch: Watch) =>
        Effect.all([Effect.sleep(35_000), part(watch), rest(watch), Effect.sleep(35_000), part(watch)])

      assert.deepStrictEqual((yield* endOf(work))[1], 110_000)
    }))

  it.effect.each<[string, (watch: Watch) => Effect.Effect<unknown>]>([
    ["not timed yet", () => Effect.never],
    ["timed", (watch) => Effect.andThen(Effect.sleep(100_000), timed(watch, Effect.never))]
  ])("ends everything at the end, %s", ([, work]) =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* endOf(work), ["late", 120_000])
    }))

  it.effect("takes a limit without end, and none at all", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* endOf(stuck, { limit: Infinity }), ["late", 120_000])
      assert.deepStrictEqual((yield* endOf(stuck, { limit: 0, end: Infinity }))[0], "late")
    }))

  it.effect("ends at once what begins past its end", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* endOf(stuck, { end: 0 }), ["late", 0])
    }))

  it.effect("ends a later try that begins past the end of its page, with nothing else running", () =>
    Effect.gen(function*() {
      const { bounded } = yield* makeDeadlines(10, late)
      const fiber = yield* Effect.forkChild(
        bounded(50, () => Effect.sleep(1)).pipe(
          Effect.andThen(Effect.sleep(60)),
          Effect.andThen(outcome(bounded(50, stuck)))
        )
      )
      yield* TestClock.adjust("1 hour")

      assert.deepStrictEqual(yield* Fiber.join(fiber), ["late", 61])
    }).pipe(Effect.scoped))

  it.effect("comes to its end where the clock does not stand on a whole millisecond", () =>
    Effect.gen(function*() {
      yield* TestClock.adjust(1234.567891)

      assert.deepStrictEqual((yield* endOf(stuck))[0], "late")
    }))

  /** Begins `work` after a while, beside whatever else its run does. */
  const beginsAt = (
    { bounded }: Deadlines<string>,
    at: number,
    work: (watch: Watch) => Effect.Effect<unknown>,
    until = end
  ) => Effect.forkChild(Effect.delay(outcome(bounded(until, work)), at))

  it.effect("ends each of many for itself, when it is due", () =>
    Effect.gen(function*() {
      const deadlines = yield* makeDeadlines(limit, late)
      const fibers = [
        yield* beginsAt(deadlines, 0, stuck),
        yield* beginsAt(deadlines, 10_000, stuck),
        yield* beginsAt(deadlines, 20_000, (watch) => timed(watch, Effect.as(Effect.sleep(29_000), "done"))),
        yield* beginsAt(deadlines, 90_500, stuck)
      ]
      yield* TestClock.adjust("1 hour")

      assert.deepStrictEqual(yield* Effect.forEach(fibers, (fiber) => Fiber.join(fiber)), [
        ["late", 30_000],
        ["late", 40_000],
        ["done", 49_000],
        ["late", 120_000]
      ])
    }).pipe(Effect.scoped))

  it.effect("wakes in time for what begins later and is due sooner", () =>
    Effect.gen(function*() {
      const deadlines = yield* makeDeadlines(limit, late)
      const first = yield* beginsAt(deadlines, 0, stuck)
      const second = yield* beginsAt(deadlines, 10_000, stuck, 15_000)
      yield* TestClock.adjust("1 hour")

      assert.deepStrictEqual(yield* Fiber.join(second), ["late", 15_000])
      assert.deepStrictEqual(yield* Fiber.join(first), ["late", 30_000])
    }).pipe(Effect.scoped))

  it.effect("times what follows at once on something late", () =>
    Effect.gen(function*() {
      const { bounded } = yield* makeDeadlines(limit, late)
      const fiber = yield* Effect.forkChild(
        Effect.flatMap(Effect.ignore(bounded(end, stuck)), () => outcome(bounded(end, stuck)))
      )
      yield* TestClock.adjust("1 hour")

      assert.deepStrictEqual(yield* Fiber.join(fiber), ["late", 60_000])
    }).pipe(Effect.scoped))

  it.effect("interrupts the work with whoever waits for it, and waits until it has let go", () =>
    Effect.gen(function*() {
      const { bounded } = yield* makeDeadlines(limit, late)
      const ended: Array<string> = []
      const work = Effect.onInterrupt(
        Effect.never,
        () => Effect.andThen(Effect.sleep(5), Effect.sync(() => ended.push("work")))
      )
      const waiting = Effect.onInterrupt(bounded(end, () => work), () => Effect.sync(() => ended.push("waiting")))
      const fiber = yield* Effect.forkChild(waiting, { startImmediately: true })
      yield* Effect.forkChild(Fiber.interrupt(fiber), { startImmediately: true })
      yield* TestClock.adjust(5)
      yield* Fiber.await(fiber)

      assert.deepStrictEqual(ended, ["work", "waiting"])
    }).pipe(Effect.scoped))

  it.effect("waits for what cannot be interrupted, and calls it late", () =>
    Effect.gen(function*() {
      const slow = Effect.uninterruptible(Effect.sleep(40_000))

      assert.deepStrictEqual(yield* endOf((watch) => timed(watch, slow)), ["late", 40_000])
    }))
})

describe("The watchdog of a run", () => {
  /** Runs something with a clock that counts the sleeps which were asked of it, then lets an hour pass. */
  const sleepsOf = (
    use: (deadlines: Deadlines<string>) => Effect.Effect<unknown, string, Scope.Scope>,
    longest = limit
  ) =>
    Effect.gen(function*() {
      const clock = yield* Clock.Clock
      let sleeps = 0
      const counting: Clock.Clock = Object.assign(Object.create(clock), {
        sleep: (duration: Duration.Duration) => {
          sleeps++
          return clock.sleep(duration)
        }
      })
      const deadlines = yield* makeDeadlines(longest, late)
      yield* Effect.provideService(use(deadlines), Clock.Clock, counting)
      yield* TestClock.adjust("1 hour")
      return sleeps
    }).pipe(Effect.scoped)

  const repeated = (work: Effect.Effect<unknown, string>) => Effect.all(Array.from({ length: 100 }, () => work))

  it.effect("does not sleep for what is over at once", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* sleepsOf(({ bounded }) => repeated(bounded(end, () => Effect.void))), 0)
    }))

  it.effect("sleeps once for a hundred pieces of work, and no more when they are done", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* sleepsOf(({ bounded }) => repeated(bounded(end, () => Effect.yieldNow))), 1)
    }))

  it.effect("sleeps once for what begins at one instant", () =>
    Effect.gen(function*() {
      const sleeps = yield* sleepsOf(({ bounded }) =>
        Effect.forkChild(Effect.all([bounded(end, stuck), bounded(end, stuck)], { concurrency: 2 }), {
          startImmediately: true
        })
      )

      assert.strictEqual(sleeps, 1)
    }))

  it.effect("does not sleep for what has no end", () =>
    Effect.gen(function*() {
      const sleeps = yield* sleepsOf(
        ({ bounded }) => Effect.forkChild(bounded(Infinity, stuck), { startImmediately: true }),
        Infinity
      )

      assert.strictEqual(sleeps, 0)
    }))

  it.effect("stays one where its first look ends something that begins again at once", () =>
    Effect.gen(function*() {
      const sleeps = yield* sleepsOf(({ bounded }) =>
        Effect.gen(function*() {
          const again = Effect.flatMap(Effect.ignore(bounded(end, stuck)), () => bounded(end, stuck))
          // Wakes before the watchdog at the very instant that both wait for, and brings work that is overdue: one more sleep.
          const overdue = Effect.andThen(Effect.sleep(30_000), bounded(29_999, stuck))
          yield* Effect.forkChild(Effect.ignore(overdue), { startImmediately: true })
          yield* Effect.forkChild(Effect.ignore(again), { startImmediately: true })
        })
      )

      assert.strictEqual(sleeps, 3)
    }))
})
