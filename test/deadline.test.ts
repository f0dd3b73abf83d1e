/** The two deadlines of a page, in virtual time. */
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Exit, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { bounded, timed, type Watch } from "../src/internal/deadline.ts"

const now = Effect.map(Clock.monotonicTimeNanos, (nanos) => Number(nanos) / 1e6)

/** Runs work that may take until 120 s, and of which what is timed may take 30 s; says how it ended and when. */
const endOf = <A>(
  work: (watch: Watch) => Effect.Effect<A>,
  bounds: { readonly end?: number; readonly limit?: number } = {}
) =>
  Effect.gen(function*() {
    const fiber = yield* Effect.forkChild(
      bounded({ end: 120_000, limit: 30_000, expired: Effect.fail("late"), ...bounds }, work).pipe(
        Effect.exit,
        Effect.flatMap((exit) => Effect.map(now, (at) => ({ at, exit })))
      )
    )
    yield* TestClock.adjust("1 hour")
    const { at, exit } = yield* Fiber.join(fiber)
    return [Exit.isSuccess(exit) ? exit.value : String(exit.cause).includes("late") ? "late" : "broken", at]
  })

describe("bounded", () => {
  it.effect("gives what is done in time, and its own failure", () =>
    Effect.gen(function*() {
      const soon = Effect.as(Effect.sleep(29_999), "done")

      assert.deepStrictEqual(yield* endOf((watch) => timed(watch, soon)), ["done", 29_999])
    }))

  it.effect("ends the timed part at its limit, to the millisecond", () =>
    Effect.gen(function*() {
      let interruptedAt = 0
      const stuck = Effect.onInterrupt(
        Effect.never,
        () => Effect.map(now, (at) => void (interruptedAt = at))
      )

      assert.deepStrictEqual(yield* endOf((watch) => timed(watch, stuck)), ["late", 30_000])
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
      const rest = (watch: Watch) => Effect.sync(() => void (watch.since = undefined))
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
      const never = (watch: Watch) => timed(watch, Effect.never)

      assert.deepStrictEqual(yield* endOf(never, { limit: Infinity }), ["late", 120_000])
      assert.deepStrictEqual((yield* endOf(never, { limit: 0, end: Infinity }))[0], "late")
    }))

  it.effect("comes to its end where the clock does not stand on a whole millisecond", () =>
    Effect.gen(function*() {
      yield* TestClock.adjust(1234.567891)

      assert.deepStrictEqual((yield* endOf((watch) => timed(watch, Effect.never)))[0], "late")
    }))
})
