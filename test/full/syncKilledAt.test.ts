/** Ends, stops and outruns processes of the bundled `sync` at chosen places, where a random kill may not come. */
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Layer, Option, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { Credentials, TimePunches } from "../../src/index.ts"
import { NodeTransport } from "../../src/node/index.ts"
import { SqlStore } from "../../src/sql/index.ts"
import { Sync } from "../../src/sync/index.ts"
import { FakeServer } from "../../src/testing/FakeServer.ts"
import { defaultCompany, FakeService } from "../../src/testing/index.ts"
import { environmentOf, type Running, started } from "../cli/child.ts"
import { queries, temporaryFolder } from "../cli/support.ts"
import { needs } from "../support/needs.ts"
import { cluster, hasPostgres, hasPrograms, noPostgres } from "../support/postgres.ts"
import {
  assertSettled,
  at,
  type Database,
  type Disturbance,
  inFile,
  inPostgres,
  inService,
  killAfter,
  rowsOf,
  stageOf,
  statusOf,
  sync,
  until,
  whenAsked
} from "./kills.ts"
import { company, punches, served } from "./syncService.ts"

const sweepAll = ["--sweep", "all", "--allow-missing"]

const isIncrement = (query: Readonly<Record<string, string>>) => query["modified_since"] !== undefined

/** Kills a process while the service has a request of it that it has not answered. */
const killWhen = (asked: ReturnType<typeof whenAsked>): Disturbance => (running) =>
  Effect.andThen(asked, killAfter(0)(running))

const killPrinted = (text: string): Disturbance => ({ child, printed }) =>
  Effect.map(Effect.promise(() => printed(text)), () => child.kill("SIGKILL"))

const clearRequests = FakeService.use((service) => service.clearRequests)

/** Runs a process that is killed, and fails if it ended by itself. */
const killedRun = Effect.fnUntraced(function*(database: Database, args: ReadonlyArray<string>, disturb: Disturbance) {
  yield* clearRequests
  const { signal, stderr } = yield* sync(database, args, disturb)
  assert.strictEqual(signal, "SIGKILL", stderr)
})

/** From kill to kill through every stage of a copy. */
const throughAllStages = (database: Database, undisturbed: Database) =>
  Effect.gen(function*() {
    const service = yield* FakeService

    yield* killedRun(database, [], killWhen(whenAsked(1)))
    const first = yield* statusOf(database)
    assert.deepStrictEqual([first.checkpoint, first.rows], [Option.none(), 0])

    yield* killedRun(database, ["--every", "1h"], killPrinted("first load: "))
    assert.strictEqual(yield* stageOf(database), "at rest")
    const watermark = Option.getOrThrow(Option.flatMap((yield* statusOf(database)).checkpoint, (it) => it.watermark))
    yield* service.edit(punches.slice(0, 1500).map(({ id }) => id), { notes: "bulk" })
    yield* service.remove(punches.slice(-50).map(({ id }) => id))
    yield* killedRun(database, [], killWhen(whenAsked(4)))
    const since = new Set((yield* queries).map((query) => query["modified_since"]))
    const expected = DateTime.makeUnsafe(Math.floor(watermark.epochMilliseconds / 1000) * 1000 - 900_000)
    assert.deepStrictEqual(since, new Set([DateTime.formatIso(expected).replace(".000", "")]))
    assert.strictEqual(yield* stageOf(database), "increment")
    assert.strictEqual((yield* sync(database)).code, 0)

    yield* killedRun(database, sweepAll, killWhen(whenAsked(6)))
    assert.deepStrictEqual([yield* stageOf(database), (yield* statusOf(database)).missing], ["sweep", 0])
    yield* killedRun(database, sweepAll, killWhen(whenAsked(1, isIncrement)))
    assert.deepStrictEqual([yield* stageOf(database), (yield* statusOf(database)).missing], ["confirm", 0])
    yield* killedRun(database, sweepAll, killWhen(whenAsked(4, isIncrement)))
    assert.deepStrictEqual([yield* stageOf(database), (yield* statusOf(database)).missing], ["confirm", 0])

    assert.strictEqual((yield* sync(database, sweepAll)).code, 0)
    assert.deepStrictEqual([yield* stageOf(database), (yield* statusOf(database)).missing], ["at rest", 50])
    yield* assertSettled(database, undisturbed)
    assert.strictEqual((yield* statusOf(database)).missing, 50)
  })

