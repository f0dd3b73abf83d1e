/** A feed of a copy: each kind of event, the laws on random histories, positions that are not known, and following. */
import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, DateTime, Effect, Fiber, Option, Queue, Result, Schema, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { join } from "node:path"
import { CompanyId } from "../../src/Ids.ts"
import { feedInBatches } from "../../src/sql/feed.ts"
import { FeedEvent, type FeedKind, FeedPosition, PunchCopy } from "../../src/sql/index.ts"
import { NodeSqlite } from "../../src/sql/node/index.ts"
import type { TimePunch } from "../../src/TimePunch.ts"
import { temporaryFolder } from "../cli/support.ts"
import { at, rest } from "../support/arbitraryPunch.ts"
import { databases, itWithDatabase } from "../support/databases.ts"
import { commit, copyAt, copyNow, lastOf, type OpenHistory, openHistory } from "../support/histories.ts"
import { needs } from "../support/needs.ts"
import { noPostgres } from "../support/postgres.ts"
import { company, row, rows } from "../support/storeBatches.ts"

type Event = FeedEvent

const told = (events: ReadonlyArray<Event>) => events.map(({ kind, punchId }) => [Number(punchId), kind] as const)

const kinds = (events: ReadonlyArray<Event>): ReadonlyArray<string> => events.map(({ kind }) => kind)

/** Applies events to a state: this is what a consumer does. */
const applied = (state: ReadonlyMap<number, TimePunch>, events: ReadonlyArray<Event>) => {
  const next = new Map(state)
  for (const { after, punchId: id } of events) {
    if (Option.isSome(after)) next.set(id, after.value)
    else next.delete(id)
  }
  return next
}

const sorted = (state: ReadonlyMap<number, TimePunch>) => [...state].toSorted(([one], [other]) => one - other)

const int = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))

/** Few ids and contents: rows are equal, touched, edited, deleted, missing and back. */
const Plan = Schema.Struct({
  size: int(1, 4),
  steps: Schema.Array(Schema.Struct({
    isKept: Schema.Boolean,
    isWhole: Schema.Literals([false, false, true]),
    /** Whether the clock of the database was set back before, so that the next instants are a millisecond apart. */
    isSetBack: Schema.Literals([false, false, false, true]),
    rows: Schema.Array(Schema.Struct({
      id: int(1, 6),
      notes: int(0, 1),
      modified: Schema.NullOr(int(0, 1)),
      deleted: Schema.Literals([false, false, true]),
      isBreakDeleted: Schema.NullOr(Schema.Boolean)
    })).check(Schema.isMaxLength(5))
  })).check(Schema.isMinLength(2), Schema.isMaxLength(8))
})

const punchesOf = (rows: (typeof Plan.Type)["steps"][number]["rows"]): ReadonlyArray<TimePunch> =>
  rows.map(({ deleted, id, isBreakDeleted, modified, notes }) =>
    row(id, {
      notes: `${notes}`,
      deleted,
      modified: Option.map(Option.fromNullOr(modified), at),
      breaks: isBreakDeleted === null ? [] : [rest({ in: 0, out: 60, paid: false, deleted: isBreakDeleted })]
    })
  )

