/** The time limits of a page and its attempts, in virtual time, and the state behind them, without time. */
import { assert, describe, it } from "@effect/vitest"
import { Clock, Deferred, type Duration, Effect, Exit, Fiber, Scope } from "effect"
import { TestClock } from "effect/testing"
import {
  type Deadlines,
  makeDeadlines,
  makeWatchdog,
  timed,
  type Watch,
  type Work
} from "../../../src/internal/resilience/deadline.ts"

const now = Effect.map(Clock.monotonicTimeNanos, (nanos) => Number(nanos) / 1e6)

const limit = 30_000
const end = 120_000
const late = Effect.fail("late")

/** How work ended and when: its value, or "late". */
const outcome = <A>(work: Effect.Effect<A, string>) =>
  Effect.gen(function*() {
    const exit = yield* Effect.exit(work)
    return [Exit.isSuccess(exit) ? exit.value : String(exit.cause).includes("late") ? "late" : "broken", yield* now]
  })

/** Runs work with an end at 120 s and a limit of 30 s for each attempt; returns how it ended and when. */
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
  it.effect("returns what ends in time", () =>
    Effect.gen(function*() {
      const soon = Effect.as(Effect.sleep(29_999), "done")

      assert.deepStrictEqual(yield* endOf((watch) => timed(watch, soon)), ["done", 29_999])
    }))

  it.effect("interrupts an attempt at its limit, to the millisecond", () =>
    Effect.gen(function*() {
      let interruptedAt = 0
      const attempt = Effect.onInterrupt(
        Effect.never,
        () => Effect.map(now, (at) => void (interruptedAt = at))
      )

      assert.deepStrictEqual(yield* endOf((watch) => timed(watch, attempt)), ["late", 30_000])
      assert.strictEqual(interruptedAt, 30_000)
    }))

  it.effect("measures an attempt from its start, however late that is", () =>
    Effect.gen(function*() {
      const work = (watch: Watch) => Effect.andThen(Effect.sleep(50_500), timed(watch, Effect.never))

      assert.deepStrictEqual(yield* endOf(work), ["late", 80_500])
    }))

  it.effect("does not measure work before, between and after attempts", () =>
    Effect.gen(function*() {
      const attempt = (watch: Watch) => timed(watch, Effect.sleep(20_000))
      const pause = (watch: Watch) => Effect.sync(() => watch.pause())
      const work = (watch: Watch) =>
        Effect.all([Effect.sleep(35_000), attempt(watch), pause(watch), Effect.sleep(35_000), attempt(watch)])

      assert.deepStrictEqual((yield* endOf(work))[1], 110_000)
    }))

  it.effect.each<[string, (watch: Watch) => Effect.Effect<unknown>]>([
    ["before its attempt", () => Effect.never],
    ["during its attempt", (watch) => Effect.andThen(Effect.sleep(100_000), timed(watch, Effect.never))]
  ])("interrupts work at the end of its page, %s", ([, work]) =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* endOf(work), ["late", 120_000])
    }))

  it.effect("accepts an infinite limit, and a limit of zero", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* endOf(stuck, { limit: Infinity }), ["late", 120_000])
      assert.deepStrictEqual((yield* endOf(stuck, { limit: 0, end: Infinity }))[0], "late")
    }))

  it.effect("interrupts at once what starts past its end", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* endOf(stuck, { end: 0 }), ["late", 0])
    }))

  it.effect("interrupts a later attempt that starts past the end of its page, with nothing else running", () =>
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

  it.effect("expires where the clock is between two milliseconds", () =>
    Effect.gen(function*() {
      yield* TestClock.adjust(1234.567891)

      assert.deepStrictEqual((yield* endOf(stuck))[0], "late")
    }))

  /** Starts `work` at a time, in parallel with the rest of its run. */
  const startAt = (
    { bounded }: Deadlines<string>,
    at: number,
    work: (watch: Watch) => Effect.Effect<unknown>,
    until = end
  ) => Effect.forkChild(Effect.delay(outcome(bounded(until, work)), at))

  it.effect("interrupts each of many when it is due", () =>
    Effect.gen(function*() {
      const deadlines = yield* makeDeadlines(limit, late)
      const fibers = [
        yield* startAt(deadlines, 0, stuck),
        yield* startAt(deadlines, 10_000, stuck),
        yield* startAt(deadlines, 20_000, (watch) => timed(watch, Effect.as(Effect.sleep(29_000), "done"))),
        yield* startAt(deadlines, 90_500, stuck)
      ]
      yield* TestClock.adjust("1 hour")

      assert.deepStrictEqual(yield* Effect.forEach(fibers, (fiber) => Fiber.join(fiber)), [
        ["late", 30_000],
        ["late", 40_000],
        ["done", 49_000],
        ["late", 120_000]
      ])
    }).pipe(Effect.scoped))

  it.effect("wakes in time for work that starts later and is due sooner", () =>
    Effect.gen(function*() {
      const deadlines = yield* makeDeadlines(limit, late)
      const first = yield* startAt(deadlines, 0, stuck)
      const second = yield* startAt(deadlines, 10_000, stuck, 15_000)
      yield* TestClock.adjust("1 hour")

      assert.deepStrictEqual(yield* Fiber.join(second), ["late", 15_000])
      assert.deepStrictEqual(yield* Fiber.join(first), ["late", 30_000])
    }).pipe(Effect.scoped))

  it.effect("measures work that starts as soon as other work is late", () =>
    Effect.gen(function*() {
      const { bounded } = yield* makeDeadlines(limit, late)
      const fiber = yield* Effect.forkChild(
        Effect.flatMap(Effect.ignore(bounded(end, stuck)), () => outcome(bounded(end, stuck)))
      )
      yield* TestClock.adjust("1 hour")

      assert.deepStrictEqual(yield* Fiber.join(fiber), ["late", 60_000])
    }).pipe(Effect.scoped))

  it.effect("interrupts the work with the fiber that waits for it, and waits for its finalizers", () =>
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

  it.effect("waits for work that cannot be interrupted, and reports it as late", () =>
    Effect.gen(function*() {
      const slow = Effect.uninterruptible(Effect.sleep(40_000))

      assert.deepStrictEqual(yield* endOf((watch) => timed(watch, slow)), ["late", 40_000])
    }))
})

