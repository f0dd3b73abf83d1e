/** Whole transactions, again where another attempt may succeed: locks, deadlocks, and connections that are lost. */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Random from "effect/Random"
import * as Result from "effect/Result"
import * as SqlClient from "effect/sql/SqlClient"
import { isSqlError, SqlError } from "effect/sql/SqlError"
import type { DialectName } from "./dialect/tables.ts"

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
