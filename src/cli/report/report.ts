/** `time-punches report`: a period, or a close, as one page of HTML. */
import type * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Stdio from "effect/Stdio"
import * as Stream from "effect/Stream"
import * as Close from "../../close/Close.ts"
import { CloseNumber } from "../../close/ids.ts"
import * as CloseReport from "../../close/report.ts"
import { byLocation, type MissingDayRule } from "../../payroll/DayRule.ts"
import * as Report from "../../report/report.ts"
import * as PunchCopy from "../../sql/PunchCopy.ts"
import { openCopy, withCopy } from "../database/copy.ts"
import { open } from "../database/open.ts"
import { openSource, sourceFlags } from "../database/source.ts"
import { usage } from "../failure.ts"
import { disputedIn, disputesUnknown, selectedOf, selectionFlags, selects, widerFilter } from "../flags/filter.ts"
import { namesFlag } from "../flags/names.ts"
import { intoOutput, outputFlags } from "../flags/output.ts"
import { periodFlags, refuseBesideClose, requirePeriod, resolvePeriod } from "../flags/period.ts"
import {
  asOf,
  defaultMaxShift,
  givenThresholds,
  makeForgotten,
  maxShift,
  optionalRounding,
  orHalfUp,
  refuseBeyondCalendar,
  thresholdFlags
} from "../flags/thresholds.ts"
import { whole } from "../flags/values.ts"
import { printError } from "../print/messages.ts"
import { printText } from "../print/output.ts"
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

/** The form of its result. */
const forms = ["html"] as const

const reportFlags = {
  ...sourceFlags,
  ...periodInput,
  close: whole(
    "close",
    "ID",
    "Report this close: its revisions, their differences and what each person got; needs a copy, and no period",
    1
  ).pipe(Flag.map(Option.map((id) => CloseNumber.make(id)))),
  names: namesFlag,
  ...outputFlags
}

type ReportInput = Command.Command.Config.Infer<typeof reportFlags>

export const verb = makeVerb("report", reportFlags, (flags) => intoOutput(Effect.scoped(writeReport(flags)), flags), {
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

const writeReport = Effect.fnUntraced(function*(input: ReportInput) {
  const { stdoutIsTerminal } = yield* Stdio.Stdio
  if (Option.isNone(input.output) && (yield* stdoutIsTerminal)) {
    return yield* usage(
      "report writes a page of HTML, which a terminal does not show",
      "Add --output FILE.html, and open that; --output - prints it here."
    )
  }
  yield* printText(
    Option.isSome(input.close) ? yield* closePage(input, input.close.value) : yield* periodPage(input)
  )
})

const periodPage = Effect.fnUntraced(function*(input: ReportInput) {
  // The first day of a week is that of the rows of the heat map too.
  const flags = yield* resolvePeriod(input, { countsWeeks: true })
  const { dayRule, period } = yield* requirePeriod(flags, "report")
  const maxShift = Option.getOrElse(flags.maxShift, () => defaultMaxShift)
  const { company, list, names, service } = yield* open(flags, forms, openSource(flags))
  const knowsDisputes = Option.isSome(service)
  yield* refuseBeyondCalendar(flags, maxShift)
  const selected = selectedOf(flags)
  const periods = byLocation(dayRule, period)
  const disputed = knowsDisputes ? yield* disputedIn(periods.queryWindow, selected, list) : undefined
  const select = selects(selected)
  let matching = 0
  const forgotten = makeForgotten(Option.getOrUndefined(flags.asOf), maxShift)
  const options: Report.ReportOptions<MissingDayRule> = {
    dayRule,
    period,
    rounding: orHalfUp(flags.rounding),
    asOf: Option.getOrUndefined(flags.asOf),
    ...yield* givenThresholds(flags),
    firstDay: Option.getOrUndefined(flags.weekStarts),
    maxDuration: maxShift,
    disputed,
    select,
    // A copy lists by clock-in; a service may list in another order.
    sorted: !knowsDisputes,
    names,
    title: `Labour report of company ${company.id}`,
    notes: knowsDisputes ? [] : [disputesUnknown]
  }
  const filter = widerFilter(Report.queryWindow(options), selected, flags.clockedIn)
  const punches = list(filter).pipe(Stream.mapArray((punches) => {
    // A punch of a location without a zone is not counted: it fails the report.
    const matched = punches.filter((punch) => select(punch) && Result.getOrElse(periods.contains(punch), () => false))
    matching += matched.length
    forgotten.add(matched)
    return punches
  }))
  const page = yield* Report.toHtml(punches, options)
  if (matching === 0) yield* printError("no punch matches")
  yield* forgotten.warn
  return page
})

/** A report of a close. Everything else is in its record. */
const closePage = Effect.fnUntraced(function*(input: ReportInput, id: CloseNumber) {
  yield* refuseBesideClose(input, ["pageSize", ...Object.keys(periodInput)])
  if (Option.contains(input.source, "service")) {
    return yield* usage("--close reads a record, and --source service reads no copy", "Give one or the other.")
  }
  const { company, names, target } = yield* open(
    input,
    forms,
    openCopy(input, { command: "report --close", why: ["Closes are recorded in a copy."] })
  )
  return yield* withCopy(company, target, () =>
    Stream.fromEffect(Effect.gen(function*() {
      const close = yield* Close.get(company, id)
      const listing = CloseReport.listing(close)
      const otherTerms = Option.isNone(listing) ? [] : (yield* Close.newest(company, id)).otherTerms
      const punches = Option.map(listing, ({ at, clockedIn }) => PunchCopy.list(company, { clockedIn }, { at }))
      return yield* Effect.catchTag(
        CloseReport.toHtml(close, punches, { names, otherTerms, sorted: true }),
        "HistoryUnavailable",
        () => CloseReport.toHtml(close, Option.none<Stream.Stream<never>>(), { names })
      )
    })), input.maxAge).pipe(Stream.runHead, Effect.map(Option.getOrThrow))
})
