/** Waiting for something in state that is only changed synchronously: no change can slip between look and wait. */
import * as Effect from "effect/Effect"

export interface Condition {
  /** What `look` finds: it is asked now, and after every `notifyAll` until it finds something. Who came first is asked first. */
  readonly waitUntil: <A>(look: () => A | undefined) => Effect.Effect<A>
  /** Lets everyone who waits look again. */
  readonly notifyAll: () => void
}

export const makeCondition = (): Condition => {
  const waiting = new Set<() => void>()
  return {
    waitUntil: <A>(look: () => A | undefined) =>
      Effect.callback<A>((resume) => {
        const again = () => {
          const found = look()
          if (found === undefined) return
          // Out before the fiber goes on, which it does at once: it may well notify the others from here.
          waiting.delete(again)
          resume(Effect.succeed(found))
        }
        waiting.add(again)
        again()
        return Effect.sync(() => {
          waiting.delete(again)
        })
      }),
    notifyAll: () => {
      for (const again of waiting) again()
    }
  }
}
