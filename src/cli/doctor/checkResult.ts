/** The result of a check of `time-punches doctor`, and its line. */
import { commandFailureOf, type ExitCode, exitCode, type ExpectedError } from "../failure.ts"

export interface CheckResult {
  readonly check: string
  readonly status: "ok" | "warn" | "FAIL"
  readonly detail: string
  /** What to do; empty for `ok`. */
  readonly advice: string
  /** The exit code of a command that meets the same problem. */
  readonly code: ExitCode
}

export const ok = (check: string, detail: string): CheckResult => ({
  check,
  status: "ok",
  detail,
  advice: "",
  code: exitCode.ok
})

export const warn = (check: string, detail: string, advice: string): CheckResult => ({
  check,
  status: "warn",
  detail,
  advice,
  code: exitCode.ok
})

export const fail = (check: string, detail: string, advice: string, code: ExitCode): CheckResult => ({
  check,
  status: "FAIL",
  detail,
  advice,
  code
})

/** The failure of a check, described as a command that fails with this error describes it. */
export const failed = (check: string, error: ExpectedError): CheckResult => {
  const { advice, code, message } = commandFailureOf(error)
  return fail(check, message, advice.join(" "), code)
}

const colours = { ok: "\u001b[32m", warn: "\u001b[33m", FAIL: "\u001b[31m" } as const

/** One line: status, check, detail and advice. */
export const render = ({ advice, check, detail, status }: CheckResult, useColour: boolean): string => {
  const label = status.padEnd(4)
  const text = `${check.padEnd(28)}  ${detail}${advice === "" ? "" : ` → ${advice}`}`
  return `${useColour ? `${colours[status]}${label}\u001b[0m` : label}  ${text}`
}
