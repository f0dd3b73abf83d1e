/** The token endpoint, `POST {authUrl}/oauth2/token`: one request, without cache or retry. */
import type * as Config from "effect/Config"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { TokenError } from "./ApiError.ts"
import { Endpoints } from "./Endpoints.ts"
import { contentType, isJson, parseJson, readBytes, tooLarge } from "./internal/http/body.ts"
import { secureClient, wasRedirected } from "./internal/http/client.ts"
import { requestIdOf, retryAfterOf } from "./internal/http/problem.ts"
import { isSendable, validateClientId, validateSecret } from "./internal/http/secret.ts"
import { statusOf, usualStatus } from "./internal/http/status.ts"
import { timedOut, type TransportFailure, transportFailureOf } from "./internal/http/transportFailure.ts"
import { userAgent } from "./internal/wire/userAgent.ts"
import { TracePropagation } from "./TracePropagation.ts"

/** A token as the service issued it. */
export interface IssuedToken {
  /** The token without `Bearer`; it goes into the `Authorization` header as it is. */
  readonly token: Redacted.Redacted
  /** How long it is valid. `TokenEndpoint.layer` takes a missing `expires_in` for 300 s and caps it at 24 h. */
  readonly lifetime: Duration.Duration
}

/**
 * What the token of an OAuth client may do. The listing needs `time_punches:read`, the default. `v1_access` is for the
 * first-generation endpoints; the others are `read` or `write` of one resource.
 */
export const OAuthScope = Schema.Literals([
  "v1_access",
  "companies:read",
  "companies:write",
  "departments:read",
  "departments:write",
  "locations:read",
  "locations:write",
  "roles:read",
  "roles:write",
  "users:read",
  "users:write",
  "sales:read",
  "sales:write",
  "shifts:read",
  "shifts:write",
  "time_punches:read",
  "time_punches:write",
  "events:read",
  "events:write"
])
export type OAuthScope = typeof OAuthScope.Type

/** What identifies an OAuth client. */
export interface OAuthClient {
  /** The `client_id`. */
  readonly clientId: string
  /** The `client_secret`: 4 or more visible ASCII characters, without spaces or line ends around it. */
  readonly clientSecret: Redacted.Redacted
  /** The scopes of the token. Default: `["time_punches:read"]`. `[]` sends none. */
  readonly scopes?: ReadonlyArray<OAuthScope> | undefined
}

/**
 * Requests tokens for `TokenCache.layer`. For a service that issues them in another way, provide your own to that layer, and
 * the cache to `Credentials.layerOAuthNoDeps`.
 */
export class TokenEndpoint extends Context.Service<TokenEndpoint, {
  /**
   * Sends one request for a token; no cache, no retry. In `TokenEndpoint.layer` it takes 10 seconds at most. Its failure is what
   * `TokenCache.get` fails with after the last attempt; the cache sets `attempts`. It sends at most three requests, if the error
   * `isRetryable`, and waits for its `retryAfter` between them. After `InvalidClient` it sends none for 30 seconds, after
   * `Throttled` none until `retryAfter` has passed (at most 5 minutes; without it a minute).
   */
  readonly requestToken: Effect.Effect<IssuedToken, TokenError>
}>()("effect-time-punches/TokenEndpoint") {
  /**
   * `POST {authUrl}/oauth2/token` with the grant `client_credentials`. Fails with a `ConfigError` on an id or a secret
   * that cannot be sent as it is.
   */
  static readonly layer = (
    client: OAuthClient
  ): Layer.Layer<TokenEndpoint, Config.ConfigError, HttpClient.HttpClient | Endpoints> =>
    Layer.effect(TokenEndpoint, make(client))
}

const requestTimeout = Duration.seconds(10)
const codeTimeout = Duration.seconds(5)
const bodyCap = 64 * 1024

const make = Effect.fnUntraced(function*(client: OAuthClient) {
  const { authUrl } = yield* Endpoints
  const propagate = yield* TracePropagation
  const send = secureClient(yield* HttpClient.HttpClient, {
    propagate: () => propagate,
    privateParameters: []
  })
  yield* validateClientId("clientId", client.clientId)
  const secret = yield* validateSecret("clientSecret", "clientSecret", client.clientSecret)
  const scopes = client.scopes ?? ["time_punches:read"]
  const request = HttpClientRequest.post(`${authUrl}/oauth2/token`).pipe(
    HttpClientRequest.acceptJson,
    HttpClientRequest.setHeaders(userAgent()),
    HttpClientRequest.bodyUrlParams({
      grant_type: "client_credentials",
      client_id: client.clientId,
      client_secret: secret,
      scope: scopes.length === 0 ? undefined : scopes.join(" ")
    })
  )
  const { origin } = new URL(authUrl)
  const requestToken = send(request, {
    response: (response) =>
      wasRedirected(request.url, response.url)
        ? Effect.fail(tokenFailure("Rejected", response.status))
        : Effect.mapError(
          readResponse(response, origin),
          (error) => new TokenError({ ...error, requestId: requestIdOf(response.headers, () => [secret]) })
        ),
    error: (error) => noResponse(transportFailureOf(error, "Headers"), origin)
  }).pipe(
    Effect.timeoutOrElse({ duration: requestTimeout, orElse: () => Effect.fail(noResponse(timedOut, origin)) })
  )
  return { requestToken }
})

/** A response without a token. */
const tokenFailure = (
  reason: TokenError["reason"],
  status: number,
  more: { readonly code?: Option.Option<string>; readonly retryAfter?: Option.Option<Duration.Duration> } = {}
): TokenError => new TokenError({ reason, status: Option.some(status), ...more, attempts: 1 })

