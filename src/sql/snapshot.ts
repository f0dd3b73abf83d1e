/** One state of the database for all statements of a stream: a read transaction, which ends with the stream. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import type * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import * as Stream from "effect/Stream"
import type { Dialect } from "./dialect/Dialect.ts"
import { retried } from "./transaction.ts"

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
