/** The `SqlClient` over `node:sqlite`: files, transactions, types and errors. */
import { assert, describe, it, vi } from "@effect/vitest"
import { Context, Effect, Layer, Option, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { execFileSync } from "node:child_process"
import nodeFs, * as Fs from "node:fs"
import { syncBuiltinESMExports } from "node:module"
import { dirname, join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { sqlite } from "../../src/internal/sql/dialect.ts"
import { isMoved } from "../../src/internal/sql/failure.ts"
import { inSnapshot } from "../../src/internal/sql/transaction.ts"
import { PunchCopy, SqlStore } from "../../src/sql/index.ts"
import { NodeSqlite } from "../../src/sql/node/index.ts"
import { temporaryFolder } from "../cli/support.ts"
import { resultOf } from "../support/child.ts"
import { needs } from "../support/needs.ts"
import { batchOf, company, row } from "../support/storeBatches.ts"
import { openSql } from "../support/stores.ts"

/** A test over a client in memory. */
const test = (title: string, body: (sql: SqlClient.SqlClient) => Effect.Effect<void, unknown>) =>
  it.effect(
    title,
    () => Effect.flatMap(SqlClient.SqlClient, body).pipe(Effect.provide(NodeSqlite.layer({ filename: ":memory:" })))
  )

describe("NodeSqlite", () => {
  it.effect("keeps what it stored, after the layer has ended", () =>
    Effect.gen(function*() {
      const filename = join(yield* temporaryFolder, "punches.db")
      const client = NodeSqlite.layer({ filename })
      yield* Effect.scoped(
        Effect.flatMap(openSql(client), ({ store }) => store.commit(batchOf(1, { punches: [row(1)] }), Option.none()))
      )

      const reader = NodeSqlite.layer({ filename, readonly: true })
      assert.strictEqual((yield* Effect.provide(PunchCopy.status(company), reader)).rows, 1)
      const written = Effect.flatMap(SqlClient.SqlClient, (sql) => sql`DELETE FROM time_punches`)
      assert.include((yield* Effect.flip(Effect.provide(written, reader))).message, "readonly")
    }).pipe(Effect.scoped))

  it.effect("fails typed if the file cannot be opened, or is not a database", () =>
    Effect.gen(function*() {
      const folder = yield* temporaryFolder
      Fs.writeFileSync(
        join(folder, "text.db"),
        "not a database, but a text that is long enough to be read as one".repeat(20)
      )
      for (const filename of [join(folder, "missing", "punches.db"), folder, join(folder, "text.db")]) {
        const error = yield* Effect.flip(Effect.scoped(Layer.build(NodeSqlite.layer({ filename }))))
        assert.strictEqual(error._tag, "SqlError", filename)
        // Each names the file, also where SQLite does not.
        assert.include(error.message, filename)
      }
      const missing = NodeSqlite.layer({ filename: join(folder, "missing.db"), readonly: true })
      assert.strictEqual((yield* Effect.flip(Effect.scoped(Layer.build(missing)))).reason._tag, "ConnectionError")
    }).pipe(Effect.scoped))

  describe("[S12] a file that it creates", () => {
    const modeOf = (path: string) => (Fs.statSync(path).mode & 0o777).toString(8)
    const written = (filename: string) =>
      Effect.gen(function*() {
        const context = yield* Layer.build(NodeSqlite.layer({ filename }))
        yield* Effect.provideContext(Effect.flatMap(SqlClient.SqlClient, (sql) => sql`CREATE TABLE t (a)`), context)
        return ["", "-wal", "-shm"].map((suffix) => modeOf(filename + suffix))
      })

    it.live("is for its owner alone, and so are the files beside it", () =>
      Effect.gen(function*() {
        assert.notStrictEqual(process.umask() & 0o044, 0o044, "the umask of the test hides a mode that is too wide")
        const filename = join(yield* temporaryFolder, "punches.db")

        assert.deepStrictEqual(yield* written(filename), ["600", "600", "600"])
      }).pipe(Effect.scoped))

    it.live("is for its owner alone at the end of links too", () =>
      Effect.gen(function*() {
        const folder = yield* temporaryFolder
        Fs.mkdirSync(join(folder, "elsewhere"))
        Fs.symlinkSync("elsewhere/second", join(folder, "first"))
        Fs.symlinkSync("punches.db", join(folder, "elsewhere", "second"))
        yield* Effect.scoped(Layer.build(NodeSqlite.layer({ filename: join(folder, "first") })))

        assert.strictEqual(modeOf(join(folder, "elsewhere", "punches.db")), "600")
      }).pipe(Effect.scoped))

    it.live("keeps the mode that it has, if it was there", () =>
      Effect.gen(function*() {
        const filename = join(yield* temporaryFolder, "punches.db")
        Fs.writeFileSync(filename, "")
        Fs.chmodSync(filename, 0o640)

        assert.deepStrictEqual(yield* written(filename), ["640", "640", "640"])
      }).pipe(Effect.scoped))
  })

  it.live("[Y80] reads a file that its user may only read, and notices a writer", () =>
    Effect.gen(function*() {
      const folder = yield* temporaryFolder
      const found = yield* resultOf(new URL("reader.program.ts", import.meta.url), join(folder, "punches.db"))

      // The writer beside it has changed its log alone.
      assert.deepInclude(found, { read: { n: 1 }, beside: { n: 1 }, again: { n: 2 } })
      const { changed, hidden } = Object(found)
      assert.include(changed, "was written while it was read")
      // A log that cannot be read has changes: what the file has without them is not the database.
      assert.match(hidden, /unable to open database file|attempt/)
    }).pipe(Effect.scoped))

  it.live("[Y81] refuses at once what is not a regular file", () =>
    Effect.gen(function*() {
      const folder = yield* temporaryFolder
      const pipe = join(folder, "pipe")
      execFileSync("mkfifo", [pipe])
      for (const filename of [pipe, folder, "/dev/null"]) {
        for (const readonly of [false, true]) {
          const error = yield* Effect.flip(Effect.scoped(Layer.build(NodeSqlite.layer({ filename, readonly }))))
          assert.strictEqual(error.message, `${filename} is not a regular file`)
          assert.strictEqual(error.reason._tag, "ConnectionError")
        }
      }
    }).pipe(Effect.scoped))

  for (const readonly of [false, true]) {
    it.live(`fails at the next transaction once another file has the name, or none has${readonly ? ", as a reader" : ""}`, () =>
      Effect.gen(function*() {
        const folder = yield* temporaryFolder
        const filename = join(folder, "punches.db")
        const written = Effect.flatMap(SqlClient.SqlClient, (sql) => sql`CREATE TABLE t (a)`)
        const open = (options: { readonly readonly: boolean }) =>
          Layer.build(NodeSqlite.layer({ filename, ...options }))
        const failures: Array<string> = []
        for (const change of ["moved", "removed"]) {
          const writer = yield* open({ readonly: false })
          yield* Effect.provideContext(written, writer)
          const context = readonly ? yield* open({ readonly }) : writer
          const read = Effect.provideContext(
            Effect.flatMap(SqlClient.SqlClient, (sql) => sql.withTransaction(sql`SELECT * FROM t`)),
            context
          )
          assert.deepStrictEqual(yield* read, [])
          if (change === "moved") {
            Fs.writeFileSync(join(folder, "backup.db"), "")
            Fs.renameSync(join(folder, "backup.db"), filename)
          } else Fs.rmSync(filename)
          const error = yield* Effect.flip(read)
          failures.push(error.message)
          assert.isTrue(isMoved(error))
        }

        assert.deepStrictEqual(failures, [
          `another file is now named ${filename}, after this process had opened it`,
          `the file ${filename} was removed, after this process had opened it`
        ])
      }).pipe(Effect.scoped))
  }

  it.live("opens no reader of a copy once another file has the name, or none has", () =>
    Effect.gen(function*() {
      const folder = yield* temporaryFolder
      const filename = join(folder, "punches.db")
      const client = yield* Layer.build(NodeSqlite.layer({ filename }))
      const { store } = yield* openSql(Layer.succeedContext(client))
      yield* store.commit(batchOf(1, { punches: [row(1)] }), Option.none())
      const sql = Context.get(client, SqlClient.SqlClient)
      const database = { sql, dialect: sqlite }
      const read = Stream.runCollect(inSnapshot(database, Stream.fromEffect(sql`SELECT id FROM time_punches`)))
      assert.lengthOf(yield* read, 1)

      Fs.copyFileSync(filename, join(folder, "other.db"))
      // The writer is in a transaction, in which it does not check the name of its file.
      const error = yield* sql.withTransaction(Effect.gen(function*() {
        Fs.renameSync(join(folder, "other.db"), filename)
        return yield* Effect.promise(() => Effect.runPromise(Effect.flip(read)))
      }))
      assert.include(error.message, "another file is now named")
    }).pipe(Effect.scoped))

  it.live("lists from one connection where it has no other: in memory, and without a write-ahead log", () =>
    Effect.gen(function*() {
      const folder = yield* temporaryFolder
      const filename = join(folder, "punches.db")
      const listed = Stream.runCollect(PunchCopy.list(company))
      for (const name of [":memory:", filename]) {
        yield* Effect.gen(function*() {
          const client = yield* Layer.build(NodeSqlite.layer({ filename: name }))
          const { store } = yield* openSql(Layer.succeedContext(client))
          yield* store.commit(batchOf(1, { punches: [row(1), row(2)] }), Option.none())
          assert.lengthOf(yield* Effect.provideContext(listed, client), 2)
        }).pipe(Effect.scoped)
      }
      const rollback = new DatabaseSync(filename)
      rollback.exec("PRAGMA journal_mode = DELETE")
      rollback.close()
      const client = yield* Layer.build(NodeSqlite.layer({ filename, readonly: true }))
      assert.lengthOf(yield* Effect.provideContext(listed, client), 2)
    }).pipe(Effect.scoped))

  describe("a file of another user that appears beside a database while it is opened", () => {
    const forged = (filename: string, suffix: "-wal" | "-journal") => {
      const copy = `${filename}.copy`
      Fs.copyFileSync(filename, copy)
      const database = new DatabaseSync(copy)
      if (suffix === "-journal")
        database.exec("UPDATE t SET a = 'forged'; PRAGMA journal_mode = DELETE; BEGIN; UPDATE t SET a = 1")
      else database.exec("UPDATE t SET a = 'forged'")
      const log = Fs.readFileSync(copy + suffix)
      database.close()
      Fs.rmSync(copy)
      return log
    }

    const setting = Effect.gen(function*() {
      const folder = yield* temporaryFolder
      Fs.chmodSync(folder, 0o1777)
      const filename = join(folder, "punches.db")
      const database = new DatabaseSync(filename)
      database.exec("PRAGMA journal_mode = WAL; CREATE TABLE t (a); INSERT INTO t VALUES ('honest')")
      database.close()
      return filename
    })

    /** Opens a database, beside which a file of another user appears once this process has looked. */
    const openedBeside = (filename: string, suffix: string, log: Uint8Array) =>
      Effect.gen(function*() {
        const { exec } = DatabaseSync.prototype
        vi.spyOn(DatabaseSync.prototype, "exec").mockImplementationOnce(function(this: DatabaseSync, text) {
          // In a sticky folder no user may replace a file of another one.
          const user = process.geteuid?.() ?? 0
          if (user !== 0) {
            // As one that another process of this user has just deleted.
            process.seteuid?.(0)
            Fs.rmSync(filename + suffix)
          }
          if (!Fs.existsSync(filename + suffix)) {
            Fs.writeFileSync(filename + suffix, log)
            Fs.chmodSync(filename + suffix, 0o666)
            Fs.chownSync(filename + suffix, 61_002, 61_002)
          }
          process.seteuid?.(user)
          exec.call(this, text)
        })
        yield* Effect.addFinalizer(() => Effect.sync(() => vi.restoreAllMocks()))
        return yield* Layer.build(NodeSqlite.layer({ filename }))
      }).pipe(Effect.scoped)

    const contentOf = (filename: string) => {
      for (const suffix of ["-wal", "-shm", "-journal"]) Fs.rmSync(filename + suffix, { force: true })
      const database = new DatabaseSync(filename)
      const found = database.prepare("SELECT a FROM t").all().map(({ a }) => a)
      database.close()
      return found
    }

    it.live.each(["-wal", "-journal"] as const)("finds its name taken: %s", (suffix) =>
      Effect.gen(function*() {
        const filename = yield* setting
        yield* openedBeside(filename, suffix, forged(filename, suffix))

        assert.deepStrictEqual(contentOf(filename), ["honest"])
        assert.deepStrictEqual(Fs.readdirSync(dirname(filename)), ["punches.db"])
      }).pipe(Effect.scoped))

    it.live("may be of another process of this user, which removes it meanwhile", () =>
      Effect.gen(function*() {
        const filename = yield* setting
        const { openSync } = nodeFs
        vi.spyOn(nodeFs, "openSync").mockImplementation((path, ...rest) => {
          if (path === `${filename}-journal`) throw Object.assign(new Error("it was there"), { code: "EEXIST" })
          return openSync(path, ...rest)
        })
        syncBuiltinESMExports()
        yield* Effect.addFinalizer(() =>
          Effect.sync(() => {
            vi.restoreAllMocks()
            syncBuiltinESMExports()
          })
        )
        const sql = yield* Effect.map(Layer.build(NodeSqlite.layer({ filename })), Context.get(SqlClient.SqlClient))

        assert.deepStrictEqual(yield* sql`SELECT a FROM t`, [{ a: "honest" }])
      }).pipe(Effect.scoped))

    it.live("is not read, and its content does not get into the database as that is closed", (context) => {
      needs(context, process.getuid?.() === 0, "root, who may give a file to another user")
      return Effect.gen(function*() {
        const filename = yield* setting
        const log = forged(filename, "-wal")
        Fs.chownSync(filename, 61_001, 61_001)
        const error = yield* Effect.acquireUseRelease(
          Effect.sync(() => process.seteuid?.(61_001)),
          () => Effect.flip(openedBeside(filename, "-wal", log)),
          () => Effect.sync(() => process.seteuid?.(0))
        )

        assert.match(error.message, /-wal belongs to user 61002/)
        assert.deepStrictEqual(contentOf(filename), ["honest"])
      }).pipe(Effect.scoped)
    })
  })

  it.live("opens a file that two layers open at once", () =>
    Effect.gen(function*() {
      const filename = join(yield* temporaryFolder, "punches.db")
      const store = Effect.scoped(Layer.build(SqlStore.layer().pipe(Layer.provide(NodeSqlite.layer({ filename })))))

      yield* Effect.all(Array.from({ length: 4 }, () => store), { concurrency: "unbounded" })
    }).pipe(Effect.scoped))

  test("waits for the disk at each COMMIT", (sql) =>
    Effect.gen(function*() {
      assert.deepStrictEqual((yield* sql`PRAGMA synchronous`.values).flat(), [2])
      assert.deepStrictEqual((yield* sql`PRAGMA fullfsync`.values).flat(), [1])
    }))

  test("returns objects again, where a statement failed that was to return values", (sql) =>
    Effect.gen(function*() {
      yield* sql`CREATE TABLE t (a INTEGER PRIMARY KEY) STRICT`
      const insert = sql`INSERT INTO t VALUES (1) RETURNING a`
      assert.deepStrictEqual(yield* insert.values, [[1]])
      yield* Effect.flip(insert.values)
      yield* sql`DELETE FROM t`

      assert.strictEqual((yield* insert)[0]?.["a"], 1)
    }))

  test("rolls back what fails, and the savepoint alone where that is caught", (sql) =>
    Effect.gen(function*() {
      yield* sql`CREATE TABLE t (a INTEGER PRIMARY KEY) STRICT`
      const insert = (a: number) => sql`INSERT INTO t VALUES (${a})`
      yield* Effect.flip(sql.withTransaction(Effect.andThen(insert(1), insert(1))))
      yield* sql.withTransaction(Effect.gen(function*() {
        yield* insert(2)
        yield* Effect.flip(sql.withTransaction(Effect.andThen(insert(3), insert(2))))
        yield* insert(4)
      }))

      assert.deepStrictEqual((yield* sql`SELECT a FROM t`.values).flat(), [2, 4])
    }))

  test("names a key that exists as a unique violation", (sql) =>
    Effect.gen(function*() {
      yield* sql`CREATE TABLE t (a INTEGER PRIMARY KEY, b INTEGER UNIQUE, c INTEGER NOT NULL) STRICT`
      yield* sql`INSERT INTO t VALUES (1, 1, 1)`
      const tagOf = (text: string) => Effect.map(Effect.flip(sql.unsafe(text)), ({ reason }) => reason._tag)

      assert.strictEqual(yield* tagOf("INSERT INTO t VALUES (1, 2, 1)"), "UniqueViolation")
      assert.strictEqual(yield* tagOf("INSERT INTO t VALUES (2, 1, 1)"), "UniqueViolation")
      assert.strictEqual(yield* tagOf("INSERT INTO t VALUES (2, 2, NULL)"), "ConstraintError")
      assert.strictEqual(yield* tagOf("SELECT * FROM missing"), "UnknownError")
    }))

  test("binds what effect/sql binds, and fails typed on what SQLite cannot hold", (sql) =>
    Effect.gen(function*() {
      const at = new Date(5)
      const [row] = yield* sql.unsafe<{ readonly [column: string]: unknown }>(
        "SELECT ? AS a, ? AS b, ? AS c, ? AS d, ? AS e, ? AS f",
        [true, null, undefined, 2n ** 40n, at, new Uint8Array([1])]
      )

      assert.deepStrictEqual({ ...row }, {
        a: 1,
        b: null,
        c: null,
        d: 2 ** 40,
        e: "1970-01-01T00:00:00.005Z",
        f: new Uint8Array([1])
      })
      const error = yield* Effect.flip(sql.unsafe("SELECT ?", [Symbol("no")]))
      assert.include(error.message, "symbol")
    }))

  test("reads large numbers as BigInt on request, and refuses to round them", (sql) =>
    Effect.gen(function*() {
      const large = sql`SELECT 9007199254740993 AS a`
      assert.strictEqual((yield* Effect.flip(large))._tag, "SqlError")
      const [row] = yield* Effect.provideService(large, SqlClient.SafeIntegers, true)

      assert.deepStrictEqual({ ...row }, { a: 9007199254740993n })
    }))

  test("returns values by their place, also under one name", (sql) =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* sql`SELECT 1 AS a, 2 AS a`.values, [[1, 2]])
      assert.deepStrictEqual((yield* sql`SELECT 1 AS a, 2 AS b`).map((row) => Object.entries(row)), [[["a", 1], [
        "b",
        2
      ]]])
      assert.deepStrictEqual(yield* sql`SELECT 1 AS a, 2 AS a`.valuesUnprepared, [[1, 2]])
    }))

  test("says in its raw result how many rows a statement changed", (sql) =>
    Effect.gen(function*() {
      yield* sql`CREATE TABLE t (a INTEGER) STRICT`
      const done = yield* sql`INSERT INTO t VALUES (1), (2)`.raw
      assert.deepInclude(done, { changes: 2 })
      assert.lengthOf(Array.from(Object.values(Object(yield* sql`SELECT * FROM t`.raw))), 2)
    }))

  test("streams rows, also while the same text runs", (sql) =>
    Effect.gen(function*() {
      const text = "WITH RECURSIVE n(a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM n WHERE a < 1000) SELECT a FROM n"
      const sum = yield* sql.unsafe<{ readonly a: number }>(text).stream.pipe(
        Stream.runFold(() => 0, (sum, { a }) => sum + a)
      )
      assert.strictEqual(sum, 500_500)

      const first = yield* sql.withTransaction(
        sql.unsafe<{ readonly a: number }>(text).stream.pipe(
          Stream.tap(({ a }) => a % 256 === 1 ? Effect.asVoid(sql.unsafe(text)) : Effect.void),
          Stream.runCount
        )
      )
      assert.strictEqual(first, 1000)
    }))

  test("keeps no more statements than it may", (sql) =>
    Effect.gen(function*() {
      for (let n = 0; n < 500; n++) assert.deepStrictEqual((yield* sql.unsafe(`SELECT ${n} AS n`).values).flat(), [n])
    }))
})
