/** How a request is signed: three kinds of credential behind one service, so that a program does not depend on one. */
import * as Config from "effect/Config"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Struct from "effect/Struct"
import { InvalidRequest, TokenError } from "./ApiError.ts"
import { Company, type CompanyWithGuid } from "./Company.ts"
import type { Endpoints } from "./Endpoints.ts"
import { CompanyGuid, CompanyId } from "./Ids.ts"
import { cookieHeader, isSendable, unsendable, validateClientId, validateSecret } from "./internal/http/secret.ts"
import { invalidSetting } from "./internal/setting/setting.ts"
import { unknownKey } from "./internal/text/meant.ts"
import { credentialVariables } from "./internal/wire/names.ts"
import { type CachedToken, TokenCache } from "./TokenCache.ts"
import { type OAuthClient, OAuthScope, TokenEndpoint } from "./TokenEndpoint.ts"

/** A signed request. */
export interface SignedRequest {
  /** The request with its credential. */
  readonly request: HttpClientRequest.HttpClientRequest
  /**
   * Runs when the service answers 401. `true` if a fresh credential is worth one more attempt: the request is then
   * signed again and sent once more, once a page.
   */
  readonly onUnauthorized: Effect.Effect<boolean>
  /**
   * Scrubbed from the problem bodies of the service, in addition to the secrets in the `Authorization` and `Cookie`
   * headers of the request; none by default. A secret of fewer than 4 characters is not scrubbed: words contain it by
   * chance.
   */
  readonly secrets?: ReadonlyArray<Redacted.Redacted> | undefined
}

const isSigningError = Schema.is(Schema.Union([TokenError, InvalidRequest]))

/** Our own errors as they are. Nothing is kept of another one: it may quote the token. */
const lookupFailure = (error: unknown): TokenError | InvalidRequest =>
  isSigningError(error) ? error : new TokenError({ reason: "Lookup" })

const bearer = (request: HttpClientRequest.HttpClientRequest, token: Redacted.Redacted): SignedRequest => ({
  request: HttpClientRequest.bearerToken(request, token),
  onUnauthorized: Effect.succeed(false)
})

const accessTokenLayer = (setting: string, token: Redacted.Redacted) =>
  Layer.effect(
    Credentials,
    Effect.map(validateSecret(setting, "accessToken", token), (token) => ({
      sign: ({ request }) => Effect.succeed(bearer(request, token))
    }))
  )

