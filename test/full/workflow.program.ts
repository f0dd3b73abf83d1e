/** The workflow of the recipe as a program: its engine keeps the pages in SQLite, and what it writes is a file of ids. */
import { Console, DateTime, Effect, Layer, Redacted } from "effect"
import { CompanyId, Credentials, TimePunches } from "effect-time-punches"
import { NodeTransport } from "effect-time-punches/node"
import { NodeSqlite } from "effect-time-punches/sql/node"
import { defaultCompany } from "effect-time-punches/testing"
import { ClusterWorkflowEngine, SingleRunner } from "effect/cluster"
import { Digest } from "effect/crypto"
import * as Fs from "node:fs"
import { CopyPunches, layerCopy } from "../../docs/examples/workflow.ts"

const [url = "", folder = ""] = process.argv.slice(2)

const client = TimePunches.layerWith({
  baseUrl: url,
  credentials: Credentials.layerAccessToken(Redacted.make(defaultCompany.accessToken))
}).pipe(Layer.provide(NodeTransport.layer()))

const engine = ClusterWorkflowEngine.layer.pipe(
  Layer.provideMerge(SingleRunner.layer()),
  Layer.provide(NodeSqlite.layer({ filename: `${folder}/workflow.db` })),
  Layer.provide(Digest.layerWebCrypto)
)

const write = (punches: ReadonlyArray<{ readonly id: number }>) =>
  Effect.sync(() => Fs.appendFileSync(`${folder}/written`, punches.map(({ id }) => `${id}\n`).join("")))

const program = CopyPunches.execute({
  company: CompanyId.make(defaultCompany.id),
  before: DateTime.makeUnsafe("2030-01-01")
})

await Effect.runPromise(
  program.pipe(
    Effect.flatMap(Console.log),
    Effect.provide(layerCopy(write).pipe(Layer.provideMerge(engine), Layer.provide(client)))
  )
)
