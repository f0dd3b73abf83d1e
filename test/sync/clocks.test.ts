/** The `Date` of a service, and the local clock, over the fake service: which of them a sync believes. */
import { assert, describe, it } from "@effect/vitest"
import { Clock, type DateTime, Effect, Fiber, Layer, Option } from "effect"
import { TestClock } from "effect/testing"
import { RetryPolicy } from "../../src/index.ts"
import { Sync } from "../../src/sync/index.ts"
import { FakeService, Fault } from "../../src/testing/index.ts"
import { client, company, inject, pageRequests } from "../support/client.ts"
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
  type TestCopy,
  watermarkOf
} from "./support.ts"

const minute = 60_000
const modified = Date.parse("2026-04-01T08:00:00Z")

const millisOf = Option.match({
  onNone: () => undefined,
  onSome: ({ epochMilliseconds }: DateTime.Utc) => epochMilliseconds
})

const isFirst = (query: Readonly<Record<string, string>>) => query["cursor"] === undefined

describe("Sync.run without a Date that it can believe", () => {
  it.effect.each(
    [
      ["[Y31] where there is none", () => undefined],
      [
        "[Y31] where only later pages have one",
        (time: string, query: Readonly<Record<string, string>>) => isFirst(query) ? undefined : time
      ],
      ["[Y32] where it is no date", () => "yesterday"],
      ["[Y32] where it is of 1970", () => "Thu, 01 Jan 1970 00:00:00 GMT"],
      ["[Y32] where it is of 9999", () => "Fri, 31 Dec 9999 23:59:59 GMT"]
    ] as const
  )("counts from the latest change that it has seen: %s", ([, date]) => {
    const copy = makeCopy()
    return Effect.gen(function*() {
      const service = yield* loaded
      assert.strictEqual(watermarkOf(copy), modified)
      // From here on a `Date` may be compared: nothing before a first load can be missed.
      assert.deepStrictEqual(millisOf(copy.checkpoint().at), noon)
      yield* TestClock.adjust("1 hour")
      yield* service.edit([firstId], { notes: "edited" })
      yield* Sync.run(company)

      assert.deepStrictEqual(millisOf(copy.checkpoint().at), noon)
      assert.strictEqual((yield* sent("modified_since")).at(-1), "2026-04-01T07:45:00Z")
      assert.strictEqual(watermarkOf(copy), noon + 60 * minute)
      yield* assertEqual(copy)
    }).pipe(Effect.provide(over(copy, { date: (time, { query }) => date(time, query) })))
  })

  it.effect("[Y29] misses nothing where the clock was set back before a first load without one", () => {
    const copy = makeCopy()
    let isDated = false
    return Effect.gen(function*() {
      const service = yield* seeded
      yield* service.edit([lastId], { notes: "edited" })
      yield* service.stepClock("-3 hours")
      yield* Sync.run(company)
      assert.strictEqual(watermarkOf(copy), noon)
      yield* TestClock.adjust("1 hour")
      yield* service.edit([firstId], { notes: "edited" })
      isDated = true

      assert.include(yield* Sync.run(company), { complete: true, written: 1 })
      assert.strictEqual(watermarkOf(copy), noon - 120 * minute)
      yield* assertEqual(copy)
    }).pipe(Effect.provide(over(copy, { date: (time) => isDated ? time : undefined })))
  })

  itWithCopy("[Y31] counts from the first page where only that has one", (copy) =>
    Effect.gen(function*() {
      yield* seeded
      yield* Sync.run(company, { onCommit: () => Effect.as(TestClock.adjust("1 minute"), true) })

      assert.strictEqual(watermarkOf(copy), noon)
    }), { date: (time, { query }) => isFirst(query) ? time : undefined })

  itWithCopy("[Y33] counts from an older Date of a cache, and reads more", (copy) =>
    Effect.gen(function*() {
      yield* loaded
      yield* Sync.run(company)

      assert.strictEqual(watermarkOf(copy), noon - 60 * minute)
      assert.strictEqual((yield* sent("modified_since")).at(-1), "2026-04-05T10:45:00Z")
    }), { date: () => new Date(noon - 60 * minute).toUTCString() })

  it.effect("[Y34] counts from the Date of the last attempt, less the time of that attempt", () => {
    const copy = makeCopy()
    const app = client().pipe(
      Layer.provide(RetryPolicy.layer({ attempts: 2, baseDelay: "10 seconds", maxDelay: "10 seconds" })),
      Layer.provide(FakeService.layerClient),
      Layer.provideMerge(FakeService.layer({ latency: "2 seconds" })),
      Layer.merge(copy.layer)
    )
    return Effect.gen(function*() {
      yield* TestClock.setTime(noon)
      yield* (yield* FakeService).seed(punches.slice(0, 10))
      yield* inject(Fault.status(503), { requests: 1 })
      const fiber = yield* Effect.forkChild(Sync.run(company))
      for (let count = 0; count < 40; count++) yield* TestClock.adjust("1 second")
      assert.include(yield* Fiber.join(fiber), { complete: true, pages: 1 })
      const [, second] = yield* pageRequests
      assert.isDefined(second)
      const sentAt = Math.floor(second.at)

      assert.isAbove(sentAt, noon + 2000)
      assert.strictEqual(watermarkOf(copy), Math.floor((sentAt + 2000) / 1000) * 1000 - 2000)
      assert.deepStrictEqual(
        Option.map(copy.checkpoint().at, ({ epochMilliseconds }) => epochMilliseconds),
        Option.some(sentAt)
      )
    }).pipe(Effect.provide(app))
  })
})