/** The lock of a trigger, which a test holds: a commit that comes to the row waits in the middle of its transaction. */
const gate = (id: number) => `
  CREATE OR REPLACE FUNCTION wait_at_gate() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN PERFORM pg_advisory_xact_lock(42); RETURN NEW; END $$;
  CREATE OR REPLACE TRIGGER gate BEFORE INSERT ON time_punches
    FOR EACH ROW WHEN (NEW.id = ${id}) EXECUTE FUNCTION wait_at_gate()`

const statementsOf = (text: string) => text.split(/;\s*\n\s*(?=CREATE)/)

const ask = ({ client }: Database, text: string) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => Effect.forEach(statementsOf(text), (each) => sql.unsafe<{ readonly n: unknown }>(each).unprepared)
  ).pipe(
    Effect.map((results) => Number(results.at(-1)?.[0]?.n ?? 0)),
    // Another session: one transaction sees the same activity of the server all the time.
    Effect.provide(Layer.fresh(client)),
    Effect.orDie
  )

/** Waits until so many connections of the command wait for a lock of this kind. */
const untilWaiting = (database: Database, event: "advisory" | "transactionid", count: number) =>
  until(
    Effect.map(
      ask(
        database,
        `SELECT count(*) AS n FROM pg_stat_activity WHERE application_name = 'time-punches' AND wait_event = '${event}'`
      ),
      (n) => n === count
    ),
    "50 millis"
  )

/** Holds the gate closed while an effect runs. */
const withGate = <A, E, R>(database: Database, effect: Effect.Effect<A, E, R>) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql.withTransaction(Effect.andThen(sql.unsafe("SELECT pg_advisory_xact_lock(42)"), effect))
  ).pipe(
    Effect.provide(database.client)
  )

const rowOfPage = (page: number, row: number) => punches[(page - 1) * 200 + row]?.id ?? 0

describe("time-punches sync, killed at a chosen place,", () => {
  it.live(
    "[Y1] [Y5] [Y50] continues from each stage in SQLite, and marks what is missing at the end only",
    () =>
      inService(Effect.gen(function*() {
        const folder = yield* temporaryFolder
        yield* throughAllStages(inFile(folder, "killed"), inFile(folder, "undisturbed"))
      }))
  )

  it.live(
    "[Y1] [Y5] [Y50] continues from each stage in PostgreSQL, and marks what is missing at the end only",
    (context) => {
      needs(context, hasPostgres, noPostgres)
      return inService(Effect.gen(function*() {
        yield* throughAllStages(yield* inPostgres, yield* inPostgres)
      }))
    }
  )

  it.live("[Y3] [Y4] leaves nothing of the transaction that it is killed in, also of the last one", (context) => {
    needs(context, hasPrograms, noPostgres)
    return inService(Effect.gen(function*() {
      // Without it a server notices that a client is gone when it writes to it.
      const database = at((yield* cluster({ client_connection_check_interval: "50ms" })).url())
      yield* killedRun(database, [], killWhen(whenAsked(1)))
      for (const [page, row] of [[1, 100], [3, 199], [15, 150]] as const) {
        yield* ask(database, gate(rowOfPage(page, row)))
        const killAtGate: Disturbance = (running) =>
          Effect.andThen(untilWaiting(database, "advisory", 1), killAfter(0)(running))
        yield* withGate(database, killedRun(database, [], killAtGate))
        yield* untilWaiting(database, "advisory", 0)
        const { checkpoint, rows } = yield* statusOf(database)
        const running = Option.flatMap(checkpoint, ({ running }) => running)

        assert.strictEqual(rows, (page - 1) * 200)
        assert.strictEqual(Option.getOrUndefined(Option.map(running, ({ pages }) => pages)), page - 1 || undefined)
        assert.deepStrictEqual(Option.flatMap(checkpoint, ({ watermark }) => watermark), Option.none())
      }
      const folder = yield* temporaryFolder
      yield* assertSettled(database, inFile(folder, "undisturbed"))
    }))
  })
})

