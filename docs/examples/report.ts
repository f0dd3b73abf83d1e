/** The report of a week, and of a close, as pages of HTML. */
import { DateTime, Effect, Option } from "effect"
import { BusinessDate, CompanyId, TimePunches } from "effect-time-punches"
import { Close, CloseNumber } from "effect-time-punches/close"
import { Period } from "effect-time-punches/payroll"
import { Report } from "effect-time-punches/report"
import { PunchCopy } from "effect-time-punches/sql"

const company = CompanyId.make(7)

const options: Report.ReportOptions = {
  dayRule: DateTime.zoneMakeNamedUnsafe("America/New_York"),
  period: (dayRule) => Period.week(dayRule, BusinessDate.make("2026-03-09")),
  rounding: "halfUp",
  weeklyThreshold: "40 hours"
}

/** The page of the week, as one text. */
export const weekPage = Report.toHtml(
  TimePunches.list(company, { clockedIn: Report.queryWindow(options) }),
  options
)

/** The page of close 7, from its record; hours by day and findings from the history, if it has them. */
export const closePage = Effect.gen(function*() {
  const close = yield* Close.get(company, CloseNumber.make(7))
  const punches = Option.map(
    Close.listing(close),
    ({ at, clockedIn }) => PunchCopy.list(company, { clockedIn }, { at })
  )
  return yield* Effect.catchTag(
    Close.toHtml(close, punches),
    "HistoryUnavailable",
    () => Close.toHtml(close, Option.none<never>())
  )
})
