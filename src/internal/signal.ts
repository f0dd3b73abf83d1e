/** Waiting for a condition on state that is only changed synchronously: no change can slip between look and wait. */
import * as Effect from "effect/Effect"

export const makeSignal = () => {
  const waiters = new Set<(effect: Effect.Effect<void>) => void>()
  let version = 0

  const change = (ready: () => boolean) =>
    Effect.callback<void>((resume) => {
      if (ready()) {
        resume(Effect.void)
        return
      }
      waiters.add(resume)
      return Effect.sync(() => {
        waiters.delete(resume)
      })
    })

  /** Waits until `ready`, which is asked now and after every `notify`. */
  const until = (ready: () => boolean): Effect.Effect<void> =>
    Effect.flatMap(change(ready), () => ready() ? Effect.void : until(ready))

  return {
    until,
    /** Waits for the next `notify`. */
    next: Effect.suspend(() => {
      const seen = version
      return until(() => version !== seen)
    }),
    /** Lets every waiter look again. */
    notify: (): void => {
      version++
      const woken = [...waiters]
      waiters.clear()
      for (const resume of woken) resume(Effect.void)
    }
  }
}
