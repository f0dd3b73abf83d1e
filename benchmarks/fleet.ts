/**
 * A fleet over a private PostgreSQL: processor time beside a plain loop of `Sync.run`, several runners, companies added, idle load,
 * 10 000 companies each 15 minutes, takeover. `node benchmarks/fleet.ts` measures each once, in some six minutes, and prints the
 * targets. `--scale` prints how cost grows to 10 000 companies, and what a million would need. Both after `npm run build`.
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Scope from "effect/Scope"
import * as SqlClient from "effect/sql/SqlClient"
import { fork } from "node:child_process"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { Fleet } from "../dist/fleet/index.js"
import { FleetRunner } from "../dist/fleet/node/index.js"
import { cluster, hasPrograms } from "../test/support/postgres.ts"
import { companiesOf, database, type Role } from "./clients/fleet.ts"
import { median } from "./measure.ts"
import { atMost, number, table, type Target, targetTable } from "./report.ts"

export interface FleetFigures {
  /** Processor time of the turns of one, two and four runners together, × a plain loop; and wall time, × one runner. */
  readonly runners: ReadonlyArray<{ readonly count: number; readonly cpu: number; readonly wall: number }>
  /** Seconds to add 10 000 companies. */
  readonly added: number
  /** Transactions a second of one runner. */
  readonly idle: number
  /** 10 000 companies each 15 minutes, by two runners. */
  readonly steady: ScaleRow
  /** Seconds from kill -9 until the companies of the dead runner have begun elsewhere. */
  readonly takeover: { readonly median: number; readonly last: number }
}

const program = join(import.meta.dirname, "clients/fleet.ts")

/** Ends with `end`, or with this process. */
const started = async (role: Role) => {
  const child = fork(program, [JSON.stringify(role)], { stdio: ["ignore", "ignore", "inherit", "ipc"] })
  const ended = new Promise<never>((_, reject) => {
    child.once("exit", (code, signal) => reject(new Error(`${role.role} ended with ${code ?? signal}`)))
  })
  ended.catch(() => {})
  const told = () => Promise.race([ended, new Promise<unknown>((resolve) => child.once("message", resolve))])
  const ask = (what: "cpu" | "begin") => {
    const answer = told()
    child.send(what)
    return answer
  }
  const first = String(await told())
  return {
    first,
    ask,
    /** Microseconds so far. */
    cpu: async () => Number(await ask("cpu")),
    end: async () => {
      child.kill("SIGKILL")
      await ended.catch(() => {})
    }
  }
}

type Process = Awaited<ReturnType<typeof started>>

const seconds = (from: number) => (performance.now() - from) / 1000

const waited = async (what: string, holds: () => Promise<boolean>) => {
  const from = performance.now()
  while (!await holds()) {
    if (seconds(from) > 600) throw new Error(`${what}: not after ten minutes`)
    await sleep(100)
  }
}

const databaseNow = "(extract(epoch from now()) * 1000)::bigint"

/** A new database with the tables, and what an operator does in it. */
const opened = async (url: string) => {
  const runtime = ManagedRuntime.make(Layer.provideMerge(
    Fleet.layer,
    Layer.provideMerge(Layer.effectDiscard(FleetRunner.migrate), database(url))
  ))
  await runtime.runPromise(Effect.void)
  const rows = (text: string) =>
    runtime.runPromise(
      Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe<{ readonly [column: string]: unknown }>(text))
    )
  const count = async (text: string) => Number((await rows(`SELECT (${text}) AS count`))[0]?.["count"])
  return {
    url,
    rows,
    count,
    add: (companies: number, every: "1 second" | "15 minutes" | "1 day") =>
      runtime.runPromise(
        Fleet.use((fleet) => fleet.add(companiesOf(companies).map((company) => Object.assign(company, { every }))))
      ),
    isLoaded: () =>
      waited(
        "first loads",
        async () => await count("SELECT count(*) FROM fleet_company WHERE last_ok_at IS NULL") === 0
      ),
    /** Companies whose slot came during the first loads have waited for them. */
    isOnTime: () =>
      waited(
        "turns that waited for first loads",
        async () => await count(`SELECT count(*) FROM fleet_company WHERE next_at < ${databaseNow} - 3000`) === 0
      ),
    transactions: () => count("SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()"),
    close: () => runtime.dispose()
  }
}

