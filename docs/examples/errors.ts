/** What to do about a failure: by tag, by policy, and before it happens. */
import { Effect, Layer, Option, Stream } from "effect"
import { type Company, type ListError, RetryPolicy, TimePunches } from "effect-time-punches"
import { HttpClient } from "effect/http"
import { RateLimiter } from "effect/persistence"
import { transport } from "./app.ts"

/** A failure that a program can answer, answered; the others go on to whoever runs it. */
export const count = (company: Company) =>
  TimePunches.list(company).pipe(
    Stream.runCount,
    Effect.map((punches) => `${punches} punches`),
    Effect.catchTags({
      Forbidden: (error) => Effect.succeed(`ask the customer: ${error.problem.detail ?? "no reason given"}`),
      RateLimited: (error) => Effect.succeed(`come back ${Option.isNone(error.retryAfter) ? "later" : "when told"}`)
    })
  )

/** A choice for each: the compiler knows when one is missing, and when the library gets a new one. */
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

/** More patience, for a job that runs at night. The policy goes *to* the layer that reads it. */
export const patient = TimePunches.layerFromConfig.pipe(
  Layer.provide(RetryPolicy.layer({ attempts: 6, maxDelay: "1 minute", pageTimeout: "10 minutes" }))
)

/** The trap: merged beside it, the policy comes too late, and the defaults count. Nothing warns of it. */
export const notPatient = Layer.merge(TimePunches.layerFromConfig, RetryPolicy.layer({ attempts: 6 }))

/** At most ten requests a second from this client. A 429 that comes all the same is the policy's, not the limiter's. */
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

/** The limiter stands between the client and its transport. */
export const limited = TimePunches.layerFromConfig.pipe(Layer.provide(tenASecond), Layer.provide(transport))
