import { assert, describe, it } from "@effect/vitest"
import { Effect, Option, Result, Stream } from "effect"
import { Cursor, type ListOptions, type PunchFilter, TimePunches } from "../../src/index.ts"
import { defaultCompany, FakeService, Fault, generatePunches } from "../../src/testing/index.ts"
import { app, company, inject, pageRequests } from "../support/client.ts"
import { pageResponse, says, scripted } from "../support/scripted.ts"
import { letTimePass } from "../support/time.ts"
import { wirePage, wirePunch } from "../support/wire.ts"

const punches = generatePunches({ seed: 11, count: 60, companyId: defaultCompany.id, deletedShare: 0 })
const ids = punches.map(({ id }) => id)

/** The ids that a run emits, and its error. */
const run = Effect.fnUntraced(function*(filter: PunchFilter = {}, options: ListOptions = {}) {
  const seen: Array<number> = []
  const result = yield* letTimePass(Effect.result(
    Stream.runForEach(TimePunches.list(company, filter, options), ({ id }) => Effect.sync(() => seen.push(id)))
  ))
  return { seen, error: Result.isFailure(result) ? result.failure : undefined }
})

/** The cursor of each page request. */
const cursors = Effect.map(pageRequests, (requests) => requests.map(({ query }) => query["cursor"]))

describe("a walk whose cursors repeat", () => {
  it.effect.each(Array.from({ length: 50 }, (_, index) => index + 1))(
    "fails at the first repeat of a cycle of %d, with no page emitted twice",
    (length) =>
      Effect.gen(function*() {
        yield* inject(Fault.cursorCycle(length))
        const { error, seen } = yield* run({}, { pageSize: 1 })

        assert.deepInclude(error, { _tag: "PaginationError", reason: "CursorCycle", pagesCompleted: length })
        assert.deepStrictEqual(seen, ids.slice(0, length))
        assert.strictEqual((yield* pageRequests).length, length + 1)
        assert.strictEqual(Option.getOrUndefined(error?.resumeFrom ?? Option.none()), (yield* cursors).at(-1))
      }).pipe(Effect.provide(app({ punches })))
  )

  it.effect("fails where next is the cursor just sent, and emits nothing of that page", () =>
    Effect.gen(function*() {
      yield* inject(Fault.repeatedCursor, { requests: 3 })
      const { error, seen } = yield* run({}, { pageSize: 10 })

      assert.deepInclude(error, { _tag: "PaginationError", reason: "CursorCycle", pagesCompleted: 2 })
      assert.deepStrictEqual(seen, ids.slice(0, 20))
      assert.strictEqual((yield* pageRequests).length, 3)
    }).pipe(Effect.provide(app({ punches }))))

  it.effect("has the number of requests of the page that repeats", () =>
    Effect.gen(function*() {
      yield* inject(Fault.status(503), { requests: [2, 3] })
      yield* inject(Fault.repeatedCursor, { requests: 4 })
      const { error, seen } = yield* run({}, { pageSize: 10 })

      assert.deepInclude(error, { reason: "CursorCycle", pagesCompleted: 1, attempts: 3 })
      assert.deepStrictEqual(seen, ids.slice(0, 10))
    }).pipe(Effect.provide(app({ punches }))))

  it.effect("fails at a repeat of the cursor that the run started from", () =>
    Effect.gen(function*() {
      const first = yield* TimePunches.page(company, {}, { pageSize: 10 })
      yield* inject(Fault.repeatedCursor)
      const { error, seen } = yield* run({}, { pageSize: 10, cursor: first.cursor.next })

      assert.deepInclude(error, { _tag: "PaginationError", reason: "CursorCycle", pagesCompleted: 0 })
      assert.isEmpty(seen)
    }).pipe(Effect.provide(app({ punches }))))

  it.effect("shares nothing between its runs", () =>
    Effect.gen(function*() {
      const list = TimePunches.list(company, {}, { pageSize: 7 })
      const [one, other] = yield* Effect.all([Stream.runCount(list), Stream.runCount(list)], { concurrency: 2 })

      assert.deepStrictEqual([one, other, yield* Stream.runCount(list)], [60, 60, 60])
    }).pipe(Effect.provide(app({ punches }))))
})

