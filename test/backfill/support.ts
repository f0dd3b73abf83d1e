/** Backfills for properties: rows on every border, a transport that reorders responses, runs resumed until done. */
import { DateTime, Effect, Layer, Option, Result, Stream } from "effect"
import { HttpClient } from "effect/http"
import { filterOf, toText } from "../../src/backfill/request.ts"
import {
  type BackfillError,
  type BackfillFilter,
  type BackfillOptions,
  type BackfillSegment,
  RetryPolicy,
  type TimePunch,
  TimePunches
} from "../../src/index.ts"
import { type Segment, segmentOf } from "../../src/Segment.ts"
import type { Prng } from "../../src/testing/base/prng.ts"
import { defaultCompany, FakeService, type FakeServiceOptions, type StoredPunch } from "../../src/testing/index.ts"
import { accessToken, company, endpoints } from "../support/client.ts"
import { densities, generateSpread } from "../support/densities.ts"

/** Requests overtake each other: each waits some turns of the scheduler before it is sent and before its response. */
const jostle = (random: Prng) => {
  const turns = Effect.suspend(() =>
    Effect.forEach(Array.from({ length: random.between(0, 12) }), () => Effect.yieldNow)
  )
  return Layer.effect(
    HttpClient.HttpClient,
    HttpClient.HttpClient.use((client) =>
      Effect.succeed(
        HttpClient.transform(client, (response) => Effect.ensuring(Effect.andThen(turns, response), turns))
      )
    )
  )
}

/** A client without retries, with a fake service whose responses come in any order. */
export const jostled = (random: Prng, options: FakeServiceOptions) =>
  TimePunches.layer.pipe(
    Layer.provide([accessToken, endpoints, RetryPolicy.layerNone]),
    Layer.provide(jostle(random)),
    Layer.provide(FakeService.layerClient),
    Layer.provideMerge(FakeService.layer(options))
  )

export const at = (text: string) => DateTime.makeUnsafe(text)

/** The spring of 2026, as a filter and as the one segment of a backfill. */
export const [gte, lt] = [at("2026-02-01T00:00:00Z"), at("2026-05-01T00:00:00Z")]
export const spring = { clockedIn: { gte, lt } } satisfies BackfillFilter
export const whole: Segment = { gte, until: lt, inclusive: false, cursor: Option.none() }

/** The text of a segment of the spring, or of another filter. */
export const stored = (segment: Segment, filter: BackfillFilter = spring): BackfillSegment =>
  toText(filterOf(company, filter), segment)

/** What a text of a segment holds. */
export const held = (text: BackfillSegment, filter: BackfillFilter = spring): Segment =>
  Option.getOrThrow(segmentOf(filterOf(company, filter), text))

const millis = (text: string) => Date.parse(text)

/** An instant on a whole second or just beside it, sometimes with digits beyond the millisecond. */
const onBorders = (random: Prng, text: string): string => {
  const second = new Date(millis(text) - millis(text) % 1000).toISOString().slice(0, 19)
  return `${second}${random.pick([".000", "", ".0005", ".001", ".999", ".999999", ".0009999"])}Z`
}

/** Punches of any density, on borders or anywhere, whose ids may or may not follow the order of time. */
export const drawPunches = (random: Prng, count: number): ReadonlyArray<StoredPunch> => {
  const borders = random.chance(0.5)
  const punches = generateSpread({
    seed: random.between(1, 1_000_000),
    count,
    companyId: defaultCompany.id,
    density: random.pick(densities),
    days: random.pick([0.001, 0.1, 35]),
    deletedShare: 0.1
  }).map((punch) => Object.assign({}, punch, borders && { clocked_in: onBorders(random, punch.clocked_in) }))
  return random.chance(0.7) ? punches : punches
    .toSorted((a, b) => millis(a.clocked_in) - millis(b.clocked_in) + random.between(-60_000, 60_000))
    .map((punch, index) => Object.assign({}, punch, { id: 5000 + index }))
}

/** A range whose ends are instants of punches, or a millisecond beside them. */
export const drawRange = (random: Prng, punches: ReadonlyArray<StoredPunch>): BackfillFilter => {
  const times = punches.map((punch) => millis(punch.clocked_in)).toSorted((a, b) => a - b)
  const share = random.pick([0, 0, 0.2])
  const at = (index: number) => DateTime.makeUnsafe((times[index] ?? 0) + random.pick([0, 0, 1, -1]))
  const one = at(Math.floor(share * times.length))
  const other = at(times.length - 1 - Math.floor(share * times.length))
  const [gte, end] = [DateTime.min(one, other), DateTime.max(one, other)]
  return { clockedIn: random.chance(0.6) ? { gte, lte: end } : { gte, lt: end } }
}

export const drawOptions = (random: Prng, most = 16) =>
  ({
    concurrency: random.between(1, most),
    pageSize: random.pick([3, 7, 20, 200]),
    order: random.pick(["asCompleted", "byTime"])
  }) satisfies BackfillOptions

/** The rows and the outcome of a run. */
export interface Run {
  readonly emitted: ReadonlyArray<TimePunch>
  readonly error: BackfillError | undefined
}

export const runBackfill = Effect.fnUntraced(function*(filter: BackfillFilter, options: BackfillOptions) {
  const emitted: Array<TimePunch> = []
  const stream = TimePunches.backfill(company, filter, options)
  const result = yield* Effect.result(
    Stream.runForEachArray(stream, (rows) => Effect.sync(() => emitted.push(...rows)))
  )
  const run: Run = { emitted, error: Result.isFailure(result) ? result.failure : undefined }
  return run
})

/** Resumes after each failure, with other options, until a run succeeds. */
export const runResumed = Effect.fnUntraced(function*(filter: BackfillFilter, next: () => BackfillOptions) {
  const runs: Array<Run> = []
  let segments: ReadonlyArray<BackfillSegment> | undefined
  while (runs.length < 60) {
    const run: Run = yield* runBackfill(filter, { ...next(), ...(segments && { segments }) })
    runs.push(run)
    if (run.error === undefined) return runs
    segments = run.error.unfinished
  }
  return yield* Effect.die(new Error("sixty failures"))
})

export const byId = (punches: ReadonlyArray<TimePunch>) => punches.toSorted((a, b) => a.id - b.id)
