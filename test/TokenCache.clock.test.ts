import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { Fault } from "../src/testing/index.ts"
import { cacheOf, get, injectTokenFault, requestTimes, textOf } from "./support/tokens.ts"

/** The test's clock with a wall clock that can be stepped apart from the monotonic one. */
const steppedClock = TestClock.testClockWith((clock) => {
  let step = 0
  const wall = () => clock.currentTimeMillisUnsafe() + step
  const stepped: Clock.Clock = {
    ...clock,
    currentTimeMillisUnsafe: wall,
    currentTimeMillis: Effect.sync(wall),
    currentTimeNanosUnsafe: () => BigInt(wall()) * BigInt(1e6),
    currentTimeNanos: Effect.sync(() => BigInt(wall()) * BigInt(1e6))
  }
  return Effect.succeed({
    layer: Layer.succeed(Clock.Clock, stepped),
    stepBy: (millis: number) =>
      Effect.sync(() => {
        step += millis
      })
  })
})

describe("The wall clock", () => {
  const hour = 3_600_000

  it.effect.each([-10 * hour, -hour, hour, 10 * hour])(
    "stepped by %i ms changes nothing for a token",
    (step) =>
      Effect.gen(function*() {
        const { layer, stepBy } = yield* steppedClock
        yield* Effect.gen(function*() {
          const first = yield* get
          yield* TestClock.adjust("100 seconds")
          yield* stepBy(step)
          yield* TestClock.adjust("3199 seconds")
          assert.strictEqual(yield* get, first)
          assert.strictEqual((yield* requestTimes).length, 1)
          yield* TestClock.adjust("1 second")
          yield* injectTokenFault(Fault.status(400))
          assert.strictEqual(yield* get, first)
          yield* TestClock.adjust("269999 millis")
          assert.strictEqual(yield* get, first)
          yield* TestClock.adjust("30 seconds")
          assert.strictEqual(textOf(yield* Effect.result(get)), "Rejected 400")
        }).pipe(Effect.provide(Layer.provideMerge(cacheOf(), layer)))
      })
  )

  it.effect.each([-hour, hour])(
    "stepped by %i ms changes nothing for how long a failure blocks",
    (step) =>
      Effect.gen(function*() {
        const { layer, stepBy } = yield* steppedClock
        yield* Effect.gen(function*() {
          yield* injectTokenFault(Fault.status(401), { times: 1 })
          assert.strictEqual(textOf(yield* Effect.result(get)), "InvalidClient 401")
          yield* stepBy(step)
          yield* TestClock.adjust("29999 millis")
          assert.strictEqual(textOf(yield* Effect.result(get)), "InvalidClient 401")
          yield* TestClock.adjust("1 millis")
          assert.strictEqual((yield* get).generation, 1)
        }).pipe(Effect.provide(Layer.provideMerge(cacheOf(), layer)))
      })
  )

  it.effect("set back by TestClock changes nothing either", () =>
    Effect.gen(function*() {
      const first = yield* get
      yield* TestClock.adjust("3000 seconds")
      yield* TestClock.setTime(-600_000)
      yield* TestClock.adjust("299 seconds")
      assert.strictEqual(yield* get, first)
      assert.strictEqual((yield* requestTimes).length, 1)
      yield* TestClock.adjust("1 second")
      yield* get
      yield* TestClock.adjust(0)

      assert.strictEqual((yield* get).generation, 2)
    }).pipe(Effect.provide(cacheOf())))

  it.effect("of the caller is not read: a token ends by the clock of its layer", () =>
    Effect.gen(function*() {
      const first = yield* get
      yield* TestClock.adjust("3570 seconds")
      yield* injectTokenFault(Fault.status(400))
      const result = yield* TestClock.testClockWith((clock) =>
        Effect.result(get).pipe(
          Effect.provideService(Clock.Clock, { ...clock, monotonicTimeNanosUnsafe: () => BigInt(0) })
        )
      )

      assert.strictEqual(first.generation, 1)
      assert.strictEqual(textOf(result), "Rejected 400")
    }).pipe(Effect.provide(cacheOf())))
})
