import { PgClient } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Layer, Logger, Redacted, Scope } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { SqlClient } from "effect/sql"
import { once } from "node:events"
import { FleetRunner, type RunnerOptions } from "../../src/fleet/node/index.ts"
import { routes } from "../../src/fleet/node/page/serve.ts"
import { LeastTakeover, prepare } from "../../src/fleet/node/run.ts"
import type { Claim } from "../../src/fleet/store/claims.ts"
import { type FleetStore, makeFleetStore } from "../../src/fleet/store/FleetStore.ts"
import type { TimePunches } from "../../src/index.ts"
import { SqlStore } from "../../src/sql/index.ts"
import type { FakeService } from "../../src/testing/index.ts"
import { ended, environmentOf, start, started } from "../cli/child.ts"
import { claiming, companies, ending, failing, monotonic, settings, throttled } from "../fleet/support.ts"
import { app, oauth } from "../support/client.ts"
import { needs } from "../support/needs.ts"
import { cluster, hasPrograms, noPostgres } from "../support/postgres.ts"
import { doorToDatabase } from "./serviceDoor.ts"

const service = app({}, oauth)

const takeover = "3 seconds"

const database = (url: string, parameters = FleetRunner.pgClientOptions({ takeover }).startupParameters) =>
  PgClient.layer({ url: Redacted.make(url), startupParameters: parameters, maxConnections: 12 })

/** A runner with separate connections; it ends with the scope, or when a test ends it. */
const running = (url: string, options: RunnerOptions, client = database(url)) =>
  Effect.gen(function*() {
    const scope = yield* Scope.make()
    yield* Effect.addFinalizer(() => Scope.close(scope, Exit.void))
    const layer = FleetRunner.layer({ takeover, helpAfter: "2 seconds", ...options }).pipe(
      Layer.provideMerge(SqlStore.layer({ migrate: false })),
      Layer.provideMerge(client)
    )
    const context = yield* Scope.provide(Layer.build(layer), scope).pipe(Effect.provideService(LeastTakeover, 500))
    return { context, end: Scope.close(scope, Exit.void) }
  })

/** A separate server with the tables, and its client. */
const migrated = Effect.gen(function*() {
  const server = yield* cluster()
  const context = yield* Layer.build(database(server.url()))
  yield* Effect.provideContext(FleetRunner.migrate, context)
  return { url: server.url(), context }
})

const test = <E>(title: string, body: Effect.Effect<void, E, Scope.Scope | TimePunches | FakeService>) =>
  it.live(title, (context) => {
    needs(context, hasPrograms, noPostgres)
    return body.pipe(Effect.provide(service))
  })

