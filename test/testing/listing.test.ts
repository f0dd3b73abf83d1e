import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { defaultCompany, FakeService, generatePunches, type StoredPunch, toWire } from "../../src/testing/index.ts"
import { decodeCursor } from "../../src/testing/service/pages.ts"
import { ask, envelopeOf, idsOf, problemOf, requestPage, requestRaw, textOf, walk } from "./support.ts"

const punches = generatePunches({ seed: 4, count: 60, companyId: defaultCompany.id, deletedShare: 0, openShare: 0.2 })

const withPunches = FakeService.layer({ punches })

const one = (patch: Partial<StoredPunch>): StoredPunch => {
  const [punch] = generatePunches({ count: 1, companyId: defaultCompany.id })
  if (punch === undefined) throw new Error("no punch")
  return { ...punch, ...patch }
}

describe("a page", () => {
  it.effect("is the envelope with four cursor keys and the stored punches", () =>
    Effect.gen(function*() {
      const response = yield* ask({ limit: "3" })
      const page = envelopeOf(response)

      assert.strictEqual(response.headers["content-type"], "application/json")
      assert.deepStrictEqual(Object.keys(page).toSorted(), ["data", "meta", "object"])
      assert.strictEqual(page.object, "time_punches")
      assert.deepStrictEqual(page.data, punches.slice(0, 3).map(toWire))
      assert.deepStrictEqual(Object.keys(page.meta.cursor).toSorted(), ["count", "current", "next", "prev"])
      assert.deepInclude(page.meta.cursor, { current: null, prev: null, count: 3 })
      assert.notInclude(textOf(response), "timeZone")
    }).pipe(Effect.provide(withPunches)))

  it.effect("is empty with null cursors when nothing matches", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* requestPage({ user_id: "1" }), {
        object: "time_punches",
        data: [],
        meta: { cursor: { current: null, prev: null, next: null, count: 0 } }
      })
    }).pipe(Effect.provide(withPunches)))

  it.effect("has cursors with padding, which a client must percent-encode", () =>
    Effect.gen(function*() {
      for (const page of yield* walk({ limit: "4", sort_by: "notes.desc" }, "next")) {
        if (page.meta.cursor.next !== null) assert.match(page.meta.cursor.next, /=$/)
      }
    }).pipe(Effect.provide(withPunches)))
})

describe("a walk", () => {
  it.effect("neither loses nor repeats a row when others are inserted and removed between its pages", () =>
    Effect.gen(function*() {
      const service = yield* FakeService
      const first = yield* requestPage({ limit: "30" })
      yield* service.remove(idsOf(first.data))
      yield* service.seed([one({ id: 1 })])
      const rest = yield* walk({ limit: "30" }, "next", first.meta.cursor.next ?? "")

      assert.deepStrictEqual(
        [...idsOf(first.data), ...rest.flatMap((page) => idsOf(page.data))],
        idsOf(punches)
      )
    }).pipe(Effect.provide(withPunches)))

  it.effect("leads back from a page that lost all its rows", () =>
    Effect.gen(function*() {
      const service = yield* FakeService
      const [first, second] = yield* walk({ limit: "30" }, "next")
      yield* service.remove(idsOf(second?.data ?? []))
      const empty = yield* requestPage({ limit: "30", cursor: first?.meta.cursor.next ?? "" })
      const back = yield* requestPage({ limit: "30", cursor: empty.meta.cursor.prev ?? "" })

      assert.deepInclude(empty.meta.cursor, { next: null, count: 0 })
      assert.deepStrictEqual(back.data, first?.data)
    }).pipe(Effect.provide(withPunches)))

  it.effect("has the order of ids, whatever `sort_by` is, with the option `order: \"id\"`", () =>
    Effect.gen(function*() {
      const pages = yield* walk({ limit: "7", sort_by: "clocked_in.desc" }, "next")

      assert.deepStrictEqual(pages.flatMap((page) => idsOf(page.data)), idsOf(punches))
    }).pipe(Effect.provide(FakeService.layer({ punches, order: "id" }))))
})

