/** The other half of the plans in memory; `memory1.test.ts` has the first, so that they use two cores. */
import { describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { seedsFrom } from "./series.ts"
import { assertCoverage, atRest } from "./suite.ts"

const file = "test/simulation/memory2.test.ts"

describe("TimePunches under random faults, in memory", () => {
  it.live(
    "emits every row once and in order over all resumes, in 800 plans",
    () => Effect.map(atRest(file, seedsFrom(5001, 800)), (figures) => assertCoverage(figures, 4)),
    300_000
  )
})