describe("a walk over empty pages", () => {
  it.effect("reads past them to the rows behind", () =>
    Effect.gen(function*() {
      yield* inject(Fault.emptyPage, { requests: [1, 2, 4, 7] })
      const { error, seen } = yield* run({}, { pageSize: 10 })

      assert.isUndefined(error)
      assert.deepStrictEqual(seen, ids)
      assert.strictEqual((yield* pageRequests).length, 10)
    }).pipe(Effect.provide(app({ punches }))))

  it.effect("emits them as pages without punches", () =>
    Effect.gen(function*() {
      yield* inject(Fault.emptyPage, { requests: 2 })
      const pages = yield* Stream.runCollect(TimePunches.pages(company, {}, { pageSize: 30 }))

      assert.deepStrictEqual(pages.map(({ items }) => items.length), [30, 0, 30])
    }).pipe(Effect.provide(app({ punches }))))

  it.effect("fails after a hundred in a row, and resumes from the next", () =>
    Effect.gen(function*() {
      yield* inject(Fault.endlessEmptyPages, { requests: Array.from({ length: 200 }, (_, index) => index + 2) })
      const { error, seen } = yield* run({}, { pageSize: 10 })
      assert.deepInclude(error, { _tag: "PaginationError", reason: "EmptyPages", pagesCompleted: 101 })
      assert.strictEqual((yield* pageRequests).length, 101)

      yield* FakeService.use((service) => service.clearFaults)
      const rest = yield* run({}, { pageSize: 10, cursor: error?.resumeFrom })
      assert.deepStrictEqual([...seen, ...rest.seen], ids)
    }).pipe(Effect.provide(app({ punches }))))

  it.effect("counts only those in a row", () =>
    Effect.gen(function*() {
      const { error, seen } = yield* run()

      assert.isUndefined(error)
      assert.deepStrictEqual(seen, [99, 199])
    }).pipe(Effect.provide(scripted(({ index }) =>
      pageResponse(index === 99 || index === 199 ? [index] : [], { next: index < 250 ? `c${index}` : null })
    ))))
})

describe("a walk with maxPages", () => {
  it.effect.each([1, 2, 5])("fails after %d pages, all of them emitted", (maxPages) =>
    Effect.gen(function*() {
      const { error, seen } = yield* run({}, { pageSize: 10, maxPages })
      assert.deepInclude(error, { _tag: "LimitReached", reason: "MaxPages", pagesCompleted: maxPages, attempts: 0 })
      assert.deepStrictEqual(seen, ids.slice(0, 10 * maxPages))
      assert.strictEqual((yield* pageRequests).length, maxPages)

      const rest = yield* run({}, { pageSize: 10, cursor: error?.resumeFrom })
      assert.deepStrictEqual([...seen, ...rest.seen], ids)
    }).pipe(Effect.provide(app({ punches }))))

  it.effect.each([6, 7, Infinity])(
    "of %d does not fail where the listing ends before",
    (maxPages) =>
      Effect.gen(function*() {
        assert.deepStrictEqual(yield* run({}, { pageSize: 10, maxPages }), { seen: ids, error: undefined })
      }).pipe(Effect.provide(app({ punches })))
  )
})

