/** The current token: a `Ref` with a TTL, renewed ahead of time by one request at a time. */
import * as Cache from "effect/Cache"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Redacted from "effect/Redacted"
import * as Ref from "effect/Ref"
import * as Semaphore from "effect/Semaphore"
import type { TokenError } from "./ApiError.ts"
import { makeBudget, retry } from "./internal/resilience/retry.ts"
import { renewed, retrying } from "./internal/telemetry/metrics.ts"
import { type IssuedToken, TokenEndpoint, type TokenFailure } from "./TokenEndpoint.ts"

/**
 * A token and its life on the monotonic clock, in nanoseconds. From `renewAt` on it is renewed in the background, from
 * `expiresAt` on it is not given out any more. The generation tells it from its successors, whatever their text.
 *
 * @since 0.1.0
 */
export interface CachedToken {
  readonly token: Redacted.Redacted
  readonly generation: number
  readonly renewAt: bigint
  readonly expiresAt: bigint
}

/**
 * Gives out the token of one OAuth client. `get` answers from memory, or waits for the one request that is under way.
 * `invalidate` drops exactly the token that was used, so that a late 401 cannot evict its successor.
 *
 * @since 0.1.0
 */
export class TokenCache extends Context.Service<TokenCache, {
  readonly get: Effect.Effect<CachedToken, TokenError>
  readonly invalidate: (used: CachedToken) => Effect.Effect<void>
}>()("effect-time-punches/TokenCache") {
  /** Empty at first; nothing is asked for before the first `get`. @since 0.1.0 */
  static readonly layer: Layer.Layer<TokenCache, never, TokenEndpoint> = Layer.effect(
    TokenCache,
    Effect.suspend(() => make())
  )
}

interface State {
  readonly current: Option.Option<CachedToken>
  readonly generation: number
  /** No request before this: at least a second after the last one. The first to replace a refused token need not wait. */
  readonly nextRequest: bigint
  /** Whether the last request was to replace a refused token; one more for that reason waits like any other. */
  readonly hurried: boolean
  /** No background renewal before this: the `renewAt` of the current token, or a while after a renewal that failed. */
  readonly nextRenewal: bigint
  /** What to answer until then instead of asking: a refused client would be locked, a throttled one blocked. */
  readonly refusal: Option.Option<{ readonly until: bigint; readonly error: TokenError }>
}

const empty: State = {
  current: Option.none(),
  generation: 0,
  nextRequest: BigInt(0),
  hurried: false,
  nextRenewal: BigInt(0),
  refusal: Option.none()
}

/** Whether there was a token and the service took it back; an expired one stays where it is. */
const isRefused = (state: State): boolean => Option.isNone(state.current) && state.generation > 0

const nanos = (duration: Duration.Input): bigint => Duration.toNanosUnsafe(duration)

const requestGap = nanos("1 second")
const renewalGap = nanos("30 seconds")
const earliestRenewal = Duration.minutes(5)
const latestRenewal = Duration.seconds(30)
const clientRefusal = Duration.seconds(30)
const longestThrottle = Duration.minutes(5)

