/** Handling errors by tag, by policy, and with a rate limiter. */
import { Effect, Layer, Option, Stream } from "effect"
import { type Company, Credentials, type ListError, RetryPolicy, TimePunches } from "effect-time-punches"
import { HttpClient, HttpClientRequest } from "effect/http"
import { RateLimiter } from "effect/persistence"
import { transport } from "./app.ts"

/** Handles recoverable errors; the rest propagate. */
export const count = (company: Company) =>
  TimePunches.list(company).pipe(
    Stream.runCount,
    Effect.map((punches) => `${punches} punches`),
    Effect.catchTags({
      Forbidden: (error) => Effect.succeed(`ask the customer: ${error.problem.detail ?? "no reason given"}`),
      RateLimited: (error) =>
        Effect.succeed(`retry ${Option.isNone(error.retryAfter) ? "later" : "after the given delay"}`)
    })
  )

/** One entry per tag: the compiler reports a missing one, and a new one of a later version. */
export const isWorthAnotherRun: Record<ListError["_tag"], boolean> = {
  Unauthorized: false,
  Forbidden: false,
  UnprocessableEntity: false,
  ServerError: true,
  RateLimited: true,
  ServiceUnavailable: true,
  UnexpectedStatus: false,
  TransportError: true,
  DecodeError: false,
  PaginationError: false,
  InvalidRequest: false,
  TokenError: false
}

/** More attempts, for a nightly job. The policy is provided *to* the layer that reads it. */
export const patient = TimePunches.layerFromConfig.pipe(
  Layer.provide(RetryPolicy.layer({ attempts: 6, maxDelay: "1 minute", pageTimeout: "10 minutes" }))
)

/** Pitfall: a policy merged beside the layer has no effect. The defaults apply, and nothing warns of it. */
export const notPatient = Layer.merge(TimePunches.layerFromConfig, RetryPolicy.layer({ attempts: 6 }))

/** The settings as options: an address, credentials, and what differs from the defaults. */
export const withOptions = TimePunches.layerWith({
  baseUrl: "https://punches.example.com",
  credentials: Credentials.layerFromConfig,
  retry: { attempts: 6 },
  transformClient: HttpClient.mapRequest(HttpClientRequest.setHeader("user-agent", "payroll/1.0"))
})

/** At most ten requests per second from this client. The retry policy, not the limiter, handles a 429. */
export const tenASecond = Layer.effect(
  HttpClient.HttpClient,
  Effect.gen(function*() {
    const client = yield* HttpClient.HttpClient
    return client.pipe(
      HttpClient.withRateLimiter({
        limiter: yield* RateLimiter.RateLimiter,
        key: "time punches",
        algorithm: "token-bucket",
        limit: 10,
        window: "1 second",
        times: 0,
        disableResponseInspection: true
      }),
      HttpClient.catchTag("RateLimiterError", Effect.die)
    )
  })
).pipe(
  Layer.provide(RateLimiter.layer),
  Layer.provide(RateLimiter.layerStoreMemory)
)

/** The limiter wraps the transport of the client. */
export const limited = TimePunches.layerFromConfig.pipe(Layer.provide(tenASecond), Layer.provide(transport))
