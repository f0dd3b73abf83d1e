import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { defaultCompany, FakeService, generatePunches } from "../../src/testing/index.ts"
import { ask, idsOf, problemOf, requestPage, walk } from "./support.ts"

/** Nine punches, with ids 1 to 9, each at the full hour of its id. */
const punches = generatePunches({ seed: 13, count: 9, companyId: defaultCompany.id, deletedShare: 0 })
  .map((punch, index) => Object.assign({}, punch, { id: index + 1, clocked_in: `2026-03-10T0${index + 1}:00:00Z` }))

const byTime = { limit: "3", sort_by: "clocked_in" }

/** The first page, a change of its last row, and the page that its `next` leads to. */
const afterChange = Effect.fnUntraced(function*(
  query: Readonly<Record<string, string>>,
  change: (service: FakeService["Service"]) => Effect.Effect<void>
) {
  const first = yield* requestPage(query)
  yield* FakeService.use(change)
  return yield* ask({ ...query, cursor: first.meta.cursor.next ?? "" })
})

const pageAfter = (...args: Parameters<typeof afterChange>) =>
  Effect.map(afterChange(...args), (response) => {
    const { data }: { readonly data: typeof punches } = JSON.parse(String(response.body))
    return idsOf(data)
  })

describe("a cursor by position", () => {
  it.effect.each(["2026-03-10T07:30:00Z", "2026-03-10T00:30:00Z", "2027-01-01T00:00:00Z"])(
    "stays where it was when its row moves to %s",
    (clockedIn) =>
      Effect.gen(function*() {
        const ids = yield* pageAfter(byTime, (service) => service.edit([3], { clocked_in: clockedIn }))

        assert.deepStrictEqual(ids, [4, 5, 6])
      }).pipe(Effect.provide(FakeService.layer({ punches })))
  )

  it.effect("stays where it was when its row is removed", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* pageAfter(byTime, (service) => service.remove([3])), [4, 5, 6])
    }).pipe(Effect.provide(FakeService.layer({ punches }))))
})

describe("a cursor by record", () => {
  const layer = FakeService.layer({ punches, cursors: "record" })

  it.effect("walks an unchanged listing in both directions, as one by position does", () =>
    Effect.gen(function*() {
      for (const query of [byTime, { limit: "2" }, { limit: "4", sort_by: "notes.desc,clocked_in" }]) {
        const recorded = yield* walk(query, "next").pipe(Effect.provide(layer))
        const positioned = yield* walk(query, "next")
        const last = recorded.at(-1)?.meta.cursor.prev ?? ""
        const back = yield* walk(query, "prev", last).pipe(Effect.provide(layer))

        assert.deepStrictEqual(recorded.map(({ data }) => idsOf(data)), positioned.map(({ data }) => idsOf(data)))
        assert.deepStrictEqual(
          back.toReversed().map(({ data }) => idsOf(data)),
          recorded.slice(0, -1).map(({ data }) => idsOf(data))
        )
      }
    }).pipe(Effect.provide(FakeService.layer({ punches }))))

  it.effect("moves forward with its row, past the rows between", () =>
    Effect.gen(function*() {
      const ids = yield* pageAfter(byTime, (service) => service.edit([3], { clocked_in: "2026-03-10T07:30:00Z" }))

      assert.deepStrictEqual(ids, [8, 9])
    }).pipe(Effect.provide(layer)))

  it.effect("moves back with its row, to rows that were listed before", () =>
    Effect.gen(function*() {
      const ids = yield* pageAfter(byTime, (service) => service.edit([3], { clocked_in: "2026-03-10T00:30:00Z" }))

      assert.deepStrictEqual(ids, [1, 2, 4])
    }).pipe(Effect.provide(layer)))

  it.effect("moves with a row that the query no longer matches", () =>
    Effect.gen(function*() {
      const march = { ...byTime, "clocked_in[lte]": "2026-03-31T00:00:00Z" }
      const ids = yield* pageAfter(march, (service) => service.edit([3], { clocked_in: "2027-01-01T00:00:00Z" }))

      assert.deepStrictEqual(ids, [])
    }).pipe(Effect.provide(layer)))

  it.effect("stays where it was when its row is edited elsewhere, or deleted with a mark", () =>
    Effect.gen(function*() {
      const edited = yield* pageAfter(byTime, (service) => service.edit([3], { notes: "other" }))
      const deleted = yield* pageAfter(byTime, (service) => service.edit([3], { deleted: true }))

      assert.deepStrictEqual([edited, deleted], [[4, 5, 6], [4, 5, 6]])
    }).pipe(Effect.provide(layer)))

  it.effect("is refused in a sorted listing once its row is removed", () =>
    Effect.gen(function*() {
      const response = yield* afterChange(byTime, (service) => service.remove([3]))

      assert.strictEqual(response.status, 422)
      assert.strictEqual(problemOf(response).param, "cursor")
    }).pipe(Effect.provide(layer)))

  it.effect.each(
    [
      ["moves", (service: FakeService["Service"]) => service.edit([3], { clocked_in: "2027-01-01T00:00:00Z" })],
      ["is removed", (service: FakeService["Service"]) => service.remove([3])]
    ] as const
  )("stays where it was in the order of ids when its row %s", ([, change]) =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* pageAfter({ limit: "3" }, change), [4, 5, 6])
    }).pipe(Effect.provide(layer)))

  it.effect("moves only when the edit of its row shows", () =>
    Effect.gen(function*() {
      const edit = (service: FakeService["Service"]) => service.edit([3], { clocked_in: "2026-03-10T07:30:00Z" })
      const before = yield* pageAfter(byTime, edit)
      const after = yield* pageAfter(byTime, () => TestClock.adjust("1 minute"))

      assert.deepStrictEqual([before, after], [[4, 5, 6], [8, 9]])
    }).pipe(Effect.provide(FakeService.layer({ punches, cursors: "record", visibleAfter: "1 minute" }))))
})

