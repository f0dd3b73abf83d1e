/** Processes of a fleet that are killed, frozen, ended and started again, over PostgreSQL that ends too. */
import { PgClient } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Option, Redacted, type Scope } from "effect"
import { SqlClient } from "effect/sql"
import * as Fs from "node:fs"
import type { FakeServer } from "../../src/testing/FakeServer.ts"
import { defaultOAuthClient, FakeService } from "../../src/testing/index.ts"
import { start } from "../cli/child.ts"
import { needs } from "../support/needs.ts"
import { hasPrograms, noPostgres } from "../support/postgres.ts"
import {
  assertChains,
  assertEqual,
  gapOf,
  held,
  inFile,
  inFleet,
  linksOf,
  loaded,
  nobodyLate,
  noted,
  queried,
  running,
  serviceOf,
  source,
  statusOf,
  type Target,
  within,
  type World,
  worldOf
} from "./fleetWorld.ts"
import { until } from "./kills.ts"

const { companies } = source
const ids = companies.map(({ id }) => id)
const service = serviceOf(source)

/** Under load a test takes longer than on a quiet machine: each wait in it has its own limit. */
const test = <E>(
  title: string,
  body: (world: World) => Effect.Effect<void, E, Scope.Scope | FakeService | FakeServer>
) =>
  it.live(title, (context) => {
    needs(context, hasPrograms, noPostgres)
    return Effect.flatMap(worldOf(source), body).pipe(Effect.scoped, Effect.provide(service))
  }, 600_000)

/** The takeover of the fleet, in milliseconds. */
const takeover = 10_000

/**
 * The process "a" stops itself between its reading and its writing of a company; "b" takes the company over and loads it; then
 * "a" continues. Returns what became of its write.
 */
const outdated = (world: World, options: { readonly blind: boolean }) =>
  Effect.gen(function*() {
    const [target] = companies
    if (target === undefined) return assert.fail("no company")
    const a = yield* running(world, "a", { ...options, stop: { company: target.id, commit: 2 } })
    yield* inFleet(world, (fleet) => fleet.add([{ ...target, every: "1 hour" }]))
    yield* noted(world, "a stops", ({ kind }) => kind === "stopped")
    yield* running(world, "b")
    yield* within("b loads it", Effect.map(statusOf(world, target), ({ lastOkAt }) => Option.isSome(lastOkAt)))
    const stopped = linksOf(world).find(({ kind }) => kind === "stopped")
    const judged = () => linksOf(world).find(({ after, at }) => at !== undefined && after === stopped?.after)?.kind
    // The first heartbeat of "a" would end its turn. Like all that changes the table it waits, until the store has judged the write.
    yield* Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* sql.withTransaction(Effect.gen(function*() {
        yield* sql`LOCK TABLE fleet_company IN SHARE MODE`
        yield* Effect.sync(() => a.child.kill("SIGCONT"))
        yield* within("the write is judged", Effect.sync(() => judged() !== undefined))
        if (!options.blind) yield* noted(world, "the metric counts it", ({ kind }) => kind === "counted")
      }))
    }).pipe(Effect.provide(PgClient.layer({ url: Redacted.make(world.url) })))
    return judged()
  })

describe("a process that was stopped between its reading and its writing", () => {
  test("has its write refused, which the metric counts, and the chain is whole", (world) =>
    Effect.gen(function*() {
      assert.strictEqual(yield* outdated(world, { blind: false }), "Superseded")
      yield* assertChains(world)
      yield* assertEqual(world, companies.slice(0, 1))
    }))

  test("has an outdated write if the store does not compare, which the chain shows", (world) =>
    Effect.gen(function*() {
      assert.strictEqual(yield* outdated(world, { blind: true }), "done")
      const chains = yield* Effect.exit(Effect.suspend(() => assertChains(world)))
      assert.strictEqual(chains._tag, "Failure")
      assert.include(String(chains), "outdated write")
    }))
})

