import { describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { seedsFrom } from "./series.ts"
import { assertCoverage, overSockets } from "./suite.ts"

const file = "test/simulation/sockets.test.ts"

describe("TimePunches under random faults, over undici, fetch, node:http and NodeTransport", () => {
  it.live(
    "emits every row once and in order over all resumes, in 300 plans",
    () => Effect.map(overSockets(file, seedsFrom(30_001, 300), 30), (figures) => assertCoverage(figures, 1)),
    300_000
  )
})