describe("an inconsistent envelope", () => {
  const faults: ReadonlyArray<readonly [string, Fault, object]> = [
    ["another object", Fault.wrongObject(), { _tag: "PaginationError", reason: "WrongObject" }],
    ["more rows than it counts", Fault.countMismatch(-1), { _tag: "PaginationError", reason: "CountMismatch" }],
    ["fewer rows than it counts", Fault.countMismatch(1), { _tag: "PaginationError", reason: "CountMismatch" }],
    ["rows of another company", Fault.wrongCompany(), { _tag: "DecodeError", reason: "WrongCompany" }],
    ["an empty next", Fault.emptyCursor, { _tag: "DecodeError", reason: "Schema", path: "meta.cursor.next" }],
    ["no next", Fault.missingCursorKey("next"), { _tag: "DecodeError", path: "meta.cursor.next" }],
    ["no prev", Fault.missingCursorKey("prev"), { _tag: "DecodeError", path: "meta.cursor.prev" }],
    ["no current", Fault.missingCursorKey("current"), { _tag: "DecodeError", path: "meta.cursor.current" }],
    ["no count", Fault.missingCursorKey("count"), { _tag: "DecodeError", path: "meta.cursor.count" }]
  ]

  it.effect.each(faults)(
    "that has %s fails the run before a row of it is emitted, and can be resumed from",
    ([, fault, expected]) =>
      Effect.gen(function*() {
        yield* inject(fault, { requests: 4 })
        const { error, seen } = yield* run({}, { pageSize: 10 })
        const sent = (yield* cursors).at(-1)

        assert.deepInclude(error, { ...expected, pagesCompleted: 3, attempts: 1, companyId: company.id })
        assert.deepStrictEqual(seen, ids.slice(0, 30))
        assert.strictEqual((yield* pageRequests).length, 4)
        assert.deepStrictEqual(error?.resumeFrom, Option.some(Cursor.make(sent ?? "none")))
        assert.deepStrictEqual((yield* run({}, { pageSize: 10, cursor: error?.resumeFrom })).seen, ids.slice(30))
      }).pipe(Effect.provide(app({ punches })))
  )
})

describe("a cursor that no URL can carry", () => {
  it.effect.each(["\ud800", "a\udc00b"])("fails the run at the page that carries it", (next) =>
    Effect.gen(function*() {
      const { error, seen } = yield* run()

      assert.deepInclude(error, { _tag: "DecodeError", reason: "Schema", path: "meta.cursor.next", pagesCompleted: 1 })
      assert.deepStrictEqual(seen, [0])
    }).pipe(Effect.provide(scripted(({ index }) => pageResponse([index], { next: index === 0 ? "c" : next })))))
})

describe("an unusual envelope", () => {
  it.effect("can have no count, no prev, another current, and more rows than requested", () =>
    Effect.gen(function*() {
      const many = Array.from({ length: 300 }, (_, index) => index)
      const odd = { count: null, current: "not-what-was-sent", prev: null }
      const odder = scripted(({ index }) =>
        pageResponse(index === 0 ? many : [900], { ...odd, next: index === 0 ? "c" : null })
      )

      assert.deepStrictEqual((yield* Effect.provide(run({}, { pageSize: 10 }), odder)).seen, [...many, 900])
    }))

  it.effect("can have a prev on its first page, and the same punch on two pages", () =>
    Effect.gen(function*() {
      const odd = scripted(({ index }) => pageResponse([7], { prev: "p", next: index === 0 ? "c" : null }))

      assert.deepStrictEqual((yield* Effect.provide(run(), odd)).seen, [7, 7])
    }))

  it.effect.each([{}, { "content-type": "application/json; charset=UTF-8" }, {
    "content-type": "application/vnd.api+json"
  }])(
    "can have the headers %j",
    (headers) =>
      Effect.gen(function*() {
        assert.deepStrictEqual((yield* run()).seen, [1])
      }).pipe(Effect.provide(scripted(() => says(wirePage([wirePunch()]), headers))))
  )

  it.effect("has its cursors sent back unchanged", () =>
    Effect.gen(function*() {
      const odd = ["=&#+%", "ключ 🧑‍🍳", "\u0000\n", "a,b"]
      const asked: Array<string | null> = []
      const listing = scripted(({ cursor, index }) => {
        asked.push(cursor)
        return pageResponse([index], { next: odd[index] ?? null })
      })

      assert.deepStrictEqual((yield* Effect.provide(run(), listing)).seen, [0, 1, 2, 3, 4])
      assert.deepStrictEqual(asked, [null, ...odd])
    }))
})
