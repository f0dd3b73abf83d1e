/** What every store of a sync promises that has a transaction: one suite over memory, SQLite and PostgreSQL. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { CompanyId } from "../../src/Ids.ts"
import { checkpointText } from "../../src/sync/Checkpoint.ts"
import type { Batch, SweepWindow } from "../../src/sync/index.ts"
import { at } from "../support/arbitraryPunch.ts"
import { databases } from "../support/databases.ts"
import { needs } from "../support/needs.ts"
import { batchesOf, batchOf, checkpointAt, company, Plan, row, rowIds, rows } from "../support/storeBatches.ts"
import { memoryKind, type OpenStore, postgresKind, sqliteHistoryKind, sqliteKind } from "../support/stores.ts"

const [, { client: postgres }] = databases()
const kinds = [memoryKind, sqliteKind, sqliteHistoryKind, postgresKind(postgres)]

describe.each(kinds)("a store $name", ({ missing, open }) => {
  const test = (title: string, body: (opened: OpenStore) => Effect.Effect<void, unknown>) =>
    it.live(title, (context) => {
      needs(context, Option.isNone(missing), Option.getOrElse(missing, () => ""))
      return Effect.scoped(Effect.flatMap(open, body))
    })

  /** Commits batches in turn, each on the checkpoint of the last. */
  const commitAll = Effect.fnUntraced(function*({ store }: OpenStore, batches: ReadonlyArray<Batch>) {
    let previous = yield* store.load(company)
    const done = []
    for (const batch of batches) {
      done.push(yield* store.commit(batch, previous))
      previous = Option.some(batch.checkpoint)
    }
    return done
  })

  test("has no checkpoint before the first commit, and then the one of the last", ({ store }) =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* store.load(company), Option.none())

      yield* store.commit(batchOf(1, { punches: rows(2) }), Option.none())
      yield* store.commit(batchOf(2), Option.some(checkpointAt(1)))

      assert.deepStrictEqual(yield* store.load(company), Option.some(checkpointAt(2)))
      assert.deepStrictEqual(yield* store.load(CompanyId.make(3)), Option.none())
    }))

  test("stores nothing of a batch that another sync has overtaken", (opened) =>
    Effect.gen(function*() {
      yield* commitAll(opened, [batchOf(1, { punches: rows(3) })])
      const before = yield* opened.rows(company)
      const late = batchOf(2, { punches: [row(1, { notes: "late" }), row(9)] })

      for (const previous of [Option.none(), Option.some(checkpointAt(7)), Option.some(checkpointAt(2))]) {
        const error = yield* Effect.flip(opened.store.commit(late, previous))
        assert.strictEqual(error.reason._tag, "Superseded")
      }

      assert.deepStrictEqual(yield* opened.rows(company), before)
      assert.deepStrictEqual(yield* opened.store.load(company), Option.some(checkpointAt(1)))
    }))

  test("does not take the same batch twice", ({ store }) =>
    Effect.gen(function*() {
      yield* store.commit(batchOf(1, { punches: rows(3) }), Option.none())

      assert.strictEqual((yield* Effect.flip(store.commit(batchOf(1), Option.none()))).reason._tag, "Superseded")
    }))

  test("accepts one of two commits on the same checkpoint", ({ rows: rowsOf, store }) =>
    Effect.gen(function*() {
      yield* store.commit(batchOf(1, { punches: rows(300) }), Option.none())
      const both = [2, 3].map((pass) =>
        Effect.result(store.commit(
          batchOf(pass, { punches: rows(300).toReversed().map(({ id }) => row(id, { notes: `by ${pass}` })) }),
          Option.some(checkpointAt(1))
        ))
      )

      const results = yield* Effect.all(both, { concurrency: "unbounded" })

      assert.deepStrictEqual(results.map(({ _tag }) => _tag).toSorted(), ["Failure", "Success"])
      assert.lengthOf([...new Set((yield* rowsOf(company)).map(({ punch: { notes } }) => notes))], 1)
    }))

  test("keeps an older run out once a newer one has claimed the checkpoint", ({ store }) =>
    Effect.gen(function*() {
      yield* store.commit(batchOf(1, { punches: rows(3) }), Option.none())
      const claimed = checkpointAt(1, "the newer run")
      yield* store.commit(batchOf(1, { checkpoint: claimed }), Option.some(checkpointAt(1)))

      const error = yield* Effect.flip(store.commit(batchOf(2, { punches: rows(1) }), Option.some(checkpointAt(1))))

      assert.strictEqual(error.reason._tag, "Superseded")
      assert.deepStrictEqual(yield* store.load(company), Option.some(claimed))
    }))

  test("[Y79] keeps a first load out once a blank checkpoint was claimed, and continues from that", ({ rows: found, store }) =>
    Effect.gen(function*() {
      const blank = { ...checkpointAt(0, "the newer run"), watermark: Option.none() }
      yield* store.commit(batchOf(0, { kind: "first", checkpoint: blank }), Option.none())

      const error = yield* Effect.flip(store.commit(batchOf(1, { kind: "first", punches: rows(3) }), Option.none()))

      assert.strictEqual(error.reason._tag, "Superseded")
      assert.deepStrictEqual([yield* store.load(company), yield* found(company)], [Option.some(blank), []])
      yield* store.commit(batchOf(1, { kind: "first", punches: rows(3) }), Option.some(blank))
      assert.lengthOf(yield* found(company), 3)
    }))

  test("refuses a checkpoint whose text was edited, and never begins again", ({ setText, store }) =>
    Effect.gen(function*() {
      yield* store.commit(batchOf(1), Option.none())
      const text = checkpointText(checkpointAt(1))
      const edited = [
        "",
        "not JSON",
        `{"v":1,"company":2}`,
        text.replace(`"v":1`, `"v":0`),
        ` ${text}`,
        text.replace(`"v":1,"company":2`, `"company":2,"v":1`),
        text.replace(`"company":2`, `"company":3`)
      ]

      for (const each of edited) {
        yield* setText(company, each)
        const error = yield* Effect.flip(store.load(company))
        assert.strictEqual(error.reason._tag, "Checkpoint", each)
      }
    }))

  test("knows the checkpoint of a newer release, and leaves it as it is", ({ setText, store }) =>
    Effect.gen(function*() {
      yield* store.commit(batchOf(1), Option.none())
      const text = checkpointText(checkpointAt(1))

      for (const each of [text.replace(`"v":1`, `"v":2`), text.replace(/\}$/, `,"later":"x"}`)]) {
        yield* setText(company, each)
        const error = yield* Effect.flip(store.load(company))
        assert.strictEqual(error.reason._tag, "NewerCheckpoint", each)
        const late = yield* Effect.flip(store.commit(batchOf(2), Option.some(checkpointAt(1))))
        assert.strictEqual(late.reason._tag, "Superseded", each)
        assert.strictEqual((yield* Effect.flip(store.load(company))).reason._tag, "NewerCheckpoint", each)
      }
      yield* setText(company, text)
      assert.deepStrictEqual(yield* store.load(company), Option.some(checkpointAt(1)))
    }))

  test("counts what was written, and what was equal already, in every kind of pass", (opened) =>
    Effect.gen(function*() {
      const old = at(-500)
      const done = yield* commitAll(opened, [
        batchOf(1, { kind: "first", punches: rows(150) }),
        batchOf(2, { punches: rows(150) }),
        batchOf(3, { punches: [...rows(149), row(150, { modified: Option.some(old), notes: "new" })] }),
        batchOf(4, { kind: "sweep", punches: rows(152).map((each) => each.id === 150 ? row(150) : each) }),
        batchOf(5, { kind: "confirm", punches: rows(152) })
      ])

      assert.deepStrictEqual(done.map(({ unchanged, written }) => [written, unchanged]), [
        [150, 0],
        [0, 150],
        [1, 149],
        [3, 149],
        [0, 152]
      ])
      assert.deepStrictEqual(done.map(({ oldestModified }) => oldestModified), [
        Option.none(),
        Option.none(),
        Option.some(old),
        Option.none(),
        Option.none()
      ])
    }))

  test("knows the earliest change of a page whose rows the same pass has brought before", (opened) =>
    Effect.gen(function*() {
      const [early, late] = [at(1), at(9)]
      const first = batchOf(2, { punches: [row(1, { modified: Option.some(early) }), row(2)] })
      const again = batchOf(2, {
        punches: [row(1, { modified: Option.some(early) }), row(2, { modified: Option.some(late), notes: "moved" })],
        checkpoint: checkpointAt(2, "its next page")
      })

      const done = yield* commitAll(opened, [batchOf(1, { punches: rows(2) }), first, again])

      assert.deepStrictEqual(done[2], { written: 1, unchanged: 1, missing: 0, oldestModified: Option.some(late) })
    }))

  test("knows the earliest change of a batch that takes several statements", (opened) =>
    Effect.gen(function*() {
      const [early, late] = [at(1), at(9)]
      const [, ...between] = rows(1199)
      const ends = [row(1, { modified: Option.some(early) }), row(1200, { modified: Option.some(late) })]

      const [done] = yield* commitAll(opened, [batchOf(1, { punches: [...ends, ...between] })])

      assert.deepStrictEqual(done?.oldestModified, Option.some(early))
    }))

  test("stamps changed rows in an increment, and every row in the other kinds", (opened) =>
    Effect.gen(function*() {
      yield* commitAll(opened, [
        batchOf(1, { kind: "first", punches: rows(3) }),
        batchOf(2, { punches: [row(1), row(2, { notes: "changed" })] })
      ])
      assert.deepStrictEqual((yield* opened.rows(company)).map(({ pass }) => pass), [1, 2, 1])

      for (const [pass, kind] of [[3, "sweep"], [4, "confirm"], [5, "first"]] as const) {
        yield* commitAll(opened, [batchOf(pass, { kind, punches: [row(1), row(2, { notes: kind })] })])
        assert.deepStrictEqual((yield* opened.rows(company)).map(({ pass }) => pass), [pass, pass, 1], kind)
      }
    }))

  test("lowers stamps that would hide a row from a sweep, at the first page of its attempt alone", (opened) =>
    Effect.gen(function*() {
      yield* commitAll(opened, [batchOf(90, { kind: "first", punches: rows(3) })])
      // An older checkpoint was put back: its numbers are below those that the rows bear.
      yield* opened.setText(company, checkpointText(checkpointAt(3)))
      yield* commitAll(opened, [
        batchOf(4, { punches: [] }),
        batchOf(5, { kind: "sweep", punches: [row(1)] }),
        batchOf(5, { kind: "sweep", punches: [row(2)], checkpoint: checkpointAt(5, "its next page") })
      ])

      assert.deepStrictEqual((yield* opened.rows(company)).map(({ pass }) => pass), [5, 5, 0])
    }))

  test("lets the last row of a page win where a key comes twice", (opened) =>
    Effect.gen(function*() {
      const twice = [row(1, { notes: "first" }), row(2), row(1, { notes: "last" })]

      const [done] = yield* commitAll(opened, [batchOf(1, { punches: twice })])

      assert.deepStrictEqual([done?.written, done?.unchanged], [2, 0])
      assert.deepStrictEqual((yield* opened.rows(company)).map(({ punch }) => punch.notes), ["last", ""])
    }))

  test("writes into the copy of its company alone", (opened) =>
    Effect.gen(function*() {
      const other = CompanyId.make(3)
      yield* commitAll(opened, [batchOf(1, { punches: [row(1, { companyId: other })] })])

      assert.deepStrictEqual([(yield* opened.rows(company)).length, yield* opened.rows(other)], [1, []])
    }))

  test("keeps deleted rows, and takes them back", (opened) =>
    Effect.gen(function*() {
      const done = yield* commitAll(opened, [
        batchOf(1, { punches: [row(1, { deleted: true }), row(2)] }),
        batchOf(2, { punches: [row(1), row(2, { deleted: true })] })
      ])

      assert.deepStrictEqual(done.map(({ written }) => written), [2, 2])
      assert.deepStrictEqual((yield* opened.rows(company)).map(({ punch }) => punch.deleted), [false, true])
    }))

  describe("with rows that a sweep did not see", () => {
    const days = (count: number, from = 0) =>
      Array.from({ length: count }, (_, each) => row(from + each, { clockedIn: at((from + each) * 10) }))
    const missing = (window: SweepWindow, allowed = false) => Option.some({ window, before: 5, allowed })
    const swept = (missingRows: number, seen: number, kept: SweepWindow = {}, allowed = false) => [
      batchOf(1, { kind: "first", punches: days(missingRows + seen) }),
      batchOf(5, { kind: "sweep", punches: days(seen) }),
      batchOf(6, { kind: "confirm", missing: missing(kept, allowed) })
    ]
    const missingOf = (opened: OpenStore) =>
      Effect.map(opened.rows(company), (found) => rowIds(found.filter(({ isMissing }) => isMissing)))

    test("marks them, and keeps their content", (opened) =>
      Effect.gen(function*() {
        const [, , done] = yield* commitAll(opened, swept(2, 3))

        assert.strictEqual(done?.missing, 2)
        assert.deepStrictEqual(yield* missingOf(opened), [3, 4])
        assert.deepStrictEqual((yield* opened.rows(company)).map(({ punch }) => punch), days(5))
      }))

    test("marks those of the window, whose end is not in it", (opened) =>
      Effect.gen(function*() {
        const [, , done] = yield* commitAll(opened, swept(5, 1, { gte: at(20), lt: at(40) }))

        assert.strictEqual(done?.missing, 2)
        assert.deepStrictEqual(yield* missingOf(opened), [2, 3])
      }))

    test("marks no row twice, and takes one back that is seen again, equal or not, in any kind", (opened) =>
      Effect.gen(function*() {
        yield* commitAll(opened, swept(5, 1))
        const done = yield* commitAll(opened, [
          batchOf(7, { punches: [row(1, { clockedIn: at(10) })] }),
          batchOf(8, { kind: "sweep", punches: [row(2, { clockedIn: at(20) })] }),
          batchOf(9, { kind: "first", punches: [row(3, { notes: "changed" })] }),
          batchOf(10, { kind: "confirm", punches: [row(4, { clockedIn: at(40) })], missing: missing({}) })
        ])

        assert.deepStrictEqual(done.map(({ missing, unchanged, written }) => [written, unchanged, missing]), [
          [1, 0, 0],
          [1, 0, 0],
          [1, 0, 0],
          [1, 0, 0]
        ])
        assert.deepStrictEqual(yield* missingOf(opened), [5])
      }))

    test("does not mark what the last page of the confirm brings", (opened) =>
      Effect.gen(function*() {
        const [first, sweep] = swept(2, 3)
        if (first === undefined || sweep === undefined) return assert.fail("there are three batches")
        yield* commitAll(opened, [
          first,
          sweep,
          batchOf(6, { kind: "confirm", punches: days(1, 3), missing: missing({}) })
        ])

        assert.deepStrictEqual(yield* missingOf(opened), [4])
      }))

    test("refuses more than 20 % of the window and more than 100 rows, and stores nothing", (opened) =>
      Effect.gen(function*() {
        const batches = swept(101, 403)
        const last = batches.at(-1)
        if (last === undefined) return assert.fail("there are three batches")
        yield* commitAll(opened, batches.slice(0, -1))
        const before = yield* opened.rows(company)

        const error = yield* Effect.flip(
          opened.store.commit({ ...last, punches: [row(1, { notes: "new" })] }, Option.some(checkpointAt(5)))
        )

        assert.strictEqual(error.reason._tag, "TooManyMissing")
        assert.deepInclude({ ...error.reason }, { missing: 101, rows: 504 })
        assert.include(error.message, "101 of 504")
        assert.deepStrictEqual(yield* opened.rows(company), before)
        assert.deepStrictEqual(yield* opened.store.load(company), Option.some(checkpointAt(5)))
      }))

    test("counts the limit in the window alone, and deleted rows with it", (opened) =>
      Effect.gen(function*() {
        const punches = days(700).map(({ clockedIn, id }) => row(id, { clockedIn, deleted: id % 3 === 0 }))
        const [, , done] = yield* commitAll(opened, [
          batchOf(1, { kind: "first", punches }),
          batchOf(5, { kind: "sweep", punches: punches.slice(0, 404) }),
          // 101 of 505: just 20 %.
          batchOf(6, { kind: "confirm", missing: missing({ lt: at(5050) }) })
        ])

        assert.strictEqual(done?.missing, 101)
      }))

    test("does not count rows that are missing already", (opened) =>
      Effect.gen(function*() {
        yield* commitAll(opened, swept(100, 300))
        const done = yield* commitAll(opened, [
          batchOf(7, { kind: "sweep", punches: days(240) }),
          batchOf(8, { kind: "confirm", missing: Option.some({ window: {}, before: 7, allowed: false }) })
        ])

        assert.strictEqual(done[1]?.missing, 60)
      }))

    test("marks as many as it is where that was allowed", (opened) =>
      Effect.gen(function*() {
        const [, , done] = yield* commitAll(opened, swept(500, 1, {}, true))

        assert.strictEqual(done?.missing, 500)
        assert.lengthOf(yield* missingOf(opened), 500)
      }))
  })

  it.live.prop("stores what the memory stores, and says what it says, in any plan", [Plan], ([plan], context) => {
    needs(context, Option.isNone(missing), Option.getOrElse(missing, () => ""))
    return Effect.scoped(Effect.gen(function*() {
      const reference = yield* memoryKind.open
      const other = yield* open
      for (const { batch, previous } of batchesOf(plan)) {
        const [expected, found] = yield* Effect.all(
          [reference, other].map(({ store }) => Effect.result(store.commit(batch, previous)))
        )

        assert.deepStrictEqual(found, expected)
        assert.deepStrictEqual(yield* other.rows(company), yield* reference.rows(company))
        assert.deepStrictEqual(yield* other.store.load(company), yield* reference.store.load(company))
      }
    }))
  }, { arbitrary: { runs: 60 } })
})