describe("FleetRunner.layer", () => {
  test(
    "refuses a second process of one name, and takes the name of one that ended",
    Effect.gen(function*() {
      const { url } = yield* migrated
      const first = yield* running(url, { name: "a" })
      const refused = yield* Effect.flip(running(url, { name: "a" }))
      assert.strictEqual(refused._tag === "FleetError" ? refused.reason._tag : refused._tag, "AlreadyRunning")
      assert.include(refused.message, "name a")
      yield* first.end
      yield* running(url, { name: "a" })
    })
  )

  test(
    "runs beside the fleets of other schemas of the database, with the same name, and owns all its shards",
    Effect.gen(function*() {
      const { context, url } = yield* migrated
      const asked = <A>(text: string) =>
        Effect.provideContext(Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe<A & object>(text)), context)
      const fleets = yield* Effect.forEach(["public", "second", "Third \"fleet\""], (schema) =>
        Effect.gen(function*() {
          const quoted = `"${schema.replaceAll("\"", "\"\"")}"`
          yield* asked(`CREATE SCHEMA IF NOT EXISTS ${quoted}`)
          // The first of the path is not there: the schema is that of the tables.
          const client = database(url, {
            ...FleetRunner.pgClientOptions({ takeover }).startupParameters,
            search_path: `nowhere, ${quoted}`
          })
          yield* Effect.provide(FleetRunner.migrate, client)
          yield* running(url, { name: "a" }, client)
          return client
        }))
      const held = asked<{ readonly count: unknown }>(
        "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2 AND granted GROUP BY classid, pid"
      )
      let counts: ReadonlyArray<number> = []
      while (counts.length < 3 || counts.some((count) => count < 300)) {
        yield* Effect.sleep("100 millis")
        counts = (yield* held).map(({ count }) => Number(count))
      }
      assert.deepStrictEqual(counts, [300, 300, 300])
      const refused = yield* Effect.forEach(fleets, (client) => Effect.flip(running(url, { name: "a" }, client)), {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(
        refused.map((error) => error._tag === "FleetError" ? error.reason._tag : error._tag),
        ["AlreadyRunning", "AlreadyRunning", "AlreadyRunning"]
      )
    })
  )

  test(
    "takes what all processes must share from the one that has lived longest, until all have ended",
    Effect.gen(function*() {
      const { context, url } = yield* migrated
      const logged: Array<string> = []
      const prepared = (name: string, options: RunnerOptions, requestsPerSecond: number | null) =>
        Effect.map(
          prepare({ name, takeover, ...options }, { history: false, requestsPerSecond }),
          ({ settings, shared }) => ({
            sweepEvery: settings.sweepEvery,
            requestsPerSecond: shared.requestsPerSecond
          })
        ).pipe(
          Effect.provide(database(url)),
          Effect.provideService(LeastTakeover, 500),
          Effect.provide(Logger.layer([Logger.make(({ message }) => void logged.push(String(message)))]))
        )
      const first = yield* running(url, { name: "a", sweepEvery: "2 days" })
      const settingsOfA = Effect.provideContext(
        Effect.flatMap(
          SqlClient.SqlClient,
          (sql) => sql<{ readonly settings: string }>`SELECT settings FROM fleet_runner`
        ),
        context
      )
      while ((yield* settingsOfA).length === 0) yield* Effect.sleep("50 millis")
      const day = 86_400_000

      assert.deepStrictEqual(yield* prepared("b", {}, 5), { sweepEvery: 2 * day, requestsPerSecond: 5 })
      assert.lengthOf(logged, 1)
      assert.include(logged[0], "sweepEvery is 1d here and 2d in the process a, which started before: 2d holds")
      // A process that starts again is not compared with itself.
      assert.deepStrictEqual(yield* prepared("a", {}, 5), { sweepEvery: day, requestsPerSecond: 5 })
      yield* first.end
      assert.deepStrictEqual(yield* settingsOfA, [])
      assert.deepStrictEqual(yield* prepared("b", {}, null), { sweepEvery: day, requestsPerSecond: null })
      assert.lengthOf(logged, 1)
    })
  )

  test(
    "refuses another takeover, sessions without their settings, tables that are older, and SQLite",
    Effect.gen(function*() {
      const { context, url } = yield* migrated
      yield* running(url, { name: "a" })
      const built = (name: string, options: RunnerOptions, parameters?: Readonly<Record<string, string>>) =>
        Layer.build(
          FleetRunner.layer({ name, takeover, ...options }).pipe(
            Layer.provide(SqlStore.layer({ migrate: false })),
            Layer.provide(database(url, parameters))
          )
        ).pipe(
          Effect.provideService(LeastTakeover, 500),
          Effect.scoped,
          Effect.flip,
          Effect.map(({ message }) => message)
        )
      const other = yield* built("b", { takeover: "5 seconds" })
      assert.include(other, "takeover: is 5000 milliseconds here and 3000")
      assert.include(other, "delete the row takeover of the table fleet_setting")
      assert.include(yield* built("b", {}, { timezone: "UTC" }), "idle_in_transaction_session_timeout: is 0")
      assert.include(
        yield* built("b", {}, {
          ...FleetRunner.pgClientOptions({ takeover }).startupParameters,
          timezone: "Europe/Oslo"
        }),
        "timezone: is Europe/Oslo"
      )
      assert.include(yield* built("b b", {}), "name: must be")
      const sql = Effect.provideContext(SqlClient.SqlClient, context)
      yield* Effect.flatMap(sql, (sql) => sql`DELETE FROM fleet_cluster_runner_migrations`)
      assert.include(yield* built("b", {}), "the engine has schema 0")
      yield* Effect.flatMap(sql, (sql) => sql`DROP TABLE fleet_migrations`)
      assert.include(yield* built("b", {}), "the fleet has schema 0")
    })
  )

  test(
    "migrates an empty database once, for four at a time",
    Effect.gen(function*() {
      const server = yield* cluster()
      const migrate = Effect.provide(FleetRunner.migrate, database(server.url()))
      yield* Effect.all(Array.from({ length: 4 }, () => migrate), { concurrency: 4 })
      yield* Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const tables = yield* sql<
          { readonly name: string }
        >`SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' ORDER BY 1`
        assert.includeMembers(tables.map(({ name }) => name), [
          "fleet_cluster_runner_migrations",
          "fleet_company",
          "time_punches"
        ])
      }).pipe(Effect.provide(database(server.url())))
    })
  )
})

