/** The tables of a copy: names, migrations, dialects, and what the store says of a company. */
import { PgClient } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import { Context, DateTime, Effect, Layer, Option, Redacted, Schema, Scope, Stream } from "effect"
import { Reactivity } from "effect/reactivity"
import { Migrator, SqlClient, Statement } from "effect/sql"
import { TestClock } from "effect/testing"
import { Close } from "../../src/close/index.ts"
import { CompanyId } from "../../src/Ids.ts"
import { dialects } from "../../src/sql/connection.ts"
import { CopyStatus, PunchCopy, SqlStore, type SqlStoreOptions } from "../../src/sql/index.ts"
import { type PassKind, SyncStore } from "../../src/sync/index.ts"
import { punch } from "../support/arbitraryPunch.ts"
import { databases, itWithDatabase } from "../support/databases.ts"
import { needs } from "../support/needs.ts"
import { clientOf, emptyDatabase, hasPostgres, noPostgres } from "../support/postgres.ts"
import { batchOf, checkpointAt, company, rows } from "../support/storeBatches.ts"
import { opened, openSql } from "../support/stores.ts"

const kinds = databases()
const [{ client: sqlite }] = kinds

/** Number and name of each migration. */
const ids = dialects.sqlite.migrations.steps.map(({ id, name }): readonly [number, string] => [id, name])
const newest = Math.max(...ids.map(([id]) => id))

/** Builds the layer of a store, and closes it again. */
const build = (options?: SqlStoreOptions) => Effect.scoped(Layer.build(SqlStore.layer(options)))

