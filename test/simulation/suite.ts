/** The series of plans that the tests and the soak run alike, each with what it must have met to mean anything. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { judgeChange, makeChange } from "./life.ts"
import { simulate } from "./memory.ts"
import { drawPlan, drawSocketPlan, type Plan } from "./plan.ts"
import type { Broken, Story } from "./run.ts"
import { type Figures, isReplay, series } from "./series.ts"
import { simulateOver, transports } from "./sockets.ts"
import { judge } from "./verdict.ts"

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
        return Effect.tap(simulate(plan, change), (story) => judgeChange(plan, change, story))
      })
  })

/** Plans over real sockets, some at a time; each seed has its own of the three clients. */
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

const judged = (plan: Plan, run: Effect.Effect<Story, Broken>) => Effect.tap(run, (story) => judge(plan, story))

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

/** A generator gone dull would make every promise true of nothing: each way to fail must have come up. */
export const isLively = ({ ends, plans, requests, rows, runs }: Figures, each: number): void => {
  if (isReplay) return
  for (const tag of tags) assert.isAtLeast(ends.get(tag) ?? 0, each, tag)
  assert.isAtLeast(ends.get("Stopped") ?? 0, each)
  assert.isAbove(runs, plans * 2)
  assert.isAbove(requests, runs * 2)
  assert.isAbove(rows, plans * 8)
}
