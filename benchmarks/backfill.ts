/** Backfill against the cursor chain, with 80 ms of latency, in virtual time: the exact cost of the network. */
import { Clock, DateTime, Effect, Fiber, Layer, Redacted, Stream } from "effect"
import { TestClock } from "effect/testing"
import { CompanyId, Credentials, Endpoints, type TimePunch, TimePunches } from "../src/index.ts"
import { defaultCompany, FakeService } from "../src/testing/index.ts"
import { densities, type Density, generatePlain } from "../test/support/densities.ts"

/** How the clock-ins spread; with `days`, over so many instead of 35. */
interface Spread {
  readonly name: string
  readonly density: Density
  readonly days?: number
  /** Replaces each instant: the share of the range at which it lies, for a random share. */
  readonly curve?: (share: number) => number
}

export interface BackfillRow {
  readonly density: string
  readonly pages: number
  readonly order: "asCompleted" | "byTime"
  readonly workers: number
  readonly speedup: number
  /** Requests, as a multiple of those of the cursor chain. */
  readonly requests: number
  /** The most that a client can reach that must look first: all workers busy after one round trip. */
  readonly bound: number
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

const pageSize = 200

const punchesOf = ({ curve, days = 35, density }: Spread, count: number) => {
  const drawn = generatePlain({
    seed: 3,
    count,
    companyId: company,
    density,
    days,
    deletedShare: 0
  })
  if (curve === undefined) return drawn
  const times = drawn.map((punch) => Date.parse(punch.clocked_in))
  const [first, last] = [times.reduce((a, b) => Math.min(a, b)), times.reduce((a, b) => Math.max(a, b))]
  return drawn.map((punch, index) => {
    const at = first + Math.round(curve(((times[index] ?? first) - first) / (last - first)) * (last - first))
    return Object.assign({}, punch, { clocked_in: new Date(at).toISOString() })
  })
}

const measure = (spread: Spread, count: number, workers: ReadonlyArray<number>) => {
  const punches = punchesOf(spread, count)
  const pages = Math.ceil(count / pageSize)
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
        if (run.value !== chain.value)
          return yield* Effect.die(new Error(`${spread.name}: other rows than the listing`))
        rows.push({
          density: spread.name,
          pages,
          order,
          workers: concurrency,
          speedup: chain.millis / run.millis,
          requests: run.requests / chain.requests,
          bound: pages / (1 + Math.ceil((pages - 1) / concurrency))
        })
      }
    }
    return rows
  }).pipe(Effect.provide(app))
}

export const backfill = async (
  { count = 100_000, workers = [4, 8, 16] }: { readonly count?: number; readonly workers?: ReadonlyArray<number> } = {}
): Promise<ReadonlyArray<BackfillRow>> =>
  (await Effect.runPromise(Effect.forEach(densities, (density) => measure({ name: density, density }, count, workers))))
    .flat()

const smallSpreads: ReadonlyArray<Spread> = [
  { name: "uniform", density: "uniform" },
  { name: "u³", density: "uniform", curve: (share) => 1 - (1 - share) ** 3 },
  { name: "u⁶", density: "uniform", curve: (share) => 1 - (1 - share) ** 6 },
  { name: "bursts", density: "bursts" },
  { name: "one hour", density: "uniform", days: 1 / 24 }
]

/** Ranges of few pages, with eight workers. */
export const smallBackfills = async (
  sizes: ReadonlyArray<number> = [5, 20, 53, 500]
): Promise<ReadonlyArray<BackfillRow>> => {
  const runs = sizes.flatMap((pages) => smallSpreads.map((spread) => measure(spread, pages * pageSize, [8])))
  return (await Effect.runPromise(Effect.all(runs))).flat()
}
