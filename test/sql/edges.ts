/** Punches at the edges of what a copy can hold, carried from the service into a store and read back. */
import { assert } from "@effect/vitest"
import { Effect, Layer, Option, Result, type Scope, Stream } from "effect"
import { TestClock } from "effect/testing"
import { RetryPolicy, type TimePunch, TimePunches } from "../../src/index.ts"
import { checkpointText, readCheckpoint } from "../../src/sync/Checkpoint.ts"
import { Sync, SyncStore } from "../../src/sync/index.ts"
import { FakeService, type StoredPunch } from "../../src/testing/index.ts"
import { app, company } from "../support/client.ts"
import { generatePlain } from "../support/densities.ts"
import type { OpenStore } from "../support/stores.ts"

const noon = Date.UTC(2026, 3, 5, 12)

/** Three pages, modified long before noon. */
const plain = generatePlain({ count: 450, companyId: company.id })
  .map((punch) => Object.assign(punch, { modified: "2026-04-01T08:00:00Z" }))

const [first, last] = ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999Z"]

const breakAt = (start: string, out: string | null) => ({
  id: 1,
  user_id: 7,
  custom_break_id: 0,
  paid: false,
  in: start,
  out
})

const edges: ReadonlyArray<Partial<StoredPunch>> = [
  { clocked_in: first, clocked_out: last, created: first, modified: first, breaks: [breakAt(first, last)] },
  { clocked_in: last, clocked_out: last, created: last, modified: last, breaks: [breakAt(last, null)] },
  { clocked_in: "0001-01-01T10:00:00+10:00", clocked_out: "9999-12-31T13:59:59.999-10:00" },
  { notes: "U+0000 \0 and \0", pos_type: "\0" },
  { notes: "lone \uD800 and \uDC00, a pair \u{1F9D1}, lone \uDBFF", pos_type: "\uDFFF" },
  { notes: "\uDC00\uD800", modified: null, created: null }
]

/** One on each page and at its ends, so that the stored checkpoints have seen them. */
const places = [0, 1, 198, 199, 200, 449]

const punches = plain.map((punch, at): StoredPunch => Object.assign(punch, edges[places.indexOf(at)]))

/** The punch as a store has it. */
const stored = (punch: TimePunch): TimePunch => {
  const text = (value: string) => value.replace(/[\0\p{Surrogate}]/gu, "\uFFFD")
  return { ...punch, notes: text(punch.notes), posType: Option.map(punch.posType, text) }
}

const assertEqual = Effect.fnUntraced(function*({ rows, store }: OpenStore) {
  const listed = yield* Stream.runCollect(TimePunches.list(company, { deleted: "include" }))
  const expected = [...listed].toSorted((one, other) => one.id - other.id).map(stored)
  const checkpoint = Option.getOrThrow(yield* store.load(company.id))

  assert.deepStrictEqual((yield* rows(company.id)).map(({ punch }) => punch), expected)
  assert.deepStrictEqual(
    readCheckpoint(checkpointText(checkpoint), company.id),
    Result.succeed(checkpoint)
  )
  return checkpoint
})

/** First load page by page, an increment and a sweep: rows are equal, and no call stops at them. With `Date` or without. */
export const carriesEdges = <E>(open: Effect.Effect<OpenStore, E, Scope.Scope>, sendsDate: boolean) =>
  Effect.gen(function*() {
    yield* TestClock.setTime(noon)
    const service = yield* FakeService
    yield* service.seed(punches)
    const copy = yield* open
    const layer = Layer.succeed(SyncStore, copy.store)

    for (const pages of [1, 1, 1]) yield* Effect.provide(Sync.run(company, { stopAfter: { pages } }), layer)
    const { running, watermark } = yield* assertEqual(copy)
    assert.deepStrictEqual(running, Option.none())
    // Without a `Date` the latest change counts, but never more than the local clock.
    assert.strictEqual(Option.getOrThrow(watermark).epochMilliseconds, noon)

    yield* TestClock.adjust("1 hour")
    const ids = places.map((at) => punches[at]?.id ?? 0)
    yield* service.edit(ids, { notes: "\uD800 edited \0" })
    assert.include(yield* Effect.provide(Sync.run(company), layer), { complete: true, written: 6, unchanged: 0 })
    yield* assertEqual(copy)

    yield* service.remove(ids.slice(0, 1))
    assert.include(yield* Effect.provide(Sync.sweep(company), layer), { complete: true, written: 0, missing: 1 })
    const missing = (yield* copy.rows(company.id)).filter(({ isMissing }) => isMissing)
    assert.deepStrictEqual(missing.map(({ punch: { id } }) => Number(id)), ids.slice(0, 1))
  }).pipe(
    Effect.scoped,
    Effect.provide(
      app(sendsDate ? {} : { date: () => undefined }).pipe(Layer.provide(RetryPolicy.layerNone))
    )
  )
