import { assert, describe, it } from "@effect/vitest"
import { Context, Duration, Effect, Fiber, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { TokenCache } from "../src/index.ts"
import { Fault } from "../src/testing/index.ts"
import {
  cacheOf,
  clearFaults,
  get,
  injectTokenFault,
  invalidate,
  requestTimes,
  start,
  textOf,
  tokenOutcome,
  tokenResponse
} from "./support/tokens.ts"

/** Tells the context of the layer from those of its callers. */
const Who = Context.Reference<string>("test/Who", { defaultValue: () => "default" })

describe("TokenCache.get", () => {
  it.effect("sends nothing before it runs", () =>
    Effect.gen(function*() {
      yield* TokenCache
      yield* TestClock.adjust("1 hour")

      assert.deepStrictEqual(yield* requestTimes, [])
    }).pipe(Effect.provide(cacheOf())))

  it.effect("answers from memory without a wait", () =>
    Effect.gen(function*() {
      const cache = yield* TokenCache
      const first = yield* get

      assert.strictEqual(Effect.runSync(cache.get), first)
      assert.deepStrictEqual(yield* requestTimes, [0])
    }).pipe(Effect.provide(cacheOf())))

  /** In seconds: the lifetime, the start of the background renewal, the end of the answers from memory. */
  const lives: ReadonlyArray<readonly [lifetime: number | undefined, renewAt: number, expiresAt: number]> = [
    [3600, 3300, 3570],
    [1000, 700, 970],
    [600, 300, 570],
    [400, 200, 370],
    [300, 150, 270],
    [undefined, 150, 270],
    [299, 149.5, 269.1],
    [60, 30, 54],
    [10, 5, 9],
    [90_000, 86_100, 86_370]
  ]

  describe.each(lives)("of a token that lives for %s seconds", (lifetime, renewAt, expiresAt) => {
    const app = cacheOf({ latency: "1 second" })
    const renewal = Duration.millis(renewAt * 1000 - 1000)
    const end = Duration.millis((expiresAt - renewAt) * 1000)

    it.effect(`renews it in the background from second ${renewAt} on`, () =>
      Effect.gen(function*() {
        yield* injectTokenFault(Fault.expiresIn(lifetime))
        const first = yield* Effect.forkChild(get)
        yield* TestClock.adjust("1 second")
        const token = yield* Fiber.join(first)
        yield* TestClock.adjust(Duration.subtract(renewal, Duration.millis(1)))

        assert.strictEqual(yield* get, token)
        yield* TestClock.adjust("1 millis")
        assert.deepStrictEqual(yield* requestTimes, [0])
        assert.strictEqual(yield* get, token)
        assert.strictEqual(yield* get, token)
        yield* TestClock.adjust("1 second")
        assert.strictEqual((yield* get).generation, 2)
        assert.deepStrictEqual(yield* requestTimes, [0, renewAt])
      }).pipe(Effect.provide(app, { local: true })))

    it.effect(`does not answer with it from second ${expiresAt} on`, () =>
      Effect.gen(function*() {
        yield* injectTokenFault(Fault.expiresIn(lifetime))
        const first = yield* Effect.forkChild(get)
        yield* TestClock.adjust("1 second")
        const token = yield* Fiber.join(first)
        yield* TestClock.adjust(renewal)
        yield* TestClock.adjust(Duration.subtract(end, Duration.millis(1)))
        yield* clearFaults
        yield* injectTokenFault(Fault.stallBeforeHeaders)

        assert.strictEqual(yield* get, token)
        yield* TestClock.adjust("1 millis")
        const late = yield* start
        assert.isUndefined(late.pollUnsafe())
      }).pipe(Effect.provide(app, { local: true })))
  })

  it.effect("counts the life of a token from before its request", () =>
    Effect.gen(function*() {
      yield* TestClock.adjust("100 seconds")
      const fiber = yield* start
      yield* TestClock.adjust("5 seconds")
      const token = yield* Effect.fromResult(yield* Fiber.join(fiber))

      assert.deepInclude<object>(token, { generation: 1, renewAt: BigInt(130e9), expiresAt: BigInt(154e9) })
    }).pipe(Effect.provide(cacheOf({ tokenLifetime: "1 minute", latency: "5 seconds" }))))

  it.effect("joins the renewal in flight when the token ends during it", () =>
    Effect.gen(function*() {
      yield* get
      yield* injectTokenFault(Fault.slow("8 seconds"))
      yield* TestClock.adjust("3565 seconds")
      yield* get
      yield* TestClock.adjust("6 seconds")
      const late = yield* start
      yield* TestClock.adjust("2 seconds")

      assert.strictEqual(textOf(yield* Fiber.join(late)), "generation 2")
      assert.deepStrictEqual(yield* requestTimes, [0, 3565])
    }).pipe(Effect.provide(cacheOf())))

  it.effect("answers its waiters with a token that has no lifetime, and requests one a second for the others", () =>
    Effect.gen(function*() {
      yield* injectTokenFault(Fault.expiresIn(0))
      const crowd = yield* Effect.all(Array.from({ length: 10 }, () => start))
      yield* TestClock.adjust("100 millis")
      const late = yield* start
      yield* TestClock.adjust("10 seconds")

      assert.deepStrictEqual(
        new Set((yield* Fiber.joinAll([...crowd, late])).map(textOf)),
        new Set(["generation 1", "generation 2"])
      )
      assert.deepStrictEqual(yield* requestTimes, [0, 1])
    }).pipe(Effect.provide(cacheOf({ latency: "10 millis" }))))

  it.effect("does not send two requests within a second, however often it runs", () =>
    Effect.gen(function*() {
      yield* injectTokenFault(Fault.expiresIn(1))
      for (let count = 0; count < 399; count++) {
        yield* start
        yield* TestClock.adjust("10 millis")
      }

      assert.deepStrictEqual(yield* requestTimes, [0, 1, 2, 3])
    }).pipe(Effect.provide(cacheOf())))
})

describe("A token request", () => {
  it.effect("runs in the context of the layer, not of the first caller", () =>
    Effect.gen(function*() {
      const seen: Array<string> = []
      const app = cacheOf({}, (respond, request) =>
        Effect.flatMap(Who, (who) => {
          seen.push(who)
          return respond(request)
        }))
      yield* Effect.gen(function*() {
        yield* Effect.provideService(get, Who, "first caller")
        yield* TestClock.adjust("3300 seconds")
        yield* Effect.provideService(get, Who, "second caller")
        yield* TestClock.adjust("1 second")
      }).pipe(Effect.provide(app), Effect.provideService(Who, "layer"))

      assert.deepStrictEqual(seen, ["layer", "layer"])
    }))
})

describe("TokenCache.invalidate", () => {
  it.effect("drops the token that was used, and the next get requests one at once", () =>
    Effect.gen(function*() {
      const first = yield* get
      yield* TestClock.adjust("10 millis")
      yield* invalidate(first)
      const second = yield* get

      assert.strictEqual(second.generation, 2)
      assert.notStrictEqual(Redacted.value(second.token), Redacted.value(first.token))
      assert.deepStrictEqual(yield* requestTimes, [0, 0.01])
    }).pipe(Effect.provide(cacheOf())))

  it.effect("sends nothing by itself", () =>
    Effect.gen(function*() {
      yield* Effect.flatMap(get, invalidate)
      yield* TestClock.adjust("1 hour")

      assert.deepStrictEqual(yield* requestTimes, [0])
    }).pipe(Effect.provide(cacheOf())))

  it.effect("does not evict the successor of the token that was used", () =>
    Effect.gen(function*() {
      const first = yield* get
      yield* invalidate(first)
      const second = yield* get
      yield* invalidate(first)
      yield* invalidate({ ...first })

      assert.strictEqual(yield* get, second)
      assert.deepStrictEqual(yield* requestTimes, [0, 0])
    }).pipe(Effect.provide(cacheOf())))

  it.effect("knows a token by its generation, since the service may issue the same text again", () =>
    Effect.gen(function*() {
      yield* injectTokenFault(tokenResponse({ access_token: "always-the-same" }))
      const first = yield* get
      yield* invalidate(first)
      const second = yield* get
      yield* invalidate(first)

      assert.strictEqual(Redacted.value(second.token), Redacted.value(first.token))
      assert.strictEqual(yield* get, second)
      assert.strictEqual((yield* requestTimes).length, 2)
    }).pipe(Effect.provide(cacheOf())))

  it.effect("skips the wait once: a service that refuses every token gets one request a second", () =>
    Effect.gen(function*() {
      const caller = yield* Effect.forkChild(Effect.forever(Effect.flatMap(get, invalidate)))
      yield* TestClock.adjust("1 millis")
      yield* TestClock.adjust("5 seconds")
      yield* Fiber.interrupt(caller)

      assert.deepStrictEqual(yield* requestTimes, [0, 0, 1, 2, 3, 4, 5])
    }).pipe(Effect.provide(cacheOf())))

  it.effect("skips the wait again after an ordinary renewal between", () =>
    Effect.gen(function*() {
      yield* Effect.flatMap(get, invalidate)
      yield* get
      yield* TestClock.adjust("3300 seconds")
      yield* get
      yield* TestClock.adjust("10 millis")
      yield* Effect.flatMap(get, invalidate)
      yield* get

      assert.deepStrictEqual(yield* requestTimes, [0, 0, 3300, 3300.01])
    }).pipe(Effect.provide(cacheOf())))

  it.effect("does not skip the wait before a retry", () =>
    Effect.gen(function*() {
      yield* Effect.flatMap(get, invalidate)
      yield* injectTokenFault(Fault.status(500))
      yield* tokenOutcome

      assert.deepStrictEqual(yield* requestTimes, [0, 0, 1, 2])
    }).pipe(Effect.provide(cacheOf())))

  it.effect("counts a request that waits for its second as the one that skips the wait", () =>
    Effect.gen(function*() {
      yield* injectTokenFault(Fault.expiresIn(1), { times: 1 })
      yield* injectTokenFault(Fault.status(500), { requests: 2 })
      const first = yield* get
      yield* TestClock.adjust("950 millis")
      const waiting = yield* start
      yield* invalidate(first)
      yield* TestClock.adjust("10 seconds")

      assert.strictEqual(textOf(yield* Fiber.join(waiting)), "generation 2")
      assert.deepStrictEqual(yield* requestTimes, [0, 1, 2])
    }).pipe(Effect.provide(cacheOf())))

  it.effect("sends no request for a client that was refused", () =>
    Effect.gen(function*() {
      const first = yield* get
      yield* injectTokenFault(Fault.status(401))
      yield* TestClock.adjust("3300 seconds")
      yield* get
      yield* TestClock.adjust("1 second")
      yield* invalidate(first)

      assert.strictEqual(textOf(yield* Effect.result(get)), "InvalidClient 401")
      assert.deepStrictEqual(yield* requestTimes, [0, 3300])
    }).pipe(Effect.provide(cacheOf())))
})
