/** Describes the errors of the library in the terms of the command. Loaded when a command has failed, or reads. */
import type * as Config from "effect/Config"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { getAdvice, type ListError } from "../ApiError.ts"
import type { FleetError } from "../fleet/FleetError.ts"
import { isMoved, messageOf, ownAdviceOf } from "../internal/sql/failure.ts"
import { printable } from "../internal/text/printable.ts"
import { firstIssue } from "../internal/wire/issue.ts"
import type { OtherSchema } from "../sql/connection.ts"
import type { HistoryUnavailable } from "../sql/known.ts"
import type { SyncError } from "../sync/SyncError.ts"
import {
  byCode,
  codeOf,
  codeOfError,
  codeOfKind,
  CommandFailure,
  describeFileError,
  errorCode,
  type ExitCode,
  exitCode,
  type ExpectedError,
  type OutputClosed
} from "./failure.ts"

/** Where a file that the command keeps is wrong, and how. */
export const issueText = (error: Schema.SchemaError): string => {
  const { detail, path } = firstIssue(error)
  return printable([path, detail].filter((part) => part !== "").join(": "))
}

/** Whether an error ends a command that repeats: no later run of the same process can cure it. */
export const isFinal = (error: ExpectedError): boolean => {
  const { code } = commandFailureOf(error)
  return code === exitCode.usage || code === exitCode.configuration || code === exitCode.credential ||
    code === exitCode.forbidden || isMoved(error)
}

/**
 * Describes an error in the terms of the command line; `resumeHint` adds how to resume. A run whose cursor the service
 * rejects cannot be resumed, so the hint is left out.
 */
export const commandFailureOf = (error: ExpectedError, ...resumeHint: ReadonlyArray<string>): CommandFailure => {
  const { advice, code, message = error.message } = describe(error)
  return new CommandFailure({ message, advice: isCursorRejected(error) ? advice : [...advice, ...resumeHint], code })
}

const isCursorRejected = (error: ExpectedError): boolean => error._tag === "UnprocessableEntity" && error.isCursor

/** Turns expected errors into a `CommandFailure`, with a hint how to resume the run. */
export const mapToCommandFailure =
  (resumeHint: (error: ExpectedError) => Effect.Effect<ReadonlyArray<string>>) =>
  <A, E extends ExpectedError | CommandFailure | OutputClosed, R>(self: Effect.Effect<A, E, R>) =>
    Effect.catchIf(
      self,
      (error): error is Exclude<E, CommandFailure | OutputClosed> =>
        error._tag !== "CommandFailure" && error._tag !== "OutputClosed",
      (error) => Effect.flatMap(resumeHint(error), (lines) => Effect.fail(commandFailureOf(error, ...lines)))
    )

interface Description {
  readonly code: ExitCode
  readonly advice: ReadonlyArray<string>
  /** Default: the error's own message. */
  readonly message?: string
}

const advise = (code: ExitCode, ...advice: ReadonlyArray<string>) => ({ code, advice })

