/** A copy under random faults, through the whole client over the fake service. */
import { describe, it } from "@effect/vitest"
import { seedsFrom } from "../support/series.ts"
import { runPlans } from "./simulation/client.ts"

describe("Sync over the fake service under random faults", () => {
  it.effect("has what the service lists", () => runPlans(seedsFrom(1, 40)), 300_000)
})
