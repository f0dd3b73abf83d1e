/** START HERE. A copy of the punches in SQLite or PostgreSQL: the store of a sync, and its tables. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Migrator from "effect/sql/Migrator"
import type { SqlClient } from "effect/sql/SqlClient"
import { isSqlError, type SqlError } from "effect/sql/SqlError"
import type { InvalidRequest } from "../ApiError.ts"
import type { DialectName } from "../internal/sql/dialect.ts"
import { messageOf } from "../internal/sql/failure.ts"
import { statementsOf } from "../internal/sql/migrate.ts"
import { checkOptions, validateCount } from "../listing/request.ts"
import { SyncStore } from "../sync/SyncStore.ts"
import { connect, dialects, migrate, type Unusable, unusableText, verify } from "./connection.ts"
import { makeStore } from "./store.ts"

/** How a copy is kept. */
export interface SqlStoreOptions {
  /**
   * Whether the layer creates the tables and brings them to the schema of this release. Default `true`. With `false` it
   * fails if the schema is older. A newer one fails in either case, and so does one of before the first publication.
   */
  readonly migrate?: boolean | undefined
  /**
   * Whether a commit keeps each version that it replaces, for `changes`. The history of a company begins with its first
   * commit under this option; from then on every commit continues it, also one without the option. `changes` knows the copy
   * from the end of the first load on. Default `false`.
   */
  readonly history?: boolean | undefined
  /** How many pages `Sync.run` and `Sync.sweep` store in one transaction, at least 1. Default 1. */
  readonly pagesPerTransaction?: number | undefined
}

/**
 * Keeps a copy in the database of the `SqlClient`: SQLite, or PostgreSQL. Rows and checkpoint of a page are stored in one
 * transaction, which is attempted for 5 seconds if the database is locked or the connection is lost. Fails if the tables
 * cannot be used: with a `MigrationError` for another dialect, a schema that is too old, or that a later release made; with
 * `InvalidRequest` for an option.
 *
 * **Example** (A copy in a file)
 *
 * ```ts
 * import { Layer } from "effect"
 * import { SqlStore } from "effect-time-punches/sql"
 * import { NodeSqlite } from "effect-time-punches/sql/node"
 *
 * export const store = SqlStore.layer().pipe(Layer.provide(NodeSqlite.layer({ filename: "punches.db" })))
 * ```
 */
export const layer = (
  options: SqlStoreOptions = {}
): Layer.Layer<SyncStore, SqlError | Migrator.MigrationError | InvalidRequest, SqlClient> =>
  Layer.effect(
    SyncStore,
    Effect.gen(function*() {
      yield* Effect.fromResult(checkOptions(undefined, options, storeOptions))
      const { history = false, migrate: isMigrating = true, pagesPerTransaction = 1 } = options
      yield* Effect.fromResult(validateCount(undefined, "pagesPerTransaction", pagesPerTransaction, 1))
      const database = yield* Effect.mapError(connect, badState)
      const prepared = Effect.gen(function*() {
        if (isMigrating) yield* migrate(database)
        yield* verify(database, "none")
      })
      yield* Effect.catchTag(prepared, "OtherSchema", (error) => Effect.fail(badState(error)))
      return SyncStore.of({ ...makeStore(database, history), pagesPerCommit: pagesPerTransaction })
    })
  )

/** The names of `SqlStoreOptions`. */
const storeOptions: { readonly [K in keyof SqlStoreOptions]-?: true } = {
  migrate: true,
  history: true,
  pagesPerTransaction: true
}

const badState = (error: Unusable) =>
  new Migrator.MigrationError({ kind: "BadState", message: unusableText(error), cause: error })

/**
 * The migrations of a copy, for a program that runs its own: `Migrator.make({})(SqlStore.migrations)`, or the statements
 * of `ddl`, which also record that they were run.
 */
export interface Migrations {
  /** The table that records which of them were run. */
  readonly table: string
  /** The migrations, as `Migrator` of `effect/sql` runs them. */
  readonly loader: Migrator.Loader<SqlClient>
  /** The statements of all of them for an empty database. */
  readonly ddl: (dialect: DialectName) => ReadonlyArray<string>
}

/** What `layer` runs with `migrate`. Later releases only add to it. The loader refuses tables that `layer` refuses. */
export const migrations: Migrations = {
  table: "time_punches_migrations",
  loader: connect.pipe(
    Effect.tap((database) => verify(database, "any")),
    Effect.mapError((error) =>
      isSqlError(error) ? new Migrator.MigrationError({ kind: "BadState", message: messageOf(error) }) : badState(error)
    ),
    Effect.map(({ dialect: { migrations }, sql }) =>
      migrations.steps.map((step) => {
        const run = Effect.forEach(statementsOf(migrations, step), (text) => sql.unsafe(text).unprepared)
        return [step.id, step.name, Effect.succeed(run)] as const
      })
    )
  ),
  ddl: (name) => {
    const { migrations } = dialects[name]
    return migrations.steps.flatMap((step) => statementsOf(migrations, step))
  }
}
