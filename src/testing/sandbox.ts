/** `npm run sandbox`: the fake service on a port, filled with punches, and the settings that a client needs to ask it. */
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { defaultCompany, defaultOAuthClient, defaultSession, otherCompany } from "./accounts.ts"
import { FakeService } from "./FakeService.ts"
import { Fault } from "./Fault.ts"
import { generatePunches } from "./generate.ts"
import { FakeServer } from "./server.ts"

/** The lines that a shell can take over, and what can stand in for the OAuth client. */
const settingsFor = (url: string) =>
  [
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
  ].join("\n")

const share = (count: number) => ({ most: Math.ceil(count * 0.9), rest: Math.floor(count * 0.1) })

const punchesOf = (count: number, seed: number) => {
  const { most, rest } = share(count)
  return [
    ...generatePunches({ seed, count: most, companyId: defaultCompany.id }),
    // Ids grow with gaps of at most nine, so the second company begins beyond the first.
    ...generatePunches({ seed: seed + 1, count: rest, companyId: otherCompany.id, firstId: 10_000 + most * 9 })
  ]
}

const command = Command.make(
  "sandbox",
  {
    port: Flag.Int("port").pipe(Flag.withDescription("Port to listen on; 0 takes a free one"), Flag.withDefault(0)),
    punches: Flag.Int("punches").pipe(Flag.withDescription("Number of punches"), Flag.withDefault(50_000)),
    seed: Flag.Int("seed").pipe(Flag.withDescription("Seed of the punches"), Flag.withDefault(1)),
    fail: Flag.Finite("fail").pipe(
      Flag.withDescription("Share of page requests, 0 to 1, that are answered with 503"),
      Flag.withDefault(0)
    )
  },
  Effect.fn("sandbox")(
    function*({ fail, punches, seed }) {
      const service = yield* FakeService
      const { url } = yield* FakeServer
      yield* service.seed(punchesOf(punches, seed))
      yield* service.inject(Fault.retryAfter("1", 503), { probability: { chance: fail, seed } })
      yield* Console.log(settingsFor(url))
      yield* Console.log(`\n# The fake service listens on ${url} with ${punches} punches. Ctrl-C stops it.`)
      return yield* Effect.never
    },
    (run, { port }) => Effect.provide(run, FakeServer.layer({ port }).pipe(Layer.provideMerge(FakeService.layer())))
  )
).pipe(Command.withDescription("Runs the fake time-punch service on this machine."))

NodeRuntime.runMain(Command.run(command, { version: "0.1.0" }).pipe(Effect.provide(NodeServices.layer)))
