/** Rows whose clock-in is edited while they are read, and which of the others were lost. */
import { Effect, Layer, Result, Stream } from "effect"
import { HttpClient } from "effect/http"
import {
  type BackfillError,
  type BackfillFilter,
  type ListError,
  RetryPolicy,
  type TimePunch,
  TimePunches
} from "../../src/index.ts"
import { type Prng, prng } from "../../src/testing/base/prng.ts"
import { FakeService, type FakeServiceOptions, type StoredPunch } from "../../src/testing/index.ts"
import { accessToken, company, endpoints } from "../support/client.ts"
import { expected } from "../support/oracle.ts"
import { drawOptions, drawPunches, drawRange } from "./support.ts"

/** A client that runs an effect at the service before each request, which gets the number of the request from 1. */
export const changing = (
  options: FakeServiceOptions,
  beforeRequest: (number: number) => Effect.Effect<void, never, FakeService>
) => {
  const http = Layer.effect(
    HttpClient.HttpClient,
    Effect.gen(function*() {
      const service = yield* FakeService
      let number = 0
      return HttpClient.tapRequest(yield* HttpClient.HttpClient, () => {
        number += 1
        return Effect.provideService(beforeRequest(number), FakeService, service)
      })
    })
  ).pipe(Layer.provide(FakeService.layerClient))
  return TimePunches.layer.pipe(
    Layer.provide([accessToken, endpoints, RetryPolicy.layerNone]),
    Layer.provide(http),
    Layer.provideMerge(FakeService.layer(options))
  )
}

/** How a plan reads the rows of a range. */
export type Reading = "backfill" | "list" | "sorted list"

const read = (
  reading: Reading,
  random: Prng,
  filter: BackfillFilter
): Stream.Stream<TimePunch, BackfillError | ListError, TimePunches> => {
  const { concurrency, order, pageSize } = drawOptions(random)
  switch (reading) {
    case "backfill":
      return TimePunches.backfill(company, filter, { concurrency, order, pageSize })
    case "list":
      return TimePunches.list(company, filter, { pageSize })
    case "sorted list":
      return TimePunches.list(company, { ...filter, sortBy: [["clockedIn", "asc"]] }, { pageSize })
  }
}

/** Moves the clock-in of a row to that of another row. At least half of the rows stay untouched. */
const makeEdits = (random: Prng, punches: ReadonlyArray<StoredPunch>, touched: Set<number>) => {
  const draw = () => punches[random.between(0, punches.length - 1)]
  const edit = Effect.suspend(() => {
    const [row, other] = [draw(), draw()]
    if (row === undefined || other === undefined || touched.size >= punches.length / 2) return Effect.void
    touched.add(row.id)
    return FakeService.use((service) => service.edit([row.id], { clocked_in: other.clocked_in }))
  })
  return Effect.suspend(() =>
    Effect.forEach(Array.from({ length: random.between(0, 6) }), () => edit, { discard: true })
  )
}

/** The ids of the untouched rows that a random plan did not emit. It fails where rows that are read again lead to a known cursor. */
const lostRows = (seed: number, reading: Reading, cursors: "position" | "record") =>
  Effect.suspend(() => {
    const random = prng(seed)
    const punches = drawPunches(random, random.pick([20, 60, 120]))
    const filter = drawRange(random, punches)
    const touched = new Set<number>()
    const edits = makeEdits(random, punches, touched)
    return Effect.gen(function*() {
      const emitted = new Set<number>()
      yield* Stream.runForEach(read(reading, random, filter), ({ id }) => Effect.sync(() => emitted.add(id)))
      return expected(punches, filter).map(({ id }) => id).filter((id) => !touched.has(id) && !emitted.has(id))
    }).pipe(Effect.provide(changing({ punches, cursors }, () => edits)))
  })

/** How many plans lost rows in silence, and how many failed as a cycle of cursors. Any other failure is a defect. */
export const measure = Effect.fnUntraced(function*(plans: number, reading: Reading, cursors: "position" | "record") {
  let lossy = 0
  let failed = 0
  for (let seed = 1; seed <= plans; seed++) {
    const result = yield* Effect.result(lostRows(seed, reading, cursors))
    if (Result.isSuccess(result)) {
      lossy += result.success.length > 0 ? 1 : 0
      continue
    }
    const error = result.failure._tag === "BackfillError" ? result.failure.cause : result.failure
    if (error._tag !== "PaginationError" || error.reason !== "CursorCycle") return yield* Effect.die(error)
    failed += 1
  }
  return { plans, lossy, failed }
})
