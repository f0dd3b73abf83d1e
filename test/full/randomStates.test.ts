/** Random calendars, holes, gaps and mistakes of closes, for as long as they may take. */
import { seedsFrom, within } from "../support/series.ts"
import { itComparesStates } from "./stateRuns.ts"

itComparesStates("test/full/randomStates.test.ts", () => within("40 seconds", seedsFrom(48_000, 60)))
