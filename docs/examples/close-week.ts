/** Is a week ready to close? What to look at first, then the sums as CSV: each location by its own clock. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Console, DateTime, Duration, Effect, HashMap, Option, Stream } from "effect"
import { BusinessDate, type Company, type CompanyId, LocationId, TimePunches } from "effect-time-punches"
import { Labor, Period, PeriodCheck } from "effect-time-punches/payroll"
import { app, company } from "./app.ts"

const newYork = DateTime.zoneMakeNamedUnsafe("America/New_York")
const chicago = DateTime.zoneMakeNamedUnsafe("America/Chicago")
const honolulu = DateTime.zoneMakeNamedUnsafe("Pacific/Honolulu")

const zones = Period.dayRules(
  new Map([
    [LocationId.make(301), newYork],
    [LocationId.make(302), newYork],
    [LocationId.make(303), chicago],
    [LocationId.make(304), chicago],
    [LocationId.make(305), honolulu],
    [LocationId.make(306), honolulu]
  ])
)

/** The issues of the week of `date`. Only the service knows which punches are disputed, so it is requested these too. */
export const checkWeek = Effect.fn("checkWeek")(function*(company: CompanyId | Company, date: BusinessDate) {
  const options = { dayRule: zones, period: (dayRule: Period.DayRule) => Period.week(dayRule, date) }
  const clockedIn = PeriodCheck.queryWindow(options)
  const disputed = yield* TimePunches.list(company, { clockedIn, employeeApprovalStatuses: ["disputed"] }).pipe(
    Stream.map((punch) => punch.id),
    Stream.runCollect
  )
  return yield* TimePunches.list(company, { clockedIn }).pipe(
    Stream.run(PeriodCheck.check({ ...options, disputed: new Set(disputed) }))
  )
})

/** The punches of the week of `date`, each in the week of its own location. */
export const punchesOfWeek = (company: CompanyId | Company, date: BusinessDate) => {
  const week = Period.byLocation(zones, (dayRule) => Period.week(dayRule, date))
  return TimePunches.list(company, { clockedIn: week.queryWindow }).pipe(
    Stream.filterEffect((punch) => Effect.fromResult(week.contains(punch)))
  )
}

/** The sums of each user as CSV, with the hours over 40: a figure that a payroll program turns into pay. */
export const sumsOfWeek = Effect.fn("sumsOfWeek")(function*(company: CompanyId | Company, date: BusinessDate) {
  const punches = yield* Stream.runCollect(punchesOfWeek(company, date))
  const run = Stream.fromIterable(punches)
  const sums = yield* Stream.run(run, Labor.rollup((punch) => punch.userId, { rounding: "halfUp" }))
  const hours = yield* Stream.run(run, Labor.hoursOverThreshold({ dayRule: zones, weeklyThreshold: "40 hours" }))
  return Labor.toCsv(sums, {
    columns: {
      user_id: (userId) => userId,
      seconds_above_40h: (userId) =>
        Option.match(HashMap.get(hours, userId), {
          onNone: () => 0,
          onSome: (own) => Duration.toSeconds(own.over)
        })
    },
    newline: "\n"
  })
})

/** Prints how many issues of each kind there are, those that the punches themselves show, and the sums. */
export const printWeek = Effect.fn("printWeek")(function*(company: CompanyId | Company, date: BusinessDate) {
  const issues = yield* checkWeek(company, date)
  for (const kind of PeriodCheck.IssueKind.literals) {
    yield* Console.log(`${kind}: ${issues.filter((issue) => issue.kind === kind).length}`)
  }
  for (const { at, kind, punchId, text, userId } of issues) {
    if (kind === "unapproved" || kind === "disputed") continue
    const local = DateTime.formatIsoOffset(at).slice(0, 16).replace("T", " ")
    yield* Console.log(`${local}, user ${userId}, punch ${punchId}: ${text}`)
  }
  yield* Console.log((yield* sumsOfWeek(company, date)).trimEnd())
})

export const main = Effect.flatMap(company, (id) => printWeek(id, BusinessDate.make("2026-03-09")))

if (import.meta.main) NodeRuntime.runMain(Effect.provide(main, app))
