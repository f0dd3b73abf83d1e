/** The tables of a copy: names, migrations, dialects, and what the store says of a company. */
import { PgClient } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Layer, Option, Redacted, Result, Schema, Scope, Stream } from "effect"
import { Reactivity } from "effect/reactivity"
import { Migrator, SqlClient, Statement } from "effect/sql"
import { TestClock } from "effect/testing"
import { Close } from "../../src/close/index.ts"
import { CompanyId } from "../../src/Ids.ts"
import { dialectIn } from "../../src/sql/connection.ts"
import { CopyStatus, SqlStore, type SqlStoreOptions } from "../../src/sql/index.ts"
import { type PassKind, SyncStore } from "../../src/sync/index.ts"
import { punch } from "../support/arbitraryPunch.ts"
import { databases, itWithTable } from "../support/databases.ts"
import { needs } from "../support/needs.ts"
import { emptyDatabase, hasPostgres, noPostgres } from "../support/postgres.ts"
import { batchOf, checkpointAt, company, rows } from "../support/storeBatches.ts"
import { opened, openSql } from "../support/stores.ts"

const kinds = databases()
const [{ client: sqlite }, { client: postgres }] = kinds

/** Number and name of each migration. */
const ids = Result.getOrThrow(dialectIn("sqlite", "any")).migrations.steps.map((
  { id, name }
): readonly [number, string] => [id, name])
const newest = Math.max(...ids.map(([id]) => id))

/** Builds the layer of a store, and closes it again. */
const build = (options?: SqlStoreOptions) => Effect.scoped(Layer.build(SqlStore.layer(options)))

