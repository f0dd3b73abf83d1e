/** Processes of a fleet that are killed, frozen, ended and started again, over PostgreSQL that ends too. */
import { PgClient } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import { Clock, type Duration, Effect, Layer, Redacted, type Scope, Stream } from "effect"
import { Result } from "effect"
import { SqlClient } from "effect/sql"
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import { Fleet } from "../../src/fleet/index.ts"
import { FleetRunner } from "../../src/fleet/node/index.ts"
import { CompanyGuid, CompanyId, Credentials, TimePunches } from "../../src/index.ts"
import { NodeTransport } from "../../src/node/index.ts"
import { readRows } from "../../src/sql/read.ts"
import { FakeServer } from "../../src/testing/FakeServer.ts"
import { defaultOAuthClient, FakeService, generatePunches } from "../../src/testing/index.ts"
import { start } from "../cli/child.ts"
import { temporaryFolder } from "../cli/support.ts"
import { needs } from "../support/needs.ts"
import { cluster, hasPrograms, noPostgres } from "../support/postgres.ts"
import { until } from "./kills.ts"

const guidOf = (company: number) => CompanyGuid.make(`3b2f7c1e-5a94-4d0b-8e6f-${String(company).padStart(12, "0")}`)
const ids = Array.from({ length: 40 }, (_, at) => 5001 + 7 * at)
const companies = ids.map((company) => ({ id: CompanyId.make(company), guid: guidOf(company) }))
const punches = ids.flatMap((companyId, at) =>
  generatePunches({ seed: at, count: 450, companyId, firstId: at * 10_000 + 1 })
    .map((punch) => Object.assign(punch, { notes: "" }))
)

const service = FakeServer.layer().pipe(
  Layer.provideMerge(FakeService.layer({
    companies: companies.map(({ guid, id }) => ({ id, guid, accessToken: `token-${id}` })),
    punches,
    latency: "15 millis"
  }))
)

const program = new URL("./fleet.program.ts", import.meta.url).pathname

interface World {
  readonly url: string
  readonly server: {
    readonly stop: (signal: "SIGINT" | "SIGQUIT") => Promise<void>
    readonly start: () => Promise<void>
  }
  readonly service: string
  readonly log: string
}

/** A server with the tables, and the companies of the service, which change all the time. */
const world = Effect.gen(function*() {
  const server = yield* cluster()
  const folder = yield* temporaryFolder
  const url = server.url()
  yield* Effect.provide(FleetRunner.migrate, PgClient.layer({ url: Redacted.make(url) }))
  const fake = yield* FakeService
  const churn = Effect.gen(function*() {
    for (let turn = 0;; turn++) {
      const some = punches.filter((_, at) => (at + turn) % 997 === 0).map(({ id }) => id)
      yield* fake.edit(some, { notes: `turn ${turn}` })
      yield* Effect.sleep("300 millis")
    }
  })
  yield* Effect.forkScoped(churn)
  return { url, server, service: (yield* FakeServer).url, log: `${folder}/commits` } satisfies World
})

/** Starts a process of the fleet. It ends with the scope. */
const running = (
  world: World,
  name: string,
  options: {
    readonly poison?: number | undefined
    readonly blind?: boolean
    readonly slow?: boolean
    readonly hours?: number
  } = {}
) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const child = ChildProcess.spawn(process.execPath, [
        "--conditions=effect-time-punches:source",
        "--disable-warning=ExperimentalWarning",
        program,
        name,
        world.url,
        world.service,
        world.log,
        `${options.poison ?? 0}`,
        options.blind === true ? "blind" : "",
        options.slow === true ? "400" : "0",
        `${options.hours ?? 0}`
      ], { stdio: ["ignore", "pipe", "pipe"] })
      let output = ""
      child.stdout.on("data", (bytes) => (output += String(bytes)))
      child.stderr.on("data", (bytes) => (output += String(bytes)))
      const ended = new Promise<number | null>((resolve) => child.on("close", (code) => resolve(code)))
      return { child, ended, output: () => output, isRunning: () => output.includes("runs") }
    }),
    ({ child }) =>
      Effect.sync(() => {
        child.kill("SIGCONT")
        child.kill("SIGKILL")
      })
  )

