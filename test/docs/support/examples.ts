/** Runs the examples as a reader does: settings from the environment, the service behind a socket. */
import { ConfigProvider, Effect, Layer } from "effect"
import { TestConsole } from "effect/testing"
import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"
import { loopback } from "../../../docs/examples/loopback.ts"
import { Endpoints } from "../../../src/index.ts"
import {
  defaultCompany,
  defaultOAuthClient,
  type FakeServiceOptions,
  generatePunches
} from "../../../src/testing/index.ts"

/** The path of the repository, with a trailing slash. */
export const root = fileURLToPath(new URL("../../../", import.meta.url))

/** The punches behind the outputs in the documents. */
export const punches = generatePunches({ seed: 14, count: 120, users: 6, companyId: defaultCompany.id })

/** The variables of the README, for a service at this address. */
export const environment = (baseUrl: string) => ({
  TIME_PUNCHES_BASE_URL: baseUrl,
  TIME_PUNCHES_REQUESTS_PER_SECOND: "none",
  TIME_PUNCHES_CLIENT_ID: defaultOAuthClient.clientId,
  TIME_PUNCHES_CLIENT_SECRET: defaultOAuthClient.clientSecret,
  TIME_PUNCHES_COMPANY_ID: String(defaultCompany.id),
  TIME_PUNCHES_COMPANY_GUID: defaultCompany.guid
})

/** The fake service on a port, and the environment that points to it, with additional variables. */
export const served = (
  options: FakeServiceOptions = { punches },
  more: Readonly<Record<string, string>> = {}
) =>
  ConfigProvider.layer(
    Effect.map(Endpoints, ({ baseUrl }) => ConfigProvider.fromUnknown({ ...environment(baseUrl), ...more }))
  ).pipe(Layer.provideMerge(loopback(options)))

/** Runs a program and returns the lines that it printed. */
export const linesOf = <A, E, R>(program: Effect.Effect<A, E, R>) =>
  Effect.andThen(program, Effect.map(TestConsole.logLines, (lines) => lines.map(String)))

export interface ExitedProcess {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs an example file in a separate process, as `npm run demo` does. */
export const spawn = (
  example: string,
  env: Readonly<Record<string, string>>,
  cwd = root
): Effect.Effect<ExitedProcess> =>
  Effect.callback((resume) => {
    const child = execFile(
      process.execPath,
      ["--conditions=effect-time-punches:source", `${root}docs/examples/${example}`],
      { cwd, env: { PATH: process.env["PATH"] ?? "", ...env }, timeout: 60_000 },
      (error, stdout, stderr) =>
        resume(
          Effect.succeed({
            code: error === null ? 0 : typeof error.code === "number" ? error.code : -1,
            stdout,
            stderr
          })
        )
    )
    return Effect.sync(() => child.kill())
  })
