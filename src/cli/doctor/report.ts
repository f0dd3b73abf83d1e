/** The result of a check, also of an error, its line, and the one advice that follows from all results. */
import type * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { type DecodeError, getAdvice, type ListError, type TransportError } from "../../ApiError.ts"
import { commandFailureOf } from "../describe.ts"
import { type ExitCode, exitCode } from "../failure.ts"
import type { Styles } from "../print/colour.ts"

/** The causes of findings, the most basic first: a finding may follow from one of an earlier cause. */
const causes = [
  "settings",
  "reachability",
  "credential",
  "version",
  "clock",
  "answer",
  "cursors",
  "filters",
  "copy"
] as const

type Cause = typeof causes[number]

/** Why a check is not ok. */
interface Reason {
  readonly cause: Cause
  /** What to do, as a sentence. */
  readonly advice: string
}

export interface CheckResult {
  readonly check: string
  readonly status: "ok" | "warn" | "FAIL"
  /** What was seen. */
  readonly detail: string
  /** `undefined` for `ok`. */
  readonly reason: Reason | undefined
  /** The exit code of a command that meets the same problem. */
  readonly code: ExitCode
}

export const ok = (check: string, detail: string): CheckResult => ({
  check,
  status: "ok",
  detail,
  reason: undefined,
  code: exitCode.ok
})

export const warn = (check: string, detail: string, cause: Cause, advice: string): CheckResult => ({
  check,
  status: "warn",
  detail,
  reason: { cause, advice },
  code: exitCode.ok
})

export const fail = (
  check: string,
  detail: string,
  cause: Cause,
  advice: string,
  code: ExitCode = exitCode.data
): CheckResult => ({ check, status: "FAIL", detail, reason: { cause, advice }, code })

/** The results of a check with one cause for all that it finds. */
export const makeCheck = (check: string, cause: Cause) => ({
  ok: (detail: string) => ok(check, detail),
  warn: (detail: string, advice: string) => warn(check, detail, cause, advice),
  fail: (detail: string, advice: string, code?: ExitCode) => fail(check, detail, cause, advice, code),
  /** Two answers differ, and the punches changed between them: no fault of the service is shown. */
  changed: () => changed(check, cause),
  /** Makes the error of the check its result. */
  orFailed: <E extends CheckError, R>(self: Effect.Effect<CheckResult, E, R>) =>
    Effect.catch(self, (error) => Effect.succeed(failed(check, error, cause)))
})

/** The fields that this release does not know: a warning, or nothing. */
export const unknownResult = (check: string, paths: ReadonlyArray<string>): ReadonlyArray<CheckResult> =>
  paths.length === 0 ? [] : [
    warn(
      check,
      `${paths.length === 1 ? "this release does not know" : `this release does not know ${paths.length}:`} ${
        paths.join(", ")
      }`,
      "answer",
      "This release does not read them. Check whether a newer release does."
    )
  ]

/** Two answers differ, and the punches changed between them: no fault of the service is shown. */
export const changed = (check: string, cause: Cause): CheckResult =>
  warn(check, "could not be checked: punches changed meanwhile", cause, "Check again when fewer punches change.")

const styleOf = { ok: "green", warn: "yellow", FAIL: "red" } as const

/** One line: status, check and detail. */
export const render = ({ check, detail, status }: CheckResult, styles: Styles): string =>
  `${styles[styleOf[status]](status.padEnd(4))}  ${check.padEnd(34)}  ${detail}`

const rank = ({ reason }: CheckResult): number => reason === undefined ? causes.length : causes.indexOf(reason.cause)

/** The failed check with the most basic cause; if none failed, the warning with it; `undefined` if all are ok. */
export const mostBasic = (results: ReadonlyArray<CheckResult>): CheckResult | undefined => {
  const failures = results.filter(({ status }) => status === "FAIL")
  const findings = failures.length > 0 ? failures : results.filter(({ status }) => status === "warn")
  return findings.toSorted((a, b) => rank(a) - rank(b))[0]
}

/** The last line: what to do about the most basic finding, and how many others there are. */
export const renderAdvice = (results: ReadonlyArray<CheckResult>): string => {
  const first = mostBasic(results)
  if (first?.reason === undefined) return "Advice: nothing to fix."
  const { advice } = first.reason
  const alike = results.filter(({ reason, status }) => status === first.status && reason?.advice === advice)
  const others = results.filter(({ status }) => status !== "ok").length - alike.length
  const more = others === 0
    ? ""
    : others === 1
    ? " Then see the other finding."
    : ` Then see the other ${others} findings.`
  return `Advice: ${advice} [${alike.map(({ check }) => check).join(", ")}]${more}`
}

/** All results for a program, and the advice about the most basic finding: one JSON object, a check a line. */
export const renderJson = (results: ReadonlyArray<CheckResult>): string => {
  const checks = results.map(({ check, detail, reason, status }) =>
    JSON.stringify({ check, status, detail, cause: reason?.cause ?? null, advice: reason?.advice ?? null })
  )
  const advice = mostBasic(results)?.reason?.advice ?? null
  return `{"checks":[\n${checks.join(",\n")}\n],"advice":${JSON.stringify(advice)}}`
}

