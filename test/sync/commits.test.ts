/** Who may commit, and what is marked: claims, calls that sleep, the limit of a sweep, a COMMIT whose answer is lost. */
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Deferred, Effect, Exit, Fiber, Layer, Option, Stream } from "effect"
import * as KeyValueStore from "effect/persistence/KeyValueStore"
import { TestClock } from "effect/testing"
import { checkpointText } from "../../src/sync/Checkpoint.ts"
import { type Batch, Sync, SyncError, SyncStore, type SyncSummary } from "../../src/sync/index.ts"
import { makeKeyValueStore } from "../../src/sync/keyValueStore.ts"
import { company } from "../support/client.ts"
import {
  assertEqual,
  blank,
  firstId,
  itWithCopy,
  loaded,
  noon,
  punches,
  seeded,
  type TestCopy,
  watermarkOf
} from "./support.ts"

/** A store that waits before one of its commits, the second, until it is woken. */
const sleepy = Effect.fnUntraced(function*(copy: Pick<TestCopy, "store">, sleepsAt = 2) {
  const reached = yield* Deferred.make<void>()
  const wake = yield* Deferred.make<void>()
  let commits = 0
  const commit: typeof copy.store.commit = (batch, previous) =>
    Effect.suspend(() =>
      ++commits === sleepsAt
        ? Deferred.succeed(reached, undefined).pipe(
          Effect.andThen(Deferred.await(wake)),
          Effect.andThen(copy.store.commit(batch, previous))
        )
        : copy.store.commit(batch, previous)
    )
  return { reached, wake, layer: Layer.succeed(SyncStore, { ...copy.store, commit }) }
})

const reasonOf = (error: { readonly _tag: string }) => error instanceof SyncError ? error.reason : error._tag

describe("Sync.run, where another call wrote meanwhile,", () => {
  itWithCopy("[Y55] [Y57] is superseded, and nothing of its batch stays", (copy) =>
    Effect.gen(function*() {
      const service = yield* seeded
      const { layer, reached, wake } = yield* sleepy(copy)
      const asleep = yield* Effect.forkChild(Effect.flip(Effect.provide(Sync.run(company), layer)))
      yield* Deferred.await(reached)
      yield* TestClock.adjust("5 hours")
      yield* service.edit(punches.map(({ id }) => id), { notes: "later" })
      yield* Sync.run(company)
      yield* Sync.run(company)
      const before = checkpointText(copy.checkpoint())
      yield* Deferred.succeed(wake, undefined)

      assert.strictEqual(reasonOf(yield* Fiber.join(asleep)), "Superseded")
      assert.strictEqual(checkpointText(copy.checkpoint()), before)
      yield* assertEqual(copy)
    }))

  itWithCopy("[Y77] is superseded by a claim, before that has read a page", (copy) =>
    Effect.gen(function*() {
      yield* seeded
      const { layer, reached, wake } = yield* sleepy(copy)
      const asleep = yield* Effect.forkChild(Effect.flip(Effect.provide(Sync.run(company), layer)))
      yield* Deferred.await(reached)
      const older = copy.checkpoint()
      const claimed = yield* Sync.run(company, { claim: true, onCommit: () => Effect.succeed(false) })

      assert.include(claimed, { complete: false, resumed: true, pages: 0, punches: 0 })
      assert.deepStrictEqual({ ...copy.checkpoint(), writer: older.writer }, older)
      assert.notStrictEqual(copy.checkpoint().writer, older.writer)
      yield* Deferred.succeed(wake, undefined)
      assert.strictEqual(reasonOf(yield* Fiber.join(asleep)), "Superseded")
      assert.include(yield* Sync.run(company), { complete: true, resumed: true, punches: 250 })
      yield* assertEqual(copy)
    }))

  itWithCopy(
    "[Y77] commits a blank checkpoint where there is none, and then says so",
    (copy) =>
      Effect.gen(function*() {
        yield* seeded
        const said: Array<SyncSummary> = []
        const claimed = yield* Sync.run(company, {
          claim: true,
          onCommit: (soFar) => Effect.sync(() => said.push(soFar) > 1)
        })

        assert.deepInclude(said, claimed)
        assert.include(claimed, { kind: "first", complete: false, resumed: false, pages: 0, punches: 0 })
        assert.deepStrictEqual({ ...copy.checkpoint(), writer: "" }, { ...blank, writer: "" })
        assert.include(yield* Sync.run(company), { kind: "first", complete: true, resumed: false, punches: 450 })
      })
  )

  itWithCopy(
    "[Y77] is superseded in a first load, whose first page is on its way while the copy is erased",
    (copy) =>
      Effect.gen(function*() {
        yield* seeded
        const { layer, reached, wake } = yield* sleepy(copy, 1)
        const asleep = yield* Effect.forkChild(Effect.flip(Effect.provide(Sync.run(company), layer)))
        yield* Deferred.await(reached)
        copy.replace(undefined)
        yield* Sync.run(company, { claim: true, onCommit: () => Effect.succeed(false) })
        yield* Deferred.succeed(wake, undefined)

        assert.strictEqual(reasonOf(yield* Fiber.join(asleep)), "Superseded")
        assert.isEmpty(copy.present())
      })
  )

  itWithCopy(
    "[Y74] writes another text than any other call, even for the same page at the same time",
    (copy) =>
      Effect.gen(function*() {
        yield* seeded
        yield* Sync.run(company, { stopAfter: { pages: 1 } })
        const from = copy.checkpoint()
        const next = Stream.runCollect(Stream.take(Sync.batches(company, Option.some(from)), 1))
        const [[one], [other]] = [yield* next, yield* next]
        assert.isDefined(one)
        assert.isDefined(other)

        assert.deepStrictEqual({ ...one.checkpoint, writer: "" }, { ...other.checkpoint, writer: "" })
        assert.notStrictEqual(checkpointText(one.checkpoint), checkpointText(other.checkpoint))
        yield* copy.store.commit(one, Option.some(from))
        assert.strictEqual(reasonOf(yield* Effect.flip(copy.store.commit(other, Option.some(from)))), "Superseded")
      })
  )
})

