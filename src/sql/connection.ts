/** The client of the context, without its transformations, and the dialect that it speaks. */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Random from "effect/Random"
import * as Result from "effect/Result"
import * as Scope from "effect/Scope"
import * as SqlClient from "effect/sql/SqlClient"
import * as Reason from "effect/sql/SqlError"
import { isSqlError, SqlError } from "effect/sql/SqlError"
import * as Stream from "effect/Stream"
import type { CompanyId } from "../Ids.ts"
import { storeFailed, SyncError } from "../sync/SyncError.ts"
import type { Dialect } from "./Dialect.ts"
import { postgres } from "./postgres.ts"
import { sqlite } from "./sqlite.ts"
import { defaultTable, type DialectName, refused, tablesOf } from "./tables.ts"

/** The client of the context with the dialect that it speaks, for a copy in this table. */
export const connect = (
  table: string = defaultTable
): Effect.Effect<{ readonly sql: SqlClient.SqlClient; readonly dialect: Dialect }, SyncError, SqlClient.SqlClient> =>
  Effect.gen(function*() {
    // A client may rename columns.
    const sql = (yield* SqlClient.SqlClient).withoutTransforms()
    const dialect = sql.onDialect({
      sqlite: () => dialectOf("sqlite", table),
      pg: () => dialectOf("pg", table),
      mysql: () => unsupported("MySQL"),
      mssql: () => unsupported("SQL Server"),
      clickhouse: () => unsupported("ClickHouse")
    })
    return { sql, dialect: yield* Effect.fromResult(dialect) }
  })

/** A dialect, with its statements for this table. */
export const dialectOf = (name: DialectName, table: string): Result.Result<Dialect, SyncError> =>
  Result.map(tablesOf(table, name), name === "sqlite" ? sqlite : postgres)

const unsupported = (name: string) =>
  Result.fail(refused(`the database is ${name}; a copy is kept in SQLite or PostgreSQL`))

// MERGED sqlFailure.ts: An error of the database as a `SyncError`, without what a server quotes of the rows.

/** A `SyncError` with the reason `Store`; one that is a `SyncError` already stays. */
export const failedWith = (company: CompanyId, what: string) => (error: SqlError | SyncError): SyncError =>
  isSqlError(error) ? storeFailed(company, `${what}: ${messageOf(error)}`, discreet(error)) : error

/** What the database said; the error of a driver may only say that a query failed. */
export const messageOf = ({ message, reason: { cause } }: SqlError): string =>
  Predicate.isError(cause) && cause.message !== "" ? cause.message : message

const classes = {
  ConnectionError: Reason.ConnectionError,
  AuthenticationError: Reason.AuthenticationError,
  AuthorizationError: Reason.AuthorizationError,
  SqlSyntaxError: Reason.SqlSyntaxError,
  UniqueViolation: Reason.UniqueViolation,
  ConstraintError: Reason.ConstraintError,
  DeadlockError: Reason.DeadlockError,
  SerializationError: Reason.SerializationError,
  LockTimeoutError: Reason.LockTimeoutError,
  StatementTimeoutError: Reason.StatementTimeoutError,
  UnknownError: Reason.UnknownError
}

/** The same error with its code and message alone: the details of a server quote rows, and a checkpoint has a cursor. */
export const discreet = (error: SqlError): SqlError => {
  const { reason } = error
  const { cause, message = reason._tag, operation } = reason
  const code = Predicate.hasProperty(cause, "code") ? { code: cause.code } : {}
  const why = messageOf(error)
  const constraint = "constraint" in reason ? reason.constraint : ""
  const fields = { cause: Object.assign(new Error(why), code), message, operation, constraint }
  return new Reason.SqlError({ reason: new classes[reason._tag](fields) })
}

// MERGED transaction.ts: Whole transactions, again where another attempt may succeed: locks, deadlocks, and connections that are lost.

/** How long a transaction is attempted, in milliseconds. */
const patience = 5000
const shortestPause = 10
const longestPause = 500

/**
 * Runs a transaction, and again for 5 seconds where another attempt may succeed. `isOpen` says that the outcome of the last
 * attempt is not known, as of a COMMIT without an answer: the attempt after it finds out.
 */
export const transact = <A, E>(
  sql: SqlClient.SqlClient,
  dialect: DialectName,
  body: Effect.Effect<A, E | SqlError>,
  isOpen: () => boolean = () => false
): Effect.Effect<A, E | SqlError> => {
  const transaction = sql.withTransaction(body)
  return retried(
    // A transaction that reads first and then writes would fail at once where another process wrote meanwhile.
    dialect === "sqlite"
      ? Effect.provideService(transaction, SqlClient.BeginTransaction, "BEGIN IMMEDIATE")
      : transaction,
    isOpen
  )
}

