/** What the series of plans share: their stores, and what each of them must have met. */
import { assert } from "@effect/vitest"
import { type Figures, isReplay, type Stores } from "./series.ts"

/** Half of the plans in the store with a transaction. */
export const inMemory: Stores = ["memory", "memory", "keys", "processes"]

/** Fails unless the calls ended in every way: a generator that draws no fault would make every check vacuous. */
export const assertCoverage = ({ calls, commits, ends, plans, requests }: Figures): void => {
  if (isReplay) return
  for (
    const end of [
      "complete",
      "stopped",
      "killed",
      "Superseded",
      "CursorLost",
      "Forbidden",
      "ServiceUnavailable",
      "DecodeError",
      "PaginationError"
    ]
  ) {
    assert.isAtLeast(ends.get(end) ?? 0, 10, end)
  }
  assert.isAbove(calls, plans * 5)
  assert.isAbove(requests, calls)
  assert.isAbove(commits, plans * 5)
}
