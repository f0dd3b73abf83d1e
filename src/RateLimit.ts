/** A limit on the requests of a client, for a service whose limit is known. */
import * as Clock from "effect/Clock"
import type * as Config from "effect/Config"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientError from "effect/http/HttpClientError"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Layer from "effect/Layer"
import * as RateLimiter from "effect/persistence/RateLimiter"
import * as Result from "effect/Result"
import * as Semaphore from "effect/Semaphore"
import { AttemptWatch } from "./internal/resilience/deadline.ts"
import { monotonicMillis } from "./internal/resilience/retry.ts"
import { invalidSetting, wholeNumber } from "./internal/setting/setting.ts"

/** The settings of a limit. */
export interface RateLimitOptions {
  /**
   * The most requests in a second, at least 1. They are sent one by one, a second / `perSecond` apart. A service that counts whole
   * seconds may see one more: for one that takes 10, set 8.
   */
  readonly perSecond: number
  /** The name of the limit in its store: clients with one name and one store share it. Default: `"time-punches"`. */
  readonly key?: string | undefined
}

/** A wall clock that is set back would hold up every request until it has caught up. */
const layerStore = Layer.effect(
  RateLimiter.RateLimiterStore,
  Effect.map(RateLimiter.RateLimiterStore, (store) =>
    RateLimiter.RateLimiterStore.of({
      ...store,
      tokenBucket: (options) =>
        Effect.clockWith((clock) =>
          Effect.provideService(store.tokenBucket(options), Clock.Clock, {
            ...clock,
            currentTimeMillisUnsafe: () => Number(clock.monotonicTimeNanosUnsafe()) / 1e6
          })
        )
    }))
).pipe(Layer.provide(RateLimiter.layerStoreMemory))

/** Timers are late. As many requests as come in 20 ms may wait for theirs at once, or a high limit would not be reached. */
const inTurn = (perSecond: number): number => Math.ceil(perSecond / 50)

const limited = Effect.fnUntraced(function*({ key = "time-punches", perSecond }: RateLimitOptions) {
  const limit = wholeNumber(perSecond, 1)
  if (Result.isFailure(limit)) return yield* invalidSetting("perSecond", limit.failure)
  const client = yield* HttpClient.HttpClient
  const limiter = yield* RateLimiter.RateLimiter
  // A bucket of one, or a first second would have twice the limit. Core has no window of less than a millisecond.
  const bucket = Math.ceil(limit.success / 1000)
  const window = Duration.millis(bucket * 1000 / limit.success)
  const take = limiter.consume({ key, algorithm: "token-bucket", onExceeded: "delay", limit: bucket, window })
  // A place is taken at its turn: a request that ends in the queue has used none, and all that a busy process sends late is not sent at once.
  const turns = Semaphore.makeUnsafe(inTurn(limit.success))
  const place = Effect.flatMap(AttemptWatch, (watch) => {
    const start = Effect.map(monotonicMillis, watch.start)
    const queue = Effect.map(monotonicMillis, watch.queue)
    const turn = Effect.flatMap(
      Effect.andThen(start, take),
      ({ delay }) =>
        Duration.isZero(delay) ? Effect.void : Effect.andThen(Effect.andThen(queue, Effect.sleep(delay)), start)
    )
    return Effect.andThen(queue, turns.withPermits(1)(turn))
  })
  return client.pipe(
    // The request for a token takes a place and does not wait for it: every other request waits for the token.
    HttpClient.transform((send, request) => Effect.andThen(request.method === "POST" ? take : place, send)),
    // Only a store fails. A request without its limit must not be sent; another attempt may find the store.
    HttpClient.catchTag("RateLimiterError", ({ message }) =>
      Effect.fail(
        new HttpClientError.HttpClientError({
          reason: new HttpClientError.TransportError({
            request: HttpClientRequest.empty,
            cause: Object.assign(new Error(message), { code: "ERR_RATE_LIMIT_STORE" })
          })
        })
      ))
  )
})

/**
 * Limits how many requests a second a client sends. The client itself has no limit: it answers a 429 by `RetryPolicy`. A
 * request waits for its turn, and a request for a token does not. The wait counts for the deadline of the run alone, not for `attemptTimeout` and `pageTimeout`.
 */
export const RateLimit = {
  /**
   * Wraps the `HttpClient` that it is provided with: put it between the client and its transport. The limit is for this
   * layer; requests for tokens count too. Fails with a `ConfigError` on a `perSecond` that is not a whole number from 1 on.
   *
   * **Example** (For a service that takes ten requests a second)
   *
   * ```ts
   * import { Layer } from "effect"
   * import { RateLimit, TimePunches } from "effect-time-punches"
   * import { NodeTransport } from "effect-time-punches/node"
   *
   * export const layer = TimePunches.layerFromConfig.pipe(
   *   Layer.provide(RateLimit.layer({ perSecond: 8 })),
   *   Layer.provide(NodeTransport.layer())
   * )
   * ```
   */
  layer: (
    options: RateLimitOptions
  ): Layer.Layer<HttpClient.HttpClient, Config.ConfigError, HttpClient.HttpClient> =>
    Layer.provide(RateLimit.layerWithStore(options), layerStore),
  /**
   * The same over a store of `RateLimiter`, which several processes may share, such as `Fleet.layerRateLimiterStore`. A
   * request whose store fails is not sent: it is retried, and becomes a `TransportError` with the code
   * `ERR_RATE_LIMIT_STORE`.
   */
  layerWithStore: (
    options: RateLimitOptions
  ): Layer.Layer<HttpClient.HttpClient, Config.ConfigError, HttpClient.HttpClient | RateLimiter.RateLimiterStore> =>
    Layer.effect(HttpClient.HttpClient, limited(options)).pipe(Layer.provide(RateLimiter.layer))
} as const
