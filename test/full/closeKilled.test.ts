/** Kills processes of the bundled `close`, `correct` and `void` at each step of their write, and runs two of them at once. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import * as CloseSums from "../../src/close/CloseSums.ts"
import { Close } from "../../src/close/index.ts"
import { CompanyId } from "../../src/Ids.ts"
import { FakeServer } from "../../src/testing/FakeServer.ts"
import { defaultCompany, FakeService } from "../../src/testing/index.ts"
import { started } from "../cli/child.ts"
import { temporaryFolder } from "../cli/support.ts"
import { needs } from "../support/needs.ts"
import { cluster, hasPrograms, noPostgres } from "../support/postgres.ts"
import { servicePunch } from "../support/wire.ts"
import { at, type Database, inFile, sync, until } from "./kills.ts"

const company = CompanyId.make(defaultCompany.id)

const punches = Array.from({ length: 20 }, (_, at) =>
  servicePunch({
    id: 1 + at,
    user_id: 501 + (at % 4),
    hourly_wage: 1500,
    tips: 0,
    breaks: [],
    approved: true,
    clocked_in: `2026-03-0${2 + Math.floor(at / 4)}T14:00:00Z`,
    clocked_out: `2026-03-0${2 + Math.floor(at / 4)}T22:00:00Z`
  }))

const inService = <A, E>(effect: Effect.Effect<A, E, FakeServer | FakeService | import("effect").Scope.Scope>) =>
  effect.pipe(Effect.scoped, Effect.provide(Layer.provideMerge(FakeServer.layer(), FakeService.layer({ punches }))))

const week = ["payroll", "close", "--week", "2026-03-02", "--zone", "America/New_York", "--weekly-threshold", "30h"]

const variables = ({ url }: Database) => ({
  PATH: process.env["PATH"] ?? "",
  TIME_PUNCHES_COMPANY_ID: `${defaultCompany.id}`,
  TIME_PUNCHES_DATABASE_URL: url
})

const run = (database: Database, args: ReadonlyArray<string>) =>
  Effect.scoped(Effect.flatMap(started(args, variables(database)), ({ ended }) => Effect.promise(() => ended)))

const ask = ({ client }: Database, ...texts: ReadonlyArray<string>) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => Effect.forEach(texts, (text) => sql.unsafe<{ readonly n: unknown }>(text).unprepared)
  ).pipe(
    Effect.map((results) => Number(results.at(-1)?.[0]?.n ?? 0)),
    Effect.provide(Layer.fresh(client)),
    Effect.orDie
  )

const closes = ({ client }: Database) => Effect.provide(Close.list(company), Layer.fresh(client))

const namesIn = (database: Database) =>
  Effect.map(closes(database), (all) => all.flatMap(({ revisions }) => revisions.map(({ id }) => id)))

/** Nothing is due, and the newest active revision has the sums of now. */
const assertPaid = Effect.fnUntraced(function*(database: Database) {
  assert.deepStrictEqual(yield* Effect.provide(Close.due(company), Layer.fresh(database.client)), [])
})

/** Rows of the tables of closes that belong to no revision, or revisions without their sums. */
const torn = (database: Database) =>
  Effect.map(
    closes(database),
    (all) => all.flatMap(({ revisions }) => revisions.filter(({ kind, rows }) => kind !== "void" && rows.length === 0))
  )

const tables = ["time_punches_close", "time_punches_close_state", "time_punches_close_row"]

/** A write that comes to the table waits for a lock that the test holds: the process is killed in that statement. */
const gate = (table: string) => [
  `CREATE OR REPLACE FUNCTION wait_at_gate() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN PERFORM pg_advisory_xact_lock(42); RETURN NULL; END $$`,
  `CREATE TRIGGER gate AFTER INSERT ON ${table} FOR EACH STATEMENT EXECUTE FUNCTION wait_at_gate()`
]

const waiting = (database: Database) =>
  ask(
    database,
    "SELECT count(*) AS n FROM pg_stat_activity WHERE application_name = 'time-punches' AND wait_event = 'advisory'"
  )

/** Kills a process when it waits in a statement on this table. */
const killAt = Effect.fnUntraced(function*(database: Database, table: string, args: ReadonlyArray<string>) {
  yield* ask(database, ...gate(table))
  const { signal, stderr } = yield* Effect.flatMap(
    SqlClient.SqlClient,
    (sql) =>
      sql.withTransaction(Effect.gen(function*() {
        yield* sql.unsafe("SELECT pg_advisory_xact_lock(42)")
        const { child, ended } = yield* started(args, variables(database))
        yield* until(Effect.map(waiting(database), (n) => n === 1), "50 millis")
        child.kill("SIGKILL")
        return yield* Effect.promise(() => ended)
      }))
  ).pipe(Effect.scoped, Effect.provide(Layer.fresh(database.client)))
  assert.strictEqual(signal, "SIGKILL", stderr)
  yield* until(Effect.map(waiting(database), (n) => n === 0), "50 millis")
  yield* ask(database, `DROP TRIGGER gate ON ${table}`)
})