/** The names that RFC 6265 allows for a cookie. */
const cookieName = /^[!#$%&'*+\-.^`|~\w]+$/

const sessionCookieLayer = (setting: string, cookie: Redacted.Redacted, name = "svcsession") =>
  Layer.effect(
    Credentials,
    Effect.gen(function*() {
      if (!cookieName.test(name)) return yield* invalidSetting("name", "the name of a cookie")
      const header = cookieHeader(name, yield* validateSecret(setting, "sessionCookie", cookie))
      return {
        sign: ({ request }) =>
          Effect.succeed({
            request: HttpClientRequest.setHeader(request, "cookie", header),
            onUnauthorized: Effect.succeed(false),
            secrets: [cookie]
          })
      }
    })
  )

const hasGuid = Schema.is(Schema.Struct({ id: CompanyId, guid: CompanyGuid }))

const makeOAuth = Effect.fnUntraced(function*({ clientSecret, company: known }: OAuthSigning) {
  const cache = yield* TokenCache
  if (known !== undefined && !hasGuid(known)) {
    return yield* invalidSetting("company", "a company id with its guid")
  }
  const signWith = (
    request: HttpClientRequest.HttpClientRequest,
    guid: CompanyGuid,
    used: CachedToken
  ): SignedRequest => ({
    request: HttpClientRequest.setHeader(HttpClientRequest.bearerToken(request, used.token), "x-company-guid", guid),
    onUnauthorized: Effect.as(cache.invalidate(used), true),
    secrets: clientSecret === undefined ? [Redacted.make(guid)] : [clientSecret, Redacted.make(guid)]
  })
  return Credentials.of({
    sign: ({ company, request }) => {
      const guid = company.guid ?? (known?.id === company.id ? known.guid : undefined)
      if (guid === undefined) return Effect.fail(missingGuid(company.id))
      return Effect.flatMap(cache.get, (used) =>
        isSendable("accessToken", used.token)
          ? Effect.succeed(signWith(request, guid, used))
          : Effect.fail(unsendableToken(company.id, used.token)))
    }
  })
})

const unsendableToken = (companyId: CompanyId, token: Redacted.Redacted) =>
  new InvalidRequest({ companyId, field: "accessToken", detail: unsendable(token) })

const missingGuid = (companyId: CompanyId) =>
  new InvalidRequest({
    companyId,
    field: "company.guid",
    detail: "is required for an OAuth client: give { id, guid }, as Company.config does with TIME_PUNCHES_COMPANY_GUID"
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

type FromConfig = Layer.Layer<Credentials, Config.ConfigError, HttpClient.HttpClient | Endpoints>

/** What the variables of each kind of credential make when all of them are set. */
const kinds: Readonly<Record<keyof typeof credentialVariables, Effect.Effect<FromConfig, Config.ConfigError>>> = {
  accessToken: Effect.map(
    Config.Redacted(variable.accessToken),
    (token) => accessTokenLayer(variable.accessToken, token)
  ),
  oauth: Effect.gen(function*() {
    const clientId = yield* Config.NonEmptyString(variable.clientId)
    const clientSecret = yield* Config.Redacted(variable.clientSecret)
    yield* validateClientId(variable.clientId, clientId)
    return Credentials.layerOAuth({
      clientId,
      clientSecret: yield* validateSecret(variable.clientSecret, "clientSecret", clientSecret),
      scopes: yield* configScopes,
      company: yield* configCompany
    })
  }),
  sessionCookie: Effect.map(
    Config.Redacted(variable.sessionCookie),
    (cookie) => sessionCookieLayer(variable.sessionCookie, cookie)
  )
}

/** Those of the variables that are set. */
const setAmong = (names: ReadonlyArray<string>) =>
  Effect.filter(names, (name) => Effect.map(Config.option(Config.Redacted(name)), Option.isSome))

/** Whether the variables, which need each other, are set. Fails naming the one that is missing beside another. */
const areSet = Effect.fnUntraced(function*(names: ReadonlyArray<string>) {
  const set = yield* setAmong(names)
  const missing = names.find((name) => !set.includes(name))
  if (set.length > 0 && missing !== undefined) {
    return yield* invalidSetting(missing, `set with ${set.join(" and ")}`)
  }
  return missing === undefined
})

/** Fails naming the variables if no kind is set, several are, or one is set in part. */
const configLayer = Layer.unwrap(Effect.gen(function*() {
  const found = yield* Effect.forEach(
    Struct.keys(credentialVariables),
    (kind) => Effect.map(setAmong(credentialVariables[kind]), (set) => ({ kind, set }))
  )
  const [one, ...others] = found.filter(({ set }) => set.length > 0)
  if (one === undefined) {
    const names = Object.values(credentialVariables).map((names) => names.join(" with "))
    return yield* invalidSetting(`one of ${names.join(", ")}`, "set")
  }
  if (others.length > 0) {
    const firsts = [one, ...others].map(({ set }) => set[0])
    return yield* invalidSetting(firsts.join(" and "), "one kind of credential, not several")
  }
  yield* areSet(credentialVariables[one.kind])
  return yield* kinds[one.kind]
}))

const isScope = Schema.is(OAuthScope)

/** The word that is none. It is repeated only if it is almost a scope: a secret in the wrong variable is not. */
const whichScope = (word: string, place: number): string => {
  const text = unknownKey(word, OAuthScope.literals, "one")
  return text.includes(";") ? `"${word}" ${text}` : `word ${place + 1} ${text}`
}

const configScopes = Effect.gen(function*() {
  const text = yield* Config.option(Config.NonEmptyString(variable.scopes))
  if (Option.isNone(text)) return undefined
  const scopes = text.value.trim().split(/\s+/)
  if (scopes.every(isScope)) return scopes
  const place = scopes.findIndex((scope) => !isScope(scope))
  const which = whichScope(scopes[place] ?? "", place)
  return yield* invalidSetting(variable.scopes, `names of scopes, separated by spaces: ${which}`)
})

const companyNames = [variable.companyId, variable.companyGuid]

const configCompany = Effect.gen(function*() {
  if (!(yield* areSet(companyNames))) return undefined
  const { guid, id } = yield* Company.config
  return guid === undefined ? undefined : { id, guid }
})

/**
 * Signs each request. The layers below are the three kinds of credential of the service; provide your own for anything
 * else.
 */
export class Credentials extends Context.Service<Credentials, {
  /**
   * Puts the credential on a page request for `company`. Runs for every attempt. Its failure is the failure of the
   * page: it is not retried.
   */
  readonly sign: (call: {
    /** The request, without a credential. */
    readonly request: HttpClientRequest.HttpClientRequest
    /** The company whose page it asks for. */
    readonly company: Company
  }) => Effect.Effect<SignedRequest, TokenError | InvalidRequest>
}>()("effect-time-punches/Credentials") {
  /**
   * One long-lived access token for one company. Sends no guid, even when given one. A 401 is `Unauthorized` at once.
   * Fails with a `ConfigError` on a token that a header cannot carry, and on one of fewer than 4 characters.
   *
   * **Example** (A client with an access token from the environment)
   *
   * ```ts
   * import { Config, Effect, Layer } from "effect"
   * import { CompanyId, Credentials, Endpoints, TimePunches } from "effect-time-punches"
   * import { NodeTransport } from "effect-time-punches/node"
   *
   * const credentials = Layer.unwrap(
   *   Effect.map(Config.Redacted("PUNCHES_TOKEN"), (token) => Credentials.layerAccessToken(token))
   * )
   *
   * const client = TimePunches.layer.pipe(
   *   Layer.provide(credentials),
   *   Layer.provide(Endpoints.layer({ baseUrl: "https://punches.example.com" })),
   *   Layer.provide(NodeTransport.layer())
   * )
   *
   * export const firstPage = TimePunches.page(CompanyId.make(4021)).pipe(Effect.provide(client))
   * ```
   */
  static readonly layerAccessToken = (
    token: Redacted.Redacted
  ): Layer.Layer<Credentials, Config.ConfigError> => accessTokenLayer("accessToken", token)

  /**
   * An access token for each company. `tokenOf` runs for every attempt, so that a replaced token takes effect at once,
   * and gets its services from this layer. It may fail with any error: a `TokenError` and an `InvalidRequest` are the
   * failure of the page as they are, any other becomes a `TokenError` with the reason `Lookup`, which keeps nothing of it.
   * A token that a header cannot carry, or of fewer than 4 characters, is an `InvalidRequest`. In each case nothing is
   * sent, and the page is not retried.
   */
  static readonly layerAccessTokens = <E = never, R = never>(
    tokenOf: (company: CompanyId) => Effect.Effect<Redacted.Redacted, E, R>
  ): Layer.Layer<Credentials, never, R> =>
    Layer.effect(
      Credentials,
      Effect.map(Effect.context<R>(), (context) => ({
        sign: ({ company, request }) =>
          Effect.flatMap(Effect.mapError(Effect.provideContext(tokenOf(company.id), context), lookupFailure), (token) =>
            isSendable("accessToken", token)
              ? Effect.succeed(bearer(request, token))
              : Effect.fail(unsendableToken(company.id, token)))
      }))
    )

  /**
   * The session cookie of a person, by default under the name `svcsession`. Sends neither `Authorization` nor a guid. A
   * 401 is `Unauthorized` at once. Fails with a `ConfigError` on a name or a value that a cookie cannot have, and on a
   * value of fewer than 4 characters.
   */
  static readonly layerSessionCookie = (
    cookie: Redacted.Redacted,
    options: {
      /** The name of the cookie; `svcsession` by default. */
      readonly name?: string | undefined
    } = {}
  ): Layer.Layer<Credentials, Config.ConfigError> => sessionCookieLayer("sessionCookie", cookie, options.name)

  /**
   * An OAuth client with its own standard `TokenCache` and `TokenEndpoint`; `layerOAuthNoDeps` takes a given cache. After a
   * 401 a page is sent once more with a new token. Every request carries a guid: `Company.guid`, or the guid of the option
   * `company`, for that id only. Without a guid the call is an `InvalidRequest`, and nothing is sent. Fails with a
   * `ConfigError` on an id, a secret or a company that cannot be sent.
   */
  static readonly layerOAuth = (
    options: OAuthOptions
  ): Layer.Layer<Credentials, Config.ConfigError, HttpClient.HttpClient | Endpoints> =>
    Credentials.layerOAuthNoDeps(options).pipe(
      Layer.provide(TokenCache.layer),
      Layer.provide(TokenEndpoint.layer(options))
    )

  /**
   * As `layerOAuth`, with the tokens of the `TokenCache` that it is provided with: one that several clients share, one
   * over another `TokenEndpoint`, or a fixed token in a test. A token that a header cannot carry, or of fewer than 4 characters,
   * is an `InvalidRequest`, and nothing is sent. Fails with a `ConfigError` on a company that cannot be sent. Clients share a
   * cache that is provided outside of `layerWith`, as here; within its `credentials` each client builds another one.
   *
   * **Example** (A client with a given cache)
   *
   * ```ts
   * import { Layer, Redacted } from "effect"
   * import { Credentials, Endpoints, TimePunches, TokenCache, TokenEndpoint } from "effect-time-punches"
   *
   * const clientSecret = Redacted.make("a client secret")
   * const endpoints = Endpoints.layer({ baseUrl: "https://api.example.com" })
   *
   * export const tokens = TokenCache.layer.pipe(
   *   Layer.provide(TokenEndpoint.layer({ clientId: "a client", clientSecret })),
   *   Layer.provide(endpoints)
   * )
   *
   * export const client = TimePunches.layerWith({
   *   baseUrl: "https://api.example.com",
   *   credentials: Credentials.layerOAuthNoDeps({ clientSecret })
   * }).pipe(Layer.provide(tokens))
   * ```
   */
  static readonly layerOAuthNoDeps = (
    options: OAuthSigning = {}
  ): Layer.Layer<Credentials, Config.ConfigError, TokenCache> => Layer.effect(Credentials, makeOAuth(options))

  /**
   * Reads one of `TIME_PUNCHES_ACCESS_TOKEN`, `TIME_PUNCHES_CLIENT_ID` with `TIME_PUNCHES_CLIENT_SECRET`, and
   * `TIME_PUNCHES_SESSION_COOKIE`. A client may also have `TIME_PUNCHES_SCOPES` (separated by spaces) and
   * `TIME_PUNCHES_COMPANY_ID` with `TIME_PUNCHES_COMPANY_GUID`. Fails with a `ConfigError` that names the variables,
   * and never a value: none, several kinds, half of a pair, or one that cannot be sent. The client is that of
   * `layerOAuth`: it takes no given `TokenCache`.
   */
  static readonly layerFromConfig: Layer.Layer<Credentials, Config.ConfigError, HttpClient.HttpClient | Endpoints> =
    configLayer
}

/** The options of an OAuth client. */
export interface OAuthOptions extends OAuthClient {
  /** The company, with the guid for calls that name its id alone. Default: none. */
  readonly company?: CompanyWithGuid | undefined
}

/** The options of an OAuth client that do not concern its token requests. */
export interface OAuthSigning {
  /** The company, with the guid for calls that name its id alone. Default: none. */
  readonly company?: CompanyWithGuid | undefined
  /** Scrubbed from the problem bodies of the service, although no page request carries it. Default: none is known. */
  readonly clientSecret?: Redacted.Redacted | undefined
}
