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

/** The same of an error, or of its cause. */
export const mayPass = (error: unknown): boolean =>
  Reason.isSqlError(error) ? isTransient(error) : Predicate.hasProperty(error, "cause") && mayPass(error.cause)

/** Whether another process has locked the file of SQLite. A file that cannot be opened also counts as transient. */
export const isLocked = (error: unknown): boolean =>
  Reason.isSqlError(error) && error.reason._tag === "LockTimeoutError"

/**
 * Whether an error, or its cause, is that the file of SQLite was removed or replaced since it was opened: this process cannot
 * reach what has the name now.
 */
export const isMoved = (error: unknown): boolean =>
  Reason.isSqlError(error)
    ? Predicate.hasProperty(error.reason.cause, "code") && error.reason.cause.code === 1032
    : Predicate.hasProperty(error, "cause") && isMoved(error.cause)

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
  const fields = { cause: Object.assign(new Error(messageOf(error)), code), message, operation, constraint }
  return new Reason.SqlError({ reason: new Reason[reason._tag](fields) })
}
