/**
 * A copy without a transaction, as a program keeps it that is killed: its rows in a file of SQLite, its checkpoint in the
 * files of a `KeyValueStore`. With a number, it is killed in the middle of writing the key for that time.
 */
import { Console, Effect, Layer, Option, Redacted } from "effect"
import * as KeyValueStore from "effect/persistence/KeyValueStore"
import * as Fs from "node:fs"
import { DatabaseSync } from "node:sqlite"
import { CompanyId, Credentials, TimePunches } from "../../src/index.ts"
import { NodeTransport } from "../../src/node/index.ts"
import { type Batch, Sync, SyncStore } from "../../src/sync/index.ts"
import { defaultCompany } from "../../src/testing/index.ts"

const [, , url = "", folder = "", cut = "0"] = process.argv

const fileOf = (key: string) => `${folder}/${key}.json`

let writes = 0

const keys = KeyValueStore.makeStringOnly({
  get: (key) => Effect.sync(() => Fs.existsSync(fileOf(key)) ? Fs.readFileSync(fileOf(key), "utf8") : undefined),
  set: (key, value) =>
    Effect.sync(() => {
      if (++writes === Number(cut)) {
        Fs.writeFileSync(fileOf(key), value.slice(0, value.length / 2))
        process.kill(process.pid, "SIGKILL")
      }
      Fs.writeFileSync(fileOf(key), value)
    }),
  remove: (key) => Effect.sync(() => Fs.rmSync(fileOf(key))),
  clear: Effect.void,
  size: Effect.succeed(2),
  keys: Effect.succeed([])
})

const database = new DatabaseSync(`${folder}/rows.db`)
database.exec(
  "CREATE TABLE IF NOT EXISTS rows (id INTEGER PRIMARY KEY, notes TEXT NOT NULL, pass INTEGER NOT NULL, written INTEGER NOT NULL) STRICT"
)
// Each row is durable by itself: a row of a higher number stays.
const upsert = database.prepare(
  "INSERT INTO rows AS t VALUES (?, ?, ?, 1) ON CONFLICT (id) DO UPDATE SET notes = excluded.notes, pass = excluded.pass, written = t.written + 1 WHERE excluded.pass >= t.pass"
)

const write = ({ pass, punches }: Batch) =>
  Effect.sync(() => {
    for (const { id, notes } of punches) upsert.run(id, notes, pass)
  })

const client = TimePunches.layerWith({
  baseUrl: url,
  credentials: Credentials.layerAccessToken(Redacted.make(defaultCompany.accessToken))
}).pipe(Layer.provide(NodeTransport.layer()))

const store = SyncStore.layerKeyValueStore(write).pipe(
  Layer.provide(Layer.succeed(KeyValueStore.KeyValueStore, keys))
)

const program = Effect.gen(function*() {
  const { complete, watermark } = yield* Sync.run(CompanyId.make(defaultCompany.id))
  yield* Console.log(JSON.stringify({ complete, hasWatermark: Option.isSome(watermark) }))
})

await Effect.runPromise(Effect.provide(program, Layer.merge(client, store)))
