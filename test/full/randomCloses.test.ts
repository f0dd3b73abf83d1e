/** Random closes against a second computation, for as long as they may take; `npm test` runs a few of them. */
import { databases } from "../support/databases.ts"
import { seedsFrom, within } from "../support/series.ts"
import { itComparesCloses } from "./closeRuns.ts"

const [sqlite, postgres] = databases()
const file = "test/close/randomCloses.test.ts"

// Two of three plans run on a file of SQLite, whose statements take less time.
itComparesCloses(sqlite, file, () => within("80 seconds", seedsFrom(29_000, 150)))
itComparesCloses(postgres, file, () => within("2 minutes", seedsFrom(29_200, 100)))
