/** The service behind `time-punches sandbox`: the fake service on a port, and the settings that a client needs. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { FakeServer } from "../../testing/FakeServer.ts"
import { FakeService } from "../../testing/FakeService.ts"
import { Fault } from "../../testing/faults/Fault.ts"
import { generatePunches } from "../../testing/generate/punches.ts"
import { defaultCompany, defaultOAuthClient, defaultSession, otherCompany } from "../../testing/service/accounts.ts"
import { codeOf, CommandFailure, exitCode } from "../failure.ts"
import { printLines, tell } from "../terminal/output.ts"
import { countedPunches } from "../terminal/progress.ts"

interface Options {
  readonly port: number
  readonly punches: number
  readonly seed: number
  readonly fail: number
  readonly latency: number
}

/** Serves until it is interrupted. */
export const serve = (options: Options) =>
  Effect.gen(function*() {
    const service = yield* FakeService
    const { url } = yield* FakeServer
    yield* service.seed(punchesOf(options.punches, options.seed))
    if (options.fail > 0) {
      yield* service.inject(Fault.retryAfter("1", 503), { probability: { chance: options.fail, seed: options.seed } })
    }
    yield* printLines(settingsFor(url))
    yield* tell(`${url} serves ${countedPunches(options.punches)}. Ctrl-C stops it.`)
    return yield* Effect.never
  }).pipe(
    Effect.provide(
      FakeServer.layer({ port: options.port }).pipe(Layer.provideMerge(FakeService.layer({ latency: options.latency })))
    ),
    Effect.catchTag("ServeError", ({ cause }) =>
      Effect.fail(
        new CommandFailure({
          message: `cannot listen on port ${options.port}: ${Option.getOrElse(codeOf(cause), () => "refused")}`,
          advice: ["--port 0 takes a free one."],
          code: exitCode.system
        })
      ))
  )

/** Lines that a shell can take over, and what can stand in for the OAuth client. */
const settingsFor = (url: string): ReadonlyArray<string> => [
  "# OAuth client:",
  `export TIME_PUNCHES_BASE_URL=${url}`,
  `export TIME_PUNCHES_AUTH_URL=${url}`,
  `export TIME_PUNCHES_CLIENT_ID=${defaultOAuthClient.clientId}`,
  `export TIME_PUNCHES_CLIENT_SECRET=${defaultOAuthClient.clientSecret}`,
  `export TIME_PUNCHES_COMPANY_ID=${defaultCompany.id}`,
  `export TIME_PUNCHES_COMPANY_GUID=${defaultCompany.guid}`,
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

/** Most are the company's, some another one's, whom nobody may see by accident. */
const punchesOf = (count: number, seed: number) => {
  const most = Math.ceil(count * 0.9)
  return [
    ...generatePunches({ seed, count: most, companyId: defaultCompany.id }),
    // Ids grow with gaps of at most nine, so the second company begins beyond the first.
    ...generatePunches({ seed: seed + 1, count: count - most, companyId: otherCompany.id, firstId: 10_000 + most * 9 })
  ]
}
