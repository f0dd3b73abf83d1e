/** The plans of the simulations of which `npm test` runs a part. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { assertCoverage, atRest, files, overSockets } from "../simulation/suite.ts"
import { isReplay, seedsFrom } from "../support/series.ts"
import { runPlans } from "../sync/simulation/client.ts"
import { inSqlite, sqliteCases, unmetInMemory } from "../sync/simulation/suite.ts"

describe("Sync under random faults, in more plans", () => {
  it("keeps the copy equal to the source, and meets each rare branch", async () => {
    const unmet = await unmetInMemory(seedsFrom(1, 3600))

    if (!isReplay) assert.deepStrictEqual(unmet, [])
  })

  it.each(sqliteCases)(
    "keeps the copy in SQLite equal to the source, %d pages in a transaction",
    (pages, history) => inSqlite(seedsFrom(pages * 1_000_000, 300), pages, history)
  )

  it.effect("has what the service lists", () => runPlans(seedsFrom(1, 100)))
})

describe("TimePunches under random faults, in more plans", () => {
  it.live("emits every row once and in order over all resumes, in memory", () =>
    Effect.map(atRest(files.atRest, seedsFrom(5001, 800)), (figures) => assertCoverage(figures, 4)))

  it.live("emits every row once and in order over all resumes, over undici, fetch, node:http and NodeTransport", () =>
    Effect.map(overSockets(files.overSockets, seedsFrom(30_001, 300), 30), (figures) => assertCoverage(figures, 1)))
})
