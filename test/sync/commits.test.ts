/** Who may commit, and what is marked: claims, calls that sleep, the limit of a sweep, a COMMIT whose answer is lost. */
import { assert, describe } from "@effect/vitest"
import { DateTime, Deferred, Effect, Exit, Fiber, Layer, Option, Stream } from "effect"
import { TestClock } from "effect/testing"
import { checkpointText } from "../../src/sync/Checkpoint.ts"
import { type Checkpoint, Sync, SyncError, SyncStore, type SyncSummary } from "../../src/sync/index.ts"
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

const reasonOf = (error: { readonly _tag: string }) => error instanceof SyncError ? error.reason._tag : error._tag

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

describe("Sync.batches, whose reader is killed,", () => {
  itWithCopy("[Y2] [Y4] gives a page again whose checkpoint was not stored", () =>
    Effect.gen(function*() {
      yield* seeded
      let stored = Option.none<Checkpoint>()
      let pages = 0
      const rows: Array<number> = []
      const read = Effect.suspend(() =>
        Stream.runForEach(Sync.batches(company, stored), (batch) =>
          Effect.suspend(() => {
            rows.push(...batch.punches.map(({ id }) => id))
            if (++pages === 3) return Effect.die(new Error("killed"))
            stored = Option.some(batch.checkpoint)
            return Effect.void
          }))
      )
      assert.isTrue(Exit.hasDies(yield* Effect.exit(read)))
      assert.deepStrictEqual(Option.getOrThrow(stored).watermark, Option.none())
      yield* read

      assert.isTrue(Option.isSome(Option.getOrThrow(stored).watermark))
      assert.deepStrictEqual([rows[0], rows.length, new Set(rows).size], [firstId, 500, 450])
    }))
})
