/** The options of the fake service: companies, credentials, limits, how it differs from an ideal one. All credentials are made up. */
import * as Duration from "effect/Duration"
import * as Predicate from "effect/Predicate"
import type { RecordedRequest } from "../base/message.ts"
import type { StoredPunch, WirePunch } from "../base/WirePunch.ts"

/** A company of the fake service. */
export interface FakeCompany {
  /** Company id, as the path of a listing names it. */
  readonly id: number
  /** The uuid that OAuth requests send as `x-company-guid`. */
  readonly guid: string
  /** Static access token; valid for this company only. */
  readonly accessToken: string
}

/** An OAuth client of the token endpoint. */
export interface FakeOAuthClient {
  /** Value of `client_id`. */
  readonly clientId: string
  /** Value of `client_secret`. */
  readonly clientSecret: string
  /** Guids of the companies that granted the client access. Default: all companies. */
  readonly grantedGuids?: ReadonlyArray<string> | undefined
}

/** A session of the web application. */
export interface FakeSession {
  /** Value of the session cookie. */
  readonly cookie: string
  /** Ids of the companies that the session may list. Default: all companies. */
  readonly companyIds?: ReadonlyArray<number> | undefined
}

/** The first of the two default companies, with id 4021. */
export const defaultCompany: FakeCompany = {
  id: 4021,
  guid: "3b2f7c1e-5a94-4d0b-8e6f-9c1a7d2e4f60",
  accessToken: "fake-access-token-of-company-4021"
}

/** The second default company, with id 4022. Its rows must never appear in a listing of the first. */
export const otherCompany: FakeCompany = {
  id: 4022,
  guid: "a7d0e5f2-1c38-4b69-9f24-6e8b3c5d7a12",
  accessToken: "fake-access-token-of-company-4022"
}

/** The default OAuth client. */
export const defaultOAuthClient: FakeOAuthClient = {
  clientId: "fake-client",
  clientSecret: "fake-client-secret"
}

/** The default session. */
export const defaultSession: FakeSession = { cookie: "fake-session" }

/** Name of the session cookie. */
export const sessionCookieName = "svcsession"

/** Default lifetime of an issued token, in seconds. */
const defaultTokenLifetime = 3600

/** Default number of rows of a page whose request has no `limit`. */
const defaultLimit = 20

/** Default for the largest accepted `limit`. */
const maxLimit = 200

/** Every valid scope name. */
export const knownScopes: ReadonlyArray<string> = [
  "v1_access",
  ...["companies", "departments", "locations", "roles", "users", "sales", "shifts", "time_punches", "events"].flatMap(
    (name) => [`${name}:read`, `${name}:write`]
  )
]

/** A lag that is drawn for each change, evenly between both ends. */
export interface VisibilityLag {
  /** The shortest lag. */
  readonly from: Duration.Input
  /** The longest lag. */
  readonly to: Duration.Input
  /** Seed of the draws, an integer; the same seed gives the same lags. */
  readonly seed: number
}

