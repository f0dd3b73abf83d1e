/** START HERE. Runs a fleet in this process: the only one of a SQLite file, or one of many over PostgreSQL. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Redacted from "effect/Redacted"
import type { SqlClient } from "effect/sql/SqlClient"
import * as Net from "node:net"
import type { InvalidRequest } from "../../ApiError.ts"
import { hostOf } from "../../internal/http/secret.ts"
import type { SyncStore } from "../../sync/SyncStore.ts"
import type { TimePunches } from "../../TimePunches.ts"
import { Fleet } from "../Fleet.ts"
import type { FleetError } from "../FleetError.ts"
import { type RunnerOptions, type SqliteRunnerOptions, start, startEmbedded } from "./run.ts"
export type { FleetOptions } from "../Settings.ts"
export { migrate, type RunnerOptions, type SqliteRunnerOptions } from "./run.ts"

/**
 * One process of many over PostgreSQL, which share nothing but the database. `SyncStore` must be `SqlStore.layer` over the same
 * `SqlClient`. That client needs `pgClientOptions`, and at least four connections more than syncs that store at once. Fails if the
 * tables are older (`migrate`), or another process has this name. Once started, it survives outages of the database.
 *
 * **Example** (One of several processes)
 *
 * ```ts
 * import { PgClient } from "@effect/sql-pg"
 * import { Layer, Redacted } from "effect"
 * import { FleetRunner } from "effect-time-punches/fleet/node"
 * import { SqlStore } from "effect-time-punches/sql"
 *
 * const database = PgClient.layer({
 *   ...FleetRunner.pgClientOptions({ url: Redacted.make("postgres://localhost/punches") }),
 *   maxConnections: 16
 * })
 *
 * export const runner = FleetRunner.layer({ name: "a" }).pipe(
 *   Layer.provideMerge(SqlStore.layer({ migrate: false })),
 *   Layer.provide(database)
 * )
 * ```
 */
export const layer = (
  options: RunnerOptions = {}
): Layer.Layer<Fleet, FleetError | InvalidRequest, SqlClient | SyncStore | TimePunches> =>
  Layer.effect(Fleet, Effect.map(start(options), ({ fleet }) => fleet))

/**
 * The only process of a SQLite file, which it creates and brings to this release. Gives the copy too, and a separate
 * connection for the program. Fails with `AlreadyRunning` if another process runs the fleet of this file.
 *
 * **Example** (A fleet in one process)
 *
 * ```ts
 * import { FleetRunner } from "effect-time-punches/fleet/node"
 *
 * export const fleet = FleetRunner.layerSqlite({ filename: "punches.db" })
 * ```
 */
export const layerSqlite = (
  options: SqliteRunnerOptions
): Layer.Layer<Fleet | SyncStore | SqlClient, FleetError | InvalidRequest, TimePunches> =>
  Layer.effectContext(Effect.map(startEmbedded(options), ({ context }) => context))

/** Where the database of a fleet is, and the setting that its sessions follow. */
export interface PgAddress {
  /** The address, as the client of PostgreSQL takes it: `postgres://user:password@host:5432/database`. */
  readonly url?: Redacted.Redacted | undefined
  /** The host in place of `url`, or the folder of a Unix socket. Default: `localhost`. */
  readonly host?: string | undefined
  /** Its port. Default: 5432. */
  readonly port?: number | undefined
  /** `takeover` of the settings. Default: ten seconds. */
  readonly takeover?: Duration.Input | undefined
}

/** What `pgClientOptions` gives to `PgClient.layer`. */
export interface PgClientOptions {
  /** The address, if it was given as one. */
  readonly url?: Redacted.Redacted | undefined
  /** Else the host. */
  readonly host?: string | undefined
  /** Else the port. */
  readonly port?: number | undefined
  /** The settings of each session. */
  readonly startupParameters: Readonly<Record<string, string>>
  /** Opens a connection that ends after 30 silent seconds. */
  readonly stream: () => Net.Socket
}

/** Sessions in UTC, which the server ends if they hang within a transaction. */
const sessionParameters = (takeover: Duration.Input): Readonly<Record<string, string>> => ({
  timezone: "UTC",
  idle_in_transaction_session_timeout: String(Math.round(Duration.toMillis(takeover)))
})

/** How long a connection may be silent, in milliseconds. */
const silence = 30_000

/**
 * What the client of PostgreSQL needs for a fleet: sessions in UTC, which the server ends if they hang within a transaction, and
 * connections that end after 30 seconds without a byte. A load balancer may forget a connection and close nothing: without this
 * limit the process waits for its statement, and its companies stand still. A connection that ended idle is replaced on demand.
 */
export const pgClientOptions = ({ host, port, takeover = "10 seconds", url }: PgAddress): PgClientOptions => ({
  ...(url === undefined ? { host, port } : { url }),
  startupParameters: sessionParameters(takeover),
  stream: (): Net.Socket => {
    const socket = Net.connect({ ...endpointOf(url === undefined ? { host, port } : hostOf(url)), noDelay: true })
    return socket.setTimeout(silence, () => {
      socket.destroy(new Error(`the database sent nothing for ${silence / 1000} seconds`))
    })
  }
})

/** Where the client would connect to. */
const endpointOf = ({ host = "localhost", port = 5432 }: PgAddress): Net.NetConnectOpts =>
  host.startsWith("/") ? { path: `${host}/.s.PGSQL.${port}` } : { host, port }
