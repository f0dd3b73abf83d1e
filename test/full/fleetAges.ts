/**
 * The tests of how long the companies of a fleet wait when one thing is wrong: two processes of `fleet run` over PostgreSQL, 24
 * companies, each every 10 seconds. The age of a company is the time since its last complete pass, less its interval.
 */
import { PgClient } from "@effect/sql-pg"
import { assert, it } from "@effect/vitest"
import { Console, Effect, Fiber, Redacted, type Scope } from "effect"
import { SqlClient } from "effect/sql"
import { FleetRunner } from "../../src/fleet/node/index.ts"
import { FakeServer } from "../../src/testing/FakeServer.ts"
import type { FakeService } from "../../src/testing/index.ts"
import { environmentOf, type Running, started } from "../cli/child.ts"
import { needs } from "../support/needs.ts"
import { cluster, hasPrograms, noPostgres } from "../support/postgres.ts"
import { loaded, queried, serviceOf, sourceOf, within, type World } from "./fleetWorld.ts"
import { type DatabaseDoor, type Door, doorTo, doorToDatabase } from "./serviceDoor.ts"

export const source = sourceOf(24, 20)
export const { companies } = source
const interval = 10_000

/** Between two looks at the ages, in milliseconds. */
const pause = 200

/** The clock of the database, in milliseconds. */
export const now = "(extract(epoch from statement_timestamp()) * 1000)::bigint"

interface Process extends Running {
  readonly door: Door
  readonly database: DatabaseDoor
  /** The status of `/healthz`; 0 without an answer in five seconds. */
  readonly health: Effect.Effect<number>
  /** What it has logged. */
  readonly log: () => string
}

export interface Fleet extends World {
  /** The processes "a" and "b", which have loaded every company. */
  readonly a: Process
  readonly b: Process
  readonly start: (
    name: string,
    variables?: Readonly<Record<string, string>>
  ) => Effect.Effect<Process, never, Scope.Scope>
}

export const fleetOf = (env: Readonly<Record<string, string>> = {}, ...flags: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const server = yield* cluster({}, env)
    const url = server.url()
    yield* Effect.provide(FleetRunner.migrate, PgClient.layer({ url: Redacted.make(url) }))
    const { url: service } = yield* FakeServer
    const world: World = { url, server, service, source, log: "", calm: Effect.void }
    const start: Fleet["start"] = (name, variables = {}) =>
      Effect.gen(function*() {
        const door = yield* doorTo(service)
        const database = yield* doorToDatabase(url)
        const given = { ...environmentOf(door.url), TIME_PUNCHES_DATABASE_URL: database.url, ...variables }
        const running = yield* started(["fleet", "run", "--name", name, "--http", "0", ...flags], given)
        let text = ""
        running.child.stderr.on("data", (bytes) => (text += String(bytes)))
        const log = () => text
        yield* within(`process ${name} runs`, Effect.sync(() => text.includes("the fleet runs")), Effect.sync(log))
        const address = () => /http:\/\/127\.0\.0\.1:\d+/.exec(text.slice(text.indexOf("the fleet runs")))?.[0]
        yield* within(`the page of ${name}`, Effect.sync(() => address() !== undefined), Effect.sync(log))
        const health = Effect.promise(async () => {
          const signal = AbortSignal.timeout(5000)
          const response = await fetch(`${address()}/healthz`, { signal }).catch(() => undefined)
          await response?.arrayBuffer()
          return response?.status ?? 0
        })
        return { ...running, door, database, health, log }
      })
    const [a, b] = yield* Effect.all([start("a"), start("b")], { concurrency: 2 })
    yield* loaded(world, interval)
    // The engine spreads its shards.
    const latest = queried(
      world,
      "SELECT DISTINCT ON (company_id) runner FROM fleet_run ORDER BY company_id, epoch DESC"
    )
    const areSpread = Effect.map(
      latest,
      (rows) => ["a", "b"].every((name) => rows.filter(({ runner }) => runner === name).length >= 6)
    )
    yield* within("both own companies", areSpread, latest)
    // A whole interval, in which no shard moves any more.
    yield* Effect.sleep(interval)
    return { ...world, a, b, start } satisfies Fleet
  })

