/** A copy under random faults, several at once, in memory and over keys. */
import { assert, describe, it } from "@effect/vitest"
import { collectMarks, marked, unmet } from "./simulation/marks.ts"
import { plantings } from "./simulation/plantings.ts"
import { isReplay, seedsFrom, series } from "./simulation/series.ts"
import { plant, planted } from "./simulation/subject.ts"
import { assertCoverage, inMemory } from "./simulation/suite.ts"

const file = "test/sync/simulation.test.ts"

describe("Sync under random faults", () => {
  it("keeps the copy equal to the source, and meets each rare branch", { timeout: 300_000 }, async () => {
    const subject = await plant(marked)
    const met = collectMarks()
    assertCoverage(series(seedsFrom(1, 3600), { file, stores: inMemory, subject }))

    if (!isReplay) assert.deepStrictEqual(unmet(met), [])
  })

  // `npm run test:full` plants them and lets the simulation find them.
  it.each(plantings)("can be given the defect: $name", (planting) => {
    for (const { file, replace } of planting.edits) assert.include(planted(file, planting), replace)
  })
})
