/**
 * Seconds, cpu and peak memory of the commands of payroll over a fortnight of many people, and a hash of what each prints, to
 * compare two builds: `npm run build && node --conditions=effect-time-punches:source benchmarks/people.ts [BUILD]
 * [--people=3000] [--store=SQLite|PostgreSQL] [--overlaps] [--copy=FILE] [--only=NAME…]`. BUILD is the root of another build,
 * which then writes the copy and runs the commands. 100000 people have 1.4 million punches. With `--overlaps` each of them overlaps
 * another one. The copy is written into FILE, or read from it if it is there. Some figures of `correct` and `due` need the close.
 */
import { DateTime, Effect, Exit, Option, Scope } from "effect"
import { spawnSync } from "node:child_process"
import { createHash } from "node:crypto"
import { closeSync, copyFileSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { parseArgs } from "node:util"
import { BreakId, Cents, CustomBreakId, LocationId, TimePunchId, UserId } from "../src/Ids.ts"
import type { TimePunch } from "../src/TimePunch.ts"
import { punch } from "../test/support/arbitraryPunch.ts"
import { cluster } from "../test/support/postgres.ts"
import { batchOf, checkpointAt } from "../test/support/storeBatches.ts"
import { number, table } from "./report.ts"

const { positionals: [folder = join(import.meta.dirname, "..")], values } = parseArgs({
  allowPositionals: true,
  options: {
    people: { type: "string", default: "3000" },
    store: { type: "string", default: "SQLite" },
    overlaps: { type: "boolean", default: false },
    copy: { type: "string" },
    only: { type: "string", multiple: true }
  }
})

const build = resolve(folder)
const people = Number(values.people)
const days = 14

/** Midnight of the first day in New York. */
const begin = Date.parse("2026-03-02T05:00:00Z")

const [hour, day] = [3_600_000, 24 * 3_600_000]

const at = (millis: number) => DateTime.makeUnsafe(millis)

/** Days by day, as a service has them: each person once a day, at one of two locations, with an unpaid break. */
const punchOf = (row: number, longer = 0): TimePunch => {
  const [date, person] = [Math.floor(row / people), row % people]
  const start = begin + date * day + (4 + person % 12) * hour + (row * 7919) % hour
  const restAt = start + 3 * hour
  const overlap = values.overlaps ? 24 * hour : row % 5000 === 17 ? 30 * hour : 0
  return punch({
    id: TimePunchId.make(row + 1),
    userId: UserId.make(1 + person),
    locationId: LocationId.make(301 + (person + (person % 97 === 0 ? date : 0)) % 2),
    clockedIn: at(start),
    clockedOut: Option.some(at(start + 8 * hour + (row * 104_729) % (hour / 2) + overlap + longer)),
    hourlyWage: Cents.make(1500 + person % 700),
    tips: Cents.make(row % 3 === 0 ? row % 900 : 0),
    approved: row % 1000 !== 3,
    breaks: [{
      id: BreakId.make(1 + row),
      userId: UserId.make(1 + person),
      customBreakId: CustomBreakId.make(0),
      paid: false,
      deleted: false,
      in: at(restAt),
      out: Option.some(at(restAt + hour / 2))
    }]
  })
}

/** The modules of the build, and those of `effect` that it runs on. */
const load = async () => {
  const own = (path: string) => import(join(build, "dist", path))
  const core: typeof import("effect") = await import(createRequire(join(build, "package.json")).resolve("effect"))
  const coreSql: typeof import("effect/sql") = await import(
    createRequire(join(build, "package.json")).resolve("effect/sql")
  )
  const sql: typeof import("../src/sql/index.ts") = await own("sql/index.js")
  const sqlite: typeof import("../src/sql/node/index.ts") = await own("sql/node/index.js")
  const sync: typeof import("../src/sync/index.ts") = await own("sync/index.js")
  const pg: typeof import("@effect/sql-pg") = await import(
    createRequire(join(build, "package.json")).resolve("@effect/sql-pg")
  )
  return { core, coreSql, sql, sqlite, sync, pg }
}

/** Writes batches of 1 000 rows into a copy, which is complete after the last one, and returns the instant of its last commit. */
const write = async (database: string, rows: ReadonlyArray<number>, longer?: number): Promise<string> => {
  const { core, coreSql, pg, sql, sqlite, sync } = await load()
  const client = database.startsWith("postgres:")
    ? pg.PgClient.layer({ url: core.Redacted.make(database) })
    : sqlite.NodeSqlite.layer({ filename: database })
  const { companyId: company } = batchOf(1)
  return core.Effect.runPromise(
    core.Effect.gen(function*() {
      const store = yield* sync.SyncStore
      let last = yield* store.load(company)
      const pass = core.Option.match(last, { onNone: () => 1, onSome: ({ pass }) => pass + 1 })
      for (let from = 0; from < rows.length; from += 1000) {
        const isLast = from + 1000 >= rows.length
        const done = core.Option.some(at(begin + 20 * day))
        const checkpoint = {
          ...checkpointAt(pass, `${pass} ${from}`),
          completedAt: isLast || pass > 1 ? done : core.Option.none()
        }
        const batch = batchOf(pass, {
          kind: pass === 1 ? "first" : "increment",
          punches: rows.slice(from, from + 1000).map((row) => punchOf(row, longer)),
          checkpoint,
          began: isLast ? done : core.Option.none()
        })
        yield* store.commit(batch, last)
        last = core.Option.some(checkpoint)
      }
      // As the server does by itself, some time after many rows were written.
      if (database.startsWith("postgres:")) yield* (yield* coreSql.SqlClient.SqlClient).unsafe("ANALYZE")
      const { history } = yield* sql.PunchCopy.status(company)
      return DateTime.formatIso(core.Option.getOrThrow(history).last)
    }).pipe(
      core.Effect.provide(sql.SqlStore.layer({ history: true }).pipe(core.Layer.provideMerge(client))),
      core.Effect.scoped
    )
  )
}

/** A child says at its end how much memory it held at most, and its cpu. */
const watched =
  `data:text/javascript,process.on('exit',()=>{const{maxRSS,userCPUTime,systemCPUTime}=process.resourceUsage();${"process._rawDebug(`peak ${maxRSS} cpu ${userCPUTime+systemCPUTime}`)"}})`

const measured = async (out: string, args: ReadonlyArray<string>) => {
  const [stdout, stderr] = [openSync(out, "w"), openSync(`${out}.log`, "w")]
  const start = process.hrtime.bigint()
  const { status } = spawnSync(
    process.execPath,
    ["--import", watched, join(build, "dist", "cli", "main.js"), ...args],
    { stdio: ["ignore", stdout, stderr] }
  )
  const seconds = Number(process.hrtime.bigint() - start) / 1e9
  for (const each of [stdout, stderr]) closeSync(each)
  const log = readFileSync(`${out}.log`, "utf8")
  const [, peak, cpu] = /peak (\d+) cpu (\d+)/.exec(log) ?? []
  if (status !== 0 && status !== 9) throw new Error(`${args.join(" ")} ended with ${status}: ${log}`)
  // The instants at which a close was written differ from run to run.
  const now = new RegExp(`${new Date().toISOString().slice(0, 10)}[T ][0-9:.]+`, "g")
  const hash = createHash("sha256").update(readFileSync(out, "latin1").replaceAll(now, "now")).digest("hex").slice(
    0,
    12
  )
  return { seconds, cpu: Number(cpu) / 1e6, megabytes: Number(peak) / 1024, hash }
}

const run = async (folder: string, database: string) => {
  const copy = ["--company", "2", "--database", database]
  const period = ["--from", "2026-03-02", "--to", "2026-03-15", "--zone", "America/New_York"]
  const all = Array.from({ length: people * days }, (_, row) => row)
  const isKept = values.copy !== undefined && existsSync(values.copy)
  if (values.copy !== undefined && isKept) copyFileSync(values.copy, database)
  const since = await write(database, isKept ? [] : all)
  if (values.copy !== undefined && !isKept) copyFileSync(database, values.copy)
  const heads = [
    `${number(people * days, 0)} punches, ${values.store}`,
    "seconds",
    "cpu s",
    "peak MB",
    "SHA-256 of its output"
  ]
  process.stdout.write(`${table(heads, [])}\n`)
  const command = async (name: string, ...args: ReadonlyArray<string>) => {
    if (values.only?.includes(name) === false) return
    const { cpu, hash, megabytes, seconds } = await measured(join(folder, "out"), [...args, ...copy])
    process.stdout.write(`| ${[name, number(seconds), number(cpu), number(megabytes, 0), hash].join(" | ")} |\n`)
  }
  const closing = ["--weekly-threshold", "40h", "--daily-threshold", "8h"]
  await command("summary", "summary", "--by", "user", "--format", "csv", ...period)
  await command("check", "payroll", "check", "--format", "csv", ...period)
  await command("check, a table", "payroll", "check", ...period)
  await command("report", "report", ...period, ...closing)
  const accept = ["--accept", "unapproved,overlap,tooLong,stale"]
  await command("close", "payroll", "close", ...period, ...closing, ...accept)
  await command("verify", "payroll", "verify")
  await write(database, all.filter((row) => row % 70 === 0), hour / 3)
  await command("diff", "payroll", "diff", "--format", "csv", ...period, "--since", since)
  await command("due", "payroll", "due")
  await command("correct", "payroll", "correct")
  await command("report --close", "report", "--close", "1")
}

const temporary = mkdtempSync(join(tmpdir(), "time-punches-people-"))
const scope = Effect.runSync(Scope.make())
try {
  const database = values.store === "PostgreSQL"
    ? (await Effect.runPromise(Scope.provide(cluster({ max_wal_size: "4GB" }), scope))).url()
    : join(temporary, "punches.db")
  await run(temporary, database)
} finally {
  await Effect.runPromise(Scope.close(scope, Exit.void))
  rmSync(temporary, { recursive: true, force: true })
}