describe.each(kinds)("SqlStore in $name", (database) => {
  const { client, dialect } = database
  const itWithClient = itWithTable(
    database,
    "store",
    (table) => Effect.map(Layer.build(client), (context) => ({ table, context }))
  )
  const test = (
    title: string,
    body: (table: string) => Effect.Effect<void, unknown, SqlClient.SqlClient | Scope.Scope>
  ) => itWithClient(title, ({ context, table }) => Effect.provideContext(body(table), context))

  const storeIn = (table: string, options?: SqlStoreOptions) =>
    Effect.flatMap(
      Layer.build(SqlStore.layer({ table, ...options })),
      (context) => Effect.provideContext(opened(table), context)
    )

  test("creates its tables once, however many layers begin at once", (table) =>
    Effect.gen(function*() {
      yield* Effect.all(Array.from({ length: 5 }, () => build({ table })), { concurrency: "unbounded" })
      const sql = yield* SqlClient.SqlClient

      const found = yield* sql.unsafe<{ migration_id: unknown; name: unknown }>(
        `SELECT migration_id, name FROM ${table}_migrations`
      )
      assert.deepStrictEqual<unknown>(found.map(({ migration_id, name }) => [Number(migration_id), name]), ids)
    }))

  test("writes nothing to the tables of a later release, and reads them", (table) =>
    Effect.gen(function*() {
      yield* build({ table })
      const sql = yield* SqlClient.SqlClient
      yield* sql.unsafe(`INSERT INTO ${table}_migrations (migration_id, name) VALUES (${newest + 1}, 'later')`)

      for (const migrate of [true, false]) {
        const error = yield* Effect.flip(build({ table, migrate }))
        assert.strictEqual(error._tag, "SyncError")
        assert.include(error.message, `"${table}" has schema ${newest + 1}`)
        assert.include(error.message, `needs ${newest}: use the release that made it`)
      }
      assert.deepStrictEqual((yield* SqlStore.status(company, { table })).checkpoint, Option.none())
      assert.deepStrictEqual(yield* Stream.runCollect(SqlStore.list(company, {}, { table })), [])
      // What it says of closes may mean something else.
      const refused = yield* Effect.flip(Close.list(company, { table }))
      assert.include(refused.message, "use the release that made it")
    }))

  test("refuses an older schema by name where it does not migrate", (table) =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(build({ table, migrate: false }))
      assert.strictEqual(error._tag, "SyncError")
      assert.include(error.message, `"${table}" has schema 0`)

      yield* build({ table })
      const sql = yield* SqlClient.SqlClient
      yield* sql.unsafe(`DELETE FROM ${table}_migrations`)
      assert.include((yield* Effect.flip(build({ table, migrate: false }))).message, `needs ${newest}`)
    }))

  test("refuses the tables of a time before the first publication, and changes nothing", (table) =>
    Effect.gen(function*() {
      yield* build({ table })
      const sql = yield* SqlClient.SqlClient
      yield* sql.unsafe(`UPDATE ${table}_migrations SET migration_id = 8`)
      const calls: ReadonlyArray<Effect.Effect<unknown, unknown, SqlClient.SqlClient>> = [
        build({ table }),
        build({ table, migrate: false }),
        Migrator.make({})(SqlStore.migrations(table)),
        SqlStore.status(company, { table }),
        SqlStore.purge(company, { table }),
        SqlStore.recordError(company, { _tag: "Error", message: "x" }, { table }),
        SqlStore.feedPosition(company, { table }),
        SqlStore.pruneHistory(company, { before: DateTime.makeUnsafe(0) }, { table }),
        Stream.runDrain(SqlStore.list(company, {}, { table })),
        Stream.runDrain(SqlStore.feed(company, { table })),
        Close.list(company, { table })
      ]
      for (const call of calls) {
        assert.include(
          String(yield* Effect.flip(call)),
          `"${table}" has schema 8, made before the first publication: sync into a new file or database`
        )
      }
      const found = yield* sql.unsafe<{ migration_id: unknown }>(`SELECT migration_id FROM ${table}_migrations`)
      assert.deepStrictEqual(found.map(({ migration_id }) => Number(migration_id)), [8])
    }))

  test("leaves a table alone that another program has under its name", (table) =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* sql.unsafe(`CREATE TABLE ${table}_sync (mine integer)`)

      const error = yield* Effect.flip(build({ table }))

      assert.strictEqual(error._tag, "MigrationError")
      assert.include(error.message, "10_tables")
      // All or nothing: the tables before it are not there either.
      assert.lengthOf(yield* sql.unsafe(`SELECT * FROM ${table}_sync`), 0)
      yield* Effect.flip(sql.unsafe(`SELECT * FROM ${table}`))
      yield* Effect.flip(sql.unsafe(`SELECT * FROM ${table}_migrations`))
    }))

  test("can be migrated by a Migrator, and by the statements alone", (table) =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const ran = yield* Migrator.make({})(SqlStore.migrations(table))
      assert.deepStrictEqual<unknown>(ran, ids)
      assert.deepStrictEqual(yield* Migrator.make({})(SqlStore.migrations(table)), [])
      yield* build({ table, migrate: false })

      const byHand = `${table}_by_hand`
      for (const text of Result.getOrThrow(SqlStore.migrations(byHand).ddl(dialect))) yield* sql.unsafe(text)
      yield* build({ table: byHand, migrate: false })
    }))

  test("takes a keyword as the name of its table", () =>
    Effect.gen(function*() {
      const { rows: found, store } = yield* storeIn("order")
      yield* store.commit(batchOf(1, { punches: rows(2) }), Option.none())

      assert.lengthOf(yield* found(company), 2)
    }))

  test("takes a name of 40 characters, and refuses others by name", () =>
    Effect.gen(function*() {
      yield* build({ table: "a".repeat(40) })
      const names = ["a".repeat(41), "", "Punches", "1a", "a-b", `a"b`, "a;b", "a.b.c", "a.", ".a", "é", "a b"]
      for (const table of [...names, ...(dialect === "sqlite" ? ["main.punches"] : [])]) {
        const error = yield* Effect.flip(build({ table }))
        assert.strictEqual(error._tag, "SyncError", table)
        assert.include(error.message, JSON.stringify(table))
        assert.isTrue(Result.isFailure(SqlStore.migrations(table).ddl(dialect)))
      }
      const byMigrator = Migrator.make({})(SqlStore.migrations("Punches"))
      assert.strictEqual((yield* Effect.flip(byMigrator))._tag, "MigrationError")
    }))

  test("refuses a number of pages that is none", (table) =>
    Effect.gen(function*() {
      for (const pagesPerTransaction of [0, -1, 1.5, NaN, Infinity]) {
        const error = yield* Effect.flip(build({ table, pagesPerTransaction }))
        assert.include(error.message, "pagesPerTransaction")
      }
      const context = yield* Layer.build(SqlStore.layer({ table, pagesPerTransaction: 5 }))
      assert.strictEqual((yield* Effect.provideContext(SyncStore, context)).pagesPerCommit, 5)
    }))

  test("says how far a copy is", (table) =>
    Effect.gen(function*() {
      const { store } = yield* storeIn(table)
      assert.deepStrictEqual(yield* SqlStore.status(company, { table }), {
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

      assert.deepStrictEqual(yield* SqlStore.status(company, { table }), {
        checkpoint: Option.some(checkpointAt(3)),
        rows: 6,
        deleted: 1,
        missing: 2,
        lastError: Option.none(),
        history: Option.none(),
        unknown: []
      })
    }))

  test("keeps the fields that are not known: a first load replaces them, every other pass adds", (table) =>
    Effect.gen(function*() {
      const { store } = yield* storeIn(table)
      const unknown = Effect.map(SqlStore.status(company, { table }), ({ unknown }) => unknown)
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
      // Kept by an older release, which does not know the notes of a punch; and a text that was edited by hand.
      for (
        const [text, shown] of [[`["data[].notes","data[].shift_name"]`, ["data[].shift_name"]], ["{", []]] as const
      ) {
        const sql = yield* SqlClient.SqlClient
        yield* sql`UPDATE ${sql(`${table}_sync`)} SET unknown = ${text}`
        assert.deepStrictEqual(yield* unknown, shown)
      }
    }))

  test("keeps the last error until a pass is complete, also before the first commit", (table) =>
    Effect.gen(function*() {
      const { store } = yield* storeIn(table)
      const lastError = Effect.map(SqlStore.status(company, { table }), ({ lastError }) => lastError)
      yield* SqlStore.recordError(company, { _tag: "Forbidden", message: "no" }, { table })
      yield* SqlStore.recordError(company, { _tag: "RateLimited", message: `\0\uD800${"x".repeat(5000)}` }, { table })
      const noted = yield* lastError
      assert.deepStrictEqual(Option.map(noted, ({ tag }) => tag), Option.some("RateLimited"))
      assert.strictEqual(Option.getOrThrow(noted).text, `\uFFFD\uFFFD${"x".repeat(1998)}`)
      assert.deepStrictEqual(yield* store.load(company), Option.none())

      yield* store.commit(batchOf(1), Option.none())
      assert.isTrue(Option.isSome(yield* lastError))

      const completed = { ...checkpointAt(2), completedAt: Option.some(DateTime.makeUnsafe(5)) }
      yield* store.commit(batchOf(2, { checkpoint: completed }), Option.some(checkpointAt(1)))
      assert.isTrue(Option.isNone(yield* lastError))
    }))

  test("erases one company, and a sync of it does not continue", (table) =>
    Effect.gen(function*() {
      const other = CompanyId.make(3)
      const { rows: found, store } = yield* storeIn(table)
      const ofOther = { ...batchOf(1), company: other, checkpoint: { ...checkpointAt(1), company: other } }
      yield* store.commit(batchOf(1, { punches: rows(3) }), Option.none())
      yield* store.commit(
        { ...ofOther, punches: rows(2).map(({ id }) => punch({ id, companyId: other })) },
        Option.none()
      )
      yield* SqlStore.recordError(company, { _tag: "Forbidden", message: "no" }, { table })

      yield* SqlStore.purge(company, { table })

      const { lastError, rows: left } = yield* SqlStore.status(company, { table })
      assert.deepStrictEqual([lastError, left], [Option.none(), 0])
      assert.lengthOf(yield* found(other), 2)
      const late = store.commit(batchOf(2, { punches: rows(1) }), Option.some(checkpointAt(1)))
      assert.strictEqual((yield* Effect.flip(late)).reason, "Superseded")
    }))

  test("ends a first load that has stored a page or a claim, and not one that has stored neither", (table) =>
    Effect.gen(function*() {
      const { store } = yield* storeIn(table)
      const purge = SqlStore.purge(company, { table })
      const left = Effect.map(SqlStore.status(company, { table }), ({ checkpoint, rows }) => [
        Option.isSome(checkpoint),
        rows
      ])
      const page = { kind: "first", punches: rows(3) } as const
      for (const stored of [page, { kind: "first", punches: [] } as const]) {
        yield* store.commit(batchOf(1, stored), Option.none())
        yield* purge
        const next = yield* Effect.flip(store.commit(batchOf(2, page), Option.some(checkpointAt(1))))
        assert.strictEqual(next.reason, "Superseded")
        assert.deepStrictEqual(yield* left, [false, 0])
      }
      // Its claim, or its first page, comes after the erasure: nothing says that it began before.
      yield* purge
      yield* store.commit(batchOf(1, page), Option.none())
      assert.deepStrictEqual(yield* left, [true, 3])
    }))

  test("names the tables that are missing", (table) =>
    Effect.gen(function*() {
      const calls = [
        SqlStore.status(company, { table }),
        SqlStore.purge(company, { table }),
        SqlStore.recordError(company, { _tag: "Forbidden", message: "no" }, { table })
      ]
      for (const call of calls) {
        const error = yield* Effect.flip(call)
        assert.strictEqual(error.reason, "Store")
        assert.include(error.message, `"${table}" has schema 0`)
      }
    }))
})

