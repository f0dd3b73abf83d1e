/**
 * How long the companies of a fleet wait when one thing is wrong: two processes of `fleet run` over PostgreSQL, 24 companies, each
 * every 10 seconds. The age of a company is the time since its last complete pass, less its interval. Each test says the worst one.
 */
import { PgClient } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import { Console, Effect, Fiber, Redacted, type Scope } from "effect"
import { SqlClient } from "effect/sql"
import * as Fs from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { FleetRunner } from "../../src/fleet/node/index.ts"
import { FakeServer } from "../../src/testing/FakeServer.ts"
import type { FakeService } from "../../src/testing/index.ts"
import { environmentOf, type Running, started } from "../cli/child.ts"
import { needs } from "../support/needs.ts"
import { cluster, hasPrograms, noPostgres } from "../support/postgres.ts"
import { inFleet, loaded, queried, serviceOf, sourceOf, within, type World } from "./fleetWorld.ts"
import { type DatabaseDoor, type Door, doorTo, doorToDatabase } from "./serviceDoor.ts"

const source = sourceOf(24, 20)
const { companies } = source
const interval = 10_000

const now = "(extract(epoch from statement_timestamp()) * 1000)::bigint"

/** What lets a test set the clock that the server of the database reads, where it is installed. */
const faketime = Fs.globSync("/usr/lib/*/faketime/libfaketime.so.1")[0]

interface Process extends Running {
  readonly door: Door
  readonly database: DatabaseDoor
  /** The status of `/healthz`. */
  readonly health: Effect.Effect<number>
  /** What it has logged. */
  readonly log: () => string
}

interface Fleet extends World {
  /** The processes "a" and "b", which have loaded every company. */
  readonly a: Process
  readonly b: Process
  readonly start: (
    name: string,
    variables?: Readonly<Record<string, string>>
  ) => Effect.Effect<Process, never, Scope.Scope>
}

const fleetOf = (env: Readonly<Record<string, string>> = {}, ...flags: ReadonlyArray<string>) =>
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
        const health = Effect.promise(async () => (await fetch(`${address()}/healthz`)).status)
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

/** The worst age of the companies that are watched for some time from now on, in seconds, and how many had no pass in it. */
const worstAge = (fleet: World, seconds: number, isWatched: (company: number) => boolean = () => true) =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const from = performance.now()
    const known = new Map<number, { epoch: number; at: number }>()
    const passed = new Set<number>()
    let worst = 0
    let whose = 0
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
        const age = at - last.at - interval
        if (isWatched(company) && age > worst) [worst, whose] = [age, company]
      }
      yield* Effect.sleep("200 millis")
    }
    const watched = companies.filter(({ id }) => isWatched(id))
    return {
      worst: worst / 1000,
      whose,
      without: watched.filter(({ id }) => !passed.has(id)).map(({ id }) => Number(id))
    }
  }).pipe(Effect.provide(PgClient.layer({ url: Redacted.make(fleet.url), maxConnections: 1 })), Effect.orDie)

/** One row of the table: what is wrong, what makes it so, and for how long it is watched. */
const row = <E>(
  what: string,
  { env, most, seconds }: {
    readonly most: number
    readonly seconds: number
    readonly env?: () => Readonly<Record<string, string>>
  },
  fault: (fleet: Fleet) => Effect.Effect<
    { readonly isWatched?: (company: number) => boolean; readonly after?: Effect.Effect<void, E> } | void,
    E,
    Scope.Scope | FakeService
  >
) =>
  it.live(`${what}: at most ${most} s`, (context) => {
    needs(context, hasPrograms, noPostgres)
    return Effect.gen(function*() {
      const fleet = yield* fleetOf(env?.())
      const watching = yield* Effect.forkChild(
        Effect.suspend(() => worstAge(fleet, seconds + 1, (id) => isWatched(id)))
      )
      let isWatched: (company: number) => boolean = () => true
      yield* Effect.sleep("1 second")
      const more = yield* fault(fleet)
      isWatched = more?.isWatched ?? isWatched
      const { whose, without, worst } = yield* Fiber.join(watching)
      yield* Console.log(`${what}: worst age ${worst.toFixed(1)} s (company ${whose})`)
      assert.deepStrictEqual(without, [], "companies without a pass")
      assert.isAtMost(worst, most)
      yield* more?.after ?? Effect.void
    }).pipe(Effect.scoped, Effect.provide(serviceOf(source)))
  }, 400_000)

