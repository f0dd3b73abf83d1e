import { describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { seedsFrom } from "../support/series.ts"
import { assertVolume, files, overSockets } from "./suite.ts"

describe("TimePunches under random faults, over undici, fetch, node:http and NodeTransport", () => {
  // Their timing decides which failures so few plans meet: `npm run test:full` asks for each of them, in 300.
  it.live(
    "emits every row once and in order over all resumes, in 50 plans",
    () => Effect.map(overSockets(files.overSockets, seedsFrom(30_201, 50), 30), assertVolume),
    300_000
  )
})