type Database = Awaited<ReturnType<typeof opened>>

/** A private server: each use has a new database. */
const withServer = async <A>(
  use: (fresh: <B>(body: (database: Database) => Promise<B>) => Promise<B>) => Promise<A>
) => {
  const scope = Effect.runSync(Scope.make())
  try {
    const server = await Effect.runPromise(
      Scope.provide(cluster({ max_wal_size: "4GB", max_connections: "200" }), scope)
    )
    const admin = ManagedRuntime.make(database(server.url()))
    let databases = 0
    const result = await use(async (body) => {
      const name = `fleet_${databases++}`
      await admin.runPromise(Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe(`CREATE DATABASE ${name}`)))
      const opening = await opened(server.url(name))
      try {
        return await body(opening)
      } finally {
        await opening.close()
      }
    })
    await admin.dispose()
    return result
  } finally {
    await Effect.runPromise(Scope.close(scope, Exit.void))
  }
}

const withService = async <A>(
  size: { readonly companies: number; readonly punches: number },
  use: (url: string) => Promise<A>
) => {
  const service = await started({ role: "service", ...size })
  try {
    return await use(service.first)
  } finally {
    await service.end()
  }
}

const withRunners = async <A>(
  names: ReadonlyArray<string>,
  { service, url }: { readonly url: string; readonly service: string },
  use: (runners: ReadonlyArray<Process>) => Promise<A>
) => {
  const runners: Array<Process> = []
  try {
    for (const name of names) {
      runners.push(await started({ role: "runner", name, database: url, service }))
    }
    return await use(runners)
  } finally {
    for (const runner of runners) await runner.end()
  }
}

const cpuOf = (processes: ReadonlyArray<Process>) => Promise.all(processes.map(({ cpu }) => cpu()))

const sum = (values: ReadonlyArray<number>) => values.reduce((total, value) => total + value, 0)

/** The companies of the comparison, of 20 pages each. */
const loads = { companies: 16, punches: 4000 }

const names = ["a", "b", "c", "d"]

type Fresh = <B>(body: (database: Database) => Promise<B>) => Promise<B>

/** Processor time and wall time of the same first loads, by a plain loop and by one, two and four runners. */
const compared = (fresh: Fresh, rounds: number) =>
  withService(loads, async (service) => {
    const loop = () =>
      fresh(async ({ url }) => {
        const process = await started({ role: "loop", database: url, service, companies: loads.companies })
        const before = await process.cpu()
        await process.ask("begin")
        const cpu = await process.cpu() - before
        await process.end()
        return cpu
      })
    const fleet = (count: number) =>
      fresh(({ add, isLoaded, url }) =>
        withRunners(names.slice(0, count), { url, service }, async (runners) => {
          const before = sum(await cpuOf(runners))
          const from = performance.now()
          await add(loads.companies, "1 day")
          await isLoaded()
          const wall = seconds(from)
          return { cpu: sum(await cpuOf(runners)) - before, wall }
        })
      )
    const samples: Array<ReadonlyArray<{ readonly count: number; readonly cpu: number; readonly wall: number }>> = []
    for (let round = 0; round < rounds; round++) {
      const plain = await loop()
      const one = await fleet(1)
      const row = [{ count: 1, cpu: one.cpu / plain, wall: 1 }]
      for (const count of [2, 4]) {
        const many = await fleet(count)
        row.push({ count, cpu: many.cpu / plain, wall: many.wall / one.wall })
      }
      samples.push(row)
    }
    return [1, 2, 4].map((count) => {
      const own = samples.flatMap((row) => row.filter((each) => each.count === count))
      return { count, cpu: median(own.map(({ cpu }) => cpu)), wall: median(own.map(({ wall }) => wall)) }
    })
  })

const many = 10_000