describe("two processes of a fleet", () => {
  test("continue for one that was killed, and with it when it starts again", (world) =>
    Effect.gen(function*() {
      const a = yield* running(world, "a")
      const b = yield* running(world, "b")
      yield* loaded(world)
      yield* Effect.all([a.isRunning, b.isRunning])
      yield* within("a has turns in work", Effect.map(held(world, "a"), (count) => count > 0))
      a.child.kill("SIGKILL")
      yield* within("b has the companies of a", Effect.map(held(world, "a"), (count) => count === 0))
      yield* nobodyLate(world)
      yield* running(world, "a")
      const from = yield* Clock.currentTimeMillis
      yield* noted(world, "a works again", ({ at = 0, runner }) => runner === "a" && at > from)
      yield* nobodyLate(world)
      yield* assertChains(world)
      yield* assertEqual(world)
    }))

  test("continue while one is frozen, past the takeover and for good, and with it when it thaws", (world) =>
    Effect.gen(function*() {
      const a = yield* running(world, "a", { slow: 400 })
      const b = yield* running(world, "b", { slow: 400 })
      yield* loaded(world)
      yield* Effect.all([a.isRunning, b.isRunning])
      yield* within("a has turns in work", Effect.map(held(world, "a"), (count) => count >= 3))
      a.child.kill("SIGSTOP")
      const from = yield* Clock.currentTimeMillis
      yield* within("b has the companies of a", Effect.map(held(world, "a"), (count) => count === 0))
      // For ever, as far as the other one can tell: its leases, its shards and its name are gone.
      yield* Effect.sleep(2 * takeover)
      yield* nobodyLate(world)
      // Without a commit for a takeover it would have waited for the frozen one.
      assert.isBelow(gapOf(linksOf(world), "b", from), takeover, "the healthy process continued")
      yield* assertEqual(world)
      a.child.kill("SIGCONT")
      const thawed = yield* Clock.currentTimeMillis
      yield* noted(
        world,
        "a works again",
        ({ at = 0, kind, runner }) => runner === "a" && kind === "done" && at > thawed + 1000
      )
      yield* nobodyLate(world)
      yield* assertChains(world)
      yield* assertEqual(world)
    }))

  test("end at SIGTERM, hold nothing then, and miss no slot", (world) =>
    Effect.gen(function*() {
      const a = yield* running(world, "a")
      const b = yield* running(world, "b")
      yield* loaded(world)
      for (const [name, process] of [["a", a], ["b", b]] as const) {
        yield* process.isRunning
        yield* within("turns are in work", Effect.map(held(world, name), (count) => count > 0))
        process.child.kill("SIGTERM")
        assert.strictEqual(yield* Effect.promise(() => process.ended), 0, process.output())
        assert.strictEqual(yield* held(world, name), 0)
        const again = yield* running(world, name)
        yield* again.isRunning
        yield* nobodyLate(world)
      }
      yield* assertChains(world)
      yield* assertEqual(world)
    }))

  test("outlive the database: ended, crashed, away for 25 seconds, and the engine's tables dropped", (world) =>
    Effect.gen(function*() {
      const a = yield* running(world, "a")
      const b = yield* running(world, "b")
      yield* loaded(world)
      for (const [signal, away] of [["SIGINT", 0], ["SIGQUIT", 0], ["SIGINT", 25_000]] as const) {
        yield* Effect.promise(() => world.server.stop(signal))
        yield* Effect.sleep(away)
        yield* Effect.promise(() => world.server.start())
        const from = yield* Clock.currentTimeMillis
        const first = (name: string) =>
          noted(
            world,
            `the first commit of ${name} after ${signal}, away for ${away} ms`,
            ({ at = 0, kind, runner }) => runner === name && kind === "done" && at > from
          )
        yield* Effect.all([first("a"), first("b")])
      }
      yield* queried(world, "DROP TABLE fleet_cluster_locks, fleet_cluster_runners")
      yield* Effect.sleep("15 seconds")
      yield* nobodyLate(world)
      assert.deepStrictEqual([a.child.exitCode, b.child.exitCode], [null, null])
      yield* assertChains(world)
      yield* assertEqual(world)
    }))

  test("quarantine the one company that kills its process, and no other", (world) =>
    Effect.gen(function*() {
      const [poison] = ids
      const over = { is: false }
      const supervised = (name: string) =>
        Effect.gen(function*() {
          while (!over.is) {
            yield* Effect.scoped(Effect.gen(function*() {
              const process = yield* running(world, name, { poison })
              yield* Effect.raceFirst(
                Effect.promise(() => process.ended),
                until(Effect.sync(() => over.is), "200 millis")
              )
            }))
          }
        })
      for (const name of ["a", "b"]) yield* Effect.forkScoped(supervised(name))
      yield* inFleet(world, (fleet) =>
        fleet.add(companies.map(({ guid, id }) => ({ id, guid, every: "2 seconds" as const }))))
      const states = Effect.map(
        inFleet(world, (fleet) =>
          fleet.list()),
        (list) => list.flatMap(({ companyId: company, state }) => state === "active" ? [] : [[Number(company), state]])
      )
      yield* within(
        "a company is quarantined",
        Effect.map(states, ({ length }) => length > 0),
        states,
        "5 minutes"
      )
      // All that were in work beside it twice are suspects too, and each is tried alone.
      yield* nobodyLate(world, "4 minutes")
      yield* assertEqual(world, companies.slice(1))
      assert.deepStrictEqual(yield* states, [[Number(poison), "quarantined"]])
      over.is = true
    }))

  test("begin at once, also the one whose clock is an hour ahead and the one whose is behind", (world) =>
    Effect.gen(function*() {
      yield* Effect.all([
        running(world, "a"),
        running(world, "b", { hours: 1 }),
        running(world, "c", { hours: -1 }),
        running(world, "d")
      ], { concurrency: 4 })
      yield* loaded(world, "4 seconds")
      const workers = queried(world, "SELECT DISTINCT runner FROM fleet_minute")
      yield* within("all work", Effect.map(workers, ({ length }) => length === 4), workers)
      yield* nobodyLate(world)
      yield* assertChains(world)
      yield* assertEqual(world)
    }))

  for (const [what, commit] of [["its claim", 1], ["its first page", 2]] as const) {
    test(`leave nothing of a company that is removed and purged during its first load, frozen before ${what}`, (world) =>
      Effect.gen(function*() {
        const [target, other] = companies
        if (target === undefined || other === undefined) return assert.fail("no company")
        const a = yield* running(world, "a", { stop: { company: target.id, commit } })
        yield* inFleet(world, (fleet) => fleet.add([{ ...target, every: "1 second" }]))
        yield* noted(world, "a stops", ({ kind }) => kind === "stopped")
        const env = { PATH: process.env["PATH"] ?? "", TIME_PUNCHES_DATABASE_URL: world.url }
        const removed = yield* Effect.promise(() =>
          start(["fleet", "remove", `${target.id}`, "--purge", "--yes"], env).ended
        )
        assert.strictEqual(removed.code, 0, removed.stderr)
        a.child.kill("SIGCONT")
        yield* noted(
          world,
          "the write is refused",
          ({ company, kind }) => company === target.id && (kind === "Superseded" || kind === "Store")
        )
        // Another company is loaded: the process works.
        yield* loaded(world, "1 second", [other])
        for (const table of ["time_punches", "time_punches_sync", "fleet_run", "fleet_company"]) {
          const left = yield* queried(world, `SELECT 1 FROM ${table} WHERE company_id = ${target.id}`)
          assert.lengthOf(left, 0, table)
        }
        yield* assertEqual(world, [other])
      }))
  }
})

