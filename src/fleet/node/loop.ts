/** One shape for every task of a runner: what it does once, and how often. */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as Result from "effect/Result"
import { isSqlError } from "effect/sql/SqlError"
import { messageOf } from "../../internal/sql/failure.ts"
import * as metrics from "./metrics.ts"

/** Milliseconds of the monotonic clock, which cannot be set: for how long something takes. */
export const elapsed = Effect.map(Clock.monotonicTimeNanos, (nanos) => Number(nanos / 1_000_000n))

/** A task of a runner. */
export type Loop = ReturnType<typeof makeLoop>

/** Whatever the task fails with is logged when it begins to fail, and once a minute while it does; then it is done again. */
export const makeLoop = <E>(name: string, every: number, runOnce: Effect.Effect<void, E>) => {
  const latch = Latch.makeUnsafe(false)
  let failures = 0
  const repeatLog = Math.max(1, Math.ceil(60_000 / Math.max(every, 1)))
  const once = Effect.gen(function*() {
    latch.closeUnsafe()
    const exit = yield* Effect.exit(runOnce)
    if (exit._tag === "Success") {
      if (failures > 0) yield* Effect.logInfo(`${name} succeeds again, after ${failures} failures`)
      failures = 0
    } else {
      if (failures % repeatLog === 0)
        yield* Effect.logWarning(`${name} fails, and is tried again: ${reasonOf(exit.cause)}`)
      failures += 1
      yield* metrics.failed(name)
    }
  })
  return {
    /** Does the task for ever: once, then each `every` milliseconds after its end, or at once where it is woken. */
    run: Effect.forever(Effect.andThen(once, Effect.timeoutOption(latch.await, every))),
    /** Has the task done again without waiting. */
    wake: Effect.asVoid(latch.open)
  }
}

/** The first error of a cause on one line: a driver's error may hold rows, so no more than its message is kept. */
export const reasonOf = (cause: Cause.Cause<unknown>): string => {
  const error = Cause.squash(cause)
  // A message need not be a text, and not every value becomes one.
  const text = Result.try(() =>
    isSqlError(error) ? messageOf(error) : String(error instanceof Error ? error.message : error)
  )
  return Result.getOrElse(text, () => "an error without a text").split("\n")[0] ?? ""
}
