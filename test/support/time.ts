/** Time in tests: the test clock, where the time of an event does not matter, and how a time grows. */
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

/** How many times as long a piece takes if there are ten times as many: 1, or 10 if each meets all others. The fastest of three. */
export const growthOf = (run: (count: number) => unknown): number => {
  const fastest = (count: number) =>
    Math.min(...[1, 2, 3].map(() => {
      const began = performance.now()
      run(count)
      return performance.now() - began
    }))
  return fastest(10_000) / fastest(1000) / 10
}