describe("a process that is frozen for good within a transaction", () => {
  it.live.each([
    { what: "which holds rows of a company", freeze: "ON CONFLICT (company_id, id) DO UPDATE SET", isFirst: false },
    // The first commit of a copy locks the row of its company, which every claim passes over then.
    { what: "which holds companies without a copy", freeze: "AS s (company_id, checkpoint", isFirst: true },
    // Every request of every process takes this row.
    { what: "which holds the limit of all requests", freeze: "UPDATE fleet_rate SET", isFirst: false }
  ])("holds up its company for a takeover, and no other one: $what", ({ freeze, isFirst }) =>
    Effect.gen(function*() {
      const world = yield* worldOf(source)
      const add = (given: ReadonlyArray<Target>) =>
        inFleet(world, (fleet) => fleet.add(given.map(({ guid, id }) => ({ id, guid, every: "3 seconds" as const }))))
      if (!isFirst) {
        yield* running(world, "a", { limited: true })
        yield* loaded(world, "3 seconds", companies.slice(0, 30))
        yield* nobodyLate(world)
      }
      const b = yield* running(world, "b", { limited: true, freeze })
      yield* b.isRunning
      // New companies, so that "b" has one to load.
      yield* add(companies.slice(30))
      yield* noted(world, "b freezes", ({ kind }) => kind === "frozen")
      const frozen = linksOf(world).find(({ kind }) => kind === "frozen")?.at ?? 0
      if (isFirst) {
        yield* running(world, "a", { limited: true })
        yield* add(companies.slice(0, 30))
        yield* noted(world, "a works", ({ kind, runner }) => runner === "a" && kind === "done")
      }
      const from = isFirst ? yield* Clock.currentTimeMillis : frozen
      yield* Effect.sleep(1.5 * takeover)
      // The lease and the lock of the session end after the same time, so the company waits for one takeover, not for two.
      yield* nobodyLate(world)
      // A machine under load holds up both, which the process notes.
      const links = linksOf(world)
      const stalls = links.flatMap(({ at = 0, kind, millis = 0, runner }) =>
        kind === "stalled" && runner === "a" && at > from ? [millis] : []
      )
      assert.isBelow(gapOf(links, "a", from), takeover / 2, `it could do nothing for ${stalls.join(", ")} ms`)
      yield* Effect.sync(() => b.child.kill("SIGCONT"))
      const thawed = yield* Clock.currentTimeMillis
      yield* noted(
        world,
        "b works",
        ({ at = 0, kind, runner }) => runner === "b" && kind === "done" && at > thawed + 1000
      )
      yield* nobodyLate(world)
      yield* assertChains(world)
      yield* assertEqual(world)
    }).pipe(Effect.scoped, Effect.provide(service)), 600_000)
})

