/**
 * A copy end to end: every punch of a service over TCP into SQLite and PostgreSQL, beside `list` alone. And how fast the last
 * fifth of many rows is written, beside the first. Alone, and small:
 * `node --conditions=effect-time-punches:source benchmarks/copy.ts`.
 */
import { DateTime, Effect, Exit, Scope } from "effect"
import { rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type TimePunch, TimePunchId } from "../src/index.ts"
import { cluster, hasPostgres } from "../test/support/postgres.ts"
import { called, type Case, compare, type Row, rowOf } from "./measure.ts"
import { number, range, table } from "./report.ts"
import { served } from "./served.ts"
import { fileClient, makePages, own, pgClient } from "./syncCases.ts"

const list = "`list` alone, a page ahead"
const rawLoad = "raw undici, `node:sqlite`, a plain upsert for each row"

const sqliteCases: ReadonlyArray<Case> = [
  { name: list, client: "lean.ts#ahead" },
  { name: rawLoad, client: "rawCopy.ts#sqlite" },
  { name: "`Sync.run` into SQLite", client: "copy.ts#sqlite" },
  { name: "`Sync.run` into SQLite, five pages a transaction", client: "copy.ts#sqliteFive" }
]

const postgresCases = (target: string): ReadonlyArray<Case> => [
  { name: "`Sync.run` into PostgreSQL", client: "copy.ts#postgres", target },
  { name: "`Sync.run` into PostgreSQL, five pages a transaction", client: "copy.ts#postgresFive", target }
]

/** Runs with a private server, which must not share a process with what is measured. */
const withServer = async <A>(use: (url: string) => A | Promise<A>): Promise<A> => {
  const scope = Effect.runSync(Scope.make())
  try {
    const server = await Effect.runPromise(
      Scope.provide(cluster({ autovacuum: "off", max_wal_size: "4GB" }), scope)
    )
    return await use(server.url())
  } finally {
    await Effect.runPromise(Scope.close(scope, Exit.void))
  }
}

/** First loads of all pages of a service that `served` has started, each sample in a separate process. */
export const copies = async (
  { pages, samples, url }: { readonly url: string; readonly pages: number; readonly samples: number }
): Promise<ReadonlyArray<Row>> => {
  const target = `${url}/scripts`
  const measured = (cases: ReadonlyArray<Case>) =>
    compare(cases, { target, punches: pages * 200, warmup: 1, times: 1, samples })
  return hasPostgres
    ? withServer((database) => measured([...sqliteCases, ...postgresCases(`${target} ${database}`)]))
    : measured(sqliteCases)
}

/** Punches for each second of the clock, and beside `list` alone. */
export const copyTable = (rows: ReadonlyArray<Row>): string =>
  table(
    [
      "all punches over TCP, other scripts",
      "punches a second",
      "cpu µs a page",
      "× list, wall",
      "× list, cpu",
      "quartiles",
      "× the raw load, cpu"
    ],
    rows.map((row) => [
      row.name,
      number(1e6 / row.wall, 0),
      number(row.cpu * 200, 0),
      number(row.wallRatio),
      number(row.cpuRatio),
      range(row.cpuRange),
      number(row.cpu / rowOf(rows, rawLoad).cpu)
    ])
  )

/** How fast rows are written as the table grows. */
export interface GrowthRow {
  readonly store: "SQLite" | "PostgreSQL"
  readonly rows: number
  /** Microseconds a page, in each fifth of the rows. */
  readonly fifths: ReadonlyArray<number>
}

const pageSize = 200

/** A punch each 90 seconds, as in a company of a million in three years, whose ids follow the clock-ins within a shift. */
const between = 90_000
const shift = 8 * 3_600_000

/** The rows of a page further on. */
const moved = (punches: ReadonlyArray<TimePunch>, page: number): ReadonlyArray<TimePunch> =>
  punches.map((punch, at) => {
    const row = page * pageSize + at
    return {
      ...punch,
      id: TimePunchId.make(1 + row),
      clockedIn: DateTime.makeUnsafe(row * between + punch.clockedIn.epochMilliseconds % shift)
    }
  })

const fifthsOf = async (open: () => ReturnType<ReturnType<typeof own>>, pages: number) => {
  const [base = []] = makePages(1).pages
  const writer = await open()
  const fifths = [0, 0, 0, 0, 0]
  for (let page = 0; page < pages; page++) {
    const punches = moved(base, page)
    const start = process.hrtime.bigint()
    await writer.write(punches, `page ${page}`)
    const fifth = Math.floor(5 * page / pages)
    fifths[fifth] = (fifths[fifth] ?? 0) + Number(process.hrtime.bigint() - start) / 1000
  }
  await writer.close()
  return fifths.map((micros) => micros / (pages / 5))
}

/** Compiles everything on another table, so that the first fifth does not pay for it. */
const warmPages = 200

const intoFile = (pages: number) => {
  const filename = join(tmpdir(), `time-punches-growth-${process.pid}-${pages}.db`)
  const open = () => own(fileClient, 1)(filename)
  return fifthsOf(open, pages).finally(() => {
    for (const suffix of ["", "-wal", "-shm"]) rmSync(filename + suffix, { force: true })
  })
}

/** One store, alone in its process. */
export const growth = async (
  { rows, store }: Pick<GrowthRow, "rows" | "store">
): Promise<GrowthRow | Record<string, never>> => {
  const pages = rows / pageSize
  if (store === "SQLite") {
    await intoFile(warmPages)
    return { store, rows, fifths: await intoFile(pages) }
  }
  if (!hasPostgres) return {}
  await withServer((url) => fifthsOf(() => own(pgClient, 1)(url), warmPages))
  return { store, rows, fifths: await withServer((url) => fifthsOf(() => own(pgClient, 1)(url), pages)) }
}

export const isMeasured = (row: GrowthRow | Record<string, never>): row is GrowthRow => "fifths" in row

/** The speed of the last fifth, as a multiple of the first one's. */
export const speedOfLast = ({ fifths }: GrowthRow): number => (fifths[0] ?? NaN) / (fifths[4] ?? NaN)

export const growthTable = (rows: ReadonlyArray<GrowthRow>): string =>
  table(
    ["inserts, a page in each transaction", "rows", "first fifth µs", "2nd", "3rd", "4th", "last fifth µs", "last ×"],
    rows.map((row) => [
      row.store,
      number(row.rows, 0),
      ...row.fifths.map((micros) => number(micros, 0)),
      number(speedOfLast(row))
    ])
  )

if (import.meta.main) {
  const pages = 50
  const rows = await served(pages, (url) => copies({ url, pages, samples: 1 }))
  const grown = (["SQLite", "PostgreSQL"] as const).map((store) =>
    called<GrowthRow>("copy.ts", "growth", { store, rows: 20_000 })
  )
  process.stdout.write(`${copyTable(rows)}\n\n${growthTable(grown.filter(isMeasured))}\n`)
}
