/** A copy in a database: how fast it is written, beside the raw drivers, `sql.insert` and row by row; end to end; as it grows. */
import { copyTable, type GrowthRow, growthTable, isMeasured, speedOfLast } from "../copy.ts"
import { called, type Row } from "../measure.ts"
import { atLeast, atMost, type Section, type Setting } from "../report.ts"
import { type SyncRow, syncTable } from "../syncCases.ts"

const own = "effect-time-punches"

const rowOf = (rows: ReadonlyArray<SyncRow>, start: string): SyncRow => {
  const row = rows.find(({ name }) => name.startsWith(start))
  if (row === undefined) throw new Error(`no row is named ${start}`)
  return row
}

/** How many times as fast as another way, for what is inserted. */
const speed = (rows: ReadonlyArray<SyncRow>, other: string) => rowOf(rows, other).insert / rowOf(rows, own).insert

const targetsOf = (what: string, raw: string, plain: string, least: number, rows: ReadonlyArray<SyncRow>) =>
  rows.length === 0 ? [] : [
    atLeast(`copy in ${what}, inserts, × the raw driver`, 0.85, speed(rows, raw)),
    atLeast(`copy in ${what}, inserts, × sql.insert`, least, speed(rows, "sql.insert")),
    atMost(
      `copy in ${what}, log of equal rows, × a plain upsert`,
      0.2,
      rowOf(rows, own).unchangedLog / rowOf(rows, plain).unchangedLog
    )
  ]

export const sync = ({ pages, url }: Setting): Section => {
  const sqlite = called<ReadonlyArray<SyncRow>>("sync.ts", "syncSqlite")
  const postgres = called<ReadonlyArray<SyncRow>>("sync.ts", "syncPostgresAndPeers")
  const copies = called<ReadonlyArray<Row>>("copy.ts", "copies", { url, pages, samples: 3 })
  const grown = (["SQLite", "PostgreSQL"] as const)
    .map((store) => called<GrowthRow>("copy.ts", "growth", { store, rows: 1_000_000 }))
    .filter(isMeasured)
  return {
    name: "sync",
    text: [
      `SQLite:\n\n${syncTable(sqlite)}`,
      postgres.length === 0 ? "PostgreSQL was not there." : `PostgreSQL:\n\n${syncTable(postgres)}`,
      copyTable(copies),
      growthTable(grown)
    ].join("\n\n"),
    targets: [
      ...targetsOf("SQLite", "node:sqlite, the same", "node:sqlite, a plain", 1.5, sqlite),
      ...targetsOf("PostgreSQL", "pg, the same", "pg, a plain", 1.4, postgres),
      ...grown.map((row) =>
        atLeast(`copy in ${row.store}, the last fifth of a million rows, × the first`, 0.8, speedOfLast(row))
      )
    ]
  }
}
