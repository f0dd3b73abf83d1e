/** How a request is signed (spec 5): three kinds of credential behind one service, so that the program does not change. */
import * as Config from "effect/Config"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { InvalidRequest, type TokenError } from "./ApiError.ts"
import { type Company, CompanySchema } from "./Company.ts"
import type { Endpoints } from "./Endpoints.ts"
import type { CompanyId } from "./Ids.ts"
import { invalidSetting } from "./internal/base/setting.ts"
import { cookieHeader, isSendable, validateSecret } from "./internal/http/secret.ts"
import { OAuthScope } from "./OAuthScope.ts"
import { TokenCache } from "./TokenCache.ts"
import { type OAuthClient, TokenEndpoint } from "./TokenEndpoint.ts"

/**
 * A signed request. `onUnauthorized` is run when the service answers 401, and says whether a fresh credential is worth one
 * more try. `secrets` are scrubbed from what the service says, beside those in the request's own headers.
 *
 * @since 0.1.0
 */
export interface Signed {
  readonly request: HttpClientRequest.HttpClientRequest
  readonly onUnauthorized: Effect.Effect<boolean>
  readonly secrets?: ReadonlyArray<Redacted.Redacted> | undefined
}

/**
 * Signs each request. The three layers here are those of the interface; provide your own for anything else.
 *
 * @since 0.1.0
 */
export class Credentials extends Context.Service<Credentials, {
  readonly sign: (
    request: HttpClientRequest.HttpClientRequest,
    company: Company
  ) => Effect.Effect<Signed, TokenError | InvalidRequest>
}>()("effect-time-punches/Credentials") {
  /**
   * One long-lived access token for one company (spec 5.2). Sends no guid, even when given one. Fails with a
   * `ConfigError` on a token that a header cannot carry.
   *
   * @since 0.1.0
   */
  static readonly layerAccessToken = (
    token: Redacted.Redacted
  ): Layer.Layer<Credentials, Config.ConfigError> => accessTokenLayer("accessToken", token)

  /**
   * An access token for each company, looked up at each request, so that a replaced one is seen at once.
   *
   * @since 0.1.0
   */
  static readonly layerAccessTokens = <R = never>(
    tokenOf: (company: CompanyId) => Effect.Effect<Redacted.Redacted, TokenError | InvalidRequest, R>
  ): Layer.Layer<Credentials, never, R> =>
    Layer.effect(
      Credentials,
      Effect.map(Effect.context<R>(), (context) => ({
        sign: (request, company) =>
          Effect.flatMap(Effect.provideContext(tokenOf(company.id), context), (token) =>
            isSendable("accessToken", token)
              ? Effect.succeed(bearer(request, token))
              : Effect.fail(
                new InvalidRequest({
                  companyId: company.id,
                  field: "accessToken",
                  detail: "must be visible ASCII characters without spaces"
                })
              ))
      }))
    )

  /**
   * The session cookie (spec 5.4), `svcsession` unless named otherwise. Sends neither `Authorization` nor guid.
   *
   * @since 0.1.0
   */
  static readonly layerSessionCookie = (
    cookie: Redacted.Redacted,
    options: { readonly name?: string | undefined } = {}
  ): Layer.Layer<Credentials, Config.ConfigError> => sessionCookieLayer("sessionCookie", cookie, options.name)

  /**
   * An OAuth client (spec 5.3), with its own token cache. Every request carries a guid: `Company.guid`, or that of
   * `company` for that very id; without one the call fails before anything is sent. A guid never crosses companies.
   *
   * @since 0.1.0
   */
  static readonly layerOAuth = (
    options: OAuthClient & { readonly company?: Company | undefined }
  ): Layer.Layer<Credentials, Config.ConfigError, HttpClient.HttpClient | Endpoints> =>
    Layer.effect(Credentials, makeOAuth(options)).pipe(
      Layer.provide(TokenCache.layer),
      Layer.provide(TokenEndpoint.layer(options))
    )

  /**
   * Reads one of `TIME_PUNCHES_ACCESS_TOKEN`, `TIME_PUNCHES_CLIENT_ID` with `TIME_PUNCHES_CLIENT_SECRET`, and
   * `TIME_PUNCHES_SESSION_COOKIE`. A client may also have `TIME_PUNCHES_SCOPES` (space-separated) and
   * `TIME_PUNCHES_COMPANY_ID` with `TIME_PUNCHES_COMPANY_GUID`.
   *
   * @since 0.1.0
   */
  static get layerFromConfig(): Layer.Layer<Credentials, Config.ConfigError, HttpClient.HttpClient | Endpoints> {
    return configLayer
  }
}

const bearer = (request: HttpClientRequest.HttpClientRequest, token: Redacted.Redacted): Signed => ({
  request: HttpClientRequest.bearerToken(request, token),
  onUnauthorized: Effect.succeed(false)
})

const accessTokenLayer = (name: string, token: Redacted.Redacted) =>
  Layer.effect(
    Credentials,
    Effect.map(validateSecret(name, "accessToken", token), (checked) => ({
      sign: (request) => Effect.succeed(bearer(request, checked))
    }))
  )

