/** What a service does to its rows between two passes and within one, over the fake service: no change is missed. */
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Duration, Effect, Fiber, Logger, Option, References } from "effect"
import { TestClock } from "effect/testing"
import { Sync } from "../../src/sync/index.ts"
import { FakeService, Fault } from "../../src/testing/index.ts"
import { company, inject, pageRequests } from "../support/client.ts"
import { letTimePass } from "../support/time.ts"
import {
  assertEqual,
  firstId,
  itWithCopy,
  lastId,
  loaded,
  makeCopy,
  noon,
  over,
  punches,
  seeded,
  sent,
  watermarkOf
} from "./support.ts"

const minute = 60_000

/** Does something to the service once, when the page of this number was read. */
const afterPage = (number: number, act: Effect.Effect<void>) => {
  let pages = 0
  return { onCommit: () => ++pages === number ? Effect.as(act, true) : Effect.succeed(true) }
}

/** Lets so much time pass, and the requests that follow be answered. Returns their number so far. */
const requestsAfter = Effect.fnUntraced(function*(millis: number) {
  yield* TestClock.adjust(millis)
  let requests = -1
  for (let turns = 0; turns < 100; turns++) {
    yield* Effect.yieldNow
    const { length } = yield* pageRequests
    if (length !== requests) turns = 0
    requests = length
  }
  return requests
})