/** No whole response arrived from the endpoint at this origin. */
const noResponse = ({ code, reason }: TransportFailure, origin: string): TokenError =>
  new TokenError({ reason: "Transport", transport: Option.some({ reason, code, origin }), attempts: 1 })

const readResponse = (
  response: HttpClientResponse.HttpClientResponse,
  origin: string
): Effect.Effect<IssuedToken, TokenError> =>
  statusOf(response.status) === "ok"
    ? readToken(response, origin)
    : Effect.flatMap(statusFailure(response), Effect.fail)

const readToken = Effect.fnUntraced(function*(response: HttpClientResponse.HttpClientResponse, origin: string) {
  const body = yield* Effect.mapError(
    readBytes(response, bodyCap),
    (error) =>
      error === tooLarge
        ? tokenFailure("Malformed", response.status)
        : noResponse(transportFailureOf(error, "Body"), origin)
  )
  const { type } = contentType(response)
  const json = type === "" || isJson(type) ? Result.getOrUndefined(parseJson(body)) : undefined
  const issued = toIssued(json)
  if (Option.isSome(issued)) return issued.value
  // Some endpoints refuse with a 200.
  const code = codeOf(json)
  return yield* (code === undefined
    ? tokenFailure("Malformed", response.status)
    : tokenFailure(reasons[code], response.status, { code: Option.some(code) }))
})

/**
 * What the error codes of a token endpoint mean: those of RFC 6749, 5.2, and two others that services send. A client without
 * the right to this grant is refused whatever it requests; a scope is a matter of the request. `server_error` and
 * `temporarily_unavailable` are left out: they say no more than the status.
 */
const reasons = {
  invalid_client: "InvalidClient",
  invalid_credentials: "InvalidClient",
  unauthorized_client: "InvalidClient",
  invalid_request: "Rejected",
  invalid_grant: "Rejected",
  unsupported_grant_type: "Rejected",
  invalid_scope: "Rejected",
  access_denied: "Rejected"
} as const

const isErrorCode = (code: unknown): code is keyof typeof reasons =>
  Predicate.isString(code) && Object.hasOwn(reasons, code)

/** The `error` of a body, if it is known. */
const codeOf = (body: unknown) =>
  Predicate.hasProperty(body, "error") && isErrorCode(body.error) ? body.error : undefined

/**
 * What a response without a token means. The code of its body goes before its status: some services refuse a client with a 500.
 * A 429 is always a 429. A 5xx of `invalid_request` may be of what stands in front, and our request is always the same.
 */
const statusFailure = Effect.fnUntraced(function*(response: HttpClientResponse.HttpClientResponse) {
  const { status } = response
  const kind = statusOf(status)
  if (kind === "throttled") {
    return tokenFailure("Throttled", status, { retryAfter: yield* retryAfterOf(response) })
  }
  const code = yield* errorCode(response)
  if (code !== undefined && !(code === "invalid_request" && status >= usualStatus.serverError)) {
    return tokenFailure(reasons[code], status, { code: Option.some(code) })
  }
  return tokenFailure(reasonOf(status), status, { retryAfter: yield* retryAfterOf(response) })
})

/** What a status means by itself. No status from 500 on says anything of the client. */
const reasonOf = (status: number): TokenError["reason"] => {
  const kind = statusOf(status)
  if (kind === "unauthorized") return "InvalidClient"
  return kind === "unavailable" || status >= usualStatus.serverError ? "Transport" : "Rejected"
}

/**
 * The known `error` of a body that is JSON, if it arrives whole and in time: the status is known and must not wait for it. A body
 * of another type is not of the token endpoint.
 */
const errorCode = (response: HttpClientResponse.HttpClientResponse) => {
  const { type } = contentType(response)
  if (type !== "" && !isJson(type)) return Effect.undefined
  return readBytes(response, bodyCap).pipe(
    Effect.map((bytes) => codeOf(Result.getOrUndefined(parseJson(bytes)))),
    Effect.timeout(codeTimeout),
    Effect.orElseSucceed(() => undefined)
  )
}

/** Reads a token leniently, as far as that is safe: any case of the scheme; a missing lifetime, a text or a fraction. */
const toIssued = (body: unknown): Option.Option<IssuedToken> => {
  if (!Predicate.hasProperty(body, "access_token") || !Predicate.isString(body.access_token)) return Option.none()
  if (!Predicate.hasProperty(body, "token_type") || !Predicate.isString(body.token_type)) return Option.none()
  const token = Redacted.make(body.access_token)
  if (body.token_type.toLowerCase() !== "bearer" || !isSendable("bearer", token)) return Option.none()
  return Option.map(
    lifetimeOf(Predicate.hasProperty(body, "expires_in") ? body.expires_in : undefined),
    (lifetime) => ({ token, lifetime })
  )
}

const unknownLifetime = 300
const longestLifetime = 24 * 3600

const lifetimeOf = (expiresIn: unknown): Option.Option<Duration.Duration> => {
  if (expiresIn === undefined || expiresIn === null) return Option.some(Duration.seconds(unknownLifetime))
  const seconds = Predicate.isString(expiresIn) && /^\s*-?\d+(\.\d+)?\s*$/.test(expiresIn)
    ? Number(expiresIn)
    : expiresIn
  return Predicate.isNumber(seconds) && !Number.isNaN(seconds)
    ? Option.some(Duration.seconds(Math.min(Math.max(Math.floor(seconds), 0), longestLifetime)))
    : Option.none()
}