const describe = (error: ExpectedError): Description => {
  switch (error._tag) {
    case "InvalidRequest":
      return { ...advise(codeOfKind[error.kind]), message: flagMessage(error.field, error.detail) }
    case "ConfigError":
      return {
        ...advise(
          codeOf[error._tag],
          "Settings are read from the environment: see time-punches help environment, and time-punches doctor."
        ),
        message: settingMessage(error)
      }
    case "UnexpectedStatus":
      return advise(
        codeOfKind[error.kind],
        adviceOf(error),
        ...(error.status === 404 ? [`The client appends /v2/company/${error.companyId}/time_punches to it.`] : [])
      )
    case "UnprocessableEntity":
      return advise(
        codeOfKind[error.kind],
        `${getAdvice(error)}${isCursorRejected(error) ? " Leave --cursor out; an export needs --force." : ""}`
      )
    case "UnwritablePunch":
      return advise(codeOf[error._tag], "Run time-punches doctor to find the cause.")
    case "SumOverflow":
      return advise(
        codeOf[error._tag],
        "Look at the amounts of that punch. If they are right, sum fewer punches at a time."
      )
    case "MissingDayRule":
      return advise(
        codeOf[error._tag],
        "Add it and its zone to the file of --zone-file: without one, its punches belong to no local day."
      )
    case "PeriodClosed":
      return advise(
        codeOf[error._tag],
        `Close another period, or correct that one. If you corrected a zone, add --accept edge: the new close then begins where close ${error.close} ends.`
      )
    case "UnknownClose":
      return advise(codeOf[error._tag], "time-punches payroll list lists the closes and their revisions.")
    case "CloseChanged":
      return advise(codeOf[error._tag], "Nothing was written. Run the same command again.")
    case "OutcomeUnknown":
      return advise(
        codeOf[error._tag],
        checkDatabase,
        ...error.revisions.map((id) =>
          `Then time-punches payroll show ${id} says whether it was written, and what is due.`
        )
      )
    case "VerificationFailed":
      return advise(
        codeOf[error._tag],
        error.revisions.length === 0
          ? "The history was pruned, or begins after them. The record is as it was; to verify closes, keep the history longer."
          : "Nothing was written. Look at these people before anything is paid; payroll correct --accept rules corrects after a release with other rules."
      )
    case "SyncError":
      return describeSync(error)
    case "FleetError":
      return {
        ...(error.reason._tag === "Store"
          ? advise(exitCode.system, databaseAdvice(error.reason.cause))
          : fleetEnds[error.reason._tag]),
        message: printable(error.reason.detail)
      }
    case "HistoryUnavailable":
      return describeUnknown(error)
    case "SqlError":
    case "MigrationError":
      if (isOtherSchema(error.cause)) return describeSchema(error.cause)
      return {
        ...advise(codeOf[error._tag], databaseAdvice(error)),
        message: error._tag === "SqlError"
          ? `the database failed: ${printable(messageOf(error))}${explained(error)}`
          : `the database failed: ${printable(error.message)}`
      }
    case "PlatformError":
      return { code: codeOf[error._tag], ...describeFileError(error) }
    default:
      return advise(codeOfError(error._tag, error.kind), adviceOf(error))
  }
}

/** Without the options of a program: the command has the variables alone. */
const adviceOf = (error: ListError): string =>
  getAdvice(error).replaceAll(/\([\w, ]*?or (TIME_PUNCHES_[^)]*)\)/g, "($1)")

const describeSync = ({ companyId, reason }: SyncError): Description => {
  switch (reason._tag) {
    case "Checkpoint":
      return advise(
        exitCode.configuration,
        "Nothing was sent. Restore the checkpoint of the company in time_punches_sync, or set it to NULL to load everything again."
      )
    case "NewerCheckpoint":
      return {
        ...advise(exitCode.data, "Use that release. The copy is as it was, and nothing was sent."),
        message: printable(`the checkpoint of company ${companyId} cannot be read: ${reason.detail}`)
      }
    case "CursorLost":
      return advise(exitCode.data, "The next sync begins the run again.")
    case "TooManyMissing":
      return advise(
        exitCode.data,
        "Check the permissions of the credential. If the rows are really missing, --allow-missing marks them."
      )
    case "Superseded":
      return advise(exitCode.system, "Another sync of this company runs: stop one of them.")
    case "Store": {
      const { cause, detail } = reason
      if (isOtherSchema(cause)) return describeSchema(cause)
      return {
        // Not only a sync reads a copy.
        message: printable(`the copy of company ${companyId} failed: ${detail}`),
        ...(Schema.isSchemaError(cause)
          ? advise(
            exitCode.data,
            "Something else writes into the tables of the copy: time-punches doctor --database … --full finds it."
          )
          : advise(exitCode.system, databaseAdvice(cause)))
      }
    }
  }
}

const checkDatabase = "Check the database: its address, its rights, its space, and who has locked it."

const fleetEnds: { readonly [R in Exclude<FleetError["reason"]["_tag"], "Store">]: Omit<Description, "message"> } = {
  NotMigrated: advise(exitCode.data),
  AlreadyRunning: advise(exitCode.system, "Give each process its own --name; a file has one process.")
}

/** What the code of the system means, if the file of a database could not be opened: the same words as for other files. */
const explained = (error: unknown): string => {
  for (let cause = error; Predicate.isError(cause); cause = cause.cause) {
    const reason = Option.flatMapNullishOr(errorCode(cause), (code) => byCode[code])
    if (Option.isSome(reason)) return ` (${reason.value.what})`
  }
  return ""
}

