/** `POST {auth_url}/oauth2/token` (spec 4.2), and nothing else: no cache, no retry. */
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
import { TokenError } from "./ApiError.ts"
import { Endpoints } from "./Endpoints.ts"
import { contentType, isJson, parseJson, readBytes, tooLarge } from "./internal/http/body.ts"
import { secureClient, wasRedirected } from "./internal/http/client.ts"
import { retryAfterOf } from "./internal/http/problem.ts"
import { isSendable, validateSecret } from "./internal/http/secret.ts"
import { statusOf } from "./internal/http/status.ts"
import { transportFailureOf } from "./internal/http/transportFailure.ts"
import type { Retry } from "./internal/resilience/retry.ts"
import type { OAuthScope } from "./OAuthScope.ts"
import { TracePropagation } from "./TracePropagation.ts"

/** A token as the service issued it, and how long it says that it lives. @since 0.1.0 */
export interface IssuedToken {
  readonly token: Redacted.Redacted
  readonly lifetime: Duration.Duration
}

/** Why no token was issued, and whether asking again may help. @since 0.1.0 */
export interface TokenFailure {
  readonly error: TokenError
  readonly retry: Retry | undefined
}

/** What identifies an OAuth client (spec 5.3). `scopes` defaults to `["time_punches:read"]`; `[]` sends none. @since 0.1.0 */
export interface OAuthClient {
  readonly clientId: string
  readonly clientSecret: Redacted.Redacted
  readonly scopes?: ReadonlyArray<OAuthScope> | undefined
}

/**
 * Asks for a token. Each run of `issue` is one request, of ten seconds at most.
 *
 * @since 0.1.0
 */
export class TokenEndpoint extends Context.Service<TokenEndpoint, {
  readonly issue: Effect.Effect<IssuedToken, TokenFailure>
}>()("effect-time-punches/TokenEndpoint") {
  /** For one OAuth client. Fails with a `ConfigError` on an id or secret that cannot be sent as it is. @since 0.1.0 */
  static readonly layer = (
    client: OAuthClient
  ): Layer.Layer<TokenEndpoint, Config.ConfigError, HttpClient.HttpClient | Endpoints> =>
    Layer.effect(TokenEndpoint, make(client))
}

const timeout = Duration.seconds(10)
const codeTimeout = Duration.seconds(5)
const bodyCap = 64 * 1024

const make = Effect.fnUntraced(function*(client: OAuthClient) {
  const { authUrl } = yield* Endpoints
  const send = secureClient(yield* HttpClient.HttpClient, {
    propagate: yield* TracePropagation,
    privateParameters: []
  })
  yield* validateSecret("clientId", "clientSecret", Redacted.make(client.clientId))
  const secret = yield* validateSecret("clientSecret", "clientSecret", client.clientSecret)
  const scopes = client.scopes ?? ["time_punches:read"]
  const request = HttpClientRequest.post(`${authUrl}/oauth2/token`).pipe(
    HttpClientRequest.acceptJson,
    HttpClientRequest.bodyUrlParams({
      grant_type: "client_credentials",
      client_id: client.clientId,
      client_secret: secret,
      scope: scopes.length === 0 ? undefined : scopes.join(" ")
    })
  )
  const issue = send(request, {
    response: (response) =>
      wasRedirected(request.url, response.url) ? Effect.fail(failed("Rejected", response.status)) : read(response),
    error: (error) => unreached(transportFailureOf(error, "headers").retry)
  }).pipe(
    Effect.timeoutOrElse({ duration: timeout, orElse: () => Effect.fail(unreached(again)) })
  )
  return { issue }
})

const again: Retry = { kind: "token", limit: Infinity, throttled: false, retryAfter: Option.none() }

const failed = (reason: TokenError["reason"], status: number, retry?: Retry): TokenFailure => ({
  error: new TokenError({ reason, status: Option.some(status) }),
  retry
})

const unreached = (retry: Retry | undefined): TokenFailure => ({
  error: new TokenError({ reason: "Transport" }),
  retry
})

const read = (response: HttpClientResponse.HttpClientResponse): Effect.Effect<IssuedToken, TokenFailure> =>
  statusOf(response.status) === "ok" ? readToken(response) : Effect.flatMap(refusal(response), Effect.fail)

const readToken = Effect.fnUntraced(function*(response: HttpClientResponse.HttpClientResponse) {
  const body = yield* Effect.mapError(
    readBytes(response, bodyCap),
    (error) =>
      error === tooLarge ? failed("Malformed", response.status) : unreached(transportFailureOf(error, "body").retry)
  )
  const { type } = contentType(response)
  const issued = type === "" || isJson(type) ? toIssued(Result.getOrUndefined(parseJson(body))) : Option.none()
  return Option.isSome(issued) ? issued.value : yield* Effect.fail(failed("Malformed", response.status))
})

/** The codes by which the token endpoint says that it will not serve this client, however often it asks (RFC 6749, 5.2). */
const clientErrors: ReadonlyArray<unknown> = ["invalid_client", "unauthorized_client", "invalid_scope"]

/** What the status means; the body is only read where it can add to that. */
const refusal = Effect.fnUntraced(function*(response: HttpClientResponse.HttpClientResponse) {
  const { status } = response
  switch (statusOf(status)) {
    case "throttled":
      return failed("Throttled", status, { ...again, throttled: true, retryAfter: yield* retryAfterOf(response) })
    case "serverError":
    case "unavailable":
      return failed("Transport", status, { ...again, retryAfter: yield* retryAfterOf(response) })
    case "unauthorized":
      return failed("InvalidClient", status)
    default:
      return failed(clientErrors.includes(yield* errorCode(response)) ? "InvalidClient" : "Rejected", status)
  }
})

/** The code of a refusal, if it comes whole and soon: the status is known and must not be lost in waiting for it. */
const errorCode = (response: HttpClientResponse.HttpClientResponse): Effect.Effect<unknown> =>
  readBytes(response, bodyCap).pipe(
    Effect.map((bytes) => {
      const body = Result.getOrUndefined(parseJson(bytes))
      return Predicate.hasProperty(body, "error") ? body.error : undefined
    }),
    Effect.timeout(codeTimeout),
    Effect.orElseSucceed(() => undefined)
  )

/** Reads a token leniently where that is safe: the scheme in any case, the lifetime missing, as text or with a fraction. */
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
