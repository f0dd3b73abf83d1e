/** Labour cost of a month by location, with the most expensive local day of each. An open punch counts in no sum. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Console, DateTime, Duration, Effect, HashMap, Stream } from "effect"
import { BusinessDate, type Company, type CompanyId, TimePunches } from "effect-time-punches"
import { Labor, Period } from "effect-time-punches/payroll"
import { app, company } from "./app.ts"

const zone = DateTime.zoneMakeNamedUnsafe("America/New_York")

/** The sums by location and local day, in one pass: memory grows with the number of keys, not of punches. */
export const costs = Effect.fn("costs")(function*(company: CompanyId | Company, month: BusinessDate) {
  const dateOf = Period.makeBusinessDate(zone)
  return yield* TimePunches.list(company, { clockedIn: Period.month(zone, month) }).pipe(
    Stream.run(Labor.rollup(
      (punch) => [punch.locationId, dateOf(punch.clockedIn)] as const,
      { rounding: "halfEven" }
    ))
  )
})

/** One line per location. The cents of its days add up to its total, because each punch is rounded once. */
export const printCosts = Effect.fn("printCosts")(function*(company: CompanyId | Company, month: BusinessDate) {
  const days = [...HashMap.entries(yield* costs(company, month))]
  const locations = [...new Set(days.map(([[location]]) => location))].toSorted((a, b) => a - b)
  for (const location of locations) {
    const daysOf = days.filter(([[at]]) => at === location)
    const hours = daysOf.reduce((sum, [, totals]) => sum + Duration.toHours(totals.net), 0)
    const cents = daysOf.reduce((sum, [, totals]) => sum + totals.cost, 0)
    const [dearest] = daysOf.toSorted(([, a], [, b]) => b.cost - a.cost)
    const note = dearest === undefined ? "" : `, most on ${dearest[0][1]}: ${(dearest[1].cost / 100).toFixed(2)}`
    yield* Console.log(`location ${location}: ${hours.toFixed(1)} h, ${(cents / 100).toFixed(2)}${note}`)
  }
})

export const main = Effect.flatMap(company, (id) => printCosts(id, BusinessDate.make("2026-03-01")))

if (import.meta.main) NodeRuntime.runMain(Effect.provide(main, app))