describe("time-punches fleet run", () => {
  test(
    "that still waits for its name ends with 0 at the first signal",
    Effect.gen(function*() {
      const { context, url } = yield* migrated
      yield* Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const other = yield* sql.reserve
        yield* other.execute(
          "SELECT pg_advisory_lock(hashtextextended('effect-time-punches/fleet/a', 0))",
          [],
          undefined
        )
        const { child, ended } = yield* Effect.acquireRelease(
          Effect.sync(() =>
            start(["fleet", "run", "--database", url, "--name", "a"], environmentOf("http://127.0.0.1:9"))
          ),
          ({ child }) => Effect.sync(() => child.kill("SIGKILL"))
        )
        const isWaiting = Effect.map(
          sql`SELECT 1 FROM pg_stat_activity WHERE query LIKE 'SELECT pg_advisory_unlock_all%'`,
          (rows) => rows.length > 0
        )
        while (!(yield* isWaiting)) yield* Effect.sleep("50 millis")
        child.kill("SIGTERM")
        const { code, stderr } = yield* Effect.promise(() => ended)

        assert.strictEqual(code, 0, stderr)
        assert.notInclude(stderr, "cut off")
      }).pipe(Effect.provideContext(context))
    })
  )

  test(
    "whose database is silent says that it is cut off, and ends with 0",
    Effect.gen(function*() {
      const { url } = yield* migrated
      const door = yield* doorToDatabase(url)
      const fleet = yield* started(
        ["fleet", "run", "--database", door.url],
        environmentOf("http://127.0.0.1:9")
      )
      yield* Effect.promise(() => once(fleet.child.stderr, "data"))
      door.forget()
      door.setAway(true)
      fleet.child.kill("SIGTERM")
      const { code, stderr } = yield* ended(fleet)

      assert.strictEqual(code, 0, stderr)
      assert.include(stderr, "the fleet is cut off after 5 seconds")
    })
  )
})

