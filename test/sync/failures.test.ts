/** What fails under a sync: cursors, requests, pages, the store, the process. Each failure is typed, and the next call continues. */
import { assert, describe } from "@effect/vitest"
import { DateTime, Effect, Exit, Layer, Option, Stream } from "effect"
import { TestClock } from "effect/testing"
import { InvalidRequest, PageSize } from "../../src/index.ts"
import { Sync, SyncError, SyncStore } from "../../src/sync/index.ts"
import { storeFailed } from "../../src/sync/SyncError.ts"
import { FakeService, Fault } from "../../src/testing/index.ts"
import { company, inject, pageRequests } from "../support/client.ts"
import {
  assertEqual,
  firstId,
  itWithCopy,
  lastId,
  loaded,
  noon,
  punches,
  seeded,
  sent,
  watermarkOf
} from "./support.ts"

/** Fills the service at noon. */
const cursorProblem = { problem: { param: "cursor", detail: "unknown cursor" } }
const otherProblem = { problem: { param: undefined, detail: "try again" } }

describe("Sync.run, when the service refuses a cursor,", () => {
  itWithCopy.each(
    [
      ["[Y7] a 422 that names it", Fault.status(422, cursorProblem)],
      ["[Y8] a 422 that names nothing", Fault.status(422, otherProblem)],
      ["a 400", Fault.status(400)],
      ["a 404", Fault.status(404)],
      ["a 410", Fault.status(410)]
    ] as const
  )("begins the pass again with the same since and a new horizon: %s", (copy, [, fault]) =>
    Effect.gen(function*() {
      yield* loaded
      yield* TestClock.adjust("1 hour")
      yield* (yield* FakeService).edit(punches.map(({ id }) => id), { notes: "bulk" })
      yield* inject(fault, { requests: 5 })
      const summary = yield* Sync.run(company, { onCommit: () => Effect.as(TestClock.adjust("1 minute"), true) })

      assert.include(summary, { kind: "increment", complete: true, restarts: 1, pages: 4, written: 450 })
      const since = (yield* sent("modified_since")).slice(3)
      assert.deepStrictEqual(new Set(since), new Set(["2026-04-05T11:45:00Z"]))
      assert.deepStrictEqual((yield* sent("cursor")).slice(3).map((cursor) => cursor === undefined), [
        true,
        false,
        true,
        false,
        false
      ])
      assert.strictEqual(watermarkOf(copy), noon + 61 * 60_000)
      yield* assertEqual(copy)
    }))

  itWithCopy(
    "[Y9] fails on a 422 to a request without a cursor, and does not begin again",
    (copy) =>
      Effect.gen(function*() {
        yield* seeded
        yield* inject(Fault.status(422, otherProblem))
        const error = yield* Effect.flip(Sync.run(company))

        assert.strictEqual(error._tag, "UnprocessableEntity")
        // The second one asks for deleted punches in the other spelling, the third one for those that are not deleted.
        assert.lengthOf(yield* pageRequests, 3)
        assert.isFalse(copy.hasCheckpoint())
      })
  )

  itWithCopy("continues at its cursor with another page size", (copy) =>
    Effect.gen(function*() {
      yield* seeded
      yield* Sync.run(company, { stopAfter: { pages: 1 } }).pipe(Effect.provideService(PageSize, 70))
      const resumed = Sync.run(company).pipe(Effect.provideService(PageSize, 130))
      assert.include(yield* resumed, { complete: true, resumed: true, pages: 3, punches: 380, restarts: 0 })
      yield* assertEqual(copy)
      assert.deepStrictEqual(
        (yield* pageRequests).slice(0, 4).map(({ query }) => query["limit"]),
        ["70", "130", "130", "130"]
      )
    }))

  itWithCopy.each([0, 201, 1.5])(
    "refuses a page size of %d before it sends anything",
    (copy, size) =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(Effect.provideService(Sync.run(company), PageSize, size))
        assert.include(error, { _tag: "InvalidRequest", field: "pageSize" })
        assert.lengthOf(yield* pageRequests, 0)
        assert.isFalse(copy.hasCheckpoint())
      })
  )

  itWithCopy(
    "[Y11] loses nothing where a stored cursor is answered with the first page",
    (copy) =>
      Effect.gen(function*() {
        yield* seeded
        assert.include(yield* Sync.run(company, { stopAfter: { pages: 1 } }), { complete: false, punches: 200 })
        const running = Option.getOrThrow(copy.checkpoint().running)
        // What the service does not know, it reads from the start: a cursor that is left out.
        const checkpoint = { ...copy.checkpoint(), running: Option.some({ ...running, cursor: Option.none() }) }
        copy.replace(checkpoint)

        assert.include(yield* Sync.run(company), { complete: true, resumed: true, punches: 450 })
        yield* assertEqual(copy)
      })
  )

  itWithCopy(
    "[Y12] counts a cycle of cursors as a restart, and ends with CursorLost",
    (copy) =>
      Effect.gen(function*() {
        yield* seeded
        yield* inject(Fault.cursorCycle(2))
        const error = yield* Effect.flip(Sync.run(company))

        assert.strictEqual(error._tag === "SyncError" && error.reason._tag, "CursorLost")
        yield* (yield* FakeService).clearFaults
        assert.include(yield* Sync.run(company), { complete: true, restarts: 0 })
        yield* assertEqual(copy)
      })
  )

  itWithCopy.each([1, 2])(
    "[Y12] finds a cycle that is longer than a call of %d pages",
    (copy, pages) =>
      Effect.gen(function*() {
        yield* seeded
        yield* inject(Fault.cursorCycle(3))
        let calls = 0
        const ends: Array<string> = []
        while (calls++ < 40 && !ends.includes("CursorLost")) {
          const end = yield* Effect.result(Sync.run(company, { stopAfter: { pages } }))
          ends.push(
            end._tag === "Success" ? "stopped" : end.failure._tag === "SyncError" ? end.failure.reason._tag : "other"
          )
        }
        assert.strictEqual(ends.at(-1), "CursorLost")
        yield* (yield* FakeService).clearFaults
        assert.include(yield* Sync.run(company), { complete: true })
        yield* assertEqual(copy)
      })
  )
})