describe("Sync.sweep, where more than 20 % and 100 rows are missing,", () => {
  const half = punches.slice(0, 225).map(({ id }) => id)

  itWithCopy(
    "[Y51] marks none and fails with the counts, and the increments continue",
    (copy) =>
      Effect.gen(function*() {
        const service = yield* loaded
        yield* service.remove(half)
        yield* TestClock.adjust("1 hour")
        const error = yield* Effect.flip(Sync.sweep(company))

        assert.strictEqual(reasonOf(error), "TooManyMissing")
        assert.include(error.message, "225 of 450")
        assert.lengthOf(copy.present(), 450)
        assert.deepStrictEqual(copy.checkpoint().running, Option.none())
        assert.strictEqual(watermarkOf(copy), noon + 3_600_000)
        assert.deepStrictEqual(error instanceof SyncError && error.checkpoint, Option.some(copy.checkpoint()))
        assert.include(yield* Sync.run(company), { kind: "increment", complete: true, resumed: false })
        assert.include(yield* Sync.sweep(company, { allowMissing: true }), {
          kind: "sweep",
          complete: true,
          missing: 225
        })
        yield* assertEqual(copy)
      })
  )

  itWithCopy.each([[100, false], [101, true]] as const)(
    "[Y51] allows %d of 450 rows, or 20 %",
    (_copy, [count, isRefused]) =>
      Effect.gen(function*() {
        const service = yield* loaded
        yield* service.remove(punches.slice(0, count).map(({ id }) => id))
        const end = yield* Effect.result(Sync.sweep(company))

        assert.strictEqual(end._tag === "Failure" && reasonOf(end.failure) === "TooManyMissing", isRefused)
      })
  )

  itWithCopy(
    "does not accept on behalf of a sweep of another window, which it completes first",
    (copy) =>
      Effect.gen(function*() {
        const service = yield* loaded
        yield* service.remove(half)
        const window = { lt: DateTime.makeUnsafe(noon) }
        yield* Sync.sweep(company, { window, stopAfter: { pages: 1 } })
        const error = yield* Effect.flip(Sync.sweep(company, { allowMissing: true }))

        assert.strictEqual(reasonOf(error), "TooManyMissing")
        assert.lengthOf(copy.present(), 450)
        assert.include(yield* Sync.sweep(company, { allowMissing: true }), { complete: true, missing: 225 })
      })
  )
})

