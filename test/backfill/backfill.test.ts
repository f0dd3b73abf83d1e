import { assert, describe, it } from "@effect/vitest"
import { DateTime, Deferred, Effect, Fiber, Option, Schema, Stream } from "effect"
import { TestClock } from "effect/testing"
import { type BackfillFilter, BackfillSegment, type TimePunch, TimePunches } from "../../src/index.ts"
import { prng } from "../../src/testing/base/prng.ts"
import { defaultCompany, FakeService, Fault, generatePunches } from "../../src/testing/index.ts"
import { app, company, pageRequests } from "../support/client.ts"
import { expected } from "../support/oracle.ts"
import { letTimePass } from "../support/time.ts"
import { byId, drawOptions, drawPunches, drawRange, held, jostled, runBackfill, runResumed } from "./support.ts"

const seeds = (count: number) => Array.from({ length: count }, (_, index) => index + 1)

const punches = generatePunches({ seed: 5, count: 3000, companyId: defaultCompany.id, deletedShare: 0 })
const march = {
  clockedIn: { gte: DateTime.makeUnsafe("2026-02-01T00:00:00Z"), lt: DateTime.makeUnsafe("2026-05-01T00:00:00Z") }
} satisfies BackfillFilter

const millisOf = (rows: ReadonlyArray<TimePunch>) => rows.map(({ clockedIn }) => clockedIn.epochMilliseconds)

/** Lets every fiber run until it waits. */
const settled = Effect.forEach(Array.from({ length: 500 }), () => Effect.yieldNow, { discard: true })

