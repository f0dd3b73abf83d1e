/** The real command as a child process, asked as a shell would ask it. */
import * as ChildProcess from "node:child_process"
import { defaultCompany, defaultOAuthClient } from "../../src/testing/index.ts"

const main = new URL("../../src/cli/main.ts", import.meta.url).pathname

/** How a process ended, and what it wrote. */
export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

export interface Running {
  readonly child: ChildProcess.ChildProcessByStdio<null, import("node:stream").Readable, import("node:stream").Readable>
  readonly ended: Promise<Ended>
  /** Ends once standard output holds this, or the process has ended. */
  readonly printed: (text: string) => Promise<string>
}

/** The variables for a service at `url`; nothing else of this process' environment but where programs are. */
export const environmentOf = (url: string): Record<string, string> => ({
  PATH: process.env["PATH"] ?? "",
  TIME_PUNCHES_BASE_URL: url,
  TIME_PUNCHES_CLIENT_ID: defaultOAuthClient.clientId,
  TIME_PUNCHES_CLIENT_SECRET: defaultOAuthClient.clientSecret,
  TIME_PUNCHES_COMPANY_ID: `${defaultCompany.id}`,
  TIME_PUNCHES_COMPANY_GUID: defaultCompany.guid
})

export const start = (args: ReadonlyArray<string>, env: Record<string, string>, script = main): Running => {
  const child = ChildProcess.spawn(
    process.execPath,
    ["--conditions=effect-time-punches:source", "--disable-warning=ExperimentalWarning", script, ...args],
    { env, stdio: ["ignore", "pipe", "pipe"] }
  )
  let stdout = ""
  let stderr = ""
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text))
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text))
  const ended = new Promise<Ended>((resolve) => {
    child.on("close", (code, signal) => resolve({ code, signal, stdout, stderr }))
  })
  const printed = (text: string) =>
    new Promise<string>((resolve) => {
      const look = () => {
        if (stdout.includes(text)) resolve(stdout)
      }
      child.stdout.on("data", look)
      child.on("close", () => resolve(stdout))
      look()
    })
  return { child, ended, printed }
}