describe("what an operator does while a turn is in flight", () => {
  test("is kept by its end: pause, trigger, sweep, another interval, remove and add again", (world) =>
    Effect.gen(function*() {
      const gate = `${world.log}-gate`
      yield* running(world, "a", { gate })
      const given = companies.slice(0, 6)
      const [paused, triggered, swept, hurried, again, other] = given
      if (!paused || !triggered || !swept || !hurried || !again || !other) return assert.fail("no companies")
      yield* inFleet(world, (fleet) => fleet.add(given.map((company) => ({ ...company, every: "30 days" }))))
      const runs = ({ id }: Target) => inFleet(world, (fleet) => fleet.turns(id))
      const inFlight = Effect.map(held(world, "a"), (count) => count === given.length)
      yield* within("all are in flight", inFlight)
      const [first] = yield* queried(world, `SELECT epoch FROM fleet_company WHERE company_id = ${again.id}`)
      yield* inFleet(world, (fleet) =>
        Effect.gen(function*() {
          yield* fleet.pause([paused.id])
          yield* fleet.trigger([triggered.id])
          yield* fleet.sweep([swept.id])
          yield* fleet.add([{ id: hurried.id, every: "1 second" }])
          yield* fleet.remove([again.id])
          yield* fleet.add([{ ...again, every: "30 days" }])
        }))
      assert.lengthOf(yield* queried(world, "SELECT 1 FROM fleet_run"), 0, "no turn has ended yet")
      Fs.writeFileSync(gate, "")
      const whole = (company: Target, count: number) =>
        within(
          `company ${company.id} has ${count} turns`,
          Effect.map(runs(company), ({ length }) => length >= count),
          runs(company)
        )
      yield* whole(paused, 1)
      assert.strictEqual((yield* statusOf(world, paused)).state, "paused")
      // Each is due again, though its interval is a month.
      yield* Effect.forEach([triggered, swept, hurried], (company) => whole(company, 2))
      yield* whole(again, 1)
      const epochs = (yield* runs(again)).map(({ epoch }) => epoch)
      assert.notInclude(epochs, Number(first?.["epoch"]), "the turn of the removed row has no end")
      yield* whole(other, 1)
      assert.lengthOf(yield* runs(other), 1, "the next turn is a month away")
      assert.lengthOf(yield* runs(paused), 1)
      yield* inFleet(world, (fleet) => fleet.resume([paused.id]))
      yield* whole(paused, 2)
      yield* assertEqual(world, given)
      yield* assertChains(world)
    }))
})

