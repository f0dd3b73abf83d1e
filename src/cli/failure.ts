/** Describes the end of a command: one line for what happened, lines for what to do, and an exit code. */
import * as CliError from "effect/cli/CliError"
import type * as Config from "effect/Config"
import * as Data from "effect/Data"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as PlatformError from "effect/PlatformError"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { MigrationError } from "effect/sql/Migrator"
import type { SqlError } from "effect/sql/SqlError"
import { getAdvice, type ListError } from "../ApiError.ts"
import type {
  CloseChanged,
  OutcomeUnknown,
  PeriodClosed,
  UnknownClose,
  VerificationFailed
} from "../close/CloseError.ts"
import type { UnwritablePunch } from "../export/rows.ts"
import type { FleetError } from "../fleet/FleetError.ts"
import { messageOf } from "../internal/sql/failure.ts"
import { escaped, firstIssue, printable } from "../internal/wire/issue.ts"
import type { SumOverflow } from "../payroll/Labor.ts"
import type { MissingZone } from "../payroll/Period.ts"
import type { OtherSchema } from "../sql/connection.ts"
import type { HistoryUnavailable } from "../sql/SqlStore.ts"
import type { SyncError } from "../sync/SyncError.ts"

/** Exit codes by kind of error, the same as in the table of `docs/09-command-line.md`. */
export const exitCode = {
  ok: 0,
  bug: 1,
  usage: 2,
  configuration: 3,
  credential: 4,
  forbidden: 5,
  later: 6,
  data: 7,
  system: 8,
  findings: 9,
  age: 10,
  interrupted: 130
} as const

export type ExitCode = typeof exitCode[keyof typeof exitCode]

/** A command has failed; `message` says why, `advice` what to do. */
export class CommandFailure extends Data.TaggedError("CommandFailure")<{
  readonly message: string
  readonly advice: ReadonlyArray<string>
  readonly code: ExitCode
}> {}

/** The reader closed standard output (EPIPE), as `head` does. Not a failure. */
export class OutputClosed extends Data.TaggedError("OutputClosed")<{}> {}

/** A check has found something, and has printed it. Not a failure: it only gives the exit code. */
export class Findings extends Data.TaggedError("Findings")<{}> {}

/** The errors of the library and the platform that a command expects; any other is a bug. */
export type ExpectedError =
  | ListError
  | Config.ConfigError
  | PlatformError.PlatformError
  | UnwritablePunch
  | SumOverflow
  | SyncError
  | FleetError
  | HistoryUnavailable
  | SqlError
  | MigrationError
  | MissingZone
  | PeriodClosed
  | UnknownClose
  | CloseChanged
  | OutcomeUnknown
  | VerificationFailed

/** The command was called wrongly. */
export const usage = (message: string, ...advice: ReadonlyArray<string>) =>
  new CommandFailure({ message, advice, code: exitCode.usage })

/** The same as a result. */
export const refused = (message: string, ...advice: ReadonlyArray<string>) => Result.fail(usage(message, ...advice))

/** What core says of a wrong call: a value of the arguments is repeated in part only, and escaped. */
export const usageText = (error: CliError.CliError): string =>
  escaped(
    error._tag === "InvalidValue"
      ? new CliError.InvalidValue({ ...error, value: printable(error.value), expected: printable(error.expected) })
        .message
      : printable(error.message)
  )

/** Where a file that the command keeps is wrong, and how. */
export const issueText = (error: Schema.SchemaError): string => {
  const { detail, path } = firstIssue(error)
  return printable([path, detail].filter((part) => part !== "").join(": "))
}

/**
 * Describes an error in the terms of the command line; `resumeHint` adds how to resume. A run whose cursor the service
 * rejects cannot be resumed, so the hint is left out.
 */
export const commandFailureOf = (error: ExpectedError, ...resumeHint: ReadonlyArray<string>): CommandFailure => {
  const { advice, code, message = error.message } = describe(error)
  return new CommandFailure({ message, advice: isCursorRejected(error) ? advice : [...advice, ...resumeHint], code })
}

const isCursorRejected = (error: ExpectedError): boolean =>
  error._tag === "UnprocessableEntity" && error.problem.param === "cursor"

/** Turns expected errors into a `CommandFailure`, with a hint how to resume the run. */
export const mapToCommandFailure =
  (resumeHint: (error: ExpectedError) => Effect.Effect<ReadonlyArray<string>>) =>
  <A, E extends ExpectedError | CommandFailure | OutputClosed, R>(self: Effect.Effect<A, E, R>) =>
    Effect.catch(
      self,
      (error: ExpectedError | CommandFailure | OutputClosed) =>
        error._tag === "CommandFailure" || error._tag === "OutputClosed"
          ? Effect.fail(error)
          : Effect.flatMap(resumeHint(error), (lines) => Effect.fail(commandFailureOf(error, ...lines)))
    )

interface Description {
  readonly code: ExitCode
  readonly advice: ReadonlyArray<string>
  /** Default: the error's own message. */
  readonly message?: string
}

