/** The simulation of a sync finds each variant that loses rows: the source with a defect in it breaks a promise. */
import { assert, describe, it } from "@effect/vitest"
import { seedsFrom } from "../support/series.ts"
import { plantings } from "../sync/simulation/plantings.ts"
import { countBroken } from "../sync/simulation/series.ts"
import { plant } from "../sync/simulation/subject.ts"
import { inMemory } from "../sync/simulation/suite.ts"

describe("the simulation of a sync finds", () => {
  it.each(plantings)("$name", async (planting) => {
    const subject = await plant(planting)
    const { change = (plan) => plan } = planting
    const { broken, plans } = countBroken(seedsFrom(1, 3000), { stores: inMemory, subject, change, untilFound: true })

    assert.strictEqual(broken, 1, `none of ${plans} plans`)
  })
})
