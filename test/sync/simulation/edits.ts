/** How the users of a service change its rows, as a plan has it. */
import type { Prng } from "../../../src/testing/base/prng.ts"
import { hour, minute, pickAny, type Plan } from "./plan.ts"
import { type Change, epoch, type Source } from "./source.ts"

/** Clock-ins of a plan: mostly of the last month, some decades off, many of them alike. */
export const clockIns = { recent: 40 * 24 * hour, decades: 40 * 365 * 24 * hour, tie: 15 * minute }

/** Changes one of the rows, or adds one. */
export const changeRow = (plan: Plan, random: Prng, source: Source): void => {
  const { faults, rows } = plan
  const row = pickAny(random, source.rows)
  if (row === undefined || (random.chance(0.25) && source.rows.length < rows + 15)) {
    addRow(plan, random, source, faults.has("nullModified") && random.chance(0.3) ? "null" : "now")
    return
  }
  const change = (stamp: Change["stamp"], rest: Partial<Change> = {}) =>
    source.change(row, { ...drawChange(plan, random, stamp), ...rest })
  if (!source.exists(row)) {
    if (!faults.has("undelete")) return
    if (random.chance(0.5)) source.restore(row)
    else change("now")
    return
  }
  const kinds: Array<() => void> = [() => change("now")]
  const when = (fault: Parameters<typeof faults.has>[0], act: () => void) => faults.has(fault) && kinds.push(act)
  when("hardDelete", () => change("none"))
  when("softDelete", () => change("now", { deleted: true }))
  when("undelete", () => change("now", { deleted: false }))
  when("nullModified", () => change("null"))
  when("futureModified", () => change("future", { by: random.between(1, 72 * 60) * minute }))
  when("oldModified", () => change("old", { by: -random.between(1, 72 * 60) * minute }))
  when("editBreak", () => change("kept"))
  when("moveClockIn", () => change("now", { moves: true }))
  pickAny(random, kinds)?.()
}

/** Adds a row. Those of the beginning are found by the first load, whatever their stamp. */
export const addRow = (plan: Plan, random: Prng, source: Source, stamp: "initial" | "now" | "null"): void => {
  if (stamp !== "initial") {
    source.change(undefined, drawChange(plan, random, stamp))
    return
  }
  const isNull = plan.faults.has("nullModified") && random.chance(0.4)
  const by = -random.between(1, 1000) * minute
  source.change(undefined, { ...drawChange(plan, random, isNull ? "null" : "old"), by, lag: 0 })
  const row = source.rows.at(-1)
  if (row !== undefined) row.needsSweep = false
}

const drawChange = (plan: Plan, random: Prng, stamp: Change["stamp"]): Change => {
  const span = random.chance(0.1) ? clockIns.decades : clockIns.recent
  return {
    stamp,
    clockedIn: epoch - random.between(0, span / clockIns.tie) * clockIns.tie,
    lag: random.chance(0.5) ? 0 : random.between(0, plan.lateness),
    skew: random.between(-plan.skew, plan.skew)
  }
}
