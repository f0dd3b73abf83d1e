/** A `TokenEndpoint` that a user writes, with public names only. */
import { assert, describe, it } from "@effect/vitest"
import { Clock, Duration, Effect, Fiber, Layer, Option, Redacted, Ref, Result } from "effect"
import { type IssuedToken, TokenCache, TokenEndpoint, TokenError } from "effect-time-punches"
import { TestClock } from "effect/testing"

const issued: IssuedToken = { token: Redacted.make("from-a-vault"), lifetime: Duration.minutes(10) }

const failureOf = (
  reason: TokenError["reason"],
  retryAfter?: Duration.Input,
  status?: number
) =>
  new TokenError({
    reason,
    status: Option.fromUndefinedOr(status),
    retryAfter: Option.map(Option.fromUndefinedOr(retryAfter), Duration.fromInputUnsafe)
  })

/** Runs one `get`: its result, and the second of each request to an endpoint that fails `times` times. */
const getWith = (failure: TokenError, times = Infinity) =>
  Effect.gen(function*() {
    const requests = yield* Ref.make<ReadonlyArray<number>>([])
    const endpoint = Layer.succeed(TokenEndpoint, {
      requestToken: Effect.gen(function*() {
        const second = (yield* Clock.currentTimeMillis) / 1000
        const before = yield* Ref.getAndUpdate(requests, (all) => [...all, second])
        return before.length < times ? yield* failure : issued
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
      const { result, seconds } = yield* getWith(failureOf("Rejected"), 0)
      const token = yield* Effect.fromResult(result)

      assert.strictEqual(Redacted.value(token.token), "from-a-vault")
      assert.strictEqual(token.generation, 1)
      assert.deepStrictEqual(seconds, [0])
    }))

  const failures: ReadonlyArray<readonly [name: string, failure: TokenError, requests: number]> = [
    ["is not retryable", failureOf("Rejected"), 1],
    ["is not retryable, although it says when", failureOf("Malformed", "1 second"), 1],
    ["is of a status that no attempt at once cures", failureOf("Transport", undefined, 501), 1],
    ["is retryable", failureOf("Transport"), 3],
    ["is retryable, of a status", failureOf("Transport", undefined, 503), 3],
    ["is throttled", failureOf("Throttled"), 3],
    ["is throttled for longer than a renewal may take", failureOf("Throttled", "31 seconds"), 1]
  ]

  it.effect.each(failures)(
    "whose failure %s gets as many requests as can help",
    ([, failure, requests]) =>
      Effect.gen(function*() {
        const { result, seconds } = yield* getWith(failure)

        assert.strictEqual(seconds.length, requests)
        assert.deepStrictEqual<object>(
          { ...(yield* Effect.fromResult(Result.flip(result))) },
          { ...failure, attempts: requests }
        )
      })
  )

  it.effect.each(["Transport", "Throttled"] as const)(
    "whose failure says when to request again is obeyed (%s)",
    (reason) =>
      Effect.gen(function*() {
        const { result, seconds } = yield* getWith(failureOf(reason, "9 seconds"), 2)

        assert.isTrue(Result.isSuccess(result))
        assert.deepStrictEqual(seconds, [0, 9, 18])
      })
  )

  it.effect("that is throttled gets its retries in steps", () =>
    Effect.gen(function*() {
      const { seconds: [first = 0, second = 0, third = 0] } = yield* getWith(failureOf("Throttled"))

      for (const [wait, least] of [[second - first, 5], [third - second, 15]] as const) {
        assert.isAtLeast(wait, least)
        assert.isAtMost(wait, least * 1.2)
      }
    }))
})
