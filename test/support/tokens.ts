/** The token side alone, over the fake service: one client's endpoint and cache, and what was asked of the service. */
import { Effect, Layer, Option, Redacted } from "effect"
import { Endpoints, type OAuthClient, TokenCache, TokenEndpoint } from "../../src/index.ts"
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

/** What stands between the client and the fake service: sees each request, and makes what it likes of the answer. */
export type Between = (
  respond: FakeService["Service"]["respond"],
  request: FakeRequest
) => Effect.Effect<FakeResponse>

/** The fake service with something between. */
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

/** An endpoint and the service that it asks, of its own for each call. */
export const endpointOf = (client: OAuthClient = oauthClient, options?: FakeServiceOptions, between?: Between) =>
  TokenEndpoint.layer(client).pipe(
    Layer.provide(Endpoints.layer({ baseUrl: "https://api.test", authUrl: "https://auth.test" })),
    Layer.provide(FakeService.layerClient),
    Layer.provideMerge(serviceOf(options, between))
  )

/** A cache and the service that it asks, of its own for each call. */
export const cacheOf = (options?: FakeServiceOptions, between?: Between) =>
  TokenCache.layer.pipe(Layer.provideMerge(endpointOf(oauthClient, options, between)))

export const get = TokenCache.use((cache) => cache.get)

/** Lets a fault befall token requests. */
export const inject = (fault: Fault, when: FaultWhen = {}) =>
  FakeService.use((service) => service.inject(fault, { ...when, target: "token" }))

export const mend = FakeService.use((service) => service.clearFaults)

/** When each token request came, in seconds since the test began. */
export const askedAt = FakeService.use((service) =>
  Effect.map(
    service.requests,
    (requests) => requests.filter((request) => request.endpoint === "token").map((request) => request.at / 1000)
  )
)

/** The seconds between such times, as milliseconds make them. */
export const gaps = (times: ReadonlyArray<number>): ReadonlyArray<number> =>
  times.slice(1).map((time, index) => Math.round((time - (times[index] ?? time)) * 1000) / 1000)

/** A 200 whose body is this very text. */
export const says = (text: string, contentType = "application/json"): Fault =>
  Fault.status(200, { body: { contentType, text } })

/** A 200 with a token response in which some members are replaced; undefined takes one away. */
export const grants = (members: Readonly<Record<string, unknown>>): Fault =>
  says(JSON.stringify({ token_type: "Bearer", expires_in: 3600, access_token: "some-token", ...members }))

/** What is said of a token failure in a table: its reason, its status where it has one. */
export const brief = (
  { reason, status }: { readonly reason: string; readonly status: Option.Option<number> }
): string => [reason, ...Option.toArray(status)].join(" ")
