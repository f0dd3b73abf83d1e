import { assert, describe, it } from "@effect/vitest"
import { Console, Effect } from "effect"
import { onTestFinished } from "vitest"
import { seedsFrom } from "../support/series.ts"
import { plantings } from "../sync/simulation/plantings.ts"
import { countBroken, type Figures, line, series, type Stores } from "../sync/simulation/series.ts"
import { openSqlite } from "../sync/simulation/sqlite.ts"
import { plant, real } from "../sync/simulation/subject.ts"
import { assertCoverage, inMemory } from "../sync/simulation/suite.ts"
import { isBounded, within } from "./bounds.ts"

const file = "test/soak/sync.test.ts --config vitest.soak.config.ts"

const report = async (title: string, run: () => Figures) => {
  const began = performance.now()
  const figures = run()
  await Effect.runPromise(Console.log(`${title}: ${line(figures, (performance.now() - began) / 1000)}`))
  if (!isBounded) assertCoverage(figures)
}

describe("Sync under random faults, for long", () => {
  it("keeps the copy equal to the source, in a million plans or an hour", async () => {
    const subject = await real()
    const seeds = within("60 minutes", seedsFrom(10_000_001, 1_000_000))
    await report("in memory and over keys", () => series(seeds, { file, stores: inMemory, subject }))
  })

  it("keeps the copy in SQLite equal to the source, in 100 000 plans or fifteen minutes", async () => {
    const stores: Stores = ["sqlite"]
    const subject = await real()
    const seeds = within("15 minutes", seedsFrom(20_000_001, 100_000))
    const { close, copies } = openSqlite(3, true)
    onTestFinished(close)
    await report("in SQLite", () => series(seeds, { file, stores, subject, copies }))
  })

  it.each(plantings)("finds in a share of plans: $name", async (planting) => {
    const subject = await plant(planting)
    const { change = (plan) => plan } = planting
    const { broken, first, plans } = countBroken(
      within("1 minute", seedsFrom(1, 1000)),
      { stores: inMemory, subject, change, untilFound: false }
    )
    const share = (100 * broken / plans).toFixed(1)
    await Effect.runPromise(Console.log(`${planting.name}: ${share} % of ${plans} plans end wrong (${first})`))
    if (!isBounded) assert.isAbove(broken, 0)
  })
})
