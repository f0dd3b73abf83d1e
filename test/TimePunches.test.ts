import { assert, describe, it } from "@effect/vitest"
import { DateTime, Deferred, Effect, Fiber, Layer, Option, Stream } from "effect"
import { TestClock } from "effect/testing"
import { type Page, type PunchFilter, TimePunches } from "../src/index.ts"
import { defaultCompany, FakeService, Fault, generatePunches } from "../src/testing/index.ts"
import { accessToken, app, company, endpoints, inject, pageRequests } from "./support/client.ts"
import { scenario } from "./support/listing.ts"
import { expected } from "./support/oracle.ts"

const idsOf = (punches: ReadonlyArray<{ readonly id: number }>) => punches.map(({ id }) => Number(id))

const seeds = Array.from({ length: 200 }, (_, index) => index + 1)

/** Every page of a query, read from the last one backwards, in the order of the listing. */
const backwards = Effect.fnUntraced(function*(filter: PunchFilter, pageSize: number, last: Page) {
  const pages = [last]
  let prev = last.cursor.prev
  while (Option.isSome(prev)) {
    const page: Page = yield* TimePunches.page(company, filter, { pageSize, cursor: prev.value })
    pages.push(page)
    prev = page.cursor.prev
  }
  return pages.toReversed()
})

/** Lets all fibers run as far as they can. */
const settled = Effect.forEach(Array.from({ length: 100 }), () => TestClock.adjust("1 second"), { discard: true })

const plain = generatePunches({ seed: 9, count: 95, companyId: defaultCompany.id, deletedShare: 0 })

describe("TimePunches.list", () => {
  it.effect(
    "emits what the filter matches, in its order, for every data set, filter and page size",
    () =>
      Effect.forEach(seeds, (seed) => {
        const { filter, pageSize, prefetchPages, punches } = scenario(seed)
        return Effect.gen(function*() {
          const listed = yield* Stream.runCollect(TimePunches.list(company, filter, { pageSize, prefetchPages }))

          assert.deepStrictEqual(listed, [...expected(punches, filter)], `seed ${seed}`)
        }).pipe(Effect.provide(app({ punches })))
      }, { discard: true })
  )

  it.effect("emits every punch of a company in order of id without a filter", () =>
    Effect.gen(function*() {
      const listed = yield* Stream.runCollect(TimePunches.list(company.id))

      assert.deepStrictEqual(listed, [...expected(plain)])
      assert.deepStrictEqual(idsOf(listed), idsOf(plain))
      assert.strictEqual((yield* pageRequests).length, 1)
    }).pipe(Effect.provide(app({ punches: plain }))))

  it.effect("accepts JSON and problem+json", () =>
    Effect.gen(function*() {
      yield* TimePunches.page(company)

      assert.deepStrictEqual((yield* pageRequests).map(({ headers }) => headers["accept"]), [
        "application/json, application/problem+json"
      ])
    }).pipe(Effect.provide(app({ punches: plain }))))

  it.effect("sends one request for twenty punches of pages of twenty, and two for one more", () =>
    Effect.gen(function*() {
      const service = yield* FakeService
      const requestsFor = (count: number) =>
        Effect.gen(function*() {
          yield* service.clearRequests
          const taken = yield* Stream.runCollect(Stream.take(TimePunches.list(company, {}, { pageSize: 20 }), count))
          assert.deepStrictEqual(idsOf(taken), idsOf(plain).slice(0, count))
          return (yield* service.requests).length
        })

      assert.deepStrictEqual(
        yield* Effect.forEach([0, 1, 19, 20, 21, 40, 41, 95, 200], requestsFor),
        [0, 1, 1, 1, 2, 2, 3, 5, 5]
      )
    }).pipe(Effect.provide(app({ punches: plain }))))

  it.effect("sends no request before it is run, and every request again for each run", () =>
    Effect.gen(function*() {
      const list = TimePunches.list(company, {}, { pageSize: 50 })
      assert.isEmpty(yield* pageRequests)
      const runs = yield* Effect.all(Array.from({ length: 3 }, () => Stream.runCollect(list)), {
        concurrency: "unbounded"
      })

      for (const run of runs) assert.deepStrictEqual(idsOf(run), idsOf(plain))
      assert.strictEqual((yield* pageRequests).length, 6)
    }).pipe(Effect.provide(app({ punches: plain }))))

  it.effect.each([0, 1, 2, 5])(
    "with prefetchPages %d reads that many pages ahead of a slow consumer, and no more",
    (prefetchPages) =>
      Effect.gen(function*() {
        const enough = yield* Deferred.make<void>()
        const reader = yield* TimePunches.pages(company, {}, { pageSize: 10, prefetchPages }).pipe(
          Stream.runForEach(({ index }) => index === 2 ? Deferred.await(enough) : Effect.void),
          Effect.forkChild
        )
        yield* settled
        assert.strictEqual((yield* pageRequests).length, Math.min(3 + prefetchPages, 10))
        yield* Deferred.succeed(enough, undefined)
        yield* Fiber.join(reader)

        assert.strictEqual((yield* pageRequests).length, 10)
        assert.strictEqual(yield* FakeService.use((service) => service.maxInFlight), 1)
      }).pipe(Effect.provide(app({ punches: plain })))
  )

  it.effect("aborts the request in flight when its consumer is interrupted", () =>
    Effect.gen(function*() {
      const { inFlight } = yield* FakeService
      yield* inject(Fault.stallBody(), { requests: 2 })
      const reader = yield* Effect.forkChild(Stream.runDrain(TimePunches.list(company, {}, { pageSize: 10 })))
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* inFlight, 1)
      yield* Fiber.interrupt(reader)

      assert.strictEqual(yield* inFlight, 0)
      assert.strictEqual((yield* pageRequests).length, 2)
    }).pipe(Effect.provide(app({ punches: plain }))))

  it.effect("partitions the punches by adjacent half-open windows, without loss or repeat", () =>
    Effect.gen(function*() {
      const all = yield* Stream.runCollect(TimePunches.list(company))
      const starts = all.map(({ clockedIn }) => clockedIn.epochMilliseconds).toSorted((a, b) => a - b)
      const cuts = [0, 12, 40, 41, 94].map((index) => DateTime.makeUnsafe(starts[index] ?? 0))
      const windows = Array.from({ length: 6 }, (_, index) => ({ gte: cuts[index - 1], lt: cuts[index] }))
      const parts = yield* Effect.forEach(
        windows,
        (clockedIn) => Stream.runCollect(TimePunches.list(company, { clockedIn }))
      )

      assert.sameMembers(idsOf(parts.flat()), idsOf(plain))
      assert.strictEqual(parts.flat().length, plain.length)
    }).pipe(Effect.provide(app({ punches: plain }))))
})

