/** A process that carries one pass into a file of SQLite and measures its heap meanwhile; prints what the pass did. */
import { Console, Effect, Layer, Redacted } from "effect"
import { CompanyId, Credentials, TimePunches } from "../../src/index.ts"
import { NodeTransport } from "../../src/node/index.ts"
import { SqlStore } from "../../src/sql/index.ts"
import { NodeSqlite } from "../../src/sql/node/index.ts"
import { Sync } from "../../src/sync/index.ts"
import { defaultCompany } from "../../src/testing/index.ts"

const [, , url = "", filename = "", total = "0"] = process.argv

if (globalThis.gc === undefined) throw new Error("needs --expose-gc")
const collect = globalThis.gc

const client = TimePunches.layerWith({
  baseUrl: url,
  credentials: Credentials.layerAccessToken(Redacted.make(defaultCompany.accessToken))
}).pipe(Layer.provide(NodeTransport.layer()))

const store = SqlStore.layer().pipe(Layer.provide(NodeSqlite.layer({ filename })))

const program = Effect.gen(function*() {
  const heaps: Array<number> = []
  const { complete, kind, pages, unchanged, written } = yield* Sync.run(CompanyId.make(defaultCompany.id), {
    onCommit: ({ punches }) =>
      Effect.sync(() => {
        if (punches < (heaps.length + 1) * Number(total) / 10) return true
        collect()
        heaps.push(process.memoryUsage().heapUsed)
        return true
      })
  })
  yield* Console.log(JSON.stringify({ complete, kind, pages, written, unchanged, heaps }))
})

await Effect.runPromise(Effect.provide(program, Layer.merge(client, store)))
