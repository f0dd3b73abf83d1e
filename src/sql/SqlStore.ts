/** START HERE. A copy of the punches in SQLite or PostgreSQL: the store of a sync, its tables, and what they say of a company. */
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Migrator from "effect/sql/Migrator"
import type { SqlClient } from "effect/sql/SqlClient"
import { isSqlError, type SqlError } from "effect/sql/SqlError"
import type { CompanyId } from "../Ids.ts"
import { type DialectName, numberOf, orUndefined, textOrUndefined } from "../internal/sql/dialect.ts"
import { messageOf } from "../internal/sql/failure.ts"
import { statementsOf } from "../internal/sql/migrate.ts"
import { retried, transact } from "../internal/sql/transaction.ts"
import { Instant } from "../internal/wire/schema.ts"
import { Checkpoint } from "../sync/Checkpoint.ts"
import type { SyncError } from "../sync/SyncError.ts"
import { SyncStore } from "../sync/SyncStore.ts"
import { storable } from "./columns.ts"
import { connect, dialects, failedWith, migrate, opened, refused, verify } from "./connection.ts"
import { knownColumns, knownOf } from "./known.ts"
import { checkpointOf, makeStore, unknownIn } from "./store.ts"
export { feed, feedPosition } from "./feed.ts"
export type { FeedOptions } from "./feed.ts"
export { FeedEvent } from "./feedEvent.ts"
export { FeedKind, FeedPosition } from "./feedPosition.ts"
export { ChangeKind, Changes, changes, PersonChange, pruneHistory, PunchChange } from "./history.ts"
export type { ChangesOptions, PruneOptions } from "./history.ts"
export { HistoryUnavailable } from "./known.ts"
export { list } from "./read.ts"
export type { CopyListOptions } from "./read.ts"

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
 * cannot be used: another dialect, a schema that is too old, or that a later release made.
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
      const { history = false, migrate: isMigrating = true, pagesPerTransaction = 1 } = options
      if (!Number.isSafeInteger(pagesPerTransaction) || pagesPerTransaction < 1) {
        return yield* refused(`pagesPerTransaction is ${pagesPerTransaction}, and not a whole number of at least 1`)
      }
      const database = yield* connect
      if (isMigrating) yield* migrate(database)
      yield* verify(database, "none")
      return SyncStore.of({ ...makeStore(database, history), pagesPerCommit: pagesPerTransaction })
    })
  )

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
      new Migrator.MigrationError({ kind: "BadState", message: isSqlError(error) ? messageOf(error) : error.detail })
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

/** What is known of the past of a copy. */
export class HistoryRange extends Schema.Opaque<HistoryRange>()(Schema.Struct({
  /**
   * The first instant at which the copy is known, by the clock of the database: the first commit that kept a
   * history, at the earliest the end of the first load; or the instant to which the history was pruned.
   */
  since: Instant,
  /**
   * The instant of the last commit. Read it before the copy, or in the same transaction: `changes` since this instant then
   * misses nothing that changes later.
   */
  last: Instant
})) {}

/** An error that a sync ended with. */
export class LastError extends Schema.Opaque<LastError>()(Schema.Struct({
  /** When it was recorded, by the local clock. */
  at: Instant,
  /** The tag of the error. */
  tag: Schema.String,
  /** Its message. */
  text: Schema.String
})) {}

/** What is known of the copy of a company. */
export class CopyStatus extends Schema.Opaque<CopyStatus>()(Schema.Struct({
  /** How far the copy is; `None` before the first commit. */
  checkpoint: Schema.OptionFromNullOr(Checkpoint),
  /** All rows, with those that are deleted or missing. */
  rows: Schema.Natural,
  /** Rows that the service shows as deleted. */
  deleted: Schema.Natural,
  /** Rows that the service no longer shows. */
  missing: Schema.Natural,
  /** The last error that `recordError` kept; `None` if there was none, or a sync run was completed since. */
  lastError: Schema.OptionFromNullOr(LastError),
  /** Since when the past of the copy is known; `None` if no history is kept, or the first load has not ended. */
  history: Schema.OptionFromNullOr(HistoryRange),
  /**
   * The paths of fields that the service has sent and this version does not know, such as `data[].overtime`: those of the first
   * pages since the last first load, at most 20.
   */
  unknown: Schema.Array(Schema.String)
})) {}

/**
 * Says how far the copy of a company is. Fails with `Store` if there are no tables, and with `Checkpoint` if the
 * checkpoint cannot be read.
 */