describe("TimePunches.pages and TimePunches.page", () => {
  it.effect("emit the listing in pages, forward by next and backward by prev", () =>
    Effect.forEach(seeds, (seed) => {
      const { filter, pageSize, prefetchPages, punches } = scenario(seed + 1000)
      return Effect.gen(function*() {
        const pages = yield* Stream.runCollect(TimePunches.pages(company, filter, { pageSize, prefetchPages }))
        const [last] = pages.slice(-1)
        if (last === undefined) assert.fail("a listing without punches has a page too")
        const back = yield* backwards(filter, pageSize, last)
        const all = [...expected(punches, filter)]

        assert.deepStrictEqual(pages.flatMap(({ items }) => items), all, `seed ${seed} forward`)
        assert.deepStrictEqual(back.flatMap(({ items }) => items), all, `seed ${seed} backward`)
        assert.deepStrictEqual(pages.map(({ index }) => index), pages.map((_, index) => index))
        for (const [index, { cursor }] of pages.entries()) {
          assert.deepStrictEqual(cursor.sent, index === 0 ? Option.none() : pages[index - 1]?.cursor.next)
          assert.strictEqual(Option.isNone(cursor.next), index === pages.length - 1)
          assert.isAtMost(Option.getOrThrow(cursor.count), pageSize)
        }
      }).pipe(Effect.provide(app({ punches })))
    }, { discard: true }))

  it.effect("continue from any cursor of a page as an uninterrupted run does", () =>
    Effect.gen(function*() {
      const options = { pageSize: 7 }
      const pages = yield* Stream.runCollect(TimePunches.pages(company, {}, options))
      for (const [index, { cursor, items }] of pages.entries()) {
        const rest = Stream.runCollect(TimePunches.list(company, {}, { ...options, cursor: cursor.next }))
        const here = yield* TimePunches.page(company, {}, { ...options, cursor: Option.getOrUndefined(cursor.sent) })

        assert.deepStrictEqual(here.items, items)
        if (Option.isSome(cursor.next)) assert.deepStrictEqual(idsOf(yield* rest), idsOf(plain).slice((index + 1) * 7))
      }
    }).pipe(Effect.provide(app({ punches: plain }))))

  it.effect("count all rows that the service sent, with those that an exclusive end drops", () =>
    Effect.gen(function*() {
      const [first] = yield* Stream.runCollect(TimePunches.list(company))
      const lt = first?.clockedIn ?? assert.fail("no punch")
      const [some] = yield* Stream.runCollect(TimePunches.pages(company, { clockedIn: { gte: lt, lt } }))

      assert.isEmpty(some?.items)
      assert.isAtLeast(Option.getOrThrow(some?.cursor.count ?? Option.none()), 1)
    }).pipe(Effect.provide(app({ punches: plain }))))

  it.effect("send the same query with each cursor", () =>
    Effect.gen(function*() {
      yield* Stream.runDrain(
        TimePunches.pages(company, { sortBy: [["clockedIn", "desc"]], deleted: "include" }, { pageSize: 30 })
      )
      const queries = (yield* pageRequests).map(({ query: { cursor: _, ...rest } }) => rest)

      assert.strictEqual(queries.length, 4)
      for (const query of queries) {
        assert.deepStrictEqual(query, { limit: "30", deleted: "null", sort_by: "clocked_in.desc" })
      }
    }).pipe(Effect.provide(app({ punches: plain }))))
})

describe("TimePunches.make", () => {
  it.effect("is the client as a value", () =>
    Effect.gen(function*() {
      const service = yield* TimePunches.make
      const page = yield* service.page(company)

      assert.deepStrictEqual(idsOf(page.items), idsOf(plain))
    }).pipe(Effect.provide(
      Layer.mergeAll(FakeService.layerClient, accessToken, endpoints).pipe(
        Layer.provide(FakeService.layer({ punches: plain }))
      )
    )))
})
