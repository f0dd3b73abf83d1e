/**
 * Cpu of a copy that is listed beside the driver's arrays of the same rows, and of its sums by person beside the same sum in SQL:
 * `node --conditions=effect-time-punches:source benchmarks/readCopy.ts [--pages=500] [--rounds=5] [--store=PostgreSQL]`. The cpu
 * is of the client's process: the server of PostgreSQL has its own.
 */
import { Effect, Exit, Layer, ManagedRuntime, Scope, Stream } from "effect"
import { SqlClient, Statement } from "effect/sql"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { CompanyId } from "../src/Ids.ts"
import * as Labor from "../src/payroll/Labor.ts"
import { columns } from "../src/sql/columns.ts"
import { connect } from "../src/sql/connection.ts"
import { PunchCopy } from "../src/sql/index.ts"
import { punchColumns } from "../src/sql/row.ts"
import { cluster } from "../test/support/postgres.ts"
import { median } from "./measure.ts"
import { number, table } from "./report.ts"
import { fileClient, makePages, own, pgClient } from "./syncCases.ts"

const { values: { pages, rounds, store } } = parseArgs({
  options: {
    pages: { type: "string", default: "500" },
    rounds: { type: "string", default: "5" },
    store: { type: "string", default: "SQLite" }
  }
})

const company = CompanyId.make(7)

/** As the columns are: a driver of PostgreSQL makes BigInts, dates and breaks of them. */
const raw = Effect.gen(function*() {
  const { dialect: { tables }, sql } = yield* connect
  const names = Statement.literal(columns.map(({ name }) => name).join(", "))
  const rows = yield* sql`SELECT ${Statement.fragment([names])} FROM ${tables.rows} ORDER BY clocked_in, id`.values
  return rows.length
})

/** The statement of a page of `PunchCopy.list`, for all rows. */
const same = Effect.gen(function*() {
  const { dialect, sql } = yield* connect
  const rows = yield* sql`SELECT ${punchColumns(dialect)} FROM ${dialect.tables.rows} AS t
    ORDER BY t.clocked_in, t.id`.values
  return rows.length
})

/**
 * The same sums as a person would write them in SQL: the view clips and unites the unpaid breaks of each punch. Rounded for each
 * punch, without anomalies and paid breaks, and in floating point.
 */
const summed = Effect.gen(function*() {
  const { sql } = yield* connect
  const rows = yield* sql`SELECT user_id, count(*), count(*) - count(hours_worked), sum(hours_worked),
      sum(round(CAST(hours_worked * hourly_wage AS numeric), 2)), sum(tips)
    FROM time_punches_current
    GROUP BY user_id`.values
  return rows.length
})

/** What it cannot be faster than: no breaks, no wages, no view. */
const summedWithoutBreaks = Effect.gen(function*() {
  const { dialect: { millisOf, tables }, sql } = yield* connect
  const rows = yield* sql`SELECT user_id, count(*), sum(${millisOf("clocked_out")} - ${
    millisOf("clocked_in")
  }), sum(tips)
    FROM ${tables.rows} WHERE NOT deleted AND missing_at IS NULL GROUP BY user_id`.values
  return rows.length
})

const cases: Readonly<Record<string, Effect.Effect<unknown, unknown, SqlClient.SqlClient>>> = {
  "the driver's arrays": raw,
  "the driver's arrays of the statement of `list`": same,
  "`PunchCopy.list`": Stream.runDrain(PunchCopy.list(company, { deleted: "include" })),
  "a sum in SQL, without breaks": summedWithoutBreaks,
  "a sum in SQL": summed,
  "`Labor.rollup` of `PunchCopy.list`": Stream.run(
    PunchCopy.list(company),
    Labor.rollup(({ userId }) => userId, { rounding: "halfUp" })
  )
}

const run = async (target: string, client: typeof fileClient | typeof pgClient) => {
  const writer = await own(client, 5)(target)
  for (const [at, page] of makePages(Number(pages)).pages.entries()) await writer.write(page, `${at}`)
  await writer.close()
  const runtime = ManagedRuntime.make(client(target).pipe(Layer.orDie))
  const spent = new Map<string, Array<number>>()
  for (let round = 0; round <= Number(rounds); round++) {
    for (const [name, each] of Object.entries(cases)) {
      const start = process.cpuUsage()
      await runtime.runPromise(each)
      const { system, user } = process.cpuUsage(start)
      // The first round compiles.
      if (round > 0) spent.set(name, (spent.get(name) ?? []).concat((user + system) / (Number(pages) * 200)))
    }
  }
  await runtime.dispose()
  const of = (name: string) => median(spent.get(name) ?? [])
  const floors = [of("the driver's arrays"), of("a sum in SQL")]
  process.stdout.write(`${
    table(
      [`${number(Number(pages) * 200, 0)} rows, ${store}`, "cpu µs a row", "× arrays", "× the sum in SQL"],
      Object.keys(cases).map((name) => [name, number(of(name))].concat(floors.map((floor) => number(of(name) / floor))))
    )
  }\n`)
}

const folder = mkdtempSync(join(tmpdir(), "time-punches-read-"))
const scope = Effect.runSync(Scope.make())
try {
  if (store === "PostgreSQL") {
    await run((await Effect.runPromise(Scope.provide(cluster(), scope))).url(), pgClient)
  } else await run(join(folder, "punches.db"), fileClient)
} finally {
  await Effect.runPromise(Scope.close(scope, Exit.void))
  rmSync(folder, { recursive: true, force: true })
}
