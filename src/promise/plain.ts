/** From the values and errors of the main entry to plain ones. */
import * as Cause from "effect/Cause"
import * as Config from "effect/Config"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { getAdvice, InvalidRequest, isListError, type ListError } from "../ApiError.ts"
import { BackfillError as FailedBackfill } from "../Backfill.ts"
import { firstIssue } from "../internal/wire/issue.ts"
import type { Page } from "../Page.ts"
import type { TimePunch } from "../TimePunch.ts"
import * as Errors from "./errors.ts"
import type * as Plain from "./values.ts"

const dateOf = (at: Option.Option<DateTime.Utc>): Date | undefined =>
  Option.getOrUndefined(Option.map(at, DateTime.toDateUtc))

/** A punch with `Date`s, and `undefined` where it has nothing. */
export const plainPunch = (punch: TimePunch): Plain.TimePunch => ({
  ...punch,
  shiftId: Option.getOrUndefined(punch.shiftId),
  departmentId: Option.getOrUndefined(punch.departmentId),
  clockedIn: DateTime.toDateUtc(punch.clockedIn),
  clockedOut: dateOf(punch.clockedOut),
  posType: Option.getOrUndefined(punch.posType),
  breaks: punch.breaks.map((each) => ({ ...each, in: DateTime.toDateUtc(each.in), out: dateOf(each.out) })),
  created: dateOf(punch.created),
  modified: dateOf(punch.modified)
})

/** A page with plain punches. */
export const plainPage = ({ cursor, index, items, response }: Page): Plain.Page => ({
  items: items.map(plainPunch),
  index,
  cursor: {
    sent: Option.getOrUndefined(cursor.sent),
    current: Option.getOrUndefined(cursor.current),
    prev: Option.getOrUndefined(cursor.prev),
    next: Option.getOrUndefined(cursor.next),
    count: Option.getOrUndefined(cursor.count)
  },
  response: {
    asOf: dateOf(response.asOf),
    sentAt: DateTime.toDateUtc(response.sentAt),
    requestId: Option.getOrUndefined(response.requestId),
    attempts: response.attempts,
    remaining: Option.getOrUndefined(response.remaining),
    apiVersion: Option.getOrUndefined(response.apiVersion),
    askedVersion: Option.getOrUndefined(response.askedVersion)
  }
})

const plainOption = <A>(value: A | Option.Option<A> | undefined): A | undefined =>
  Option.isOption(value) ? Option.getOrUndefined(value) : value

const fieldsOf = (error: ListError): Errors.ErrorFields => ({
  message: error.message,
  advice: getAdvice(error),
  kind: error.kind,
  isRetryable: error.isRetryable,
  companyId: "hasCompany" in error && !error.hasCompany ? undefined : error.companyId,
  resumeFrom: Option.getOrUndefined(error.resumeFrom),
  retryAfter: "retryAfter" in error
    ? Option.getOrUndefined(Option.map(error.retryAfter, Duration.toMillis))
    : undefined,
  pagesCompleted: error.pagesCompleted,
  attempts: error.attempts,
  requestId: "requestId" in error ? Option.getOrUndefined(error.requestId) : undefined,
  status: "status" in error ? plainOption(error.status) : undefined,
  reason: "reason" in error ? error.reason : undefined,
  code: "code" in error ? Option.getOrUndefined(error.code) : undefined,
  path: "field" in error ? error.field : "path" in error ? error.path : undefined,
  detail: "detail" in error ? error.detail : undefined,
  punchId: "punchId" in error ? Option.getOrUndefined(error.punchId) : undefined,
  problem: "problem" in error ? error.problem : undefined,
  cause: error
})

/** What an option is called here, by its name in the main entry. */
const ownNames: Partial<Record<string, string>> = {
  company: "companyId",
  "company.id": "companyId",
  "company.guid": "companyGuid",
  perSecond: "requestsPerSecond",
  version: "apiVersion"
}

/** What a value must be, where the main entry names one of its types. */
const ownWords: ReadonlyArray<readonly [RegExp, string]> = [
  [/^a company is a number.*/, "must be a number"],
  [/: give \{ id, guid \}.*/, ""],
  [/\ba DateTime\b/, "a Date"],
  [/^Expected \w+Id\b.*/, "Expected a number"],
  [/^Expected (CompanyGuid|BusinessDate)\b.*/, "Expected a text"]
]

/** A refusal with the names and the types that a caller without Effect gives. */
const inOwnWords = (error: InvalidRequest) => {
  const field = ownNames[error.field] ?? error.field
  const detail = ownWords.reduce((text, [word, own]) => text.replace(word, own), error.detail)
  return new InvalidRequest({ ...error, field, detail, hasCompany: error.hasCompany && field !== "companyId" })
}

/** A failure as what the caller catches. An error that this library does not know stays as it is. */
export const plainError = (error: unknown): unknown => {
  if (error instanceof InvalidRequest) return new Errors.InvalidRequest(fieldsOf(inOwnWords(error)))
  if (isListError(error)) return new Errors[error._tag](fieldsOf(error))
  if (error instanceof FailedBackfill) {
    const { cause, message, unfinished } = error
    // The call was refused: what it was to read is still the caller's.
    if (cause._tag === "InvalidRequest") return plainError(cause)
    return new Errors.BackfillError({ ...fieldsOf(cause), message, unfinished, cause: plainError(cause) })
  }
  if (error instanceof Config.ConfigError) {
    const { detail, path } = Schema.isSchemaError(error.cause)
      ? firstIssue(error.cause)
      : { detail: error.message, path: "" }
    const name = ownNames[path] ?? path
    return new Errors.ConfigError({
      message: detail.startsWith(`${path} `) ? name + detail.slice(path.length) : detail,
      path: name,
      advice: "Nothing was sent. Change the option.",
      kind: "request",
      isRetryable: false,
      cause: error
    })
  }
  return error
}

const isDate = (value: unknown): value is Date => value instanceof Date

/** A filter with the instants of its `Date`s. A key that no filter has is kept, so that it is refused by its name. */
export const instantsOf = (value: unknown): unknown => {
  // An invalid date stays one, and is refused where it stands.
  if (isDate(value)) return Option.getOrElse(DateTime.make(value), () => value)
  if (Array.isArray(value) || !Predicate.isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, instantsOf(inner)]))
}

/** What an effect gives, now; throws what it fails with. */
export const orThrow = <A, E>(effect: Effect.Effect<A, E>): A => {
  const exit = Effect.runSyncExit(effect)
  if (Exit.isSuccess(exit)) return exit.value
  throw plainError(Cause.squash(exit.cause))
}
