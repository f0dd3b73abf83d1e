/** Commits while the database is locked, restarted or lost: whole transactions again, and nothing twice. */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Duration, Effect, Fiber, Layer, Option, type Scope } from "effect"
import { SqlClient, SqlError } from "effect/sql"
import { join } from "node:path"
import { inspect } from "node:util"
import { Patience, retried } from "../../src/internal/sql/transaction.ts"
import { PunchCopy, SqlStore } from "../../src/sql/index.ts"
import { NodeSqlite } from "../../src/sql/node/index.ts"
import { checkpointText } from "../../src/sync/Checkpoint.ts"
import { temporaryFolder } from "../cli/support.ts"
import { hookedClient, type Hooks } from "../support/databases.ts"
import { needs } from "../support/needs.ts"
import { clientOf, cluster, emptyDatabase, hasPostgres, hasPrograms, noPostgres } from "../support/postgres.ts"
import { batchOf, checkpointAt, company, rows } from "../support/storeBatches.ts"
import { openSql } from "../support/stores.ts"

/** A store over a hooked client, with a history: what is done twice would be two versions. */
const openHooked = <E>(client: Layer.Layer<SqlClient.SqlClient, E>, hooks: () => Hooks) =>
  Effect.gen(function*() {
    const context = yield* Effect.orDie(Layer.build(client))
    const real = yield* Effect.provideContext(SqlClient.SqlClient, context)
    const opened = yield* openSql(Layer.succeed(SqlClient.SqlClient, hookedClient(real, hooks)), { history: true })
    const versions = Effect.map(
      retried(real.unsafe<{ readonly n: unknown }>("SELECT count(*) AS n FROM time_punches_history")),
      ([row]) => Number(row?.n)
    )
    return { ...opened, versions }
  })

/** Does what it is given once, and nothing afterwards. */
const once = <E>(effect: Effect.Effect<unknown, E>): Effect.Effect<unknown, E> => {
  let isDone = false
  return Effect.suspend(() => {
    if (isDone) return Effect.void
    isDone = true
    return effect
  })
}

const lost = (message: string) =>
  new SqlError.SqlError({ reason: new SqlError.ConnectionError({ cause: new Error(message), message }) })

const unknown = new SqlError.SqlError({ reason: new SqlError.UnknownError({ cause: new Error("?"), message: "?" }) })

describe("a COMMIT whose answer is lost", () => {
  const first = batchOf(1, { punches: rows(3) })

  const open = (hooks: () => Hooks) => openHooked(NodeSqlite.layer({ filename: ":memory:" }), hooks)

  it.live.each([["a lost connection", lost("gone")], ["an error of any kind", unknown]] as const)(
    "is found to have happened, after %s",
    ([, error]) =>
      Effect.scoped(Effect.gen(function*() {
        let hooks: Hooks = {}
        const { rows: found, store, versions } = yield* open(() => hooks)
        hooks = { afterCommit: once(Effect.fail(error)) }

        const done = yield* store.commit(first, Option.none())

        assert.deepStrictEqual(done, { written: 3, unchanged: 0, missing: 0, oldestModified: Option.none() })
        assert.lengthOf(yield* found(company), 3)
        hooks = { afterCommit: once(Effect.fail(error)) }
        const again = yield* store.commit(batchOf(2, { punches: rows(3, "new") }), Option.some(checkpointAt(1)))
        assert.deepStrictEqual([again.written, yield* versions], [3, 3])
      }))
  )

  it.live("is found not to have happened, and happens", () =>
    Effect.scoped(Effect.gen(function*() {
      let hooks: Hooks = {}
      const { rows: found, store } = yield* open(() => hooks)
      hooks = { beforeCommit: once(Effect.fail(lost("gone"))) }

      const done = yield* store.commit(first, Option.none())

      assert.strictEqual(done.written, 3)
      assert.lengthOf(yield* found(company), 3)
    })))

  it.live("[Y74] is not taken for the commit of another sync that continued from it", () =>
    Effect.scoped(Effect.gen(function*() {
      let hooks: Hooks = {}
      const { store } = yield* open(() => hooks)
      const other = store.commit(batchOf(2, { checkpoint: checkpointAt(2, "another") }), Option.some(checkpointAt(1)))
      hooks = {
        afterCommit: once(Effect.suspend(() => {
          hooks = {}
          return Effect.andThen(Effect.orDie(other), Effect.fail(lost("gone")))
        }))
      }

      const error = yield* Effect.flip(store.commit(first, Option.none()))

      assert.strictEqual(error.reason._tag, "Superseded")
      assert.deepStrictEqual(yield* store.load(company), Option.some(checkpointAt(2, "another")))
    })))
})

