/** Runs many plans and counts what they did; a plan that breaks a promise is reported with its seed. */
import { reportOf } from "../../support/series.ts"
import { Broken } from "./judge.ts"
import { describePlan, drawPlan, type Plan, type StoreKind } from "./plan.ts"
import { makeRun } from "./run.ts"
import type { Copies, Subject } from "./stores.ts"

/** What a series did. */
export interface Figures {
  plans: number
  calls: number
  requests: number
  commits: number
  /** Copies of past commits that were rebuilt. */
  rebuilt: number
  /** Calls by how they ended. */
  readonly ends: Map<string, number>
}

export type Stores = readonly [StoreKind, ...ReadonlyArray<StoreKind>]

/** Runs the plans of some seeds. Throws at the first broken promise, with how to repeat it. */
export const series = (
  seeds: Iterable<number>,
  options: {
    readonly file: string
    readonly stores: Stores
    readonly subject: Subject
    readonly copies?: (subject: Subject) => Copies
  }
): Figures => {
  const { copies, file, stores, subject } = options
  const figures: Figures = { plans: 0, calls: 0, requests: 0, commits: 0, rebuilt: 0, ends: new Map() }
  for (const seed of seeds) {
    const plan = drawPlan(seed, stores)
    const made = copies?.(subject)
    const run = makeRun(plan, subject, made)
    try {
      const { calls, commits, ends, requests } = run.run()
      figures.rebuilt += made?.atEnd?.() ?? 0
      figures.plans++
      figures.calls += calls
      figures.commits += commits
      figures.requests += requests
      for (const [end, count] of ends) figures.ends.set(end, (figures.ends.get(end) ?? 0) + count)
    } catch (error) {
      const broken = error instanceof Error ? error.message : String(error)
      throw new Error(reportOf(file, seed, broken, describePlan(plan), run.log.slice(-120)), { cause: error })
    }
  }
  return figures
}

/** How many plans of a defective sync end wrong. Stops at the first one where `untilFound`. */
export const countBroken = (
  seeds: Iterable<number>,
  options: {
    readonly stores: Stores
    readonly subject: Subject
    readonly change: (plan: Plan) => Plan
    readonly untilFound: boolean
  }
): { readonly plans: number; readonly broken: number; readonly first: string | undefined } => {
  const { change, stores, subject, untilFound } = options
  let plans = 0
  let broken = 0
  let first: string | undefined
  for (const seed of seeds) {
    plans++
    try {
      makeRun(change(drawPlan(seed, stores)), subject).run()
    } catch (error) {
      if (!(error instanceof Broken)) throw error
      broken++
      first ??= error.message
    }
    if (untilFound && broken > 0) break
  }
  return { plans, broken, first }
}

/** The figures on one line. */
export const line = ({ calls, commits, ends, plans, requests }: Figures, seconds: number): string =>
  `${plans} plans in ${seconds.toFixed(1)} s: ${calls} calls, ${requests} requests, ${commits} commits; ` +
  [...ends].toSorted(([, a], [, b]) => b - a).map(([end, count]) => `${end} ${count}`).join(", ")
