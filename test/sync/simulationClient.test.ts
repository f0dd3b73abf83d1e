/** A copy under random faults, through the whole client over the fake service. */
import { describe, it } from "@effect/vitest"
import { runPlans } from "./simulation/client.ts"
import { seedsFrom } from "./simulation/series.ts"

describe("Sync over the fake service under random faults", () => {
  it.effect("has what the service lists", () => runPlans(seedsFrom(1, 40)), 300_000)
})
