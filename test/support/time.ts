/** The test clock, for tests that care what happens and not when. */
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"

/** Runs an effect while hours go by on the test clock, so that none of its waits is one. */
export const letTimePass = <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.gen(function*() {
    const fiber = yield* Effect.forkChild(self)
    while (fiber.pollUnsafe() === undefined) yield* TestClock.adjust("1 minute")
    return yield* Fiber.join(fiber)
  })
