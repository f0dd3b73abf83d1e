/** START HERE. Runs a fleet in this process: the only one of a SQLite file, or one of many over PostgreSQL. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { SqlClient } from "effect/sql/SqlClient"
import type { SyncStore } from "../../sync/SyncStore.ts"
import type { TimePunches } from "../../TimePunches.ts"
import { Fleet } from "../Fleet.ts"
import type { FleetError } from "../FleetError.ts"
import { type EmbeddedOptions, type RunnerOptions, start, startEmbedded } from "./run.ts"
export type { GivenSettings } from "../Settings.ts"
export { type EmbeddedOptions, migrate, type RunnerOptions } from "./run.ts"

/**
 * One process of many over PostgreSQL, which share nothing but the database. `SyncStore` must be `SqlStore.layer` over the same
 * `SqlClient`, whose sessions need `sessionParameters`, and whose pool at least four connections more than syncs that store at
 * once. Fails if the tables are older (`migrate`), or another process has this name. Once started it outlives the database.
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
 *   url: Redacted.make("postgres://localhost/punches"),
 *   startupParameters: FleetRunner.sessionParameters(),
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
): Layer.Layer<Fleet, FleetError, SqlClient | SyncStore | TimePunches> =>
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
 * export const fleet = FleetRunner.layerEmbedded({ filename: "punches.db" })
 * ```
 */
export const layerEmbedded = (
  options: EmbeddedOptions
): Layer.Layer<Fleet | SyncStore | SqlClient, FleetError, TimePunches> =>
  Layer.effectContext(Effect.map(startEmbedded(options), ({ context }) => context))

/** What every session of a fleet needs, as `startupParameters` of the client of PostgreSQL. `takeover` is that of the settings. */
export const sessionParameters = (takeover: Duration.Input = "10 seconds"): Readonly<Record<string, string>> => ({
  timezone: "UTC",
  idle_in_transaction_session_timeout: String(Math.round(Duration.toMillis(takeover)))
})
