/** The processes of the benchmark of a fleet: the service, a runner, or a plain loop of `Sync.run`. Its parent asks them by IPC. */
import { PgClient } from "@effect/sql-pg"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Redacted from "effect/Redacted"
import { FleetRunner } from "../../dist/fleet/node/index.js"
import { CompanyGuid, CompanyId, Credentials, TimePunches } from "../../dist/index.js"
import { NodeTransport } from "../../dist/node/index.js"
import { SqlStore } from "../../dist/sql/index.js"
import { Sync } from "../../dist/sync/index.js"
import { FakeServer } from "../../dist/testing/FakeServer.js"
import { defaultOAuthClient, FakeService, generatePunches } from "../../dist/testing/index.js"

/** What a process is. */
export type Role =
  | { readonly role: "service"; readonly companies: number; readonly punches: number }
  | { readonly role: "loop"; readonly database: string; readonly service: string; readonly companies: number }
  | {
    readonly role: "runner"
    readonly name: string
    readonly database: string
    readonly service: string
  }

export const companiesOf = (count: number) =>
  Array.from({ length: count }, (_, at) => ({
    id: CompanyId.make(5001 + at),
    guid: CompanyGuid.make(`3b2f7c1e-5a94-4d0b-8e6f-${String(5001 + at).padStart(12, "0")}`)
  }))

/** The pool of the command. */
export const database = (url: string) =>
  PgClient.layer({
    url: Redacted.make(url),
    startupParameters: FleetRunner.pgClientOptions({}).startupParameters,
    maxConnections: 16
  })

const client = (baseUrl: string) =>
  TimePunches.layerWith({
    baseUrl,
    credentials: Credentials.layerOAuth({
      clientId: defaultOAuthClient.clientId,
      clientSecret: Redacted.make(defaultOAuthClient.clientSecret)
    })
  }).pipe(Layer.provide(NodeTransport.layer()))

const copyIn = (url: string) => SqlStore.layer({ migrate: false }).pipe(Layer.provideMerge(database(url)))

const tell = (message: string | number) => process.send?.(message)

/** Starts the part, and says `ready`, or the address of the service; then answers each question. */
const begin = async (role: Role) => {
  process.once("disconnect", () => process.exit(0))
  process.on("message", (asked) => {
    if (asked !== "cpu") return
    const { system, user } = process.cpuUsage()
    tell(user + system)
  })
  if (role.role === "service") {
    const companies = companiesOf(role.companies)
    const punches = role.punches === 0
      ? []
      : companies.flatMap(({ id }, at) =>
        generatePunches({ seed: at, count: role.punches, companyId: id, firstId: at * role.punches + 1 })
          .map((punch) => Object.assign(punch, { notes: "" }))
      )
    const served = ManagedRuntime.make(
      FakeServer.layer().pipe(
        Layer.provide(FakeService.layer({
          companies: companies.map(({ guid, id }) => ({ id, guid, accessToken: `token-${id}` })),
          punches
        }))
      )
    )
    tell(await served.runPromise(Effect.map(FakeServer, ({ url }) => url)))
  } else if (role.role === "loop") {
    const runtime = ManagedRuntime.make(Layer.merge(client(role.service), copyIn(role.database)))
    await runtime.runPromise(Effect.void)
    process.on("message", (asked) => {
      if (asked !== "begin") return
      const all = Effect.forEach(companiesOf(role.companies), (company) => Sync.run(company), { concurrency: 32 })
      void runtime.runPromise(all).then(() => tell("done"))
    })
    tell("ready")
  } else {
    const runtime = ManagedRuntime.make(
      FleetRunner.layer({ name: role.name, pagesPerTurn: 20 }).pipe(
        Layer.provide(Layer.merge(client(role.service), copyIn(role.database)))
      )
    )
    await runtime.runPromise(Effect.void)
    tell("ready")
  }
}

const given = process.argv[2]
if (import.meta.main && given !== undefined) await begin(JSON.parse(given))