/** Runs what is one statement, or one transaction, and again as `transact` does. */
export const retried = <A, E, R>(
  self: Effect.Effect<A, E | SqlError, R>,
  isOpen: () => boolean = () => false
): Effect.Effect<A, E | SqlError, R> =>
  Effect.gen(function*() {
    const end = (yield* now) + patience
    for (let pause = shortestPause;; pause = Math.min(pause * 2, longestPause)) {
      const attempt = yield* Effect.result(surfaced(self))
      if (Result.isSuccess(attempt)) return attempt.success
      const again = isSqlError(attempt.failure) && (isTransient(attempt.failure) || isOpen())
      if (!again || (yield* now) >= end) return yield* Effect.fail(attempt.failure)
      yield* Effect.sleep(pause * (0.5 + (yield* Random.next)))
    }
  })

const now = Effect.map(Clock.monotonicTimeNanos, (nanos) => Number(nanos) / 1e6)

/** A connection that is lost within a transaction comes as a defect, since its ROLLBACK fails: it is a failure like others. */
const surfaced = <A, E, R>(self: Effect.Effect<A, E | SqlError, R>): Effect.Effect<A, E | SqlError, R> =>
  Effect.catchCause(self, (cause) => {
    const defects = cause.reasons.flatMap((reason) => Cause.isDieReason(reason) ? [reason.defect] : [])
    const lost = defects.find(isSqlError)
    return lost === undefined || !defects.every(isSqlError) || Cause.hasInterrupts(cause)
      ? Effect.failCause(cause)
      : Effect.fail(lost)
  })

/** The server shuts down or starts, the connection is lost, or it has no resources. `effect/sql` knows some of them. */
const transientStates = /^(57P0[123]|08...|53...)$/

/** Whether another attempt of the whole transaction may succeed. */
export const isTransient = (error: SqlError): boolean => {
  const code = codeOf(error)
  return error.isRetryable || (code !== undefined && transientStates.test(code))
}

/** The SQLSTATE of PostgreSQL. */
export const codeOf = ({ reason: { cause } }: SqlError): string | undefined =>
  Predicate.hasProperty(cause, "code") && Predicate.isString(cause.code) ? cause.code : undefined

// MERGED snapshot.ts: One state of the database for all statements of a stream: a read transaction, which ends with the stream.

/**
 * Runs a stream whose statements all see the database as it was at the first of them. They have a connection to themselves,
 * and hold up no writer. Within a transaction of the caller they are part of that instead, and see what it sees.
 */
export const inSnapshot = <A, E, R>(
  { dialect, sql }: { readonly dialect: Dialect; readonly sql: SqlClient.SqlClient },
  stream: Stream.Stream<A, E, R>
): Stream.Stream<A, E | SqlError, Exclude<R, SqlClient.TransactionConnection>> =>
  Stream.unwrap(Effect.gen(function*() {
    const outer = yield* Effect.serviceOption(sql.transactionService)
    const transaction = Option.isSome(outer) ? outer.value : [yield* retried(begun(sql, dialect)), 0] as const
    return Stream.provideService(stream, sql.transactionService, transaction)
  }))

/** A connection in a transaction that has its snapshot. An attempt that fails leaves none behind. */
const begun = Effect.fnUntraced(function*(sql: SqlClient.SqlClient, { hasMigrations, name, tables }: Dialect) {
  const scope = yield* Scope.fork(yield* Effect.scope)
  return yield* Effect.gen(function*() {
    const connection = yield* sql.reserve
    // Before BEGIN, which may be interrupted: without a transaction it does nothing. Where it fails, the connection is lost,
    // or the next transaction on it fails.
    yield* Effect.addFinalizer(() => Effect.ignore(connection.executeUnprepared("ROLLBACK", [], undefined)))
    yield* connection.executeUnprepared(begin[name], [], undefined)
    // BEGIN takes no snapshot. The first statement that reads does, and waits for a lock of SQLite.
    yield* connection.execute(hasMigrations, [tables.migrationsName], undefined)
    return connection
  }).pipe(
    Scope.provide(scope),
    Effect.onError((cause) => Scope.close(scope, Exit.failCause(cause)))
  )
})

/** Only where isolation is chosen does PostgreSQL keep one snapshot for several statements; SQLite always does. */
const begin: Readonly<Record<Dialect["name"], string>> = {
  sqlite: "BEGIN",
  pg: "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
}