type CheckError = ListError | Config.ConfigError

interface Explanation {
  /** The check that fails with this error, if it is another one than the check that met it. */
  readonly check?: string
  readonly cause: Cause
  /** Default: the advice of a command that fails with this error. */
  readonly advice?: string
}

/** The advice of a check that met a listing which loses or repeats punches. */
export const unreliable = "Do not rely on listings of this service until it is fixed: report it."

const anotherService = "Check TIME_PUNCHES_BASE_URL: something else may answer there."

/** The result of a check that met this error. `context` is the cause if the error does not tell one. */
export const failed = (check: string, error: CheckError, context: Cause): CheckResult => {
  const { cause, advice } = explain(error, context)
  const { advice: lines, code, message } = commandFailureOf(error)
  return fail(check, message, cause, advice ?? lines.join(" "), code)
}

/** The same for the first request, which meets everything that is wrong with the service as a whole. */
export const failedAtFirst = (error: ListError): CheckResult => {
  const { cause, check } = explain(error, "answer")
  return failed(check ?? checkOf[cause], error, "answer")
}

const checkOf: Readonly<Record<Cause, string>> = {
  settings: "request",
  reachability: "service",
  credential: "access",
  version: "version",
  clock: "clock",
  answer: "rows",
  cursors: "cursors",
  filters: "request",
  copy: "copy"
}

const explain = (error: CheckError, context: Cause): Explanation => {
  if ((error._tag === "Unauthorized" || error._tag === "Forbidden") && error.kind === "service")
    return { cause: "reachability" }
  switch (error._tag) {
    case "ConfigError":
      return {
        cause: "settings",
        advice: "Fix the variables that these lines name: time-punches help environment lists them."
      }
    case "InvalidRequest":
      return { cause: "settings", advice: "Fix the flag that this line names." }
    case "Forbidden":
      // A service answers the id or the guid of another company so, too.
      return { cause: "credential", advice: `Check the id of the company first, and its guid. ${getAdvice(error)}` }
    case "TokenError":
      return Option.match(error.transport, {
        onNone: () => ({ cause: causeOf(error) }),
        onSome: ({ reason }) => explainTransport(reason)
      })
    case "TransportError":
      return explainTransport(error.reason)
    case "UnprocessableEntity":
      return explainRejection(error.problem.param, context)
    case "DecodeError":
      return explainAnswer(error)
    case "PaginationError":
      return error.reason === "WrongObject"
        ? { cause: "reachability", advice: anotherService }
        : { cause: "cursors", advice: unreliable }
    default:
      return { cause: causeOf(error) }
  }
}

const causeOf = ({ kind }: ListError): Cause => kind === "credential" ? "credential" : "reachability"

/** A doctor is asked about a new setup, where an address is wrong more often than a network is down. */
const explainTransport = (reason: TransportError["reason"]): Explanation =>
  reason === "Tls" || reason === "TooLarge" ? { cause: "reachability" } : { cause: "reachability", advice: unreachable }

const unreachable =
  "Check TIME_PUNCHES_BASE_URL and TIME_PUNCHES_AUTH_URL, the network, and the proxy of HTTPS_PROXY. " +
  "If they are right, try again later."

const explainRejection = (param: string | undefined, context: Cause): Explanation => {
  switch (param) {
    case "x-api-version":
      return { cause: "version", advice: "Set TIME_PUNCHES_API_VERSION to a version that the service knows." }
    case "x-company-guid":
      return {
        check: "company",
        cause: "settings",
        advice: "Check the guid of --company ID=GUID, or TIME_PUNCHES_COMPANY_GUID."
      }
    case "limit":
      return { cause: context }
    case "cursor":
      return { cause: "cursors", advice: "The service rejects its own cursors: report it." }
    default:
      return {
        check: "request",
        cause: context,
        advice: "The service rejects what the line names: leave that filter out, or report it."
      }
  }
}

/** The fields whose unit changed between versions: a decimal there is money in major units. */
const isMoney = (path: string): boolean => /\.(tips|hourly_wage)$/.test(path)

const explainAnswer = ({ path, reason }: DecodeError): Explanation => {
  if (reason === "WrongCompany") {
    return {
      check: "company",
      cause: "answer",
      advice: "The service mixes up companies: stop using it until that is fixed, and report it."
    }
  }
  if (reason === "WrongFilter") return { check: "request", cause: "filters" }
  if (reason !== "Schema") return { cause: "reachability", advice: anotherService }
  return isMoney(path)
    ? { cause: "version", advice: "An old version may answer: set TIME_PUNCHES_API_VERSION, or unset it." }
    : { cause: "answer", advice: "The service sends what the interface does not allow: report the path." }
}
