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
  generateWeeks,
  otherCompany,
  type StoredPunch
} from "../../testing/index.ts"
import { CommandFailure, exitCode } from "../failure.ts"
import { errorCode } from "../fileFailure.ts"
import type { SandboxInput } from "../flags/sandbox.ts"
import { countedPunches } from "../terminal/format.ts"
import { printError, printLines } from "../terminal/output.ts"
import { churn } from "./churn.ts"
import { editPath, withEdits } from "./edit.ts"

/** Serves until interrupted. */
export const serve = (options: SandboxInput) =>
  Effect.gen(function*() {
    const service = yield* FakeService
    const { url } = yield* FakeServer
    const { ofDefault, ofOther } = punchesOf(options.punches, options.seed)
    yield* service.seed([...ofDefault, ...ofOther])
    if (options.fail > 0) {
      yield* service.inject(Fault.retryAfter("1", 503), { probability: { chance: options.fail, seed: options.seed } })
    }
    const listed = ofDefault.filter(({ deleted }) => deleted !== true)
    yield* printLines(options.json ? [JSON.stringify(variablesFor(url))] : settingsFor(url, listed))
    yield* printError(`${url} serves ${countedPunches(listed.length)}${spanOf(listed)}. Ctrl-C stops it.`)
    if (options.churn || Option.isSome(options.churnFor)) {
      const seconds = Option.getOrElse(options.churnFor, () => Infinity)
      yield* printError("Punches change twice a second.")
      yield* Effect.timeoutOption(churn(ofDefault, options.seed), Duration.seconds(seconds))
      yield* printError("Punches no longer change.")
    }
    return yield* Effect.never
  }).pipe(
    Effect.provide(
      FakeServer.layer({ port: options.port }).pipe(
        Layer.provideMerge(Layer.effect(FakeService, Effect.map(FakeService, withEdits))),
        Layer.provide(FakeService.layer({ latency: options.latency }))
      )
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

/** The dates of the first and the last punch, so that a reader knows which weeks to list. */
const spanOf = (punches: ReadonlyArray<StoredPunch>): string => {
  const [first, last] = [punches[0], punches.at(-1)].map((punch) => punch?.clocked_in.slice(0, 10))
  return first === undefined ? "" : ` of ${first} to ${last}`
}

/** The environment of an OAuth client. */
const variablesFor = (url: string) => ({
  TIME_PUNCHES_BASE_URL: url,
  TIME_PUNCHES_AUTH_URL: url,
  TIME_PUNCHES_CLIENT_ID: defaultOAuthClient.clientId,
  TIME_PUNCHES_CLIENT_SECRET: defaultOAuthClient.clientSecret,
  TIME_PUNCHES_COMPANY_ID: `${defaultCompany.id}`,
  TIME_PUNCHES_COMPANY_GUID: defaultCompany.guid
})

/** Lines for a shell: the settings of an OAuth client, and commented out those of other credentials and two requests. */
const settingsFor = (url: string, punches: ReadonlyArray<StoredPunch>): ReadonlyArray<string> => [
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
  `'${url}/v2/company/${defaultCompany.id}/time_punches?limit=3'`,
  ...punches.slice(0, 1).flatMap(({ id }) => [
    "# a correction, as a manager makes it in the service:",
    `# curl -X PATCH -d '{"notes":"corrected"}' ${url}${editPath}${id}`
  ])
]

/** Fourteen weeks of the default company, fewer of a small one, and a ninth as much of one that its credentials must not read. */
const punchesOf = (count: number, seed: number) => {
  const weeksOf = (count: number) => ({ count, people: Math.max(8, Math.round(count / 90)) })
  const ofDefault = generateWeeks({ seed, ...weeksOf(count), companyId: defaultCompany.id })
  const ofOther = generateWeeks({
    seed: seed + 1,
    ...weeksOf(Math.ceil(count / 9)),
    companyId: otherCompany.id,
    // Leaves ids for punches that are clocked while the sandbox runs.
    firstId: (ofDefault.at(-1)?.id ?? 0) + 1_000_000
  })
  return { ofDefault, ofOther }
}
