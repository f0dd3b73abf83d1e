/** A copy in SQLite under random faults, several at once: one page in a transaction, and three with a history. */
import { assert, describe, it } from "@effect/vitest"
import { isReplay, seedsFrom, series } from "./simulation/series.ts"
import { openSqlite } from "./simulation/sqlite.ts"
import { real } from "./simulation/subject.ts"
import { assertCoverage } from "./simulation/suite.ts"

const file = "test/sync/simulationSqlite.test.ts"

describe("Sync under random faults", () => {
  it.each([{ pages: 1, history: false }, { pages: 3, history: true }])(
    "keeps the copy in SQLite equal to the source, $pages pages in a transaction, history: $history",
    { timeout: 300_000 },
    async ({ history, pages }) => {
      const subject = await real()
      const copies = openSqlite(pages, history)
      const figures = series(seedsFrom(pages * 1_000_000, 600), { file, stores: ["sqlite"], subject, copies })
      assertCoverage(figures)
      // The copy after each commit is rebuilt from the history at the end of its plan.
      if (!isReplay) assert.strictEqual(figures.rebuilt, history ? figures.commits : 0)
    }
  )
})