const times = (text: string, part: string) => text.split(part).length - 1

/** All times of the fleet, as if the clock had been ahead by so much until now. */
const setBack = (fleet: World, hours: number) =>
  Effect.forEach([
    "UPDATE fleet_company SET next_at = next_at + $, added_at = added_at + $, last_ok_at = last_ok_at + $, " +
    "heartbeat_at = heartbeat_at + $, sweep_at = sweep_at + $, full_sweep_at = full_sweep_at + $",
    "UPDATE fleet_run SET began_at = began_at + $, ended_at = ended_at + $"
  ], (text) =>
    queried(fleet, text.replaceAll("$", `${hours * 3_600_000}`)), { discard: true })

describe.concurrent("the worst age of a fleet of two processes", () => {
  const clock = Fs.mkdtempSync(join(tmpdir(), "time-punches-clock-"))
  const timestamp = join(clock, "offset")
  Fs.writeFileSync(timestamp, "+0")
  Fs.chmodSync(clock, 0o755)

  row(
    "a clock of the database that is set back by 23 hours",
    { most: 120, seconds: 100 },
    (fleet) => setBack(fleet, 23)
  )

  row(
    "a clock of the database that is set back by an hour",
    {
      most: 120,
      seconds: 100,
      env: () =>
        faketime === undefined ? {} : {
          LD_PRELOAD: faketime,
          FAKETIME_TIMESTAMP_FILE: timestamp,
          FAKETIME_NO_CACHE: "1",
          FAKETIME_DONT_FAKE_MONOTONIC: "1"
        }
    },
    (fleet) =>
      faketime === undefined ? setBack(fleet, 1) : Effect.gen(function*() {
        const clockOf = Effect.map(queried(fleet, `SELECT ${now} AS at`), ([row]) => Number(row?.["at"]))
        const before = yield* clockOf
        Fs.writeFileSync(timestamp, "-3600")
        assert.isBelow(yield* clockOf, before - 3_500_000, "the clock is set back")
      })
  )

  row(
    "a database that forgets every connection of all processes",
    { most: 45, seconds: 80 },
    (fleet) =>
      Effect.gen(function*() {
        assert.strictEqual(yield* fleet.a.health, 200)
        for (const { database } of [fleet.a, fleet.b]) database.forget()
        // While nothing is claimed.
        yield* within("health says so", Effect.map(fleet.a.health, (status) => status === 503))
        const after = Effect.gen(function*() {
          assert.deepStrictEqual(yield* Effect.all([fleet.a.health, fleet.b.health]), [200, 200])
          assert.include(fleet.a.log(), "the database sent nothing for 30 seconds")
        })
        return { after }
      })
  )

  row(
    "a database that forgets every connection of one process",
    { most: 45, seconds: 80 },
    (fleet) =>
      Effect.sync(() => {
        fleet.b.database.forget()
        const worksAgain = Effect.map(
          queried(
            fleet,
            `SELECT 1 FROM fleet_run WHERE runner = 'b' AND outcome = 'Complete' AND began_at > ${now} - 15000`
          ),
          ({ length }) => length >= 3
        )
        return { after: within("it works again", worksAgain, Effect.sync(fleet.b.log), "10 seconds") }
      })
  )

  row(
    "a database that refuses every change for 20 seconds",
    { most: 45, seconds: 60 },
    (fleet) =>
      Effect.gen(function*() {
        const readOnly = (value: string) =>
          Effect.andThen(
            queried(fleet, `ALTER SYSTEM SET default_transaction_read_only = ${value}`),
            queried(fleet, "SELECT pg_reload_conf()")
          )
        yield* readOnly("on")
        yield* Effect.sleep("15 seconds")
        assert.strictEqual(yield* fleet.a.health, 503)
        yield* Effect.sleep("5 seconds")
        yield* readOnly("off")
      })
  )

  it.live("one limit of requests a second holds for both processes together", (context) => {
    needs(context, hasPrograms, noPostgres)
    return Effect.gen(function*() {
      const [perSecond, seconds] = [2, 60]
      // More is requested: 24 companies, each every ten seconds.
      const fleet = yield* fleetOf({}, "--requests-per-second", `${perSecond}`, "--concurrency", "8")
      const sent = () => fleet.a.door.requests() + fleet.b.door.requests()
      const before = sent()
      yield* Effect.sleep(seconds * 1000)
      const rate = (sent() - before) / seconds
      yield* Console.log(`two processes with --requests-per-second ${perSecond}: ${rate.toFixed(2)} requests a second`)
      assert.isAtMost(rate, perSecond * 1.05)
      assert.isAtLeast(rate, perSecond * 0.8)
    }).pipe(Effect.scoped, Effect.provide(serviceOf(source)))
  }, 400_000)

  row("a process with a wrong secret", { most: 40, seconds: 70 }, (fleet) =>
    Effect.gen(function*() {
      fleet.b.child.kill("SIGTERM")
      yield* Effect.promise(() => fleet.b.ended)
      const wrong = yield* fleet.start("b", { TIME_PUNCHES_CLIENT_SECRET: "wrong" })
      const after = Effect.gen(function*() {
        const lines = times(wrong.log(), "the service refuses this process")
        assert.isTrue(lines === 1 || lines === 2, wrong.log())
        assert.deepStrictEqual(yield* inFleet(fleet, ({ pauses }) => pauses), [])
        assert.strictEqual(fleet.a.log().includes("paused"), false, fleet.a.log())
        const claims = yield* queried(
          fleet,
          `SELECT 1 FROM fleet_run WHERE runner = 'b' AND began_at > ${now} - 40000`
        )
        assert.lengthOf(claims, 0, "it claims nothing")
      })
      return { after }
    }))

  for (const state of ["refused", "reset", "hangs"] as const) {
    row(
      `a process that does not reach the service (${state})`,
      { most: 40, seconds: 70 },
      (fleet) =>
        Effect.gen(function*() {
          yield* fleet.b.door.set(state)
          const after = Effect.gen(function*() {
            const lines = times(fleet.b.log(), "this process does not reach the service")
            assert.isTrue(lines === 1 || lines === 2, fleet.b.log())
            yield* fleet.b.door.set("open")
            yield* within(
              "it works again",
              Effect.map(
                queried(
                  fleet,
                  `SELECT 1 FROM fleet_run WHERE runner = 'b' AND outcome = 'Complete' AND began_at > ${now} - 5000`
                ),
                ({ length }) => length >= 3
              ),
              Effect.sync(fleet.b.log)
            )
          })
          return { after }
        })
    )
  }

  row("a suspect that is throttled", { most: 40, seconds: 70 }, (fleet) =>
    Effect.gen(function*() {
      const [suspect] = companies
      if (suspect === undefined) return assert.fail("no company")
      for (const { door } of [fleet.a, fleet.b]) yield* door.throttle([suspect.id])
      yield* queried(
        fleet,
        `UPDATE fleet_company SET starts = 2, heartbeat_at = NULL, epoch = epoch + 1, next_at = 0 WHERE company_id = ${suspect.id}`
      )
      return { isWatched: (company) => company !== suspect.id }
    }))

  row("three companies that are always throttled", { most: 40, seconds: 100 }, (fleet) =>
    Effect.gen(function*() {
      const three = companies.slice(0, 3).map(({ id }) => Number(id))
      for (const { door } of [fleet.a, fleet.b]) yield* door.throttle(three)
      return { isWatched: (company) => !three.includes(company) }
    }))

  for (const signal of ["SIGKILL", "SIGSTOP"] as const) {
    row(`a process that gets ${signal}`, { most: 8, seconds: 40 }, (fleet) =>
      Effect.sync(() => {
        fleet.b.child.kill(signal)
      }))
  }
})
