/** A copy in SQLite under random faults, several at once, with one page in a transaction and with three. */
import { describe, it } from "@effect/vitest"
import { seedsFrom, series } from "./simulation/series.ts"
import { openSqlite } from "./simulation/sqlite.ts"
import { real } from "./simulation/subject.ts"
import { assertCoverage } from "./simulation/suite.ts"

const file = "test/sync/simulationSqlite.test.ts"

describe("Sync under random faults", () => {
  it.each([1, 3])(
    "keeps the copy in SQLite equal to the source, %d pages in a transaction",
    { timeout: 300_000 },
    async (pages) => {
      const subject = await real()
      const copies = openSqlite(pages)
      assertCoverage(series(seedsFrom(pages * 1_000_000, 600), { file, stores: ["sqlite"], subject, copies }))
    }
  )
})
