/** The accounts and limits of the fake service and their defaults. All credentials are made up. */

/**
 * A company of the fake service.
 *
 * @since 0.1.0
 */
export interface FakeCompany {
  /** Company id, as the path of a listing names it. */
  readonly id: number
  /** The uuid that OAuth requests send as `x-company-guid`. */
  readonly guid: string
  /** Static access token; valid for this company only. */
  readonly accessToken: string
}

/**
 * An OAuth client of the token endpoint.
 *
 * @since 0.1.0
 */
export interface FakeOAuthClient {
  /** Value of `client_id`. */
  readonly clientId: string
  /** Value of `client_secret`. */
  readonly clientSecret: string
  /** Guids of the companies that granted the client access. Default: all companies. */
  readonly grantedGuids?: ReadonlyArray<string> | undefined
}

/**
 * A session of the web application.
 *
 * @since 0.1.0
 */
export interface FakeSession {
  /** Value of the session cookie. */
  readonly cookie: string
  /** Ids of the companies that the session may list. Default: all companies. */
  readonly companyIds?: ReadonlyArray<number> | undefined
}

/**
 * The first of the two default companies, with id 4021.
 *
 * @since 0.1.0
 */
export const defaultCompany: FakeCompany = {
  id: 4021,
  guid: "3b2f7c1e-5a94-4d0b-8e6f-9c1a7d2e4f60",
  accessToken: "fake-access-token-of-company-4021"
}

/**
 * The second default company, with id 4022. Its rows must never appear in a listing of the first.
 *
 * @since 0.1.0
 */
export const otherCompany: FakeCompany = {
  id: 4022,
  guid: "a7d0e5f2-1c38-4b69-9f24-6e8b3c5d7a12",
  accessToken: "fake-access-token-of-company-4022"
}

/**
 * The default OAuth client.
 *
 * @since 0.1.0
 */
export const defaultOAuthClient: FakeOAuthClient = {
  clientId: "fake-client",
  clientSecret: "fake-client-secret"
}

/**
 * The default session.
 *
 * @since 0.1.0
 */
export const defaultSession: FakeSession = { cookie: "fake-session" }

/**
 * Name of the session cookie.
 *
 * @since 0.1.0
 */
export const sessionCookieName = "svcsession"

/**
 * Default lifetime of an issued token, in seconds.
 *
 * @since 0.1.0
 */
export const defaultTokenLifetime = 3600

/**
 * Default number of rows of a page whose request has no `limit`.
 *
 * @since 0.1.0
 */
export const defaultLimit = 20

/**
 * Default for the largest accepted `limit`.
 *
 * @since 0.1.0
 */
export const maxLimit = 200

/**
 * Every valid scope name.
 *
 * @since 0.1.0
 */
export const knownScopes: ReadonlyArray<string> = [
  "v1_access",
  ...["companies", "departments", "locations", "roles", "users", "sales", "shifts", "time_punches", "events"].flatMap(
    (name) => [`${name}:read`, `${name}:write`]
  )
]
