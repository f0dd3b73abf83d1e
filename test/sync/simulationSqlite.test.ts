/** A copy in SQLite under random faults, several at once: one page in a transaction, and three with a history. */
import { describe, it } from "@effect/vitest"
import { seedsFrom, within } from "../support/series.ts"
import { inSqlite, sqliteCases } from "./simulation/suite.ts"

describe("Sync under random faults", () => {
  it.each(sqliteCases)(
    "keeps the copy in SQLite equal to the source, %d pages in a transaction",
    { timeout: 300_000 },
    (pages, history) => inSqlite(within("40 seconds", seedsFrom(pages * 1_000_000, 75)), pages, history)
  )
})
