/** Runs the examples of the docs as their readers do: settings from the environment, the service behind a socket. */
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

/** The repository, with a slash at its end. */
export const root = fileURLToPath(new URL("../../../", import.meta.url))

/** The punches that the outputs in the docs are of. */
export const punches = generatePunches({ seed: 14, count: 120, users: 6, companyId: defaultCompany.id })

/** The variables of the README, for a service at this address. */
export const environment = (baseUrl: string) => ({
  TIME_PUNCHES_BASE_URL: baseUrl,
  TIME_PUNCHES_CLIENT_ID: defaultOAuthClient.clientId,
  TIME_PUNCHES_CLIENT_SECRET: defaultOAuthClient.clientSecret,
  TIME_PUNCHES_COMPANY_ID: String(defaultCompany.id),
  TIME_PUNCHES_COMPANY_GUID: defaultCompany.guid
})

/** The fake service on a port, and the environment that leads to it, with some more variables in it. */
export const served = (
  options: FakeServiceOptions = { punches },
  more: Readonly<Record<string, string>> = {}
) =>
  ConfigProvider.layer(
    Effect.map(Endpoints, ({ baseUrl }) => ConfigProvider.fromUnknown({ ...environment(baseUrl), ...more }))
  ).pipe(Layer.provideMerge(loopback(options)))

/** Runs a program, and answers with the lines that it printed. */
export const linesOf = <A, E, R>(program: Effect.Effect<A, E, R>) =>
  Effect.andThen(program, Effect.map(TestConsole.logLines, (lines) => lines.map(String)))

export interface Ended {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs a file of the examples as a process of its own, as `npm run demo` does. */
export const spawn = (
  example: string,
  env: Readonly<Record<string, string>>,
  cwd = root
): Effect.Effect<Ended> =>
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