describe("a process that is frozen in the end of a throttled turn", () => {
  test(
    "holds up the throttled turns of others for a second",
    Effect.gen(function*() {
      const server = yield* cluster()
      // The sessions themselves may stand idle for ever.
      const context = yield* Layer.build(database(server.url(), {}))
      yield* Effect.gen(function*() {
        yield* FleetRunner.migrate
        const store = yield* makeFleetStore
        yield* store.operator.add(companies(4))
        const claims = yield* store.claim(claiming("a"))
        const ended = (claim: Claim | undefined) =>
          claim === undefined ? Effect.die("nothing was claimed") : store.end("a", failing(claim, throttled), settings)
        yield* ended(claims[0])
        yield* ended(claims[1])
        const order: Array<string | undefined> = []
        const isFrozen = yield* Deferred.make<void>()
        const frozen = yield* ended(claims[2]).pipe(
          Effect.andThen(Deferred.succeed(isFrozen, undefined)),
          Effect.andThen(Effect.sleep("5 seconds")),
          store.sql.withTransaction,
          Effect.exit,
          Effect.tap(({ _tag }) => Effect.sync(() => order.push(_tag))),
          Effect.forkChild
        )
        yield* Deferred.await(isFrozen)
        order.push((yield* ended(claims[3]))?.pause?.reason)
        yield* Fiber.await(frozen)

        assert.deepStrictEqual(order, ["RateLimited", "Failure"])
      }).pipe(Effect.provideContext(context))
    })
  )
})

describe("a connection that is lost in the first commit of a company", () => {
  test(
    "is a failure of the database and not of the company, which would be quarantined for it",
    Effect.gen(function*() {
      const { context } = yield* migrated
      yield* Effect.gen(function*() {
        const store = yield* makeFleetStore
        yield* store.operator.add(companies(1))
        const [claim] = yield* store.claim(claiming("a"))
        if (claim === undefined) return assert.fail("nothing was claimed")
        const lost = store.whileHeld(claim, store.sql`SELECT pg_terminate_backend(pg_backend_pid())`)
        const error = yield* Effect.flip(lost)

        assert.strictEqual(error._tag, "SqlError")
      }).pipe(Effect.provideContext(context))
    })
  )
})

describe("the page of a fleet over PostgreSQL", () => {
  test(
    "shows what the database has by one reading, and counts turns by whole minutes",
    Effect.gen(function*() {
      const { context } = yield* migrated
      yield* Effect.gen(function*() {
        const real = yield* makeFleetStore
        let reads = 0
        const store: FleetStore = {
          ...real,
          withNow: (use) =>
            Effect.suspend(() => {
              reads += 1
              return real.withNow(use)
            })
        }
        yield* store.operator.add(companies(3))
        const [claim] = yield* store.claim(claiming("b", { room: 1 }))
        if (claim === undefined) return assert.fail("nothing was claimed")
        yield* store.end("b", ending(claim, { pages: 2, rows: 7 }), {
          credentials: "shared",
          sweepEvery: 1e9,
          fullSweepEvery: 0,
          keepTurns: 50
        })
        const minutes = yield* store.sql`SELECT pg_typeof(minute)::text AS kind, runs FROM fleet_minute`
        const handle = yield* routes({
          store,
          name: "a",
          takeover: 10_000,
          workedAt: monotonic,
          isTurning: Effect.succeed(true)
        })
        const get = (path: string) =>
          handle(true).pipe(
            Effect.provideService(
              HttpServerRequest.HttpServerRequest,
              HttpServerRequest.fromWeb(new Request(`http://localhost${path}`, { headers: { host: "localhost" } }))
            ),
            Effect.flatMap((response) => Effect.promise(() => HttpServerResponse.toWeb(response).text()))
          )
        const before = reads
        const [page = "", status = "", measured, health] = yield* Effect.all(
          ["/", "/status.json", "/metrics", "/healthz"].map(get),
          { concurrency: "unbounded" }
        )

        assert.deepStrictEqual(minutes.map((row) => [row["kind"], Number(row["runs"])]), [["bigint", 1]])
        assert.strictEqual(reads - before, 1)
        assert.include(page, "1 turns in the last hour, 0 of them failed; 2 pages, 7 rows written")
        assert.strictEqual(JSON.parse(status).companies, 3)
        assert.match(measured ?? "", /^time_punches_fleet_due\S* 2$/m)
        assert.strictEqual(health, "ok\n")
      }).pipe(Effect.provideContext(context))
    })
  )
})
