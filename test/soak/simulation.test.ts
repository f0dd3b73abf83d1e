import { assert, describe, it } from "@effect/vitest"
import { Console, Effect } from "effect"
import { type Figures, line } from "../simulation/series.ts"
import { assertCoverage, atRest, changing, overSockets } from "../simulation/suite.ts"
import { seedsFrom } from "../support/series.ts"
import { isBounded, within } from "./bounds.ts"

const file = "test/soak/simulation.test.ts --config vitest.soak.config.ts"

const report = Effect.fnUntraced(function*(title: string, run: Effect.Effect<Figures>) {
  const began = performance.now()
  const figures = yield* run
  yield* Console.log(`${title}: ${line(figures, (performance.now() - began) / 1000)}`)
  if (!isBounded) assertCoverage(figures, 10)
  assert.isAbove(figures.plans, 0)
})

describe("TimePunches under random faults, for long", () => {
  it.live("emits every row once and in order over all resumes, in a million plans or an hour", () =>
    report("data at rest", atRest(file, within("60 minutes", seedsFrom(1_000_001, 1_000_000)))))

  it.live("emits every untouched row while others change, in 100 000 plans or ten minutes", () =>
    report("data that changes", changing(file, within("10 minutes", seedsFrom(3_000_001, 100_000)))))

  it.live("does the same over real sockets, in 20 000 plans or twenty minutes", () =>
    report("over sockets", overSockets(file, within("20 minutes", seedsFrom(5_000_001, 20_000)), 60)))
})
