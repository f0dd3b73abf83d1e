import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { defaultCompany, FakeService, Fault, type WirePunch } from "../../src/testing/index.ts"
import { servicePunch } from "../support/wire.ts"
import { ask, bearer, idsOf, inject, pagePath, problemOf, requestPage, walk } from "./support.ts"

/** Nine punches with ids 1 to 9. The later the id, the earlier the clock-in; `modified` goes 5, 6, …, 9, 1, …, 4. */
const punches: ReadonlyArray<WirePunch> = Array.from({ length: 9 }, (_, index) =>
  servicePunch({
    id: index + 1,
    user_id: 1 + index % 3,
    clocked_in: `2026-03-${19 - index}T08:00:00Z`,
    clocked_out: null,
    modified: `2026-03-2${1 + (index + 5) % 9}T08:00:00Z`
  }))

const idsOfWalk = (query: Readonly<Record<string, string>>) =>
  Effect.map(walk(query, "next"), (pages) => pages.map(({ data }) => idsOf(data)))

describe("the default order of the fake service", () => {
  const orders = [
    ["id", [[1, 2, 3, 4], [5, 6, 7, 8], [9]]],
    ["clocked_in", [[9, 8, 7, 6], [5, 4, 3, 2], [1]]],
    ["modified", [[5, 6, 7, 8], [9, 1, 2, 3], [4]]]
  ] as const

  for (const cursors of ["position", "record"] as const) {
    it.effect.each(orders)(
      `is %s if no other is requested, with cursors by ${cursors}`,
      ([order, pages]) =>
        Effect.gen(function*() {
          assert.deepStrictEqual(yield* idsOfWalk({ limit: "4" }), pages.map((ids) => [...ids]))
          assert.deepStrictEqual(yield* idsOfWalk({ limit: "5", sort_by: "id.asc" }), [[1, 2, 3, 4, 5], [6, 7, 8, 9]])
        }).pipe(Effect.provide(FakeService.layer({ punches, defaultOrder: order, cursors })))
    )
  }

  it.effect("skips the rows that an edit of the cursor's record overtakes, where cursors name records", () =>
    Effect.gen(function*() {
      const first = yield* requestPage({ limit: "4" })
      const [, , , last] = idsOf(first.data)
      yield* FakeService.use((service) =>
        service.edit([last ?? 0], { notes: "late", modified: "2026-04-01T00:00:00Z" })
      )
      const second = yield* requestPage({ limit: "4", cursor: first.meta.cursor.next ?? "" })

      assert.deepStrictEqual(idsOf(first.data), [5, 6, 7, 8])
      assert.deepStrictEqual([idsOf(second.data), second.meta.cursor.next], [[], null])
    }).pipe(Effect.provide(FakeService.layer({ punches, defaultOrder: "modified", cursors: "record" }))))

  it.effect("returns beside a cursor where `sort_by` is dropped there", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* idsOfWalk({ limit: "6", sort_by: "id.asc" }), [[1, 2, 3, 4, 5, 6], [5, 4, 3, 2, 1]])
    }).pipe(Effect.provide(FakeService.layer({ punches, defaultOrder: "clocked_in", order: "dropped" }))))
})

describe("a service that filters after paging", () => {
  it.effect("sends short and empty pages with a `next`, and every matching row", () =>
    Effect.gen(function*() {
      const pages = yield* walk({ limit: "2", user_id: "1" }, "next")

      assert.deepStrictEqual(pages.map(({ data }) => idsOf(data)), [[1], [4], [], [7], []])
      assert.deepStrictEqual(pages.map(({ meta }) => meta.cursor.count), [1, 1, 0, 1, 0])
      assert.deepStrictEqual(pages.map(({ meta }) => meta.cursor.next === null), [false, false, false, false, true])
    }).pipe(Effect.provide(FakeService.layer({ punches, filters: "afterPaging" }))))
})

