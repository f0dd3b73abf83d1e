/** The token side alone, over the fake service: endpoint and cache of one client, and the requests that it sent. */
import { Effect, Fiber, Layer, Option, Redacted, Result } from "effect"
import { TestClock } from "effect/testing"
import {
  type CachedToken,
  Endpoints,
  type OAuthClient,
  TokenCache,
  TokenEndpoint,
  type TokenError
} from "../../src/index.ts"
import {
  defaultOAuthClient,
  type FakeRequest,
  type FakeResponse,
  FakeService,
  type FakeServiceOptions,
  Fault,
  type FaultWhen
} from "../../src/testing/index.ts"

export const oauthClient: OAuthClient = {
  clientId: defaultOAuthClient.clientId,
  clientSecret: Redacted.make(defaultOAuthClient.clientSecret)
}

/** Stands between the client and the fake service: sees each request, and may replace its response. */
export type Between = (
  respond: FakeService["Service"]["respond"],
  request: FakeRequest
) => Effect.Effect<FakeResponse>

/** The fake service behind `between`. */
export const serviceOf = (
  options: FakeServiceOptions = {},
  between: Between = (respond, request) => respond(request)
) =>
  Layer.effect(
    FakeService,
    FakeService.useSync((service) => ({
      ...service,
      respond: (request: FakeRequest) => between(service.respond, request)
    }))
  ).pipe(Layer.provide(FakeService.layer(options)))

/** An endpoint with a separate service for each call. */
export const endpointOf = (client: OAuthClient = oauthClient, options?: FakeServiceOptions, between?: Between) =>
  TokenEndpoint.layer(client).pipe(
    Layer.provide(Endpoints.layer({ baseUrl: "https://api.test", authUrl: "https://auth.test" })),
    Layer.provide(FakeService.layerClient),
    Layer.provideMerge(serviceOf(options, between))
  )

/** A cache with a separate service for each call. */
export const cacheOf = (options?: FakeServiceOptions, between?: Between) =>
  TokenCache.layer.pipe(Layer.provideMerge(endpointOf(oauthClient, options, between)))

export const requestToken = TokenEndpoint.use((endpoint) => endpoint.requestToken)

export const get = TokenCache.use((cache) => cache.get)

export const invalidate = (used: CachedToken) => TokenCache.use((cache) => cache.invalidate(used))

/** Starts a `get` and runs it up to its first wait. */
export const start = Effect.tap(Effect.forkChild(Effect.result(get)), () => TestClock.adjust(0))

/** The result of a `get` after all its attempts. */
export const tokenOutcome = Effect.gen(function*() {
  const fiber = yield* start
  yield* TestClock.adjust("2 minutes")
  return yield* Fiber.join(fiber)
})

/** Makes token requests fail. */
export const injectTokenFault = (fault: Fault, when: FaultWhen = {}) =>
  FakeService.use((service) => service.inject(fault, { ...when, target: "token" }))

export const clearFaults = FakeService.use((service) => service.clearFaults)

/** The times of the token requests, in seconds since the test began. */
export const requestTimes = FakeService.use((service) =>
  Effect.map(
    service.requests,
    (requests) => requests.filter((request) => request.endpoint === "token").map((request) => request.at / 1000)
  )
)

/** The seconds between such times, rounded to milliseconds. */
export const gaps = (times: ReadonlyArray<number>): ReadonlyArray<number> =>
  times.slice(1).map((time, index) => Math.round((time - (times[index] ?? time)) * 1000) / 1000)

/** A 200 with this body. */
export const bodyOf = (text: string, contentType = "application/json"): Fault =>
  Fault.status(200, { body: { contentType, text } })

/** A 200 with a token response in which some members are replaced; undefined removes one. */
export const tokenResponse = (members: Readonly<Record<string, unknown>>): Fault =>
  bodyOf(JSON.stringify({ token_type: "Bearer", expires_in: 3600, access_token: "some-token", ...members }))

/** A token error in a table: its reason, and its status if it has one. */
export const tokenErrorName = (
  { reason, status }: { readonly reason: string; readonly status: Option.Option<number> }
): string => [reason, ...Option.toArray(status)].join(" ")

/** The result of a `get` in a table. */
export const textOf = (result: Result.Result<CachedToken, TokenError>): string =>
  Result.match(result, { onSuccess: (token) => `generation ${token.generation}`, onFailure: tokenErrorName })

/** A value and its form in the name of a test. */
export const named = <A>(value: A) => [(JSON.stringify(value) ?? "missing").slice(0, 40), value] as const