/** Options of a fake service. Each one has a default. */
export interface FakeServiceOptions {
  /** Companies. Default: `defaultCompany` and `otherCompany`. */
  readonly companies?: ReadonlyArray<FakeCompany> | undefined
  /** OAuth clients of the token endpoint. Default: `defaultOAuthClient`. */
  readonly oauthClients?: ReadonlyArray<FakeOAuthClient> | undefined
  /** Sessions of the web application. Default: `defaultSession`. */
  readonly sessions?: ReadonlyArray<FakeSession> | undefined
  /** Lifetime of an issued token. Default: one hour. */
  readonly tokenLifetime?: Duration.Input | undefined
  /**
   * Accepted values of `x-api-version`; another date gets status 422. Without one, and where `ignores` has the header, the last
   * of them answers. A page names the version that answered, and one before 2023 has tips in whole units. Default: every date, and
   * 2026-06-01.
   */
  readonly apiVersions?: ReadonlyArray<string> | undefined
  /** Rows of a page when the request has no `limit`. Default: 20. */
  readonly defaultLimit?: number | undefined
  /** Largest accepted `limit`. Default: 200. */
  readonly maxLimit?: number | undefined
  /** Most rows of a page, also if `limit` is larger and accepted. Default: no most. */
  readonly pageCap?: number | undefined
  /**
   * What becomes of `sort_by`: `asked` follows it, `id` ignores it and orders by id, `dropped` follows it on a first page
   * and forgets it beside a cursor, which then names a record. Default: `asked`.
   */
  readonly order?: "asked" | "id" | "dropped" | undefined
  /** The order of a listing without `sort_by`; ties are in the order of ids. Default: `id`. */
  readonly defaultOrder?: "id" | "clocked_in" | "modified" | undefined
  /** `afterPaging` cuts pages first and filters each: pages are short or empty and have a `next`. Default: `beforePaging`. */
  readonly filters?: "beforePaging" | "afterPaging" | undefined
  /** Parameters that are accepted and have no effect, by their wire names, such as `modified_since` or `x-api-version`. Default: none. */
  readonly ignores?: ReadonlyArray<string> | undefined
  /** Parameters that get status 422, by their wire names, or one value of them, such as `deleted=true`. Default: none. */
  readonly refuses?: ReadonlyArray<string> | undefined
  /**
   * What the text `null` is to a parameter that is true or false: `both`, as the interface says; `false`; or a status that refuses
   * it, as a service of strict booleans does. Default: `both`.
   */
  readonly nulls?: "both" | "false" | 400 | 422 | undefined
  /**
   * What a cursor holds: `position`, the sort key and the id of a row, so that no edit moves its place; `record`, the
   * id alone, so that the place moves with the row when its sort key is edited, and the cursor of a sorted listing gets
   * status 422 once its row is removed. Default: `position`.
   */
  readonly cursors?: "position" | "record" | undefined
  /**
   * How long a cursor is valid, from the last page that named it, by the `Clock`; later it gets status 422 with param
   * `cursor`, as does a cursor that another service issued. Default: unlimited.
   */
  readonly cursorLifetime?: Duration.Input | undefined
  /** How far the service's clock is ahead of the `Clock`; negative if it is behind. Default: 0. */
  readonly clockOffset?: Duration.Input | undefined
  /**
   * The `date` header of a response, from the service's time in the form of HTTP and the request; `undefined` leaves the
   * header out. The header of a fault wins. Default: the service's time.
   */
  readonly date?: ((serviceTime: string, request: RecordedRequest) => string | undefined) | undefined
  /**
   * Time from a change by `add`, `edit` or `remove` until listings show it, by the `Clock`: the
   * same for all, or drawn for each. Default: none.
   */
  readonly visibleAfter?: Duration.Input | VisibilityLag | undefined
  /** Delay of every response. Default: none. */
  readonly latency?: Duration.Input | undefined
  /** Whether the plan of the companies covers the listing; `false` gets status 403. Default: true. */
  readonly planOk?: boolean | undefined
  /** Prefix of both paths, such as `/api`. Default: none. */
  readonly basePath?: string | undefined
  /** Punches to begin with. Default: none. */
  readonly punches?: ReadonlyArray<StoredPunch | WirePunch> | undefined
}

/** What a client needs to connect. */
export interface FakeAccess {
  /** The companies, with their guids and access tokens. */
  readonly companies: ReadonlyArray<FakeCompany>
  /** The clients of the token endpoint. */
  readonly oauthClients: ReadonlyArray<FakeOAuthClient>
  /** The sessions of the web application. */
  readonly sessions: ReadonlyArray<FakeSession>
  /** The prefix of both paths; empty without one. */
  readonly basePath: string
}

/** When changes show, in milliseconds; each lag is drawn between both ends. */
export interface LagRange {
  readonly from: number
  readonly to: number
  readonly seed: number
}

/** The options with their defaults. Durations are milliseconds; `undefined` versions accept every date. */
export type Settings = ReturnType<typeof settingsOf>

const isDrawn = (lag: Duration.Input | VisibilityLag): lag is VisibilityLag => Predicate.hasProperty(lag, "seed")

const lagOf = (lag: Duration.Input | VisibilityLag): LagRange => {
  const { from, seed, to } = isDrawn(lag) ? lag : { from: lag, to: lag, seed: 0 }
  return { from: Duration.toMillis(from), to: Duration.toMillis(to), seed }
}

/** Fills in the defaults, also for an option that is `undefined`. */
export const settingsOf = (options: FakeServiceOptions) => ({
  companies: options.companies ?? [defaultCompany, otherCompany],
  oauthClients: options.oauthClients ?? [defaultOAuthClient],
  sessions: options.sessions ?? [defaultSession],
  tokenLifetime: Duration.toMillis(options.tokenLifetime ?? Duration.seconds(defaultTokenLifetime)),
  apiVersions: options.apiVersions,
  defaultLimit: options.defaultLimit ?? defaultLimit,
  maxLimit: options.maxLimit ?? maxLimit,
  pageCap: options.pageCap ?? Infinity,
  order: options.order ?? "asked",
  defaultOrder: options.defaultOrder ?? "id",
  filters: options.filters ?? "beforePaging",
  ignores: options.ignores ?? [],
  refuses: options.refuses ?? [],
  nulls: options.nulls ?? "both",
  cursors: options.cursors ?? "position",
  cursorLifetime: Duration.toMillis(options.cursorLifetime ?? Duration.infinity),
  clockOffset: Duration.toMillis(options.clockOffset ?? Duration.zero),
  date: options.date ?? ((serviceTime) => serviceTime),
  visibleAfter: lagOf(options.visibleAfter ?? Duration.zero),
  latency: Duration.toMillis(options.latency ?? Duration.zero),
  planOk: options.planOk ?? true,
  basePath: options.basePath ?? "",
  punches: options.punches ?? []
})
