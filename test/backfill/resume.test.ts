/** What a backfill that fails keeps for the next run: the pages in flight, and the length of its windows. */
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Layer, Schema } from "effect"
import { HttpClient } from "effect/http"
import { makePlan } from "../../src/backfill/plan.ts"
import {
  type BackfillFilter,
  type BackfillOptions,
  BackfillSegment,
  RetryPolicy,
  TimePunches
} from "../../src/index.ts"
import type { Segment } from "../../src/Segment.ts"
import { prng } from "../../src/testing/base/prng.ts"
import { defaultCompany, FakeService, Fault, generatePunches } from "../../src/testing/index.ts"
import { accessToken, endpoints, inject, pageRequests } from "../support/client.ts"
import { expected } from "../support/oracle.ts"
import { letTimePass } from "../support/time.ts"
import { untyped } from "../support/untyped.ts"
import { at, byId, gte, held, jostled, lt, type Run, runBackfill, spring, stored, whole } from "./support.ts"

const march = {
  clockedIn: { gte: at("2026-03-01T00:00:00Z"), lt: at("2026-04-01T00:00:00Z") }
} satisfies BackfillFilter

const generated = (count: number) => generatePunches({ seed: 8, count, companyId: defaultCompany.id, deletedShare: 0 })

const Unfinished = Schema.fromJsonString(Schema.Array(BackfillSegment))

/** Resumes after each failure, with the segments in their stored form between the runs. */
const untilRead = Effect.fnUntraced(function*(options: BackfillOptions) {
  const runs: Array<Run> = []
  let stored: string | undefined
  while (runs.length < 300) {
    const resume = stored === undefined ? undefined : yield* Schema.decodeEffect(Unfinished)(stored)
    const run = yield* runBackfill(spring, { ...options, segments: resume })
    runs.push(run)
    if (run.error === undefined) return runs
    stored = yield* Schema.encodeEffect(Unfinished)(run.error.unfinished)
  }
  return yield* Effect.die(new Error("not read after 300 runs"))
})

describe("a backfill that fails often", () => {
  it.effect.each([1, 2, 3])(
    "reads few rows of a service that ignores the order with few requests (seed %i)",
    (seed) =>
      Effect.gen(function*() {
        yield* inject(Fault.status(503), { probability: { chance: 0.2, seed } })
        const runs = yield* untilRead({ concurrency: 32, pageSize: 7 })
        const requests = (yield* pageRequests).length

        assert.isAbove(runs.length, 3)
        assert.deepStrictEqual(byId(runs.flatMap(({ emitted }) => emitted)), expected(generated(89), spring))
        // 256 windows, a fifth of the requests for nothing, and some windows of two or more pages.
        assert.isBelow(requests, 600)
      }).pipe(Effect.provide(jostled(prng(seed), { punches: generated(89), order: "id" })))
  )

  it.effect.each(["asked", "id"] as const)(
    "emits every punch once, whatever fails and in whatever order (service order: %s)",
    (order) =>
      Effect.forEach(Array.from({ length: 8 }, (_, index) => index + 1), (seed) => {
        const chance = prng(seed)
        return Effect.gen(function*() {
          yield* inject(Fault.status(503), { probability: { chance: 0.15, seed } })
          const runs = yield* untilRead({
            concurrency: chance.between(2, 24),
            pageSize: chance.pick([3, 20]),
            order: chance.pick(["asCompleted", "byTime"])
          })

          assert.deepStrictEqual(byId(runs.flatMap(({ emitted }) => emitted)), expected(generated(200), spring))
        }).pipe(Effect.provide(jostled(chance, { punches: generated(200), order })))
      }, { discard: true })
  )

  it.effect.each(["asCompleted", "byTime"] as const)(
    "first reads the pages in flight to their end and emits them, and begins no other (%s)",
    (order) => {
      // Every page takes a second but the one that is refused, which is answered at once.
      const layerSlow = Layer.effect(
        HttpClient.HttpClient,
        HttpClient.HttpClient.use((client) =>
          Effect.succeed(
            HttpClient.transformResponse(
              client,
              Effect.tap(({ status }) => status === 200 ? Effect.sleep("1 second") : Effect.void)
            )
          )
        )
      )
      const layer = TimePunches.layer.pipe(
        Layer.provide([accessToken, endpoints, RetryPolicy.layerNone]),
        Layer.provide(layerSlow),
        Layer.provide(FakeService.layerClient),
        Layer.provideMerge(FakeService.layer({ punches: generated(1200), order: "id" }))
      )
      return Effect.gen(function*() {
        yield* inject(Fault.status(403), { requests: 10 })
        const first = yield* letTimePass(runBackfill(march, { concurrency: 8, pageSize: 200, order }))
        const requests = (yield* pageRequests).length
        const resume = first.error?.unfinished ?? []
        const second = yield* letTimePass(runBackfill(march, { concurrency: 8, pageSize: 200, segments: resume }))

        assert.strictEqual(first.error?.cause._tag, "Forbidden")
        // Two for the survey, one for each worker.
        assert.strictEqual(requests, 10)
        assert.isAbove(first.emitted.length, 70)
        assert.deepStrictEqual(
          byId([...first.emitted, ...second.emitted]),
          expected(generated(1200), march)
        )
      }).pipe(Effect.provide(layer))
    }
  )
})