/**
 * The worst age of each company from now on, in seconds, and which had a pass. `stalled` is the longest time by which this process,
 * which only waits, woke up late: the machine stood still for everybody then.
 */
const worstAges = (fleet: World, seconds: number) =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const from = performance.now()
    const known = new Map<number, { epoch: number; at: number }>()
    const passed = new Set<number>()
    const ages = new Map<number, number>()
    let stalled = 0
    while (performance.now() - from < seconds * 1000) {
      const rows = yield* sql<{ readonly company_id: unknown; readonly epoch: unknown; readonly ago: unknown }>`
        SELECT company_id, max(epoch) AS epoch, ${sql.literal(now)} - max(ended_at) AS ago
        FROM fleet_run
        WHERE outcome = 'Complete'
        GROUP BY company_id`
      const at = performance.now()
      for (const row of rows) {
        const company = Number(row.company_id)
        const epoch = Number(row.epoch)
        const last = known.get(company)
        if (last !== undefined && epoch > last.epoch) passed.add(company)
        if (last === undefined) known.set(company, { epoch, at: at - Number(row.ago) })
        else if (epoch > last.epoch) known.set(company, { epoch, at })
      }
      for (const [company, last] of known) {
        ages.set(company, Math.max(ages.get(company) ?? 0, (at - last.at - interval) / 1000))
      }
      const asleep = performance.now()
      yield* Effect.sleep(pause)
      stalled = Math.max(stalled, (performance.now() - asleep - pause) / 1000)
    }
    return { ages, passed, stalled }
  }).pipe(Effect.provide(PgClient.layer({ url: Redacted.make(fleet.url), maxConnections: 1 })), Effect.orDie)

/** What a fault names, and what is asserted of it besides. */
export interface Fault<E> {
  /** The companies that the fault itself keeps waiting, and for how long at most, in seconds. Default: none. */
  readonly named?: ReadonlyArray<number>
  readonly mostOfNamed?: number
  readonly after?: Effect.Effect<void, E>
}

/** One row of the table: what is wrong, what makes it so, and for how long it is watched. It prints the worst age. */
export const row = <E>(
  what: string,
  { env, most, seconds }: {
    readonly most: number
    readonly seconds: number
    readonly env?: () => Readonly<Record<string, string>>
  },
  fault: (fleet: Fleet) => Effect.Effect<Fault<E> | void, E, Scope.Scope | FakeService>
) =>
  it.live(`${what}: at most ${most} s`, (context) => {
    needs(context, hasPrograms, noPostgres)
    return Effect.gen(function*() {
      const fleet = yield* fleetOf(env?.())
      const watching = yield* Effect.forkChild(worstAges(fleet, seconds + 1))
      yield* Effect.sleep("1 second")
      const { after = Effect.void, mostOfNamed = Infinity, named = [] } = (yield* fault(fleet)) ?? {}
      const { ages, passed, stalled } = yield* Fiber.join(watching)
      const worstOf = (some: ReadonlyArray<number>) => Math.max(0, ...some.map((id) => ages.get(id) ?? Infinity))
      const all = companies.map(({ id }) => Number(id))
      const others = all.filter((id) => !named.includes(id))
      const ofNamed = named.length === 0 ? "" : `, of the ${named.length} it names ${worstOf(named).toFixed(1)} s`
      yield* Console.log(
        `${what}: worst age ${worstOf(others).toFixed(1)} s${ofNamed} (the machine stood still for ${
          stalled.toFixed(1)
        } s)`
      )
      assert.deepStrictEqual(others.filter((id) => !passed.has(id)), [], "companies without a pass")
      assert.isAtMost(worstOf(others) - stalled, most)
      assert.isAtMost(worstOf(named) - stalled, mostOfNamed)
      yield* after
    }).pipe(Effect.scoped, Effect.provide(serviceOf(source)))
  }, 400_000)
