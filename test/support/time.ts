/** The test clock, for tests in which the time of an event does not matter. */
import { type Duration, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"

/** Runs an effect and advances the test clock until it ends, so that none of its waits takes time. */
export const letTimePass = <A, E, R>(
  self: Effect.Effect<A, E, R>,
  step: Duration.Input = "1 minute"
): Effect.Effect<A, E, R> =>
  Effect.gen(function*() {
    const fiber = yield* Effect.forkChild(self)
    while (fiber.pollUnsafe() === undefined) yield* TestClock.adjust(step)
    return yield* Fiber.join(fiber)
  })

/** The same, a hundred times faster than real time: a disk that is slow does not make hours of a call. */
export const hurryTime = <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.gen(function*() {
    const fiber = yield* Effect.forkChild(self)
    while (fiber.pollUnsafe() === undefined) {
      yield* TestClock.adjust("200 millis")
      yield* Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 2)))
    }
    return yield* Fiber.join(fiber)
  })
