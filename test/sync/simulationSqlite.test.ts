/** A copy in SQLite under random faults, several at once: one page in a transaction, and three with a history. */
import { assert, describe, it } from "@effect/vitest"
import { onTestFinished } from "vitest"
import { isReplay, seedsFrom, series } from "./simulation/series.ts"
import { openSqlite } from "./simulation/sqlite.ts"
import { real } from "./simulation/subject.ts"
import { assertCoverage } from "./simulation/suite.ts"

const file = "test/sync/simulationSqlite.test.ts"

describe("Sync under random faults", () => {
  // With three pages also a history, from which the copy after each commit is rebuilt at the end of its plan.
  it.each([[1, false], [3, true]] as const)(
    "keeps the copy in SQLite equal to the source, %d pages in a transaction",
    { timeout: 300_000 },
    async (pages, history) => {
      const subject = await real()
      const { close, copies } = openSqlite(pages, history)
      onTestFinished(close)
      const figures = series(seedsFrom(pages * 1_000_000, 300), { file, stores: ["sqlite"], subject, copies })
      assertCoverage(figures)
      if (!isReplay) assert.strictEqual(figures.rebuilt, history ? figures.commits : 0)
    }
  )
})
