/** A copy under random faults, several at once, in memory and over keys: the first half of the plans, for the other core. */
import { describe, it } from "@effect/vitest"
import { seedsFrom, series } from "./simulation/series.ts"
import { real } from "./simulation/subject.ts"
import { assertCoverage, inMemory } from "./simulation/suite.ts"

describe("Sync under random faults", () => {
  it("keeps the copy equal to the source", { timeout: 300_000 }, async () => {
    const file = "test/sync/simulation1.test.ts"
    assertCoverage(series(seedsFrom(1, 1900), { file, stores: inMemory, subject: await real() }))
  })
})
