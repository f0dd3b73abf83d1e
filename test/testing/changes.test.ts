import { assert, describe, it } from "@effect/vitest"
import { Clock, DateTime, Effect } from "effect"
import { TestClock } from "effect/testing"
import { prng } from "../../src/testing/base/prng.ts"
import { defaultCompany, FakeService, generatePunches, type WirePunch } from "../../src/testing/index.ts"
import { otherCompany } from "../../src/testing/service/options.ts"
import { idsOf, requestPage, walk } from "./support.ts"

const punches = generatePunches({ seed: 12, count: 12, companyId: defaultCompany.id, deletedShare: 0 })
  .map((punch, index) => Object.assign({}, punch, { id: index + 1 }))

const newcomer = (id: number) => ({ ...(punches[0] ?? assert.fail("no punch")), id })

/** All rows, deleted ones included. */
const listed = Effect.map(requestPage({ deleted: "null", limit: "200" }), ({ data }) => data)

/** The same, in pages of five. */
const pages = Effect.map(walk({ deleted: "null", limit: "5" }, "next"), (found) => found.flatMap(({ data }) => data))

const find = (id: number) => Effect.map(listed, (rows) => rows.find((row) => row.id === id))

/** The stamp of an instant, in the words of `Date`. */
const stamp = (millis: number) => `${new Date(millis).toISOString().slice(0, 19)}+00:00`

const fake = FakeService

const start = Date.parse("2026-06-01T12:00:00.900Z")

describe("a change of the fake service", () => {
  it.effect("is stamped with the service's time, to the second, and shows at once", () =>
    Effect.gen(function*() {
      const service = yield* fake
      yield* TestClock.setTime(start)
      yield* service.edit([2, 3], { notes: "edited" })
      yield* service.add([newcomer(50)])
      const rows = yield* listed
      const edited = rows.filter(({ notes }) => notes === "edited")
      const added = rows.find(({ id }) => id === 50)

      assert.deepStrictEqual(edited.map(({ created, id, modified }) => [id, created, modified]), [
        [2, punches[1]?.created, stamp(start)],
        [3, punches[2]?.created, stamp(start)]
      ])
      assert.deepStrictEqual([added?.created, added?.modified], [stamp(start), stamp(start)])
      assert.strictEqual(rows.find(({ id }) => id === 1)?.modified, punches[0]?.modified)
    }).pipe(Effect.provide(FakeService.layer({ punches }))))

  it.effect("is found by modified_since, and by the filters of its new values", () =>
    Effect.gen(function*() {
      const service = yield* fake
      yield* TestClock.setTime(start)
      yield* service.edit([4], { user_id: 999, employeeApprovalStatus: "disputed" })
      const since = yield* requestPage({ modified_since: "2026-06-01T11:59:59Z" })
      const disputed = yield* requestPage({ user_id: "999", employee_approval_statuses: "disputed" })

      assert.deepStrictEqual([idsOf(since.data), idsOf(disputed.data)], [[4], [4]])
    }).pipe(Effect.provide(FakeService.layer({ punches }))))

  it.effect("keeps a null `modified`, and takes the one that it is given", () =>
    Effect.gen(function*() {
      const service = yield* fake
      yield* TestClock.setTime(start)
      yield* service.add([{ ...newcomer(50), created: null, modified: null }])
      yield* service.edit([1], { modified: null })
      yield* service.edit([2], { breaks: [], modified: punches[1]?.modified ?? null })
      const rows = yield* listed
      const modifiedOf = (wanted: number) => rows.find(({ id }) => id === wanted)?.modified
      const since = yield* requestPage({ modified_since: "1970-01-01T00:00:00Z", limit: "200" })

      assert.deepStrictEqual([modifiedOf(50), modifiedOf(1), modifiedOf(2)], [null, null, punches[1]?.modified])
      assert.strictEqual(rows.find(({ id }) => id === 50)?.created, null)
      assert.notIncludeMembers(idsOf(since.data), [50, 1])
    }).pipe(Effect.provide(FakeService.layer({ punches }))))

  it.effect("affects an id in every company that has it, and no other id", () =>
    Effect.gen(function*() {
      const service = yield* fake
      yield* service.seed([{ ...newcomer(1), company_id: otherCompany.id }])
      yield* service.edit([1, 77], { notes: "everywhere" })
      const other = yield* service.respond({
        method: "GET",
        url: `/v2/company/${otherCompany.id}/time_punches`,
        headers: { authorization: `Bearer ${otherCompany.accessToken}` },
        body: ""
      })

      assert.include(String(other.body), "\"notes\":\"everywhere\"")
      assert.deepStrictEqual((yield* listed).filter(({ notes }) => notes === "everywhere").map(({ id }) => id), [1])
    }).pipe(Effect.provide(FakeService.layer({ punches }))))
})