/** Each by a new connection: the server is restarted. */
const asked = <A, E>({ url }: World, use: Effect.Effect<A, E, SqlClient.SqlClient>) =>
  use.pipe(
    Effect.provide(PgClient.layer({ url: Redacted.make(url), maxConnections: 1 })),
    Effect.sandbox,
    Effect.retry({ times: 20, schedule: undefined, while: () => Effect.as(Effect.sleep("200 millis"), true) }),
    Effect.orDie
  )

const inFleet = <A, E>(world: World, use: (fleet: Fleet["Service"]) => Effect.Effect<A, E>) =>
  asked(world, Effect.provide(Effect.flatMap(Fleet, use), Fleet.layer))

/** Companies that are later than `seconds`. */
const late = (world: World, seconds: number) =>
  Effect.map(
    inFleet(world, (fleet) => fleet.list()),
    (list) => list.filter(({ lateSeconds, state }) => state === "active" && lateSeconds > seconds)
  )

const nobodyLate = (world: World, seconds = 6, limit: Duration.Input = "40 seconds") =>
  Effect.timeoutOrElse(until(Effect.map(late(world, seconds), ({ length }) => length === 0), "500 millis"), {
    duration: limit,
    orElse: () =>
      Effect.gen(function*() {
        const ids = (yield* late(world, seconds)).map(({ company }) => company)
        const rows = yield* asked(
          world,
          Effect.flatMap(SqlClient.SqlClient, (sql) =>
            sql`SELECT to_json(f) AS row FROM fleet_company AS f WHERE company_id IN ${
              sql.in(ids)
            } UNION ALL SELECT to_json(s) FROM fleet_solo AS s`)
        )
        return yield* Effect.die(new Error(`late: ${JSON.stringify(rows)}`))
      })
  })

interface Link {
  readonly company: number
  readonly before: string | null
  readonly after: string
  readonly rows: number
  readonly kind: string
  readonly at?: number
}

const linksOf = ({ log }: World): ReadonlyArray<Link> =>
  Fs.readFileSync(log, "utf8").split("\n").flatMap((line) => {
    try {
      const link: Link = JSON.parse(line)
      return [link]
    } catch {
      // The last line of a process that was killed.
      return []
    }
  })

/** Fails unless the commits of each company are one chain, which ends with the checkpoint that is stored. */
const assertChains = (world: World) =>
  Effect.gen(function*() {
    // Nothing may be written between the two readings.
    yield* inFleet(world, (fleet) => fleet.pauseAll)
    const inWork = asked(
      world,
      Effect.flatMap(
        SqlClient.SqlClient,
        (sql) =>
          sql`SELECT 1 FROM fleet_company WHERE heartbeat_at > (extract(epoch from now()) * 1000)::bigint - 10000`
      )
    )
    yield* until(Effect.map(inWork, ({ length }) => length === 0), "200 millis")
    const links = linksOf(world)
    const stored = yield* asked(
      world,
      Effect.flatMap(SqlClient.SqlClient, (sql) =>
        sql<
          { readonly company_id: unknown; readonly checkpoint: string }
        >`SELECT company_id, checkpoint FROM time_punches_sync`)
    )
    for (const row of stored) {
      const own = links.filter(({ company }) => company === Number(row.company_id))
      const before = new Map(own.filter(({ kind }) => kind === "intent").map((link) => [link.after, link.before]))
      const chain = new Set<string>()
      for (let at: string | null | undefined = row.checkpoint; at !== null;) {
        if (at === undefined || chain.has(at)) assert.fail(`the chain of company ${Number(row.company_id)} is broken`)
        chain.add(at)
        at = before.get(at)
      }
      for (const { after, kind } of own) {
        if (kind === "done" && !chain.has(after)) assert.fail(`company ${Number(row.company_id)} has an outdated write`)
      }
    }
    yield* inFleet(world, (fleet) => fleet.resumeAll)
    return links
  })