describe("SQLite that another connection has locked", () => {
  /** Ends once another connection has locked the file for so long. */
  const holding = (filename: string, time: Duration.Input) =>
    Effect.gen(function*() {
      const isHeld = yield* Deferred.make<void>()
      const holder = Effect.flatMap(SqlClient.SqlClient, (sql) =>
        sql.withTransaction(Effect.andThen(Deferred.succeed(isHeld, undefined), Effect.sleep(time))))
      const fiber = yield* Effect.forkScoped(Effect.provide(holder, NodeSqlite.layer({ filename })))
      yield* Deferred.await(isHeld)
      return fiber
    })

  it.live("is waited for", () =>
    Effect.scoped(Effect.gen(function*() {
      const filename = join(yield* temporaryFolder, "punches.db")
      const { rows: found, store } = yield* openSql(NodeSqlite.layer({ filename }))
      const holder = yield* holding(filename, "300 millis")

      yield* store.commit(batchOf(1, { punches: rows(3) }), Option.none())

      assert.lengthOf(yield* found(company), 3)
      yield* Fiber.join(holder)
    })))

  it.effect("is attempted for five seconds", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* Patience, Duration.seconds(5))
    }))

  it.live("is given up when the patience ends, and works again afterwards", () =>
    Effect.scoped(Effect.gen(function*() {
      const filename = join(yield* temporaryFolder, "punches.db")
      const { rows: found, store } = yield* openSql(NodeSqlite.layer({ filename }))
      const holder = yield* holding(filename, "5 minutes")

      const [took, error] = yield* Effect.timed(
        Effect.flip(store.commit(batchOf(1, { punches: rows(3) }), Option.none()))
      ).pipe(
        Effect.provideService(Patience, Duration.millis(500))
      )
      assert.strictEqual(error.reason._tag, "Store")
      assert.include(error.message, "locked")
      assert.isAtLeast(Duration.toMillis(took), 450)
      yield* Fiber.interrupt(holder)

      yield* store.commit(batchOf(1, { punches: rows(3) }), Option.none())
      assert.lengthOf(yield* found(company), 3)
    })))
})