const describe = (error: ExpectedError): Description => {
  switch (error._tag) {
    case "InvalidRequest":
      return { code: exitCode.usage, advice: [], message: flagMessage(error.field, error.detail) }
    case "ConfigError":
      return {
        code: exitCode.configuration,
        advice: ["Settings are read from the environment: see time-punches help environment, and time-punches doctor."],
        message: settingMessage(error)
      }
    case "Unauthorized":
      return { code: exitCode.credential, advice: [getAdvice(error)] }
    case "TokenError": {
      const isLater = Option.isSome(error.transport) || error.reason === "Transport" || error.reason === "Throttled"
      return { code: isLater ? exitCode.later : exitCode.credential, advice: [getAdvice(error)] }
    }
    case "Forbidden":
      return { code: exitCode.forbidden, advice: [getAdvice(error)] }
    case "TransportError":
    case "RateLimited":
    case "ServiceUnavailable":
    case "ServerError":
      return { code: exitCode.later, advice: [getAdvice(error)] }
    case "UnexpectedStatus":
      return {
        code: exitCode.data,
        advice: [
          getAdvice(error),
          ...(error.status === 404
            ? [`The path is /v2/company/${error.companyId}/time_punches: the URL must not end in /v2.`]
            : [])
        ]
      }
    case "DecodeError":
    case "PaginationError":
      return { code: exitCode.data, advice: [getAdvice(error)] }
    case "UnprocessableEntity":
      return {
        code: exitCode.data,
        advice: [`${getAdvice(error)}${isCursorRejected(error) ? " Leave --cursor out; an export needs --force." : ""}`]
      }
    case "UnwritablePunch":
      return { code: exitCode.data, advice: ["Run time-punches doctor to find the cause."] }
    case "SumOverflow":
      return {
        code: exitCode.data,
        advice: ["Look at the amounts of that punch. If they are right, sum fewer punches at a time."]
      }
    case "MissingZone":
      return {
        code: exitCode.usage,
        advice: ["Add it and its zone to the file of --zone-file: without one, its punches belong to no local day."]
      }
    case "PeriodClosed":
      return {
        code: exitCode.usage,
        advice: [
          "Close another period, or correct that one. If a zone or a start of the day changed, --accept edge begins at its end."
        ]
      }
    case "UnknownClose":
      return { code: exitCode.usage, advice: ["time-punches payroll list lists the closes and their revisions."] }
    case "CloseChanged":
      return { code: exitCode.system, advice: ["Nothing was written. Run the same command again."] }
    case "OutcomeUnknown":
      return {
        code: exitCode.system,
        advice: [
          checkDatabase,
          ...error.revisions.map((id) =>
            `Then time-punches payroll show ${id} says whether it was written, and what is due.`
          )
        ]
      }
    case "VerificationFailed":
      return {
        code: exitCode.data,
        advice: [
          "Nothing was written. Look at these people before anything is paid; --accept rules corrects after a release with other rules."
        ]
      }
    case "SyncError":
      return describeSync(error)
    case "FleetError":
      return {
        ...(error.reason === "Store"
          ? { code: exitCode.system, advice: [databaseAdvice(error.cause)] }
          : fleetEnds[error.reason]),
        message: printable(error.detail)
      }
    case "HistoryUnavailable":
      return describeUnknown(error)
    case "SqlError":
    case "MigrationError":
      return {
        code: exitCode.system,
        advice: [databaseAdvice(error)],
        message: error._tag === "SqlError"
          ? `the database failed: ${printable(messageOf(error))}${explained(error)}`
          : `the database failed: ${printable(error.message)}`
      }
    case "PlatformError":
      return { code: exitCode.system, ...describeFileError(error) }
  }
}

const describeSync = ({ cause, companyId, detail, reason }: SyncError): Description => {
  switch (reason) {
    case "Checkpoint":
      return {
        code: exitCode.configuration,
        advice: [
          "Nothing was sent. Restore the checkpoint of the company in time_punches_sync, or set it to NULL to load everything again."
        ]
      }
    case "NewerCheckpoint":
      return {
        message: printable(`the checkpoint of company ${companyId} cannot be read: ${detail}`),
        code: exitCode.data,
        advice: ["Use that release. The copy is as it was, and nothing was sent."]
      }
    case "CursorLost":
      return { code: exitCode.data, advice: ["The next run begins the pass again."] }
    case "TooManyMissing":
      return {
        code: exitCode.data,
        advice: ["Check the permissions of the credential. If the rows are really missing, --allow-missing marks them."]
      }
    case "Superseded":
      return { code: exitCode.system, advice: ["Another sync of this company runs: stop one of them."] }
    case "Store":
      if (isOtherSchema(cause)) return describeSchema(cause)
      return {
        // Not only a sync reads a copy.
        message: printable(`the copy of company ${companyId} failed: ${detail}`),
        ...(Schema.isSchemaError(cause)
          ? {
            code: exitCode.data,
            advice: [
              "Something else writes into the tables of the copy: time-punches doctor --database … --full finds it."
            ]
          }
          : { code: exitCode.system, advice: [databaseAdvice(cause)] })
      }
  }
}

