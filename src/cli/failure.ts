/** What ends a command: one line that says what happened, lines that say what to do, and the exit code of its kind. */
import type * as Config from "effect/Config"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as PlatformError from "effect/PlatformError"
import * as Schema from "effect/Schema"
import type { ListError } from "../ApiError.ts"
import type { UnwritablePunch } from "../export/ExportError.ts"
import { firstIssue } from "../internal/base/issue.ts"
import { printable } from "../internal/base/printable.ts"
import type { SumOverflow } from "../Labor.ts"

/** Exit codes by kind of error; the table in `docs/09-command-line.md` says the same. */
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
  interrupted: 130
} as const

export type ExitCode = typeof exitCode[keyof typeof exitCode]

/** A command that ended in failure, ready to be told. */
export class CommandFailure extends Data.TaggedError("CommandFailure")<{
  readonly message: string
  readonly advice: ReadonlyArray<string>
  readonly code: ExitCode
}> {}

/** Whoever read standard output wants no more, as `head` does. Not a failure. */
export class ReaderGone extends Data.TaggedError("ReaderGone")<{}> {}

/** Everything that a command can fail with for reasons that are not bugs. */
export type Foreseen = ListError | Config.ConfigError | PlatformError.PlatformError | UnwritablePunch | SumOverflow

export const usage = (message: string, ...advice: ReadonlyArray<string>) =>
  new CommandFailure({ message, advice, code: exitCode.usage })

/** Tells an error in the words of the command line; `goOn` is how to continue where it stopped. */
export const explain = (error: Foreseen, ...goOn: ReadonlyArray<string>): CommandFailure => {
  const { advice, code, message = error.message } = kindOf(error)
  return new CommandFailure({ message, advice: [...advice, ...goOn], code })
}

/** Turns what a command foresees into its failure; `goOn` says how to continue, where that is known. */
export const explainedWith =
  (goOn: (error: Foreseen) => Effect.Effect<ReadonlyArray<string>>) =>
  <A, E extends Foreseen | CommandFailure | ReaderGone, R>(self: Effect.Effect<A, E, R>) =>
    Effect.catch(self, (error: Foreseen | CommandFailure | ReaderGone) =>
      isTold(error)
        ? Effect.fail(error)
        : Effect.flatMap(goOn(error), (lines) => Effect.fail(explain(error, ...lines))))

const isTold = (error: Foreseen | CommandFailure | ReaderGone): error is CommandFailure | ReaderGone =>
  error._tag === "CommandFailure" || error._tag === "ReaderGone"

interface Kind {
  readonly code: ExitCode
  readonly advice: ReadonlyArray<string>
  readonly message?: string
}

const kindOf = (error: Foreseen): Kind => {
  switch (error._tag) {
    case "InvalidRequest":
      return { code: exitCode.usage, advice: [], message: invalidFlag(error.field, error.detail) }
    case "ConfigError":
      return {
        code: exitCode.configuration,
        advice: ["Settings are read from the environment: see time-punches --help, and time-punches doctor."],
        message: ofSetting(error)
      }
    case "Unauthorized":
      return { code: exitCode.credential, advice: ["Replace the credential in the environment."] }
    case "TokenError":
      return error.reason === "Transport" || error.reason === "Throttled"
        ? { code: exitCode.later, advice: [later] }
        : {
          code: exitCode.credential,
          advice: ["Check TIME_PUNCHES_CLIENT_ID, TIME_PUNCHES_CLIENT_SECRET and TIME_PUNCHES_SCOPES."]
        }
    case "Forbidden":
      return {
        code: exitCode.forbidden,
        advice: ["Ask the company: its plan, the scope time_punches:read, or the grant of this company is missing."]
      }
    case "TransportError":
      return error.reason === "tls"
        ? {
          code: exitCode.later,
          advice: [
            "The certificate is not trusted: trying again does not help; NODE_EXTRA_CA_CERTS names more to trust."
          ]
        }
        : { code: exitCode.later, advice: [later] }
    case "RateLimited":
    case "ServiceUnavailable":
    case "ServerError":
      return { code: exitCode.later, advice: [later] }
    case "UnexpectedStatus":
      return { code: exitCode.data, advice: ["Check TIME_PUNCHES_BASE_URL: something else may answer there."] }
    case "UnprocessableEntity":
      return {
        code: exitCode.data,
        advice: error.problem.param === "cursor"
          ? ["The service no longer knows the cursor: start again without it."]
          : []
      }
    case "DecodeError":
    case "PaginationError":
    case "UnwritablePunch":
    case "SumOverflow":
      return { code: exitCode.data, advice: ["time-punches doctor looks for what is wrong."] }
    case "PlatformError":
      return { code: exitCode.system, advice: [], message: ofFile(error) }
  }
}

const later = "This may pass: try again later."

/** Names the variable and what it must be; a missing one would else be told as text that is not one. */
const ofSetting = ({ cause }: Config.ConfigError): string => {
  if (!Schema.isSchemaError(cause)) return printable(cause.message)
  const { detail, path } = firstIssue(cause)
  if (detail === "Expected string") return `${path} is not set`
  return printable(detail.startsWith(path) ? detail : `${path}: ${detail}`)
}

const reasons: Partial<Record<string, string>> = {
  AlreadyExists: "it exists already",
  Busy: "it is in use",
  NotFound: "there is no such file or folder",
  PermissionDenied: "permission denied"
}

const ofFile = ({ reason }: PlatformError.PlatformError): string => {
  if (reason._tag === "BadArgument") return printable(reason.message)
  const what = reason.pathOrDescriptor === undefined ? reason.method : `${reason.pathOrDescriptor}`
  const code = Option.match(codeOf(reason.cause), { onNone: () => reason.message, onSome: (code) => code })
  return printable(`${what}: ${reasons[reason._tag] ?? code}`)
}

/** The platform's own code of an error, such as `ENOSPC`. */
export const codeOf = (cause: unknown): Option.Option<string> =>
  cause instanceof Error && "code" in cause && typeof cause.code === "string" ? Option.some(cause.code) : Option.none()

const flagOf: Partial<Record<string, string>> = {
  pageSize: "--page-size",
  from: "--from",
  cursor: "--from",
  company: "--company",
  "company.guid": "--guid (or TIME_PUNCHES_COMPANY_GUID)",
  modifiedSince: "--modified-since",
  businessDate: "--business-date-start and -end",
  clockedIn: "--clocked-in-…",
  clockedOut: "--clocked-out-…",
  "clockedIn.lt": "--clocked-in-lt",
  "clockedOut.lt": "--clocked-out-lt"
}

const flagNames: ReadonlyArray<readonly [RegExp, string]> = [
  [/\blocalizeSearchTime\b/g, "--localize-search-time"],
  [/\bclockedIn\b/g, "--clocked-in-…"],
  [/\bclockedOut\b/g, "--clocked-out-…"]
]

/** The library names its arguments; whoever sits at a terminal knows the flags. */
const invalidFlag = (field: string, detail: string): string =>
  `${flagOf[field] ?? field} ${flagNames.reduce((text, [name, flag]) => text.replace(name, flag), detail)}`