describe("the length of a window", () => {
  const settings = { workers: 4, pageSize: 200, capacity: 4, order: "asCompleted" } as const
  const lengthOf = (segments: ReadonlyArray<Segment>) => {
    const window = makePlan(segments, { ...settings, ordered: false }).next(0, false)
    return window === undefined ? 0 : window.until - window.gte
  }

  it("is kept for the next run, which starts with it however little is left", () => {
    const plan = makePlan([whole], { ...settings, ordered: false })
    plan.next(0, false)
    const unfinished = plan.unfinished()
    const last = unfinished.at(-1) ?? assert.fail("nothing is unfinished")
    const left = [{ ...last, gte: DateTime.subtract(lt, { days: 30 }) }]

    assert.isAbove(lengthOf([whole]), 0)
    assert.deepStrictEqual(unfinished.map(({ windowLength }) => windowLength), unfinished.map(() => lengthOf([whole])))
    assert.strictEqual(lengthOf(left), lengthOf([whole]))
  })

  it("is absent for one worker, and where the service orders rows", () => {
    const workers = (count: number, ordered: boolean) => {
      const plan = makePlan([whole], { ...settings, workers: count, ordered })
      plan.next(0, false)
      return plan.unfinished()
    }

    for (const segment of [...workers(1, false), ...workers(4, true)]) assert.notProperty(segment, "windowLength")
  })

  it("may be absent in a stored segment, as it was in earlier ones", () => {
    assert.notInclude(stored(whole), "windowLength")
    assert.deepStrictEqual(held(stored(whole)), whole)
  })

  const hours = { windowLength: 6 * 3_600_000 }
  const cut = { queriedUntil: lt }

  it.effect.each<[string, number, ReadonlyArray<Segment>, number]>([
    ["several workers", 4, [whole], 1],
    ["several workers that know a length", 4, [{ ...whole, until: gte }, { ...whole, ...hours }], 0],
    ["one worker", 1, [whole], 0],
    ["one worker and a segment that was cut", 1, [{ ...whole, ...cut, ...hours }], 1]
  ])(
    "is learned from both ends of the range by %s, or not",
    ([_who, concurrency, resume, surveys]) =>
      Effect.gen(function*() {
        const { emitted } = yield* runBackfill(spring, {
          concurrency,
          pageSize: 50,
          segments: resume.map((segment) => stored(segment))
        })
        const requests = yield* pageRequests

        assert.lengthOf(requests.filter((request) => request.query["sort_by"] === "clocked_in.desc"), surveys)
        assert.deepStrictEqual(byId(emitted), expected(generated(600), spring))
      }).pipe(Effect.provide(jostled(prng(1), { punches: generated(600) })))
  )

  it.effect.each([0, -1, 0.5, NaN, Infinity, "1"])("is refused as %j", (windowLength) =>
    Effect.gen(function*() {
      const { error } = yield* runBackfill(spring, {
        concurrency: 2,
        segments: untyped([stored(whole).replace("}", `,"windowLength":${JSON.stringify(windowLength)}}`)])
      })

      assert.deepInclude(error?.cause, { _tag: "InvalidRequest", field: "segments" })
    }).pipe(Effect.provide(jostled(prng(1), {}))))
})
