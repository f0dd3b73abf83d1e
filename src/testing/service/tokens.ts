/** `POST /oauth2/token` (spec 4.2) and the tokens that it issued. */
import { type FakeRequest, type FakeResponse, respondJson } from "../base/message.ts"
import { type FakeOAuthClient, knownScopes } from "./accounts.ts"
import { decodeQuery, isRefusal } from "./listQuery.ts"
import type { Settings } from "./options.ts"

/** What the service remembers of a token. */
export interface IssuedToken {
  readonly client: FakeOAuthClient
  /** Undefined: none were asked for, so it has all. */
  readonly scopes: ReadonlyArray<string> | undefined
  /** Milliseconds since 1970; the token is good before it. */
  readonly expiresAt: number
}

/** The members of a token response, in its order. */
export interface TokenBody {
  readonly token_type: string
  readonly expires_in: number
  readonly access_token: string
}

/** The token endpoint and its memory. */
export interface TokenDesk {
  /** Answers a request to the endpoint; a success is handed to `write` before it becomes a response. */
  readonly answer: (request: FakeRequest, now: number, write: (body: TokenBody) => FakeResponse) => FakeResponse
  /** The token, if it was issued, was not revoked and has not expired. */
  readonly find: (token: string, now: number) => IssuedToken | undefined
  /** How many were issued, revoked ones too. */
  readonly issued: () => number
  readonly revokeAll: () => void
}

/** A success as the spec has it. */
export const writeToken = (body: TokenBody): FakeResponse => ({
  ...respondJson(200, JSON.stringify(body)),
  headers: { "content-type": "application/json", "cache-control": "no-store" }
})

const refuse = (status: number, error: string, description: string) =>
  respondJson(status, JSON.stringify({ error, error_description: description }))

const base64Url = (text: string) => btoa(text).replaceAll("=", "").replaceAll("+", "-").replaceAll("/", "_")

/** Looks like a JWT and is signed by nobody. The serial number makes each one unique. */
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

/** A desk that has issued nothing yet. */
export const makeTokenDesk = (settings: Settings): TokenDesk => {
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
    answer: (request, now, write) => {
      if (request.method !== "POST") return refuse(405, "invalid_request", "Tokens are asked for with POST.")
      if (!isForm(request)) return refuse(415, "invalid_request", "The body must be application/x-www-form-urlencoded.")
      const pairs = decodeQuery(request.body)
      if (isRefusal(pairs)) return refuse(400, "invalid_request", pairs.detail)
      const form = new Map(pairs)
      const grantType = form.get("grant_type")
      if (grantType === undefined) return refuse(400, "invalid_request", "grant_type is missing.")
      if (grantType !== "client_credentials") {
        return refuse(400, "unsupported_grant_type", "The only grant type is client_credentials.")
      }
      const client = settings.oauthClients.find((known) =>
        known.clientId === form.get("client_id") && known.clientSecret === form.get("client_secret")
      )
      if (client === undefined) return refuse(401, "invalid_client", "The client is not known.")
      const scopes = form.get("scope")?.split(" ").filter((scope) => scope !== "")
      const unknown = scopes?.find((scope) => !knownScopes.includes(scope))
      if (unknown !== undefined) return refuse(400, "invalid_scope", "A scope name is not known.")
      return write(issue(client, scopes?.length === 0 ? undefined : scopes, now))
    },
    find: (token, now) => {
      const found = tokens.get(token)
      return found !== undefined && now < found.expiresAt ? found : undefined
    },
    issued: () => serial,
    revokeAll: () => tokens.clear()
  }
}