describe("PostgreSQL", () => {
  const test = (title: string, isHere: boolean, body: Effect.Effect<void, unknown, Scope.Scope>) =>
    it.live(title, (context) => {
      needs(context, isHere, noPostgres)
      return Effect.scoped(body)
    })

  const admin = (url: string, text: string) =>
    Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe(text)).pipe(
      Effect.provide(clientOf(url, "admin")),
      Effect.orDie
    )
  const cut = (url: string) =>
    admin(url, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'store'")

  test(
    "may lose the connection before any statement of a commit, and before its COMMIT",
    hasPostgres,
    Effect.gen(function*() {
      const url = yield* emptyDatabase
      let hooks: Hooks = {}
      const { rows: found, store, versions } = yield* openHooked(clientOf(url, "store"), () => hooks)
      yield* store.commit(batchOf(1, { kind: "first", punches: rows(300) }), Option.none())
      const batch = (pass: number) =>
        batchOf(pass, {
          kind: "confirm",
          punches: [...rows(200), ...rows(250, `pass ${pass}`).slice(200)],
          missing: Option.some({ window: {}, before: pass, allowed: false })
        })

      let statements = 0
      hooks = { before: () => Effect.sync(() => statements++) }
      yield* store.commit(batch(2), Option.some(checkpointAt(1)))
      assert.isAtLeast(statements, 4)

      for (let at = 0; at <= statements; at++) {
        const pass = 3 + at
        let count = 0
        const here = once(cut(url))
        hooks = at === statements
          ? { beforeCommit: here }
          : { before: () => Effect.suspend(() => count++ === at ? here : Effect.void) }

        const done = yield* store.commit(batch(pass), Option.some(checkpointAt(pass - 1)))

        assert.deepStrictEqual([done.written, done.unchanged, done.missing], [50, 200, 0], `statement ${at}`)
        const passes = (yield* found(company)).map(({ pass }) => pass)
        assert.deepStrictEqual(passes, Array.from({ length: 300 }, (_, id) => id < 250 ? pass : 1))
        // Those of each pass, and once the rows that are missing.
        assert.strictEqual(yield* versions, 50 * (pass - 1) + 50)
      }
    })
  )

  test(
    "may still be at a COMMIT whose answer is lost, when the next attempt reads the checkpoint",
    hasPostgres,
    Effect.gen(function*() {
      const url = yield* emptyDatabase
      let hooks: Hooks = {}
      const { store } = yield* openHooked(clientOf(url), () => hooks)
      yield* store.commit(batchOf(1, { punches: rows(3) }), Option.none())
      const batch = batchOf(2, { punches: rows(3, "second") })
      // The server ends the first attempt while the second one waits for the same row.
      const holding = yield* Deferred.make<void>()
      const first = Effect.flatMap(SqlClient.SqlClient, (sql) =>
        sql.withTransaction(Effect.gen(function*() {
          yield* sql`UPDATE time_punches_sync SET checkpoint = ${
            checkpointText(batch.checkpoint)
          }, history_last = history_last + interval '1 second'`
          yield* sql`UPDATE time_punches SET notes = 'second'`
          yield* Deferred.succeed(holding, undefined)
          yield* Effect.sleep("300 millis")
        }))).pipe(Effect.provide(clientOf(url)), Effect.orDie)
      const begin = once(Effect.andThen(Effect.forkDetach(first), Deferred.await(holding)))
      hooks = {
        beforeCommit: once(Effect.suspend(() => {
          hooks = { before: (text) => text.includes("SET checkpoint") ? begin : Effect.void }
          return Effect.fail(lost("gone"))
        }))
      }

      assert.strictEqual((yield* store.commit(batch, Option.some(checkpointAt(1)))).written, 3)
      assert.deepStrictEqual(yield* store.load(company), Option.some(checkpointAt(2)))
    })
  )

  test(
    "may be restarted in mid-transaction, by an administrator or by a crash",
    hasPrograms,
    Effect.gen(function*() {
      const server = yield* cluster()
      let hooks: Hooks = {}
      const { rows: found, store, versions } = yield* openHooked(clientOf(server.url()), () => hooks)
      let pass = 0
      for (const signal of ["SIGINT", "SIGQUIT"] as const) {
        const restart = once(Effect.promise(async () => {
          await server.stop(signal)
          await server.start()
        }))
        hooks = { before: (text) => text.includes("unnest") ? restart : Effect.void }
        const previous = pass === 0 ? Option.none() : Option.some(checkpointAt(pass))
        pass++

        yield* store.commit(batchOf(pass, { punches: rows(300, signal) }), previous)

        assert.isTrue((yield* found(company)).every(({ punch: { notes } }) => notes === signal))
      }
      assert.strictEqual(yield* versions, 300)
    })
  )

  test(
    "may find a deadlock with another writer",
    hasPostgres,
    Effect.gen(function*() {
      const url = yield* emptyDatabase
      const { rows: found, store, versions } = yield* openHooked(clientOf(url), () => ({}))
      yield* store.commit(batchOf(1, { punches: rows(300) }), Option.none())
      const update = (sql: SqlClient.SqlClient, id: number) =>
        sql.unsafe(`UPDATE time_punches SET notes = 'theirs' WHERE id = ${id}`)
      // It has the last row and waits for the first; the store has the first and waits for the last.
      const other = Effect.flatMap(SqlClient.SqlClient, (sql) =>
        sql.withTransaction(Effect.gen(function*() {
          yield* update(sql, 300)
          yield* Effect.sleep("300 millis")
          yield* update(sql, 1)
        }))).pipe(Effect.provide(clientOf(url)))
      const writer = yield* Effect.forkChild(Effect.exit(other))
      yield* Effect.sleep("150 millis")

      const done = yield* store.commit(batchOf(2, { punches: rows(300, "ours") }), Option.some(checkpointAt(1)))

      yield* Fiber.join(writer)
      assert.strictEqual(done.written, 300)
      assert.isTrue((yield* found(company)).every(({ punch: { notes } }) => notes === "ours"))
      assert.strictEqual(yield* versions, 300)
    })
  )

  test(
    "erases no row of a commit that begins the copy meanwhile",
    hasPostgres,
    Effect.gen(function*() {
      const url = yield* emptyDatabase
      const { rows: found, store } = yield* openSql(clientOf(url))
      const begun = yield* Deferred.make<void>()
      const writer = yield* Effect.forkChild(
        Effect.andThen(Deferred.await(begun), store.commit(batchOf(1, { punches: rows(3) }), Option.none()))
      )
      const atRows = Effect.andThen(Deferred.succeed(begun, undefined), Effect.sleep("300 millis"))
      const hooks: Hooks = { before: (text) => text.startsWith("DELETE FROM time_punches ") ? atRows : Effect.void }
      yield* Effect.flatMap(
        SqlClient.SqlClient,
        (real) => Effect.provideService(PunchCopy.purge(company), SqlClient.SqlClient, hookedClient(real, () => hooks))
      ).pipe(Effect.provide(clientOf(url)))
      yield* Fiber.join(writer)

      assert.deepStrictEqual(yield* store.load(company), Option.some(checkpointAt(1)))
      assert.lengthOf(yield* found(company), 3)
    })
  )

  test(
    "erases on disk, alone and as a part of the command, where a database does not wait for its disk",
    hasPostgres,
    Effect.gen(function*() {
      const url = yield* emptyDatabase
      yield* admin(url, `ALTER DATABASE ${new URL(url).pathname.slice(1)} SET synchronous_commit = off`)
      const { store } = yield* openSql(clientOf(url))
      const seen: Array<unknown> = []
      const settings = Effect.gen(function*() {
        const real = yield* SqlClient.SqlClient
        const setting = real.unsafe<Record<string, unknown>>("SHOW synchronous_commit")
        const look = Effect.map(setting, ([row]) => seen.push(row?.["synchronous_commit"]))
        const spy = hookedClient(real, () => ({
          before: (text) => text.startsWith("DELETE FROM time_punches ") ? look : Effect.void
        }))
        yield* look
        const erase = Effect.provideService(PunchCopy.purge(company), SqlClient.SqlClient, spy)
        yield* store.commit(batchOf(1, { punches: rows(3) }), Option.none())
        yield* erase
        yield* store.commit(batchOf(1, { punches: rows(3) }), Option.none())
        yield* real.withTransaction(Effect.andThen(erase, look))
        yield* look
      })
      yield* Effect.provide(settings, clientOf(url))

      assert.deepStrictEqual(seen, ["off", "on", "on", "on", "off"])
    })
  )

  test(
    "orders two syncs also where it serialises transactions",
    hasPostgres,
    Effect.gen(function*() {
      for (const level of ["repeatable read", "serializable"]) {
        const url = yield* emptyDatabase
        const database = new URL(url).pathname.slice(1)
        yield* admin(url, `ALTER DATABASE ${database} SET default_transaction_isolation = '${level}'`)
        const { store } = yield* openSql(clientOf(url))
        yield* store.commit(batchOf(1, { punches: rows(100) }), Option.none())
        const both = [2, 3].map((pass) =>
          Effect.result(store.commit(batchOf(pass, { punches: rows(100, `${pass}`) }), Option.some(checkpointAt(1))))
        )

        const results = yield* Effect.all(both, { concurrency: "unbounded" })

        assert.deepStrictEqual(results.map(({ _tag }) => _tag).toSorted(), ["Failure", "Success"])
        for (const result of results)
          if (result._tag === "Failure")
            assert.strictEqual(result.failure.reason._tag, "Superseded")
      }
    })
  )

  test(
    "[Y58] [Y68] fails typed where a row is refused, quotes no row, and works again",
    hasPostgres,
    Effect.gen(function*() {
      const url = yield* emptyDatabase
      const { rows: found, store } = yield* openSql(clientOf(url))
      yield* store.commit(batchOf(1, { punches: rows(3) }), Option.none())
      yield* admin(url, "ALTER TABLE time_punches ADD CONSTRAINT short CHECK (notes <> 'confidential')")
      const before = yield* found(company)
      const commit = store.commit(batchOf(2, { punches: rows(3, "confidential") }), Option.some(checkpointAt(1)))

      const error = yield* Effect.flip(commit)

      assert.strictEqual(error.reason._tag, "Store")
      assert.include(error.message, "short")
      assert.isTrue(
        error.reason._tag === "Store" && SqlError.isSqlError(error.reason.cause) &&
          error.reason.cause.reason._tag === "ConstraintError"
      )
      assert.notInclude(inspect(error, { depth: 20, showHidden: true }), "confidential")
      assert.deepStrictEqual(yield* found(company), before)
      yield* admin(url, "ALTER TABLE time_punches DROP CONSTRAINT short")
      assert.strictEqual((yield* commit).written, 3)
    })
  )

  test(
    "[Y59] keeps nothing of a commit that is interrupted",
    hasPostgres,
    Effect.gen(function*() {
      const url = yield* emptyDatabase
      let hooks: Hooks = {}
      const { rows: found, store } = yield* openHooked(clientOf(url), () => hooks)
      for (const where of ["unnest", "UPDATE", "INSERT"]) {
        hooks = { before: (text) => text.includes(where) ? Effect.never : Effect.void }
        const fiber = yield* Effect.forkChild(
          store.commit(batchOf(1, { kind: "sweep", punches: rows(3) }), Option.none())
        )
        yield* Effect.sleep("100 millis")
        yield* Fiber.interrupt(fiber)
        hooks = {}
        assert.deepStrictEqual([yield* store.load(company), yield* found(company)], [Option.none(), []])
      }
      yield* store.commit(batchOf(1, { punches: rows(3) }), Option.none())
    })
  )

  test(
    "says what is wrong where there is no server",
    true,
    Effect.gen(function*() {
      const error = yield* Effect.flip(
        Effect.scoped(Layer.build(Layer.provide(SqlStore.layer(), clientOf("postgres://someone:word@127.0.0.1:1/x"))))
      ).pipe(Effect.provideService(Patience, Duration.millis(100)))

      assert.strictEqual(error._tag, "SqlError")
      assert.notInclude(inspect(error, { depth: 20 }), "word")
    })
  )
})
