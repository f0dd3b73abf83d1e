/** The token side alone, over the fake service: one client's endpoint and cache, and what was asked of the service. */
import { Duration, Effect, Layer, Option, Redacted } from "effect"
import { Endpoints, type OAuthClient, TokenCache, TokenEndpoint } from "../../src/index.ts"
import {
  defaultOAuthClient,
  type Delivery,
  FakeService,
  type FakeServiceOptions,
  Fault,
  type FaultWhen,
  type PlainRequest
} from "../../src/testing/index.ts"

export const oauthClient: OAuthClient = {
  clientId: defaultOAuthClient.clientId,
  clientSecret: Redacted.make(defaultOAuthClient.clientSecret)
}

/** The fake service, all of whose answers are delivered in this way. */
const delivering = (delivery: Delivery) =>
  Layer.effect(
    FakeService,
    FakeService.useSync((service) => ({
      ...service,
      respond: (request: PlainRequest) =>
        Effect.map(service.respond(request), (response) => ({ ...response, delivery }))
    }))
  )

/** An endpoint and the service that it asks, of its own for each call. */
export const endpointOf = (
  client: OAuthClient = oauthClient,
  options: FakeServiceOptions = {},
  delivery?: Delivery
) =>
  TokenEndpoint.layer(client).pipe(
    Layer.provide(Endpoints.layer({ baseUrl: "https://api.test", authUrl: "https://auth.test" })),
    Layer.provide(FakeService.layerClient),
    Layer.provide(delivery === undefined ? Layer.empty : delivering(delivery)),
    Layer.provideMerge(FakeService.layer(options))
  )

/** A cache of its own for each call, and the service that it asks. */
export const cacheOf = (options: FakeServiceOptions = {}) =>
  TokenCache.layer.pipe(Layer.provideMerge(endpointOf(oauthClient, options)))

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

/** A 200 whose body is this very text. */
export const says = (text: string, contentType = "application/json"): Fault =>
  Fault.status(200, { body: { contentType, text } })

/** A 200 with a token response in which some members are replaced; undefined takes one away. */
export const grants = (members: Readonly<Record<string, unknown>>): Fault =>
  says(JSON.stringify({ token_type: "Bearer", expires_in: 3600, access_token: "some-token", ...members }))

export const expiringIn = (seconds: number): Fault => Fault.expiresIn(seconds)

/** What is said of a token failure in a table: its reason, its status where it has one. */
export const brief = (
  { reason, status }: { readonly reason: string; readonly status: Option.Option<number> }
): string => [reason, ...Option.toArray(status)].join(" ")

export const seconds = (nanos: bigint): number => Duration.toSeconds(Duration.nanos(nanos))
