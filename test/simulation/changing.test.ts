import { describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { seedsFrom } from "../support/series.ts"
import { assertCoverage, changing } from "./suite.ts"

const file = "test/simulation/changing.test.ts"

describe("TimePunches on rows that are inserted, changed and removed during a listing", () => {
  it.live(
    "emits every row that was left alone, in 500 plans with random faults",
    () => Effect.map(changing(file, seedsFrom(20_001, 500)), (figures) => assertCoverage(figures, 2)),
    300_000
  )
})
