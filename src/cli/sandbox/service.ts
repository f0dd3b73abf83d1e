/** The service behind `time-punches sandbox`: serves the fake service on a port and prints a client's settings. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { FakeServer } from "../../testing/FakeServer.ts"
import {
  defaultCompany,
  defaultOAuthClient,
  defaultSession,
  FakeService,
  Fault,
  generatePunches,
  otherCompany
} from "../../testing/index.ts"
import { CommandFailure, exitCode } from "../failure.ts"
import { errorCode } from "../fileFailure.ts"
import type { SandboxInput } from "../flags/sandbox.ts"
import { countedPunches } from "../terminal/format.ts"
import { printError, printLines } from "../terminal/output.ts"
import { churn } from "./churn.ts"

/** Serves until interrupted. */
export const serve = (options: SandboxInput) =>
  Effect.gen(function*() {
    const service = yield* FakeService
    const { url } = yield* FakeServer
    const punches = punchesOf(options.punches, options.seed)
    yield* service.seed(punches)
    if (options.fail > 0) {
      yield* service.inject(Fault.retryAfter("1", 503), { probability: { chance: options.fail, seed: options.seed } })
    }
    yield* printLines(options.json ? [JSON.stringify(variablesFor(url))] : settingsFor(url))
    yield* printError(`${url} serves ${countedPunches(options.punches)}. Ctrl-C stops it.`)
    if (options.churn || Option.isSome(options.churnFor)) {
      const ofDefault = punches.filter((punch) => punch.company_id === defaultCompany.id)
      const seconds = Option.getOrElse(options.churnFor, () => Infinity)
      yield* printError("Punches change twice a second.")
      yield* Effect.timeoutOption(churn(ofDefault, options.seed), Duration.seconds(seconds))
      yield* printError("Punches no longer change.")
    }
    return yield* Effect.never
  }).pipe(
    Effect.provide(
      FakeServer.layer({ port: options.port }).pipe(Layer.provideMerge(FakeService.layer({ latency: options.latency })))
    ),
    Effect.catchTag("ServeError", ({ cause }) =>
      Effect.fail(
        new CommandFailure({
          message: `cannot listen on port ${options.port}: ${Option.getOrElse(errorCode(cause), () => "refused")}`,
          advice: ["--port 0 takes a free one."],
          code: exitCode.system
        })
      ))
  )

/** The environment of an OAuth client. */
const variablesFor = (url: string) => ({
  TIME_PUNCHES_BASE_URL: url,
  TIME_PUNCHES_AUTH_URL: url,
  TIME_PUNCHES_CLIENT_ID: defaultOAuthClient.clientId,
  TIME_PUNCHES_CLIENT_SECRET: defaultOAuthClient.clientSecret,
  TIME_PUNCHES_COMPANY_ID: `${defaultCompany.id}`,
  TIME_PUNCHES_COMPANY_GUID: defaultCompany.guid
})

/** Lines for a shell: the settings of an OAuth client, and commented out those of other credentials. */
const settingsFor = (url: string): ReadonlyArray<string> => [
  "# OAuth client:",
  ...Object.entries(variablesFor(url)).map(([name, value]) => `export ${name}=${value}`),
  "",
  "# or, in place of client id and secret, the access token of one company:",
  `# export TIME_PUNCHES_ACCESS_TOKEN=${defaultCompany.accessToken}`,
  "# or a session cookie:",
  `# export TIME_PUNCHES_SESSION_COOKIE=${defaultSession.cookie}`,
  "",
  "# a first page by hand:",
  `# curl -H 'authorization: Bearer ${defaultCompany.accessToken}' ` +
  `'${url}/v2/company/${defaultCompany.id}/time_punches?limit=3'`
]

/** Nine in ten belong to the default company, the others to one that its credentials must not read. */
const punchesOf = (count: number, seed: number) => {
  const ofDefault = Math.ceil(count * 0.9)
  return [
    ...generatePunches({ seed, count: ofDefault, companyId: defaultCompany.id }),
    // Ids grow by at most nine, so those of the second company begin after the first company's.
    ...generatePunches({
      seed: seed + 1,
      count: count - ofDefault,
      companyId: otherCompany.id,
      firstId: 10_000 + ofDefault * 9
    })
  ]
}
