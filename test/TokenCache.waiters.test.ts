import { assert, describe, it } from "@effect/vitest"
import { Context, Deferred, Effect, Exit, Fiber, Layer, Scheduler, Scope } from "effect"
import { TestClock } from "effect/testing"
import { TokenCache } from "../src/index.ts"
import { FakeService, Fault } from "../src/testing/index.ts"
import { cacheOf, clearFaults, get, injectTokenFault, requestTimes, start, textOf } from "./support/tokens.ts"

describe("A token request whose waiters are interrupted", () => {
  const app = () => cacheOf({ latency: "100 millis" })

  it.effect("continues for the waiters that stay", () =>
    Effect.gen(function*() {
      const leader = yield* start
      const others = yield* Effect.all(Array.from({ length: 100 }, () => start))
      yield* TestClock.adjust("50 millis")
      yield* Fiber.interrupt(leader)
      yield* TestClock.adjust("50 millis")
      const tokens = yield* Fiber.joinAll(others)

      assert.deepStrictEqual(tokens.map(textOf), Array.from({ length: 100 }, () => "generation 1"))
      assert.deepStrictEqual(yield* requestTimes, [0])
    }).pipe(Effect.provide(app())))

  it.effect("is aborted with the last of them, and the next one starts clean", () =>
    Effect.gen(function*() {
      const service = yield* FakeService
      const crowd = yield* Effect.all(Array.from({ length: 100 }, () => start))
      yield* TestClock.adjust("50 millis")
      assert.strictEqual(yield* service.inFlight, 1)
      yield* Fiber.interruptAll(crowd)
      assert.strictEqual(yield* service.inFlight, 0)
      const next = yield* start
      yield* TestClock.adjust("1049 millis")
      assert.isUndefined(next.pollUnsafe())
      yield* TestClock.adjust("1 millis")

      assert.strictEqual(textOf(yield* Fiber.join(next)), "generation 1")
      assert.deepStrictEqual(yield* requestTimes, [0, 1])
    }).pipe(Effect.provide(app())))

  it.effect("is aborted during its wait of a second, or between two attempts", () =>
    Effect.gen(function*() {
      yield* injectTokenFault(Fault.status(503))
      const first = yield* start
      yield* TestClock.adjust("500 millis")
      yield* Fiber.interrupt(first)
      const second = yield* start
      yield* TestClock.adjust("400 millis")
      yield* Fiber.interrupt(second)
      yield* clearFaults
      const third = yield* start
      yield* TestClock.adjust("200 millis")

      assert.strictEqual(textOf(yield* Fiber.join(third)), "generation 1")
      assert.deepStrictEqual(yield* requestTimes, [0, 1])
    }).pipe(Effect.provide(app())))

  it.effect("ends before the next one begins", () =>
    Effect.gen(function*() {
      const log: Array<string> = []
      const note = (text: string) =>
        Effect.map(
          TestClock.testClockWith((clock) => clock.currentTimeMillis),
          (now) => void log.push(`${text} ${now}`)
        )
      const slowToAbort = cacheOf({ latency: "2 seconds" }, (respond, request) =>
        Effect.andThen(note("requested"), respond(request)).pipe(
          Effect.onInterrupt(() =>
            Effect.andThen(Effect.sleep("3 seconds"), note("aborted"))
          )
        ))
      yield* Effect.gen(function*() {
        const first = yield* start
        yield* TestClock.adjust("1500 millis")
        yield* Effect.forkChild(Fiber.interrupt(first))
        yield* TestClock.adjust("10 millis")
        const second = yield* start
        yield* TestClock.adjust("10 seconds")
        assert.strictEqual(textOf(yield* Fiber.join(second)), "generation 1")
      }).pipe(Effect.provide(slowToAbort))

      assert.deepStrictEqual(log, ["requested 0", "aborted 4500", "requested 4500"])
    }))

  it.effect("is not repeated for a caller that arrives as it ends", () =>
    Effect.gen(function*() {
      for (let turns = 0; turns < 40; turns++) {
        for (let steps = 0; steps < 8; steps++) {
          const gate = yield* Deferred.make<void>()
          const gated = cacheOf({}, (respond, request) => Effect.andThen(Deferred.await(gate), respond(request)))
          yield* Effect.gen(function*() {
            const first = yield* start
            yield* Deferred.succeed(gate, undefined)
            for (let turn = 0; turn < turns; turn++) yield* Effect.yieldNow
            const late = yield* Effect.repeat(Effect.void, { times: steps }).pipe(
              Effect.andThen(Effect.result(get)),
              Effect.provideService(Scheduler.MaxOpsBeforeYield, 8),
              Effect.forkChild
            )
            yield* TestClock.adjust("2 seconds")
            assert.deepStrictEqual(
              (yield* Fiber.joinAll([first, late])).map(textOf),
              ["generation 1", "generation 1"],
              `after ${turns} turns and ${steps} steps`
            )
          }).pipe(Effect.provide(gated))
        }
      }
    }))

  it.effect("continues in the background without the caller that started it", () =>
    Effect.gen(function*() {
      const first = yield* start
      yield* TestClock.adjust("3300 seconds")
      yield* Fiber.join(first)
      const caller = yield* Effect.forkChild(Effect.andThen(get, Effect.never))
      yield* TestClock.adjust("50 millis")
      yield* Fiber.interrupt(caller)
      yield* TestClock.adjust("50 millis")

      assert.strictEqual((yield* get).generation, 2)
    }).pipe(Effect.provide(app())))

  it.effect("in the background is aborted with the layer, and the current token stays good", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const context = yield* Layer.buildWithScope(app(), scope)
      const service = Context.get(context, FakeService)
      const { get } = Context.get(context, TokenCache)
      const first = yield* Effect.forkChild(get)
      yield* TestClock.adjust("3300 seconds")
      yield* Fiber.join(first)
      yield* get
      yield* TestClock.adjust("50 millis")
      assert.strictEqual(yield* service.inFlight, 1)
      yield* Scope.close(scope, Exit.void)

      assert.strictEqual(yield* service.inFlight, 0)
      assert.strictEqual((yield* get).generation, 1)
      yield* TestClock.adjust("1 minute")
      assert.strictEqual((yield* get).generation, 1)
    }))

  it.effect("of a layer that closes continues for the callers that wait for it", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const context = yield* Layer.buildWithScope(app(), scope)
      const waiting = yield* Effect.forkChild(Context.get(context, TokenCache).get)
      yield* TestClock.adjust("50 millis")
      yield* Scope.close(scope, Exit.void)
      yield* TestClock.adjust("50 millis")

      assert.strictEqual((yield* Fiber.join(waiting)).generation, 1)
    }))
})