/** By its tag: the module of the class would load what a run without a database does not need. */
const isOtherSchema = (cause: unknown): cause is OtherSchema => Predicate.isTagged(cause, "OtherSchema")

const describeSchema = (schema: OtherSchema): Description => {
  const { kind, needed, version } = schema
  if (kind === "foreign" || kind === "unpublished") {
    return { code: kind === "foreign" ? exitCode.system : exitCode.data, message: schema.detail(""), advice: [] }
  }
  return {
    code: exitCode.data,
    ...(version === 0
      ? { message: "the database has no copy", advice: ["Run time-punches sync with this database first."] }
      : {
        message: `the tables of the copy have schema ${version}, and this release needs ${needed}`,
        advice: [
          kind === "later"
            ? "A later release changed them: use that release. Nothing was written."
            : "Run time-punches sync with this database: it changes the tables, and keeps their rows."
        ]
      })
  }
}

const describeUnknown = ({ companyId, requested, since }: HistoryUnavailable): Description => ({
  code: codeOf.HistoryUnavailable,
  message: Option.match(since, {
    onNone: () => `the copy has no history of company ${companyId}, so what it had before is not known`,
    onSome: (since) =>
      `the history of company ${companyId} is known since ${DateTime.formatIso(since)}, and --since is ${
        DateTime.formatIso(requested)
      }`
  }),
  advice: [
    Option.isNone(since)
      ? "Run time-punches sync --history: from then on the copy keeps each version that it replaces."
      : "Give a later instant. Earlier versions are not kept."
  ]
})

/** What to do about an error of the database, by the reason that core gives it. */
const databaseAdvice = (error: unknown): string => {
  const own = ownAdviceOf(error)
  if (own !== undefined) return own
  if (isMoved(error)) return "Run it again. Before a file is restored, end every process that has it open."
  if (!Predicate.isTagged(error, "SqlError") || !Predicate.hasProperty(error, "reason")) return checkDatabase
  // A password that is wrong or missing, or a user that does not exist.
  if (Predicate.isTagged(error.reason, "AuthenticationError")) {
    return "Check the user and the password: set PGPASSWORD, or put the whole URL into TIME_PUNCHES_DATABASE_URL."
  }
  return Predicate.isTagged(error.reason, "AuthorizationError")
    ? "The role of the database may not do this: docs/examples/roles.sql has the rights that each command needs."
    : checkDatabase
}

/** Names the variable and what it must be. A missing one would otherwise be reported as a value that is not a string. */
const settingMessage = ({ cause }: Config.ConfigError): string => {
  if (!Schema.isSchemaError(cause)) return printable(cause.message)
  const { detail, path } = firstIssue(cause)
  if (detail === "Expected string") return `${path} is not set`
  return printable(detail.startsWith(path) ? detail : `${path}: ${detail}`)
}

/** Flags by the path of the argument that the library rejects. */
const flagOf: Partial<Record<string, string>> = {
  pageSize: "--page-size",
  cursor: "--cursor",
  company: "--company",
  "company.guid": "the guid of the company",
  modifiedSince: "--modified-since",
  after: "--after",
  flags: "--flags",
  employeeApprovalStatuses: "--employee-approval-statuses",
  localizeSearchTime: "--localize-search-time",
  sortBy: "--sort-by",
  businessDate: "--business-date-start and -end",
  clockedIn: "--clocked-in-…",
  clockedOut: "--clocked-out-…",
  "clockedIn.lt": "--clocked-in-lt",
  "clockedOut.lt": "--clocked-out-lt"
}

/** Flags by the name of an argument within a message of the library. */
const flagNames: ReadonlyArray<readonly [RegExp, string]> = [
  [/\{ id, guid \}.*/, "--company ID=GUID, or set TIME_PUNCHES_COMPANY_GUID with TIME_PUNCHES_COMPANY_ID"],
  [/\blocalizeSearchTime\b/g, "--localize-search-time"],
  [/\bclockedIn\b/g, "--clocked-in-…"],
  [/\bclockedOut\b/g, "--clocked-out-…"]
]

/** The library names its arguments; a user of the command knows only the flags. */
const flagMessage = (field: string, detail: string): string =>
  `${flagOf[field] ?? field} ${flagNames.reduce((text, [name, flag]) => text.replace(name, flag), detail)}`
