/** The options of the fake service and their defaults. */
import * as Duration from "effect/Duration"
import type { StoredPunch, WirePunch } from "../base/WirePunch.ts"
import {
  defaultCompany,
  defaultLimit,
  defaultOAuthClient,
  defaultSession,
  defaultTokenLifetime,
  type FakeCompany,
  type FakeOAuthClient,
  type FakeSession,
  maxLimit,
  otherCompany
} from "./accounts.ts"

/**
 * Options of a fake service. Each one has a default.
 *
 * @since 0.1.0
 */
export interface FakeServiceOptions {
  /** Companies. Default: `defaultCompany` and `otherCompany`. */
  readonly companies?: ReadonlyArray<FakeCompany> | undefined
  /** OAuth clients of the token endpoint. Default: `defaultOAuthClient`. */
  readonly oauthClients?: ReadonlyArray<FakeOAuthClient> | undefined
  /** Sessions of the web application. Default: `defaultSession`. */
  readonly sessions?: ReadonlyArray<FakeSession> | undefined
  /** Lifetime of an issued token. Default: one hour. */
  readonly tokenLifetime?: Duration.Input | undefined
  /** Accepted values of `x-api-version`; another date gets status 422. Default: every date. */
  readonly apiVersions?: ReadonlyArray<string> | undefined
  /** Rows of a page when the request has no `limit`. Default: 20. */
  readonly defaultLimit?: number | undefined
  /** Largest accepted `limit`. Default: 200. */
  readonly maxLimit?: number | undefined
  /** `asked` follows `sort_by`; `id` ignores it and orders by id, as some services do. Default: `asked`. */
  readonly order?: "asked" | "id" | undefined
  /** Delay of every response. Default: none. */
  readonly latency?: Duration.Input | undefined
  /** Whether the plan of the companies covers the listing; `false` gets status 403. Default: true. */
  readonly planOk?: boolean | undefined
  /** Prefix of both paths, such as `/api`. Default: none. */
  readonly basePath?: string | undefined
  /** Punches to begin with. Default: none. */
  readonly punches?: ReadonlyArray<StoredPunch | WirePunch> | undefined
}

/** The options with their defaults. Durations are milliseconds; `undefined` versions accept every date. */
export interface Settings {
  readonly companies: ReadonlyArray<FakeCompany>
  readonly oauthClients: ReadonlyArray<FakeOAuthClient>
  readonly sessions: ReadonlyArray<FakeSession>
  readonly tokenLifetime: number
  readonly apiVersions: ReadonlyArray<string> | undefined
  readonly defaultLimit: number
  readonly maxLimit: number
  readonly order: "asked" | "id"
  readonly latency: number
  readonly planOk: boolean
  readonly basePath: string
  readonly punches: ReadonlyArray<StoredPunch | WirePunch>
}

/** Fills in the defaults, also for an option that is `undefined`. */
export const settingsOf = (options: FakeServiceOptions): Settings => ({
  companies: options.companies ?? [defaultCompany, otherCompany],
  oauthClients: options.oauthClients ?? [defaultOAuthClient],
  sessions: options.sessions ?? [defaultSession],
  tokenLifetime: Duration.toMillis(options.tokenLifetime ?? Duration.seconds(defaultTokenLifetime)),
  apiVersions: options.apiVersions,
  defaultLimit: options.defaultLimit ?? defaultLimit,
  maxLimit: options.maxLimit ?? maxLimit,
  order: options.order ?? "asked",
  latency: Duration.toMillis(options.latency ?? Duration.zero),
  planOk: options.planOk ?? true,
  basePath: options.basePath ?? "",
  punches: options.punches ?? []
})
