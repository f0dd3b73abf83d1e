/** First loads into a database, as `Sync.run` does them: every run into new tables, which it removes. */
import { PgClient } from "@effect/sql-pg"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Redacted from "effect/Redacted"
import * as SqlClient from "effect/sql/SqlClient"
import { rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { CompanyId } from "../../dist/index.js"
import { SqlStore } from "../../dist/sql/index.js"
import { NodeSqlite } from "../../dist/sql/node/index.js"
import { Sync } from "../../dist/sync/index.js"
import type { Client } from "../sample.ts"
import { transport } from "./lean.ts"
import { app } from "./ours.ts"
import { companyId } from "./raw.ts"

type Database = Layer.Layer<SqlClient.SqlClient, unknown>

/** Reads a page ahead, as the command does. */
const load = Effect.flatMap(
  Sync.run(CompanyId.make(companyId), { prefetchPages: 1 }),
  ({ complete, written }) =>
    complete ? Effect.succeed(written) : Effect.die(new Error("the first load is not complete"))
)

/** How many first loads this process has begun. */
let loads = 0

const intoFile = (pagesPerTransaction: number): Client => (url) => {
  const service = ManagedRuntime.make(app(url, transport))
  return async () => {
    const filename = join(tmpdir(), `time-punches-copy-${process.pid}-${loads++}.db`)
    const database: Database = NodeSqlite.layer({ filename })
    const store = SqlStore.layer({ pagesPerTransaction }).pipe(Layer.provide(database))
    const written = await service.runPromise(Effect.provide(load, store))
    for (const suffix of ["", "-wal", "-shm"]) rmSync(filename + suffix, { force: true })
    return written
  }
}

/** The target has the address of the database behind that of the service, and a space between. */
const intoServer = (pagesPerTransaction: number): Client => (target) => {
  const [url = "", address = ""] = target.split(" ")
  const database: Database = PgClient.layer({ url: Redacted.make(address) })
  const service = ManagedRuntime.make(Layer.merge(app(url, transport), database))
  return async () => {
    const written = await service.runPromise(Effect.provide(load, SqlStore.layer({ pagesPerTransaction })))
    // The database is of this benchmark alone.
    await service.runPromise(
      Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe("DROP SCHEMA public CASCADE; CREATE SCHEMA public"))
    )
    return written
  }
}

export const sqlite = intoFile(1)

export const sqliteFive = intoFile(5)

export const postgres = intoServer(1)

export const postgresFive = intoServer(5)
