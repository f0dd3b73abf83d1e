/** A `TokenEndpoint` that a user writes, with public names only. */
import { assert, describe, it } from "@effect/vitest"
import { Clock, Duration, Effect, Fiber, Layer, Option, Redacted, Ref, Result } from "effect"
import { type IssuedToken, TokenCache, TokenEndpoint, TokenError, type TokenFailure } from "effect-time-punches"
import { TestClock } from "effect/testing"

const issued: IssuedToken = { token: Redacted.make("from-a-vault"), lifetime: Duration.minutes(10) }

const failureOf = (
  reason: TokenError["reason"],
  retryable: boolean,
  retryAfter?: Duration.Input
): TokenFailure => ({
  error: new TokenError({ reason }),
  retryable,
  retryAfter: Option.map(Option.fromUndefinedOr(retryAfter), Duration.fromInputUnsafe)
})

/** Runs one `get`: its result, and the second of each request to an endpoint that fails `times` times. */
const getWith = (failure: TokenFailure, times = Infinity) =>
  Effect.gen(function*() {
    const requests = yield* Ref.make<ReadonlyArray<number>>([])
    const endpoint = Layer.succeed(TokenEndpoint, {
      requestToken: Effect.gen(function*() {
        const second = (yield* Clock.currentTimeMillis) / 1000
        const before = yield* Ref.getAndUpdate(requests, (all) => [...all, second])
        return before.length < times ? yield* Effect.fail(failure) : issued
      })
    })
    const fiber = yield* Effect.forkChild(
      Effect.result(TokenCache.use(({ get }) => get)).pipe(
        Effect.provide(TokenCache.layer.pipe(Layer.provide(endpoint)))
      )
    )
    yield* TestClock.adjust("1 minute")
    return { result: yield* Fiber.join(fiber), seconds: yield* Ref.get(requests) }
  })

describe("A user's TokenEndpoint", () => {
  it.effect("issues the tokens of a cache", () =>
    Effect.gen(function*() {
      const { result, seconds } = yield* getWith(failureOf("Rejected", false), 0)
      const token = yield* Effect.fromResult(result)

      assert.strictEqual(Redacted.value(token.token), "from-a-vault")
      assert.deepStrictEqual([token.generation, token.renewAt, token.expiresAt], [1, BigInt(300e9), BigInt(570e9)])
      assert.deepStrictEqual(seconds, [0])
    }))

  const failures: ReadonlyArray<readonly [name: string, failure: TokenFailure, requests: number]> = [
    ["is not retryable", failureOf("Rejected", false), 1],
    ["is not retryable, whatever its reason", failureOf("Transport", false), 1],
    ["is not retryable, although it is throttled", failureOf("Throttled", false, "1 second"), 1],
    ["is retryable", failureOf("Transport", true), 3],
    ["is retryable, whatever its reason", failureOf("Malformed", true), 3],
    ["is throttled", failureOf("Throttled", true), 3],
    ["is throttled for longer than a renewal may take", failureOf("Throttled", true, "31 seconds"), 1]
  ]

  it.effect.each(failures)(
    "whose failure %s gets as many requests as can help",
    ([, failure, requests]) =>
      Effect.gen(function*() {
        const { result, seconds } = yield* getWith(failure)

        assert.strictEqual(seconds.length, requests)
        assert.deepStrictEqual<object>(
          { ...(yield* Effect.fromResult(Result.flip(result))) },
          { ...failure.error, attempts: requests, retryAfter: failure.retryAfter }
        )
      })
  )

  it.effect.each(["Transport", "Throttled"] as const)(
    "whose failure says when to request again is obeyed (%s)",
    (reason) =>
      Effect.gen(function*() {
        const { result, seconds } = yield* getWith(failureOf(reason, true, "9 seconds"), 2)

        assert.isTrue(Result.isSuccess(result))
        assert.deepStrictEqual(seconds, [0, 9, 18])
      })
  )

  it.effect("that is throttled gets its retries in steps", () =>
    Effect.gen(function*() {
      const { seconds: [first = 0, second = 0, third = 0] } = yield* getWith(failureOf("Throttled", true))

      for (const [wait, least] of [[second - first, 5], [third - second, 15]] as const) {
        assert.isAtLeast(wait, least)
        assert.isAtMost(wait, least * 1.2)
      }
    }))
})
