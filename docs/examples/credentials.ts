/** The three kinds of credential, and a custom one. */
import { Effect, FileSystem, Layer, Redacted } from "effect"
import {
  type Company,
  type CompanyGuid,
  Credentials,
  Endpoints,
  InvalidRequest,
  type OAuthClient,
  TimePunches,
  TokenCache,
  TokenEndpoint
} from "effect-time-punches"
import { HttpClientRequest } from "effect/http"

/** A long-lived token of one company. */
export const withAccessToken = (token: Redacted.Redacted) => client(Credentials.layerAccessToken(token))

/** A partner's client: hourly tokens, renewed ahead of time, and the company's guid on every request. */
export const withOAuth = (clientSecret: Redacted.Redacted, company: Company & { readonly guid: CompanyGuid }) =>
  client(Credentials.layerOAuth({ clientId: "fake-client", clientSecret, company }))

/** A partner's client with the `TokenCache` that it is provided with, such as one that several clients share. */
export const withTokenCache = (clientSecret: Redacted.Redacted) =>
  client(Credentials.layerOAuthNoDeps({ clientSecret }))

/** The session of a user who is logged in. */
export const withSession = (cookie: Redacted.Redacted) => client(Credentials.layerSessionCookie(cookie))

/** The same client for every kind of credential. It still needs an `HttpClient`. */
const client = <E, R>(credentials: Layer.Layer<Credentials, E, R>) =>
  TimePunches.layer.pipe(
    Layer.provide(credentials),
    Layer.provide(Endpoints.layer({ baseUrl: "https://punches.example.com" }))
  )

/** The standard cache as a separate layer: all clients that it is provided to share one token. */
export const tokens = (oauth: OAuthClient) =>
  TokenCache.layer.pipe(
    Layer.provide(TokenEndpoint.layer(oauth)),
    Layer.provide(Endpoints.layer({ baseUrl: "https://punches.example.com" }))
  )

/** A custom credential: a token that another process writes to a file. After a 401 it is read again, once per page. */
export const layerTokenFile = (path: string) =>
  Layer.effect(
    Credentials,
    Effect.gen(function*() {
      const files = yield* FileSystem.FileSystem
      return Credentials.of({
        sign: ({ company, request }) =>
          files.readFileString(path).pipe(
            Effect.map((text) => ({
              request: HttpClientRequest.bearerToken(request, Redacted.make(text.trim())),
              onUnauthorized: Effect.succeed(true)
            })),
            Effect.mapError(() =>
              new InvalidRequest({ companyId: company.id, field: "tokenFile", detail: "cannot be read" })
            )
          )
      })
    })
  )
