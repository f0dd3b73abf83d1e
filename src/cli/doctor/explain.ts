/** From an error of a request or a setting to the check that it fails, its cause and its advice. Pure. */
import type * as Config from "effect/Config"
import type { DecodeError, ListError } from "../../ApiError.ts"
import { commandFailureOf } from "../failure.ts"
import { type Cause, type CheckResult, fail } from "./checkResult.ts"

type CheckError = ListError | Config.ConfigError

interface Explanation {
  /** The check that fails with this error, where the check that met it says less. */
  readonly check?: string
  readonly cause: Cause
  /** Default: the advice of a command that fails with this error. */
  readonly advice?: string
}

const anotherService = "Check TIME_PUNCHES_BASE_URL: something else may answer there."

/** The result of a check that met this error. `context` is the cause where the error does not tell one. */
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
  switch (error._tag) {
    case "ConfigError":
      return { cause: "settings", advice: "Fix the variables that these lines name: time-punches --help lists them." }
    case "InvalidRequest":
      return { cause: "settings", advice: "Fix the flag that this line names." }
    case "Unauthorized":
    case "Forbidden":
      return { cause: "credential" }
    case "TokenError":
      return { cause: error.reason === "Transport" || error.reason === "Throttled" ? "reachability" : "credential" }
    case "TransportError":
    case "RateLimited":
    case "ServiceUnavailable":
    case "ServerError":
    case "UnexpectedStatus":
      return { cause: "reachability" }
    case "UnprocessableEntity":
      return explainRejection(error.problem.param, context)
    case "DecodeError":
      return explainAnswer(error)
    case "PaginationError":
      return error.reason === "WrongObject"
        ? { cause: "reachability", advice: anotherService }
        : { cause: "cursors", advice: "Do not rely on listings of this service until it is fixed: report it." }
  }
}

const explainRejection = (param: string | undefined, context: Cause): Explanation => {
  switch (param) {
    case "x-api-version":
      return { cause: "version", advice: "Set TIME_PUNCHES_API_VERSION to a version that the service knows." }
    case "x-company-guid":
      return { check: "company", cause: "settings", advice: "Check --guid, or TIME_PUNCHES_COMPANY_GUID." }
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
  if (reason !== "Schema") return { cause: "reachability", advice: anotherService }
  return isMoney(path)
    ? { cause: "version", advice: "An old version may answer: set TIME_PUNCHES_API_VERSION, or unset it." }
    : { cause: "answer", advice: "The service sends what the interface does not allow: report the path." }
}
