/** A world for tests of a fleet: a service that changes, PostgreSQL, the processes, and what must hold in the end; shared with the soak. */
import { PgClient } from "@effect/sql-pg"
import { assert } from "@effect/vitest"
import { Clock, type DateTime, Duration, Effect, Fiber, Layer, Option, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import { Fleet } from "../../src/fleet/index.ts"
import { FleetRunner } from "../../src/fleet/node/index.ts"
import { CompanyGuid, CompanyId, Credentials, TimePunches } from "../../src/index.ts"
import { NodeTransport } from "../../src/node/index.ts"
import { SqlStore } from "../../src/sql/index.ts"
import { NodeSqlite } from "../../src/sql/node/index.ts"
import { readRows } from "../../src/sql/read.ts"
import { Sync } from "../../src/sync/index.ts"
import { FakeServer } from "../../src/testing/FakeServer.ts"
import { defaultOAuthClient, FakeService, generatePunches } from "../../src/testing/index.ts"
import { start, started } from "../cli/child.ts"
import { temporaryFolder } from "../cli/support.ts"
import { cluster } from "../support/postgres.ts"
import type { ProgramOptions } from "./fleet.program.ts"
import { until } from "./kills.ts"

const guidOf = (company: number) => CompanyGuid.make(`3b2f7c1e-5a94-4d0b-8e6f-${String(company).padStart(12, "0")}`)
/** Companies, and the punches that the service has of each at first. */
export const sourceOf = (count: number, punchesEach: number) => {
  const companies = Array.from({ length: count }, (_, at) => 5001 + 7 * at)
    .map((company) => ({ id: CompanyId.make(company), guid: guidOf(company) }))
  const punches = companies.flatMap(({ id: companyId }, at) =>
    generatePunches({ seed: at, count: punchesEach, companyId, firstId: at * 10_000 + 1 })
      .map((punch) => Object.assign(punch, { notes: "" }))
  )
  return { companies, punches, punchesEach }
}

export type Source = ReturnType<typeof sourceOf>

/** The companies of a test that has no reason for others. */
export const source: Source = sourceOf(40, 450)

export type Target = Source["companies"][number]

export const serviceOf = ({ companies, punches }: Source) =>
  FakeServer.layer().pipe(
    Layer.provideMerge(FakeService.layer({
      companies: companies.map(({ guid, id }) => ({ id, guid, accessToken: `token-${id}` })),
      punches,
      latency: "15 millis"
    }))
  )

const program = new URL("./fleet.program.ts", import.meta.url).pathname

export interface World {
  readonly url: string
  readonly server: {
    readonly stop: (signal: "SIGINT" | "SIGQUIT") => Promise<void>
    readonly start: () => Promise<void>
  }
  readonly service: string
  readonly source: Source
  readonly log: string
  /** Ends the changes of the punches. */
  readonly calm: Effect.Effect<void>
}

/** Changes a few punches of all companies, for as long as the scope is open; the effect ends that. */
const churning = ({ punches }: Source) =>
  Effect.gen(function*() {
    const fake = yield* FakeService
    const churn = Effect.gen(function*() {
      for (let turn = 0;; turn++) {
        const some = punches.filter((_, at) => (at + turn) % 997 === 0).map(({ id }) => id)
        yield* fake.edit(some, { notes: `turn ${turn}` })
        yield* Effect.sleep("300 millis")
      }
    })
    return yield* Effect.map(Effect.forkScoped(churn), (fiber) => Effect.asVoid(Fiber.interrupt(fiber)))
  })

/** A server with the tables, and the companies of the service, which change all the time. */
export const worldOf = (source: Source) =>
  Effect.gen(function*() {
    const server = yield* cluster()
    const folder = yield* temporaryFolder
    const url = server.url()
    yield* Effect.provide(FleetRunner.migrate, PgClient.layer({ url: Redacted.make(url) }))
    const log = `${folder}/commits`
    Fs.writeFileSync(log, "")
    return { url, server, service: (yield* FakeServer).url, source, log, calm: yield* churning(source) } satisfies World
  })

/** Waits for something that a quiet machine has in seconds, and a busy one some time later. */
export const within = <E, R>(
  what: string,
  holds: Effect.Effect<boolean, E, R>,
  why: Effect.Effect<unknown, E, R> = Effect.succeed(""),
  limit: Duration.Input = "2 minutes"
) =>
  Effect.timeoutOrElse(until(holds, "100 millis"), {
    duration: limit,
    orElse: () => Effect.flatMap(why, (why) => Effect.die(new Error(`${what}: ${JSON.stringify(why)}`)))
  })

/** Starts a process of the fleet. It ends with the scope. */
export const running = (
  world: World,
  name: string,
  options: Omit<ProgramOptions, "name" | "database" | "service" | "log"> = {}
) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const given: ProgramOptions = { ...options, name, database: world.url, service: world.service, log: world.log }
      const child = ChildProcess.spawn(process.execPath, [
        "--conditions=effect-time-punches:source",
        "--disable-warning=ExperimentalWarning",
        program,
        JSON.stringify(given)
      ], { stdio: ["ignore", "pipe", "pipe"] })
      let output = ""
      child.stdout.on("data", (bytes) => (output += String(bytes)))
      child.stderr.on("data", (bytes) => (output += String(bytes)))
      const ended = new Promise<number | null>((resolve) => child.on("close", (code) => resolve(code)))
      const isRunning = within(
        `process ${name} runs`,
        Effect.sync(() => output.includes("runs")),
        Effect.sync(() => output)
      )
      return { child, ended, output: () => output, isRunning }
    }),
    ({ child }) =>
      Effect.sync(() => {
        child.kill("SIGCONT")
        child.kill("SIGKILL")
      })
  )