const checkDatabase = "Check the database: its address, its rights, its space, and who has locked it."

const fleetEnds: { readonly [R in Exclude<FleetError["reason"], "Store">]: Omit<Description, "message"> } = {
  NotMigrated: { code: exitCode.data, advice: [] },
  InvalidInput: { code: exitCode.usage, advice: [] },
  AlreadyRunning: { code: exitCode.system, advice: ["Give each process its own --name; a file has one process."] }
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

const describeSchema = ({ needed, version }: OtherSchema): Description => ({
  code: exitCode.data,
  ...(version === 0
    ? { message: "the database has no copy", advice: ["Run time-punches sync with this database first."] }
    : {
      message: `the tables of the copy have schema ${version}, and this release needs ${needed}`,
      advice: [
        version > needed
          ? "A later release changed them: use that release. Nothing was written."
          : "Run time-punches sync with this database: it changes the tables, and keeps their rows."
      ]
    })
})

const describeUnknown = ({ companyId, requested, since }: HistoryUnavailable): Description => ({
  code: exitCode.usage,
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
  "company.guid": "--company ID=GUID (or TIME_PUNCHES_COMPANY_GUID beside TIME_PUNCHES_COMPANY_ID)",
  modifiedSince: "--modified-since",
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
  [/\blocalizeSearchTime\b/g, "--localize-search-time"],
  [/\bclockedIn\b/g, "--clocked-in-…"],
  [/\bclockedOut\b/g, "--clocked-out-…"]
]

/** The library names its arguments; a user of the command knows only the flags. */
const flagMessage = (field: string, detail: string): string =>
  `${flagOf[field] ?? field} ${flagNames.reduce((text, [name, flag]) => text.replace(name, flag), detail)}`

interface Reason {
  readonly what: string
  readonly advice?: string
}

const denied: Reason = {
  what: "permission denied",
  advice: "Get the permission to write there, or choose another file."
}

const tooManyOpen = {
  what: "too many files are open (EMFILE)",
  advice: "Raise the limit (ulimit -n), or end other programs."
} satisfies Reason

/** Reasons by the platform's code of an error. */
const byCode: Partial<Record<string, Reason>> = {
  EACCES: denied,
  EBUSY: { what: "it is in use" },
  ELOOP: { what: "it is a link that leads to itself, or through too many links", advice: "Choose another file." },
  EMFILE: tooManyOpen,
  ENFILE: tooManyOpen,
  ENAMETOOLONG: { what: "its name is too long", advice: "Choose a shorter name." },
  ENOTDIR: { what: "a part of its path is not a folder", advice: "Check the path." },
  EDQUOT: { what: "the disk quota is used up (EDQUOT)", advice: "Free space within the quota, or have it raised." },
  EFBIG: {
    what: "it is larger than a file may be here (EFBIG)",
    advice: "Raise the limit (ulimit -f), or choose another file system."
  },
  EEXIST: { what: "it already exists" },
  EIO: {
    what: "the disk cannot be read or written (EIO)",
    advice: "Check the disk, or the connection to it, before the next run."
  },
  EISDIR: { what: "it is a folder" },
  ENOENT: { what: "there is no such file or folder" },
  ENOSPC: { what: "no space is left on the disk (ENOSPC)", advice: "Free space on that disk." },
  EPERM: denied,
  EROFS: {
    what: "the file system is read-only (EROFS)",
    advice: "Choose a file on another file system, or have this one mounted for writing."
  }
}

/** What stopped a step that expects no failure, such as the loading of a module, because no more files may be open. */
export const tooManyOpenOf = (defect: unknown): Option.Option<CommandFailure> =>
  Option.exists(errorCode(defect), (code) => code === "EMFILE" || code === "ENFILE")
    ? Option.some(
      new CommandFailure({ message: tooManyOpen.what, advice: [tooManyOpen.advice], code: exitCode.system })
    )
    : Option.none()

/** The platform's code of an error, such as `ENOSPC`. */
export const errorCode = (cause: unknown): Option.Option<string> =>
  cause instanceof Error && "code" in cause && typeof cause.code === "string" ? Option.some(cause.code) : Option.none()

/** A server could not begin to listen. `where` names its port. */
export const cannotListen = (where: string, cause: unknown, advice: string) =>
  new CommandFailure({
    message: `cannot listen on ${where}: ${Option.getOrElse(errorCode(cause), () => "refused")}`,
    advice: [advice],
    code: exitCode.system
  })

/** One line that names the file and the reason, and the advice for that reason. */
const describeFileError = (
  { reason }: PlatformError.PlatformError
): { readonly message: string; readonly advice: ReadonlyArray<string> } => {
  if (reason._tag === "BadArgument") return { message: printable(reason.message), advice: [] }
  const file = reason.pathOrDescriptor === undefined ? reason.method : `${reason.pathOrDescriptor}`
  const code = Option.getOrElse(errorCode(reason.cause), () => reason.message)
  const { advice, what } = byCode[code] ?? { what: code }
  return { message: printable(`${file}: ${what}`), advice: advice === undefined ? [] : [advice] }
}