/** Fails unless every table equals the source, once the last changes were followed. */
const assertEqual = (world: World) =>
  Effect.gen(function*() {
    yield* Effect.sleep("6 seconds")
    const client = TimePunches.layerWith({
      baseUrl: world.service,
      credentials: Credentials.layerOAuth({
        clientId: defaultOAuthClient.clientId,
        clientSecret: Redacted.make(defaultOAuthClient.clientSecret)
      })
    }).pipe(Layer.provide(NodeTransport.layer()))
    for (const company of companies.filter((_, at) => at % 4 === 0)) {
      const unlike = Effect.gen(function*() {
        const source = yield* Effect.provide(
          Stream.runCollect(TimePunches.list(company, { deleted: "include" })),
          client
        )
        const rows = yield* asked(world, readRows(company.id, { _tag: "After", id: -1, count: 100_000 }))
        const copy = rows.filter(({ isGone }) => !isGone).map(({ punch }) => Result.getOrThrow(punch))
        assert.lengthOf(copy, 450)
        // What changed in the last seconds may be on its way.
        const byId = new Map(copy.map((punch) => [punch.id, punch]))
        return source.filter((punch) => byId.get(punch.id)?.notes !== punch.notes).length
      })
      yield* Effect.timeoutOrElse(until(Effect.map(unlike, (count) => count <= 4), "1 second"), {
        duration: "15 seconds",
        orElse: () => Effect.die(new Error(`company ${company.id} differs from its source`))
      })
    }
  })

const loaded = (world: World, every: Duration.Input = "2 seconds") =>
  Effect.gen(function*() {
    yield* inFleet(world, (fleet) => fleet.add(companies.map(({ guid, id }) => ({ id, guid, every }))))
    yield* Effect.timeoutOrElse(
      until(
        Effect.map(inFleet(world, (fleet) => fleet.list()), (list) => list.every(({ phase }) => phase !== "first")),
        "500 millis"
      ),
      { duration: "60 seconds", orElse: () => Effect.die(new Error("the first loads did not end")) }
    )
  })

const test = <E>(
  title: string,
  body: (world: World) => Effect.Effect<void, E, Scope.Scope | FakeService | FakeServer>
) =>
  it.live(title, (context) => {
    needs(context, hasPrograms, noPostgres)
    return Effect.flatMap(world, body).pipe(Effect.scoped, Effect.provide(service))
  }, 240_000)

/** The longest time between two commits of a process, in milliseconds. */
const gapOf = (links: ReadonlyArray<Link>, from: number): number => {
  const times = links.flatMap(({ at, kind }) => kind === "done" && at !== undefined && at >= from ? [at] : []).toSorted(
    (a, b) => a - b
  )
  return Math.max(...times.map((at, place) => at - (times[place - 1] ?? from)))
}

/** Freezes the process "a" for longer than its leases last, while it holds some. */
const freezes = (world: World, a: { readonly child: ChildProcess.ChildProcess }) =>
  Effect.gen(function*() {
    const held = asked(
      world,
      Effect.flatMap(
        SqlClient.SqlClient,
        (sql) => sql`SELECT 1 FROM fleet_company WHERE runner = 'a' AND heartbeat_at IS NOT NULL`
      )
    )
    yield* until(Effect.map(held, ({ length }) => length >= 3), "10 millis")
    a.child.kill("SIGSTOP")
    yield* Effect.sleep("14 seconds")
    a.child.kill("SIGCONT")
  })