describe("a change that becomes visible late", () => {
  it.effect("gives way to punches that are seeded, and to a service that is cleared", () =>
    Effect.gen(function*() {
      const service = yield* fake
      yield* service.edit([1, 2], { notes: "late" })
      yield* service.seed([newcomer(1)])
      yield* TestClock.adjust("1 minute")
      const afterSeed = [(yield* find(1))?.notes, (yield* find(2))?.notes]
      yield* service.edit([3], { notes: "late" })
      yield* service.clear
      yield* TestClock.adjust("1 minute")

      assert.deepStrictEqual(afterSeed, [newcomer(1).notes, "late"])
      assert.isEmpty(yield* listed)
    }).pipe(Effect.provide(FakeService.layer({ punches, visibleAfter: "1 minute" }))))

  it.effect("leaves nothing to later changes once its punch is seeded, or the service cleared", () =>
    Effect.gen(function*() {
      const service = yield* fake
      yield* service.edit([1, 2], { notes: "late" })
      yield* service.seed([newcomer(1)])
      yield* service.edit([1], { tips: 5 })
      yield* TestClock.adjust("1 minute")
      const afterSeed = yield* find(1)
      yield* service.edit([2], { notes: "later" })
      yield* service.clear
      yield* service.seed([newcomer(2)])
      yield* service.edit([2], { tips: 6 })
      yield* TestClock.adjust("1 minute")

      assert.deepInclude(afterSeed, { tips: 5, notes: newcomer(1).notes })
      assert.deepInclude(yield* find(2), { tips: 6, notes: newcomer(2).notes })
    }).pipe(Effect.provide(FakeService.layer({ punches, visibleAfter: "1 minute" }))))

  it.effect("shows in a walk from the page on that is requested after its lag", () =>
    Effect.gen(function*() {
      const service = yield* fake
      yield* service.edit([2, 12], { notes: "late" })
      const first = yield* requestPage({ limit: "6" })
      yield* TestClock.adjust("1 minute")
      const [second] = yield* walk({ limit: "6" }, "next", first.meta.cursor.next ?? "")

      assert.isUndefined(first.data.find(({ notes }) => notes === "late"))
      assert.deepStrictEqual(second?.data.filter(({ notes }) => notes === "late").map(({ id }) => id), [12])
    }).pipe(Effect.provide(FakeService.layer({ punches, visibleAfter: "1 minute" }))))

  it.effect("is what a replay of all changes up to the lag before shows, in random runs with a fixed lag", () =>
    Effect.forEach(Array.from({ length: 40 }, (_, index) => index), (seed) =>
      Effect.gen(function*() {
        const service = yield* fake
        const random = prng(seed)
        type Row = Pick<WirePunch, "notes" | "tips" | "deleted" | "modified">
        const rowOf = ({ deleted, modified, notes, tips }: Row): Row => ({
          notes,
          tips,
          deleted: deleted === true,
          modified
        })
        const made: Array<{ readonly at: number; readonly apply: (rows: Map<number, Row>) => void }> = []
        for (let step = 0; step < 60; step++) {
          yield* TestClock.adjust(random.between(0, 4000))
          const at = yield* Clock.currentTimeMillis
          const id = random.between(1, 16)
          const notes = `change ${step}`
          const kind = random.pick(["add", "edit", "tip", "delete", "restore", "remove"] as const)
          const patch = { edit: { notes }, tip: { tips: step }, delete: { deleted: true }, restore: { deleted: false } }
          const added = { ...newcomer(id), notes }
          if (kind === "add") yield* service.add([added])
          else if (kind === "remove") yield* service.remove([id])
          else yield* service.edit([id], patch[kind])
          made.push({
            at,
            apply: (rows) => {
              const known = rows.get(id)
              const modified = stamp(at)
              if (kind === "remove") rows.delete(id)
              else if (kind === "add") rows.set(id, rowOf({ ...added, modified }))
              else if (known !== undefined) rows.set(id, { ...known, ...patch[kind], modified })
            }
          })
          const expected = new Map(punches.map((punch) => [punch.id, rowOf(punch)]))
          for (const change of made) if (change.at + 10_000 <= at) change.apply(expected)
          const found = new Map((yield* pages).map((row) => [row.id, rowOf(row)]))
          const kept = [...found].flatMap(([rowId, row]) => row.deleted === true ? [] : [rowId])

          assert.deepStrictEqual(new Map([...found].toSorted()), new Map([...expected].toSorted()), `seed ${seed}`)
          assert.deepStrictEqual(idsOf((yield* requestPage({ limit: "200" })).data), kept.toSorted((a, b) => a - b))
        }
      }).pipe(Effect.provide(FakeService.layer({ punches, visibleAfter: "10 seconds" }))), { discard: true }))

  it.effect("has a lag of its own between both ends, drawn from the seed, and never hides a later change", () =>
    Effect.gen(function*() {
      const shownAt = yield* lags(3)

      assert.isAtLeast(Math.min(...shownAt), 20)
      assert.isAtMost(Math.max(...shownAt), 90)
      assert.isAtLeast(new Set(shownAt).size, 6)
      assert.deepStrictEqual(yield* lags(3), shownAt)
      assert.notDeepEqual(yield* lags(4), shownAt)

      const service = yield* fake
      let last = 0
      for (let second = 0; second < 300; second++) {
        yield* TestClock.adjust("1 second")
        if (second < 200) yield* service.edit([9], { tips: second + 1 })
        const tips = (yield* find(9))?.tips ?? 0
        if (second >= 100) assert.isAtLeast(tips, last)
        last = second >= 100 ? tips : 0
      }
      assert.strictEqual(last, 200)
    }).pipe(
      Effect.provide(FakeService.layer({ punches, visibleAfter: { from: "20 seconds", to: "90 seconds", seed: 5 } }))
    ))
})

