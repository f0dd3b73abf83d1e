/** The history of a copy: which versions are kept, since when, how long, and that no commit leaves a hole in it. */
import { assert, describe } from "@effect/vitest"
import { DateTime, Effect, Option, Result, Stream } from "effect"
import { SqlClient } from "effect/sql"
import * as Fs from "node:fs"
import { Cents, CompanyId } from "../../src/Ids.ts"
import { versionColumns } from "../../src/sql/columns.ts"
import { type Changes, PunchCopy, SqlStore } from "../../src/sql/index.ts"
import { at } from "../support/arbitraryPunch.ts"
import { databases, hookedClient, itWithDatabase } from "../support/databases.ts"
import { commit, copyAt, copyNow, historyOf, lastOf, type OpenHistory, openHistory } from "../support/histories.ts"
import { checkpointAt, company, row, rows } from "../support/storeBatches.ts"

const columnsOfVersion = versionColumns.join(", ")

describe.each(databases())("a history in $name", (database) => {
  const { dialect } = database
  const test = itWithDatabase(database, openHistory)

  /** Millis of a column. */
  const millis = (column: string) => dialect === "pg" ? `(extract(epoch FROM ${column}) * 1000)::bigint` : column

  /** The versions that are kept, oldest first: id, notes, whether it was missing, from, to. */
  const versionsOf = ({ query }: OpenHistory, of: CompanyId = company) =>
    Effect.map(
      query(
        `SELECT id, notes, missing_at, ${millis("valid_from")} AS since, ${
          millis("valid_to")
        } AS until FROM time_punches_history WHERE company_id = ${of} ORDER BY valid_to, id`
      ),
      (found) =>
        found.map(({ id, missing_at, notes, since, until }) => ({
          id: Number(id),
          notes,
          isMissing: missing_at !== null,
          since: since === null ? null : Number(since),
          until: Number(until)
        }))
    )

  /** The `valid_from` of each row, by id. */
  const startsOf = ({ query }: OpenHistory) =>
    Effect.map(
      query(`SELECT ${millis("valid_from")} AS since FROM time_punches WHERE company_id = ${company} ORDER BY id`),
      (found) => found.map(({ since }) => since === null ? null : Number(since))
    )

  const setLast = ({ query }: OpenHistory, ahead: string) =>
    query(`UPDATE time_punches_sync SET history_last = ${ahead} WHERE company_id = ${company}`)

  test("begins with the first commit that wants it, and every commit continues it", (opened) =>
    Effect.gen(function*() {
      const { kept, plain } = opened
      yield* commit(plain, company, rows(2, "a"))
      assert.deepStrictEqual(yield* historyOf(opened, company), Option.none())
      yield* commit(kept, company, [row(2, { notes: "b" }), row(3, { notes: "b" })])
      const begun = Option.getOrThrow(yield* historyOf(opened, company))
      yield* commit(plain, company, [row(1, { notes: "c" }), row(2, { notes: "c" })])
      const last = yield* lastOf(opened, company)

      const first = begun.last.epochMilliseconds
      const second = last.epochMilliseconds
      assert.isAtMost(Math.abs(Date.now() - second), 60_000)
      assert.deepStrictEqual(yield* versionsOf(opened), [
        { id: 2, notes: "a", isMissing: false, since: null, until: first },
        { id: 1, notes: "a", isMissing: false, since: null, until: second },
        { id: 2, notes: "b", isMissing: false, since: first, until: second }
      ])
      assert.deepStrictEqual(yield* startsOf(opened), [second, second, first])
      assert.isAtMost(begun.since.epochMilliseconds, begun.last.epochMilliseconds)
    }))

  test("keeps no version of rows that are equal, and none of stamps", (opened) =>
    Effect.gen(function*() {
      const { kept } = opened
      yield* commit(kept, company, rows(150))
      const starts = yield* startsOf(opened)
      yield* commit(kept, company, rows(150))
      yield* commit(kept, company, rows(150), true)
      const done = yield* commit(kept, company, [...rows(149), row(150, { notes: "new" })], true)

      assert.deepStrictEqual([done.written, done.unchanged], [1, 149])
      assert.deepStrictEqual((yield* versionsOf(opened)).map(({ id }) => id), [150])
      assert.deepStrictEqual((yield* startsOf(opened)).slice(0, 149), starts.slice(0, 149))
    }))

  test("keeps marks of missing and their end as versions", (opened) =>
    Effect.gen(function*() {
      const { kept, plain } = opened
      yield* commit(kept, company, rows(2))
      yield* commit(plain, company, [row(1)], true)
      yield* commit(plain, company, rows(2))

      assert.deepStrictEqual(
        (yield* versionsOf(opened)).map(({ id, isMissing }) => [id, isMissing]),
        [[2, false], [2, true]]
      )
    }))

  test("says what a commit did, exactly as without it", (opened) =>
    Effect.gen(function*() {
      const { kept, plain } = opened
      const other = CompanyId.make(3)
      const old = Option.some(at(-5))
      const pages = [
        { punches: rows(250), isWhole: false },
        { punches: [...rows(120), row(121, { modified: old, notes: "x" }), row(251)], isWhole: false },
        { punches: rows(200), isWhole: true },
        { punches: [...rows(230), row(240, { modified: Option.some(at(3)) })], isWhole: true }
      ]
      for (const { isWhole, punches } of pages) {
        const done = [yield* commit(kept, company, punches, isWhole), yield* commit(plain, other, punches, isWhole)]
        assert.deepStrictEqual(done[0], done[1])
      }
      assert.deepStrictEqual(yield* versionsOf(opened, other), [])
    }))

  test("orders commits of the same millisecond, and after a clock was set back", (opened) =>
    Effect.gen(function*() {
      const { kept } = opened
      yield* commit(kept, company, rows(1, "0"))
      const ahead = dialect === "pg" ? "'2100-01-01T00:00:00.123Z'" : String(Date.UTC(2100, 0, 1, 0, 0, 0, 123))
      yield* setLast(opened, ahead)
      const began = performance.now()
      for (let each = 1; each <= 20; each++) {
        yield* commit(kept, company, rows(1, String(each)))
        // So that no two commits are of one millisecond.
        yield* Effect.sleep("3 millis")
      }
      const elapsed = performance.now() - began

      const versions = yield* versionsOf(opened)
      assert.deepStrictEqual(versions.map(({ notes }) => notes), Array.from({ length: 20 }, (_, each) => String(each)))
      const instants = versions.map(({ until }) => until)
      const [first = 0] = instants
      const last = Date.UTC(2100, 0, 1, 0, 0, 0, 123)
      assert.isTrue(first > last && first <= last + 1000, `${first}`)
      for (const [place, until] of instants.slice(1).entries()) assert.isAbove(until, instants[place] ?? 0)
      // The copy is not further ahead after many commits than after the first one.
      assert.isAtMost((instants.at(-1) ?? 0) - first, elapsed + 2)
      assert.strictEqual((yield* lastOf(opened, company)).epochMilliseconds, instants.at(-1))
    }))

  test("gives commits of one millisecond, or of a clock that is a little behind, the next ones", (opened) =>
    Effect.gen(function*() {
      const { kept, query } = opened
      yield* commit(kept, company, rows(1, "0"))
      const ahead = dialect === "pg" ? "history_last + interval '900 milliseconds'" : "history_last + 900"
      yield* query(`UPDATE time_punches_sync SET history_last = ${ahead}`)
      const last = (yield* lastOf(opened, company)).epochMilliseconds
      for (let each = 1; each <= 3; each++) yield* commit(kept, company, rows(1, String(each)))

      assert.deepStrictEqual((yield* versionsOf(opened)).map(({ until }) => until), [last + 1, last + 2, last + 3])
    }))

  test("keeps each company apart", (opened) =>
    Effect.gen(function*() {
      const { kept, plain } = opened
      const other = CompanyId.make(3)
      yield* commit(kept, company, rows(2))
      yield* commit(plain, other, rows(2))
      yield* commit(plain, other, rows(2, "x"))
      assert.deepStrictEqual(yield* versionsOf(opened, other), [])
      yield* commit(kept, other, rows(2, "y"))
      yield* commit(kept, company, rows(2, "y"))
      const before = yield* lastOf(opened, company)
      assert.strictEqual(yield* opened.run(PunchCopy.pruneHistory(company, { before })), 2)
      assert.lengthOf(yield* versionsOf(opened, other), 2)
      yield* opened.run(PunchCopy.purge(other))

      assert.deepStrictEqual(yield* versionsOf(opened, other), [])
      assert.deepStrictEqual(yield* historyOf(opened, other), Option.none())
      yield* commit(plain, company, rows(2, "z"))
      assert.lengthOf(yield* versionsOf(opened), 2)
    }))

  test("rebuilds the copy of the instant of each commit", (opened) =>
    Effect.gen(function*() {
      const { kept, plain } = opened
      const pages = [
        [row(1, { tips: Cents.make(5) }), row(2)],
        [row(2, { notes: "a\0b", deleted: true }), row(3, { clockedIn: DateTime.makeUnsafe("0001-01-01T00:00:00Z") })],
        [row(3, { clockedIn: DateTime.makeUnsafe("9999-12-31T23:59:59.999Z") })],
        [row(1)]
      ]
      const past = []
      for (const [index, punches] of pages.entries()) {
        yield* commit(index % 2 === 0 ? kept : plain, company, punches, index === 2)
        past.push([yield* lastOf(opened, company), yield* copyNow(opened, company)] as const)
      }
      for (const [instant, copy] of past) assert.deepStrictEqual(yield* copyAt(opened, company, instant), copy)
    }))

  describe("that began with a first load", () => {
    /** The pages of a pass, of which only the last one completes it. */
    const pages = (opened: OpenHistory, count: number, notes = "") =>
      Effect.forEach(
        rows(count, notes),
        (each, at) => commit(opened.kept, company, [each], false, at === count - 1)
      )
    const asked = ({ run }: OpenHistory, since: DateTime.DateTime) =>
      Effect.result(run(PunchCopy.changes(company, {
        dayRule: DateTime.zoneMakeNamedUnsafe("UTC"),
        period: () => ({ gte: at(-1e6), lt: at(1e6) }),
        since,
        rounding: "halfUp"
      })))
    const kindsOf = (found: Result.Result<Changes, unknown>) =>
      Result.getOrThrow(found).punches.map(({ kind, punchId }) => [Number(punchId), kind])
    /** The instant of the last commit, also of a copy that is not known. */
    const lastCommit = ({ query }: OpenHistory) =>
      Effect.map(
        query(`SELECT ${millis("history_last")} AS last FROM time_punches_sync`),
        ([row]) => DateTime.makeUnsafe(Number(row?.["last"]))
      )

    test("[Y78] is known when the load has ended, and no instant in its gap is", (opened) =>
      Effect.gen(function*() {
        yield* commit(opened.kept, company, [row(1)], false, false)
        assert.deepStrictEqual(yield* historyOf(opened, company), Option.none())
        const inGap = yield* lastCommit(opened)
        // It failed here, and continues.
        yield* commit(opened.plain, company, [row(2)], false, false)
        const unknown = yield* asked(opened, inGap)
        yield* commit(opened.plain, company, [row(3)])
        const { last, since } = Option.getOrThrow(yield* historyOf(opened, company))

        assert.deepInclude(Result.isFailure(unknown) && unknown.failure, { since: Option.none() })
        assert.deepStrictEqual(since, last)
        const late = yield* asked(opened, inGap)
        assert.deepInclude(Result.isFailure(late) && late.failure, {
          _tag: "HistoryUnavailable",
          since: Option.some(since)
        })
        assert.deepStrictEqual(kindsOf(yield* asked(opened, since)), [])
        yield* commit(opened.plain, company, [row(1, { notes: "x" })], false, false)
        assert.deepStrictEqual(Option.getOrThrow(yield* historyOf(opened, company)).since, since)
      }))

    test("[Y78] is known as before when the checkpoint is set to NULL and all rows are there", (opened) =>
      Effect.gen(function*() {
        yield* pages(opened, 3)
        const { since } = Option.getOrThrow(yield* historyOf(opened, company))
        yield* opened.query(`UPDATE time_punches_sync SET checkpoint = NULL`)
        yield* commit(opened.kept, company, [row(1, { notes: "x" })], false, false)
        const inReload = yield* lastCommit(opened)
        yield* commit(opened.kept, company, rows(4))

        assert.deepStrictEqual(Option.getOrThrow(yield* historyOf(opened, company)).since, since)
        assert.deepStrictEqual(kindsOf(yield* asked(opened, since)), [[4, "added"]])
        assert.deepStrictEqual(kindsOf(yield* asked(opened, inReload)), [[1, "edited"], [4, "added"]])
      }))

    for (const removal of dialect === "pg" ? ["DELETE FROM", "TRUNCATE"] : ["DELETE FROM"]) {
      test(`[Y78] is known since the end of a load of rows that a ${removal} removed`, (opened) =>
        Effect.gen(function*() {
          yield* pages(opened, 3)
          const { since } = Option.getOrThrow(yield* historyOf(opened, company))
          yield* opened.query(`${removal} time_punches`)
          yield* opened.query(`UPDATE time_punches_sync SET checkpoint = NULL`)
          assert.deepStrictEqual(yield* historyOf(opened, company), Option.none())
          yield* pages(opened, 3)
          const again = Option.getOrThrow(yield* historyOf(opened, company))

          assert.deepStrictEqual(again.since, again.last)
          const paidAgain = yield* asked(opened, since)
          assert.deepInclude(Result.isFailure(paidAgain) && paidAgain.failure, { since: Option.some(again.since) })
          assert.deepStrictEqual(kindsOf(yield* asked(opened, again.since)), [])
        }))
    }

    test("is known from the first commit that keeps it, if the load ended before", (opened) =>
      Effect.gen(function*() {
        yield* commit(opened.plain, company, rows(3))
        yield* commit(opened.kept, company, [row(1, { notes: "x" })], false, false)

        const { last, since } = Option.getOrThrow(yield* historyOf(opened, company))
        assert.deepStrictEqual(since, last)
        assert.deepStrictEqual(since, yield* lastCommit(opened))
      }))

    test("is not known again by a pass of another company", (opened) =>
      Effect.gen(function*() {
        const other = CompanyId.make(3)
        yield* pages(opened, 2)
        yield* commit(opened.kept, other, rows(1))
        yield* opened.query(`DELETE FROM time_punches WHERE company_id = ${company} AND id = 1`)
        yield* commit(opened.kept, other, rows(2))

        assert.isTrue(Option.isNone(yield* historyOf(opened, company)))
        assert.isTrue(Option.isSome(yield* historyOf(opened, other)))
      }))

    test("is pruned before it is known, and is known later than that", (opened) =>
      Effect.gen(function*() {
        const { run } = opened
        yield* commit(opened.kept, company, [row(1)], false, false)
        yield* commit(opened.kept, company, [row(1, { notes: "x" })], false, false)
        const before = yield* lastCommit(opened)

        assert.strictEqual(yield* run(PunchCopy.pruneHistory(company, { before })), 1)
        assert.deepStrictEqual(yield* historyOf(opened, company), Option.none())
        yield* commit(opened.kept, company, [row(2)])
        const { since } = Option.getOrThrow(yield* historyOf(opened, company))
        assert.isAbove(since.epochMilliseconds, before.epochMilliseconds)
      }))
  })

  test("is kept by nothing that was rolled back", (opened) =>
    Effect.gen(function*() {
      const { kept, plain } = opened
      yield* commit(kept, company, rows(300))
      const before = yield* lastOf(opened, company)
      const previous = yield* kept.store.load(company)
      const missing = Option.some({ window: {}, before: 2, allowed: false })
      const batch = {
        companyId: company,
        kind: "confirm" as const,
        pass: 2,
        punches: [row(1, { notes: "x" })],
        missing,
        began: Option.none(),
        unknown: Option.none()
      }
      const refused = yield* Effect.flip(plain.store.commit({ ...batch, checkpoint: checkpointAt(2) }, previous))
      assert.strictEqual(refused.reason._tag, "TooManyMissing")
      const late = plain.store.commit({ ...batch, checkpoint: checkpointAt(2) }, Option.some(checkpointAt(9)))
      assert.strictEqual((yield* Effect.flip(late)).reason._tag, "Superseded")

      assert.deepStrictEqual(yield* versionsOf(opened), [])
      assert.deepStrictEqual(yield* lastOf(opened, company), before)
    }))

  test("orders two writers at once, each version once", (opened) =>
    Effect.gen(function*() {
      const { kept, plain } = opened
      yield* commit(kept, company, rows(300, "0"))
      for (let round = 1; round <= 5; round++) {
        const previous = yield* kept.store.load(company)
        const both = [kept, plain].map(({ store }, which) => {
          const pass = round * 2 + which
          const punches = rows(300, `${round} ${which}`).toReversed()
          const batch = {
            companyId: company,
            kind: "increment" as const,
            pass,
            punches,
            missing: Option.none(),
            began: Option.none(),
            unknown: Option.none()
          }
          return Effect.result(store.commit({ ...batch, checkpoint: checkpointAt(pass) }, previous))
        })
        const results = yield* Effect.all(both, { concurrency: "unbounded" })
        assert.deepStrictEqual(results.map(({ _tag }) => _tag).toSorted(), ["Failure", "Success"])
      }
      const versions = yield* versionsOf(opened)
      assert.lengthOf(versions, 1500)
      for (let id = 1; id <= 300; id++) {
        const own = versions.filter((each) => each.id === id)
        assert.deepStrictEqual(own.slice(1).map(({ since }) => since), own.slice(0, -1).map(({ until }) => until))
      }
    }))

  test("begins where an error was noted before the first commit", (opened) =>
    Effect.gen(function*() {
      const error = { _tag: "Forbidden", message: "no access" }
      yield* opened.run(PunchCopy.recordError(company, error))
      yield* commit(opened.kept, company, rows(1))
      yield* commit(opened.plain, company, rows(1, "x"))

      assert.lengthOf(yield* versionsOf(opened), 1)
    }))

  test("is written, read and pruned at once", (opened) =>
    Effect.gen(function*() {
      const { kept, plain, run } = opened
      yield* commit(kept, company, rows(100))
      const write = Effect.forEach(Array.from({ length: 12 }, (_, each) => String(each)), (notes) =>
        commit(plain, company, rows(100, notes)))
      const prune = Effect.gen(function*() {
        let removed = 0
        for (let round = 0; round < 8; round++) {
          const before = yield* lastOf(opened, company)
          removed += yield* run(PunchCopy.pruneHistory(company, { before }))
          yield* Effect.sleep("3 millis")
          const since = Option.getOrThrow(yield* historyOf(opened, company)).since
          const known = yield* copyAt(opened, company, since)
          assert.lengthOf(known, 100)
          assert.lengthOf([
            ...new Set(known.map(({ punch: { notes } }) =>
              notes
            ))
          ], 1)
        }
        return removed
      })
      const [, removed] = yield* Effect.all([write, prune], { concurrency: "unbounded" })

      assert.strictEqual(removed + (yield* versionsOf(opened)).length, 1200)
    }))

  test("refuses a commit that would leave a hole, and the loss of its own row", (opened) =>
    Effect.gen(function*() {
      const { kept, query } = opened
      yield* commit(kept, company, rows(1))
      const statement = (text: string) =>
        Effect.flip(opened.run(Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe(text))))
      // As a release writes that knows no history.
      const older = yield* statement(`UPDATE time_punches_sync SET checkpoint = 'x' WHERE company_id = ${company}`)
      assert.include(String(Object(older.reason.cause).message), "would leave a hole")
      const ended = yield* statement(`DELETE FROM time_punches_sync WHERE company_id = ${company}`)
      assert.include(String(Object(ended.reason.cause).message), "set its checkpoint to NULL")

      yield* query(`UPDATE time_punches_sync SET checkpoint = NULL WHERE company_id = ${company}`)
      const before = yield* lastOf(opened, company)
      yield* commit(opened.plain, company, rows(1, "again"))
      assert.lengthOf(yield* versionsOf(opened), 1)
      assert.isAbove((yield* lastOf(opened, company)).epochMilliseconds, before.epochMilliseconds)
    }))

  if (dialect === "pg") {
    test("has the copy of an instant as the page says it in SQL", (opened) =>
      Effect.gen(function*() {
        const page = Fs.readFileSync(new URL("../../docs/12-a-copy-in-your-database.md", import.meta.url), "utf8")
        const text = [...page.matchAll(/```sql\n([\s\S]*?)```/g)].map(([, sql = ""]) => sql).find((sql) =>
          sql.includes("_history")
        )
        yield* commit(opened.kept, company, [row(1), row(2), row(3, { deleted: true }), row(4)])
        yield* commit(opened.kept, company, [row(1), row(3), row(4, { notes: "edited" })], true)
        const instant = DateTime.formatIso(yield* lastOf(opened, company))
        yield* commit(opened.kept, company, [row(1, { deleted: true }), row(2), row(5)])

        const found = yield* opened.query(
          (text ?? "").replaceAll("2026-03-17T09:00:00Z", instant).replaceAll("4021", "2")
        )
        assert.deepStrictEqual(found.map(({ id }) => Number(id)).toSorted(), [1, 3, 4])
      }))

    test("is that of its own copy, whatever schemas a session searches", (opened) =>
      Effect.gen(function*() {
        const inSchema = (schema: string, texts: ReadonlyArray<string>) =>
          opened.run(Effect.flatMap(SqlClient.SqlClient, (sql) =>
            sql.withTransaction(
              Effect.forEach([`SET LOCAL search_path = ${schema}`, ...texts], (text) => sql.unsafe(text).unprepared)
            )))
        const [row] = yield* opened.query("SELECT current_schema() AS own")
        const own = `${row?.["own"]}.time_punches`
        yield* opened.query("CREATE SCHEMA other")
        yield* inSchema("other", SqlStore.migrations.ddl("pg"))
        yield* commit(opened.kept, company, rows(1))
        yield* inSchema("other", [`UPDATE ${own} SET notes = 'x', valid_from = valid_from + interval '1 second'`])

        assert.lengthOf(yield* opened.query(`SELECT * FROM ${own}_history`), 1)
        assert.lengthOf(yield* opened.query("SELECT * FROM other.time_punches_history"), 0)
      }))
  }

  describe("that is pruned", () => {
    const prune = ({ run }: OpenHistory, before: DateTime.DateTime) =>
      Effect.orDie(run(PunchCopy.pruneHistory(company, { before })))

    test("keeps all of it for an instant that is none, which is refused by name as other options are", (opened) =>
      Effect.gen(function*() {
        yield* Effect.forEach(["0", "1"], (notes) => commit(opened.kept, company, rows(2, notes)))
        const known = yield* historyOf(opened, company)
        const untyped = (text: string) => JSON.parse(text)
        const asked = {
          dayRule: DateTime.zoneMakeNamedUnsafe("UTC"),
          period: () => ({ gte: at(0), lt: at(1) }),
          since: at(0),
          rounding: "halfUp"
        } as const
        const errors = [
          yield* Effect.flip(opened.run(PunchCopy.pruneHistory(company, untyped(`{"before":"2026-03-01"}`)))),
          yield* Effect.flip(opened.run(PunchCopy.pruneHistory(company, untyped(`{"until":1}`)))),
          yield* Effect.flip(opened.run(PunchCopy.changes(company, { ...asked, ...untyped(`{"rounding":"HalfUp"}`) }))),
          yield* Effect.flip(opened.run(PunchCopy.changes(company, { ...asked, ...untyped(`{"asof":1}`) }))),
          yield* Effect.flip(opened.run(Stream.runDrain(PunchCopy.list(company, {}, untyped(`{"at":"2026-03-01"}`)))))
        ]

        assert.deepStrictEqual(
          errors.map((error) => error._tag === "InvalidRequest" ? error.field : error._tag),
          ["before", "until", "rounding", "asof", "at"]
        )
        assert.deepStrictEqual(yield* historyOf(opened, company), known)
      }))

    test("loses what ended before the instant, and is known since then", (opened) =>
      Effect.gen(function*() {
        const { kept } = opened
        const past = []
        for (const notes of ["0", "1", "2", "3"]) {
          yield* commit(kept, company, rows(2, notes))
          past.push([yield* lastOf(opened, company), yield* copyNow(opened, company)] as const)
        }
        const since = past[2]?.[0] ?? at(0)
        assert.strictEqual(yield* prune(opened, since), 4)
        assert.strictEqual(yield* prune(opened, since), 0)
        assert.strictEqual(yield* prune(opened, at(0)), 0)

        assert.deepStrictEqual(Option.getOrThrow(yield* historyOf(opened, company)).since, since)
        for (const [instant, copy] of past.slice(2)) {
          assert.deepStrictEqual(yield* copyAt(opened, company, instant), copy)
        }
        assert.lengthOf(yield* copyNow(opened, company), 2)
      }))

    test("is known since the last commit at the latest", (opened) =>
      Effect.gen(function*() {
        yield* commit(opened.kept, company, rows(2, "0"))
        yield* commit(opened.kept, company, rows(2, "1"))
        assert.strictEqual(yield* prune(opened, DateTime.makeUnsafe("+012000-01-01T00:00:00Z")), 2)

        const { last, since } = Option.getOrThrow(yield* historyOf(opened, company))
        assert.deepStrictEqual(since, last)
        yield* commit(opened.plain, company, rows(2, "2"))
        assert.lengthOf(yield* versionsOf(opened), 2)
      }))

    test("is pruned in several transactions", (opened) =>
      Effect.gen(function*() {
        for (const notes of ["0", "1", "2", "3"]) yield* commit(opened.kept, company, rows(2000, notes))
        assert.strictEqual(yield* prune(opened, yield* lastOf(opened, company)), 6000)
        assert.deepStrictEqual(yield* versionsOf(opened), [])
      }))

    if (dialect === "pg") {
      test("is found by its index, however much stays", (opened) =>
        Effect.gen(function*() {
          const { kept, query, run } = opened
          yield* commit(kept, company, rows(1))
          yield* query(`UPDATE time_punches SET valid_from = NULL`)
          yield* query(
            `INSERT INTO time_punches_history (${columnsOfVersion}, valid_to) SELECT ${columnsOfVersion}, timestamptz '2000-01-01' + n * interval '1 s' FROM time_punches AS r, generate_series(1, 20000) AS n`
          )
          yield* query(`UPDATE time_punches_sync SET history_since = '2000-01-01', known_since = '2000-01-01'`)
          yield* query(`ANALYZE time_punches_history, time_punches_sync`)
          const removals: Array<readonly [text: string, parameters: ReadonlyArray<unknown>]> = []
          const real = yield* run(SqlClient.SqlClient)
          const spy = hookedClient(real, () => ({
            before: (...statement) => Effect.sync(() => statement[0].startsWith("DELETE") && removals.push(statement))
          }))
          const before = DateTime.makeUnsafe("2000-01-01T00:00:10Z")
          const removed = yield* Effect.provideService(
            PunchCopy.pruneHistory(company, { before }),
            SqlClient.SqlClient,
            spy
          )

          assert.strictEqual(removed, 10)
          assert.lengthOf(removals, 1)
          for (const [text, parameters] of removals) {
            const plan = JSON.stringify(yield* real.unsafe(`EXPLAIN ${text}`, parameters))
            assert.include(plan, "_history_ended")
            assert.notInclude(plan, `Seq Scan on time_punches_history`)
          }
        }))
    }

    test("stays as it is where there is none", (opened) =>
      Effect.gen(function*() {
        yield* commit(opened.plain, company, rows(2))
        assert.strictEqual(yield* prune(opened, at(0)), 0)
        assert.deepStrictEqual(yield* historyOf(opened, company), Option.none())
      }))
  })
})