/** A token of RFC 6265, which is what a cookie may be called. */
const cookieName = /^[!#$%&'*+\-.^`|~\w]+$/

const sessionCookieLayer = (setting: string, cookie: Redacted.Redacted, name = "svcsession") =>
  Layer.effect(
    Credentials,
    Effect.gen(function*() {
      if (!cookieName.test(name)) return yield* invalidSetting("name", "the name of a cookie")
      const header = cookieHeader(name, yield* validateSecret(setting, "sessionCookie", cookie))
      return {
        sign: (request) =>
          Effect.succeed({
            request: HttpClientRequest.setHeader(request, "cookie", header),
            onUnauthorized: Effect.succeed(false),
            secrets: [cookie]
          })
      }
    })
  )

const decodeCompany = Schema.decodeUnknownOption(CompanySchema)

const makeOAuth = Effect.fnUntraced(function*(options: OAuthClient & { readonly company?: Company | undefined }) {
  const cache = yield* TokenCache
  const { clientSecret, company: own } = options
  if (own !== undefined && (Option.isNone(decodeCompany(own)) || own.guid === undefined)) {
    return yield* invalidSetting("company", "a company id with its guid")
  }
  return Credentials.of({
    sign: (request, company) => {
      const guid = company.guid ?? (own?.id === company.id ? own.guid : undefined)
      if (guid === undefined) return Effect.fail(withoutGuid(company.id))
      return Effect.map(cache.get, (used) => ({
        request: HttpClientRequest.setHeader(
          HttpClientRequest.bearerToken(request, used.token),
          "x-company-guid",
          guid
        ),
        onUnauthorized: Effect.as(cache.invalidate(used), true),
        secrets: [clientSecret, Redacted.make(guid)]
      }))
    }
  })
})

const withoutGuid = (companyId: CompanyId) =>
  new InvalidRequest({
    companyId,
    field: "company.guid",
    detail: "is required for an OAuth client: give the guid of this very company"
  })

const variable = {
  accessToken: "TIME_PUNCHES_ACCESS_TOKEN",
  clientId: "TIME_PUNCHES_CLIENT_ID",
  clientSecret: "TIME_PUNCHES_CLIENT_SECRET",
  scopes: "TIME_PUNCHES_SCOPES",
  companyId: "TIME_PUNCHES_COMPANY_ID",
  companyGuid: "TIME_PUNCHES_COMPANY_GUID",
  sessionCookie: "TIME_PUNCHES_SESSION_COOKIE"
} as const

const isScope = Schema.is(OAuthScope)

const configLayer = Layer.unwrap(Effect.gen(function*() {
  const accessToken = yield* Config.option(Config.Redacted(variable.accessToken))
  const clientId = yield* Config.option(Config.NonEmptyString(variable.clientId))
  const clientSecret = yield* Config.option(Config.Redacted(variable.clientSecret))
  const sessionCookie = yield* Config.option(Config.Redacted(variable.sessionCookie))
  const given = [
    ...(Option.isSome(accessToken) ? [variable.accessToken] : []),
    ...(Option.isSome(clientId)
      ? [variable.clientId]
      : Option.isSome(clientSecret)
      ? [variable.clientSecret]
      : []),
    ...(Option.isSome(sessionCookie) ? [variable.sessionCookie] : [])
  ]
  if (given.length > 1) return yield* invalidSetting(given.join(" and "), "one kind of credential, not several")
  if (Option.isSome(accessToken)) return accessTokenLayer(variable.accessToken, accessToken.value)
  if (Option.isSome(sessionCookie)) return sessionCookieLayer(variable.sessionCookie, sessionCookie.value)
  if (Option.isNone(clientId) && Option.isNone(clientSecret)) {
    return yield* invalidSetting(
      `one of ${variable.accessToken}, ${variable.clientId} with ${variable.clientSecret}, ${variable.sessionCookie}`,
      "set"
    )
  }
  if (Option.isNone(clientId)) return yield* invalidSetting(variable.clientId, `set beside ${variable.clientSecret}`)
  if (Option.isNone(clientSecret))
    return yield* invalidSetting(variable.clientSecret, `set beside ${variable.clientId}`)
  yield* validateSecret(variable.clientId, "clientSecret", Redacted.make(clientId.value))
  return Credentials.layerOAuth({
    clientId: clientId.value,
    clientSecret: yield* validateSecret(variable.clientSecret, "clientSecret", clientSecret.value),
    scopes: yield* configScopes,
    company: yield* configCompany
  })
}))

const configScopes = Effect.gen(function*() {
  const text = yield* Config.option(Config.NonEmptyString(variable.scopes))
  if (Option.isNone(text)) return undefined
  const scopes = text.value.trim().split(/\s+/)
  return scopes.every(isScope) ? scopes : yield* invalidSetting(variable.scopes, "names of scopes, separated by spaces")
})

const configCompany = Effect.gen(function*() {
  const id = yield* Config.option(Config.NonEmptyString(variable.companyId))
  const guid = yield* Config.option(Config.NonEmptyString(variable.companyGuid))
  if (Option.isNone(id) && Option.isNone(guid)) return undefined
  if (Option.isNone(guid)) return yield* invalidSetting(variable.companyGuid, `set beside ${variable.companyId}`)
  if (Option.isNone(id)) return yield* invalidSetting(variable.companyId, `set beside ${variable.companyGuid}`)
  const company = decodeCompany({ id: /^\d+$/.test(id.value) ? Number(id.value) : undefined, guid: guid.value })
  return Option.isSome(company)
    ? company.value
    : yield* invalidSetting(`${variable.companyId} and ${variable.companyGuid}`, "an id and a uuid")
})