/** Each by a new connection: the server is restarted. */
export const asked = <A, E>({ url }: World, use: Effect.Effect<A, E, SqlClient.SqlClient>) =>
  use.pipe(
    Effect.provide(PgClient.layer({ url: Redacted.make(url), maxConnections: 1 })),
    Effect.sandbox,
    Effect.retry({ times: 50, schedule: undefined, while: () => Effect.as(Effect.sleep("200 millis"), true) }),
    Effect.orDie
  )

export const queried = <A extends object = { readonly [column: string]: unknown }>(world: World, text: string) =>
  asked(world, Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe<A>(text)))

export const inFleet = <A, E>(world: World, use: (fleet: Fleet["Service"]) => Effect.Effect<A, E>) =>
  asked(world, Effect.provide(Effect.flatMap(Fleet, use), Fleet.layer))

/** What is known of a company that is in the fleet. */
export const statusOf = (world: World, { id }: Target) =>
  Effect.map(inFleet(world, (fleet) => fleet.status(id)), Option.getOrThrow)

/** Companies that are later than `seconds`. */
export const late = (world: World, seconds: number) =>
  Effect.map(
    inFleet(world, (fleet) => fleet.list()),
    (list) => list.filter(({ late, state }) => state === "active" && Duration.toSeconds(late) > seconds)
  )

/** Waits until no company is left behind: each is in time, or has had a pass meanwhile, which a slow machine has late. */
export const nobodyLate = (world: World, limit: Duration.Input = "2 minutes") =>
  Effect.gen(function*() {
    const left = new Map<number, number | undefined>()
    const millisOf = Option.map(({ epochMilliseconds }: DateTime.Utc) => epochMilliseconds)
    const isServed = Effect.map(late(world, 6), (list) =>
      list.every(({ companyId, lastOkAt }) => {
        const at = Option.getOrUndefined(millisOf(lastOkAt))
        if (!left.has(companyId)) left.set(companyId, at)
        return left.get(companyId) !== at
      }))
    yield* within(
      "late",
      isServed,
      queried(
        world,
        "SELECT to_json(f) AS row FROM fleet_company AS f UNION ALL SELECT to_json(s) FROM fleet_solo AS s"
      ),
      limit
    )
  })

export interface Link {
  readonly runner: string
  readonly company: number
  readonly before: string | null
  readonly after: string
  readonly rows: number
  readonly kind: string
  readonly at?: number
  /** How long the process could do nothing. */
  readonly millis?: number
}

export const linksOf = ({ log }: World): ReadonlyArray<Link> =>
  Fs.readFileSync(log, "utf8").split("\n").flatMap((line) => {
    try {
      const link: Link = JSON.parse(line)
      return [link]
    } catch {
      // The last line of a process that was killed.
      return []
    }
  })

/** Waits until a process has noted something. */
export const noted = (world: World, what: string, is: (link: Link) => boolean) =>
  within(
    what,
    Effect.sync(() => linksOf(world).some(is)),
    Effect.sync(() => linksOf(world).slice(-20).map(({ company, kind, runner }) => [runner, company, kind]))
  )