describe("Sync.run, when a request fails,", () => {
  itWithCopy.each(
    [
      ["[Y62] 503", Fault.status(503), "ServiceUnavailable"],
      ["[Y62] 429", Fault.status(429), "RateLimited"],
      ["[Y52] 403", Fault.status(403), "Forbidden"],
      ["[Y61] a row that is no punch", Fault.badRow(0, { user_id: "x" }), "DecodeError"]
    ] as const
  )("keeps what it has, and the next call continues there: %s", (copy, [, fault, tag]) =>
    Effect.gen(function*() {
      yield* loaded
      yield* (yield* FakeService).edit(punches.map(({ id }) => id), { notes: "bulk" })
      yield* inject(fault, { requests: [5, 6, 7] })
      const ends = yield* Effect.all([1, 2, 3].map(() => Effect.flip(Sync.run(company))))

      assert.deepStrictEqual(ends.map(({ _tag }) => _tag), [tag, tag, tag])
      assert.strictEqual(watermarkOf(copy), noon)
      assert.strictEqual(copy.present().filter(({ notes }) => notes === "bulk").length, 200)
      assert.strictEqual(copy.present().length, 450)
      if (fault._tag === "BadRow")
        assert.deepStrictEqual(ends.map((error) => idOf(error)), Array(3).fill(idOf(ends[0])))
      assert.include(yield* Sync.run(company), { complete: true, resumed: true, pages: 2 })
      assert.deepStrictEqual((yield* sent("cursor")).slice(4, 8), Array(4).fill((yield* sent("cursor"))[4]))
      yield* assertEqual(copy)
    }))
})

/** The id of the row that an error names. */
const idOf = (error: unknown) => (error instanceof Object && "punchId" in error ? error.punchId : undefined)

