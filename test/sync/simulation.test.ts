/** A copy under random faults, several at once, in memory and over keys. */
import { assert, describe, it } from "@effect/vitest"
import { plantings } from "./simulation/plantings.ts"
import { seedsFrom, series } from "./simulation/series.ts"
import { planted, real } from "./simulation/subject.ts"
import { assertCoverage, inMemory } from "./simulation/suite.ts"

const file = "test/sync/simulation.test.ts"

describe("Sync under random faults", () => {
  it("keeps the copy equal to the source", { timeout: 300_000 }, async () => {
    assertCoverage(series(seedsFrom(1, 3600), { file, stores: inMemory, subject: await real() }))
  })

  // `npm run test:full` plants them and lets the simulation find them.
  it.each(plantings)("can be given the defect: $name", (planting) => {
    for (const { file, replace } of planting.edits) assert.include(planted(file, planting), replace)
  })
})
