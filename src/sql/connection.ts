/** The tables of a copy in the database of the context: which, in which dialect, and whether they can be used. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { MigrationError } from "effect/sql/Migrator"
import * as SqlClient from "effect/sql/SqlClient"
import { isSqlError, type SqlError } from "effect/sql/SqlError"
import * as Stream from "effect/Stream"
import type { CompanyId } from "../Ids.ts"
import * as Ground from "../internal/sql/dialect.ts"
import { discreet, messageOf } from "../internal/sql/failure.ts"
import * as Migrate from "../internal/sql/migrate.ts"
import { inSnapshot } from "../internal/sql/transaction.ts"
import { storeFailed, type SyncError } from "../sync/SyncError.ts"
import type { Dialect } from "./Dialect.ts"
import { postgres } from "./postgres.ts"
import { sqlite } from "./sqlite.ts"
import { defaultTable, namesOf, refused } from "./tableNames.ts"
export type { OtherSchema } from "../internal/sql/migrate.ts"
export { inSnapshot }

/** Which tables a copy is kept in. */
export interface TableOptions {
  /**
   * The table of the rows: `name`, or on PostgreSQL `schema.name` of a schema that exists. Each is at most 40 characters of
   * a-z, 0-9 and _. The other tables and the views are named after it. Default `time_punches`.
   */
  readonly table?: string | undefined
}

/** The client of the context with the dialect that it speaks, for a copy in this table. @internal */
export const connect = (
  table: string = defaultTable
): Effect.Effect<Ground.Database<Dialect>, SyncError, SqlClient.SqlClient> =>
  Effect.gen(function*() {
    // A client may rename columns.
    const sql = (yield* SqlClient.SqlClient).withoutTransforms()
    const { name } = yield* Effect.fromResult(Result.mapError(
      Ground.dialectOf(sql),
      (name) => refused(`the database is ${name}; a copy is kept in SQLite or PostgreSQL`)
    ))
    return { sql, dialect: yield* Effect.fromResult(dialectIn(name, table)) }
  })

/** A dialect, with its statements for this table. @internal */
export const dialectIn = (name: Ground.DialectName, table: string): Result.Result<Dialect, SyncError> =>
  Result.map(namesOf(table, grounds[name]), dialects[name])

const grounds = { sqlite: Ground.sqlite, pg: Ground.postgres }

const dialects = { sqlite, pg: postgres }

/** Set by `inOneState`, with the table that it has checked. */
const Checked = Context.Reference<
  | { readonly table: string; readonly others: Migrate.Others; readonly database: Ground.Database<Dialect> }
  | undefined
>(
  "effect-time-punches/sql/Checked",
  { defaultValue: () => undefined }
)

/**
 * The same, for a call that needs the tables. Fails if they are not there or too old, or if they are newer and `others` is
 * `none`. @internal
 */
export const opened = (
  company: CompanyId,
  tableOptions: TableOptions,
  others: Migrate.Others = "newer"
): Effect.Effect<Ground.Database<Dialect>, SyncError, SqlClient.SqlClient> =>
  Effect.mapError(verified(tableOptions, others), failedWith(company, "the schema cannot be read"))

const verified = Effect.fnUntraced(function*({ table = defaultTable }: TableOptions, others: Migrate.Others) {
  const checked = yield* Checked
  if (checked?.table === table && (checked.others === others || checked.others === "none")) return checked.database
  const database = yield* connect(table)
  yield* verify(database, others)
  return database
})

/** Runs a stream in one snapshot, in which the schema is checked once for all its reads of the copy. @internal */
export const inOneState = <A, E, R>(
  stream: Stream.Stream<A, E, R>,
  tableOptions: TableOptions = {},
  others: Migrate.Others = "newer"
): Stream.Stream<A, E | SqlError | SyncError, R | SqlClient.SqlClient> =>
  Stream.unwrap(Effect.map(connect(tableOptions.table), (client) => {
    const checked = Effect.map(verified(tableOptions, others), (database) => {
      const { table = defaultTable } = tableOptions
      return Stream.provideService(stream, Checked, { table, others, database })
    })
    return inSnapshot(client, Stream.unwrap(checked))
  }))

/** Creates the tables, or brings them to the schema of this release. @internal */
export const migrate = (
  database: Ground.Database<Dialect>
): Effect.Effect<void, SqlError | SyncError | MigrationError> =>
  Effect.catchTag(Migrate.migrate(database, database.dialect.migrations), "OtherSchema", otherSchema)

/** Fails if the schema is older than the one of this release, or is newer and `others` is `none`. @internal */
export const verify = (
  database: Ground.Database<Dialect>,
  others: Migrate.Others
): Effect.Effect<void, SqlError | SyncError> =>
  Effect.catchTag(Migrate.verify(database, database.dialect.migrations, others), "OtherSchema", otherSchema)

const otherSchema = (error: Migrate.OtherSchema) => Effect.fail(refused(error.detail("run SqlStore.migrations"), error))

/**
 * A `SyncError` with the reason `Store`, without what a server quotes of the rows; one that is a `SyncError` already stays.
 * @internal
 */
export const failedWith = (company: CompanyId, what: string) => (error: SqlError | SyncError): SyncError =>
  isSqlError(error) ? storeFailed(company, `${what}: ${messageOf(error)}`, discreet(error)) : error
