/** Waits on state that only changes synchronously, so that no change falls between a look at the state and the wait. */
import * as Effect from "effect/Effect"

export interface Condition {
  /** Calls `find` now and after every `notifyAll`, until it returns a value. The longest waiter is served first. */
  readonly waitUntil: <A>(find: () => A | undefined) => Effect.Effect<A>
  /** Calls the `find` of every waiter again. */
  readonly notifyAll: () => void
}

export const makeCondition = (): Condition => {
  const waiters = new Set<() => void>()
  return {
    waitUntil: <A>(find: () => A | undefined) =>
      Effect.callback<A>((resume) => {
        const check = () => {
          const found = find()
          if (found === undefined) return
          // Removed first: the fiber resumes within this call, and may notify the others.
          waiters.delete(check)
          resume(Effect.succeed(found))
        }
        waiters.add(check)
        check()
        return Effect.sync(() => {
          waiters.delete(check)
        })
      }),
    notifyAll: () => {
      for (const check of waiters) check()
    }
  }
}
