/** The series of plans that the tests and the soak share, and the failures that each must have covered. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { isReplay } from "../support/series.ts"
import { judgeChange, makeChange } from "./changingData.ts"
import { simulate } from "./memory.ts"
import { drawPlan, drawSocketPlan, type Plan } from "./plan.ts"
import type { Broken, Outcome } from "./run.ts"
import { type Figures, series } from "./series.ts"
import { simulateOver, transports } from "./sockets.ts"
import { judge } from "./verdict.ts"

/** Where a plan of one seed is run again, also one that `npm run test:full` has drawn. */
export const files = { atRest: "test/simulation/memory.test.ts", overSockets: "test/simulation/sockets.test.ts" }

/** Plans on data at rest, in memory and virtual time. */
export const atRest = (file: string, seeds: Iterable<number>): Effect.Effect<Figures> =>
  series(seeds, { file, draw: drawPlan, run: (plan) => judged(plan, simulate(plan)) })

/** Plans on data that changes while it is listed, in memory and virtual time. */
export const changing = (file: string, seeds: Iterable<number>): Effect.Effect<Figures> =>
  series(seeds, {
    file,
    draw: drawPlan,
    run: (plan) =>
      Effect.suspend(() => {
        const change = makeChange(plan)
        return Effect.tap(simulate(plan, change), (outcome) => judgeChange(plan, change, outcome))
      })
  })

/** Plans over real sockets, some at a time; the seed chooses one of the four clients. */
export const overSockets = (file: string, seeds: Iterable<number>, concurrency: number): Effect.Effect<Figures> =>
  series(seeds, {
    file,
    draw: drawSocketPlan,
    concurrency,
    run: (plan) => {
      const [, http] = transports[plan.seed % transports.length] ?? []
      return http === undefined ? Effect.die(new Error("there is no client")) : judged(plan, simulateOver(http, plan))
    }
  })

const judged = (plan: Plan, run: Effect.Effect<Outcome, Broken>) => Effect.tap(run, (outcome) => judge(plan, outcome))

const tags = [
  "Unauthorized",
  "Forbidden",
  "UnprocessableEntity",
  "ServerError",
  "RateLimited",
  "ServiceUnavailable",
  "UnexpectedStatus",
  "TransportError",
  "DecodeError",
  "PaginationError",
  "TokenError"
] as const

/** Fails unless every kind of failure occurred: a generator that draws none would make every check vacuous. */
export const assertCoverage = (figures: Figures, each: number): void => {
  if (isReplay) return
  for (const tag of [...tags, "Stopped"]) assert.isAtLeast(figures.ends.get(tag) ?? 0, each, tag)
  assertVolume(figures)
}

/** Fails unless the plans did much for their number. */
export const assertVolume = ({ plans, requests, rows, runs }: Figures): void => {
  if (isReplay) return
  assert.isAbove(runs, plans * 2)
  assert.isAbove(requests, runs * 2)
  assert.isAbove(rows, plans * 4)
}