describe("two processes of time-punches sync", () => {
  /** Starts a process, to be ended by itself or with the scope. */
  const runInto = (database: Database) =>
    Effect.gen(function*() {
      const { url } = yield* FakeServer
      return yield* started(["sync"], { ...environmentOf(url), TIME_PUNCHES_DATABASE_URL: database.url })
    })

  const ended = ({ ended }: Running) => Effect.promise(() => ended)

  it.live("[Y55] are ordered by their transactions: the later one ends with 8, and nothing of it stays", (context) => {
    needs(context, hasPostgres, noPostgres)
    return inService(Effect.gen(function*() {
      const database = yield* inPostgres
      yield* killedRun(database, [], killWhen(whenAsked(1)))
      yield* ask(database, gate(rowOfPage(1, 100)))
      const [first, second] = yield* withGate(
        database,
        Effect.gen(function*() {
          const first = yield* runInto(database)
          yield* untilWaiting(database, "advisory", 1)
          const second = yield* runInto(database)
          // It waits for the checkpoint that the first one has written and not yet committed.
          yield* untilWaiting(database, "transactionid", 1)
          return [first, second] as const
        })
      )
      const superseded = yield* ended(second)
      const complete = yield* ended(first)

      assert.strictEqual(superseded.code, 8, superseded.stderr)
      assert.include(superseded.stderr, "Superseded")
      assert.strictEqual(complete.code, 0, complete.stderr)
      const { length } = yield* rowsOf(database)
      assert.strictEqual(length, 3000)
      const folder = yield* temporaryFolder
      yield* assertSettled(database, inFile(folder, "undisturbed"))
    }))
  })

  it.live(
    "[Y57] [Y77] end the one that slept while another claimed the copy, before that has read a page",
    () =>
      Effect.gen(function*() {
        const folder = yield* temporaryFolder
        const database = inFile(folder, "claimed")
        const sleeper = yield* runInto(database)
        yield* whenAsked(4)
        // The page before is stored by now, and the answer to this request is far away.
        yield* Effect.sleep("150 millis")
        sleeper.child.kill("SIGSTOP")
        const { url } = yield* FakeServer
        const client = TimePunches.layerWith({
          baseUrl: url,
          credentials: Credentials.layerAccessToken(Redacted.make(defaultCompany.accessToken))
        }).pipe(Layer.provide(NodeTransport.layer()))
        const before = yield* statusOf(database)
        const claimed = yield* Sync.run(company, { claim: true, onCommit: () => Effect.succeed(false) }).pipe(
          Effect.provide(Layer.merge(client, SqlStore.layer().pipe(Layer.provide(database.client))))
        )
        sleeper.child.kill("SIGCONT")
        const { code, stderr } = yield* ended(sleeper)

        assert.include(claimed, { complete: false, resumed: true, pages: 0 })
        assert.strictEqual(code, 8, stderr)
        assert.include(stderr, "Superseded")
        const after = yield* statusOf(database)
        assert.deepStrictEqual([after.rows, after.rows > 0], [before.rows, true])
        yield* assertSettled(database, inFile(folder, "undisturbed"))
      }).pipe(Effect.scoped, Effect.provide(served(1000, "400 millis")))
  )
})
