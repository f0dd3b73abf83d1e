/** Runs many plans, collects their figures, and reports the seed to run again after a broken promise. */
import { Cause, Effect } from "effect"
import { reportOf } from "../support/series.ts"
import { describePlan, type Plan } from "./plan.ts"
import type { Broken, Outcome } from "./run.ts"

/** Figures of a series of plans. */
export interface Figures {
  plans: number
  runs: number
  requests: number
  rows: number
  /** Hours by the clock of the service. */
  hours: number
  /** Runs by how they ended: `Done`, `Stopped`, or the tag of the error. */
  readonly ends: Map<string, number>
}

/** Runs the plans of some seeds; dies at the first broken promise, with its seed and the command to repeat it. */
export const series = Effect.fnUntraced(function*(
  seeds: Iterable<number>,
  options: {
    readonly file: string
    readonly draw: (seed: number) => Plan
    readonly run: (plan: Plan) => Effect.Effect<Outcome, Broken>
    readonly concurrency?: number
  }
) {
  const figures: Figures = { plans: 0, runs: 0, requests: 0, rows: 0, hours: 0, ends: new Map() }
  const judged = (seed: number) => {
    const plan = options.draw(seed)
    return Effect.matchCauseEffect(options.run(plan), {
      onFailure: (cause) =>
        Effect.die(new Error(reportOf(options.file, seed, Cause.pretty(cause), describePlan(plan)))),
      onSuccess: (outcome) => Effect.sync(() => add(figures, outcome))
    })
  }
  // Each seed is drawn when its turn comes: `Effect.forEach` draws all of them first, and a limit of time would have no effect.
  const iterator = seeds[Symbol.iterator]()
  const worker = Effect.gen(function*() {
    for (let next = iterator.next(); next.done !== true; next = iterator.next()) yield* judged(next.value)
  })
  yield* Effect.forEach(Array.from({ length: options.concurrency ?? 1 }), () => worker, {
    discard: true,
    concurrency: "unbounded"
  })
  return figures
})

const add = (figures: Figures, { elapsed, ends, requests, rows }: Outcome) => {
  figures.plans++
  figures.runs += ends.length
  figures.requests += requests
  figures.rows += rows.length
  figures.hours += elapsed / 3_600_000
  for (const end of ends) figures.ends.set(end, (figures.ends.get(end) ?? 0) + 1)
}

/** The figures on one line. */
export const line = ({ ends, hours, plans, requests, rows, runs }: Figures, seconds: number): string =>
  `${plans} plans in ${seconds.toFixed(1)} s: ${runs} runs, ${requests} requests, ${rows} rows, ` +
  `${hours.toFixed(0)} h of simulated time; ` +
  [...ends].toSorted(([, a], [, b]) => b - a).map(([end, count]) => `${end} ${count}`).join(", ")