describe("Sync.run with a local clock that is wrong", () => {
  it.effect.each([-23, -5, 5, 23])("[Y27] misses nothing where the service has a Date: %d hours", (hours) => {
    const copy = makeCopy()
    return Effect.gen(function*() {
      const service = yield* loaded
      yield* TestClock.adjust("1 hour")
      yield* service.edit([firstId], { notes: "edited" })

      assert.include(yield* Sync.run(company), { complete: true, pages: 1, written: 1 })
      assert.strictEqual(watermarkOf(copy), noon + 60 * minute - hours * 60 * minute)
      yield* assertEqual(copy)
    }).pipe(Effect.provide(over(copy, { clockOffset: `${-hours} hours` })))
  })

  itWithCopy.each([9, -9])(
    "[Y28] misses nothing where it jumps between two passes: %d hours",
    (copy, hours) =>
      Effect.gen(function*() {
        const service = yield* loaded
        // Both clocks are the test's: the service's goes the other way, and stays where it was.
        yield* TestClock.setTime(noon + hours * 60 * minute)
        yield* service.stepClock(`${-hours} hours`)
        yield* service.edit([firstId], { notes: "edited" })

        assert.include(yield* Sync.run(company), { complete: true, restarts: 0, written: 1 })
        assert.strictEqual(watermarkOf(copy), noon)
        yield* assertEqual(copy)
      })
  )

  /**
   * A pass of ten minutes without a `Date`. The local clock is ten minutes ahead and is set right behind the first page; then
   * a row of that page is edited, and one of the last page.
   */
  const setRightInThePass = (isOneCall: boolean) => (copy: TestCopy) =>
    Effect.gen(function*() {
      const service = yield* FakeService
      const clock = yield* Clock.Clock
      let ahead = 10 * minute
      const local = {
        ...clock,
        currentTimeMillisUnsafe: () => clock.currentTimeMillisUnsafe() + ahead,
        currentTimeMillis: Effect.map(clock.currentTimeMillis, (millis) => millis + ahead)
      }
      yield* TestClock.setTime(noon)
      yield* service.seed(punches)
      yield* service.stepClock("-10 minutes")
      const meanwhile = Effect.gen(function*() {
        ahead = 0
        yield* service.stepClock("10 minutes")
        yield* TestClock.adjust("5 minutes")
        yield* service.edit([firstId], { notes: "behind the reader" })
        yield* TestClock.adjust("5 minutes")
        yield* service.edit([lastId], { notes: "before the reader" })
      })
      const pass = (stopAfter?: { readonly pages: number }) =>
        Sync.run(company, {
          overlap: "1 minute",
          ...(stopAfter === undefined ? {} : { stopAfter }),
          onCommit: ({ complete, pages }) =>
            Effect.as(!complete && pages === 1 && ahead > 0 ? meanwhile : Effect.void, true)
        }).pipe(Effect.provideService(Clock.Clock, local))
      yield* isOneCall ? pass() : Effect.andThen(pass({ pages: 1 }), pass())
      assert.isAtMost(watermarkOf(copy) ?? Infinity, noon)
      yield* pass()

      yield* assertEqual(copy)
    })

  itWithCopy(
    "[Y28] misses nothing where it is set back in a pass without a Date",
    setRightInThePass(true),
    { date: () => undefined }
  )

  itWithCopy(
    "[Y28] misses nothing where it is set back between two calls of a pass without a Date",
    setRightInThePass(false),
    { date: () => undefined }
  )
})

describe("Sync.run over a service whose Date stands still", () => {
  /** Two hours behind a service that takes 1.5 s for a page. */
  const stuck = { date: () => new Date(noon).toUTCString(), latency: "1500 millis" } as const

  /** Answers requests until the call ends. */
  const ending = <A, E, R>(call: Effect.Effect<A, E, R>) =>
    Effect.gen(function*() {
      const fiber = yield* Effect.forkChild(call)
      for (let seconds = 0; seconds < 30; seconds++) yield* TestClock.adjust("1 second")
      return yield* Fiber.join(fiber)
    }).pipe(Effect.timeout("1 minute"))

  const twoHoursLater = Effect.gen(function*() {
    yield* seeded
    yield* ending(Sync.run(company))
    yield* TestClock.adjust("2 hours")
    yield* (yield* FakeService).edit([firstId], { notes: "edited" })
  })

  itWithCopy(
    "[Y82] asks for a first page twice, and completes its pass",
    (copy) =>
      Effect.gen(function*() {
        yield* twoHoursLater
        assert.include(yield* ending(Sync.run(company)), { complete: true, pages: 2, restarts: 0, written: 1 })

        assert.lengthOf(yield* pageRequests, 5)
        assert.strictEqual(watermarkOf(copy), noon - 1500)
        assert.strictEqual(copy.row(firstId)?.punch.notes, "edited")
      }),
    stuck
  )

  itWithCopy(
    "[Y82] [Y71] stops between the two where the time is over, and stores the pass",
    (copy) =>
      Effect.gen(function*() {
        yield* twoHoursLater
        const stopped = yield* ending(Sync.run(company, { stopAfter: { duration: "1 second" } }))
        assert.include(stopped, { complete: false, pages: 1, punches: 0 })
        const { at, cursor, since } = Option.getOrThrow(copy.checkpoint().running)
        assert.isTrue(Option.isSome(at) && Option.isNone(cursor))
        assert.isBelow(millisOf(since) ?? Infinity, noon - 2 * 60 * minute)

        const resumed = yield* ending(Sync.run(company, { stopAfter: { duration: "1 second" } }))
        assert.include(resumed, { complete: true, resumed: true, pages: 1, written: 1 })
      }),
    stuck
  )
})
