/** Who may ask the fake service, and the accounts that it knows by default: all of them made up. */

/**
 * A company with the access token of its own (spec 5.2) and the guid that OAuth clients name it by (spec 5.3).
 *
 * @since 0.1.0
 */
export interface FakeCompany {
  readonly id: number
  readonly guid: string
  readonly accessToken: string
}

/**
 * A partner client of the token endpoint (spec 5.3).
 *
 * @since 0.1.0
 */
export interface FakeOAuthClient {
  readonly clientId: string
  readonly clientSecret: string
  /** Guids of the companies that granted the client access. Left out: all of them. */
  readonly grantedGuids?: ReadonlyArray<string> | undefined
}

/**
 * A session of the web application (spec 5.4).
 *
 * @since 0.1.0
 */
export interface FakeSession {
  readonly cookie: string
  /** Companies that the session may see. Left out: all of them. */
  readonly companyIds?: ReadonlyArray<number> | undefined
}

/**
 * The company that the fake service knows by default.
 *
 * @since 0.1.0
 */
export const defaultCompany: FakeCompany = {
  id: 4021,
  guid: "3b2f7c1e-5a94-4d0b-8e6f-9c1a7d2e4f60",
  accessToken: "fake-access-token-of-company-4021"
}

/**
 * A second company, whose rows nobody else may see.
 *
 * @since 0.1.0
 */
export const otherCompany: FakeCompany = {
  id: 4022,
  guid: "a7d0e5f2-1c38-4b69-9f24-6e8b3c5d7a12",
  accessToken: "fake-access-token-of-company-4022"
}

/**
 * The OAuth client that the fake service knows by default.
 *
 * @since 0.1.0
 */
export const defaultOAuthClient: FakeOAuthClient = {
  clientId: "fake-client",
  clientSecret: "fake-client-secret"
}

/**
 * The session that the fake service knows by default.
 *
 * @since 0.1.0
 */
export const defaultSession: FakeSession = { cookie: "fake-session" }

/**
 * Name of the session cookie (spec 5.4).
 *
 * @since 0.1.0
 */
export const sessionCookieName = "svcsession"

/**
 * Seconds that an issued token lives (spec 8).
 *
 * @since 0.1.0
 */
export const defaultTokenLifetime = 3600

/**
 * Rows of a page when the request names no limit (spec 8).
 *
 * @since 0.1.0
 */
export const defaultLimit = 20

/**
 * The largest limit that a request may name (spec 8).
 *
 * @since 0.1.0
 */
export const maxLimit = 200

/**
 * Every scope name (spec 5.3).
 *
 * @since 0.1.0
 */
export const knownScopes: ReadonlyArray<string> = [
  "v1_access",
  ...["companies", "departments", "locations", "roles", "users", "sales", "shifts", "time_punches", "events"].flatMap(
    (name) => [`${name}:read`, `${name}:write`]
  )
]
