import { PgClient } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Duration, Effect, Exit, Layer, Redacted, Result, Scope, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { Fleet } from "../../src/fleet/index.ts"
import { FleetRunner, type RunnerOptions } from "../../src/fleet/node/index.ts"
import { LeastTakeover } from "../../src/fleet/node/run.ts"
import { CompanyGuid, CompanyId, TimePunches } from "../../src/index.ts"
import { SqlStore } from "../../src/sql/index.ts"
import { readRows } from "../../src/sql/read.ts"
import { FakeService, generatePunches } from "../../src/testing/index.ts"
import { app, oauth } from "../support/client.ts"
import { needs } from "../support/needs.ts"
import { cluster, hasPrograms, noPostgres } from "../support/postgres.ts"

const guidOf = (company: number) => CompanyGuid.make(`3b2f7c1e-5a94-4d0b-8e6f-${String(company).padStart(12, "0")}`)
const companies = Array.from({ length: 12 }, (_, at) => 5001 + 25 * at).map((company) => ({
  id: CompanyId.make(company),
  guid: guidOf(company),
  every: "2 seconds" as const
}))

const punches = companies.flatMap(({ id }, at) =>
  generatePunches({ seed: at, count: 250, companyId: id, firstId: at * 10_000 + 1, timestampForms: false })
    .map((punch) => Object.assign(punch, { notes: "" }))
)

const service = app({
  companies: companies.map(({ guid, id }) => ({ id, guid, accessToken: `token-${id}` })),
  punches,
  latency: "20 millis"
}, oauth)

const takeover = "3 seconds"

const database = (url: string, parameters = FleetRunner.sessionParameters(takeover)) =>
  PgClient.layer({ url: Redacted.make(url), startupParameters: parameters, maxConnections: 12 })

/** A runner over its own connections; it ends with the scope, or when a test ends it. */
const running = (url: string, options: RunnerOptions) =>
  Effect.gen(function*() {
    const scope = yield* Scope.make()
    yield* Effect.addFinalizer(() => Scope.close(scope, Exit.void))
    const layer = FleetRunner.layer({ takeover, helpAfter: "2 seconds", ...options }).pipe(
      Layer.provideMerge(SqlStore.layer({ migrate: false })),
      Layer.provideMerge(database(url))
    )
    const context = yield* Scope.provide(Layer.build(layer), scope).pipe(Effect.provideService(LeastTakeover, 500))
    return { context, end: Scope.close(scope, Exit.void) }
  })

/** A server of its own with the tables, and what a test asks of it. */
const migrated = Effect.gen(function*() {
  const server = yield* cluster()
  const context = yield* Layer.build(database(server.url()))
  yield* Effect.provideContext(FleetRunner.migrate, context)
  return { server, url: server.url(), sql: SqlClient.SqlClient.pipe(Effect.provideContext(context)), context }
})

const until = <E, R>(what: string, holds: Effect.Effect<boolean, E, R>, limit: Duration.Input = "20 seconds") =>
  Effect.gen(function*() {
    const end = (yield* Clock.currentTimeMillis) + Duration.toMillis(limit)
    while (!(yield* holds)) {
      if ((yield* Clock.currentTimeMillis) > end) return yield* Effect.die(new Error(`in vain: ${what}`))
      yield* Effect.sleep("50 millis")
    }
  })

const assertEqual = Effect.forEach(companies, (company) =>
  Effect.gen(function*() {
    const rows = yield* readRows(company.id, { _tag: "After", id: -1, count: 100_000 })
    const source = yield* Stream.runCollect(TimePunches.list(company, { deleted: "include" }))
    assert.lengthOf(source, 250)
    assert.deepStrictEqual(
      rows.filter(({ isGone }) => !isGone).map(({ punch }) => Result.getOrThrow(punch)),
      source.toSorted((one, other) => one.id - other.id)
    )
  }), { discard: true })

const test = <E>(title: string, body: Effect.Effect<void, E, Scope.Scope | TimePunches | FakeService>) =>
  it.live(title, (context) => {
    needs(context, hasPrograms, noPostgres)
    return body.pipe(Effect.provide(service))
  })

