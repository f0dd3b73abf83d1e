/** A copy under random faults, several at once, in memory. */
import { assert, describe, it } from "@effect/vitest"
import { isReplay, seedsFrom } from "../support/series.ts"
import { plantings } from "./simulation/plantings.ts"
import { planted } from "./simulation/subject.ts"
import { unmetInMemory } from "./simulation/suite.ts"

describe("Sync under random faults", () => {
  it("keeps the copy equal to the source, and meets each rare branch", { timeout: 300_000 }, async () => {
    // Some branches are met once in a thousand plans or two: these seeds meet each. `npm run test:full` runs six times as many.
    const unmet = await unmetInMemory(seedsFrom(301, 600))

    if (!isReplay) assert.deepStrictEqual(unmet, [])
  })

  // `npm run test:full` plants them and lets the simulation find them.
  it.each(plantings)("can be given the defect: $name", (planting) => {
    for (const { file, replace } of planting.edits) assert.include(planted(file, planting), replace)
  })
})
