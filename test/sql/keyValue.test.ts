/** What the store over a KeyValueStore promises: at least once, a checkpoint that is never ahead of its rows, and numbers. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option, Ref } from "effect"
import { KeyValueStore } from "effect/persistence"
import { type Batch, SyncStore } from "../../src/sync/index.ts"
import type { TimePunch } from "../../src/TimePunch.ts"
import { batchOf, checkpointAt, company, rows } from "../support/storeBatches.ts"

type Table = ReadonlyMap<number, { readonly punch: TimePunch; readonly pass: number }>

/** What a caller writes, with the fence that the store asks for. */
const fenced = (table: Ref.Ref<Table>) => ({ pass, punches }: Batch) =>
  Ref.update(table, (rows) => {
    const next = new Map(rows)
    for (const punch of punches) {
      if ((rows.get(punch.id)?.pass ?? -1) <= pass) next.set(punch.id, { punch, pass })
    }
    return next
  })

/** The store, over keys and rows that outlive it. */
const open = Effect.gen(function*() {
  const table = yield* Ref.make<Table>(new Map())
  const keys = yield* Effect.provide(KeyValueStore.KeyValueStore, KeyValueStore.layerMemory)
  const over = (write: (batch: Batch) => Effect.Effect<void, string>) =>
    Effect.map(
      Layer.build(
        SyncStore.layerKeyValueStore(write).pipe(
          Layer.provide(Layer.succeed(KeyValueStore.KeyValueStore, keys))
        )
      ),
      (context) => Effect.runSync(Effect.provideContext(SyncStore, context))
    )
  return { table, keys, over, store: yield* over(fenced(table)) }
})

describe("a store over a KeyValueStore", () => {
  it.effect("compares the checkpoint, within the process", () =>
    Effect.gen(function*() {
      const { store, table } = yield* open
      yield* store.commit(batchOf(1, { punches: rows(3) }), Option.none())
      const before = yield* Ref.get(table)
      const late = batchOf(2, { punches: rows(3, "late") })

      for (const previous of [Option.none(), Option.some(checkpointAt(7))]) {
        assert.strictEqual((yield* Effect.flip(store.commit(late, previous))).reason, "Superseded")
      }

      assert.deepStrictEqual(yield* Ref.get(table), before)
      assert.deepStrictEqual(yield* store.load(company), Option.some(checkpointAt(1)))
    }).pipe(Effect.scoped))

  it.effect("accepts one of two commits at once", () =>
    Effect.gen(function*() {
      const { store } = yield* open
      yield* store.commit(batchOf(1, { punches: rows(3) }), Option.none())
      const both = [2, 3].map((pass) =>
        Effect.result(store.commit(batchOf(pass, { punches: rows(3, `${pass}`) }), Option.some(checkpointAt(1))))
      )

      const results = yield* Effect.all(both, { concurrency: "unbounded" })

      assert.deepStrictEqual(results.map(({ _tag }) => _tag).toSorted(), ["Failure", "Success"])
    }).pipe(Effect.scoped))

  it.effect("keeps an older run out once a newer one has claimed the checkpoint", () =>
    Effect.gen(function*() {
      const { store } = yield* open
      yield* store.commit(batchOf(1, { punches: rows(3) }), Option.none())
      const claimed = checkpointAt(1, "the newer run")
      yield* store.commit(batchOf(1, { checkpoint: claimed }), Option.some(checkpointAt(1)))

      const error = yield* Effect.flip(store.commit(batchOf(2, { punches: rows(1) }), Option.some(checkpointAt(1))))

      assert.strictEqual(error.reason, "Superseded")
    }).pipe(Effect.scoped))

  it.effect("records a number before a row bears it", () =>
    Effect.gen(function*() {
      const { over, store } = yield* open
      yield* store.commit(batchOf(1, { punches: rows(3) }), Option.none())
      const seen: Array<Option.Option<number>> = []
      const asking = yield* over(() =>
        store.load(company).pipe(
          Effect.orDie,
          Effect.map((checkpoint) => void seen.push(Option.map(checkpoint, ({ pass }) => pass)))
        )
      )

      yield* asking.commit(batchOf(9, { punches: rows(1) }), Option.some(checkpointAt(1)))

      assert.deepStrictEqual(seen, [Option.some(9)])
    }).pipe(Effect.scoped))

  it.effect("[Y2] brings the page again where its rows were written and its checkpoint was not", () =>
    Effect.gen(function*() {
      const { over, store, table } = yield* open
      yield* store.commit(batchOf(1, { punches: rows(3) }), Option.none())
      const dying = yield* over((batch) => Effect.andThen(fenced(table)(batch), Effect.interrupt))
      yield* Effect.exit(dying.commit(batchOf(2, { punches: rows(3, "new") }), Option.some(checkpointAt(1))))

      const stored = yield* store.load(company)
      assert.deepStrictEqual(stored, Option.some({ ...checkpointAt(1), pass: 2 }))

      const done = yield* store.commit(batchOf(3, { punches: rows(3, "new") }), stored)
      assert.strictEqual(done.written, 3)
      assert.isTrue(
        [...(yield* Ref.get(table)).values()].every(({ pass, punch }) => pass === 3 && punch.notes === "new")
      )
    }).pipe(Effect.scoped))

  it.effect("[Y58] fails with the failure of the caller's write, and the checkpoint has not moved", () =>
    Effect.gen(function*() {
      const { over, store } = yield* open
      yield* store.commit(batchOf(1, { punches: rows(3) }), Option.none())
      const failing = yield* over(() => Effect.fail("disk full"))

      const error = yield* Effect.flip(failing.commit(batchOf(1, { punches: rows(3) }), Option.some(checkpointAt(1))))

      assert.deepStrictEqual([error.reason, error.cause], ["Store", "disk full"])
      assert.deepStrictEqual(yield* store.load(company), Option.some(checkpointAt(1)))
    }).pipe(Effect.scoped))

  it.effect("[Y15] fails where either key is of a newer release, which has replaced the other", () =>
    Effect.gen(function*() {
      const { keys, store } = yield* open
      yield* store.commit(batchOf(1), Option.none())
      yield* store.commit(batchOf(2), Option.some(checkpointAt(1)))
      const names = [0, 1].map((which) => `time-punches-sync-2-${which}`)
      for (const name of names) {
        const text = (yield* keys.get(name)) ?? ""
        yield* keys.set(name, text.replace("{\\\"v\\\":1", "{\\\"v\\\":1,\\\"later\\\":1"))
        assert.notStrictEqual(yield* keys.get(name), text)
        assert.strictEqual((yield* Effect.flip(store.load(company))).reason, "NewerCheckpoint")
        yield* keys.set(name, text)
      }
    }).pipe(Effect.scoped))

  it.effect("[Y73] reads the other key where one was cut, and fails where both were", () =>
    Effect.gen(function*() {
      const { keys, store } = yield* open
      yield* store.commit(batchOf(1), Option.none())
      yield* store.commit(batchOf(2), Option.some(checkpointAt(1)))
      const names = [0, 1].map((which) => `time-punches-sync-2-${which}`)
      const texts = yield* Effect.forEach(names, (name) => keys.get(name))
      for (const [at, name] of names.entries()) {
        yield* keys.set(name, (texts[at] ?? "").slice(0, 20))
        assert.isTrue(Option.isSome(yield* store.load(company)))
        yield* keys.set(name, texts[at] ?? "")
      }
      for (const name of names) yield* keys.set(name, "")

      assert.strictEqual((yield* Effect.flip(store.load(company))).reason, "Checkpoint")
    }).pipe(Effect.scoped))
})