describe("Sync.run over a service whose rows change", () => {
  itWithCopy(
    "[Y38] [Y42] copies every row first, deleted ones, rows without modified, and rows decades off",
    (copy) =>
      Effect.gen(function*() {
        yield* TestClock.setTime(noon)
        const [one, other, ...rest] = punches
        assert.isDefined(one)
        assert.isDefined(other)
        yield* (yield* FakeService).seed([
          { ...one, modified: null },
          { ...other, clocked_in: "1972-01-01T00:00:00Z", clocked_out: null, breaks: [] },
          ...rest
        ])
        const summary = yield* Sync.run(company)

        assert.include(summary, { kind: "first", complete: true, resumed: false, pages: 3, punches: 450, written: 450 })
        assert.deepStrictEqual((yield* pageRequests).map(({ query }) => Object.keys(query).toSorted()), [
          ["deleted", "limit"],
          ["cursor", "deleted", "limit"],
          ["cursor", "deleted", "limit"]
        ])
        yield* assertEqual(copy)
      })
  )

  itWithCopy(
    "[Y21] asks for what changed since the last horizon less the overlap, and nothing else",
    (copy) =>
      Effect.gen(function*() {
        const service = yield* loaded
        yield* TestClock.adjust("1 hour")
        yield* service.edit([firstId], { notes: "edited" })
        const summary = yield* Sync.run(company)

        assert.include(summary, { kind: "increment", pages: 1, punches: 1, written: 1, unchanged: 0 })
        assert.deepStrictEqual((yield* pageRequests).at(-1)?.query, {
          limit: "200",
          deleted: "null",
          modified_since: "2026-04-05T11:45:00Z"
        })
        yield* assertEqual(copy)
      })
  )

  itWithCopy(
    "[Y19] [Y20] [Y44] has a change before its page at once, and one after its page with the next pass",
    (copy) =>
      Effect.gen(function*() {
        const service = yield* seeded
        yield* Sync.run(
          company,
          afterPage(1, service.edit([firstId, lastId], { notes: "edited" }))
        )
        assert.notStrictEqual(copy.row(firstId)?.punch.notes, "edited")
        assert.strictEqual(copy.row(lastId)?.punch.notes, "edited")
        const summary = yield* Sync.run(company)

        assert.include(summary, { punches: 2, written: 1, unchanged: 1 })
        yield* assertEqual(copy)
      })
  )

  itWithCopy("[Y22] has a change that shows ten minutes late", (copy) =>
    Effect.gen(function*() {
      const service = yield* seeded
      yield* service.edit([firstId], { notes: "late" })
      yield* TestClock.adjust("9 minutes")
      yield* Sync.run(company)
      yield* TestClock.adjust("2 minutes")
      const { lateness } = yield* Sync.run(company)

      assert.deepStrictEqual(lateness, Option.some(Duration.minutes(9)))
      yield* assertEqual(copy)
    }), { visibleAfter: "10 minutes" })

  itWithCopy("[Y23] has a change that shows later than the overlap with a sweep", (copy) =>
    Effect.gen(function*() {
      const service = yield* seeded
      yield* service.edit([firstId], { notes: "very late" })
      yield* TestClock.adjust("20 minutes")
      yield* Sync.run(company)
      yield* TestClock.adjust("20 minutes")
      yield* Sync.run(company)
      assert.notStrictEqual(copy.row(firstId)?.punch.notes, "very late")
      yield* Sync.sweep(company)

      yield* assertEqual(copy)
    }), { visibleAfter: "30 minutes" })

  itWithCopy("[Y26] has a change at the very instant of modified_since", (copy) =>
    Effect.gen(function*() {
      const service = yield* loaded
      yield* service.edit([firstId], { notes: "boundary" })
      yield* TestClock.setTime(noon + 15 * minute)
      yield* service.edit([lastId], { notes: "later" })
      yield* Sync.run(company)
      yield* Sync.run(company)

      assert.deepStrictEqual((yield* sent("modified_since")).slice(3), ["2026-04-05T11:45:00Z", "2026-04-05T12:00:00Z"])
      yield* assertEqual(copy)
    }))

  itWithCopy("[Y27] counts from the service's clock, whatever the local one says", (copy) =>
    Effect.gen(function*() {
      yield* loaded

      assert.strictEqual(watermarkOf(copy), noon - 5 * 60 * minute)
    }), { clockOffset: "-5 hours" })

  itWithCopy(
    "[Y29] goes back with a service whose clock was set back, and misses no change",
    (copy) =>
      Effect.gen(function*() {
        const service = yield* loaded
        yield* service.stepClock("-2 hours")
        yield* TestClock.adjust("1 minute")
        yield* service.edit([firstId], { notes: "stamped two hours ago" })
        const summary = yield* Sync.run(company)

        assert.include(summary, { pages: 2, restarts: 0, complete: true })
        assert.deepStrictEqual((yield* sent("modified_since")).slice(3), [
          "2026-04-05T11:45:00Z",
          "2026-04-05T09:45:00Z"
        ])
        assert.strictEqual(watermarkOf(copy), noon + minute - 120 * minute)
        yield* assertEqual(copy)
      })
  )

  itWithCopy("[Y36] moves the watermark with an increment that has no row", (copy) =>
    Effect.gen(function*() {
      yield* TestClock.setTime(noon)
      yield* Sync.run(company)
      yield* TestClock.adjust("1 hour")
      assert.include(yield* Sync.run(company), { kind: "increment", complete: true, pages: 1, punches: 0 })

      assert.strictEqual(watermarkOf(copy), noon + 60 * minute)
    }))

  itWithCopy("[Y37] continues behind an empty page that has a next", (copy) =>
    Effect.gen(function*() {
      yield* seeded
      yield* inject(Fault.emptyPage, { requests: 2 })

      assert.include(yield* Sync.run(company), { pages: 4, punches: 450, complete: true })
      yield* assertEqual(copy)
    }))

  itWithCopy(
    "[Y37] continues behind hundreds of empty pages, at the cursor of the last one",
    (copy) =>
      Effect.gen(function*() {
        yield* seeded
        yield* inject(Fault.endlessEmptyPages, { requests: Array.from({ length: 1050 }, (_, index) => index + 2) })

        assert.include(yield* letTimePass(Sync.run(company)), {
          pages: 1053,
          punches: 450,
          complete: true,
          restarts: 0
        })
        const cursors = yield* sent("cursor")
        assert.strictEqual(new Set(cursors).size, cursors.length)
        yield* assertEqual(copy)
      })
  )

  itWithCopy(
    "[Y37] waits longer each time behind a hundred empty pages, says so, and can be interrupted",
    (copy) =>
      Effect.gen(function*() {
        yield* seeded
        yield* inject(Fault.endlessEmptyPages)
        const lines: Array<string> = []
        const logger = Logger.make(({ logLevel, message }) => void lines.push(`${logLevel} ${message}`))
        const fiber = yield* Sync.run(company).pipe(
          Effect.provide(Logger.layer([logger])),
          Effect.provideService(References.MinimumLogLevel, "Debug"),
          Effect.forkChild
        )
        const requests: Array<number> = []
        for (const millis of [0, 99, 1, 200, 400, 800, 1600, 3200, 4999, 1, 5000]) {
          requests.push(yield* requestsAfter(millis))
        }
        yield* Fiber.interrupt(fiber)

        assert.deepStrictEqual(requests, [100, 100, 200, 300, 400, 500, 600, 700, 700, 800, 900])
        assert.strictEqual(yield* requestsAfter(minute), 900)
        assert.strictEqual(copy.checkpoint().running.pipe(Option.getOrThrow).pages, 900)
        assert.strictEqual(
          lines[0],
          `Debug company ${company.id}: 100 pages in a row were empty, the next is requested in 100ms`
        )
        assert.deepStrictEqual(lines.filter((line) => !line.startsWith("Debug")), [
          `Warn company ${company.id}: 800 pages in a row were empty, the next is requested in 5s`
        ])
      })
  )

  itWithCopy("[Y37] waits no longer than until its deadline", () =>
    Effect.gen(function*() {
      yield* seeded
      yield* inject(Fault.endlessEmptyPages)
      const call = yield* Effect.forkChild(Sync.run(company, { stopAfter: { duration: "6 seconds" } }))
      for (let seconds = 0; seconds < 6; seconds += 0.1) yield* requestsAfter(100)

      assert.include(yield* Fiber.join(call), { complete: false, pages: 600 })
    }))

  itWithCopy(
    "[Y40] has a row with modified in the future each time until then, and its later edits",
    (copy) =>
      Effect.gen(function*() {
        const service = yield* loaded
        yield* service.edit([firstId], { notes: "ahead", modified: "2026-04-09T00:00:00Z" })
        assert.include(yield* Sync.run(company), { punches: 1, written: 1 })
        yield* TestClock.adjust("1 day")
        assert.include(yield* Sync.run(company), { punches: 1, written: 0, unchanged: 1 })
        yield* service.edit([firstId], { notes: "again" })

        assert.include(yield* Sync.run(company), { punches: 1, written: 1 })
        yield* assertEqual(copy)
      })
  )

  it.effect.each(["id", "asked"] as const)("[Y45] does not depend on the order of the service: %s", (order) => {
    const copy = makeCopy()
    return Effect.gen(function*() {
      yield* TestClock.setTime(noon)
      yield* (yield* FakeService).seed(punches.toReversed())
      yield* Sync.run(company)

      assert.deepStrictEqual([...new Set(yield* sent("sort_by"))], [undefined])
      yield* assertEqual(copy)
    }).pipe(Effect.provide(over(copy, { order })))
  })

  itWithCopy(
    "[Y46] loses no row where the rows that its cursors name are edited or removed",
    (copy) =>
      Effect.gen(function*() {
        const service = yield* seeded
        const [edited, removed] = [punches[199]?.id ?? 0, punches[399]?.id ?? 0]
        let pages = 0
        const act = [service.edit([edited], { clocked_in: "2031-01-01T00:00:00Z" }), service.remove([removed])]
        yield* Sync.run(company, { onCommit: () => Effect.as(act[pages++] ?? Effect.void, true) })
        assert.isTrue(copy.row(removed) !== undefined)
        yield* Sync.sweep(company)

        yield* assertEqual(copy)
      }),
    { cursors: "record" }
  )

  itWithCopy(
    "[Y49] does not mark a row that moves out of the window while it is swept",
    (copy) =>
      Effect.gen(function*() {
        const service = yield* loaded
        const summary = yield* Sync.sweep(company, {
          window: { gte: DateTime.makeUnsafe("2000-01-01T00:00:00Z"), lt: DateTime.makeUnsafe("2030-01-01T00:00:00Z") },
          ...afterPage(1, service.edit([lastId], { clocked_in: "2031-01-01T00:00:00Z" }))
        })

        assert.strictEqual(summary.missing, 0)
        assert.isFalse(copy.row(lastId)?.isMissing)
        yield* assertEqual(copy)
      })
  )

  itWithCopy("[Y53] finds an edited break, which moves no modified, with a sweep", (copy) =>
    Effect.gen(function*() {
      const service = yield* loaded
      const punch = punches.find(({ breaks }) => (breaks?.length ?? 0) > 0)
      assert.isDefined(punch)
      yield* service.seed([{ ...punch, breaks: [] }])
      yield* Sync.run(company)
      assert.isNotEmpty(copy.row(punch.id)?.punch.breaks ?? [])
      yield* Sync.sweep(company)

      assert.deepStrictEqual(copy.row(punch.id)?.punch.breaks, [])
      yield* assertEqual(copy)
    }))

  itWithCopy(
    "[Y76] takes the mark from a missing row that an increment returns unchanged",
    (copy) =>
      Effect.gen(function*() {
        const service = yield* loaded
        yield* service.edit([lastId], { notes: "edited" })
        const edited = { ...punchOf(lastId), notes: "edited", modified: "2026-04-05T12:00:00Z" }
        yield* Sync.run(company)
        yield* service.remove([lastId])
        yield* Sync.sweep(company)
        assert.isTrue(copy.row(lastId)?.isMissing)
        yield* service.seed([edited])
        yield* Sync.run(company)

        assert.isFalse(copy.row(lastId)?.isMissing)
        yield* assertEqual(copy)
      })
  )
})

/** The row with this id, or a new one like the first. */
const punchOf = (id: number) => {
  const like = punches.find((punch) => punch.id === id) ?? punches[0]
  assert.isDefined(like)
  return { ...like, id }
}
