/** What `time-punches report` does: lists the punches of the period, or of a close, and writes the page. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import * as Close from "../../close/Close.ts"
import { closeListing, toHtmlCloseReport } from "../../close/report.ts"
import { byLocation, type MissingZone } from "../../payroll/Zones.ts"
import { queryWindow, type ReportOptions, toHtmlReport } from "../../report/report.ts"
import * as SqlStore from "../../sql/SqlStore.ts"
import { withCopy } from "../database/copy.ts"
import { targetOfCopy } from "../database/database.ts"
import { copyOf, openSource, punchesOf } from "../database/source.ts"
import { usage } from "../failure.ts"
import { companyOf } from "../flags/connection.ts"
import { noFilter } from "../flags/filter.ts"
import { readNames } from "../flags/names.ts"
import { formatOf, orHalfUp } from "../flags/values.ts"
import { printError } from "../print/messages.ts"
import { printText } from "../print/output.ts"
import { defaultMaxShift, refuseBeyondCalendar } from "../select/maxShift.ts"
import { refuseBesideClose, requirePeriod, resolvePeriod } from "../select/period.ts"
import { disputedIn, disputesUnknown, selectedOf, selects, widerFilter } from "../select/selection.ts"
import { givenThresholds } from "../select/thresholds.ts"
import { periodInput, type ReportInput } from "./flags.ts"

export const run = Effect.fnUntraced(function*(input: ReportInput) {
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
  const isSelected = selects(selected)
  let matching = 0
  const options: ReportOptions<MissingZone> = {
    dayRule,
    period,
    rounding: orHalfUp(flags.rounding),
    asOf: Option.getOrUndefined(flags.asOf),
    ...yield* Effect.fromResult(givenThresholds(flags)),
    firstDay: Option.getOrUndefined(flags.weekStarts),
    maxDuration: maxShift,
    disputed,
    isSelected,
    // A copy lists by clock-in; a service may list in another order.
    isSorted: !knowsDisputes,
    names,
    title: `Labour report of company ${id}`,
    notes: knowsDisputes ? [] : [disputesUnknown]
  }
  const filter = widerFilter(queryWindow(options), selected, flags.clockedIn)
  const punches = list(filter).pipe(Stream.mapArray((punches) => {
    // A punch of a location without a zone is not counted: it fails the report.
    matching += punches.filter((punch) =>
      isSelected(punch) && Result.getOrElse(periods.contains(punch), () => false)
    ).length
    return punches
  }))
  const page = yield* toHtmlReport(punches, options)
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
      const listing = closeListing(close)
      const otherTerms = Option.isNone(listing) ? [] : (yield* Close.newest(company.id, id)).otherTerms
      const punches = Option.map(listing, ({ at, clockedIn }) => SqlStore.list(company.id, { clockedIn }, { at }))
      return yield* Effect.catchTag(
        toHtmlCloseReport(close, punches, { names, otherTerms, isSorted: true }),
        "HistoryUnavailable",
        () => toHtmlCloseReport(close, Option.none<Stream.Stream<never>>(), { names })
      )
    })), input.maxAge).pipe(Stream.runHead, Effect.map(Option.getOrThrow))
})
