/** Backfill against the cursor chain, with 80 ms of latency, in virtual time: the exact cost of the network. */
import { Clock, DateTime, Effect, Fiber, Layer, Redacted, Stream } from "effect"
import { TestClock } from "effect/testing"
import { CompanyId, Credentials, Endpoints, type TimePunch, TimePunches } from "../src/index.ts"
import { defaultCompany, type Density, FakeService, generatePunches } from "../src/testing/index.ts"

export interface BackfillRow {
  readonly density: Density
  readonly order: "asCompleted" | "byTime"
  readonly workers: number
  readonly speedup: number
  /** Requests, as a multiple of those of the cursor chain. */
  readonly requests: number
}

const company = CompanyId.make(defaultCompany.id)
const latency = 80
const step = 10

/** Runs an effect while advancing the clock, and returns the time it took by that clock. */
const timed = <A, E, R>(run: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const service = yield* FakeService
    yield* service.clearRequests
    const start = yield* Clock.currentTimeMillis
    const fiber = yield* Effect.forkChild(run)
    while (fiber.pollUnsafe() === undefined) {
      yield* TestClock.adjust(step)
      yield* Effect.yieldNow
    }
    const value = yield* Fiber.join(fiber)
    return { value, millis: (yield* Clock.currentTimeMillis) - start, requests: (yield* service.requests).length }
  })

const ids = <E, R>(punches: Stream.Stream<TimePunch, E, R>) =>
  Effect.map(Stream.runCollect(Stream.map(punches, (punch) => punch.id)), (all) => all.toSorted((a, b) => a - b).join())

const measure = (density: Density, count: number, workers: ReadonlyArray<number>) => {
  const punches = generatePunches({
    seed: 3,
    count,
    companyId: company,
    density,
    deletedShare: 0,
    timestampForms: false
  })
  const times = punches.map((punch) => Date.parse(punch.clocked_in))
  const clockedIn = {
    gte: DateTime.makeUnsafe(times.reduce((a, b) => Math.min(a, b))),
    lte: DateTime.makeUnsafe(times.reduce((a, b) => Math.max(a, b)))
  }
  const app = TimePunches.layer.pipe(
    Layer.provide(Credentials.layerAccessToken(Redacted.make(defaultCompany.accessToken))),
    Layer.provide(Endpoints.layer({ baseUrl: "http://localhost" })),
    Layer.provide(FakeService.layerClient),
    Layer.provideMerge(FakeService.layer({ punches, latency })),
    Layer.provideMerge(TestClock.layer())
  )
  return Effect.gen(function*() {
    const chain = yield* timed(ids(TimePunches.list(company, { clockedIn })))
    const rows: Array<BackfillRow> = []
    for (const concurrency of workers) {
      for (const order of ["asCompleted", "byTime"] as const) {
        const run = yield* timed(ids(TimePunches.backfill(company, { clockedIn }, { concurrency, order })))
        if (run.value !== chain.value) return yield* Effect.die(new Error(`${density}: other rows than the listing`))
        rows.push({
          density,
          order,
          workers: concurrency,
          speedup: chain.millis / run.millis,
          requests: run.requests / chain.requests
        })
      }
    }
    return rows
  }).pipe(Effect.provide(app))
}

export const densities: ReadonlyArray<Density> = ["uniform", "dayAndNight", "skewed", "bursts"]

export const backfill = async (
  { count = 100_000, workers = [4, 8, 16] }: { readonly count?: number; readonly workers?: ReadonlyArray<number> } = {}
): Promise<ReadonlyArray<BackfillRow>> =>
  (await Effect.runPromise(Effect.forEach(densities, (density) => measure(density, count, workers)))).flat()