describe("a pause without an end", () => {
  test("is lifted by a probe of a company whose owner is frozen", (world) =>
    Effect.gen(function*() {
      const processes = {
        a: yield* running(world, "a", { helpAfter: "1 hour" }),
        b: yield* running(world, "b", { helpAfter: "1 hour" })
      }
      yield* Effect.all([processes.a.isRunning, processes.b.isRunning])
      yield* loaded(world, "1 second", companies.slice(0, 12))
      const latest = queried<{ readonly company_id: unknown; readonly runner: string }>(
        world,
        "SELECT DISTINCT ON (company_id) company_id, runner FROM fleet_run ORDER BY company_id, epoch DESC"
      )
      yield* within(
        "both own companies",
        Effect.map(latest, (rows) => new Set(rows.map(({ runner }) => runner)).size === 2),
        latest
      )
      // Only companies of "a" are left.
      yield* inFleet(world, (fleet) => fleet.pause(companies.slice(0, 12).map(({ id }) => id)))
      yield* within(
        "no turn is in work",
        Effect.map(Effect.all([held(world, "a"), held(world, "b")]), ([a, b]) => a + b === 0)
      )
      const owned = (yield* latest).flatMap(({ company_id, runner }) => runner === "a" ? [Number(company_id)] : [])
      const given = companies.filter(({ id }) => owned.includes(id))
      const now = "(extract(epoch from now()) * 1000)::bigint"
      processes.a.child.kill("SIGSTOP")
      yield* queried(world, "INSERT INTO fleet_pause (reason, until, probed_at) VALUES ('Rejected', NULL, 0)")
      // Not due: a probe takes a company all the same.
      yield* queried(
        world,
        `UPDATE fleet_company SET state = 'active', next_at = ${now} + 3600000 WHERE company_id IN (${
          owned.join(", ")
        })`
      )
      const pauses = inFleet(world, (fleet) => fleet.pauses)
      yield* within("the pause is lifted", Effect.map(pauses, ({ length }) => length === 0), pauses)
      const probes = (yield* latest).filter(({ company_id, runner }) =>
        owned.includes(Number(company_id)) && runner === "b"
      )
      assert.isAbove(probes.length, 0)
      processes.a.child.kill("SIGCONT")
      yield* assertEqual(world, given)
      yield* assertChains(world)
    }))
})

describe("a suspect", () => {
  test("begins in a process that is busy", (world) =>
    Effect.gen(function*() {
      yield* running(world, "a", { slow: 400 })
      yield* loaded(world, "1 second")
      const [suspect] = companies
      if (suspect === undefined) return assert.fail("no company")
      yield* queried(
        world,
        `UPDATE fleet_company SET starts = 2, heartbeat_at = NULL, epoch = epoch + 1, next_at = 0 WHERE company_id = ${suspect.id}`
      )
      const starts = Effect.map(
        queried(world, `SELECT starts FROM fleet_company WHERE company_id = ${suspect.id}`),
        ([row]) => Number(row?.["starts"])
      )
      yield* within("its turn is over", Effect.map(starts, (starts) => starts === 0), starts)
      yield* nobodyLate(world)
      yield* assertEqual(world)
      yield* assertChains(world)
    }))
})

describe("time-punches fleet run over PostgreSQL", () => {
  test("has connections for its leases beside twelve syncs that wait in their transactions, and keeps its token to itself", (world) =>
    Effect.gen(function*() {
      const given = companies.slice(0, 12)
      const command = (name: string) =>
        Effect.acquireRelease(
          Effect.sync(() =>
            start(["fleet", "run", "--name", name], {
              PATH: process.env["PATH"] ?? "",
              TIME_PUNCHES_BASE_URL: world.service,
              TIME_PUNCHES_REQUESTS_PER_SECOND: "none",
              TIME_PUNCHES_CLIENT_ID: defaultOAuthClient.clientId,
              TIME_PUNCHES_CLIENT_SECRET: defaultOAuthClient.clientSecret,
              TIME_PUNCHES_DATABASE_URL: world.url
            })
          ),
          ({ child }) => Effect.sync(() => child.kill("SIGKILL"))
        )
      const number = (text: string) => Effect.map(queried(world, text), ([row]) => Number(Object.values(row ?? {})[0]))
      const waiting = number(
        "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'time_punches_sync'::regclass"
      )
      const beatenAt = number("SELECT min(heartbeat_at) FROM fleet_company")
      yield* inFleet(world, (fleet) => fleet.add(given.map((company) => ({ ...company, every: "2 seconds" }))))
      yield* Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        yield* sql.withTransaction(Effect.gen(function*() {
          yield* sql`LOCK TABLE time_punches_sync IN EXCLUSIVE MODE`
          yield* command("a")
          yield* within(
            "all wait in their transactions",
            Effect.map(waiting, (count) => count === given.length),
            waiting
          )
          const before = yield* beatenAt
          // Two heartbeats, long before the leases expire.
          yield* within("leases are held", Effect.map(beatenAt, (at) => at >= before + 3000), beatenAt, "15 seconds")
          assert.strictEqual(yield* waiting, given.length, "none of them has ended")
        }))
      }).pipe(Effect.provide(PgClient.layer({ url: Redacted.make(world.url) })))
      yield* nobodyLate(world)
      yield* command("b")
      const workers = queried(world, "SELECT DISTINCT runner FROM fleet_run")
      yield* within("both work", Effect.map(workers, ({ length }) => length === 2), workers)
      const fake = yield* FakeService
      const tokens = new Set(
        (yield* fake.requests).flatMap(({ endpoint, headers }) =>
          endpoint === "page" ? [headers["authorization"]?.replace("Bearer ", "") ?? ""] : []
        )
      )
      assert.deepStrictEqual([tokens.size, yield* fake.tokensIssued], [2, 2])
      const tables = yield* queried<{ readonly name: string }>(
        world,
        "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'"
      )
      assert.isAbove(tables.length, 10)
      for (const { name } of tables) {
        for (const token of tokens) {
          const found = yield* queried(
            world,
            `SELECT 1 FROM ${name} AS t WHERE strpos(to_json(t)::text, '${token}') > 0`
          )
          assert.lengthOf(found, 0, name)
        }
      }
    }))
})

