/** The hours of each job of a close: by a second count, minute by minute, and as sums of the hours of the person. */
import { describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { assertPlan } from "../support/jobPlanHolds.ts"

describe("The hours of each job", () => {
  it.effect("are those counted minute by minute, add up to the person's, and tile, in 60 random plans", () =>
    Effect.forEach(Array.from({ length: 60 }, (_, seed) => seed), assertPlan, { discard: true }))
})
