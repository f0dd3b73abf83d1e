/** Credentials: refuses a listing with 401, 403 or 422, and issues tokens at `POST /oauth2/token`. */
import { type FakeRequest, type FakeResponse, problem, respondJson, type TokenBody } from "../base/message.ts"
import { type FakeCompany, type FakeOAuthClient, knownScopes, sessionCookieName, type Settings } from "./options.ts"
import { decodeQuery, isRefusal } from "./query.ts"

const unauthorized = problem(401, { detail: "The credentials are missing, wrong or expired.", code: 1001 })

const forbidden = (code: number, detail: string) => problem(403, { detail, code })

const guidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

const badGuid = (detail: string) => problem(422, { detail, code: 2001, param: "x-company-guid" })

const cookieOf = (request: FakeRequest) => {
  for (const part of (request.headers["cookie"] ?? "").split(";")) {
    const [name, ...value] = part.trim().split("=")
    if (name === sessionCookieName) return value.join("=")
  }
  return undefined
}

/** Checks whether the sender may list a company; the response is the refusal. */
type Principal = (companyId: number) => FakeResponse | undefined

const ofCompany = (company: FakeCompany): Principal => (companyId) =>
  company.id === companyId ? undefined : forbidden(1103, "The access token belongs to another company.")

/** The companies by each of their keys: a service of thousands looks one up at every request. */
const directoryOf = (companies: ReadonlyArray<FakeCompany>) => ({
  byToken: new Map(companies.map((company) => [company.accessToken, company])),
  byGuid: new Map(companies.map((company) => [company.guid.toLowerCase(), company])),
  ids: new Set(companies.map(({ id }) => id))
})

/** The sender of a request, or the response to unknown credentials. */
const authenticate = (
  settings: Settings,
  { byGuid, byToken }: ReturnType<typeof directoryOf>,
  tokenIssuer: TokenIssuer,
  request: FakeRequest,
  now: number
): Principal | FakeResponse => {
  const header = request.headers["authorization"]
  if (header === undefined) {
    const cookie = cookieOf(request)
    const session = settings.sessions.find((known) => known.cookie === cookie)
    if (session === undefined) return unauthorized
    return (companyId) =>
      session.companyIds?.includes(companyId) === false
        ? forbidden(1104, "The session does not belong to the company.")
        : undefined
  }
  const token = /^Bearer ([^\s]+)$/i.exec(header)?.[1]
  if (token === undefined) return unauthorized
  // Spec 5.2, rule 8: access tokens ignore `x-company-guid`.
  const company = byToken.get(token)
  if (company !== undefined) return ofCompany(company)
  const issued = tokenIssuer.find(token, now)
  if (issued === undefined) return unauthorized
  const guid = request.headers["x-company-guid"]?.toLowerCase()
  return (companyId) => {
    if (issued.scopes?.includes("time_punches:read") === false) {
      return forbidden(1101, "The token lacks the scope time_punches:read.")
    }
    if (guid === undefined) return badGuid("The header x-company-guid is required with an OAuth token.")
    if (!guidPattern.test(guid)) return badGuid("The header x-company-guid is not a uuid.")
    const named = byGuid.get(guid)
    const granted = issued.client.grantedGuids?.some((known) => known.toLowerCase() === guid) ?? true
    if (named === undefined || !granted) return forbidden(1102, "The company has not granted the client access.")
    return named.id === companyId ? undefined : forbidden(1105, "The guid belongs to another company than the path.")
  }
}

/** The refusal of a listing request; `undefined` when its sender may list the company. */
type Authorize = (request: FakeRequest, companyId: number | undefined, now: number) => FakeResponse | undefined

export const makeAuthorize = (settings: Settings, tokenIssuer: TokenIssuer): Authorize => {
  const directory = directoryOf(settings.companies)
  return (request, companyId, now) => {
    const principal = authenticate(settings, directory, tokenIssuer, request, now)
    if (typeof principal !== "function") return principal
    const version = settings.ignores.includes("x-api-version") ? undefined : request.headers["x-api-version"]
    if (version !== undefined && !/^\d{4}-\d{2}-\d{2}$/.test(version)) {
      return problem(422, { detail: "The version is not a date.", code: 2002, param: "x-api-version" })
    }
    if (version !== undefined && settings.apiVersions?.includes(version) === false) {
      return problem(422, { detail: "The version is not served.", code: 2003, param: "x-api-version" })
    }
    if (companyId === undefined) {
      return problem(422, { detail: "The company id is not an integer.", code: 2004, param: "company_id" })
    }
    const refused = principal(companyId)
    if (refused !== undefined) return refused
    if (!directory.ids.has(companyId)) return forbidden(1106, "Unknown company.")
    return settings.planOk ? undefined : forbidden(1107, "The plan of the company does not cover time punches.")
  }
}

