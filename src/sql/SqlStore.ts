/** START HERE. A copy of the punches in SQLite or PostgreSQL: the store of a sync, its tables, and what they say of a company. */
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Migrator from "effect/sql/Migrator"
import type { SqlClient } from "effect/sql/SqlClient"
import type { Row } from "effect/sql/SqlConnection"
import type { SqlError } from "effect/sql/SqlError"
import type { CompanyId } from "../Ids.ts"
import type { Checkpoint } from "../sync/Checkpoint.ts"
import type { SyncError } from "../sync/SyncError.ts"
import { SyncStore } from "../sync/SyncStore.ts"
import { storable } from "./columns.ts"
import { connect, dialectOf, failedWith, retried, transact } from "./connection.ts"
import { numberOf, orUndefined, textOrUndefined } from "./Dialect.ts"
import { migrate, statementsOf, verify } from "./migrate.ts"
import { checkpointOf, makeStore } from "./store.ts"
import { opened, type TableOptions } from "./TableOptions.ts"
import { defaultTable, type DialectName, refused } from "./tables.ts"
export { HistoryUnknown } from "./history.ts"
export type { ChangeKind, Changes, ChangesOptions, PersonChange, PunchChange } from "./history.ts"
export { pruneHistory, type PruneOptions } from "./history.ts"
export { changes } from "./history.ts"
export { list } from "./read.ts"
export type { TableOptions } from "./TableOptions.ts"

/** How a copy is kept. */
export interface SqlStoreOptions extends TableOptions {
  /**
   * Whether the layer creates the tables and brings them to the schema of this release. Default `true`. With `false` it
   * fails where the schema is older.
   */
  readonly migrate?: boolean | undefined
  /**
   * Whether a commit keeps each version that it replaces, for `changes`. The history of a company begins with its first
   * commit under this option; from then on every commit continues it, also one without the option. Default `false`.
   */
  readonly history?: boolean | undefined
  /** How many pages `Sync.run` and `Sync.sweep` store in one transaction, at least 1. Default 1. */
  readonly pagesPerTransaction?: number | undefined
}

/**
 * Keeps a copy in the database of the `SqlClient`: SQLite, or PostgreSQL. Rows and checkpoint of a page are stored in one
 * transaction, which is attempted for 5 seconds if the database is locked or the connection is lost. Fails if the tables
 * cannot be used: another dialect, an invalid table name, a schema that is too old.
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
): Layer.Layer<SyncStore, SqlError | Migrator.MigrationError | SyncError, SqlClient> =>
  Layer.effect(
    SyncStore,
    Effect.gen(function*() {
      const { history = false, migrate: isMigrating = true, pagesPerTransaction = 1, table } = options
      if (!Number.isSafeInteger(pagesPerTransaction) || pagesPerTransaction < 1) {
        return yield* Effect.fail(
          refused(`pagesPerTransaction is ${pagesPerTransaction}, and not a whole number of at least 1`)
        )
      }
      const { dialect, sql } = yield* connect(table)
      yield* isMigrating ? migrate(sql, dialect) : verify(sql, dialect)
      return SyncStore.of({ ...makeStore(sql, dialect, history), pagesPerCommit: pagesPerTransaction })
    })
  )

/**
 * The migrations of a copy, for a program that runs its own: `Migrator.make({})(SqlStore.migrations())`, or the statements
 * of `ddl`, which also record that they were run.
 */
export interface Migrations {
  /** The table that records which of them were run. */
  readonly table: string
  /** The migrations, as `Migrator` of `effect/sql` runs them. */
  readonly loader: Migrator.Loader<SqlClient>
  /** The statements of all of them for an empty database. Fails if the table name is invalid. */
  readonly ddl: (dialect: DialectName) => Result.Result<ReadonlyArray<string>, SyncError>
}

/** What `layer` runs with `migrate`. Later releases only add to it. */
export const migrations = (table: string = defaultTable): Migrations => ({
  table: `${table}_migrations`,
  loader: Effect.map(
    Effect.mapError(connect(table), ({ detail }) => new Migrator.MigrationError({ kind: "BadState", message: detail })),
    ({ dialect, sql }) =>
      dialect.migrations.map((migration) => {
        const run = Effect.forEach(statementsOf(dialect, migration), (text) => sql.unsafe(text).unprepared)
        return [migration.id, migration.name, Effect.succeed(run)] as const
      })
  ),
  ddl: (name) =>
    Result.map(
      dialectOf(name, table),
      (dialect) => dialect.migrations.flatMap((migration) => statementsOf(dialect, migration))
    )
})

/** What is known of the copy of a company. */
export interface CopyStatus {
  /** How far the copy is; `None` before the first commit. */
  readonly checkpoint: Option.Option<Checkpoint>
  /** All rows, with those that are deleted or gone. */
  readonly rows: number
  /** Rows that the service shows as deleted. */
  readonly deleted: number
  /** Rows that the service no longer shows. */
  readonly gone: number
  /** The last error that `noteError` kept; `None` if there was none, or a pass was completed since. */
  readonly lastError: Option.Option<NotedError>
  /** Since when the history of the company is known; `None` if it has not begun. */
  readonly history: Option.Option<KnownHistory>
}

