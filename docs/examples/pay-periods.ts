/** The pay periods around a date, by two calendars, and their hours on the clock. It sends nothing. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Console, DateTime, Duration, Effect, Option } from "effect"
import { BusinessDate } from "effect-time-punches"
import { PayCalendar, Period } from "effect-time-punches/payroll"

const newYork = DateTime.zoneMakeNamedUnsafe("America/New_York")

const fortnights = PayCalendar.make({ kind: "days", days: 14, anchor: BusinessDate.make("2026-01-05") })
const halfMonths = PayCalendar.make({ kind: "months", firstDays: [1, 16] })

/** The pay period of a date, and the one before it, by the day rule of a bar that closes at two. */
export const payPeriods = (calendar: PayCalendar, date: BusinessDate) => {
  const dayRule: Period.DayRule = { zone: newYork, dayStarts: "4 hours" }
  const current = Period.payPeriod(calendar, date)
  const before = Option.map(Period.addDays(current.first, -1), (last) => Period.payPeriod(calendar, last))
  return [current, ...Option.toArray(before)].map(({ first, last }) => ({
    first,
    last,
    clockedIn: Period.localDays(dayRule, first, last)
  }))
}

export const main = Effect.gen(function*() {
  for (const calendar of [fortnights, halfMonths]) {
    for (const { clockedIn, first, last } of payPeriods(calendar, BusinessDate.make("2026-03-11"))) {
      const hours = Duration.toHours(DateTime.distance(clockedIn.gte, clockedIn.lt))
      yield* Console.log(`${first} to ${last}: ${hours} hours`)
    }
  }
})

if (import.meta.main) NodeRuntime.runMain(main)
