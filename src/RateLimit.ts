/** A limit on the requests of a client, for a service whose limit is known. */
import type * as Config from "effect/Config"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientError from "effect/http/HttpClientError"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Layer from "effect/Layer"
import * as RateLimiter from "effect/persistence/RateLimiter"
import * as Result from "effect/Result"
import { invalidSetting, wholeNumber } from "./internal/setting/setting.ts"

/** The settings of a limit. */
export interface RateLimitOptions {
  /** The most requests in a second, at least 1. As many may be sent at once at the start. */
  readonly perSecond: number
  /** The name of the limit in its store: clients with one name and one store share it. Default: `"time-punches"`. */
  readonly key?: string | undefined
}

const limited = Effect.fnUntraced(function*({ key = "time-punches", perSecond }: RateLimitOptions) {
  const limit = wholeNumber(perSecond, 1)
  if (Result.isFailure(limit)) return yield* invalidSetting("perSecond", limit.failure)
  const client = yield* HttpClient.HttpClient
  return client.pipe(
    HttpClient.withRateLimiter({
      limiter: yield* RateLimiter.RateLimiter,
      key,
      algorithm: "token-bucket",
      limit: limit.success,
      window: Duration.seconds(1),
      // A 429 is the retry policy's. Otherwise the limiter repeats it without end.
      times: 0,
      // Otherwise a header `remaining: 0` can hold the client for days.
      disableResponseInspection: true,
      // Otherwise each request asks the store for what it has learned, which that of a fleet refuses.
      disableAdaptiveLearning: true
    }),
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
 * request waits for its turn, and the wait counts against `attemptTimeout`: with many streams on a low limit, raise it.
 */
export const RateLimit = {
  /**
   * Wraps the `HttpClient` that it is provided with: put it between the client and its transport. The limit is for this
   * layer; requests for tokens count too. Fails with a `ConfigError` on a `perSecond` that is not a whole number from 1 on.
   *
   * **Example** (At most ten requests a second)
   *
   * ```ts
   * import { Layer } from "effect"
   * import { RateLimit, TimePunches } from "effect-time-punches"
   * import { NodeTransport } from "effect-time-punches/node"
   *
   * export const layer = TimePunches.layerFromConfig.pipe(
   *   Layer.provide(RateLimit.layer({ perSecond: 10 })),
   *   Layer.provide(NodeTransport.layer())
   * )
   * ```
   */
  layer: (
    options: RateLimitOptions
  ): Layer.Layer<HttpClient.HttpClient, Config.ConfigError, HttpClient.HttpClient> =>
    Layer.provide(RateLimit.layerWithStore(options), RateLimiter.layerStoreMemory),
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
