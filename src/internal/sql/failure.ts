/** Errors of a database: which may pass at another attempt, and what may be shown of them. */
import * as Predicate from "effect/Predicate"
import * as Reason from "effect/sql/SqlError"

/** The server shuts down or starts, the connection is lost, or it has no resources. `effect/sql` knows some of them. */
const transientStates = /^(57P0[123]|08...|53...)$/

/** Whether another attempt of the whole transaction may succeed. */
export const isTransient = (error: Reason.SqlError): boolean => {
  const code = codeOf(error)
  return error.isRetryable || (code !== undefined && transientStates.test(code))
}

/** The error of the database that an error is, or has as its cause, as a `SyncError` has. */
export const sqlErrorOf = (error: unknown): Reason.SqlError | undefined =>
  Reason.isSqlError(error) ? error : Predicate.hasProperty(error, "cause") ? sqlErrorOf(error.cause) : undefined

/** Whether another attempt may succeed after an error of any kind. */
export const mayPass = (error: unknown): boolean => {
  const found = sqlErrorOf(error)
  return found !== undefined && isTransient(found)
}

/** Whether the server itself said it, such as that it takes no more connections: it has answered. */
export const isAnswer = (error: Reason.SqlError): boolean =>
  error.reason._tag === "AuthenticationError" || /^(?=.*\d)[\dA-Z]{5}$/.test(codeOf(error) ?? "")

/** Whether another process has locked the file of SQLite. A file that cannot be opened also counts as transient. */
export const isLocked = (error: unknown): boolean =>
  Reason.isSqlError(error) && error.reason._tag === "LockTimeoutError"

/** `SQLITE_READONLY_DBMOVED`, as `sql/node` says it too, which imports nothing of ours. */
const movedCode = 1032

/** Whether the file of SQLite was removed or replaced since it was opened: this process cannot reach the file of that name. */
export const isMoved = (error: unknown): boolean => {
  const cause = sqlErrorOf(error)?.reason.cause
  return Predicate.hasProperty(cause, "code") && cause.code === movedCode
}

/** What `sql/node` advises, if it refused a file that another user may have put there. */
export const ownAdviceOf = (error: unknown): string | undefined =>
  Predicate.hasProperty(error, "advice") && Predicate.isString(error.advice)
    ? error.advice
    : Predicate.hasProperty(error, "cause")
    ? ownAdviceOf(error.cause)
    : undefined

/** The SQLSTATE of PostgreSQL. */
const codeOf = ({ reason: { cause } }: Reason.SqlError): string | undefined =>
  Predicate.hasProperty(cause, "code") && Predicate.isString(cause.code) ? cause.code : undefined

/**
 * What the database said; the error of a driver may only say that a query failed. Of a refused login only the code: a server, or a
 * pooler in front of it, that quotes what it was sent quotes the password.
 */
export const messageOf = (error: Reason.SqlError): string => {
  const { message, reason } = error
  if (reason._tag === "AuthenticationError") return `the login was refused (SQLSTATE ${codeOf(error) ?? "unknown"})`
  return Predicate.isError(reason.cause) && reason.cause.message !== "" ? reason.cause.message : message
}

/** The same error with its code and message alone: the details of a server quote rows, and a checkpoint has a cursor. */
export const discreet = (error: Reason.SqlError): Reason.SqlError => {
  const { reason } = error
  const { cause, message = reason._tag, operation } = reason
  const code = Predicate.hasProperty(cause, "code") ? { code: cause.code } : {}
  const constraint = "constraint" in reason ? reason.constraint : ""
  const advice = ownAdviceOf(error)
  const advised = advice === undefined ? {} : { advice }
  const fields = { cause: Object.assign(new Error(messageOf(error)), code, advised), message, operation, constraint }
  return new Reason.SqlError({ reason: new Reason[reason._tag](fields) })
}