describe("time-punches payroll close, correct and void, killed at a step of their write,", () => {
  it.live("leave nothing of it in PostgreSQL, and run again", (context) => {
    needs(context, hasPrograms, noPostgres)
    return inService(Effect.gen(function*() {
      const database = at((yield* cluster({ client_connection_check_interval: "50ms" })).url())
      const service = yield* FakeService
      assert.strictEqual((yield* sync(database, ["--history"])).code, 0)
      for (const table of tables) {
        yield* killAt(database, table, week)
        assert.deepStrictEqual(yield* namesIn(database), [], table)
      }
      assert.strictEqual((yield* run(database, week)).code, 0)
      yield* service.edit([3], { clocked_out: "2026-03-02T23:00:00Z" })
      assert.strictEqual((yield* sync(database)).code, 0)
      for (const table of tables.slice(1)) {
        yield* killAt(database, table, ["payroll", "correct"])
        assert.deepStrictEqual(yield* namesIn(database), ["1.1"], table)
      }
      assert.strictEqual((yield* run(database, ["payroll", "correct"])).code, 0)
      yield* killAt(database, "time_punches_close_state", ["payroll", "void", "1.2", "--note", "not sent"])
      assert.deepStrictEqual(yield* namesIn(database), ["1.1", "1.2"])
      yield* assertPaid(database)
      assert.strictEqual((yield* run(database, ["payroll", "void", "1.2", "--note", "not sent"])).code, 0)
      assert.strictEqual((yield* run(database, ["payroll", "correct"])).code, 0)
      assert.deepStrictEqual(yield* namesIn(database), ["1.1", "1.2", "1.3", "1.4"])
      yield* assertPaid(database)
      assert.strictEqual((yield* run(database, ["payroll", "verify"])).code, 0)
    }))
  })

  it.live(
    "in SQLite leave nothing of it, and each difference is due once",
    () =>
      inService(Effect.gen(function*() {
        const database = inFile(yield* temporaryFolder, "closes")
        const service = yield* FakeService
        assert.strictEqual((yield* sync(database, ["--history"])).code, 0)
        const moments = [...tables.map((table) => `^INSERT INTO\\s+"?${table}"?\\s`), "^COMMIT"]
        for (const args of [week, ["payroll", "correct"]]) {
          for (const [round, before] of moments.entries()) {
            const known = yield* namesIn(database)
            // A correction has no new row of the first table.
            if (known.length > 0 && round === 0) continue
            if (known.length > 0) {
              yield* service.edit([3], { clocked_out: `2026-03-02T23:${String(10 + round)}:00Z` })
              assert.strictEqual((yield* sync(database)).code, 0)
            }
            const killed = yield* Effect.scoped(
              Effect.flatMap(
                started(args, {
                  ...variables(database),
                  KILL_BEFORE: before,
                  NODE_OPTIONS: `--import=${new URL("./killBefore.ts", import.meta.url).href}`
                }),
                ({ ended }) => Effect.promise(() => ended)
              )
            )
            assert.strictEqual(killed.signal, "SIGKILL", `${before}: ${killed.stderr}`)
            assert.deepStrictEqual(yield* namesIn(database), known, before)
            assert.deepStrictEqual(yield* torn(database), [])
            if (known.length > 0) {
              assert.strictEqual((yield* run(database, args)).code, 0)
              yield* assertPaid(database)
            }
          }
          if ((yield* namesIn(database)).length === 0) assert.strictEqual((yield* run(database, args)).code, 0)
          yield* assertPaid(database)
        }
        // What was due with each revision adds up to the newest one, row by row.
        const [close] = yield* closes(database)
        const revisions = close?.revisions ?? []
        const sum = new Map<number, number>()
        for (const revision of revisions) {
          const previous = revisions.find(({ id }) => Option.contains(revision.previous, id)) ?? CloseSums.empty
          for (const row of CloseSums.difference(revision, previous).rows) {
            sum.set(row.userId, (sum.get(row.userId) ?? 0) + row.cost)
          }
        }
        assert.deepStrictEqual(
          [...sum],
          CloseSums.byPerson(revisions.at(-1) ?? CloseSums.empty).map(({ cost, userId }) => [userId, cost])
        )
      }))
  )
})

describe("two processes of time-punches payroll close", () => {
  it.live("at once record one close; the other says which, with exit code 2", (context) => {
    needs(context, hasPrograms, noPostgres)
    return inService(Effect.gen(function*() {
      const databases = [at((yield* cluster()).url()), inFile(yield* temporaryFolder, "closes")]
      for (const database of databases) {
        assert.strictEqual((yield* sync(database, ["--history"])).code, 0)
        const both = yield* Effect.all([run(database, week), run(database, week)], { concurrency: 2 })
        assert.deepStrictEqual(both.map(({ code }) => code).toSorted(), [0, 2])
        assert.match(both.find(({ code }) => code === 2)?.stderr ?? "", /close 1 has 2026-03-02 to /)
        const service = yield* FakeService
        yield* service.edit([3], { clocked_out: `2026-03-02T23:0${databases.indexOf(database)}:30Z` })
        assert.strictEqual((yield* sync(database)).code, 0)
        // The second one has nothing to correct, or finds that the first one wrote between its snapshot and its write.
        const corrected = yield* Effect.all([
          run(database, ["payroll", "correct"]),
          run(database, ["payroll", "correct"])
        ], {
          concurrency: 2
        })
        for (const { code, stderr } of corrected) assert.include([0, 8], code, stderr)
        assert.deepStrictEqual(yield* namesIn(database), ["1.1", "1.2"])
        yield* assertPaid(database)
      }
    }))
  })
})
