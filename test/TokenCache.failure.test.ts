import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Fiber, Metric, Result } from "effect"
import { TestClock } from "effect/testing"
import { Fault } from "../src/testing/index.ts"
import {
  cacheOf,
  clearFaults,
  gaps,
  get,
  injectTokenFault,
  requestTimes,
  start,
  textOf,
  tokenOutcome
} from "./support/tokens.ts"

describe("A token request that fails", () => {
  it.effect("is sent once for fifty waiters, which share its failure", () =>
    Effect.gen(function*() {
      yield* injectTokenFault(Fault.status(400))
      const waiters = yield* Effect.all(Array.from({ length: 50 }, () => start))
      yield* TestClock.adjust("10 millis")
      const failures = yield* Fiber.joinAll(waiters)

      assert.deepStrictEqual(failures.map(textOf), Array.from({ length: 50 }, () => "Rejected 400"))
      assert.deepStrictEqual(yield* requestTimes, [0])
    }).pipe(Effect.provide(cacheOf({ latency: "10 millis" }))))

  const lasting: ReadonlyArray<readonly [name: string, fault: Fault, failure: string, requests: number]> = [
    ["is answered with 500", Fault.status(500), "Transport 500", 3],
    ["is answered with 503", Fault.status(503), "Transport 503", 3],
    ["is reset", Fault.reset, "Transport", 3],
    ["is cut", Fault.cutBody(), "Transport", 3],
    ["is never answered", Fault.stallBeforeHeaders, "Transport", 3],
    ["is throttled", Fault.status(429), "Throttled 429", 3],
    ["is throttled for longer than it may take", Fault.retryAfter("31"), "Throttled 429", 1],
    ["is put off for longer than it may take", Fault.retryAfter("31", 503), "Transport 503", 1],
    ["is refused with 400", Fault.status(400), "Rejected 400", 1],
    ["is refused with 401", Fault.status(401), "InvalidClient 401", 1],
    ["is redirected", Fault.redirect(307, "https://evil.test/"), "Rejected 307", 1],
    ["is answered with nonsense", Fault.html200, "Malformed 200", 1]
  ]

  it.effect.each(lasting)(
    "and %s is retried only where that can help",
    ([, fault, failure, requests]) =>
      Effect.gen(function*() {
        yield* injectTokenFault(fault)

        assert.strictEqual(textOf(yield* tokenOutcome), failure)
        const times = yield* requestTimes
        assert.strictEqual(times.length, requests)
        assert.isAtLeast(Math.min(...gaps(times), Infinity), 1)
        assert.isBelow(times.at(-1) ?? 0, 30)
      }).pipe(Effect.provide(cacheOf()))
  )

  it.effect.each([
    Fault.status(500),
    Fault.reset,
    Fault.stallBody(),
    Fault.retryAfter("9"),
    Fault.retryAfter("9", 503)
  ])(
    "twice with %j succeeds with the third attempt",
    (fault) =>
      Effect.gen(function*() {
        yield* injectTokenFault(fault, { times: 2 })

        assert.strictEqual(textOf(yield* tokenOutcome), "generation 1")
        assert.strictEqual((yield* requestTimes).length, 3)
      }).pipe(Effect.provide(cacheOf()))
  )

  it.effect.each<[Fault, number]>([
    [Fault.status(400), 1],
    [Fault.status(500), 3]
  ])("with %j says after how many attempts", ([fault, attempts]) =>
    Effect.gen(function*() {
      yield* injectTokenFault(fault)

      const outcome = yield* tokenOutcome
      assert.deepInclude<object>(Result.isFailure(outcome) ? outcome.failure : {}, { attempts })
    }).pipe(Effect.provide(cacheOf())))

  it.effect.each<[Fault, ReadonlyArray<string>, string]>([
    [Fault.status(503), ["token 503"], "issued"],
    [Fault.reset, ["token ECONNRESET"], "issued"],
    [Fault.stallBeforeHeaders, ["token Timeout"], "issued"],
    [Fault.status(400), [], "Rejected"]
  ])("once with %j is counted by its reason", ([fault, retries, outcome]) =>
    Effect.gen(function*() {
      yield* injectTokenFault(fault, { times: 1 })
      yield* tokenOutcome

      const counted = yield* Metric.snapshot
      const labels = (name: string, ...keys: ReadonlyArray<string>) =>
        counted.filter(({ id }) => id === name).map(({ attributes }) => keys.map((key) => attributes?.[key]).join(" "))
      assert.deepStrictEqual(labels("time_punches_retries", "what", "reason"), retries)
      assert.deepStrictEqual(labels("time_punches_token_renewals", "outcome"), [outcome])
    }).pipe(Effect.provide(cacheOf()), Effect.provideService(Metric.MetricRegistry, new Map())))

  it.effect("waits as long as Retry-After says", () =>
    Effect.gen(function*() {
      yield* injectTokenFault(Fault.retryAfter("9"), { times: 2 })
      yield* tokenOutcome

      assert.deepStrictEqual(yield* requestTimes, [0, 9, 18])
    }).pipe(Effect.provide(cacheOf())))

  it.effect("waits in steps after a 429 without Retry-After", () =>
    Effect.gen(function*() {
      yield* injectTokenFault(Fault.status(429))
      yield* tokenOutcome
      const [first = 0, second = 0, third = 0] = yield* requestTimes

      assert.strictEqual(first, 0)
      assert.isTrue(second >= 5 && second <= 6)
      assert.isTrue(third - second >= 15 && third - second <= 18)
    }).pipe(Effect.provide(cacheOf())))

  /** For how many seconds the cache repeats the failure without a request. */
  const kept: ReadonlyArray<readonly [name: string, fault: Fault, failure: string, seconds: number]> = [
    ["401", Fault.status(401), "InvalidClient 401", 30],
    ["400 invalid_client", Fault.status(400, { problem: { error: "invalid_client" } }), "InvalidClient 400", 30],
    ["400 invalid_scope", Fault.status(400, { problem: { error: "invalid_scope" } }), "Rejected 400", 0],
    ["429 for 45 seconds", Fault.retryAfter("45"), "Throttled 429", 45],
    ["429 for an hour", Fault.retryAfter("3600"), "Throttled 429", 300],
    ["429 until a date", Fault.retryAfter("Thu, 01 Jan 1970 00:02:00 GMT"), "Throttled 429", 120],
    ["429 until the end of time", Fault.retryAfter("99999999999999999999"), "Throttled 429", 300],
    ["429 until now", Fault.retryAfter("0"), "Throttled 429", 0],
    ["429 without Retry-After", Fault.status(429), "Throttled 429", 60],
    ["503 for 45 seconds", Fault.retryAfter("45", 503), "Transport 503", 0],
    ["400", Fault.status(400), "Rejected 400", 0],
    ["200 without a token", Fault.emptyBody, "Malformed 200", 0]
  ]

  it.effect.each(kept)(
    "with %s is repeated without a request for as long as it blocks",
    ([, fault, failure, keep]) =>
      Effect.gen(function*() {
        yield* injectTokenFault(fault)
        const fiber = yield* start
        let passed = 0
        for (; fiber.pollUnsafe() === undefined; passed++) yield* TestClock.adjust("1 second")
        assert.strictEqual(textOf(yield* Fiber.join(fiber)), failure)
        yield* clearFaults
        const requests = (yield* requestTimes).length

        if (keep > 0) {
          // Its waits are drawn, so it may have failed within the last second.
          const margin = passed > 1 ? 1000 : 1
          yield* TestClock.adjust(Duration.millis(keep * 1000 - margin))
          assert.strictEqual(textOf(yield* Effect.result(get)), failure)
          assert.strictEqual((yield* requestTimes).length, requests)
          yield* TestClock.adjust(Duration.millis(margin))
        } else {
          yield* TestClock.adjust("1 second")
        }
        assert.strictEqual(textOf(yield* Effect.result(get)), "generation 1")
      }).pipe(Effect.provide(cacheOf()))
  )

  it.effect("with InvalidClient does not shorten the life of the current token", () =>
    Effect.gen(function*() {
      yield* get
      yield* injectTokenFault(Fault.status(401))
      yield* TestClock.adjust("3560 seconds")
      yield* get
      yield* TestClock.adjust("9999 millis")

      assert.strictEqual((yield* get).generation, 1)
      yield* TestClock.adjust("1 millis")
      assert.strictEqual(textOf(yield* Effect.result(get)), "InvalidClient 401")
      assert.deepStrictEqual(yield* requestTimes, [0, 3560])
    }).pipe(Effect.provide(cacheOf())))
})
