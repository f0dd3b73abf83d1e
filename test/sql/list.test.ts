/** The punches of a copy: what the service lists for the same filter, of one state, whatever is written meanwhile. */
import { assert, describe, it } from "@effect/vitest"
import { Context, DateTime, Deferred, Effect, Fiber, Layer, Logger, Option, Schema, type Scope, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { join } from "node:path"
import { BusinessDate, CompanyId, DepartmentId, type PunchFilter, TimePunches } from "../../src/index.ts"
import { storable } from "../../src/sql/columns.ts"
import { PunchCopy, SqlStore } from "../../src/sql/index.ts"
import { NodeSqlite } from "../../src/sql/node/index.ts"
import { readPages } from "../../src/sql/read.ts"
import { Sync, SyncStore } from "../../src/sync/index.ts"
import { prng } from "../../src/testing/base/prng.ts"
import { generatePunches } from "../../src/testing/index.ts"
import type { TimePunch } from "../../src/TimePunch.ts"
import { temporaryFolder } from "../cli/support.ts"
import { at } from "../support/arbitraryPunch.ts"
import { app, company as served } from "../support/client.ts"
import { databases } from "../support/databases.ts"
import { randomFilter } from "../support/listing.ts"
import { needs } from "../support/needs.ts"
import { hasPostgres, noPostgres } from "../support/postgres.ts"
import { batchOf, checkpointAt, company, row } from "../support/storeBatches.ts"
import { openSql } from "../support/stores.ts"
import { untyped } from "../support/untyped.ts"

const [, { client: postgres }] = databases()

type Client = Layer.Layer<SqlClient.SqlClient, unknown>

/** A client, and another one of the same database: two processes would have them. */
const kinds: ReadonlyArray<{
  readonly name: string
  readonly isHere: boolean
  /** The readers that one client has at once. */
  readonly readers: number
  readonly clients: Effect.Effect<readonly [Client, Client], never, Scope.Scope>
}> = [
  {
    name: "SQLite",
    isHere: true,
    readers: 64,
    clients: Effect.map(temporaryFolder, (folder) => {
      const client = () => NodeSqlite.layer({ filename: join(folder, "punches.db") })
      return [client(), client()] as const
    }).pipe(Effect.orDie)
  },
  {
    name: "PostgreSQL",
    isHere: hasPostgres,
    readers: 8,
    // Of its pool each has its own connections.
    clients: Effect.map(Effect.orDie(Layer.build(postgres)), (context) => {
      const client = Layer.succeedContext(context)
      return [client, client] as const
    })
  }
]

/** One row a second. */
const rows = (count: number) => Array.from({ length: count }, (_, each) => row(each + 1, { clockedIn: at(each) }))

const waits =
  "Warn a reader of a copy has waited 5 seconds for a connection: a stream that is read slowly, or a transaction, keeps one until it ends"

const idsOf = (punches: ReadonlyArray<TimePunch>) => punches.map(({ id }) => Number(id))

describe.each(kinds)("PunchCopy.list in $name", ({ clients, isHere, readers: most }) => {
  const test = (
    title: string,
    body: (
      store: SyncStore["Service"],
      other: SyncStore["Service"]
    ) => Effect.Effect<void, unknown, SqlClient.SqlClient | Scope.Scope>
  ) =>
    it.live(title, (context) => {
      needs(context, isHere, noPostgres)
      return Effect.gen(function*() {
        const [one, other] = yield* clients
        const stores = yield* Effect.forEach([one, other], (client) =>
          Layer.build(Layer.provideMerge(SqlStore.layer(), client)))
        const [context, apart] = stores
        if (context === undefined || apart === undefined)
          return assert.fail("there are two clients")
        const store = yield* Effect.provideContext(SyncStore, context)
        yield* Effect.provideContext(body(store, yield* Effect.provideContext(SyncStore, apart)), context)
      }).pipe(Effect.scoped)
    })

  const listed = (filter: PunchFilter = {}, size = 2) => Stream.runCollect(readPages(company, filter, size))

  it.live.prop(
    "lists what the service lists for the same filter, in the order of clock-in and id",
    [Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2 ** 31 - 1 }))],
    ([seed], context) => {
      needs(context, isHere, noPostgres)
      const random = prng(seed)
      const generated = generatePunches({
        seed,
        count: random.pick([1, 7, 60, 150]),
        companyId: served.id,
        deletedShare: 0.3,
        openShare: 0.2,
        users: 8
      })
      // Ties, which pages must not lose, and rows that were never modified.
      const first = generated[0]?.clocked_in
      const punches = generated.map((each) =>
        Object.assign(each, {
          clocked_in: random.chance(0.3) ? first : each.clocked_in,
          modified: random.chance(0.2) ? null : each.modified
        })
      )
      return Effect.gen(function*() {
        const [client] = yield* clients
        const context = yield* Layer.build(Layer.provideMerge(SqlStore.layer(), client))
        yield* Effect.provideContext(Sync.run(served), context)
        for (let each = 0; each < 8; each++) {
          const {
            businessDate: _date,
            employeeApprovalStatuses: _statuses,
            flags: _flags,
            localizeSearchTime,
            sortBy: _order,
            ...filter
          } = randomFilter(random, punches)
          // Its windows are in local digits then, and have no `lt`: as instants they select something else, which is as good.
          const wanted: PunchFilter = { ...filter, localizeSearchTime: localizeSearchTime === true ? undefined : false }

          const copied = yield* readPages(served.id, wanted, random.pick([1, 2, 7, 200])).pipe(
            Stream.runCollect,
            Effect.provideContext(context)
          )

          const expected = yield* Stream.runCollect(
            TimePunches.list(served, { ...wanted, sortBy: [["clockedIn", "asc"]] })
          )
          assert.deepStrictEqual(
            copied,
            expected.map((each) => Object.assign(each, { notes: storable(each.notes) }))
          )
        }
      }).pipe(Effect.scoped, Effect.provide(app({ punches })))
    },
    { arbitrary: { runs: 12 } }
  )

  test(
    "lists every row once where many have the same clock-in, at every size of a page",
    (store) =>
      Effect.gen(function*() {
        const tied = (...ids: ReadonlyArray<number>) => ids.map((id) => row(id, { clockedIn: at(id > 2 ? 7 : id) }))
        // Late in the table and early in the list.
        yield* store.commit(batchOf(1, { punches: tied(5, 8, 9) }), Option.none())
        yield* store.commit(batchOf(2, { punches: tied(1, 2, 3) }), Option.some(checkpointAt(1)))

        for (const size of [1, 2, 3, 5, 6, 7]) {
          assert.deepStrictEqual(idsOf(yield* listed({}, size)), [1, 2, 3, 5, 8, 9], `${size} rows a page`)
        }
        assert.deepStrictEqual(idsOf(yield* listed({ clockedIn: { gte: at(2) } }, 1)), [2, 3, 5, 8, 9])
      })
  )

  test("has the ends of a window in it as the service has them", (store) =>
    Effect.gen(function*() {
      const punches = [1, 2, 3].map((id) =>
        row(id, { clockedIn: at(id), clockedOut: Option.some(at(id * 10)), modified: Option.some(at(id * 100)) })
      )
      const open = row(4, { clockedIn: at(4), clockedOut: Option.none() })
      yield* store.commit(batchOf(1, { punches: [...punches, open] }), Option.none())
      const cases: ReadonlyArray<readonly [PunchFilter, ids: ReadonlyArray<number>]> = [
        [{ clockedIn: { gte: at(2) } }, [2, 3, 4]],
        [{ clockedIn: { lte: at(2) } }, [1, 2]],
        [{ clockedIn: { lt: at(2) } }, [1]],
        [{ clockedIn: { gte: at(1), lte: at(3), lt: at(3) } }, [1, 2]],
        [{ clockedIn: { gte: at(1), lte: at(2), lt: at(3) } }, [1, 2]],
        [{ clockedOut: { gte: at(20) } }, [2, 3]],
        [{ clockedOut: { lte: at(20) } }, [1, 2]],
        [{ clockedOut: { lt: at(20) } }, [1]],
        [{ clockedOut: {} }, [1, 2, 3, 4]],
        [{ modifiedSince: at(200) }, [3]]
      ]
      for (const [filter, ids] of cases) {
        assert.deepStrictEqual(idsOf(yield* listed(filter)), ids, JSON.stringify(filter))
      }
    }))

  test("lists no row that is missing, whatever the filter", (store) =>
    Effect.gen(function*() {
      yield* store.commit(batchOf(1, { kind: "first", punches: rows(4) }), Option.none())
      yield* store.commit(batchOf(2, { kind: "sweep", punches: rows(2) }), Option.some(checkpointAt(1)))
      const missing = Option.some({ window: {}, before: 2, allowed: false })
      yield* store.commit(batchOf(3, { kind: "confirm", missing }), Option.some(checkpointAt(2)))

      assert.deepStrictEqual(idsOf(yield* listed()), [1, 2])
      assert.deepStrictEqual(idsOf(yield* listed({ deleted: "include" })), [1, 2])
    }))

  test("lists rows of no other company", (store) =>
    Effect.gen(function*() {
      const other = CompanyId.make(3)
      const checkpoint = { ...checkpointAt(1), companyId: other }
      yield* store.commit(batchOf(1, { punches: rows(3) }), Option.none())
      yield* store.commit(
        batchOf(1, { companyId: other, checkpoint, punches: [row(9, { companyId: other })] }),
        Option.none()
      )

      assert.deepStrictEqual(idsOf(yield* Stream.runCollect(PunchCopy.list(other, {}))), [9])
    }))

  test(
    "lists one state of the copy, whatever is committed between two pages",
    (store, other) =>
      Effect.gen(function*() {
        yield* store.commit(batchOf(1, { kind: "first", punches: rows(6) }), Option.none())
        // Row 1 moves behind what was read, row 6 before it, 4 is changed, 7 is new: a mix would repeat, lose and change rows.
        const moved = [
          row(1, { clockedIn: at(50) }),
          row(6, { clockedIn: at(-50) }),
          row(4, { clockedIn: at(3), notes: "changed" }),
          row(7, { clockedIn: at(4) })
        ]
        let seen = 0

        const punches = yield* readPages(company, {}, 2).pipe(
          Stream.tap(() =>
            ++seen === 2 ? other.commit(batchOf(2, { punches: moved }), Option.some(checkpointAt(1))) : Effect.void
          ),
          Stream.runCollect
        )

        assert.deepStrictEqual(punches, rows(6))
        assert.deepStrictEqual(idsOf(yield* listed()), [6, 2, 3, 4, 5, 7, 1])
      }).pipe(Effect.timeout("50 seconds"))
  )

  test(
    "reads within a transaction of the caller, with what that has written",
    (store) =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        yield* store.commit(batchOf(1, { punches: rows(5) }), Option.none())

        const inside = yield* sql.withTransaction(Effect.gen(function*() {
          yield* sql.unsafe(`UPDATE time_punches SET notes = 'mine' WHERE id = 3`)
          return yield* listed()
        }))

        assert.deepStrictEqual(inside.map(({ notes }) => notes), ["", "", "mine", "", ""])
      }).pipe(Effect.timeout("50 seconds"))
  )

  test("frees its connection where it ends early, is interrupted, or fails", (store) =>
    Effect.gen(function*() {
      yield* store.commit(batchOf(1, { punches: rows(5) }), Option.none())
      const pages = readPages(company, {}, 2)

      // More of them than the client has connections.
      for (let each = 0; each < 12; each++) {
        yield* Stream.runCollect(Stream.take(pages, 3))
        const fiber = yield* Effect.forkChild(Stream.runForEach(pages, () => Effect.never))
        // In the middle of a statement as well as between two.
        yield* Effect.sleep(each)
        yield* Fiber.interrupt(fiber)
        yield* Effect.flip(Stream.runForEach(pages, () => Effect.fail("no")))
      }

      // SQLite could begin no transaction within one that is still open, and PostgreSQL would wait for it to change the table.
      yield* store.commit(batchOf(2, { punches: [row(9, { clockedIn: at(9) })] }), Option.some(checkpointAt(1)))
      assert.deepStrictEqual(idsOf(yield* listed()), [1, 2, 3, 4, 5, 9])
      const sql = yield* SqlClient.SqlClient
      yield* sql.unsafe(`ALTER TABLE time_punches ADD COLUMN more integer`)
    }).pipe(Effect.timeout("50 seconds")))

  test("readers who stop reading hold up no commit and no statement, and who waits behind them says so", (store) =>
    Effect.gen(function*() {
      yield* store.commit(batchOf(1, { kind: "first", punches: rows(5) }), Option.none())
      const begun: Array<number> = []
      const all = yield* Deferred.make<void>()
      const said: Array<string> = []
      const logger = Logger.make(({ logLevel, message }) => void said.push(`${logLevel} ${String(message)}`))
      const readers = yield* Effect.forEach(
        Array.from({ length: most + 2 }, (_, each) => each),
        (each) =>
          readPages(company, {}, 2).pipe(
            Stream.runForEach(() => {
              begun.push(each)
              return Effect.andThen(
                begun.length === most ? Deferred.succeed(all, undefined) : Effect.void,
                Effect.never
              )
            }),
            Effect.provide(Logger.layer([logger])),
            Effect.forkChild
          )
      )
      yield* Deferred.await(all)

      yield* store.commit(batchOf(2, { punches: rows(7) }), Option.some(checkpointAt(1)))
      assert.strictEqual((yield* PunchCopy.status(company)).rows, 7)
      assert.lengthOf(begun, most)
      yield* Effect.whileLoop({
        while: () => said.length < 2,
        body: () => TestClock.adjust("1 second"),
        step: () => {}
      })
      assert.deepStrictEqual(said, Array.from({ length: 2 }, () => waits))

      const [first] = readers
      if (first !== undefined) yield* Fiber.interrupt(first)
      yield* Effect.whileLoop({
        while: () => begun.length <= most,
        body: () => Effect.promise(() => new Promise(setImmediate)),
        step: () => {}
      })
      // With the service of a caller's own transaction a reader needs no other place.
      const sql = yield* SqlClient.SqlClient
      assert.lengthOf(yield* sql.withTransaction(listed()), 7)
    }).pipe(Effect.timeout("50 seconds"), Effect.provide(TestClock.layer())))

  test(
    "fails at a row that is not a valid punch, by its id, and emits nothing after it",
    (store) =>
      Effect.gen(function*() {
        yield* store.commit(batchOf(1, { punches: rows(5) }), Option.none())
        const sql = yield* SqlClient.SqlClient
        yield* sql.unsafe(`UPDATE time_punches SET hourly_wage = -1 WHERE id = 4`)
        const seen: Array<number> = []

        const error = yield* Effect.flip(
          Stream.runForEach(readPages(company, {}, 2), ({ id }) => Effect.sync(() => seen.push(id)))
        )

        assert.strictEqual(error._tag, "SyncError")
        assert.include(error.message, "row 4 is not a valid punch at hourly_wage")
        assert.deepStrictEqual(seen, [1, 2])
      })
  )

  const dropTables = Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe("DROP TABLE time_punches_migrations"))

  test("says what is missing where there are no tables", () =>
    Effect.gen(function*() {
      yield* dropTables
      const error = yield* Effect.flip(listed())

      assert.include(error.message, `"time_punches" has schema 0`)
    }))

  test("refuses what only the service knows, and what the client refuses, before it asks the database", () =>
    Effect.gen(function*() {
      // Whatever asked for them would fail otherwise.
      yield* dropTables
      const date = BusinessDate.make("2026-03-02")
      const refusals: ReadonlyArray<readonly [PunchFilter, field: string]> = [
        [{ flags: ["late"] }, "flags"],
        [{ employeeApprovalStatuses: ["disputed"] }, "employeeApprovalStatuses"],
        [{ localizeSearchTime: true }, "localizeSearchTime"],
        [{ businessDate: { first: date } }, "businessDate"],
        [{ sortBy: [["id", "asc"]] }, "sortBy"],
        [{ flags: [] }, "flags"],
        [{ clockedIn: { gte: at(2), lte: at(1) } }, "clockedIn"],
        [{ clockedOut: { gte: at(2), lt: at(1) } }, "clockedOut"],
        [{ modifiedSince: DateTime.makeUnsafe(8e15) }, "modifiedSince"],
        [untyped({ businessDate: { first: date }, clockedIn: { gte: at(1) } }), "businessDate"]
      ]
      for (const [filter, field] of refusals) {
        const error = yield* Effect.flip(listed(filter))
        if (error._tag !== "InvalidRequest") return assert.fail(error.message)
        assert.strictEqual(error.field, field)
      }
      // What does not filter is not refused.
      const none: PunchFilter = { flags: undefined, localizeSearchTime: false, departmentId: DepartmentId.make(0) }
      assert.strictEqual((yield* Effect.flip(listed(none)))._tag, "SyncError")
    }))
})

describe("PunchCopy.list", () => {
  it.live("fails where its connection is lost between two pages, and does not continue in another state", (context) => {
    needs(context, hasPostgres, noPostgres)
    return Effect.gen(function*() {
      const context = yield* Layer.build(postgres)
      const { store } = yield* openSql(Layer.succeedContext(context))
      yield* store.commit(batchOf(1, { punches: rows(5) }), Option.none())
      const sql = Context.get(context, SqlClient.SqlClient)
      const cut = sql.unsafe(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND state = 'idle in transaction'"
      )
      let seen = 0

      const pages = Stream.provideContext(readPages(company, {}, 2), context)
      const error = yield* Effect.flip(Stream.runForEach(
        pages,
        () => ++seen === 2 ? Effect.asVoid(cut) : Effect.void
      ))

      assert.strictEqual(error._tag, "SqlError")
      assert.strictEqual(seen, 2)
      assert.lengthOf(yield* Stream.runCollect(pages), 5)
    }).pipe(Effect.scoped)
  })
})
