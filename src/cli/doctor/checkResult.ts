/** What a check of `time-punches doctor` found: one line, and what to do where it is not well. */
import { type ExitCode, exitCode, explain, type Foreseen } from "../failure.ts"

export interface CheckResult {
  readonly check: string
  readonly status: "ok" | "warn" | "FAIL"
  readonly detail: string
  /** What to do. */
  readonly advice: string
  /** What a command would end with that ran into it. */
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

/** An error as a finding, in the words of a command that ends with it. */
export const failed = (check: string, error: Foreseen): CheckResult => {
  const { advice, code, message } = explain(error)
  return fail(check, message, advice.join(" "), code)
}

const colours = { ok: "\u001b[32m", warn: "\u001b[33m", FAIL: "\u001b[31m" } as const

/** One line, whatever the check has to say. */
export const render = ({ advice, check, detail, status }: CheckResult, colour: boolean): string => {
  const sign = status.padEnd(4)
  const text = `${check.padEnd(28)}  ${detail}${advice === "" ? "" : ` → ${advice}`}`
  return `${colour ? `${colours[status]}${sign}\u001b[0m` : sign}  ${text}`
}