describe("time-punches fleet run --database FILE", () => {
  it.live(
    "continues after kill -9, is refused a second time, and ends with 0 at SIGTERM",
    () =>
      Effect.gen(function*() {
        const { assertWhole, ran, rows, run } = yield* inFile(companies)
        for (const kill of [1, 2]) {
          const killed = yield* run()
          // Within the first loads.
          yield* within(
            "pages are stored",
            Effect.map(
              rows("SELECT count(*) AS count FROM time_punches"),
              ([row]) => Number(row?.["count"]) >= 2000 * kill
            )
          )
          killed.child.kill("SIGKILL")
          yield* Effect.promise(() => killed.ended)
        }
        const last = yield* run()
        yield* assertWhole
        const second = yield* ran("run")
        assert.deepStrictEqual([second.code, second.stdout], [8, ""])
        assert.include(second.stderr, "another process runs the fleet of")
        last.child.kill("SIGTERM")
        const ended = yield* Effect.promise(() => last.ended)
        assert.deepStrictEqual([ended.code, ended.stdout], [0, ""])
      }).pipe(Effect.scoped, Effect.provide(service)),
    600_000
  )

  it.live.each(
    [
      {
        moment: "before the claim",
        before: "^WITH due AS",
        left: { starts: [0, 0, 0], rows: [0, 0, 0] }
      },
      {
        moment: "before the claim of the copy",
        before: "^INSERT INTO \"?time_punches_sync\"? AS s",
        left: { starts: [1, 1, 1], rows: [0, 0, 0] }
      },
      {
        moment: "in the transaction of a page",
        before: "^INSERT INTO \"?time_punches\"? ",
        left: { starts: [1, 1, 1], rows: [0, 0, 0] }
      },
      {
        moment: "before the end",
        before: "^UPDATE fleet_company SET heartbeat_at = NULL, starts = 0",
        left: { starts: [1, 1, 1] }
      }
    ]
  )("continues after kill -9 $moment", ({ before, left }) =>
    Effect.gen(function*() {
      const { assertWhole, rows, run } = yield* inFile(companies.slice(0, 3))
      const killed = yield* run({
        KILL_BEFORE: before,
        NODE_OPTIONS: `--import=${new URL("./killBefore.ts", import.meta.url).href}`
      })
      yield* within("it is killed", Effect.sync(() => killed.child.signalCode === "SIGKILL"))
      const found = yield* rows(
        "SELECT starts, (SELECT count(*) FROM time_punches AS p WHERE p.company_id = f.company_id) AS rows FROM fleet_company AS f ORDER BY 1, 2"
      )
      assert.deepStrictEqual(found.map(({ starts }) => starts), left.starts)
      const counts = found.map(({ rows }) => rows)
      if (left.rows === undefined) assert.include(counts, 450, "the first load of one is stored")
      else assert.deepStrictEqual(counts, left.rows)
      yield* run()
      yield* assertWhole
    }).pipe(Effect.scoped, Effect.provide(service)), 600_000)
})