describe("a query that is refused", () => {
  const refused: ReadonlyArray<readonly [query: string, param: string]> = [
    ["clocked_in_gte=2026-03-01T00:00:00Z", "clocked_in_gte"],
    ["clocked_in%5Bgt%5D=2026-03-01T00:00:00Z", "clocked_in[gt]"],
    ["Limit=3", "Limit"],
    ["limit=0", "limit"],
    ["limit=201", "limit"],
    ["limit=-1", "limit"],
    ["limit=1.5", "limit"],
    ["limit=NaN", "limit"],
    ["limit=", "limit"],
    ["limit=20&limit=20", "limit"],
    ["location_id=x", "location_id"],
    ["department_id=null", "department_id"],
    ["role_id=99999999999999999", "role_id"],
    ["user_id=1,2", "user_id"],
    ["approved=1", "approved"],
    ["approved=TRUE", "approved"],
    ["deleted=", "deleted"],
    ["include_deleted=null", "include_deleted"],
    ["localize_search_time=null", "localize_search_time"],
    ["modified_since=2026-03-01", "modified_since"],
    ["modified_since=2026-03-01T00:00:00", "modified_since"],
    ["clocked_in[gte]=2026-02-30T00:00:00Z", "clocked_in[gte]"],
    ["clocked_in[lte]=2026-03-01T00:00:00+00:00", "clocked_in[lte]"],
    ["clocked_out[gte]=yesterday", "clocked_out[gte]"],
    ["clocked_out[lte]=0", "clocked_out[lte]"],
    ["flags=tired", "flags"],
    ["flags=", "flags"],
    ["flags=late,", "flags"],
    ["flags=late&flags=missed_break", "flags"],
    ["employee_approval_statuses=open", "employee_approval_statuses"],
    ["sort_by=nickname", "sort_by"],
    ["sort_by=breaks", "sort_by"],
    ["sort_by=", "sort_by"],
    ["sort_by=,,", "sort_by"],
    ["sort_by=.asc", "sort_by"],
    ["sort_by=id.up", "sort_by"],
    ["sort_by=id.ascuser_id.desc", "sort_by"],
    ["business_date_start=2026-3-1", "business_date_start"],
    ["business_date_end=2026-02-29", "business_date_end"],
    ["business_date_end=2026-03-01T00:00:00Z", "business_date_end"],
    ["cursor=", "cursor"],
    ["cursor=abc", "cursor"],
    ["cursor=W10=", "cursor"],
    ["notes=%E0%A4", "notes"]
  ]

  it.effect.each(refused)("%s gets 422, which names %s", ([query, param]) =>
    Effect.gen(function*() {
      const response = yield* requestRaw(query)
      const problem = problemOf(response)

      assert.strictEqual(response.status, 422)
      assert.strictEqual(response.headers["content-type"], "application/problem+json")
      assert.deepInclude(problem, { status: 422, param, title: "Unprocessable Entity" })
      assert.isString(problem.type)
      assert.isString(problem.detail)
      assert.isNumber(problem.code)
    }).pipe(Effect.provide(withPunches)))

  it.effect("includes one with the cursor of another query", () =>
    Effect.gen(function*() {
      const { meta } = yield* requestPage({ limit: "5", deleted: "null" })
      const cursor = meta.cursor.next ?? ""

      assert.strictEqual((yield* ask({ limit: "9", deleted: "null", cursor })).status, 200)
      assert.deepInclude(problemOf(yield* ask({ limit: "5", cursor })), { status: 422, param: "cursor" })
      assert.deepInclude(problemOf(yield* ask({ deleted: "null", user_id: "1", cursor })), {
        status: 422,
        param: "cursor"
      })
    }).pipe(Effect.provide(withPunches)))

  it.effect("excludes one with the same parameters in another order", () =>
    Effect.gen(function*() {
      const { meta } = yield* requestPage({ limit: "5", deleted: "null", approved: "null" })
      const response = yield* ask({ cursor: meta.cursor.next ?? "", approved: "null", deleted: "null" })

      assert.strictEqual(response.status, 200)
    }).pipe(Effect.provide(withPunches)))

  it.effect("is parsed in linear time, unlike the spec's own pattern", () =>
    Effect.gen(function*() {
      const response = yield* ask({ sort_by: `${"a".repeat(100_000)}!` })

      assert.strictEqual(response.status, 422)
    }).pipe(Effect.provide(withPunches)))
})

describe("decodeCursor", () => {
  it("refuses texts that the service did not write", () => {
    for (
      const text of [
        "",
        "=",
        "bnVsbA==",
        btoa("[]"),
        btoa("[\"n\",1,0]"),
        btoa("[\"x\",1,0,1]"),
        btoa("[\"n\",1,0,1,{}]")
      ]
    ) {
      assert.isUndefined(decodeCursor(text))
    }
  })
})