/** How long the idle load is counted, in seconds. */
const idleTime = 15

const addedAndIdle = (fresh: Fresh, service: string) =>
  fresh(async ({ add, rows, transactions, url }) => {
    const from = performance.now()
    await add(many, "1 day")
    const added = seconds(from)
    await rows("UPDATE fleet_company SET next_at = next_at + 86400000")
    // Its transactions would count as those of the runners, if the server did it later by itself.
    await rows("VACUUM ANALYZE fleet_company")
    return await withRunners(["a"], { url, service }, async () => {
      // The engine spreads its shards at the start: some 300 statements.
      await sleep(20_000)
      const before = await transactions()
      await sleep(idleTime * 1000)
      // The first reading is one of them.
      return { added, idle: (await transactions() - before - 1) / idleTime }
    })
  })

const takenOver = (fresh: Fresh, service: string) =>
  fresh(({ add, count, rows, url }) =>
    withRunners(["a", "b"], { url, service }, async ([a]) => {
      await add(40, "1 second")
      const byA = "SELECT company_id FROM fleet_company WHERE runner = 'a'"
      await waited("a has companies", async () => await count(`SELECT count(*) FROM (${byA}) AS a`) >= 10)
      await sleep(5000)
      const killed = Date.now()
      await a?.end()
      const owned = (await rows(byA)).map((row) => Number(row["company_id"]))
      const begun = () =>
        rows(
          `SELECT min(began_at) AS began FROM fleet_run WHERE runner = 'b' AND began_at > ${killed} AND company_id IN (${
            owned.join(", ")
          }) GROUP BY company_id`
        )
      await waited("b has the companies of a", async () => (await begun()).length === owned.length)
      const after = (await begun()).map((row) => (Number(row["began"]) - killed) / 1000)
      return { median: median(after), last: Math.max(...after) }
    })
  )

/** All figures, or nothing without PostgreSQL. */
export const fleet = ({ rounds }: { readonly rounds: number }): Promise<FleetFigures | Record<string, never>> =>
  hasPrograms
    ? withServer(async (fresh) => {
      const runners = await compared(fresh, rounds)
      return await withService({ companies: many, punches: 0 }, async (service) => ({
        runners,
        ...await addedAndIdle(fresh, service),
        steady: await scaled(fresh, service, many),
        takeover: await takenOver(fresh, service)
      }))
    })
    : Promise.resolve({})

export const isMeasured = (figures: FleetFigures | Record<string, never>): figures is FleetFigures =>
  "takeover" in figures

export const fleetTable = ({ added, idle, runners, steady, takeover }: FleetFigures): string =>
  [
    table(
      [
        `runners, for first loads of ${loads.companies} companies of 20 pages`,
        "cpu × a plain loop",
        "wall × one runner"
      ],
      runners.map(({ count, cpu, wall }) => [number(count, 0), number(cpu), number(wall)])
    ),
    table(["a fleet", "figure"], [
      ["10 000 companies added, s", number(added)],
      ["idle, transactions a second of one runner", number(idle, 1)],
      ["10 000 companies each 15 minutes, turns a second of two", number(steady.turns, 1)],
      ...steady.cpu.map((cpu, at) => [`the same, % of a core of runner ${at + 1}`, number(100 * cpu, 1)]),
      ["the same, largest lateness, s", number(steady.late, 1)],
      ["kill -9, the companies of the dead begin after, median s", number(takeover.median, 1)],
      ["kill -9, the last one of them, s", number(takeover.last, 1)]
    ])
  ].join("\n\n")

/** The targets that this script measures; the soak of the fleet measures those of a freeze, an exit and a restart. */
export const fleetTargets = ({ added, idle, runners, steady, takeover }: FleetFigures): ReadonlyArray<Target> => [
  atMost("turns of a fleet, cpu × a plain loop of `Sync.run`", 1.15, runners[0]?.cpu ?? NaN),
  atMost("10 000 companies added to a fleet, s", 1, added),
  atMost("idle fleet, transactions a second of a runner", 4, idle, { digits: 1 }),
  atMost("10 000 companies each 15 minutes on two runners, % of a core each", 10, 100 * Math.max(...steady.cpu), {
    digits: 1
  }),
  atMost("takeover after kill -9, the last company, s", 12, takeover.last, { digits: 1 })
]

