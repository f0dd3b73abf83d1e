/** Runs the real command as a child process, as a shell does. */
import { Effect, type Scope } from "effect"
import * as ChildProcess from "node:child_process"
import { defaultCompany, defaultOAuthClient } from "../../src/testing/index.ts"
import { bundle } from "./bundle.ts"

/** The exit of a process, and its output. */
export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

export interface Running {
  readonly child: ChildProcess.ChildProcessByStdio<null, import("node:stream").Readable, import("node:stream").Readable>
  readonly ended: Promise<Ended>
  /** Resolves with standard output once it contains `text`, or the process has ended. */
  readonly printed: (text: string) => Promise<string>
}

/** The variables for a service at `url`, with only `PATH` from the environment of this process. */
export const environmentOf = (url: string): Record<string, string> => ({
  PATH: process.env["PATH"] ?? "",
  TIME_PUNCHES_BASE_URL: url,
  TIME_PUNCHES_REQUESTS_PER_SECOND: "none",
  TIME_PUNCHES_CLIENT_ID: defaultOAuthClient.clientId,
  TIME_PUNCHES_CLIENT_SECRET: defaultOAuthClient.clientSecret,
  TIME_PUNCHES_COMPANY_ID: `${defaultCompany.id}`,
  TIME_PUNCHES_COMPANY_GUID: defaultCompany.guid
})

/** The arguments of Node for a call of the command. */
export const commandOf = (args: ReadonlyArray<string>, script = bundle): ReadonlyArray<string> => [
  "--conditions=effect-time-punches:source",
  "--disable-warning=ExperimentalWarning",
  script,
  ...args
]

/** A user and a group of the system, without any other group. Only root can become one. */
export interface User {
  readonly uid: number
  readonly gid: number
}

/** Whether the command can be run as this user: only root can become one, and a build may be in a folder that is closed to others. */
export const canBecome = (user: User): boolean =>
  process.getuid?.() === 0 &&
  ChildProcess.spawnSync(process.execPath, [bundle, "--version"], { ...user, cwd: "/", env: {} }).status === 0

/** `cwd`: the folder in which it runs; default: that of this process. `user`: who runs it; default: who runs this process. */
export const start = (
  args: ReadonlyArray<string>,
  env: Record<string, string>,
  script = bundle,
  cwd = process.cwd(),
  user: Partial<User> = {}
): Running => {
  const child = ChildProcess.spawn(
    process.execPath,
    commandOf(args, script),
    { cwd, env, stdio: ["ignore", "pipe", "pipe"], ...user }
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
      const check = () => {
        if (stdout.includes(text)) resolve(stdout)
      }
      child.stdout.on("data", check)
      child.on("close", () => resolve(stdout))
      check()
    })
  return { child, ended, printed }
}

/** The process of a call, which ends with the scope. */
export const started = (...call: Parameters<typeof start>): Effect.Effect<Running, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => start(...call)),
    ({ child }) => Effect.sync(() => child.kill("SIGKILL"))
  )

/** What a process has returned once it has ended. */
export const ended = (running: Running) => Effect.promise(() => running.ended)