describe("TimePunches.backfill", () => {
  it.effect(
    "emits every punch of the range once, whatever the density, the order of the service and the options",
    () =>
      Effect.forEach(seeds(120), (seed) => {
        const chance = prng(seed)
        const punches = drawPunches(chance, chance.pick([0, 1, 40, 300]))
        const filter = drawRange(chance, punches)
        return Effect.gen(function*() {
          const { emitted, error } = yield* runBackfill(filter, drawOptions(chance))

          assert.isUndefined(error, `seed ${seed}`)
          assert.deepStrictEqual(byId(emitted), expected(punches, filter), `seed ${seed}`)
        }).pipe(Effect.provide(jostled(chance, { punches, order: chance.pick(["asked", "asked", "id"]) })))
      }, { discard: true }),
    60_000
  )

  it.effect(
    "emits every punch once over runs that fail and are resumed with other options",
    () =>
      Effect.gen(function*() {
        let failures = 0
        for (const seed of seeds(100)) {
          const chance = prng(seed)
          const punches = drawPunches(chance, chance.pick([40, 300]))
          const filter = drawRange(chance, punches)
          yield* Effect.gen(function*() {
            const service = yield* FakeService
            yield* service.inject(chance.pick([Fault.status(422), Fault.reset, Fault.wrongObject()]), {
              probability: { chance: chance.pick([0.03, 0.1, 0.3]), seed },
              times: 12
            })
            const runs = yield* runResumed(filter, () => ({ ...drawOptions(chance), pageSize: 7 }))
            failures += runs.length - 1

            assert.deepStrictEqual(
              byId(runs.flatMap(({ emitted }) => emitted)),
              expected(punches, filter),
              `seed ${seed}`
            )
          }).pipe(Effect.provide(jostled(chance, { punches, order: chance.pick(["asked", "asked", "id"]) })))
        }
        assert.isAtLeast(failures, 200)
      }),
    60_000
  )

  it.effect("resumes from segments that were stored as JSON", () =>
    Effect.gen(function*() {
      const service = yield* FakeService
      yield* service.inject(Fault.status(422), { requests: 60 })
      const first = yield* runBackfill(march, { concurrency: 8, pageSize: 20 })
      const codec = Schema.fromJsonString(Schema.Array(BackfillSegment))
      const stored = yield* Schema.encodeEffect(codec)(first.error?.unfinished ?? [])
      const resume = yield* Schema.decodeEffect(codec)(stored)
      const second = yield* runBackfill(march, { concurrency: 3, pageSize: 20, segments: resume })

      assert.isTrue(
        resume.map((text) => held(text, march)).some(({ cursor, queriedUntil }) =>
          Option.isSome(cursor) && queriedUntil !== undefined
        ),
        "one was cut"
      )
      assert.deepStrictEqual(byId([...first.emitted, ...second.emitted]), expected(punches, march))
    }).pipe(Effect.provide(jostled(prng(6), { punches }))))

  it.effect("reads no further than each segment, if segments that were cut are resumed one page at a time", () =>
    Effect.gen(function*() {
      const service = yield* FakeService
      yield* service.inject(Fault.status(422), { requests: 40 })
      const first = yield* runBackfill(march, { concurrency: 16, pageSize: 20 })
      yield* service.clearRequests
      const resume = first.error?.unfinished ?? []
      const second = yield* runBackfill(march, { concurrency: 1, pageSize: 20, segments: resume })
      const requests = (yield* pageRequests).length

      assert.isAbove(resume.length, 10)
      assert.deepStrictEqual(byId([...first.emitted, ...second.emitted]), expected(punches, march))
      assert.isAtMost(requests, 2 + second.emitted.length / 20 + resume.length)
    }).pipe(Effect.provide(jostled(prng(7), { punches }))))

  it.effect("emits windows in the order of time, and their rows too if the service returns them in order", () =>
    Effect.forEach(seeds(60), (seed) => {
      const chance = prng(seed)
      const drawn = drawPunches(chance, 300)
      const filter = drawRange(chance, drawn)
      return Effect.gen(function*() {
        const { emitted } = yield* runBackfill(filter, { ...drawOptions(chance), order: "byTime" })

        assert.deepStrictEqual(millisOf(emitted), millisOf(emitted).toSorted((a, b) => a - b), `seed ${seed}`)
      }).pipe(Effect.provide(jostled(chance, { punches: drawn })))
    }, { discard: true }))

  it.effect("emits windows in the order of time from a service that ignores sort_by", () =>
    Effect.gen(function*() {
      const { emitted } = yield* runBackfill(march, { concurrency: 5, pageSize: 20, order: "byTime" })
      const windows = new Map(
        (yield* pageRequests).slice(2).map(({ query }) => [
          DateTime.makeUnsafe(query["clocked_in[gte]"] ?? "").epochMilliseconds,
          DateTime.makeUnsafe(query["clocked_in[lte]"] ?? "").epochMilliseconds
        ])
      )
      const windowOf = (at: number) => [...windows].find(([gte, end]) => gte <= at && at < end)?.[0] ?? Infinity

      assert.isAtLeast(windows.size, 20)
      assert.notDeepEqual(millisOf(emitted), millisOf(emitted).toSorted((a, b) => a - b))
      assert.deepStrictEqual(
        millisOf(emitted).map(windowOf),
        millisOf(emitted).toSorted((a, b) => a - b).map(windowOf)
      )
    }).pipe(Effect.provide(jostled(prng(1), { punches, order: "id" }))))

  it.effect.each(Array.from({ length: 16 }, (_, index) => index + 1))(
    "reaches %d requests in flight and never exceeds them",
    (concurrency) =>
      Effect.gen(function*() {
        const service = yield* FakeService
        const { emitted } = yield* letTimePass(runBackfill(march, { concurrency, pageSize: 20 }))

        assert.strictEqual(emitted.length, punches.length)
        assert.strictEqual(yield* service.maxInFlight, concurrency)
      }).pipe(Effect.provide(app({ punches, latency: "80 millis" })))
  )

  it.effect("is the plain listing of the range with a concurrency of one", () =>
    Effect.gen(function*() {
      const { emitted } = yield* runBackfill(march, { concurrency: 1 })

      assert.deepStrictEqual(emitted, expected(punches, { ...march, sortBy: [["clockedIn", "asc"]] }))
      assert.strictEqual((yield* pageRequests).length, 15)
    }).pipe(Effect.provide(app({ punches }))))

  it.effect("does not split a range of one page", () =>
    Effect.gen(function*() {
      yield* runBackfill(march, { concurrency: 16 })

      assert.strictEqual((yield* pageRequests).length, 2)
    }).pipe(Effect.provide(app({ punches: punches.slice(0, 200) }))))

  it.effect("sends at most a quarter more requests than the plain listing", () =>
    Effect.forEach(["asCompleted", "byTime"] as const, (order) =>
      Effect.gen(function*() {
        const { emitted } = yield* runBackfill(march, { concurrency: 8, pageSize: 10, order })

        assert.strictEqual(emitted.length, punches.length)
        assert.isAtMost((yield* pageRequests).length, 375)
      }).pipe(Effect.provide(jostled(prng(3), { punches }))), { discard: true }))

  it.effect("sends nothing before it is consumed", () =>
    Effect.gen(function*() {
      const stream = TimePunches.backfill(company, march, { concurrency: 4 })
      yield* settled

      assert.isEmpty(yield* pageRequests)
      assert.lengthOf(yield* Stream.runCollect(Stream.take(stream, 5)), 5)
    }).pipe(Effect.provide(app({ punches }))))

  it.effect.each([["asCompleted", 8], ["byTime", 160]] as const)(
    "reads no more %s than its buffer holds while the consumer takes nothing",
    ([order, capacity]) =>
      Effect.gen(function*() {
        const stream = TimePunches.backfill(company, march, { concurrency: 8, pageSize: 10, order })
        const fiber = yield* Effect.forkChild(Stream.runForEachArray(stream, () => Effect.never))
        yield* settled

        // The survey, the page that was taken, and pages without rows of their window.
        const requests = (yield* pageRequests).length
        assert.isAtLeast(requests, capacity)
        assert.isAtMost(requests, 2 + 1 + capacity + 8)
        yield* settled
        assert.strictEqual((yield* pageRequests).length, requests)
        yield* Fiber.interrupt(fiber)
      }).pipe(Effect.provide(jostled(prng(2), { punches })))
  )

  it.effect.each(["asCompleted", "byTime"] as const)(
    "reads on after each page that a slow consumer takes: %s",
    (order) =>
      Effect.gen(function*() {
        const stream = TimePunches.backfill(company, march, { concurrency: 2, pageSize: 10, order })
        const taken: Array<TimePunch> = []
        const slow = Stream.runForEachArray(stream, (rows) => {
          taken.push(...rows)
          return Effect.sleep("10 seconds")
        })
        const fiber = yield* Effect.forkChild(slow)
        for (let step = 0; step < 5000 && fiber.pollUnsafe() === undefined; step++) yield* TestClock.adjust("1 second")
        yield* Fiber.interrupt(fiber)

        assert.deepStrictEqual(byId(taken), expected(punches, march))
      }).pipe(Effect.provide(jostled(prng(2), { punches })))
  )

  it.effect("stops reading when the consumer stops", () =>
    Effect.gen(function*() {
      const service = yield* FakeService
      const taken = yield* TimePunches.backfill(company, march, { concurrency: 4, pageSize: 20 }).pipe(
        Stream.take(50),
        Stream.runCollect
      )
      const requests = (yield* pageRequests).length
      yield* settled

      assert.strictEqual(new Set(taken.map(({ id }) => id)).size, 50)
      assert.isAtMost(requests, 20)
      assert.strictEqual((yield* pageRequests).length, requests)
      assert.strictEqual(yield* service.inFlight, 0)
    }).pipe(Effect.provide(jostled(prng(4), { punches }))))

  it.effect("aborts every request in flight when it is interrupted", () =>
    Effect.gen(function*() {
      const service = yield* FakeService
      const begun = yield* Deferred.make<void>()
      const stream = TimePunches.backfill(company, march, { concurrency: 6, pageSize: 20 })
      yield* service.inject(Fault.stallBeforeHeaders, { requests: Array.from({ length: 6 }, (_, index) => 20 + index) })
      const fiber = yield* Effect.forkChild(Stream.runForEach(stream, () => Deferred.succeed(begun, undefined)))
      yield* Deferred.await(begun)
      yield* settled
      const stalled = yield* service.inFlight
      const requests = (yield* pageRequests).length
      yield* Fiber.interrupt(fiber)
      yield* settled

      assert.strictEqual(stalled, 6)
      assert.strictEqual(yield* service.inFlight, 0)
      assert.strictEqual((yield* pageRequests).length, requests)
    }).pipe(Effect.provide(jostled(prng(5), { punches }))))
})