/** Fails unless the commits of each company are one chain, which ends with the checkpoint that is stored. */
export const assertChains = (world: World) =>
  Effect.gen(function*() {
    // Nothing may be written between the two readings.
    yield* inFleet(world, (fleet) => fleet.pauseAll)
    const inWork = queried(
      world,
      "SELECT 1 FROM fleet_company WHERE heartbeat_at > (extract(epoch from now()) * 1000)::bigint - 10000"
    )
    yield* within("turns end", Effect.map(inWork, ({ length }) => length === 0))
    const links = linksOf(world)
    const stored = yield* queried<{ readonly company_id: unknown; readonly checkpoint: string }>(
      world,
      "SELECT company_id, checkpoint FROM time_punches_sync"
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

export const everyRow = (company: CompanyId) =>
  Effect.map(
    readRows(company, { _tag: "After", id: -1, count: 100_000 }),
    (rows) => rows.map(({ isMissing, punch }) => ({ isMissing, punch }))
  )

/** Every row of the companies, as a sync has them that nothing disturbed. */
export const undisturbed = (serviceUrl: string, given: ReadonlyArray<Target>) =>
  Effect.gen(function*() {
    yield* Effect.forEach(given, (company) => Sync.run(company), { concurrency: 8 })
    return yield* Effect.forEach(given, ({ id }) => everyRow(id))
  }).pipe(
    Effect.provide(Layer.provideMerge(SqlStore.layer(), NodeSqlite.layer({ filename: ":memory:" }))),
    Effect.provide(
      TimePunches.layerWith({
        baseUrl: serviceUrl,
        credentials: Credentials.layerOAuth({
          clientId: defaultOAuthClient.clientId,
          clientSecret: Redacted.make(defaultOAuthClient.clientSecret)
        })
      }).pipe(Layer.provide(NodeTransport.layer()))
    )
  )

/** Fails unless every table equals that of an undisturbed sync, after the first pass that began when nothing changed any more. */
export const assertEqual = (world: World, given: ReadonlyArray<Target> = world.source.companies) =>
  Effect.gen(function*() {
    yield* world.calm
    const from = yield* Clock.currentTimeMillis
    yield* inFleet(world, (fleet) => fleet.trigger(given.map(({ id }) => id)))
    const old = Effect.map(
      inFleet(world, (fleet) => fleet.list({ states: ["active"] })),
      (list) =>
        list.filter(({ lastOkAt }) =>
          Option.getOrElse(Option.map(lastOkAt, (at) => at.epochMilliseconds), () => 0) <= from
        )
    )
    yield* within("a pass of each company", Effect.map(old, ({ length }) => length === 0), old)
    const copy = yield* asked(world, Effect.forEach(given, ({ id }) => everyRow(id)))
    const expected = yield* undisturbed(world.service, given)
    assert.isTrue(expected.every(({ length }) => length === world.source.punchesEach))
    assert.deepStrictEqual(copy, expected)
  })

export const loaded = (
  world: World,
  every: Duration.Input = "2 seconds",
  given: ReadonlyArray<Target> = world.source.companies
) =>
  Effect.gen(function*() {
    yield* inFleet(world, (fleet) => fleet.add(given.map(({ guid, id }) => ({ id, guid, every }))))
    const first = Effect.map(
      inFleet(world, (fleet) => fleet.list()),
      (list) => list.filter(({ phase }) => phase === "first")
    )
    yield* within("first loads", Effect.map(first, ({ length }) => length === 0), first)
  })

/** The longest time between two commits of a process, of these companies or of all, in milliseconds. */
export const gapOf = (
  links: ReadonlyArray<Link>,
  runner: string,
  from: number,
  isCounted: (company: number) => boolean = () => true
): number => {
  const times = links.flatMap(({ at, company, kind, runner: by }) =>
    kind === "done" && by === runner && at !== undefined && at >= from && isCounted(company) ? [at] : []
  ).toSorted((a, b) => a - b)
  return Math.max(...times.map((at, place) => at - (times[place - 1] ?? from)))
}

export const held = (world: World, runner: string) =>
  Effect.map(
    queried(world, `SELECT 1 FROM fleet_company WHERE runner = '${runner}' AND heartbeat_at IS NOT NULL`),
    ({ length }) => length
  )

/** The command over a new file, with some companies. */
export const inFile = (given: ReadonlyArray<Target>) =>
  Effect.gen(function*() {
    const database = `${yield* temporaryFolder}/punches.db`
    const { url } = yield* FakeServer
    const env = {
      PATH: process.env["PATH"] ?? "",
      TIME_PUNCHES_BASE_URL: url,
      TIME_PUNCHES_REQUESTS_PER_SECOND: "none",
      TIME_PUNCHES_CLIENT_ID: defaultOAuthClient.clientId,
      TIME_PUNCHES_CLIENT_SECRET: defaultOAuthClient.clientSecret,
      TIME_PUNCHES_DATABASE_URL: database
    }
    const ran = (...args: ReadonlyArray<string>) => Effect.promise(() => start(["fleet", ...args], env).ended)
    /** The process of the fleet. It ends with the scope. */
    const run = (more: Readonly<Record<string, string>> = {}) => started(["fleet", "run"], { ...env, ...more })
    const read = <A, E>(use: Effect.Effect<A, E, SqlClient.SqlClient>) =>
      Effect.provide(use, NodeSqlite.layer({ filename: database }))
    const rows = (text: string) =>
      read(Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe<{ readonly [column: string]: unknown }>(text)))
    const list = Effect.map(
      ran("list", "--json"),
      ({ stdout }): ReadonlyArray<{ readonly lateSeconds: number; readonly phase: string }> => JSON.parse(stdout)
    )
    /** Waits until every company is followed; those that were in work at two kills are tried alone before. */
    const isWhole = within(
      "every company is followed",
      Effect.map(list, (list) =>
        list.length === given.length && list.every(({ lateSeconds, phase }) =>
          lateSeconds < 5 && phase !== "first"
        )),
      list,
      "3 minutes"
    )
    const assertWhole = Effect.gen(function*() {
      yield* isWhole
      const copy = yield* read(Effect.forEach(given, ({ id }) => everyRow(id)))
      assert.deepStrictEqual(copy, yield* undisturbed(url, given))
    })
    const added = yield* ran("add", "--every", "2s", ...given.map(({ guid, id }) => `${id}=${guid}`))
    assert.strictEqual(added.code, 0, added.stderr)
    return { ran, run, rows, assertWhole }
  })