describe("two processes of a fleet", () => {
  test("continue for one that was killed, and with it when it starts again", (world) =>
    Effect.gen(function*() {
      const a = yield* running(world, "a")
      yield* running(world, "b")
      yield* loaded(world)
      yield* Effect.sleep("5 seconds")
      a.child.kill("SIGKILL")
      yield* Effect.sleep("13 seconds")
      assert.deepStrictEqual(yield* late(world, 12), [], "takeover")
      yield* running(world, "a")
      yield* nobodyLate(world)
      yield* assertEqual(world)
      yield* assertChains(world)
    }))

  test("refuse the writes of one that was frozen, which then continues", (world) =>
    Effect.gen(function*() {
      const a = yield* running(world, "a", { slow: true })
      yield* running(world, "b", { slow: true })
      yield* loaded(world)
      const from = yield* Clock.currentTimeMillis
      for (let freeze = 0; freeze < 3; freeze++) {
        yield* freezes(world, a)
        yield* Effect.sleep("3 seconds")
      }
      yield* nobodyLate(world)
      const links = yield* assertChains(world)
      const stored = new Set(links.flatMap(({ after, kind }) => kind === "done" ? [after] : []))
      const attempted = links.filter(({ after, kind }) => kind === "intent" && !stored.has(after))
      const kinds = [...new Set(links.map(({ kind }) => kind))].join(", ")
      assert.isAbove(attempted.length, 0, `a write of the frozen process was not stored (${kinds})`)
      const gap = gapOf(links, from)
      assert.isBelow(gap, 2500, "the healthy process continued")
      yield* assertEqual(world)
    }))

  test("end at SIGTERM within three seconds, hold nothing then, and miss no slot", (world) =>
    Effect.gen(function*() {
      const a = yield* running(world, "a")
      const b = yield* running(world, "b")
      yield* loaded(world)
      for (const [name, process] of [["a", a], ["b", b]] as const) {
        const from = yield* Clock.currentTimeMillis
        process.child.kill("SIGTERM")
        assert.strictEqual(yield* Effect.promise(() => process.ended), 0, process.output())
        assert.isBelow((yield* Clock.currentTimeMillis) - from, 3000)
        const held = yield* asked(
          world,
          Effect.flatMap(SqlClient.SqlClient, (sql) =>
            sql`SELECT 1 FROM fleet_company WHERE runner = ${name} AND heartbeat_at IS NOT NULL`)
        )
        assert.lengthOf(held, 0)
        yield* running(world, name)
        yield* Effect.sleep("6 seconds")
      }
      yield* nobodyLate(world)
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
        yield* Effect.sleep("5 seconds")
        const first = Math.min(
          ...linksOf(world).flatMap(({ at = 0, kind }) => kind === "done" && at > from ? [at - from] : [])
        )
        assert.isBelow(first, 4000, `the first commit after ${signal}, away for ${away} ms`)
      }
      yield* asked(
        world,
        Effect.flatMap(SqlClient.SqlClient, (sql) => sql`DROP TABLE fleet_cluster_locks, fleet_cluster_runners`)
      )
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
        (list) => list.flatMap(({ company, state }) => state === "active" ? [] : [[Number(company), state]])
      )
      yield* Effect.timeoutOrElse(until(Effect.map(states, ({ length }) => length > 0), "1 second"), {
        duration: "180 seconds",
        orElse: () => Effect.die(new Error("no company was quarantined"))
      })
      // All that were in work beside it twice are suspects too, and each is tried alone.
      yield* nobodyLate(world, 6, "120 seconds")
      assert.deepStrictEqual(yield* states, [[poison, "quarantined"]])
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
      yield* Effect.sleep("15 seconds")
      yield* nobodyLate(world)
      const workers = yield* asked(
        world,
        Effect.flatMap(SqlClient.SqlClient, (sql) => sql`SELECT DISTINCT runner FROM fleet_minute`)
      )
      assert.lengthOf(workers, 4)
      yield* assertChains(world)
      yield* assertEqual(world)
    }))

  test("leave nothing of a company that is removed and purged during its first load", (world) =>
    Effect.gen(function*() {
      yield* running(world, "a")
      const target = companies[0]
      if (target === undefined) return assert.fail("no company")
      const env = { PATH: process.env["PATH"] ?? "", TIME_PUNCHES_DATABASE_URL: world.url }
      for (let turn = 0; turn < 5; turn++) {
        yield* inFleet(world, (fleet) => fleet.add([{ ...target, every: "1 second" }]))
        yield* Effect.sleep(300 + turn * 200)
        const removed = yield* Effect.promise(() => start(["fleet", "remove", `${target.id}`, "--purge"], env).ended)
        assert.strictEqual(removed.code, 0, removed.stderr)
        yield* Effect.sleep("2 seconds")
        const left = yield* asked(
          world,
          Effect.flatMap(
            SqlClient.SqlClient,
            (sql) => sql`SELECT 1 FROM time_punches UNION ALL SELECT 1 FROM time_punches_sync`
          )
        )
        assert.lengthOf(left, 0, `turn ${turn}`)
      }
    }))
})

