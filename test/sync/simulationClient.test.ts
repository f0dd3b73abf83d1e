/** A copy under random faults, through the whole client over the fake service. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { type Ends, runPlan } from "./simulation/client.ts"
import { isReplay, seedsFrom } from "./simulation/series.ts"
import { noon } from "./support.ts"

describe("Sync over the fake service under random faults", () => {
  it.effect("has what the service lists", () =>
    Effect.gen(function*() {
      const ends: Ends = new Map()
      yield* TestClock.setTime(noon)
      for (const seed of seedsFrom(1, 100)) yield* runPlan(seed, ends)

      if (isReplay) return
      for (
        const end of [
          "complete",
          "stopped",
          "Superseded",
          "CursorLost",
          "Forbidden",
          "ServiceUnavailable",
          "RateLimited",
          "TransportError",
          "DecodeError",
          "PaginationError"
        ]
      ) assert.isAbove(ends.get(end) ?? 0, 0, end)
    }), 300_000)
})
