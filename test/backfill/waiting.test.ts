import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { makeCondition } from "../../src/backfill/workers.ts"

describe("waitUntil", () => {
  it.effect("returns at once what is there", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* makeCondition().waitUntil(() => 0), 0)
    }))

  it.effect("looks again after every notification, until there is something", () =>
    Effect.gen(function*() {
      const { notifyAll, waitUntil } = makeCondition()
      let [looks, value] = [0, 0]
      const fiber = yield* Effect.forkChild(waitUntil(() => {
        looks++
        return value > 1 ? value : undefined
      }))
      yield* Effect.yieldNow
      for (value = 1; value <= 4; value++) notifyAll()

      assert.strictEqual(yield* Fiber.join(fiber), 2)
      assert.strictEqual(looks, 3)
    }))

  it.effect("serves the longest waiter first", () =>
    Effect.gen(function*() {
      const { notifyAll, waitUntil } = makeCondition()
      const items: Array<string> = []
      const waiters = yield* Effect.forEach([1, 2, 3], () => Effect.forkChild(waitUntil(() => items.shift())))
      yield* Effect.yieldNow
      items.push("first", "second")
      notifyAll()
      items.push("third")
      notifyAll()

      assert.deepStrictEqual(yield* Effect.forEach(waiters, Fiber.join), ["first", "second", "third"])
    }))

  it.effect("sees a change that a served waiter makes and notifies of", () =>
    Effect.gen(function*() {
      const { notifyAll, waitUntil } = makeCondition()
      let stage = 0
      const pass = (at: number) =>
        Effect.map(waitUntil(() => stage === at ? true : undefined), () => {
          stage++
          notifyAll()
        })
      const fibers = yield* Effect.forEach([3, 2, 1], (at) => Effect.forkChild(pass(at)))
      yield* Effect.yieldNow
      stage = 1
      notifyAll()
      yield* Effect.forEach(fibers, Fiber.join)

      assert.strictEqual(stage, 4)
    }))

  it.effect("takes nothing for a waiter that was interrupted", () =>
    Effect.gen(function*() {
      const { notifyAll, waitUntil } = makeCondition()
      const items: Array<string> = []
      const fiber = yield* Effect.forkChild(waitUntil(() => items.shift()))
      yield* Effect.yieldNow
      yield* Fiber.interrupt(fiber)
      items.push("kept")
      notifyAll()

      assert.deepStrictEqual(items, ["kept"])
    }))
})
