/** The hours of each job, in many more plans than `npm test` has. */
import { describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { assertPlan } from "../support/jobPlanHolds.ts"

describe("The hours of each job, at length", () => {
  it.effect(
    "are those counted minute by minute, add up to the person's, and tile, in 800 random plans",
    () => Effect.forEach(Array.from({ length: 800 }, (_, at) => 1000 + at), assertPlan, { discard: true }),
    600_000
  )
})