describe("FleetRunner.layer", () => {
  test(
    "spreads the companies over two runners, and each table equals the source",
    Effect.gen(function*() {
      const { context, url } = yield* migrated
      yield* running(url, { name: "a" })
      yield* running(url, { name: "b" })
      yield* Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        yield* Effect.provide(Effect.flatMap(Fleet, (fleet) => fleet.add(companies)), Fleet.layer)
        const runners = sql<
          { readonly runner: string }
        >`SELECT DISTINCT runner FROM fleet_run WHERE outcome = 'Complete' AND ended_at > (extract(epoch from now()) * 1000)::bigint - 2500`
        yield* until("both runners work", Effect.map(runners, ({ length }) => length === 2))
        yield* (yield* FakeService).edit(punches.map(({ id }) => id), { notes: "corrected" })
        yield* Effect.sleep("5 seconds")
        yield* assertEqual
        const [engine] = yield* sql<{ readonly count: unknown }>`SELECT count(*) AS count FROM fleet_cluster_runners`
        assert.strictEqual(Number(engine?.count), 2, "the engine knows both")
        const list = yield* Effect.provide(Effect.flatMap(Fleet, (fleet) => fleet.list()), Fleet.layer)
        assert.deepStrictEqual(list.filter(({ lateSeconds }) => lateSeconds > 3), [])
      }).pipe(Effect.provideContext(context))
    })
  )

  test(
    "goes on with the companies of a runner that ended, within the time of help",
    Effect.gen(function*() {
      const { context, url } = yield* migrated
      const a = yield* running(url, { name: "a" })
      yield* running(url, { name: "b" })
      yield* Effect.gen(function*() {
        const fleet = yield* Fleet
        yield* fleet.add(companies)
        yield* Effect.sleep("4 seconds")
        const began = yield* Clock.currentTimeMillis
        yield* a.end
        assert.isBelow((yield* Clock.currentTimeMillis) - began, 3000)
        const sql = yield* SqlClient.SqlClient
        const [left] = yield* sql<
          { readonly count: unknown }
        >`SELECT count(*) AS count FROM fleet_company WHERE runner = 'a' AND heartbeat_at IS NOT NULL`
        assert.strictEqual(Number(left?.count), 0, "an ended runner holds nothing")
        yield* Effect.sleep("6 seconds")
        assert.deepStrictEqual((yield* fleet.list()).filter(({ lateSeconds }) => lateSeconds > 5), [])
      }).pipe(Effect.provide(Fleet.layer), Effect.provideContext(context))
    })
  )

  test(
    "outlives a restart of the database, and the loss of the engine's tables",
    Effect.gen(function*() {
      const { context, server, url } = yield* migrated
      yield* running(url, { name: "a" })
      yield* Effect.gen(function*() {
        const fleet = yield* Fleet
        const sql = yield* SqlClient.SqlClient
        yield* fleet.add(companies)
        yield* Effect.sleep("3 seconds")
        for (const signal of ["SIGINT", "SIGQUIT"] as const) {
          yield* Effect.promise(() => server.stop(signal))
          yield* Effect.sleep("1 second")
          yield* Effect.promise(() => server.start())
          yield* Effect.sleep("4 seconds")
        }
        yield* Effect.retry(sql`DROP TABLE fleet_cluster_locks, fleet_cluster_runners`, { times: 5 })
        yield* Effect.sleep("7 seconds")
        assert.deepStrictEqual((yield* fleet.list()).filter(({ lateSeconds }) => lateSeconds > 4), [])
        yield* assertEqual
      }).pipe(Effect.provide(Fleet.layer), Effect.provideContext(context))
    })
  )

  test(
    "refuses a second process of one name, and takes the name of one that ended",
    Effect.gen(function*() {
      const { url } = yield* migrated
      const first = yield* running(url, { name: "a" })
      const refused = yield* Effect.flip(running(url, { name: "a" }))
      assert.strictEqual(refused._tag === "FleetError" ? refused.reason : refused._tag, "AlreadyRunning")
      assert.include(refused.message, "name a")
      yield* first.end
      yield* running(url, { name: "a" })
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
      assert.include(yield* built("b", { takeover: "5 seconds" }), "takeover is 5000 milliseconds here and 3000")
      assert.include(yield* built("b", {}, { timezone: "UTC" }), "idle_in_transaction_session_timeout is 0")
      assert.include(
        yield* built("b", {}, { ...FleetRunner.sessionParameters(takeover), timezone: "Europe/Oslo" }),
        "timezone is Europe/Oslo"
      )
      assert.include(yield* built("b b", {}), "name must be")
      const sql = Effect.provideContext(SqlClient.SqlClient, context)
      yield* Effect.flatMap(sql, (sql) => sql`DELETE FROM fleet_cluster_runner_migrations`)
      assert.include(yield* built("b", {}), "the engine has schema 0")
      yield* Effect.flatMap(sql, (sql) => sql`DROP TABLE fleet_migrations`)
      assert.include(yield* built("b", {}), "the fleet has schema 0")
    })
  )

  test(
    "migrates an empty database once, whoever begins",
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