describe.each(kinds)("SqlStore in $name", (database) => {
  const itWithClient = itWithDatabase(database, Layer.build)
  const test = (title: string, body: Effect.Effect<void, unknown, SqlClient.SqlClient | Scope.Scope>) =>
    itWithClient(title, (context) => Effect.provideContext(body, context))

  const openedStore = Effect.flatMap(
    Layer.build(SqlStore.layer()),
    (context) => Effect.provideContext(opened, context)
  )

  test(
    "creates its tables once, however many layers begin at once",
    Effect.gen(function*() {
      yield* Effect.all(Array.from({ length: 5 }, () => build()), { concurrency: "unbounded" })
      const sql = yield* SqlClient.SqlClient

      const found = yield* sql.unsafe<{ migration_id: unknown; name: unknown }>(
        `SELECT migration_id, name FROM time_punches_migrations`
      )
      assert.deepStrictEqual<unknown>(found.map(({ migration_id, name }) => [Number(migration_id), name]), ids)
    })
  )

  test(
    "writes nothing to the tables of a later release, and reads them",
    Effect.gen(function*() {
      yield* build()
      const sql = yield* SqlClient.SqlClient
      yield* sql.unsafe(`INSERT INTO time_punches_migrations (migration_id, name) VALUES (${newest + 1}, 'later')`)

      for (const migrate of [true, false]) {
        const error = yield* Effect.flip(build({ migrate }))
        assert.strictEqual(error._tag, "MigrationError")
        assert.include(error.message, `"time_punches" has schema ${newest + 1}`)
        assert.include(error.message, `needs ${newest}: use the release that made it`)
      }
      assert.deepStrictEqual((yield* PunchCopy.status(company)).checkpoint, Option.none())
      assert.deepStrictEqual(yield* Stream.runCollect(PunchCopy.list(company, {})), [])
      // What it says of closes may mean something else.
      const refused = yield* Effect.flip(Close.list(company))
      assert.include(refused.message, "use the release that made it")
    })
  )

  test(
    "refuses an older schema by name where it does not migrate",
    Effect.gen(function*() {
      const error = yield* Effect.flip(build({ migrate: false }))
      assert.strictEqual(error._tag, "MigrationError")
      assert.include(error.message, `"time_punches" has schema 0`)

      yield* build()
      const sql = yield* SqlClient.SqlClient
      yield* sql.unsafe(`DELETE FROM time_punches_migrations`)
      assert.include((yield* Effect.flip(build({ migrate: false }))).message, `needs ${newest}`)
    })
  )

  test(
    "leaves a table alone that another program has under the name of a table of the copy, and names it",
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const taken = {
        time_punches: "TABLE time_punches (mine integer)",
        time_punches_sync: "TABLE time_punches_sync (mine integer)",
        time_punches_close_file: "TABLE time_punches_close_file (mine integer)",
        time_punches_current: "VIEW time_punches_current AS SELECT 1 AS mine",
        time_punches_breaks: "TABLE time_punches_breaks (mine integer)"
      }
      for (const [name, made] of Object.entries(taken)) {
        yield* sql.unsafe(`CREATE ${made}`)

        const error = yield* Effect.flip(build())

        assert.strictEqual(error._tag, "MigrationError")
        assert.include(
          error.message,
          `${name} is there already, and not of "time_punches": use another file or database`
        )
        // All or nothing: no other table is there.
        yield* sql.unsafe(`SELECT mine FROM ${name}`)
        yield* Effect.flip(sql.unsafe("SELECT * FROM time_punches_migrations"))
        yield* sql.unsafe(`DROP ${made.slice(0, made.indexOf(" "))} ${name}`)
      }
      yield* build()
    })
  )

  test(
    "can be migrated by a Migrator, and by the statements alone",
    Effect.gen(function*() {
      const ran = yield* Migrator.make({})(SqlStore.migrations)
      assert.deepStrictEqual<unknown>(ran, ids)
      assert.deepStrictEqual(yield* Migrator.make({})(SqlStore.migrations), [])
      yield* build({ migrate: false })
    })
  )

  test(
    "can be migrated by the statements alone",
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      for (const text of SqlStore.migrations.ddl(database.dialect)) yield* sql.unsafe(text)
      yield* build({ migrate: false })
    })
  )

  test(
    "refuses a number of pages that is none",
    Effect.gen(function*() {
      for (const pagesPerTransaction of [0, -1, 1.5, NaN, Infinity]) {
        const error = yield* Effect.flip(build({ pagesPerTransaction }))
        assert.strictEqual(error._tag, "InvalidRequest")
        assert.strictEqual(error.message, "invalid pagesPerTransaction: must be a whole number from 1 on")
      }
      const context = yield* Layer.build(SqlStore.layer({ pagesPerTransaction: 5 }))
      assert.strictEqual((yield* Effect.provideContext(SyncStore, context)).pagesPerCommit, 5)
    })
  )

  test(
    "refuses an option that does not exist, and names the one that was meant",
    Effect.gen(function*() {
      const untyped: SqlStoreOptions = JSON.parse(`{"histroy":true}`)
      const error = yield* Effect.flip(build(untyped))

      assert.strictEqual(error._tag, "InvalidRequest")
      assert.strictEqual(error.message, "invalid histroy: is not an option; did you mean history?")
    })
  )

  test(
    "says how far a copy is",
    Effect.gen(function*() {
      const { store } = yield* openedStore
      assert.deepStrictEqual(yield* PunchCopy.status(company), {
        checkpoint: Option.none(),
        rows: 0,
        deleted: 0,
        missing: 0,
        lastError: Option.none(),
        history: Option.none(),
        unknown: []
      })
      const punches = rows(6).map(({ id }) => punch({ id, deleted: id === 2 }))
      yield* store.commit(batchOf(1, { kind: "first", punches }), Option.none())
      const missing = Option.some({ window: {}, before: 2, allowed: false })
      yield* store.commit(batchOf(2, { kind: "sweep", punches: punches.slice(2) }), Option.some(checkpointAt(1)))
      yield* store.commit(batchOf(3, { kind: "confirm", missing }), Option.some(checkpointAt(2)))

      assert.deepStrictEqual(yield* PunchCopy.status(company), {
        checkpoint: Option.some(checkpointAt(3)),
        rows: 6,
        deleted: 1,
        missing: 2,
        lastError: Option.none(),
        history: Option.none(),
        unknown: []
      })
    })
  )

  test(
    "keeps the fields that are not known: a first load replaces them with its first batch, every other one adds",
    Effect.gen(function*() {
      const { store } = yield* openedStore
      const unknown = Effect.map(PunchCopy.status(company), ({ unknown }) => unknown)
      const commit = (pass: number, kind: PassKind, found?: ReadonlyArray<string>) =>
        store.commit(
          { ...batchOf(pass, { kind }), unknown: Option.fromUndefinedOr(found) },
          pass === 1 ? Option.none() : Option.some(checkpointAt(pass - 1))
        )
      const many = Array.from({ length: 20 }, (_, at) => `data[].field_${at}`)

      yield* commit(1, "first", ["data[].overtime"])
      assert.deepStrictEqual(yield* unknown, ["data[].overtime"])
      // A later page of the first load was not looked at.
      yield* commit(2, "first")
      yield* commit(3, "increment", [])
      assert.deepStrictEqual(yield* unknown, ["data[].overtime"])
      yield* commit(4, "sweep", ["meta.total", "data[].overtime"])
      assert.deepStrictEqual(yield* unknown, ["data[].overtime", "meta.total"])
      yield* commit(5, "confirm", many)
      assert.deepStrictEqual(yield* unknown, ["data[].overtime", "meta.total", ...many.slice(0, 18)])
      yield* commit(6, "first", [])
      assert.deepStrictEqual(yield* unknown, [])
      // The second of two listings continues the attempt of the first.
      yield* store.commit(
        { ...batchOf(7, { kind: "first" }), pass: 6, unknown: Option.some(["data[].late"]) },
        Option.some(checkpointAt(6))
      )
      assert.deepStrictEqual(yield* unknown, ["data[].late"])
      // Kept by a release that did not know the notes of a punch; and a text that was edited by hand.
      for (
        const [text, shown] of [[`["data[].notes","data[].shift_name"]`, ["data[].shift_name"]], ["{", []]] as const
      ) {
        const sql = yield* SqlClient.SqlClient
        yield* sql`UPDATE time_punches_sync SET unknown = ${text}`
        assert.deepStrictEqual(yield* unknown, shown)
      }
    })
  )

  test(
    "keeps the last error until a pass is complete, also before the first commit",
    Effect.gen(function*() {
      const { store } = yield* openedStore
      const lastError = Effect.map(PunchCopy.status(company), ({ lastError }) => lastError)
      yield* PunchCopy.recordError(company, { _tag: "Forbidden", message: "no" })
      yield* PunchCopy.recordError(company, { _tag: "RateLimited", message: `\0\uD800${"x".repeat(5000)}` })
      const noted = yield* lastError
      assert.deepStrictEqual(Option.map(noted, ({ tag }) => tag), Option.some("RateLimited"))
      assert.strictEqual(Option.getOrThrow(noted).text, `\uFFFD\uFFFD${"x".repeat(1998)}`)
      assert.deepStrictEqual(yield* store.load(company), Option.none())

      yield* store.commit(batchOf(1), Option.none())
      assert.isTrue(Option.isSome(yield* lastError))

      const completed = { ...checkpointAt(2), completedAt: Option.some(DateTime.makeUnsafe(5)) }
      yield* store.commit(batchOf(2, { checkpoint: completed }), Option.some(checkpointAt(1)))
      assert.isTrue(Option.isNone(yield* lastError))
    })
  )

  test(
    "erases one company, and a sync of it does not continue",
    Effect.gen(function*() {
      const other = CompanyId.make(3)
      const { rows: found, store } = yield* openedStore
      const ofOther = { ...batchOf(1), companyId: other, checkpoint: { ...checkpointAt(1), companyId: other } }
      yield* store.commit(batchOf(1, { punches: rows(3) }), Option.none())
      yield* store.commit(
        { ...ofOther, punches: rows(2).map(({ id }) => punch({ id, companyId: other })) },
        Option.none()
      )
      yield* PunchCopy.recordError(company, { _tag: "Forbidden", message: "no" })

      yield* PunchCopy.purge(company)

      const { lastError, rows: left } = yield* PunchCopy.status(company)
      assert.deepStrictEqual([lastError, left], [Option.none(), 0])
      assert.lengthOf(yield* found(other), 2)
      const late = store.commit(batchOf(2, { punches: rows(1) }), Option.some(checkpointAt(1)))
      assert.strictEqual((yield* Effect.flip(late)).reason._tag, "Superseded")
    })
  )

  test(
    "ends a first load that has stored a page or a claim, and not one that has stored neither",
    Effect.gen(function*() {
      const { store } = yield* openedStore
      const purge = PunchCopy.purge(company)
      const left = Effect.map(PunchCopy.status(company), ({ checkpoint, rows }) => [
        Option.isSome(checkpoint),
        rows
      ])
      const page = { kind: "first", punches: rows(3) } as const
      for (const stored of [page, { kind: "first", punches: [] } as const]) {
        yield* store.commit(batchOf(1, stored), Option.none())
        yield* purge
        const next = yield* Effect.flip(store.commit(batchOf(2, page), Option.some(checkpointAt(1))))
        assert.strictEqual(next.reason._tag, "Superseded")
        assert.deepStrictEqual(yield* left, [false, 0])
      }
      // Its claim, or its first page, comes after the erasure: nothing says that it began before.
      yield* purge
      yield* store.commit(batchOf(1, page), Option.none())
      assert.deepStrictEqual(yield* left, [true, 3])
    })
  )

  test(
    "names the tables that are missing",
    Effect.gen(function*() {
      const calls = [
        PunchCopy.status(company),
        PunchCopy.purge(company),
        PunchCopy.recordError(company, { _tag: "Forbidden", message: "no" })
      ]
      for (const call of calls) {
        const error = yield* Effect.flip(call)
        assert.strictEqual(error.reason._tag, "Store")
        assert.include(error.message, `"time_punches" has schema 0`)
      }
    })
  )
})

