/** A copy in the database of the context: in which dialect, and whether its tables can be used. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { MigrationError } from "effect/sql/Migrator"
import * as SqlClient from "effect/sql/SqlClient"
import { isSqlError, type SqlError } from "effect/sql/SqlError"
import * as Stream from "effect/Stream"
import type { CompanyId } from "../Ids.ts"
import { type Database, type DialectName, dialectOf } from "../internal/sql/dialect.ts"
import { discreet, messageOf } from "../internal/sql/failure.ts"
import * as Migrate from "../internal/sql/migrate.ts"
import { inSnapshot } from "../internal/sql/transaction.ts"
import { storeFailed, SyncError } from "../sync/SyncError.ts"
import type { Dialect } from "./Dialect.ts"
import { postgres } from "./postgres.ts"
import { sqlite } from "./sqlite.ts"
export type { OtherSchema } from "../internal/sql/migrate.ts"
export { inSnapshot }

/** The dialects, with the statements of a copy. @internal */
export const dialects: { readonly [Name in DialectName]: Dialect } = { sqlite, pg: postgres }

/** The client of the context with the dialect that it speaks. @internal */
export const connect: Effect.Effect<Database<Dialect>, SyncError, SqlClient.SqlClient> = Effect.gen(
  function*() {
    // A client may rename columns.
    const sql = (yield* SqlClient.SqlClient).withoutTransforms()
    const { name } = yield* Effect.mapError(
      Effect.fromResult(dialectOf(sql)),
      (name) => refused(`the database is ${name}; a copy is kept in SQLite or PostgreSQL`)
    )
    return { sql, dialect: dialects[name] }
  }
)

/** The store cannot be used as it is configured; no company is concerned. @internal */
export const refused = (detail: string, cause?: unknown): SyncError =>
  new SyncError({ reason: "Store", detail, ...(cause === undefined ? {} : { cause }) })

/** Set by `inOneState`, which has checked it. */
const Checked = Context.Reference<
  { readonly allowed: Migrate.AllowedSchemas; readonly database: Database<Dialect> } | undefined
>(
  "effect-time-punches/sql/Checked",
  { defaultValue: () => undefined }
)

/**
 * The same, for a call that needs the tables. Fails if they are not there or too old, or if they are newer and `allowed` is
 * `none`. @internal
 */
export const opened = (
  company: CompanyId,
  allowed: Migrate.AllowedSchemas = "newer"
): Effect.Effect<Database<Dialect>, SyncError, SqlClient.SqlClient> =>
  Effect.mapError(verified(allowed), failedWith(company, "the schema cannot be read"))

const verified = Effect.fnUntraced(function*(allowed: Migrate.AllowedSchemas) {
  const checked = yield* Checked
  if (checked !== undefined && (checked.allowed === allowed || checked.allowed === "none")) return checked.database
  const database = yield* connect
  yield* verify(database, allowed)
  return database
})

/** Runs a stream in one snapshot, in which the schema is checked once for all its reads of the copy. @internal */
export const inOneState = <A, E, R>(
  stream: Stream.Stream<A, E, R>,
  allowed: Migrate.AllowedSchemas = "newer"
): Stream.Stream<A, E | SqlError | SyncError, R | SqlClient.SqlClient> =>
  Stream.unwrap(Effect.map(connect, (client) => {
    const checked = Effect.map(
      verified(allowed),
      (database) => Stream.provideService(stream, Checked, { allowed, database })
    )
    return inSnapshot(client, Stream.unwrap(checked))
  }))

/** Creates the tables, or brings them to the schema of this release. @internal */
export const migrate = (
  database: Database<Dialect>
): Effect.Effect<void, SqlError | SyncError | MigrationError> =>
  Effect.catchTag(Migrate.migrate(database, database.dialect.migrations), "OtherSchema", otherSchema)

/** Fails if the schema is older than the one of this release, or is newer and `allowed` is `none`. @internal */
export const verify = (
  database: Database<Dialect>,
  allowed: Migrate.AllowedSchemas
): Effect.Effect<void, SqlError | SyncError> =>
  Effect.catchTag(Migrate.verify(database, database.dialect.migrations, allowed), "OtherSchema", otherSchema)

const otherSchema = (error: Migrate.OtherSchema) => Effect.fail(refused(error.detail("run SqlStore.migrations"), error))

/**
 * A `SyncError` with the reason `Store`, without what a server quotes of the rows; one that is a `SyncError` already stays.
 * @internal
 */
export const failedWith = (company: CompanyId, what: string) => (error: SqlError | SyncError): SyncError =>
  isSqlError(error) ? storeFailed(company, `${what}: ${messageOf(error)}`, discreet(error)) : error
