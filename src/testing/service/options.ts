/** The options of the fake service and what stands in for those left out. */
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
 * What a fake service is made of. Everything has a default.
 *
 * @since 0.1.0
 */
export interface FakeServiceOptions {
  /** Default `defaultCompany` and `otherCompany`. */
  readonly companies?: ReadonlyArray<FakeCompany> | undefined
  /** Default `defaultOAuthClient`. */
  readonly oauthClients?: ReadonlyArray<FakeOAuthClient> | undefined
  /** Default `defaultSession`. */
  readonly sessions?: ReadonlyArray<FakeSession> | undefined
  /** Lifetime of an issued token. Default one hour (spec 8). */
  readonly tokenLifetime?: Duration.Input | undefined
  /** Versions that are served; another well-formed one is answered with 422. Left out: every well-formed one (spec 9). */
  readonly apiVersions?: ReadonlyArray<string> | undefined
  /** Rows of a page when none are asked for. Default 20 (spec 8). */
  readonly defaultLimit?: number | undefined
  /** The largest `limit` accepted. Default 200 (spec 8). */
  readonly maxLimit?: number | undefined
  /** `asked` honours `sort_by`; `id` orders by id whatever is asked, as such services have been seen to. Default `asked`. */
  readonly order?: "asked" | "id" | undefined
  /** Time from a request to its answer. Default none. */
  readonly latency?: Duration.Input | undefined
  /** False when the plan of the companies does not cover the listing (spec 1). Default true. */
  readonly planOk?: boolean | undefined
  /** What stands before both paths, such as `/api`. Default nothing. */
  readonly basePath?: string | undefined
  /** The punches that are there from the start. Default none. */
  readonly punches?: ReadonlyArray<StoredPunch | WirePunch> | undefined
}

/** Options with nothing left out but what may be missing for good. Durations are milliseconds. */
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

/** Fills in the defaults; an option that is undefined counts as left out. */
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
