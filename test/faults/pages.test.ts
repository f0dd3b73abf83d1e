/** Faults between the pages of a listing: refused cursors, many faults in one run, a clock that stands still. */
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Layer, Option, Result, Stream } from "effect"
import { TestClock } from "effect/testing"
import { type ListOptions, LocationId, type PunchFilter, TimePunches } from "../../src/index.ts"
import { prng } from "../../src/testing/base/prng.ts"
import { defaultCompany, FakeService, Fault, generatePunches } from "../../src/testing/index.ts"
import { app, company, inject, oauth, pageRequests } from "../support/client.ts"
import { letTimePass } from "../support/time.ts"

const punches = generatePunches({ seed: 23, count: 60, companyId: defaultCompany.id, deletedShare: 0 })
const ids = punches.map(({ id }) => Number(id))

/** The ids that a run emits, and its error. */
const run = Effect.fnUntraced(function*(options: ListOptions = {}, filter: PunchFilter = {}) {
  const seen: Array<number> = []
  const result = yield* letTimePass(Effect.result(
    Stream.runForEach(
      TimePunches.list(company, filter, { pageSize: 10, ...options }),
      ({ id }) => Effect.sync(() => seen.push(id))
    )
  ))
  return { seen, error: Result.getOrUndefined(Result.flip(result)) }
})

const cursors = Effect.map(pageRequests, (requests) => requests.map(({ query }) => query["cursor"]))

describe("a cursor that the service refuses", () => {
  it.effect("[P13] fails the run at its page without a retry, and is named", () =>
    Effect.gen(function*() {
      const refused = Fault.status(422, { problem: { param: "cursor", code: 2100, detail: "The cursor has expired." } })
      yield* inject(refused, { requests: 4 })
      const { error, seen } = yield* run()

      assert.deepInclude(error, { _tag: "UnprocessableEntity", attempts: 1, pagesCompleted: 3 })
      assert.deepInclude(error, { problem: { ...(error && "problem" in error ? error.problem : {}), param: "cursor" } })
      assert.deepStrictEqual(seen, ids.slice(0, 30))
      assert.strictEqual(Option.getOrUndefined(error?.resumeFrom ?? Option.none()), (yield* cursors).at(-1))
      assert.strictEqual((yield* pageRequests).length, 4)
    }).pipe(Effect.provide(app({ punches }))))

  it.effect("[P14] of another query fails the run before a row is emitted", () =>
    Effect.gen(function*() {
      const first = yield* TimePunches.page(company, {}, { pageSize: 10 })
      const { error, seen } = yield* run({ cursor: first.cursor.next }, { locationId: LocationId.make(301) })

      assert.deepInclude(error, { _tag: "UnprocessableEntity", attempts: 1, pagesCompleted: 0 })
      assert.deepStrictEqual(error?.resumeFrom, first.cursor.next)
      assert.isEmpty(seen)
    }).pipe(Effect.provide(app({ punches }))))
})

describe("a run with faults on every page", () => {
  it.effect.each([0, 2])("[P15] retries each page alone, and no page before it: prefetchPages %d", (
    prefetchPages
  ) =>
    Effect.gen(function*() {
      yield* inject(Fault.cutBody(0.7), { requests: [1, 3, 5, 7, 9, 11] })
      const { error, seen } = yield* run({ prefetchPages })
      const asked = yield* cursors

      assert.isUndefined(error)
      assert.deepStrictEqual(seen, ids)
      assert.strictEqual(asked.length, 12)
      assert.deepStrictEqual(asked.filter((_, index) => index % 2 === 0), asked.filter((_, index) => index % 2 === 1))
      assert.strictEqual(new Set(asked).size, 6)
    }).pipe(Effect.provide(app({ punches }))))

  it.effect("[P20] emits every row once through a revoked token, a 401, a 503, a 429, a cut body and a reset", () =>
    Effect.gen(function*() {
      yield* inject(Fault.tokenRevoked, { requests: 2 })
      yield* inject(Fault.status(503), { requests: 4 })
      yield* inject(Fault.unauthorizedOnce, { requests: 5 })
      yield* inject(Fault.cutBody(0.9), { requests: 7 })
      yield* inject(Fault.retryAfter("3"), { requests: 9 })
      yield* inject(Fault.reset, { requests: 11 })
      yield* inject(Fault.invalidJson(), { requests: 12 })
      const { error, seen } = yield* run()

      assert.isUndefined(error)
      assert.deepStrictEqual(seen, ids)
      assert.strictEqual((yield* pageRequests).length, 6 + 7)
      assert.strictEqual(yield* FakeService.use((service) => service.tokensIssued), 3)
    }).pipe(Effect.provide(app({ punches }, oauth))))

  it.effect("[P20] sends at most five requests for a page, under any faults in any order", () =>
    Effect.gen(function*() {
      const chance = prng(20)
      const refusal = Fault.status(401)
      const passing: ReadonlyArray<Fault> = [
        Fault.status(500),
        Fault.status(503),
        Fault.retryAfter("1"),
        Fault.reset,
        Fault.cutBody(0.5),
        Fault.html200
      ]
      let five = 0
      for (let round = 0; round < 300; round++) {
        yield* Effect.gen(function*() {
          for (let request = 1; request <= 10; request++) {
            const [fault = refusal] = chance.chance(0.3) ? [] : [passing[chance.between(0, passing.length - 1)]]
            yield* inject(fault, { requests: request })
          }
          const error = yield* letTimePass(Effect.flip(TimePunches.page(company)))
          const { length } = yield* pageRequests

          assert.strictEqual(error.attempts, length)
          assert.isAtMost(length, 5)
          if (length === 5) five++
        }).pipe(Effect.provide(app({ punches }, oauth)))
      }
      assert.isAbove(five, 5)
    }))
})

describe("a machine that slept", () => {
  it.effect("[A11] gets a new token where the old one expired while the monotonic clock stood still", () =>
    TestClock.testClockWith((clock) => {
      // On some systems the monotonic clock stands still while the machine sleeps; the wall clock does not.
      let asleep = 0
      const wall = () => clock.currentTimeMillisUnsafe() + asleep
      const woken = { ...clock, currentTimeMillisUnsafe: wall, currentTimeMillis: Effect.sync(wall) }
      return Effect.gen(function*() {
        const service = yield* FakeService
        const first = yield* TimePunches.page(company, {}, { pageSize: 30 })
        asleep = 2 * 3_600_000
        const second = yield* TimePunches.page(company, {}, {
          pageSize: 30,
          cursor: Option.getOrThrow(first.cursor.next)
        })

        assert.deepStrictEqual([...first.items, ...second.items].map(({ id }) => Number(id)), ids)
        assert.strictEqual((yield* pageRequests).length, 3)
        assert.strictEqual(yield* service.tokensIssued, 2)
      }).pipe(Effect.provide(Layer.provideMerge(app({ punches }, oauth), Layer.succeed(Clock.Clock, woken))))
    }))
})
