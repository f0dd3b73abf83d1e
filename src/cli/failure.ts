/** The end of a command: its exit codes, and a failure as a line for what happened, lines for what to do and a code. */
import * as CliError from "effect/cli/CliError"
import type * as Config from "effect/Config"
import * as Data from "effect/Data"
import * as Option from "effect/Option"
import type * as PlatformError from "effect/PlatformError"
import * as Result from "effect/Result"
import type { MigrationError } from "effect/sql/Migrator"
import type { SqlError } from "effect/sql/SqlError"
import type { ErrorKind, ListError } from "../ApiError.ts"
import type {
  CloseChanged,
  OutcomeUnknown,
  PeriodClosed,
  UnknownClose,
  VerificationFailed
} from "../close/CloseError.ts"
import type { UnwritablePunch } from "../export/rows.ts"
import type { FleetError } from "../fleet/FleetError.ts"
import { meantWord } from "../internal/text/meant.ts"
import { escaped, printable } from "../internal/text/printable.ts"
import type { SumOverflow } from "../payroll/Labor.ts"
import type { MissingDayRule } from "../payroll/Period.ts"
import type { HistoryUnavailable } from "../sql/known.ts"
import type { SyncError } from "../sync/SyncError.ts"

/** Exit codes by kind of error. */
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
  | MissingDayRule
  | PeriodClosed
  | UnknownClose
  | CloseChanged
  | OutcomeUnknown
  | VerificationFailed

/** What a command ends with, except success. */
export type Ending = ExpectedError | CommandFailure | OutputClosed | Findings

/** The exit code of each error but those of a listing, and those whose reason decides it. `help exit-codes` lists them. */
export const codeOf = {
  MissingDayRule: exitCode.usage,
  PeriodClosed: exitCode.usage,
  UnknownClose: exitCode.usage,
  ConfigError: exitCode.configuration,
  SumOverflow: exitCode.data,
  UnwritablePunch: exitCode.data,
  VerificationFailed: exitCode.data,
  HistoryUnavailable: exitCode.data,
  PlatformError: exitCode.system,
  SqlError: exitCode.system,
  MigrationError: exitCode.system,
  CloseChanged: exitCode.system,
  OutcomeUnknown: exitCode.system
} as const satisfies Record<Exclude<ExpectedError["_tag"], ListError["_tag"] | "SyncError" | "FleetError">, ExitCode>

/** The exit code of an error of a listing. By it, `isFinal` says whether the error ends a command that repeats. */
export const codeOfKind = {
  request: exitCode.usage,
  credential: exitCode.credential,
  permission: exitCode.forbidden,
  throttled: exitCode.later,
  service: exitCode.later,
  answer: exitCode.data
} as const satisfies Record<ErrorKind, ExitCode>

/** The exit code of an error of a listing: that of its kind. The rows before a limit of the call are good. */
export const codeOfError = (tag: string, kind: ErrorKind): ExitCode =>
  tag === "LimitReached" ? exitCode.data : codeOfKind[kind]

/** The kind of each error of a listing, as its class has it. A `TokenError` stands where its reasons of a client do. */
export const kindOf: { readonly [E in ListError as E["_tag"]]: E["kind"] } = {
  InvalidRequest: "request",
  LimitReached: "request",
  Unauthorized: "credential",
  TokenError: "credential",
  Forbidden: "permission",
  RateLimited: "throttled",
  ServiceUnavailable: "service",
  ServerError: "service",
  TransportError: "service",
  DecodeError: "answer",
  PaginationError: "answer",
  UnprocessableEntity: "answer",
  UnexpectedStatus: "answer"
}

/** A failure by the name of its exit code. */
export const failure = (code: keyof typeof exitCode, message: string, ...advice: ReadonlyArray<string>) =>
  new CommandFailure({ message, advice, code: exitCode[code] })

/** The command was called wrongly. */
export const usage = (message: string, ...advice: ReadonlyArray<string>) => failure("usage", message, ...advice)

/** The same as a result. */
export const refused = (message: string, ...advice: ReadonlyArray<string>) => Result.fail(usage(message, ...advice))

/** What core says of a wrong call: a value of the arguments is repeated in part only, and escaped. */
export const usageText = (error: CliError.CliError): string =>
  escaped(
    error._tag === "InvalidValue" && error.expected === "at most 1 value"
      ? `--${error.option} is given twice or more: give it once`
      : error._tag === "InvalidValue"
      ? new CliError.InvalidValue({
        ...error,
        value: printable(error.value),
        expected: printable(`${error.expected}${meantWord(error.value, error.expected)}`)
      }).message
      : printable(error.message)
  )

interface Reason {
  readonly what: string
  readonly advice?: string
}

const denied: Reason = {
  what: "permission denied",
  advice: "Get the permission to write there, or choose another file."
}

const isFolder: Reason = { what: "it is a folder" }

const tooManyOpen = {
  what: "too many files are open (EMFILE)",
  advice: "Raise the limit (ulimit -n), or end other programs."
} satisfies Reason

/** Reasons by the platform's code of an error. */
export const byCode: Partial<Record<string, Reason>> = {
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
  EISDIR: isFolder,
  ERR_FS_EISDIR: isFolder,
  ENOENT: { what: "there is no such file or folder" },
  ENOSPC: { what: "no space is left on the disk (ENOSPC)", advice: "Free space on that disk." },
  EPERM: denied,
  EROFS: {
    what: "the file system is read-only (EROFS)",
    advice: "Choose a file on another file system, or have this one mounted for writing."
  }
}

/** What stopped a step that expects no failure, such as the loading of a module: no more files may be open, or the folder is gone. */
export const systemFailureOf = (defect: unknown): Option.Option<CommandFailure> =>
  Option.exists(errorCode(defect), (code) => code === "EMFILE" || code === "ENFILE")
    ? Option.some(failure("system", tooManyOpen.what, tooManyOpen.advice))
    : noFolderOf(defect)

/** Without its folder a process can resolve no relative path. */
export const noFolderOf = (cause: unknown): Option.Option<CommandFailure> =>
  cause instanceof Error && "syscall" in cause && cause.syscall === "uv_cwd"
    ? Option.some(
      failure(
        "system",
        "the folder in which this command runs was removed, or may not be entered",
        "Change to another folder, then try again."
      )
    )
    : Option.none()

/** The platform's code of an error, such as `ENOSPC`. */
export const errorCode = (cause: unknown): Option.Option<string> =>
  cause instanceof Error && "code" in cause && typeof cause.code === "string" ? Option.some(cause.code) : Option.none()

/** A server could not begin to listen. `where` names its port. */
export const cannotListen = (where: string, cause: unknown, advice: string) =>
  failure("system", `cannot listen on ${where}: ${Option.getOrElse(errorCode(cause), () => "refused")}`, advice)

/** One line that names the file and the reason, and the advice for that reason. */
export const describeFileError = (
  { reason }: PlatformError.PlatformError
): { readonly message: string; readonly advice: ReadonlyArray<string> } => {
  if (reason._tag === "BadArgument") return { message: printable(reason.message), advice: [] }
  const file = reason.pathOrDescriptor === undefined ? reason.method : `${reason.pathOrDescriptor}`
  const code = Option.getOrElse(errorCode(reason.cause), () => reason.message)
  const { advice, what } = byCode[code] ?? { what: code }
  return { message: printable(`${file}: ${what}`), advice: advice === undefined ? [] : [advice] }
}