describe("Sync.run, when it is stopped,", () => {
  itWithCopy.each([1, 2, 3, 4, 5, 6, 7])(
    "[Y71] continues in the next call, stopped after %d pages each time",
    (copy, pages) =>
      Effect.gen(function*() {
        const service = yield* seeded
        const untilDone = (call: typeof Sync.run) =>
          Effect.gen(function*() {
            for (let calls = 0; calls < 20; calls++) {
              const before = (yield* pageRequests).length
              const { complete } = yield* call(company, { stopAfter: { pages }, prefetchPages: 2 })
              assert.isAtMost((yield* pageRequests).length - before, pages)
              if (complete) return
            }
            assert.fail("it does not end")
          })
        yield* untilDone(Sync.run)
        yield* service.edit(punches.slice(0, 250).map(({ id }) => id), { notes: "bulk" })
        yield* service.remove([lastId])
        yield* untilDone(Sync.run)
        yield* untilDone(Sync.sweep)

        assert.isTrue(copy.row(lastId)?.isMissing)
        yield* assertEqual(copy)
      })
  )

  itWithCopy(
    "[Y71] stores a pass that began again before it stops, so that calls of one page come to an end",
    (copy) =>
      Effect.gen(function*() {
        const service = yield* loaded
        yield* service.stepClock("-2 hours")
        yield* TestClock.adjust("1 minute")
        yield* service.edit([firstId], { notes: "stamped two hours ago" })
        const first = yield* Sync.run(company, { stopAfter: { pages: 1 } })

        assert.include(first, { complete: false, pages: 1, punches: 0 })
        const running = Option.getOrThrow(copy.checkpoint().running)
        assert.deepStrictEqual(running.since, Option.some(DateTime.makeUnsafe("2026-04-05T09:45:00Z")))
        assert.include(yield* Sync.run(company, { stopAfter: { pages: 1 } }), { complete: true, pages: 1, punches: 1 })
        yield* assertEqual(copy)
      })
  )

  itWithCopy(
    "[Y72] [Y6] keeps the horizon of a pass that it resumes, and the next pass has what changed since",
    (copy) =>
      Effect.gen(function*() {
        const service = yield* seeded
        yield* Sync.run(company, { stopAfter: { pages: 1 } })
        yield* TestClock.adjust("30 hours")
        yield* service.edit([firstId], { notes: "edited behind the first page" })
        const resumed = yield* Sync.run(company)

        assert.include(resumed, { complete: true, resumed: true, pages: 2 })
        assert.strictEqual(watermarkOf(copy), noon)
        assert.notStrictEqual(copy.row(firstId)?.punch.notes, "edited behind the first page")
        assert.include(yield* Sync.run(company), { complete: true, resumed: false, written: 1 })
        yield* assertEqual(copy)
      })
  )

  itWithCopy(
    "[Y58] fails with the cause where the store fails, and does not move the cursor",
    (copy) =>
      Effect.gen(function*() {
        yield* seeded
        const cause = new InvalidRequest({ field: "disk", detail: "full" })
        const full = Layer.succeed(SyncStore, {
          ...copy.store,
          commit: (batch, previous) =>
            Option.isSome(previous)
              ? Effect.fail(storeFailed(batch.companyId, "the rows cannot be written", cause))
              : copy.store.commit(batch, previous)
        })
        const error = yield* Effect.flip(Effect.provide(Sync.run(company), full))

        assert.instanceOf(error, SyncError)
        assert.isTrue(error.reason._tag === "Store" && error.reason.cause === cause)
        assert.strictEqual(error.companyId, company.id)
        assert.deepStrictEqual(error instanceof SyncError && error.checkpoint, Option.some(copy.checkpoint()))
        assert.include(yield* Sync.run(company), { complete: true, resumed: true, punches: 250 })
        yield* assertEqual(copy)
      })
  )

  itWithCopy(
    "[Y60] has in each checkpoint only what was emitted, however far it reads ahead",
    (copy) =>
      Effect.gen(function*() {
        yield* seeded
        const batches = Sync.batches(company, Option.none(), { prefetchPages: 3 })
        const [batch] = yield* Stream.runCollect(Stream.take(batches, 1))
        assert.isDefined(batch)
        const { cursor, pages } = Option.getOrThrow(batch.checkpoint.running)

        assert.strictEqual(pages, 1)
        yield* (yield* FakeService).clearRequests
        const rest = yield* Stream.runCollect(Sync.batches(company, Option.some(batch.checkpoint)))
        assert.deepStrictEqual((yield* sent("cursor"))[0], Option.getOrThrow(cursor))
        assert.deepStrictEqual(
          [batch, ...rest].flatMap(({ punches }) => punches.map(({ id }) => Number(id))),
          punches.map(({ id }) => id)
        )
        assert.isTrue(Exit.isSuccess(yield* Effect.exit(copy.store.commit(batch, Option.none()))))
      })
  )
})
