/** A copy in the database of the context: in which dialect, and whether its tables can be used. */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type { MigrationError } from "effect/sql/Migrator"
import * as SqlClient from "effect/sql/SqlClient"
import { isSqlError, type SqlError } from "effect/sql/SqlError"
import * as Stream from "effect/Stream"
import type { Company } from "../Company.ts"
import type { CompanyId } from "../Ids.ts"
import { type Database, type DialectName, dialectOf } from "../internal/sql/dialect.ts"
import { discreet, messageOf } from "../internal/sql/failure.ts"
import * as Migrate from "../internal/sql/migrate.ts"
import { awaited, inSnapshot } from "../internal/sql/transaction.ts"
import { storeFailed, type SyncError } from "../sync/SyncError.ts"
import type { Dialect } from "./Dialect.ts"
import { postgres } from "./postgres.ts"
import { sqlite } from "./sqlite.ts"
export type { OtherSchema } from "../internal/sql/migrate.ts"
export { inSnapshot }

/** The dialects, with the statements of a copy. @internal */
export const dialects: { readonly [Name in DialectName]: Dialect } = { sqlite, pg: postgres }

/** The database speaks no dialect in which a copy is kept. @internal */
export class OtherDatabase extends Data.TaggedError("OtherDatabase")<{ readonly name: string }> {}

/** Why a copy cannot be used at all; no company is concerned. @internal */
export type Unusable = Migrate.OtherSchema | OtherDatabase

/** @internal */
export const unusableText = (error: Unusable): string =>
  error._tag === "OtherSchema"
    ? error.detail("run SqlStore.migrations")
    : `the database is ${error.name}; a copy is kept in SQLite or PostgreSQL`

/** The client of the context with the dialect that it speaks. @internal */
export const connect: Effect.Effect<Database<Dialect>, OtherDatabase, SqlClient.SqlClient> = Effect.gen(
  function*() {
    // A client may rename columns.
    const sql = (yield* SqlClient.SqlClient).withoutTransforms()
    const { name } = yield* Effect.mapError(
      Effect.fromResult(dialectOf(sql)),
      (name) => new OtherDatabase({ name })
    )
    return { sql, dialect: dialects[name] }
  }
)

/** The id of a company that a caller names by its id or whole. @internal */
export const companyIdOf = (company: CompanyId | Company): CompanyId =>
  typeof company === "number" ? company : company.id

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
  Effect.mapError(verified(allowed), failedWith(company, cannotRead))

const verified = Effect.fnUntraced(function*(allowed: Migrate.AllowedSchemas) {
  const checked = yield* Checked
  if (checked !== undefined && (checked.allowed === allowed || checked.allowed === "none")) return checked.database
  const database = yield* connect
  yield* awaited(verify(database, allowed))
  return database
})

/** Runs a stream in one snapshot, in which the schema is checked once for all its reads of the copy. @internal */
export const inOneState = <A, E, R>(
  company: CompanyId,
  stream: Stream.Stream<A, E, R>,
  allowed: Migrate.AllowedSchemas = "newer"
): Stream.Stream<A, E | SqlError | SyncError, R | SqlClient.SqlClient> =>
  Stream.unwrap(Effect.map(Effect.mapError(connect, failedWith(company, cannotRead)), (client) => {
    const checked = Effect.map(
      Effect.mapError(verified(allowed), (error) => isSqlError(error) ? error : failedWith(company, cannotRead)(error)),
      (database) => Stream.provideService(stream, Checked, { allowed, database })
    )
    return inSnapshot(client, Stream.unwrap(checked))
  }))

const cannotRead = "the schema cannot be read"

/** Creates the tables, or brings them to the schema of this release. @internal */
export const migrate = (
  database: Database<Dialect>
): Effect.Effect<void, SqlError | MigrationError | Migrate.OtherSchema> =>
  Migrate.migrate(database, database.dialect.migrations)

/** Fails if the schema is older than the one of this release, or is newer and `allowed` is `none`. @internal */
export const verify = (
  database: Database<Dialect>,
  allowed: Migrate.AllowedSchemas
): Effect.Effect<void, SqlError | Migrate.OtherSchema> => Migrate.verify(database, database.dialect.migrations, allowed)

/**
 * A `SyncError` with the reason `Store`, without what a server quotes of the rows; one that is a `SyncError` already stays.
 * @internal
 */
export const failedWith = (company: CompanyId, what: string) => (error: SqlError | SyncError | Unusable): SyncError => {
  if (isSqlError(error)) return storeFailed(company, `${what}: ${messageOf(error)}`, discreet(error))
  return error._tag === "SyncError" ? error : storeFailed(company, unusableText(error), error)
}
