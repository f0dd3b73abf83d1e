/** Random calendars, holes, gaps and mistakes of closes, for as long as they may take. */
import { seedsFrom, within } from "../support/series.ts"
import { itComparesStates } from "./stateRuns.ts"

itComparesStates("test/full/randomStates.test.ts", () => within("60 seconds", seedsFrom(Number(process.env.S0 ?? 48_000), 80)))
