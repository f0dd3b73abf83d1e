/**
 * How fast a copy is written, beside the raw drivers, `sql.insert` and row by row: 200 rows and a checkpoint in a
 * transaction. Alone: `node --conditions=effect-time-punches:source benchmarks/sync.ts`, with `--quick` without peers.
 */
import { syncPostgres, type SyncRow, syncSqlite, syncTable } from "./syncCases.ts"

export { syncSqlite } from "./syncCases.ts"

/** PostgreSQL with its peers; without PostgreSQL no rows. */
export const syncPostgresAndPeers = async (): Promise<ReadonlyArray<SyncRow>> =>
  (await syncPostgres((await import("./peersSync.ts")).syncPeers)) ?? []

if (import.meta.main) {
  const quick = process.argv.includes("--quick")
  const size = quick ? { pages: 20, rounds: 5 } : {}
  process.stdout.write(`SQLite\n\n${syncTable(await syncSqlite(size))}\n\n`)
  const peers = quick ? [] : (await import("./peersSync.ts")).syncPeers
  const rows = await syncPostgres(peers, size)
  process.stdout.write(rows === undefined ? "no PostgreSQL\n" : `PostgreSQL\n\n${syncTable(rows)}\n`)
}