describe("SyncStore.layerKeyValueStore", () => {
  /** A store over keys that the test can cut. */
  const overKeys = (write: (batch: Batch) => Effect.Effect<void> = () => Effect.void) =>
    Effect.gen(function*() {
      const keys = new Map<string, string>()
      const texts = KeyValueStore.makeStringOnly({
        get: (key) => Effect.sync(() => keys.get(key)),
        set: (key, value) => Effect.sync(() => keys.set(key, value)),
        remove: (key) => Effect.sync(() => keys.delete(key)),
        clear: Effect.sync(() => keys.clear()),
        size: Effect.sync(() => keys.size),
        keys: Effect.sync(() => [...keys.keys()])
      })
      const store = yield* Effect.provideService(makeKeyValueStore(write), KeyValueStore.KeyValueStore, texts)
      return { keys, store, layer: Layer.succeed(SyncStore, store) }
    })

  itWithCopy("[Y73] reads the other key where one is cut, and the page comes again", () =>
    Effect.gen(function*() {
      yield* seeded
      const written: Array<number> = []
      const { keys, layer, store } = yield* overKeys((batch) => Effect.sync(() => written.push(batch.punches.length)))
      yield* Effect.provide(Sync.run(company, { stopAfter: { pages: 1 } }), layer)
      const before = Option.getOrThrow(yield* store.load(company.id))
      yield* Effect.provide(Sync.run(company, { stopAfter: { pages: 1 } }), layer)
      const newest = [...keys].toSorted(([, one], [, other]) => commitOf(other) - commitOf(one))[0]
      assert.isDefined(newest)
      keys.set(newest[0], newest[1].slice(0, 50))

      assert.deepStrictEqual(yield* store.load(company.id), Option.some(before))
      assert.include(yield* Effect.provide(Sync.run(company), layer), { complete: true, resumed: true })
      assert.deepStrictEqual(written, [200, 200, 200, 50])
    }))

  it.effect("[Y73] begins again where the first write of all was cut, and fails where a later one has no other key", () =>
    Effect.gen(function*() {
      const { keys, store } = yield* overKeys()
      keys.set(`time-punches-sync-${company.id}-1`, `{"commit":1,"chec`)
      assert.deepStrictEqual(yield* store.load(company.id), Option.none())
      keys.set(`time-punches-sync-${company.id}-0`, `{"commit":2,"chec`)

      assert.strictEqual((yield* Effect.flip(store.load(company.id))).reason, "Checkpoint")
    }))

  itWithCopy(
    "[Y77] supersedes a first load whose first page is on its way, and a write that a kill cut after that",
    () =>
      Effect.gen(function*() {
        yield* seeded
        let writes = 0
        const { layer, store } = yield* overKeys(() =>
          Effect.suspend(() => ++writes === 2 ? Effect.die("killed") : Effect.void)
        )
        const slept = yield* sleepy({ store }, 1)
        const asleep = yield* Effect.forkChild(Effect.flip(Effect.provide(Sync.run(company), slept.layer)))
        yield* Deferred.await(slept.reached)
        // The claim writes no row; the first page of the same call raises the number, and is killed before its rows.
        assert.isTrue(Exit.hasDies(yield* Effect.exit(Effect.provide(Sync.run(company, { claim: true }), layer))))
        yield* TestClock.adjust("1 hour")
        yield* Deferred.succeed(slept.wake, undefined)

        assert.strictEqual(reasonOf(yield* Fiber.join(asleep)), "Superseded")
        assert.strictEqual(writes, 2)
      })
  )

  itWithCopy(
    "[Y2] [Y4] is never ahead of the rows: a page whose rows fail is written again",
    () =>
      Effect.gen(function*() {
        yield* seeded
        let calls = 0
        const rows: Array<number> = []
        const { layer, store } = yield* overKeys((batch) =>
          Effect.suspend(() => {
            rows.push(...batch.punches.map(({ id }) => id))
            return ++calls === 3 ? Effect.die(new Error("killed")) : Effect.void
          })
        )
        yield* Effect.exit(Effect.provide(Sync.run(company), layer))
        const { watermark } = Option.getOrThrow(yield* store.load(company.id))
        assert.deepStrictEqual(watermark, Option.none())

        assert.include(yield* Effect.provide(Sync.run(company), layer), { complete: true, resumed: true, pages: 1 })
        assert.deepStrictEqual([rows[0], rows.length, new Set(rows).size], [firstId, 500, 450])
      })
  )
})

const commitOf = (entry: string): number => Number(/"commit":(\d+)/.exec(entry)?.[1])
