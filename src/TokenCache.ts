/** The current token: a `Ref` with a TTL, renewed ahead of time by one request at a time. */
import * as Cache from "effect/Cache"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import * as Semaphore from "effect/Semaphore"
import { TokenError } from "./ApiError.ts"
import { statusOf } from "./internal/http/status.ts"
import { makeBudget, type Retry, retry, transientRetry } from "./internal/resilience/retry.ts"
import type { CachedToken } from "./internal/resilience/tokenState.ts"
import * as TokenState from "./internal/resilience/tokenState.ts"
import { renewed, retrying } from "./internal/telemetry/metrics.ts"
import { tokenFailureText } from "./internal/wire/errorFields.ts"
import { TokenEndpoint } from "./TokenEndpoint.ts"

export type { CachedToken } from "./internal/resilience/tokenState.ts"

/**
 * Holds the token of one OAuth client and renews it. `Credentials.layerOAuth` has the standard one; provide this one, or
 * your own, to `Credentials.layerOAuthNoDeps`.
 */
export class TokenCache extends Context.Service<TokenCache, {
  /**
   * The current token. Answers from memory, or waits for the renewal in flight, which all callers share. A renewal has
   * three attempts within 30 seconds, at least one second apart. Fails with a `TokenError`, which the cache repeats
   * without a request for 30 seconds after `InvalidClient`, and after `Throttled` until `Retry-After` (at most 5 minutes),
   * or for a minute without it.
   */
  readonly get: Effect.Effect<CachedToken, TokenError>
  /**
   * Drops `used` if it is still the current token, so that a late 401 cannot evict its successor. Sends nothing: the
   * next `get` requests a token, at once, or one second after the last request if that one replaced a refused token too.
   */
  readonly invalidate: (used: CachedToken) => Effect.Effect<void>
}>()("effect-time-punches/TokenCache") {
  /**
   * An empty cache. The first `get` sends the first request. Requests run with the services and settings that this
   * layer was built with, not with a caller's; closing its scope aborts a background renewal. Each use of the name is
   * another cache, so that two clients do not share a token by accident. Keep the layer in a constant to share it.
   */
  static get layer(): Layer.Layer<TokenCache, never, TokenEndpoint> {
    return Layer.effect(TokenCache, make())
  }
}

/** Limits of one renewal, in milliseconds. */
const limits = {
  attempts: 3,
  total: 30_000,
  baseDelay: 200,
  throttleDelay: 5_000,
  maxDelay: 20_000,
  retryAfterCap: 30_000
}

const make = Effect.fnUntraced(function*() {
  const endpoint = yield* TokenEndpoint
  const scope = yield* Effect.scope
  const state = yield* Ref.make<TokenState.TokenState<TokenError>>(TokenState.emptyState)

  const request = Effect.gen(function*() {
    const delay = TokenState.requestDelay(yield* Ref.get(state), yield* Clock.monotonicTimeNanos)
    if (!Duration.isZero(delay)) yield* Effect.sleep(delay)
    const requestedAt = yield* Clock.monotonicTimeNanos
    yield* Ref.update(state, (s) => TokenState.requested(s, requestedAt))
    const issued = yield* endpoint.requestToken
    return yield* Ref.modify(state, (s) => TokenState.issued(s, issued, requestedAt))
  })

  const renew = Effect.suspend(() => {
    let attempts = 0
    return retry({
      attempt: Effect.suspend(() => {
        attempts++
        return request
      }),
      retryOf,
      limits,
      budget: makeBudget(Infinity),
      onRetry: ({ kind }, next) => retrying({ what: "token", reason: kind, ...next })
    }).pipe(
      Effect.catch(Effect.fnUntraced(function*(last: TokenError) {
        const now = yield* Clock.monotonicTimeNanos
        const error = new TokenError({ ...last, attempts })
        yield* Ref.update(state, (s) => TokenState.refused(s, error, now))
        yield* renewed(error.reason)
        return yield* error
      })),
      Effect.tap(renewed("issued")),
      Effect.withSpan("TokenCache.renew")
    )
  })

  // One renewal at a time: one that its waiters have left may still be aborting when the next one begins.
  const mutex = yield* Semaphore.make(1)
  const renewal = mutex.withPermit(Effect.gen(function*() {
    const now = yield* Clock.monotonicTimeNanos
    const settled = TokenState.settled(yield* Ref.get(state), now)
    return yield* Option.isSome(settled) ? Effect.fromResult(settled.value) : renew
  }))

  // What all callers share runs in the context of the layer, not of the caller who started it.
  const context = yield* Effect.context<never>()
  const inLayerContext = <A, E>(self: Effect.Effect<A, E>) =>
    Effect.updateContext(self, (_: Context.Context<never>) => context)

  // A cache that keeps nothing shares one pending lookup, and interrupts it with its last waiter.
  const inFlight = yield* Cache.makeWith((_: "token") => inLayerContext(renewal), {
    capacity: 1,
    timeToLive: () => Duration.zero
  })
  const awaitRenewal: Effect.Effect<CachedToken, TokenError> = Cache.get(inFlight, "token")

  // The current token is still good; a caller after its end waits for another renewal.
  const renewAhead = inLayerContext(
    Effect.catch(
      awaitRenewal,
      (error) => Effect.logWarning(`token not renewed ahead of time: ${tokenFailureText(error)}`)
    )
  )

  // Uninterruptible: an interrupt between the update and the fork would postpone the renewal for nothing.
  const renewInBackground = (now: bigint) =>
    Ref.update(state, (s) => TokenState.renewalStarted(s, now)).pipe(
      Effect.andThen(Effect.forkIn(renewAhead, scope)),
      Effect.uninterruptible
    )

  const answers = {
    use: (token: CachedToken) => Effect.succeed(token),
    useAndRenew: (token: CachedToken, now: bigint) => Effect.as(renewInBackground(now), token),
    wait: awaitRenewal
  }
  // The clock of the layer, as in a renewal: the times of two monotonic clocks cannot be compared.
  const clock = yield* Clock.Clock
  const get = Effect.suspend(() =>
    TokenState.decide<Effect.Effect<CachedToken, TokenError>>(
      Ref.getUnsafe(state),
      clock.monotonicTimeNanosUnsafe(),
      answers
    )
  )

  const invalidate = (used: CachedToken) => Ref.update(state, (s) => TokenState.invalidated(s, used))

  return TokenCache.of({ get, invalidate })
})

/** A status such as 501 may pass with time, and an attempt at once does not help. */
const retryOf = (error: TokenError): Retry | undefined =>
  !error.isRetryable || Option.exists(error.status, (status) => statusOf(status) === "other")
    ? undefined
    : transientRetry(kindOf(error), { throttled: error.reason === "Throttled", retryAfter: error.retryAfter })

/** Named as the retry of a page is: by the platform's code or the status. */
const kindOf = ({ reason, status, transport }: TokenError): string =>
  Option.match(transport, {
    onSome: ({ code, reason }) => Option.getOrElse(code, () => reason),
    onNone: () => Option.match(status, { onSome: String, onNone: () => reason })
  })
