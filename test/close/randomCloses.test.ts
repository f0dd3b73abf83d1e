/** A few of the random closes that `npm run test:full` runs, also to run one of them again. */
import { itComparesCloses } from "../full/closeRuns.ts"
import { databases } from "../support/databases.ts"
import { seedsFrom, within } from "../support/series.ts"

for (const [at, database] of databases().entries()) {
  itComparesCloses(
    database,
    "test/close/randomCloses.test.ts",
    () => within("15 seconds", seedsFrom(29_300 + 100 * at, 4 - 2 * at))
  )
}