describe.each(databases())("PunchCopy.feed in $name", (database) => {
  const { client, dialect, isHere } = database
  const test = itWithDatabase(database, openHistory)

  const eventsOf = (
    { run }: OpenHistory,
    since?: FeedPosition,
    { of = company, size = 1000 }: { readonly of?: CompanyId; readonly size?: number } = {}
  ) => run(Stream.runCollect(feedInBatches(of, { after: since }, size)))

  const positionOf = ({ run }: OpenHistory, of: CompanyId = company) => run(PunchCopy.feedPosition(of))

  /** What one commit after these tells. */
  const tells = (
    opened: OpenHistory,
    before: ReadonlyArray<TimePunch>,
    after: ReadonlyArray<TimePunch>,
    isWhole = false
  ) =>
    Effect.gen(function*() {
      yield* commit(opened.kept, company, before)
      const since = yield* positionOf(opened)
      yield* commit(opened.kept, company, after, isWhole)
      return yield* eventsOf(opened, since)
    })

  test("begins with the state by id, then tells what changed, with the versions before and after", (opened) =>
    Effect.gen(function*() {
      yield* commit(opened.kept, company, [row(2), row(1), row(3, { deleted: true })])
      const first = yield* lastOf(opened, company)
      const state = yield* eventsOf(opened)
      const end = state.at(-1)?.position
      const edited = row(1, { notes: "edited" })
      yield* commit(opened.kept, company, [row(2), edited])
      const changes = yield* eventsOf(opened, end)

      assert.deepStrictEqual(told(state), [[1, "present"], [2, "present"], [3, "present"]])
      assert.isTrue(state.every((event) => DateTime.Equivalence(event.at, first)))
      const last = yield* lastOf(opened, company)
      const [{ position, ...event }] = [...changes] as [Event]
      assert.deepStrictEqual([changes.length, event], [1, {
        companyId: company,
        at: last,
        kind: "edited",
        punchId: edited.id,
        userId: edited.userId,
        before: Option.some({ ...row(1), companyId: company }),
        after: Option.some({ ...edited, companyId: company })
      }])
      assert.deepStrictEqual(yield* eventsOf(opened, position), [])
    }))

  const cases: ReadonlyArray<readonly [FeedKind, TimePunch | undefined, TimePunch | undefined]> = [
    ["added", undefined, row(1)],
    ["added", undefined, row(1, { deleted: true })],
    ["edited", row(1), row(1, { approved: false })],
    ["touched", row(1), row(1, { modified: Option.some(at(1)) })],
    ["deleted", row(1), row(1, { deleted: true, notes: "edited" })],
    ["undeleted", row(1, { deleted: true }), row(1)],
    ["missing", row(1), undefined]
  ]
  for (const [kind, before, after] of cases) {
    test(`tells what was ${kind}${after?.deleted === true ? " and is deleted" : ""}`, (opened) =>
      Effect.gen(function*() {
        const list = (each: TimePunch | undefined) => each === undefined ? [] : [each]
        const [event, ...more] = yield* tells(opened, list(before), list(after), true)

        assert.deepStrictEqual([event?.kind, event?.before, event?.after, more], [
          kind,
          Option.fromUndefinedOr(before),
          Option.fromUndefinedOr(after),
          []
        ])
      }))
  }

  test("tells what is back without a version before, and leaves missing rows out of the state", (opened) =>
    Effect.gen(function*() {
      yield* commit(opened.kept, company, [row(1), row(2)])
      const since = yield* positionOf(opened)
      yield* commit(opened.kept, company, [row(2)], true)
      assert.deepStrictEqual(told(yield* eventsOf(opened)), [[2, "present"]])
      yield* commit(opened.kept, company, [row(1, { notes: "again" })])

      const events = yield* eventsOf(opened, since)
      assert.deepStrictEqual(told(events), [[1, "missing"], [1, "back"]])
      assert.deepStrictEqual(events.map(({ before }) => Option.isSome(before)), [true, false])
    }))

  test("has a row that a commit brings twice as one event, and none for a commit that changes nothing", (opened) =>
    Effect.gen(function*() {
      const twice = [row(1, { notes: "first" }), row(1, { notes: "last" })]
      assert.deepStrictEqual(told(yield* tells(opened, [row(1)], twice)), [[1, "edited"]])
      const since = yield* positionOf(opened)
      yield* commit(opened.kept, company, [row(1, { notes: "last" })])
      assert.deepStrictEqual(yield* eventsOf(opened, since), [])
    }))

  test("reads the state as it was when it began, whatever is committed meanwhile", (opened) =>
    Effect.gen(function*() {
      yield* commit(opened.kept, company, rows(6, "then"))
      const begun = yield* Queue.unbounded<Event>()
      const meanwhile = [row(1, { notes: "now" }), row(5, { notes: "now" }), row(9, { notes: "now" })]
      yield* feedInBatches(company, {}, 2).pipe(
        Stream.tap((event) =>
          Effect.andThen(
            Queue.offer(begun, event),
            Number(event.punchId) === 2 && event.kind === "present"
              ? commit(opened.kept, company, meanwhile)
              : Effect.void
          )
        ),
        Stream.runDrain,
        opened.run
      )
      const events = yield* Queue.takeAll(begun)
      assert.deepStrictEqual(told(events), [
        ...[1, 2, 3, 4, 5, 6].map((id) => [id, "present"] as const),
        [1, "edited"],
        [5, "edited"],
        [9, "added"]
      ])
      assert.isTrue(events.slice(0, 6).every(({ after }) => Option.exists(after, ({ notes }) => notes === "then")))
    }))

  it.live.prop(
    "resumes at every position to the state of now, with each version once",
    [Arbitrary.schema(Plan)],
    ([{ size, steps }], context) => {
      needs(context, isHere, noPostgres)
      return Effect.scoped(Effect.gen(function*() {
        const opened = yield* openHistory(client)
        const ahead = dialect === "pg" ? "history_last + interval '1 hour'" : "history_last + 3600000"
        yield* commit(opened.kept, company, [])
        const every: Array<FeedPosition> = [yield* positionOf(opened)]
        const states = new Map<string, ReadonlyMap<number, TimePunch>>([[every[0] ?? "", new Map()]])
        for (const { isKept, isSetBack, isWhole, rows } of steps) {
          if (isSetBack) yield* opened.query(`UPDATE time_punches_sync SET history_last = ${ahead}`)
          yield* commit(isKept ? opened.kept : opened.plain, company, punchesOf(rows), isWhole)
        }
        // From the beginning: each event gives a position, and the state behind it.
        let state: ReadonlyMap<number, TimePunch> = new Map()
        const [start] = every
        const all = yield* eventsOf(opened, start, { size })
        for (const event of all) {
          state = applied(state, [event])
          every.push(event.position)
          states.set(event.position, state)
        }
        const now = new Map(
          (yield* copyNow(opened, company)).flatMap(({ isMissing, punch }) =>
            isMissing ? [] : [[Number(punch.id), punch] as const]
          )
        )
        assert.deepStrictEqual(sorted(state), sorted(now))
        for (const [place, position] of every.entries()) {
          const rest = yield* eventsOf(opened, position, { size })
          assert.deepStrictEqual(rest, all.slice(place))
          assert.deepStrictEqual(sorted(applied(states.get(position) ?? new Map(), rest)), sorted(now))
        }
        // Each version is one event, and the positions rise as the commits do.
        const [counted] = yield* opened.query(
          `SELECT (SELECT count(*) FROM time_punches WHERE valid_from IS NOT NULL) +
            (SELECT count(*) FROM time_punches_history WHERE valid_from IS NOT NULL) AS versions`
        )
        assert.strictEqual(all.length, Number(counted?.["versions"]))
        const order = all.map(({ at, punchId }) => [at.epochMilliseconds, Number(punchId)] as const)
        assert.deepStrictEqual(order, order.toSorted(([a, one], [b, other]) => a - b || one - other))
        // The state that a feed begins with is the copy, and each position in it resumes with the rest.
        const present = yield* eventsOf(opened, undefined, { size })
        assert.deepStrictEqual(sorted(applied(new Map(), present)), sorted(now))
        assert.isTrue(kinds(present).every((kind) => kind === "present"))
        for (const [place, { position }] of present.entries()) {
          assert.deepStrictEqual(yield* eventsOf(opened, position, { size }), present.slice(place + 1))
        }
        // What the state of an instant was, by another statement.
        for (const event of all.slice(-2)) {
          const then = (yield* copyAt(opened, company, event.at)).flatMap(({ isMissing, punch }) =>
            isMissing ? [] : [[Number(punch.id), punch] as const]
          )
          const until = all.filter(({ at }) => at.epochMilliseconds <= event.at.epochMilliseconds)
          assert.deepStrictEqual(sorted(applied(new Map(), until)), then)
        }
        // A pruned history keeps each place after which nothing was removed, and fails at the others: also within a commit, whose
        // punches have lost what they were before.
        const prunedAt = all.at(Math.floor(all.length / 2))?.at ?? (yield* lastOf(opened, company))
        yield* opened.run(PunchCopy.pruneHistory(company, { before: prunedAt }))
        for (const [place, position] of every.entries()) {
          const rest = yield* Effect.result(eventsOf(opened, position, { size }))
          const next = all[place]
          const reached = all[place - 1]
          const isKept = next === undefined || next.at.epochMilliseconds > prunedAt.epochMilliseconds ||
            (reached !== undefined && reached.at.epochMilliseconds > prunedAt.epochMilliseconds)
          if (isKept) assert.deepStrictEqual(rest, Result.succeed(all.slice(place)))
          else assert.strictEqual(Result.isFailure(rest) && rest.failure._tag, "HistoryUnavailable")
        }
      }))
    },
    { arbitrary: { runs: 40 } }
  )

  /** Another copy, from a backup of this one. */
  const restoredFrom = Effect.fnUntraced(function*(lost: OpenHistory) {
    if (dialect === "sqlite") {
      const backup = join(yield* temporaryFolder, "backup.db")
      yield* lost.query(`VACUUM INTO '${backup}'`)
      return yield* openHistory(NodeSqlite.layer({ filename: backup }))
    }
    const restored = yield* openHistory(client)
    const [row] = yield* lost.query("SELECT current_schema() AS lost")
    for (const table of ["time_punches", "time_punches_history", "time_punches_sync"]) {
      yield* restored.query(`INSERT INTO ${table} SELECT * FROM ${row?.["lost"]}.${table}`)
    }
    return restored
  })

  it.live.prop(
    "adds up, or fails, at every position after a restore from a backup and syncs of the restored copy",
    [Arbitrary.schema(Plan), Arbitrary.schema(Plan)],
    ([{ size, steps }, { steps: later }], context) => {
      needs(context, isHere, noPostgres)
      return Effect.scoped(Effect.gen(function*() {
        const lost = yield* openHistory(client)
        let restored = lost
        const halfway = Math.floor((steps.length - 1) / 2)
        /** Positions of the three kinds, each with the state of the copy that its consumer has. */
        const kept: Array<{ readonly position: FeedPosition; readonly state: ReadonlyMap<number, TimePunch> }> = []
        const keep = (position: FeedPosition, state: ReadonlyMap<number, TimePunch>) => kept.push({ position, state })
        const statesOf = Effect.fnUntraced(function*(since?: FeedPosition, begin = new Map<number, TimePunch>()) {
          let state: ReadonlyMap<number, TimePunch> = begin
          for (const event of yield* eventsOf(lost, since, { size })) {
            state = applied(state, [event])
            keep(event.position, state)
          }
          return state
        })
        yield* commit(lost.kept, company, [])
        const start = yield* positionOf(lost)
        keep(start, new Map())
        let inBackup = 0
        for (const [place, { isWhole, rows }] of steps.entries()) {
          yield* commit(lost.kept, company, punchesOf(rows), isWhole)
          keep(yield* positionOf(lost), yield* statesOf())
          if (place !== halfway) continue
          restored = yield* restoredFrom(lost)
          inBackup = kept.length
        }
        yield* statesOf(start)
        // A restored copy is synced later than any commit that it lost.
        const ahead = dialect === "pg" ? "interval '1 hour'" : "3600000"
        yield* restored.query(`UPDATE time_punches_sync SET history_last = history_last + ${ahead}`)
        for (const { isWhole, rows } of later) yield* commit(restored.kept, company, punchesOf(rows), isWhole)
        const now = (yield* copyNow(restored, company)).flatMap(({ isMissing, punch }) =>
          isMissing ? [] : [[Number(punch.id), punch] as const]
        )
        for (const [place, { position, state }] of kept.entries()) {
          const rest = yield* Effect.result(eventsOf(restored, position, { size }))
          if (Result.isSuccess(rest)) assert.deepStrictEqual(sorted(applied(state, rest.success)), now, position)
          else assert.deepStrictEqual([rest.failure._tag, place >= inBackup], ["HistoryUnavailable", true], position)
        }
      }))
    },
    { arbitrary: { runs: 15 } }
  )

  const failureOf = (opened: OpenHistory, since?: FeedPosition) => Effect.flip(eventsOf(opened, since))

  test("fails where no history is kept, and during a first load", (opened) =>
    Effect.gen(function*() {
      const empty = yield* failureOf(opened)
      yield* commit(opened.plain, company, rows(2))
      const plain = yield* failureOf(opened)
      assert.deepStrictEqual([empty, plain].map((error) => [error._tag, "since" in error && error.since]), [
        ["HistoryUnavailable", Option.none()],
        ["HistoryUnavailable", Option.none()]
      ])
      assert.strictEqual((yield* Effect.flip(positionOf(opened)))._tag, "HistoryUnavailable")
    }))

  test("fails during a first load that keeps a history", (opened) =>
    Effect.gen(function*() {
      yield* commit(opened.kept, company, rows(2), false, false)
      assert.strictEqual((yield* failureOf(opened))._tag, "HistoryUnavailable")
    }))

  test("fails behind a pruned history with the instant from which it is known, and continues from there", (opened) =>
    Effect.gen(function*() {
      yield* commit(opened.kept, company, rows(2))
      const since = yield* positionOf(opened)
      yield* commit(opened.kept, company, rows(2, "a"))
      const kept = yield* positionOf(opened)
      yield* opened.run(
        PunchCopy.pruneHistory(company, { before: yield* lastOf(opened, company) })
      )
      yield* commit(opened.kept, company, rows(2, "b"))

      const error = yield* failureOf(opened, since)
      assert.strictEqual(error._tag, "HistoryUnavailable")
      assert.include(error.message, "its history is known since")
      assert.deepStrictEqual(kinds(yield* eventsOf(opened, kept)), ["edited", "edited"])
    }))

  /** Removes what was replaced up to the last commit. */
  const prune = (opened: OpenHistory) =>
    Effect.flatMap(
      lastOf(opened, company),
      (before) => opened.run(PunchCopy.pruneHistory(company, { before }))
    )

  test("continues behind a pruned history if nothing has changed since", (opened) =>
    Effect.gen(function*() {
      yield* commit(opened.kept, company, rows(2))
      yield* commit(opened.kept, company, [row(1, { notes: "edited" })])
      yield* prune(opened)
      yield* commit(opened.kept, company, [])
      const state = (yield* eventsOf(opened)).at(-1)?.position
      const now = yield* positionOf(opened)
      yield* prune(opened)
      yield* commit(opened.kept, company, [row(2, { notes: "edited" })])

      for (const position of [state, now]) {
        assert.deepStrictEqual(told(yield* eventsOf(opened, position)), [[2, "edited"]], position)
      }
    }))

  test("continues at a kept place that a pruned history has passed, as long as no change between is lost", (opened) =>
    Effect.gen(function*() {
      yield* commit(opened.kept, company, rows(2))
      const places = [(yield* eventsOf(opened)).at(-1)?.position]
      yield* commit(opened.kept, company, [row(1, { notes: "edited" })])
      places[0] = (yield* eventsOf(opened)).at(-1)?.position
      places.push((yield* eventsOf(opened, places[0])).at(-1)?.position ?? places[0], yield* positionOf(opened))
      // A season without a change, whose syncs prune.
      for (let day = 0; day < 3; day++) {
        yield* commit(opened.kept, company, [])
        yield* prune(opened)
      }
      for (const place of places) assert.deepStrictEqual(yield* eventsOf(opened, place), [], place)
      yield* commit(opened.kept, company, [row(2, { notes: "edited" })])
      for (const place of places) assert.deepStrictEqual(told(yield* eventsOf(opened, place)), [[2, "edited"]], place)
      // The change that they have not seen goes out of the history.
      yield* commit(opened.kept, company, [row(2, { notes: "edited again" })])
      yield* prune(opened)
      for (const place of places)
        assert.strictEqual((yield* failureOf(opened, place))._tag, "HistoryUnavailable", place)
    }))

  test("fails at a place before a removal by hand, also once a pruned history has passed both", (opened) =>
    Effect.gen(function*() {
      yield* commit(opened.kept, company, rows(3))
      const place = yield* positionOf(opened)
      yield* opened.query(`DELETE FROM time_punches WHERE company_id = ${company} AND id = 1`)
      // It does not bring the row again, so no version tells of it.
      yield* commit(opened.kept, company, [])
      for (let day = 0; day < 2; day++) {
        assert.strictEqual((yield* failureOf(opened, place))._tag, "HistoryUnavailable")
        yield* commit(opened.kept, company, [])
        yield* prune(opened)
      }
    }))

  test("begins with what changed after an instant, and never before the history is known", (opened) =>
    Effect.gen(function*() {
      const { run } = opened
      yield* commit(opened.kept, company, rows(2))
      const [first, then] = [yield* lastOf(opened, company), yield* positionOf(opened)]
      yield* commit(opened.kept, company, [row(1, { notes: "edited" })])
      const second = yield* lastOf(opened, company)
      yield* commit(opened.kept, company, [row(2, { notes: "edited" })])
      const since = (instant: DateTime.DateTime) => run(Stream.runCollect(PunchCopy.feed(company, { since: instant })))

      assert.deepStrictEqual(yield* since(first), yield* eventsOf(opened, then))
      assert.deepStrictEqual(told(yield* since(second)), [[2, "edited"]])
      assert.deepStrictEqual(told(yield* since(DateTime.subtract(second, { milliseconds: 1 }))), [[1, "edited"], [
        2,
        "edited"
      ]])
      assert.deepStrictEqual(yield* since(DateTime.makeUnsafe("9999-01-01T00:00:00Z")), [])
      assert.strictEqual(yield* run(PunchCopy.feedPosition(company, { since: first })), then)
      const before = yield* Effect.flip(since(DateTime.subtract(first, { milliseconds: 1 })))
      const both = yield* Effect.flip(run(Stream.runDrain(PunchCopy.feed(company, { after: then, since: first }))))
      assert.deepStrictEqual([before._tag, both._tag, both.message.includes("goes without after")], [
        "HistoryUnavailable",
        "InvalidRequest",
        true
      ])
    }))

  test("waits for the end of a first load before it gives out the position of now", (opened) =>
    Effect.gen(function*() {
      const { run } = opened
      const waiting = yield* Effect.forkChild(run(PunchCopy.feedPosition(company, { follow: "100 millis" })))
      yield* commit(opened.kept, company, rows(1), false, false)
      yield* Effect.sleep("300 millis")
      assert.isUndefined(waiting.pollUnsafe())
      yield* commit(opened.kept, company, rows(2))
      const position = yield* Fiber.join(waiting)

      assert.strictEqual(position, yield* positionOf(opened))
      yield* commit(opened.kept, company, [row(1, { notes: "edited" })])
      assert.deepStrictEqual(told(yield* eventsOf(opened, position)), [[1, "edited"]])
    }))

  test("waits, if it follows, for a replica that does not have the commit of its position yet", (opened) =>
    Effect.gen(function*() {
      const { run } = opened
      yield* commit(opened.kept, company, rows(2))
      const behind = yield* lastOf(opened, company)
      yield* commit(opened.kept, company, [row(1, { notes: "edited" })])
      const position = yield* positionOf(opened)
      const ahead = yield* lastOf(opened, company)
      const setLast = ({ epochMilliseconds }: DateTime.Utc) =>
        opened.query(
          `UPDATE time_punches_sync SET history_last = ${
            dialect === "pg" ? `to_timestamp(${epochMilliseconds} / 1000.0)` : epochMilliseconds
          }`
        )
      yield* setLast(behind)
      assert.include((yield* failureOf(opened, position)).message, "a replica that is behind")
      const following = yield* Effect.forkChild(
        run(Stream.runHead(PunchCopy.feed(company, { after: position, follow: "100 millis" })))
      )
      yield* Effect.sleep("400 millis")
      assert.isUndefined(following.pollUnsafe())
      yield* setLast(ahead)
      yield* commit(opened.kept, company, [row(2, { notes: "edited" })])
      assert.deepStrictEqual(told(Option.toArray(yield* Fiber.join(following))), [[2, "edited"]])
    }))

  test("notices a restored backup though the clock is behind its last commit", (lost) =>
    Effect.gen(function*() {
      yield* commit(lost.kept, company, rows(3))
      const ahead = dialect === "pg" ? "history_last + interval '1 hour'" : "history_last + 3600000"
      yield* lost.query(`UPDATE time_punches_sync SET history_last = ${ahead}`)
      yield* commit(lost.kept, company, [row(3, { notes: "by a clock that is ahead" })])
      const shared = yield* positionOf(lost)
      const restored = yield* restoredFrom(lost)
      for (const each of ["one", "two"]) yield* commit(lost.kept, company, [row(1, { notes: each })])
      const places = [...(yield* eventsOf(lost, shared)).map(({ position }) => position), yield* positionOf(lost)]
      for (const each of ["three", "two"]) yield* commit(restored.kept, company, [row(1, { notes: each })])

      assert.deepStrictEqual(told(yield* eventsOf(restored, shared)), [[1, "edited"], [1, "edited"]])
      for (const place of places) {
        assert.strictEqual((yield* failureOf(restored, place))._tag, "HistoryUnavailable", place)
      }
    }))

  test("has a position behind the greatest id, in a state and in a commit", (opened) =>
    Effect.gen(function*() {
      const greatest = Number.MAX_SAFE_INTEGER
      yield* commit(opened.kept, company, [row(1), row(greatest)])
      const state = yield* eventsOf(opened, undefined, { size: 1 })
      assert.deepStrictEqual(told(state), [[1, "present"], [greatest, "present"]])
      assert.deepStrictEqual(yield* eventsOf(opened, state.at(-1)?.position), [])
      yield* commit(opened.kept, company, [row(1, { notes: "edited" }), row(greatest, { notes: "edited" })])
      const changes = yield* eventsOf(opened, state.at(-1)?.position, { size: 1 })
      assert.deepStrictEqual(told(changes), [[1, "edited"], [greatest, "edited"]])
      assert.deepStrictEqual(yield* eventsOf(opened, changes.at(-1)?.position), [])
      for (const { position } of [...state, ...changes]) {
        assert.strictEqual(yield* Schema.decodeUnknownEffect(FeedPosition)(position), position)
      }
    }))

  test("follows a copy in which nothing changes for longer than its history is kept", (opened) =>
    Effect.gen(function*() {
      const { run } = opened
      yield* commit(opened.kept, company, rows(2))
      yield* commit(opened.kept, company, [row(1, { notes: "edited" })])
      const since = (yield* eventsOf(opened)).at(-1)?.position
      const following = yield* Effect.forkChild(
        run(Stream.runHead(PunchCopy.feed(company, { after: since, follow: "100 millis" })))
      )
      for (let times = 0; times < 3; times++) {
        yield* commit(opened.kept, company, [])
        yield* Effect.sleep("300 millis")
        yield* prune(opened)
      }
      yield* commit(opened.kept, company, [row(2, { notes: "edited" })])

      assert.deepStrictEqual(told(Option.toArray(yield* Fiber.join(following))), [[2, "edited"]])
    }))

  test("fails after an erasure, and after rows were removed by hand", (opened) =>
    Effect.gen(function*() {
      yield* commit(opened.kept, company, rows(2))
      const since = yield* positionOf(opened)
      yield* opened.query(`DELETE FROM time_punches WHERE company_id = ${company} AND id = 1`)
      assert.strictEqual((yield* failureOf(opened, since))._tag, "HistoryUnavailable")
      yield* commit(opened.kept, company, rows(2))
      assert.strictEqual((yield* failureOf(opened, since))._tag, "HistoryUnavailable")
      const known = yield* positionOf(opened)
      assert.deepStrictEqual(yield* eventsOf(opened, known), [])
      yield* opened.run(PunchCopy.purge(company))
      assert.strictEqual((yield* failureOf(opened, known))._tag, "HistoryUnavailable")
    }))

  test("fails at a position of another copy of the company, which has no such version", (opened) =>
    Effect.gen(function*() {
      yield* commit(opened.kept, company, rows(2))
      const [first] = yield* eventsOf(opened)
      const whole = yield* positionOf(opened)
      yield* commit(opened.kept, company, [row(2, { notes: "edited" })])
      const [edited] = yield* eventsOf(opened, whole)
      const made = (text: string) => FeedPosition.make(text)
      const foreign = [
        // Another punch at this commit, another commit, and an instant after the last one.
        made((edited?.position ?? "").replace(/\/2$/, "/1")),
        made((edited?.position ?? "").replace(/\.(\d)/, (_, digit) => `.${(Number(digit) + 1) % 10}`)),
        made(whole.replace(/\/\d{4}/, "/9999")),
        // Another newest change of the state, and of now.
        made((first?.position ?? "").replace(/\/2$/, "/1")),
        made(whole.replace(/\/2$/, "/1"))
      ]
      for (const position of foreign) {
        const error = yield* failureOf(opened, position)
        assert.strictEqual(error._tag, "HistoryUnavailable", position)
      }
      assert.include((yield* failureOf(opened, foreign[0])).message, "of another database")
    }))

  test("refuses a position of another company and an interval that is too short, and sends nothing", (opened) =>
    Effect.gen(function*() {
      yield* commit(opened.kept, company, rows(1))
      const position = yield* positionOf(opened)
      const { run } = opened
      const other = yield* Effect.flip(eventsOf(opened, position, { of: CompanyId.make(77) }))
      const short = yield* Effect.flip(run(Stream.runDrain(PunchCopy.feed(company, { follow: "99 millis" }))))
      assert.deepStrictEqual([other, short].map(({ _tag, message }) => [_tag, /^[^:]*: ([^[]*) /.exec(message)?.[1]]), [
        ["InvalidRequest", "is a position of company 2"],
        ["InvalidRequest", "is at least 100 ms"]
      ])
    }))

  test("follows what is committed, from the end of a first load on", (opened) =>
    Effect.gen(function*() {
      const seen = yield* Queue.unbounded<Event>()
      const { run } = opened
      const following = yield* Effect.forkChild(
        run(
          Stream.runForEach(
            PunchCopy.feed(company, { follow: "100 millis" }),
            (event) => Queue.offer(seen, event)
          )
        )
      )
      const next = Effect.map(Queue.take(seen), ({ kind, punchId }) => [Number(punchId), kind] as const)
      yield* commit(opened.kept, company, [row(1)], false, false)
      yield* Effect.sleep("300 millis")
      assert.strictEqual(yield* Queue.size(seen), 0)
      yield* commit(opened.kept, company, [row(2)])
      assert.deepStrictEqual([yield* next, yield* next], [[1, "present"], [2, "present"]])
      yield* commit(opened.kept, company, [])
      yield* commit(opened.kept, company, [row(2, { notes: "edited" })])
      assert.deepStrictEqual(yield* next, [2, "edited"])
      yield* run(PunchCopy.purge(company))
      const error = yield* Effect.flip(Fiber.join(following))
      assert.strictEqual(error._tag, "HistoryUnavailable")
    }))

  test("fails while it follows a copy that is restored and synced again", (opened) =>
    Effect.gen(function*() {
      const seen = yield* Queue.unbounded<Event>()
      const { run } = opened
      yield* commit(opened.kept, company, rows(2))
      const since = yield* positionOf(opened)
      const following = yield* Effect.forkChild(
        run(
          Stream.runForEach(
            PunchCopy.feed(company, { after: since, follow: "100 millis" }),
            (event) => Queue.offer(seen, event)
          )
        )
      )
      yield* commit(opened.kept, company, [row(2, { notes: "lost" })])
      yield* Queue.take(seen)
      // As if the commit had never been, and a later one had another change.
      const later = `history_last + ${dialect === "pg" ? "interval '1 second'" : "1000"}`
      yield* run(Effect.flatMap(SqlClient.SqlClient, (sql) =>
        sql.withTransaction(Effect.gen(function*() {
          yield* sql.unsafe(
            `UPDATE time_punches SET valid_from = (SELECT ${later} FROM time_punches_sync) WHERE id = 2`
          )
          yield* sql.unsafe(`DELETE FROM time_punches_history`)
          yield* sql.unsafe(`UPDATE time_punches_sync SET history_last = ${later}`)
        }))))
      const error = yield* Effect.flip(Fiber.join(following))

      assert.strictEqual(error._tag, "HistoryUnavailable")
      assert.strictEqual(yield* Queue.size(seen), 0)
    }))

  test("is encoded and decoded whole", (opened) =>
    Effect.gen(function*() {
      const events = [
        ...yield* tells(opened, [row(1)], [row(1, { notes: "x" })]),
        ...yield* eventsOf(opened)
      ]
      const json = Schema.fromJsonString(FeedEvent)
      for (const event of events) {
        const text = yield* Schema.encodeEffect(json)(event)
        assert.deepStrictEqual(yield* Schema.decodeUnknownEffect(json)(text), event)
      }
    }))
})

describe("FeedPosition", () => {
  it.effect("refuses what no feed gives out", () =>
    Effect.gen(function*() {
      const decode = Schema.decodeUnknownEffect(FeedPosition)
      const good = [
        "7/2026-03-09T15:00:00.123Z/451",
        "7/2026-03-09T15:00:00Z@2026-03-09T14:59:00.123Z/17",
        "7/2026-03-09T15:00:00Z/state/0@2026-03-09T15:00:00Z/17"
      ]
      for (const text of good) assert.strictEqual(yield* decode(text), text)
      const bad = [
        "",
        "now",
        "7",
        "7/2026-13-09T15:00:00Z",
        "7/2026-03-09T15:00:00Z/",
        "7/2026-03-09T15:00:00Z",
        "7/2026-03-09T15:00:00Z/state/0",
        "7/2026-03-09T15:00:00Z/state",
        "7/2026-03-09T15:00:00Z/451@2026-03-09T15:00:00Z/17",
        "7/2026-03-09T15:00:00Z@2026-03-09T15:00:00.001Z/17",
        "7/2026-03-09T15:00:00Z@2026-03-39T15:00:00Z/17",
        "7/2026-03-09T15:00:00Z@2026-03-09T15:00:00Z"
      ]
      for (const text of [...bad, `${good[0]}\n`, ` ${good[0]}`, "7/2026-03-09T15:00:00Z/9999999999999999"]) {
        const error = yield* Effect.flip(decode(text))
        assert.include(error.message, "a position of a feed", text)
      }
    }))
})
