/** What a stream holds while it waits for its consumer: no timer, counted by the process. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Stream } from "effect"
import { TestClock } from "effect/testing"
import { TimePunches } from "../../src/index.ts"
import { company } from "../support/client.ts"
import { service, timersOf } from "../support/idle.ts"

describe("an idle stream", () => {
  it.live("holds no timer: a thousand of them hold ten at most", () =>
    Effect.gen(function*() {
      const { first, punches, second } = yield* timersOf(1_000)

      assert.strictEqual(punches, 500)
      assert.isAtMost(first, 10)
      assert.isAtMost(second, 10)
    }), 60_000)

  it.effect("still ends an attempt at its limit when it is pulled again, an hour later", () =>
    Effect.gen(function*() {
      const pull = yield* Stream.toPull(TimePunches.list(company))
      yield* pull
      yield* TestClock.adjust("1 hour")
      const reader = yield* Effect.forkChild(Effect.flip(pull), { startImmediately: true })
      yield* TestClock.adjust("3 minutes")
      const failure = yield* Fiber.join(reader)

      assert.deepInclude(failure, { _tag: "TransportError", reason: "Timeout", pagesCompleted: 1 })
    }).pipe(Effect.scoped, Effect.provide(service(1))))
})