describe("SqlStore", () => {
  it.live("keeps a copy in the schema that a session searches first", (context) => {
    needs(context, hasPostgres, noPostgres)
    return Effect.scoped(Effect.gen(function*() {
      const url = yield* emptyDatabase
      const sql = yield* Effect.map(Layer.build(clientOf(url)), Context.get(SqlClient.SqlClient))
      yield* sql.unsafe(`CREATE SCHEMA payroll`)
      const store = yield* openSql(clientOf(url, "tests", "payroll"), { history: true })
      yield* store.store.commit(batchOf(1, { punches: rows(2) }), Option.none())
      const changed = rows(2).map((each) => punch({ ...each, notes: "changed" }))
      yield* store.store.commit(batchOf(2, { punches: changed }), Option.some(checkpointAt(1)))

      assert.lengthOf(yield* store.rows(company), 2)
      assert.lengthOf(yield* sql.unsafe(`SELECT * FROM payroll.time_punches_history`), 2)
      assert.lengthOf(yield* sql.unsafe(`SELECT * FROM payroll.time_punches_current`), 2)
      assert.lengthOf(
        yield* sql.unsafe(
          `SELECT 1 FROM pg_indexes WHERE schemaname = 'payroll' AND indexname = 'time_punches_clocked_in'`
        ),
        1
      )
      const missing = yield* Effect.flip(Effect.provide(build(), clientOf(url, "tests", "nowhere")))
      assert.strictEqual(missing._tag, "MigrationError")
    }))
  })

  it.live("does not mind a client that renames columns", (context) => {
    needs(context, hasPostgres, noPostgres)
    return Effect.scoped(Effect.gen(function*() {
      const url = Redacted.make(yield* emptyDatabase)
      const shouting = PgClient.layer({
        url,
        transformResultNames: (name) => name.toUpperCase(),
        transformQueryNames: (name) => `x${name}`
      })
      const { rows: found, store } = yield* openSql(shouting)
      yield* store.commit(batchOf(1, { punches: rows(2) }), Option.none())

      assert.deepStrictEqual((yield* found(company)).map(({ punch }) => punch), rows(2))
      assert.strictEqual((yield* Effect.provide(PunchCopy.status(company), shouting)).rows, 2)
    }))
  })

  it.effect.each(["mysql", "mssql", "clickhouse"] as const)("refuses %s by name", (dialect) =>
    Effect.gen(function*() {
      const sqlite = yield* SqlClient.SqlClient
      const client = yield* SqlClient.make({
        acquirer: sqlite.reserve,
        compiler: Statement.makeCompiler({
          dialect,
          placeholder: () => "?",
          onIdentifier: (name) => name,
          onRecordUpdate: () => ["", []],
          onCustom: () => ["", []]
        }),
        driver: dialect,
        spanAttributes: []
      })

      const error = yield* Effect.flip(Effect.provideService(build(), SqlClient.SqlClient, client))

      const names = { mysql: "MySQL", mssql: "SQL Server", clickhouse: "ClickHouse" }
      assert.strictEqual(error._tag, "MigrationError")
      assert.include(error.message, `the database is ${names[dialect]}`)
    }).pipe(Effect.scoped, Effect.provide([sqlite, Reactivity.layer])))

  it.effect("says how far a copy is in a form that can be sent as JSON", () =>
    Effect.gen(function*() {
      const { store } = yield* openSql(Layer.succeed(SqlClient.SqlClient, yield* SqlClient.SqlClient), {
        history: true
      })
      yield* store.commit(batchOf(1, { punches: rows(2) }), Option.none())
      yield* PunchCopy.recordError(company, { _tag: "Forbidden", message: "no" })
      const status = yield* PunchCopy.status(company)
      const sent = JSON.stringify(Schema.encodeSync(CopyStatus)(status))

      assert.deepStrictEqual(Schema.decodeUnknownSync(CopyStatus)(JSON.parse(sent)), status)
    }).pipe(Effect.scoped, Effect.provide(sqlite)))

  it.effect("notes the local time of an error", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(1_700_000_000_123)
      yield* Layer.build(SqlStore.layer())
      yield* PunchCopy.recordError(company, { _tag: "Forbidden", message: "no" })

      const { lastError } = yield* PunchCopy.status(company)
      assert.deepStrictEqual(Option.getOrThrow(lastError).at, DateTime.makeUnsafe(1_700_000_000_123))
    }).pipe(Effect.scoped, Effect.provide(sqlite)))
})