/** How long the steady state is measured, in seconds. */
const steadyTime = 30

const every = 15 * 60

interface ScaleRow {
  readonly companies: number
  readonly added: number
  readonly loaded: number
  /** Of a core, by each runner. */
  readonly cpu: ReadonlyArray<number>
  readonly turns: number
  readonly transactions: number
  readonly late: number
}

/** Two runners over companies that do not change, each 15 minutes. */
const scaled = (fresh: Fresh, service: string, companies: number): Promise<ScaleRow> =>
  fresh(({ add, count, isLoaded, isOnTime, transactions, url }) =>
    withRunners(["a", "b"], { url, service }, async (runners) => {
      const from = performance.now()
      await add(companies, "15 minutes")
      const added = seconds(from)
      await isLoaded()
      const loaded = seconds(from) - added
      await isOnTime()
      // The spread of the shards, as above.
      await sleep(20_000)
      const turns = () => count("SELECT coalesce(sum(runs), 0) FROM fleet_minute")
      const before = { cpu: await cpuOf(runners), transactions: await transactions(), turns: await turns() }
      await sleep(steadyTime * 1000)
      return {
        companies,
        added,
        loaded,
        cpu: (await cpuOf(runners)).map((cpu, at) => (cpu - (before.cpu[at] ?? NaN)) / 1e6 / steadyTime),
        turns: (await turns() - before.turns) / steadyTime,
        transactions: (await transactions() - before.transactions) / steadyTime,
        late: await count(`SELECT greatest(0, max(${databaseNow} - last_ok_at - every_ms)) / 1000.0 FROM fleet_company`)
      }
    })
  )

/** What a million needs at most, if a turn costs what it does in the largest fleet, with its share of the idle load. */
const calculated = (rows: ReadonlyArray<ScaleRow>): string => {
  const large = rows.at(-1)
  if (large === undefined) return ""
  const ofTurn = { cpu: sum(large.cpu) / large.turns, transactions: large.transactions / large.turns }
  const turns = 1_000_000 / every
  const begun = large.companies / large.loaded / large.cpu.length
  return table(["1 000 000 companies each 15 minutes, calculated", "figure"], [
    ["a turn without changes, ms of a core", number(1000 * ofTurn.cpu, 1)],
    ["a turn without changes, transactions", number(ofTurn.transactions, 1)],
    ["turns a second", number(turns, 0)],
    ["cores of all runners", number(turns * ofTurn.cpu, 1)],
    ["transactions a second", number(turns * ofTurn.transactions, 0)],
    ["runners that begin as many a second as in the first loads", number(Math.ceil(turns / begun), 0)]
  ])
}

const scale = () =>
  withServer((fresh) =>
    withService({ companies: many, punches: 0 }, async (service) => {
      const rows: Array<ScaleRow> = []
      for (const companies of [100, 1000, many]) rows.push(await scaled(fresh, service, companies))
      return [
        table(
          [
            "companies",
            "added s",
            "first loads s",
            "turns a second",
            "% of a core, both",
            "transactions a second",
            "late s"
          ],
          rows.map((row) => [
            number(row.companies, 0),
            number(row.added),
            number(row.loaded, 0),
            number(row.turns, 1),
            number(100 * sum(row.cpu), 1),
            number(row.transactions, 0),
            number(row.late, 0)
          ])
        ),
        calculated(rows)
      ].join("\n\n")
    })
  )

if (import.meta.main) {
  if (process.argv.includes("--scale")) process.stdout.write(`${await scale()}\n`)
  else {
    const figures = await fleet({ rounds: 1 })
    process.stdout.write(
      isMeasured(figures)
        ? `${fleetTable(figures)}\n\n${targetTable(fleetTargets(figures))}\n`
        : "PostgreSQL was not there.\n"
    )
  }
  process.exit(0)
}