describe("a service that ignores parameters", () => {
  it.effect("accepts them, with any value, and lists as if they were not sent", () =>
    Effect.gen(function*() {
      const page = yield* requestPage({
        user_id: "1",
        modified_since: "never",
        "clocked_in[gte]": "2026-03-15T00:00:00Z"
      })

      assert.deepStrictEqual(idsOf(page.data), [1, 4])
      assert.strictEqual(problemOf(yield* ask({ user_id: "one" })).param, "user_id")
    }).pipe(Effect.provide(FakeService.layer({ punches, ignores: ["modified_since"] }))))

  it.effect("still refuses a cursor of another query", () =>
    Effect.gen(function*() {
      const first = yield* requestPage({ limit: "2", user_id: "1" })
      const cursor = first.meta.cursor.next ?? ""

      assert.strictEqual(problemOf(yield* ask({ limit: "2", user_id: "2", cursor })).param, "cursor")
    }).pipe(Effect.provide(FakeService.layer({ punches, ignores: ["user_id"] }))))
})

describe("rows that should not be", () => {
  it.effect("are sent twice by a fault, and counted", () =>
    Effect.gen(function*() {
      yield* inject(Fault.duplicateRow(1), { requests: 2 })
      const [first, second] = yield* walk({ limit: "5" }, "next")

      assert.deepStrictEqual(idsOf(first?.data ?? []), [1, 2, 3, 4, 5])
      assert.deepStrictEqual([idsOf(second?.data ?? []), second?.meta.cursor.count], [[6, 7, 8, 9, 7], 5])
    }).pipe(Effect.provide(FakeService.layer({ punches }))))

  it.effect("have the id of a removed punch, if a service uses one again", () =>
    Effect.gen(function*() {
      const service = yield* FakeService
      yield* service.remove([4])
      yield* service.add([servicePunch({ id: 4, user_id: 77 })])
      const { data } = yield* requestPage({ user_id: "77" })

      assert.deepStrictEqual(idsOf(data), [4])
      assert.deepStrictEqual(idsOf((yield* requestPage({})).data), [1, 2, 3, 4, 5, 6, 7, 8, 9])
    }).pipe(Effect.provide(FakeService.layer({ punches }))))
})

describe("a clock that the service shows", () => {
  it.effect("stands still by the option, while the service's own time passes", () =>
    Effect.gen(function*() {
      const service = yield* FakeService
      const dates: Array<string | undefined> = []
      const stamps: Array<string | null | undefined> = []
      for (const id of [1, 2, 3]) {
        dates.push((yield* ask({})).headers["date"])
        yield* service.edit([id], { notes: "seen" })
        stamps.push((yield* requestPage({ user_id: `${id}` })).data[0]?.modified)
        yield* TestClock.adjust("1 hour")
      }

      assert.deepStrictEqual(dates, Array.from({ length: 3 }, () => "Sun, 01 Mar 2026 08:00:00 GMT"))
      assert.deepStrictEqual(stamps, [0, 1, 2].map((hour) => `1970-01-01T0${hour}:00:00+00:00`))
    }).pipe(Effect.provide(FakeService.layer({ punches, date: () => "Sun, 01 Mar 2026 08:00:00 GMT" }))))
})

describe("a service of ten thousand companies", () => {
  const last = { id: 14_999, guid: "00000000-0000-4000-8000-000000009998", accessToken: "token-9998" }
  const others = Array.from({ length: 9998 }, (_, index) => ({
    id: 5001 + index,
    guid: `00000000-0000-4000-8000-${String(index).padStart(12, "0")}`,
    accessToken: `token-${index}`
  }))
  /** How long listings of the last one take, while others are edited, if all are there. */
  const listing = (companies: typeof others) =>
    Effect.gen(function*() {
      const service = yield* FakeService
      const url = `https://api.test${pagePath.replace(`${defaultCompany.id}`, "14999")}`
      const request = { method: "GET", url, headers: bearer("token-9998"), body: "" }
      const before = performance.now()
      for (let round = 0; round < 500; round++) {
        yield* service.edit([1 + round % 9], { notes: `${round}` })
        assert.strictEqual((yield* service.respond(request)).status, 200)
      }
      return performance.now() - before
    }).pipe(Effect.provide(FakeService.layer({
      companies: [...companies, last],
      punches: [
        ...punches.map(({ id }) => servicePunch({ id, company_id: 5001 })),
        ...Array.from({ length: 20_000 }, (_, index) => servicePunch({ id: 100 + index, company_id: 14_999 }))
      ]
    })))

  it.effect("lists one of them as fast as if it were alone, and keeps its listings while others are edited", () =>
    Effect.gen(function*() {
      const alone = yield* listing(others.slice(0, 1))

      assert.isBelow((yield* listing(others)) / alone, 10)
    }))
})