export const status = (company: CompanyId): Effect.Effect<CopyStatus, SyncError, SqlClient> =>
  Effect.gen(function*() {
    const database = yield* opened(company)
    const { dialect: { bigint, millisOf, tables }, sql } = database
    // One statement, so that the counts are those of the checkpoint.
    const [row] = yield* retried(
      sql`SELECT c.total, c.deleted, c.missing, s.checkpoint, s.unknown, s.error_tag, s.error_text,
        ${millisOf("s.error_at")} AS error_at,
        ${knownColumns(database)}
      FROM (
        SELECT count(*) AS total,
          coalesce(sum(CASE WHEN deleted THEN 1 ELSE 0 END), 0) AS deleted,
          coalesce(sum(CASE WHEN missing_at IS NULL THEN 0 ELSE 1 END), 0) AS missing
        FROM ${tables.rows} WHERE company_id = ${bigint(company)}
      ) AS c LEFT JOIN ${tables.sync} AS s ON s.company_id = ${bigint(company)}`
    ).pipe(Effect.mapError(failedWith(company, "the status cannot be read")))
    const lastError = Option.map(Option.fromUndefinedOr(orUndefined(row?.["error_at"])), (at) => ({
      at: DateTime.makeUnsafe(at),
      tag: textOrUndefined(row?.["error_tag"]) ?? "",
      text: textOrUndefined(row?.["error_text"]) ?? ""
    }))
    const known = knownOf(row)
    return {
      checkpoint: yield* checkpointOf(row?.["checkpoint"], company),
      rows: numberOf(row?.["total"]),
      deleted: numberOf(row?.["deleted"]),
      missing: numberOf(row?.["missing"]),
      lastError,
      history: Option.map(Option.fromUndefinedOr(known.since), (since) => ({
        since: DateTime.makeUnsafe(since),
        last: DateTime.makeUnsafe(known.last)
      })),
      unknown: unknownIn(row?.["unknown"])
    }
  })

/**
 * Erases the copy of a company: its rows, its history, its checkpoint, its last error. A sync that has stored a page, or a
 * claim, fails with `Superseded` at its next commit and stores nothing more. A first load that has stored neither looks
 * like one that begins later, and loads a new copy. A database may keep the erased content in free pages until it is
 * vacuumed.
 */
export const purge = (company: CompanyId): Effect.Effect<void, SyncError, SqlClient> =>
  Effect.gen(function*() {
    const database = yield* opened(company)
    const { dialect: { bigint, tables }, sql } = database
    // In the order of a commit, so that the two never wait for each other. The first one holds up every commit, also one that
    // begins a copy: its rows would go, and its checkpoint stay. A history ends before its row may go.
    const erase = Effect.gen(function*() {
      yield* sql`INSERT INTO ${tables.sync} (company_id) VALUES (${bigint(company)})
        ON CONFLICT (company_id) DO UPDATE SET history_since = NULL, history_last = NULL, known_since = NULL`
      for (const table of [tables.sync, tables.rows, tables.history]) {
        yield* sql`DELETE FROM ${table} WHERE company_id = ${bigint(company)}`
      }
    })
    yield* transact(database, erase).pipe(Effect.mapError(failedWith(company, "the copy cannot be erased")))
  })

/** The part of a tagged error that `recordError` keeps. */
export interface ErrorToRecord {
  /** Its tag. */
  readonly _tag: string
  /** Its message, of which the first 2000 characters are kept. */
  readonly message: string
}

/** Characters of an error that are kept. */
const mostText = 2000

/** Keeps the error that a sync ended with, for `status`. The next complete sync run clears it. */
export const recordError = (
  company: CompanyId,
  error: ErrorToRecord
): Effect.Effect<void, SyncError, SqlClient> =>
  Effect.gen(function*() {
    const { dialect: { bigint, tables, timestamp }, sql } = yield* opened(company)
    const now = timestamp(yield* Clock.currentTimeMillis)
    const text = storable(error.message.slice(0, mostText))
    yield* retried(
      sql`INSERT INTO ${tables.sync} (company_id, error_at, error_tag, error_text)
      VALUES (${bigint(company)}, ${now}, ${storable(error._tag)}, ${text})
      ON CONFLICT (company_id) DO UPDATE
      SET error_at = excluded.error_at, error_tag = excluded.error_tag, error_text = excluded.error_text`
    ).pipe(Effect.mapError(failedWith(company, "the error cannot be recorded")))
  })
