/** Reads a database as a user who may only read its file, and prints what came of it as JSON. */
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as Fs from "node:fs"
import { dirname } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { NodeSqlite } from "../../src/sql/node/index.ts"

const [, , filename = ""] = process.argv
const folder = dirname(filename)
const isRoot = process.getuid?.() === 0

/** Root may write everywhere, and so becomes another user; another user takes the permission from itself. */
const asReader = () => isRoot ? process.seteuid?.(65534) : Fs.chmodSync(folder, 0o555)
const asOwner = () => isRoot ? process.seteuid?.(0) : Fs.chmodSync(folder, 0o755)

const write = (database: DatabaseSync) => database.exec("CREATE TABLE IF NOT EXISTS t (a); INSERT INTO t VALUES (1)")
const count = Effect.flatMap(SqlClient.SqlClient, (sql) => sql<{ readonly n: number }>`SELECT count(*) AS n FROM t`)
const reader = NodeSqlite.layer({ filename, readonly: true })
const told = <A>(self: Effect.Effect<ReadonlyArray<A>, { readonly message: string }>) =>
  Effect.match(self, { onFailure: ({ message }) => message, onSuccess: ([row]) => row })

Fs.chmodSync(folder, 0o755)
const first = new DatabaseSync(filename)
first.exec("PRAGMA journal_mode = WAL")
write(first)
first.close()
Fs.chmodSync(filename, 0o644)

asReader()
const results = await Effect.runPromise(Effect.scoped(Effect.gen(function*() {
  const context = yield* Layer.build(reader)
  const read = yield* told(Effect.provideContext(count, context))
  asOwner()
  const other = new DatabaseSync(filename)
  write(other)
  const beside = yield* told(Effect.provideContext(count, context))
  other.close()
  asReader()
  const changed = yield* told(Effect.provideContext(count, context))
  const again = yield* told(Effect.provide(count, reader))
  asOwner()
  const unfinished = new DatabaseSync(filename)
  write(unfinished)
  for (const suffix of ["-wal", "-shm"]) Fs.chmodSync(filename + suffix, 0o600)
  asReader()
  const hidden = isRoot ? yield* told(Effect.provide(count, reader)) : "attempt"
  asOwner()
  unfinished.close()
  return { read, beside, changed, again, hidden }
})))
process.stdout.write(`${JSON.stringify(results)}\n`)
