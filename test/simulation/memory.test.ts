import { describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { seedsFrom } from "../support/series.ts"
import { assertCoverage, atRest, files } from "./suite.ts"

describe("TimePunches under random faults, in memory", () => {
  it.live(
    "emits every row once and in order over all resumes, in 400 plans",
    () => Effect.map(atRest(files.atRest, seedsFrom(1, 400)), (figures) => assertCoverage(figures, 2)),
    300_000
  )
})