/** Seconds after which each of twelve edits shows, for a seed of lags. */
const lags = (seed: number) =>
  Effect.gen(function*() {
    const service = yield* fake
    const seconds = new Map<number, number>()
    for (const { id } of punches) yield* service.edit([id], { notes: "late" })
    for (let second = 1; second <= 100; second++) {
      yield* TestClock.adjust("1 second")
      const rows: ReadonlyArray<WirePunch> = yield* listed
      for (const { id, notes } of rows) if (notes === "late" && !seconds.has(id)) seconds.set(id, second)
    }
    assert.strictEqual(seconds.size, punches.length)
    return punches.map(({ id }) => seconds.get(id) ?? 0)
  }).pipe(Effect.provide(FakeService.layer({ punches, visibleAfter: { from: "20 seconds", to: "90 seconds", seed } })))

describe("a change and the clock of the service", () => {
  it.effect("takes its stamp from the service's clock and its lag from the `Clock`", () =>
    Effect.gen(function*() {
      const service = yield* fake
      yield* service.setServiceTime(DateTime.makeUnsafe("2031-01-01T00:00:00Z"))
      yield* service.edit([1], { notes: "late" })
      yield* service.stepClock("-2 hours")
      yield* service.edit([2], { notes: "later" })
      yield* TestClock.adjust("1 minute")

      assert.strictEqual((yield* find(1))?.modified, "2031-01-01T00:00:00+00:00")
      assert.strictEqual((yield* find(2))?.modified, "2030-12-31T22:00:00+00:00")
    }).pipe(Effect.provide(FakeService.layer({ punches, visibleAfter: "1 minute" }))))
})
