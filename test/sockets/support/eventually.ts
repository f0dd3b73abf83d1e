/** What one side of a connection sees comes a moment after the other side has done it. */
import { Effect } from "effect"

/** Runs an assertion until it holds, for two seconds at most; then it fails as it last did. */
export const eventually = (check: () => void): Effect.Effect<void> =>
  Effect.gen(function*() {
    for (let tries = 0; tries < 200; tries++) {
      const held = yield* Effect.match(Effect.try({ try: check, catch: () => "not yet" as const }), {
        onFailure: () => false,
        onSuccess: () => true
      })
      if (held) return
      yield* Effect.sleep("10 millis")
    }
    check()
  })
