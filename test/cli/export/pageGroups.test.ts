import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Latch } from "effect"
import { TestClock } from "effect/testing"
import { makePageGroups, maxBytes } from "../../../src/cli/export/export.ts"

interface Page {
  readonly id: number
  readonly bytes: Uint8Array
}

const page = (id: number, size = 100): Page => ({ id, bytes: new Uint8Array(size) })

/** Groups that are written to a list; each write takes as long as `disk`. */
const recorded = (disk: Effect.Effect<void, string> = Effect.void) => {
  const written: Array<ReadonlyArray<number>> = []
  const groups = makePageGroups<Page, string>((group) =>
    Effect.andThen(
      disk,
      Effect.sync(() => {
        written.push(group.map(({ id }) => id))
      })
    )
  )
  return { written, groups }
}

describe("makePageGroups", () => {
  it.effect("writes the pages of each second together, in order, and the last ones at the end", () =>
    Effect.gen(function*() {
      const { groups, written } = recorded()
      const listing = Effect.forEach(
        Array.from({ length: 7 }, (_, id) => id),
        (id) => Effect.andThen(groups.add(page(id)), Effect.sleep("400 millis")),
        { discard: true }
      )
      const fiber = yield* Effect.forkChild(groups.run(listing))
      yield* TestClock.adjust("1 second")
      const first = [...written]
      yield* TestClock.adjust("10 seconds")
      yield* Fiber.join(fiber)

      assert.deepStrictEqual(first, [[0, 1, 2]])
      assert.deepStrictEqual(written, [[0, 1, 2], [3, 4, 5], [6]])
    }))

  it.effect("writes a page within a second, however long the next one takes", () =>
    Effect.gen(function*() {
      const { groups, written } = recorded()
      const listing = Effect.andThen(groups.add(page(1)), Effect.sleep("1 hour"))
      const fiber = yield* Effect.forkChild(groups.run(listing))
      yield* TestClock.adjust("999 millis")
      const before = [...written]
      yield* TestClock.adjust("1 millis")

      assert.deepStrictEqual([before, written], [[], [[1]]])
      yield* Fiber.interrupt(fiber)
    }))

  it.effect("writes at once when the pages in memory reach their bound", () =>
    Effect.gen(function*() {
      const { groups, written } = recorded()
      const listing = Effect.andThen(
        Effect.andThen(groups.add(page(1, maxBytes - 1)), groups.add(page(2, 1))),
        Effect.never
      )
      const fiber = yield* Effect.forkChild(groups.run(listing))
      yield* TestClock.adjust(0)

      assert.deepStrictEqual(written, [[1, 2]])
      yield* Fiber.interrupt(fiber)
    }))

  it.effect("receives further pages while a slow disk writes, and waits once these reach the bound", () =>
    Effect.gen(function*() {
      const { groups, written } = recorded(Effect.sleep("20 seconds"))
      let received = 0
      const listing = Effect.forEach(
        Array.from({ length: 30 }, (_, id) => page(id, 1 << 20)),
        (page) =>
          Effect.andThen(groups.add(page), Effect.andThen(Effect.sync(() => received++), Effect.sleep("600 millis"))),
        { discard: true }
      )
      const fiber = yield* Effect.forkChild(groups.run(listing))
      yield* TestClock.adjust("3 seconds")
      const writing = [received, written.length]
      yield* TestClock.adjust("17 seconds")
      const full = [received, written.length]
      yield* TestClock.adjust("1 hour")
      yield* Fiber.join(fiber)

      assert.deepStrictEqual(writing, [6, 0])
      // The eighth mebibyte is in memory; its `add` has not returned.
      assert.deepStrictEqual(full, [7, 0])
      assert.deepStrictEqual(written.flat(), Array.from({ length: 30 }, (_, id) => id))
      assert.isAtMost(written.length, 8)
      assert.isTrue(written.every((group) => group.length <= 8))
    }))

  it.effect("writes what was received before a failure, then fails", () =>
    Effect.gen(function*() {
      const { groups, written } = recorded()
      const listing = Effect.andThen(groups.add(page(1)), Effect.fail("503"))
      const failure = yield* Effect.flip(groups.run(listing))

      assert.strictEqual(failure, "503")
      assert.deepStrictEqual(written, [[1]])
    }))

  it.effect("fails as soon as a write does, and interrupts the listing", () =>
    Effect.gen(function*() {
      const { groups } = recorded(Effect.fail("full"))
      let isInterrupted = false
      const listing = Effect.andThen(groups.add(page(1)), Effect.never).pipe(
        Effect.onInterrupt(() => Effect.sync(() => (isInterrupted = true)))
      )
      const fiber = yield* Effect.forkChild(Effect.flip(groups.run(listing)))
      yield* TestClock.adjust("1 second")

      assert.strictEqual(yield* Fiber.join(fiber), "full")
      assert.isTrue(isInterrupted)
    }))

  it.effect("keeps the pages of a failed write before later ones", () =>
    Effect.gen(function*() {
      let isFull = true
      const { groups, written } = recorded(Effect.suspend(() => isFull ? Effect.fail("full") : Effect.void))
      yield* groups.add(page(1))
      const failure = yield* Effect.flip(groups.flush)
      isFull = false
      yield* groups.add(page(2))
      yield* groups.flush

      assert.strictEqual(failure, "full")
      assert.deepStrictEqual(written, [[1, 2]])
    }))

  it.effect("keeps for a flush what an interrupted run has not written, also the page that waits for room", () =>
    Effect.gen(function*() {
      const disk = yield* Latch.make()
      const { groups, written } = recorded(disk.await)
      const listing = groups.add(page(1)).pipe(
        Effect.andThen(Effect.sleep("1500 millis")),
        Effect.andThen(groups.add(page(2, maxBytes))),
        Effect.andThen(groups.add(page(3)))
      )
      const fiber = yield* Effect.forkChild(groups.run(listing))
      yield* TestClock.adjust("2 seconds")
      const interruption = yield* Effect.forkChild(Fiber.interrupt(fiber))
      yield* disk.open
      yield* Fiber.join(interruption)
      const before = [...written]
      yield* groups.flush

      assert.deepStrictEqual(before, [[1]])
      assert.deepStrictEqual(written, [[1], [2]])
    }))

  it.effect("ends without pages", () =>
    Effect.gen(function*() {
      const { groups, written } = recorded()
      yield* groups.run(Effect.void)

      assert.deepStrictEqual(written, [])
    }))
})