describe("the fiber of a run", () => {
  /** Counts the sleeps of a run over an hour. */
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

  it.effect("does not sleep for work that ends at once", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* sleepsOf(({ bounded }) => repeated(bounded(end, () => Effect.void))), 0)
    }))

  it.effect("sleeps once for a hundred pieces of work, and not again when they have ended", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* sleepsOf(({ bounded }) => repeated(bounded(end, () => Effect.yieldNow))), 1)
    }))

  /** Lets what is scheduled run, without moving the clock. */
  const turn = Effect.repeat(Effect.yieldNow, { times: 5 })

  /** The sleeps that have begun and not ended, before and after each step. */
  const liveSleepsAt = (
    steps: (deadlines: Deadlines<string>) => ReadonlyArray<Effect.Effect<unknown, string, Scope.Scope>>
  ) =>
    Effect.gen(function*() {
      const clock = yield* Clock.Clock
      let live = 0
      const counting: Clock.Clock = Object.assign(Object.create(clock), {
        sleep: (duration: Duration.Duration) =>
          Effect.suspend(() => {
            live++
            return Effect.ensuring(clock.sleep(duration), Effect.sync(() => live--))
          })
      })
      const deadlines = yield* makeDeadlines(limit, late)
      const counts = [live]
      for (const step of steps(deadlines)) {
        yield* Effect.provideService(step, Clock.Clock, counting)
        yield* turn
        counts.push(live)
      }
      return counts
    }).pipe(Effect.scoped)

  it.effect("sleeps while work runs, and not while the run is idle, however often", () =>
    Effect.gen(function*() {
      const gates = yield* Effect.all(Array.from({ length: 3 }, () => Deferred.make<void>()))
      const counts = yield* liveSleepsAt(({ bounded }) =>
        gates.flatMap((gate) => [
          Effect.forkChild(bounded(end, () => Deferred.await(gate)), { startImmediately: true }),
          Deferred.succeed(gate, undefined)
        ])
      )

      assert.deepStrictEqual(counts, [0, 1, 0, 1, 0, 1, 0])
    }))

  it.effect("sleeps until the last of its work has ended", () =>
    Effect.gen(function*() {
      const [one, other] = yield* Effect.all([Deferred.make<void>(), Deferred.make<void>()])
      const counts = yield* liveSleepsAt(({ bounded }) => [
        ...[one, other].map((gate) =>
          Effect.forkChild(bounded(end, () => Deferred.await(gate)), { startImmediately: true })
        ),
        Deferred.succeed(one, undefined),
        Deferred.succeed(other, undefined)
      ])

      assert.deepStrictEqual(counts, [0, 1, 1, 1, 0])
    }))

  it.effect("sleeps no more where its work was late or interrupted", () =>
    Effect.gen(function*() {
      const counts = yield* liveSleepsAt(({ bounded }) => [
        Effect.forkChild(Effect.ignore(bounded(end, stuck)), { startImmediately: true }),
        TestClock.adjust(limit),
        Effect.flatMap(
          Effect.forkChild(bounded(end, stuck), { startImmediately: true }),
          (fiber) => Effect.andThen(turn, Fiber.interrupt(fiber))
        )
      ])

      assert.deepStrictEqual(counts, [0, 1, 0, 0])
    }))

  it.effect("interrupts work that starts after the run was idle, to the millisecond", () =>
    Effect.gen(function*() {
      const { bounded } = yield* makeDeadlines(limit, late)
      const idleAt = Effect.fnUntraced(function*(at: number) {
        yield* bounded(end, () => Effect.yieldNow)
        yield* Effect.sleep(at)
        return yield* outcome(bounded(Infinity, stuck))
      })
      const fiber = yield* Effect.forkChild(Effect.forEach([7, 29_999, 30_001], idleAt))
      yield* TestClock.adjust("1 hour")

      assert.deepStrictEqual(yield* Fiber.join(fiber), [["late", 30_007], ["late", 90_006], ["late", 150_007]])
    }).pipe(Effect.scoped))

  it.effect("leaves no fiber to the scope of an idle run", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const { bounded } = yield* Scope.provide(makeDeadlines(limit, late), scope)
      const page = Effect.andThen(bounded(end, () => Effect.yieldNow), turn)
      yield* Effect.all(Array.from({ length: 20 }, () => page))

      assert.strictEqual(scope.state._tag, "Empty")
    }))

  it.effect("sleeps once for work that starts at the same time", () =>
    Effect.gen(function*() {
      const sleeps = yield* sleepsOf(({ bounded }) =>
        Effect.forkChild(Effect.all([bounded(end, stuck), bounded(end, stuck)], { concurrency: 2 }), {
          startImmediately: true
        })
      )

      assert.strictEqual(sleeps, 1)
    }))

  it.effect("does not sleep for an infinite limit", () =>
    Effect.gen(function*() {
      const sleeps = yield* sleepsOf(
        ({ bounded }) => Effect.forkChild(bounded(Infinity, stuck), { startImmediately: true }),
        Infinity
      )

      assert.strictEqual(sleeps, 0)
    }))

  it.effect("does not sleep for overdue work that starts inside an expire callback", () =>
    Effect.gen(function*() {
      const sleeps = yield* sleepsOf(({ bounded }) =>
        Effect.forkChild(
          Effect.flatMap(Effect.ignore(bounded(end, stuck)), () => Effect.ignore(bounded(29_999, stuck))),
          { startImmediately: true }
        )
      )

      assert.strictEqual(sleeps, 1)
    }))

  it.effect("stays one where work starts inside an expire callback", () =>
    Effect.gen(function*() {
      const sleeps = yield* sleepsOf(({ bounded }) =>
        Effect.gen(function*() {
          const restarted = Effect.flatMap(Effect.ignore(bounded(end, stuck)), () => bounded(end, stuck))
          // Wakes before the watchdog at the same time, with work that is overdue: one more sleep.
          const overdue = Effect.andThen(Effect.sleep(30_000), bounded(29_999, stuck))
          yield* Effect.forkChild(Effect.ignore(overdue), { startImmediately: true })
          yield* Effect.forkChild(Effect.ignore(restarted), { startImmediately: true })
        })
      )

      assert.strictEqual(sleeps, 3)
    }))
})