describe("SqlStore", () => {
  it.live("keeps a copy in a schema of PostgreSQL", (context) => {
    needs(context, hasPostgres, noPostgres)
    return Effect.scoped(Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* sql.unsafe(`CREATE SCHEMA payroll`)
      const table = "payroll.punches"
      const store = yield* openSql(postgres, { table, history: true })
      yield* store.store.commit(batchOf(1, { punches: rows(2) }), Option.none())
      const changed = rows(2).map((each) => punch({ ...each, notes: "changed" }))
      yield* store.store.commit(batchOf(2, { punches: changed }), Option.some(checkpointAt(1)))

      assert.lengthOf(yield* store.rows(company), 2)
      assert.lengthOf(yield* sql.unsafe(`SELECT * FROM payroll.punches_history`), 2)
      assert.lengthOf(yield* sql.unsafe(`SELECT * FROM payroll.punches_current`), 2)
      assert.lengthOf(
        yield* sql.unsafe(`SELECT 1 FROM pg_indexes WHERE schemaname = 'payroll' AND indexname = 'punches_clocked_in'`),
        1
      )
      assert.strictEqual((yield* SqlStore.status(company, { table })).rows, 2)
      const [missing] = [yield* Effect.flip(build({ table: "nowhere.punches" }))]
      assert.strictEqual(missing._tag, "MigrationError")
    })).pipe(Effect.provide(postgres))
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
      assert.strictEqual((yield* Effect.provide(SqlStore.status(company), shouting)).rows, 2)
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
      assert.strictEqual(error._tag, "SyncError")
      assert.include(error.message, `the database is ${names[dialect]}`)
    }).pipe(Effect.scoped, Effect.provide([sqlite, Reactivity.layer])))

  it.effect("says how far a copy is in a form that can be sent as JSON", () =>
    Effect.gen(function*() {
      const { store } = yield* openSql(Layer.succeed(SqlClient.SqlClient, yield* SqlClient.SqlClient), {
        history: true
      })
      yield* store.commit(batchOf(1, { punches: rows(2) }), Option.none())
      yield* SqlStore.recordError(company, { _tag: "Forbidden", message: "no" })
      const status = yield* SqlStore.status(company)
      const sent = JSON.stringify(Schema.encodeSync(CopyStatus)(status))

      assert.deepStrictEqual(Schema.decodeUnknownSync(CopyStatus)(JSON.parse(sent)), status)
    }).pipe(Effect.scoped, Effect.provide(sqlite)))

  it.effect("notes the local time of an error", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(1_700_000_000_123)
      yield* Layer.build(SqlStore.layer())
      yield* SqlStore.recordError(company, { _tag: "Forbidden", message: "no" })

      const { lastError } = yield* SqlStore.status(company)
      assert.deepStrictEqual(Option.getOrThrow(lastError).at, DateTime.makeUnsafe(1_700_000_000_123))
    }).pipe(Effect.scoped, Effect.provide(sqlite)))
})