/** The token flight's own limits, in milliseconds. */
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
  const state = yield* Ref.make(empty)

  const request = Effect.gen(function*() {
    const before = yield* Ref.get(state)
    const wait = before.nextRequest - (yield* Clock.monotonicTimeNanos)
    if (wait > 0 && (before.hurried || !isRefused(before))) yield* Effect.sleep(Duration.nanos(wait))
    // The life of a token is counted from before the request, so that it never seems longer than it is.
    const asked = yield* Clock.monotonicTimeNanos
    yield* Ref.update(state, (s) => ({ ...s, nextRequest: asked + requestGap, hurried: isRefused(s) }))
    const issued = yield* endpoint.issue
    return yield* Ref.modify(state, (s) => {
      const token = toCached(issued, asked, s.generation + 1)
      return [token, {
        ...s,
        current: Option.some(token),
        generation: token.generation,
        nextRenewal: token.renewAt
      }]
    })
  })

  const renew = retry({
    attempt: request,
    retryOf: (failure) => failure.retry,
    limits,
    budget: makeBudget(Infinity),
    onRetry: (retry, delay) => retrying("token", retry.kind, delay)
  }).pipe(
    Effect.catch(Effect.fnUntraced(function*(failure: TokenFailure) {
      const now = yield* Clock.monotonicTimeNanos
      yield* Ref.update(state, (s) => ({ ...s, refusal: refusalOf(failure, now) }))
      yield* renewed(failure.error.reason)
      return yield* failure.error
    })),
    Effect.tap(renewed("issued")),
    Effect.withSpan("TokenCache.renew")
  )

  // One at a time: a flight that its waiters have left may still be on its way out when the next one begins.
  const runway = yield* Semaphore.make(1)
  const flight = runway.withPermit(Effect.gen(function*() {
    const now = yield* Clock.monotonicTimeNanos
    const { current, refusal } = yield* Ref.get(state)
    if (Option.isSome(current) && now < current.value.renewAt) return current.value
    if (Option.isSome(refusal) && now < refusal.value.until) return yield* refusal.value.error
    return yield* renew
  }))

  // What is done for all callers is done in the layer's context, not in that of the caller who came first.
  const context = yield* Effect.context<never>()
  const ofTheLayer = <A, E>(self: Effect.Effect<A, E>) =>
    Effect.updateContext(self, (_: Context.Context<never>) => context)

  // A cache that keeps nothing is what combines flights: one pending lookup, shared, interrupted with its last waiter.
  const flights = yield* Cache.makeWith((_: "token") => ofTheLayer(flight), {
    capacity: 1,
    timeToLive: () => Duration.zero
  })
  const land = Cache.get(flights, "token")

  // The token at hand is still good; whoever comes after its end waits for a flight of its own.
  const renewAhead = ofTheLayer(
    Effect.catch(land, (error) => Effect.logWarning(`token not renewed ahead of time: ${error.reason}`))
  )

  // In one go: an interrupt between the claim and the fork would put the renewal off for nothing.
  const renewInBackground = (now: bigint) =>
    Ref.update(state, (s) => ({ ...s, nextRenewal: now + renewalGap })).pipe(
      Effect.andThen(Effect.forkIn(renewAhead, scope)),
      Effect.uninterruptible
    )

  // The same clock as the flight's: the times of two monotonic clocks have nothing to do with each other.
  const clock = yield* Clock.Clock
  const get = Effect.suspend((): Effect.Effect<CachedToken, TokenError> => {
    const { current, nextRenewal } = Ref.getUnsafe(state)
    if (Option.isNone(current)) return land
    const now = clock.monotonicTimeNanosUnsafe()
    if (now >= current.value.expiresAt) return land
    return now < nextRenewal ? Effect.succeed(current.value) : Effect.as(renewInBackground(now), current.value)
  })

  const invalidate = (used: CachedToken) =>
    Ref.update(state, (s) =>
      Option.isNone(s.current) || s.current.value.generation !== used.generation
        ? s
        : { ...s, current: Option.none() })

  return TokenCache.of({ get, invalidate })
})

const toCached = ({ lifetime, token }: IssuedToken, asked: bigint, generation: number): CachedToken => {
  const ends = (early: Duration.Duration) => asked + nanos(Duration.subtract(lifetime, early))
  return {
    token,
    generation,
    renewAt: ends(Duration.min(earliestRenewal, Duration.times(lifetime, 0.5))),
    expiresAt: ends(Duration.min(latestRenewal, Duration.times(lifetime, 0.1)))
  }
}

const refusalOf = ({ error, retry }: TokenFailure, now: bigint): State["refusal"] => {
  const keep = error.reason === "InvalidClient"
    ? clientRefusal
    : error.reason === "Throttled"
    ? Duration.min(Option.getOrElse(retry?.retryAfter ?? Option.none(), () => Duration.zero), longestThrottle)
    : Duration.zero
  return Duration.isZero(keep) ? Option.none() : Option.some({ until: now + nanos(keep), error })
}
