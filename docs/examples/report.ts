/** The report of a week, and of a close, as pages of HTML. */
import { DateTime, Effect, Option } from "effect"
import { BusinessDate, CompanyId, TimePunches } from "effect-time-punches"
import { Close, closeListing, toHtmlCloseReport } from "effect-time-punches/close"
import { Period } from "effect-time-punches/payroll"
import { queryWindow, type ReportOptions, toHtmlReport } from "effect-time-punches/report"
import { PunchCopy } from "effect-time-punches/sql"

const company = CompanyId.make(7)

const options: ReportOptions = {
  dayRule: DateTime.zoneMakeNamedUnsafe("America/New_York"),
  period: (dayRule) => Period.week(dayRule, BusinessDate.make("2026-03-09")),
  rounding: "halfUp",
  weeklyThreshold: "40 hours"
}

/** The page of the week, as one text. */
export const weekPage = toHtmlReport(
  TimePunches.list(company, { clockedIn: queryWindow(options) }),
  options
)

/** The page of close 7, from its record; hours by day and findings from the history, if it has them. */
export const closePage = Effect.gen(function*() {
  const close = yield* Close.get(company, 7)
  const punches = Option.map(
    closeListing(close),
    ({ at, clockedIn }) => PunchCopy.list(company, { clockedIn }, { at })
  )
  return yield* Effect.catchTag(
    toHtmlCloseReport(close, punches),
    "HistoryUnavailable",
    () => toHtmlCloseReport(close, Option.none<never>())
  )
})
