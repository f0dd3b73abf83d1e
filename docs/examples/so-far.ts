/** The hours of this week so far, open punches up to now: who comes near 40 hours, and who works overtime today. */
import { DateTime, Duration, Effect, HashMap, Option, Stream } from "effect"
import { type Company, type CompanyId, TimePunches } from "effect-time-punches"
import { Labor, Period } from "effect-time-punches/payroll"

const dayRule = DateTime.zoneMakeNamedUnsafe("America/New_York")

/** An open punch that is older has no clock-out because it was forgotten: to count it up to now would invent hours. */
const longest = Duration.hours(16)

/** Each person with the time of this week, and the time over 8 hours today. */
export const soFar = Effect.fn("soFar")(function*(company: CompanyId | Company) {
  const asOf = yield* DateTime.now
  const today = Period.businessDate(dayRule, asOf)
  const options: Labor.PeriodHoursOptions = {
    dayRule,
    period: (dayRule) => Period.week(dayRule, today),
    weeklyThreshold: "40 hours",
    dailyThreshold: "8 hours"
  }
  const people = yield* TimePunches.list(company, { clockedIn: Labor.queryWindow(options) }).pipe(
    Stream.map((punch) =>
      Option.isNone(punch.clockedOut) && Duration.isLessThan(DateTime.distance(punch.clockedIn, asOf), longest)
        ? { ...punch, clockedOut: Option.some(asOf) }
        : punch
    ),
    Stream.run(Labor.hoursOverThreshold(options))
  )
  return [...HashMap.entries(people)].map(([userId, { days, incomplete, net }]) => ({
    userId,
    week: net,
    overToday: days.find(({ date }) => date === today)?.over ?? Duration.zero,
    // Punches whose time is unknown, such as one without its clock-out: a warning may come too late.
    incomplete
  }))
})

/** Who has worked 36 hours of 40. */
export const nearForty = (company: CompanyId | Company) =>
  Effect.map(
    soFar(company),
    (people) => people.filter(({ week }) => Duration.isGreaterThanOrEqualTo(week, Duration.hours(36)))
  )