describe("the lifetime of a cursor", () => {
  const layer = FakeService.layer({ punches, cursorLifetime: "1 minute" })

  const age = (duration: "1 minute" | "60001 millis") => (query: Readonly<Record<string, string>>) =>
    afterChange(query, () => TestClock.adjust(duration))

  it.effect("ends when the cursor is older, with 422 for the parameter cursor", () =>
    Effect.gen(function*() {
      const young = yield* age("1 minute")(byTime)
      const old = yield* age("60001 millis")(byTime)

      assert.strictEqual(young.status, 200)
      assert.strictEqual(old.status, 422)
      assert.deepInclude(problemOf(old), { param: "cursor", detail: "The cursor has expired." })
    }).pipe(Effect.provide(layer)))

  it.effect("is counted from the last page that named the cursor, in either direction", () =>
    Effect.gen(function*() {
      const first = yield* requestPage(byTime)
      const next = first.meta.cursor.next ?? ""
      yield* TestClock.adjust("50 seconds")
      yield* requestPage(byTime)
      yield* TestClock.adjust("50 seconds")
      const second = yield* requestPage({ ...byTime, cursor: next })
      yield* TestClock.adjust("50 seconds")
      const expired = yield* ask({ ...byTime, cursor: next })
      const back = yield* ask({ ...byTime, cursor: second.meta.cursor.prev ?? "" })

      assert.deepStrictEqual([back.status, expired.status], [200, 422])
    }).pipe(Effect.provide(layer)))

  it.effect("does not depend on the service's clock", () =>
    Effect.gen(function*() {
      const response = yield* afterChange(byTime, (service) => service.stepClock("1 day"))

      assert.strictEqual(response.status, 200)
    }).pipe(Effect.provide(layer)))

  it.effect("excludes the cursors of another service", () =>
    Effect.gen(function*() {
      const { meta } = yield* requestPage(byTime).pipe(Effect.provide(FakeService.layer({ punches })))
      const refused = yield* ask({ ...byTime, cursor: meta.cursor.next ?? "" })

      assert.strictEqual(refused.status, 422)
    }).pipe(Effect.provide(layer)))

  it.effect("has no end by default", () =>
    Effect.gen(function*() {
      const response = yield* afterChange(byTime, () => TestClock.adjust("1000 days"))

      assert.strictEqual(response.status, 200)
    }).pipe(Effect.provide(FakeService.layer({ punches }))))
})