/** What is known of the past of a copy. */
export interface KnownHistory {
  /** The first instant at which the copy is known, by the clock of the database. */
  readonly since: DateTime.Utc
  /**
   * The instant of the last commit. Read it before the copy, or in the same transaction: `changes` since this instant then
   * misses nothing that changes later.
   */
  readonly last: DateTime.Utc
}

/** An error that a sync ended with. */
export interface NotedError {
  /** When it was noted, by the local clock. */
  readonly at: DateTime.Utc
  /** The tag of the error. */
  readonly tag: string
  /** Its message. */
  readonly text: string
}

/**
 * Says how far the copy of a company is. Fails with `Store` if there are no tables, and with `Checkpoint` if the
 * checkpoint cannot be read.
 */
export const status = (
  company: CompanyId,
  options: TableOptions = {}
): Effect.Effect<CopyStatus, SyncError, SqlClient> =>
  Effect.gen(function*() {
    const { dialect: { integer, millisOf, placeholder, tables }, sql } = yield* opened(company, options)
    const counted =
      `SELECT count(*) AS total, coalesce(sum(CASE WHEN deleted THEN 1 ELSE 0 END), 0) AS deleted, coalesce(sum(CASE WHEN gone_at IS NULL THEN 0 ELSE 1 END), 0) AS gone FROM ${tables.rows} WHERE company_id = ${
        placeholder(1, "bigint")
      }`
    // One statement, so that the counts are those of the checkpoint.
    const [row] = yield* retried(sql.unsafe<Row>(
      `SELECT c.total, c.deleted, c.gone, s.checkpoint, ${
        millisOf("s.error_at")
      } AS error_at, s.error_tag, s.error_text, ${millisOf("s.history_since")} AS history_since, ${
        millisOf("s.history_last")
      } AS history_last FROM (${counted}) AS c LEFT JOIN ${tables.sync} AS s ON s.company_id = ${
        placeholder(2, "bigint")
      }`,
      [integer(company), integer(company)]
    )).pipe(Effect.mapError(failedWith(company, "the status cannot be read")))
    const lastError = Option.map(Option.fromUndefinedOr(orUndefined(row?.error_at)), (at) => ({
      at: DateTime.makeUnsafe(at),
      tag: textOrUndefined(row?.error_tag) ?? "",
      text: textOrUndefined(row?.error_text) ?? ""
    }))
    return {
      checkpoint: yield* checkpointOf(row?.checkpoint, company),
      rows: numberOf(row?.total),
      deleted: numberOf(row?.deleted),
      gone: numberOf(row?.gone),
      lastError,
      history: Option.map(Option.fromUndefinedOr(orUndefined(row?.history_since)), (since) => ({
        since: DateTime.makeUnsafe(since),
        last: DateTime.makeUnsafe(numberOf(row?.history_last))
      }))
    }
  })

/**
 * Erases the copy of a company: its rows, its history, its checkpoint, its last error. A sync that runs meanwhile is
 * `Superseded`. A database may keep the erased content in free pages until it is vacuumed.
 */
export const purge = (company: CompanyId, options: TableOptions = {}): Effect.Effect<void, SyncError, SqlClient> =>
  Effect.gen(function*() {
    const { dialect: { integer, name, placeholder, tables }, sql } = yield* opened(company, options)
    const isOurs = `WHERE company_id = ${placeholder(1, "bigint")}`
    // In the order of a commit, so that the two never wait for each other. The first one holds up every commit, also one that
    // begins a copy: its rows would go, and its checkpoint stay. A history ends before its row may go.
    const statements = [
      `INSERT INTO ${tables.sync} (company_id) VALUES (${
        placeholder(1, "bigint")
      }) ON CONFLICT (company_id) DO UPDATE SET history_since = NULL, history_last = NULL`,
      ...[tables.sync, tables.rows, tables.history].map((table) => `DELETE FROM ${table} ${isOurs}`)
    ]
    const run = Effect.forEach(statements, (text) => sql.unsafe(text, [integer(company)]), { discard: true })
    yield* transact(sql, name, run).pipe(Effect.mapError(failedWith(company, "the copy cannot be erased")))
  })

/** The part of a tagged error that `noteError` keeps. */
export interface ErrorToNote {
  /** Its tag. */
  readonly _tag: string
  /** Its message, of which the first 2000 characters are kept. */
  readonly message: string
}

/** Characters of an error that are kept. */
const mostText = 2000

/** Keeps the error that a sync ended with, for `status`. The next complete pass clears it. */
export const noteError = (
  company: CompanyId,
  error: ErrorToNote,
  options: TableOptions = {}
): Effect.Effect<void, SyncError, SqlClient> =>
  Effect.gen(function*() {
    const { dialect: { instant, integer, placeholder, tables }, sql } = yield* opened(company, options)
    const values = `${placeholder(1, "bigint")}, ${placeholder(2, "timestamptz")}, ${placeholder(3, "text")}, ${
      placeholder(4, "text")
    }`
    yield* retried(sql.unsafe(
      `INSERT INTO ${tables.sync} (company_id, error_at, error_tag, error_text) VALUES (${values}) ON CONFLICT (company_id) DO UPDATE SET error_at = excluded.error_at, error_tag = excluded.error_tag, error_text = excluded.error_text`,
      [
        integer(company),
        instant(yield* Clock.currentTimeMillis),
        storable(error._tag),
        storable(error.message.slice(0, mostText))
      ]
    )).pipe(Effect.mapError(failedWith(company, "the error cannot be noted")))
  })
