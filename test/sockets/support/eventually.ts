/** Assertions on one side of a connection, which sees an event a moment after the other side. */
import { Effect } from "effect"

/** Repeats an assertion until it holds, for ten seconds at most; then fails as its last run did. */
export const eventually = (check: () => void): Effect.Effect<void> =>
  Effect.gen(function*() {
    for (let checks = 0; checks < 1000; checks++) {
      const held = yield* Effect.match(Effect.try({ try: check, catch: () => "not yet" as const }), {
        onFailure: () => false,
        onSuccess: () => true
      })
      if (held) return
      yield* Effect.sleep("10 millis")
    }
    check()
  })
