/** Weekly payroll: what each user worked in one local week, and the punches that need a review first. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Console, DateTime, Duration, Effect, HashMap, Ref, Stream } from "effect"
import { BusinessDate, type Company, type CompanyId, TimePunches } from "effect-time-punches"
import { Labor, Period, WorkedTime } from "effect-time-punches/payroll"
import { app, company } from "./app.ts"

const zone = DateTime.zoneMakeNamedUnsafe("America/New_York")

/** The week of `date`, Monday to Sunday in local time, in one pass over its punches. */
export const payroll = Effect.fn("payroll")(function*(company: CompanyId | Company, date: BusinessDate) {
  const questions = yield* Ref.make<ReadonlyArray<string>>([])
  const byUser = yield* TimePunches.list(company, { clockedIn: Period.week(zone, date) }).pipe(
    Stream.tap((punch) => {
      const { anomalies } = WorkedTime.measure(punch)
      const question = `punch ${punch.id} of user ${punch.userId}: ${anomalies.join(", ")}`
      return anomalies.length === 0 ? Effect.void : Ref.update(questions, (before) => [...before, question])
    }),
    Stream.run(Labor.rollup((punch) => punch.userId, { rounding: "halfUp" }))
  )
  const lines = [...HashMap.entries(byUser)].map(([user, totals]) => ({ user, totals }))
  return { lines: lines.toSorted((a, b) => a.user - b.user), questions: yield* Ref.get(questions) }
})

/** Prints the payroll as a table. An open punch is counted, but has no hours and no wages yet. */
export const printPayroll = Effect.fn("printPayroll")(function*(company: CompanyId | Company, date: BusinessDate) {
  const { lines, questions } = yield* payroll(company, date)
  yield* Console.log("  user  punches  open    hours     wages      tips")
  for (const { totals: { cost, incomplete, net, punches, tips }, user } of lines) {
    const cells = [user, punches, incomplete, Duration.toHours(net).toFixed(2), dollars(cost), dollars(tips)]
    const widths = [6, 8, 5, 8, 9, 9]
    yield* Console.log(cells.map((cell, column) => String(cell).padStart(widths[column] ?? 0)).join(" "))
  }
  yield* Console.log(`${questions.length} punches to look at`)
  yield* Effect.forEach(questions, (question) => Console.log(`  ${question}`))
})

const dollars = (cents: number) => (cents / 100).toFixed(2)

export const main = Effect.flatMap(company, (id) => printPayroll(id, BusinessDate.make("2026-03-09")))

if (import.meta.main) NodeRuntime.runMain(Effect.provide(main, app))
