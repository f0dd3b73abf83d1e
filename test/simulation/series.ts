/** Runs many plans and collects their figures. */
import { Effect } from "effect"
import { runSeries, type Series } from "../support/series.ts"
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
export const series = (
  seeds: Iterable<number>,
  options: Omit<Series<Plan, Broken, never>, "run" | "describe"> & {
    readonly run: (plan: Plan) => Effect.Effect<Outcome, Broken>
  }
): Effect.Effect<Figures> =>
  Effect.suspend(() => {
    const figures: Figures = { plans: 0, runs: 0, requests: 0, rows: 0, hours: 0, ends: new Map() }
    const run = (plan: Plan) => Effect.map(options.run(plan), (outcome) => add(figures, outcome))
    return Effect.as(runSeries(seeds, { ...options, describe: describePlan, run }), figures)
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
