/** An error of the database as a `SyncError`, without what a server quotes of the rows. */
import * as Predicate from "effect/Predicate"
import { isSqlError, type SqlError } from "effect/sql/SqlError"
import * as Reason from "effect/sql/SqlError"
import type { CompanyId } from "../Ids.ts"
import { storeFailed, SyncError } from "../sync/SyncError.ts"

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
const discreet = (error: SqlError): SqlError => {
  const { reason } = error
  const { cause, message = reason._tag, operation } = reason
  const code = Predicate.hasProperty(cause, "code") ? { code: cause.code } : {}
  const why = messageOf(error)
  const constraint = "constraint" in reason ? reason.constraint : ""
  const fields = { cause: Object.assign(new Error(why), code), message, operation, constraint }
  return new Reason.SqlError({ reason: new classes[reason._tag](fields) })
}