/** What the service stores of a token. */
export interface IssuedToken {
  readonly client: FakeOAuthClient
  /** Requested scopes; `undefined` grants all of them. */
  readonly scopes: ReadonlyArray<string> | undefined
  /** End of its life, exclusive, in milliseconds since 1970. */
  readonly expiresAt: number
}

const refuse = (status: number, error: string, description: string) =>
  respondJson(status, JSON.stringify({ error, error_description: description }))

const base64Url = (text: string) => btoa(text).replaceAll("=", "").replaceAll("+", "-").replaceAll("/", "_")

/** Text in the form of a JWT, unsigned. The serial number makes it unique. */
const jwtLike = (serial: number, client: FakeOAuthClient, expiresAt: number) =>
  [
    base64Url(JSON.stringify({ alg: "RS256", typ: "JWT" })),
    base64Url(
      JSON.stringify({ jti: serial, sub: encodeURIComponent(client.clientId), exp: Math.floor(expiresAt / 1000) })
    ),
    base64Url(`unsigned-${String(serial).padStart(24, "0")}`)
  ].join(".")

const isForm = (request: FakeRequest) =>
  /^application\/x-www-form-urlencoded\s*(;|$)/i.test(request.headers["content-type"] ?? "")

/** The token endpoint and its tokens. */
export type TokenIssuer = ReturnType<typeof makeTokenIssuer>

/** An issuer without tokens. */
export const makeTokenIssuer = (settings: Settings) => {
  const tokens = new Map<string, IssuedToken>()
  let serial = 0

  const issue = (client: FakeOAuthClient, scopes: ReadonlyArray<string> | undefined, now: number): TokenBody => {
    serial += 1
    const expiresAt = now + settings.tokenLifetime
    const token = jwtLike(serial, client, expiresAt)
    tokens.set(token, { client, scopes, expiresAt })
    return { token_type: "Bearer", expires_in: Math.floor(settings.tokenLifetime / 1000), access_token: token }
  }

  return {
    /** Responds to a request of the endpoint; `write` turns the body of a success into its response. */
    respond: (request: FakeRequest, now: number, write: (body: TokenBody) => FakeResponse): FakeResponse => {
      if (request.method !== "POST") return refuse(405, "invalid_request", "The method must be POST.")
      if (!isForm(request)) return refuse(415, "invalid_request", "The body must be application/x-www-form-urlencoded.")
      const pairs = decodeQuery(request.body)
      if (isRefusal(pairs)) return refuse(400, "invalid_request", pairs.detail)
      const form = new Map(pairs)
      const grantType = form.get("grant_type")
      if (grantType === undefined) return refuse(400, "invalid_request", "The field grant_type is missing.")
      if (grantType !== "client_credentials") {
        return refuse(400, "unsupported_grant_type", "The only grant type is client_credentials.")
      }
      const client = settings.oauthClients.find((known) =>
        known.clientId === form.get("client_id") && known.clientSecret === form.get("client_secret")
      )
      if (client === undefined) return refuse(401, "invalid_client", "Unknown client.")
      const scopes = form.get("scope")?.split(" ").filter((scope) => scope !== "")
      const unknown = scopes?.find((scope) => !knownScopes.includes(scope))
      if (unknown !== undefined) return refuse(400, "invalid_scope", "Unknown scope.")
      return write(issue(client, scopes?.length === 0 ? undefined : scopes, now))
    },
    /** An issued token that is neither revoked nor expired. */
    find: (token: string, now: number): IssuedToken | undefined => {
      const found = tokens.get(token)
      return found !== undefined && now < found.expiresAt ? found : undefined
    },
    /** Number of issued tokens, revoked ones included. */
    issued: () => serial,
    revokeAll: () => tokens.clear()
  }
}