describe("the watchdog", () => {
  const ignore = () => {}

  it.each<[string, number, (work: Work) => void, number]>([
    ["a whole limit from now before its attempt", 120, () => {}, 40],
    ["a limit after the start of its attempt", 120, (work) => work.start(5), 35],
    ["a limit after the latest start", 120, (work) => [5, 9].forEach(work.start), 39],
    ["a whole limit from now during a pause", 120, (work) => [work.start(5), work.pause()], 40],
    ["at its end, where that is earlier", 30, (work) => work.start(5), 30],
    ["at its end, where that has passed", 3, () => {}, 3]
  ])("has work due %s", (_what, end, prepare, due) => {
    const watchdog = makeWatchdog(30)
    const work = watchdog.makeWork(end, ignore)
    prepare(work)

    assert.strictEqual(watchdog.register(work, 10), due)
    assert.strictEqual(watchdog.nextDue(10), due)
  })

  it("has nothing due without work", () => {
    const watchdog = makeWatchdog(30)
    const work = watchdog.makeWork(120, ignore)
    watchdog.register(work, 0)
    watchdog.release(work)

    assert.strictEqual(watchdog.nextDue(0), Infinity)
    assert.isTrue(watchdog.isIdle())
    assert.isFalse(watchdog.expireDue(1000))
  })

  it("is idle when its last work has ended", () => {
    const watchdog = makeWatchdog(30)
    const [one, other] = [watchdog.makeWork(120, ignore), watchdog.makeWork(120, ignore)]
    watchdog.register(one, 0)
    watchdog.register(other, 0)

    assert.deepStrictEqual(
      [watchdog.isIdle(), watchdog.release(one), watchdog.isIdle(), watchdog.release(other), watchdog.isIdle()],
      [false, false, false, true, true]
    )
  })

  it("expires what is due, each once, and keeps the rest", () => {
    const watchdog = makeWatchdog(30)
    const expired: Array<string> = []
    for (const [name, start] of [["a", 0], ["b", 10], ["c", 0]] as const) {
      const work = watchdog.makeWork(120, () => expired.push(name))
      work.start(start)
      watchdog.register(work, start)
    }

    assert.isFalse(watchdog.expireDue(29.999))
    assert.deepStrictEqual([watchdog.expireDue(30), [...expired], watchdog.nextDue(30)], [true, ["a", "c"], 40])
    assert.isFalse(watchdog.expireDue(30))
    assert.deepStrictEqual([watchdog.expireDue(40), expired, watchdog.nextDue(40)], [true, ["a", "c", "b"], Infinity])
  })

  it("leaves work that starts inside an expire callback to the next call", () => {
    const watchdog = makeWatchdog(30)
    let expirations = 0
    const begin = () => void watchdog.register(watchdog.makeWork(0, expire), 0)
    const expire = () => {
      expirations++
      if (expirations < 3) begin()
    }
    begin()

    assert.deepStrictEqual([1, 2, 3, 4].map(() => [watchdog.expireDue(0), expirations]), [
      [true, 1],
      [true, 2],
      [true, 3],
      [false, 3]
    ])
  })

  it("does not expire what has not started where the limit is zero", () => {
    const watchdog = makeWatchdog(0)
    const work = watchdog.makeWork(120, ignore)

    assert.strictEqual(watchdog.register(work, 10), 11)
    assert.isFalse(watchdog.expireDue(10))
    work.start(10)
    assert.isTrue(watchdog.expireDue(10))
  })

  it("is never due with an infinite limit and no end", () => {
    const watchdog = makeWatchdog(Infinity)
    const work = watchdog.makeWork(Infinity, ignore)
    work.start(0)

    assert.strictEqual(watchdog.register(work, 0), Infinity)
    assert.strictEqual(watchdog.nextDue(1e12), Infinity)
  })
})
