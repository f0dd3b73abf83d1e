/** `POST /oauth2/token` (spec 4.2) and the tokens that it issues. */
import { type FakeRequest, type FakeResponse, respondJson } from "../base/message.ts"
import type { TokenBody } from "../base/tokenBody.ts"
import { type FakeOAuthClient, knownScopes } from "./accounts.ts"
import { decodeQuery, isRefusal } from "./listQuery.ts"
import type { Settings } from "./options.ts"

/** What the service stores of a token. */
export interface IssuedToken {
  readonly client: FakeOAuthClient
  /** Requested scopes; `undefined` grants all of them. */
  readonly scopes: ReadonlyArray<string> | undefined
  /** End of its life, exclusive, in milliseconds since 1970. */
  readonly expiresAt: number
}

/** The token endpoint and its tokens. */
export interface TokenIssuer {
  /** Responds to a request of the endpoint; `write` turns the body of a success into its response. */
  readonly respond: (request: FakeRequest, now: number, write: (body: TokenBody) => FakeResponse) => FakeResponse
  /** An issued token that is neither revoked nor expired. */
  readonly find: (token: string, now: number) => IssuedToken | undefined
  /** Number of issued tokens, revoked ones included. */
  readonly issued: () => number
  readonly revokeAll: () => void
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

/** An issuer without tokens. */
export const makeTokenIssuer = (settings: Settings): TokenIssuer => {
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
    respond: (request, now, write) => {
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
    find: (token, now) => {
      const found = tokens.get(token)
      return found !== undefined && now < found.expiresAt ? found : undefined
    },
    issued: () => serial,
    revokeAll: () => tokens.clear()
  }
}
