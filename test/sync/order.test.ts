/** The order of a listing whose cursors name records, and `sortById`: when it is requested, kept and given up. */
import { assert, describe } from "@effect/vitest"
import { Effect, Option } from "effect"
import { Sync } from "../../src/sync/index.ts"
import { FakeService, Fault } from "../../src/testing/index.ts"
import { company, inject } from "../support/client.ts"
import { assertEqual, itWithCopy, lastId, loaded, punches, seeded, sent } from "./support.ts"

/** The last row of the first page in the order of clock-ins. */
const atTheEdge = punches.toSorted((one, other) => one.clocked_in < other.clocked_in ? -1 : 1)[199]?.id ?? 0

/** The record behind the first cursor moves to the end of the service's own order. */
const moveOf = Effect.map(
  FakeService,
  (service) => service.edit([atTheEdge], { clocked_in: "2031-01-01T00:00:00Z", clocked_out: null })
)

/** A first load in which the record behind the first cursor moves to the end of the service's own order. */
const firstLoad = (sortById: boolean) =>
  Effect.gen(function*() {
    yield* seeded
    const move = yield* moveOf
    return yield* Sync.run(company, {
      sortById,
      onCommit: ({ pages }) => Effect.as(pages === 1 ? move : Effect.void, true)
    })
  })

describe("Sync.run over cursors that name records, in an order that an edit moves,", () => {
  itWithCopy(
    "[Y46] loses no row with sortById",
    (copy) =>
      Effect.gen(function*() {
        assert.include(yield* firstLoad(true), { complete: true, pages: 3, restarts: 0 })
        assert.deepStrictEqual(yield* sent("sort_by"), Array(3).fill("id.asc"))
        yield* Sync.run(company, { sortById: true })

        yield* assertEqual(copy)
      }),
    { cursors: "record", defaultOrder: "clocked_in" }
  )

  itWithCopy(
    "[Y46] loses no row with sortById, where the cursor died between two calls",
    (copy) =>
      Effect.gen(function*() {
        yield* seeded
        const move = yield* moveOf
        yield* inject(Fault.status(422), { requests: 2 })
        yield* Sync.run(company, { sortById: true, stopAfter: { pages: 1 } })
        const summary = yield* Sync.run(company, {
          onCommit: ({ pages }) => Effect.as(pages === 1 ? move : Effect.void, true)
        })
        assert.include(summary, { complete: true, resumed: true, restarts: 1 })
        yield* Sync.run(company, { sortById: true })

        assert.deepStrictEqual(yield* sent("sort_by"), Array(6).fill("id.asc"))
        yield* assertEqual(copy)
      }),
    { cursors: "record", defaultOrder: "clocked_in" }
  )

  itWithCopy(
    "[Y46] has the rows that it skips without it from a sweep",
    (copy) =>
      Effect.gen(function*() {
        yield* firstLoad(false)
        yield* Sync.run(company)
        assert.isBelow(copy.present().length, punches.length)
        yield* Sync.sweep(company)

        yield* assertEqual(copy)
      }),
    { cursors: "record", defaultOrder: "clocked_in" }
  )

  itWithCopy(
    "[Y46] marks no row of a sweep with sortById",
    (copy) =>
      Effect.gen(function*() {
        yield* loaded
        const move = yield* moveOf
        const summary = yield* Sync.sweep(company, {
          sortById: true,
          onCommit: ({ pages }) => Effect.as(pages === 1 ? move : Effect.void, true)
        })

        assert.include(summary, { complete: true, missing: 0 })
        assert.deepStrictEqual((yield* sent("sort_by")).slice(3), Array(4).fill("id.asc"))
        yield* assertEqual(copy)
      }),
    { cursors: "record", defaultOrder: "clocked_in" }
  )
})

describe("Sync.run with sortById", () => {
  itWithCopy.each([422, 400] as const)(
    "[Y45] asks again without an order where a first request is refused, uncounted: %d",
    (copy, status) =>
      Effect.gen(function*() {
        yield* seeded
        yield* inject(Fault.status(status), { requests: [1, 2] })
        assert.include(yield* Sync.run(company, { sortById: true }), { complete: true, pages: 3, restarts: 0 })
        assert.deepStrictEqual(yield* sent("sort_by"), ["id.asc", "id.asc", undefined, undefined, undefined])
        yield* Sync.run(company, { sortById: true })

        assert.strictEqual((yield* sent("sort_by"))[5], "id.asc")
        yield* assertEqual(copy)
      })
  )

  itWithCopy("[Y9] fails where the request without an order is refused too", (copy) =>
    Effect.gen(function*() {
      yield* seeded
      yield* inject(Fault.status(422), { requests: [1, 2, 3, 4, 5, 6] })

      assert.strictEqual((yield* Effect.flip(Sync.run(company, { sortById: true })))._tag, "UnprocessableEntity")
      assert.isFalse(copy.hasCheckpoint())
    }))

  itWithCopy.each([[2, undefined], [3, "id.asc"]] as const)(
    "[Y45] continues without an order where the second page is refused, not where a later one is: request %d",
    (copy, [request, order]) =>
      Effect.gen(function*() {
        yield* seeded
        yield* inject(Fault.status(422), { requests: request })
        assert.include(yield* Sync.run(company, { sortById: true }), { complete: true, restarts: 1 })

        assert.deepStrictEqual(yield* sent("sort_by"), [
          ...Array(request).fill("id.asc"),
          ...Array(3).fill(order)
        ])
        yield* assertEqual(copy)
      })
  )

  itWithCopy(
    "ends in CursorLost where each second page is refused and each call reads one",
    (copy) =>
      Effect.gen(function*() {
        yield* seeded
        yield* inject(Fault.status(422), { requests: [2, 4, 6, 8] })
        const call = Sync.run(company, { sortById: true, stopAfter: { pages: 1 } })
        for (let calls = 0; calls < 4; calls++) assert.include(yield* call, { complete: false, pages: 1 })
        const error = yield* Effect.flip(call)

        assert.strictEqual(error._tag === "SyncError" && error.reason._tag, "CursorLost")
        assert.deepStrictEqual(copy.checkpoint().running, Option.none())
        assert.deepStrictEqual(yield* sent("sort_by"), Array(8).fill("id.asc"))
      })
  )

  itWithCopy("begins a confirm with it, though the sweep continued without", (copy) =>
    Effect.gen(function*() {
      yield* loaded
      yield* (yield* FakeService).remove([lastId])
      yield* inject(Fault.status(422), { requests: [4, 5] })
      assert.include(yield* Sync.sweep(company, { sortById: true }), { complete: true, missing: 1, restarts: 0 })

      assert.deepStrictEqual((yield* sent("sort_by")).slice(3), [
        "id.asc",
        "id.asc",
        undefined,
        undefined,
        undefined,
        "id.asc"
      ])
      yield* assertEqual(copy)
    }))

  itWithCopy.each([[true, "id.asc"], [false, undefined]] as const)(
    "is kept with the pass, whatever a later call says: %s",
    (copy, [sortById, order]) =>
      Effect.gen(function*() {
        yield* seeded
        yield* Sync.run(company, { sortById, stopAfter: { pages: 1 } })
        assert.strictEqual(
          Option.getOrUndefined(Option.map(copy.checkpoint().running, ({ sorted }) => sorted)),
          sortById ? true : undefined
        )
        yield* Sync.run(company, { sortById: !sortById })

        assert.deepStrictEqual(yield* sent("sort_by"), Array(3).fill(order))
        yield* assertEqual(copy)
      })
  )
})
