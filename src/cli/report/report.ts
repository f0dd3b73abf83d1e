/** `time-punches report`: a period, or a close, as one page of HTML. */
import type * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import * as Close from "../../close/Close.ts"
import * as CloseReport from "../../close/report.ts"
import { byLocation, type MissingDayRule } from "../../payroll/DayRule.ts"
import * as Report from "../../report/report.ts"
import * as SqlStore from "../../sql/SqlStore.ts"
import { withCopy } from "../database/copy.ts"
import { targetOfCopy } from "../database/database.ts"
import { copyOf, openSource, punchesOf, sourceFlags } from "../database/source.ts"
import { usage } from "../failure.ts"
import { intoOutput, outputFlags } from "../files/output.ts"
import { companyOf } from "../flags/connection.ts"
import { noFilter } from "../flags/filter.ts"
import { formatOf } from "../flags/form.ts"
import { namesFlag, readNames } from "../flags/names.ts"
import { asOf, optionalRounding, orHalfUp, whole } from "../flags/values.ts"
import { printError } from "../print/messages.ts"
import { printText } from "../print/output.ts"
import { defaultMaxShift, maxShift, refuseBeyondCalendar } from "../select/maxShift.ts"
import { refuseBesideClose, requirePeriod, resolvePeriod } from "../select/period.ts"
import { periodFlags } from "../select/periodFlags.ts"
import { disputedIn, disputesUnknown, selectedOf, selectionFlags, selects, widerFilter } from "../select/selection.ts"
import { givenThresholds, thresholdFlags } from "../select/thresholds.ts"
import { makeVerb } from "../verb.ts"

/** What a report of a close takes from its record. */
export const periodInput = {
  ...selectionFlags,
  ...periodFlags,
  ...thresholdFlags,
  maxShift,
  asOf,
  rounding: optionalRounding
}

const reportFlags = {
  ...sourceFlags,
  ...periodInput,
  close: whole(
    "close",
    "ID",
    "Report this close: its revisions, their differences and what each person got; needs a copy, and no period",
    1
  ),
  names: namesFlag,
  ...outputFlags
}

type ReportInput = Command.Command.Config.Infer<typeof reportFlags>

export const verb = makeVerb("report", reportFlags, (flags) => intoOutput(Effect.scoped(run(flags)), flags), {
  text: `Write a period as one page of HTML, for people who look and do not compute.

  The page has hours by day and location, cost by location, hours by person
  with those over a threshold marked, the people
  on the clock by weekday and hour, what check finds, and the sums of summary
  as tables. It is one file without a script that loads nothing: it can be
  sent and printed. It holds wages: only its owner may read a new file of
  --output.

  --close reports a close from its record in the copy: its revisions, their
  differences and what each person got. Dates, zones and
  thresholds are those of the record.`,
  examples: [
    ["report --week 2026-03-02 --zone America/New_York --output week.html", "A payroll week"],
    [
      "report --pay-period last --calendar 14d:2026-01-05 --zone-file zones.csv --names names.csv " +
      "--weekly-threshold 40h --database punches.db --output fortnight.html",
      "The last fortnight from a copy, each location by its own clock"
    ],
    ["report --close 7 --database punches.db --output close-7.html", "A close, with its corrections"]
  ]
})

const run = Effect.fnUntraced(function*(input: ReportInput) {
  yield* Effect.fromResult(formatOf({ format: Option.none(), output: input.output }, ["html"]))
  yield* printText(
    Option.isSome(input.close) ? yield* closePage(input, input.close.value) : yield* periodPage(input)
  )
})

const periodPage = Effect.fnUntraced(function*(input: ReportInput) {
  // The first day of a week is that of the rows of the heat map too.
  const flags = yield* resolvePeriod({ ...noFilter, ...input }, { countsWeeks: true })
  const { dayRule, period } = yield* Effect.fromResult(requirePeriod(flags, "report"))
  const names = yield* readNames(flags.names)
  const knowsDisputes = Option.isNone(yield* copyOf(flags))
  const maxShift = Option.getOrElse(flags.maxShift, () => defaultMaxShift)
  const source = yield* openSource(flags)
  const { id } = yield* companyOf(flags)
  yield* refuseBeyondCalendar(flags, maxShift)
  const selected = selectedOf(flags)
  const list = punchesOf(source)
  const periods = byLocation(dayRule, period)
  const disputed = knowsDisputes ? yield* disputedIn(periods.queryWindow, selected, list) : undefined
  const select = selects(selected)
  let matching = 0
  const options: Report.ReportOptions<MissingDayRule> = {
    dayRule,
    period,
    rounding: orHalfUp(flags.rounding),
    asOf: Option.getOrUndefined(flags.asOf),
    ...yield* Effect.fromResult(givenThresholds(flags)),
    firstDay: Option.getOrUndefined(flags.weekStarts),
    maxDuration: maxShift,
    disputed,
    select,
    // A copy lists by clock-in; a service may list in another order.
    sorted: !knowsDisputes,
    names,
    title: `Labour report of company ${id}`,
    notes: knowsDisputes ? [] : [disputesUnknown]
  }
  const filter = widerFilter(Report.queryWindow(options), selected, flags.clockedIn)
  const punches = list(filter).pipe(Stream.mapArray((punches) => {
    // A punch of a location without a zone is not counted: it fails the report.
    matching += punches.filter((punch) =>
      select(punch) && Result.getOrElse(periods.contains(punch), () => false)
    ).length
    return punches
  }))
  const page = yield* Report.toHtml(punches, options)
  if (matching === 0) yield* printError("no punch matches")
  return page
})

/** A report of a close. Everything else is in its record. */
const closePage = Effect.fnUntraced(function*(input: ReportInput, id: number) {
  yield* refuseBesideClose(input, [...Object.keys(periodInput), "pageSize"])
  if (Option.contains(input.source, "service")) {
    return yield* usage("--close reads a record, and --source service reads no copy", "Give one or the other.")
  }
  const company = yield* companyOf(input)
  const target = yield* targetOfCopy(input.database, "report --close", "Closes are recorded in a copy.")
  const names = yield* readNames(input.names)
  return yield* withCopy(company.id, target, () =>
    Stream.fromEffect(Effect.gen(function*() {
      const close = yield* Close.get(company.id, id)
      const listing = CloseReport.listing(close)
      const otherTerms = Option.isNone(listing) ? [] : (yield* Close.newest(company.id, id)).otherTerms
      const punches = Option.map(listing, ({ at, clockedIn }) => SqlStore.list(company.id, { clockedIn }, { at }))
      return yield* Effect.catchTag(
        CloseReport.toHtml(close, punches, { names, otherTerms, sorted: true }),
        "HistoryUnavailable",
        () => CloseReport.toHtml(close, Option.none<Stream.Stream<never>>(), { names })
      )
    })), input.maxAge).pipe(Stream.runHead, Effect.map(Option.getOrThrow))
})