describe("a fleet whose store does not compare", () => {
  test("has outdated writes, which the chain shows", (world) =>
    Effect.gen(function*() {
      const a = yield* running(world, "a", { blind: true, slow: true })
      yield* running(world, "b", { blind: true, slow: true })
      yield* loaded(world, "1 second")
      for (let freeze = 0; freeze < 3; freeze++) {
        yield* freezes(world, a)
        yield* Effect.sleep("2 seconds")
      }
      const chains = yield* Effect.exit(Effect.suspend(() => assertChains(world)))
      assert.strictEqual(chains._tag, "Failure")
    }))
})

describe("time-punches fleet run --database FILE", () => {
  it.live(
    "continues in seconds after kill -9, is refused a second time, and ends with 0 at SIGTERM",
    () =>
      Effect.gen(function*() {
        const folder = yield* temporaryFolder
        const { url } = yield* FakeServer
        const env = {
          PATH: process.env["PATH"] ?? "",
          TIME_PUNCHES_BASE_URL: url,
          TIME_PUNCHES_CLIENT_ID: defaultOAuthClient.clientId,
          TIME_PUNCHES_CLIENT_SECRET: defaultOAuthClient.clientSecret,
          TIME_PUNCHES_DATABASE_URL: `${folder}/punches.db`
        }
        const command = (...args: ReadonlyArray<string>) => start(["fleet", ...args], env)
        const ran = (...args: ReadonlyArray<string>) => Effect.promise(() => command(...args).ended)
        const run = Effect.acquireRelease(
          Effect.sync(() => command("run")),
          ({ child }) => Effect.sync(() => child.kill("SIGKILL"))
        )
        yield* ran("add", "--every", "2s", ...companies.map(({ guid, id }) => `${id}=${guid}`))
        for (const millis of [900, 1500]) {
          const killed = yield* run
          yield* Effect.sleep(millis)
          killed.child.kill("SIGKILL")
          yield* Effect.promise(() => killed.ended)
        }
        const last = yield* run
        yield* Effect.sleep("3 seconds")
        const second = yield* ran("run")
        assert.deepStrictEqual([second.code, second.stdout], [8, ""])
        assert.include(second.stderr, "another process runs the fleet of")
        const listed = Effect.map(
          ran("list", "--json"),
          ({ stdout }): ReadonlyArray<{ readonly lateSeconds: number; readonly phase: string }> => JSON.parse(stdout)
        )
        const isWhole = Effect.map(listed, (list) =>
          list.length === companies.length && list.every(({ lateSeconds, phase }) =>
            lateSeconds < 5 && phase !== "first"
          ))
        // Who was in work at both kills is tried alone.
        yield* Effect.timeoutOrElse(until(isWhole, "500 millis"), {
          duration: "90 seconds",
          orElse: () =>
            Effect.flatMap(listed, (list) => Effect.die(new Error(JSON.stringify(list))))
        })
        const from = yield* Clock.currentTimeMillis
        last.child.kill("SIGTERM")
        const ended = yield* Effect.promise(() => last.ended)
        assert.deepStrictEqual([ended.code, ended.stdout], [0, ""])
        assert.isBelow((yield* Clock.currentTimeMillis) - from, 3000)
      }).pipe(Effect.scoped, Effect.provide(service)),
    180_000
  )
})
