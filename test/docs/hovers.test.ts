/** What a person sees who hovers over a public name: never nothing, and never only that it is taken from the context. */
import { assert, describe, it } from "@effect/vitest"
import { Fault } from "../../src/testing/index.ts"
import { root } from "./support/examples.ts"
import { readHovers } from "./support/hovers.ts"

const { hovers, internal } = readHovers(root)

describe("a hover over a public name", () => {
  it("is read for exports, statics, members, fields and options", () => {
    const names = hovers.map(({ name }) => name)

    assert.isAbove(names.length, 500)
    assert.includeMembers(names, [
      "TimePunches",
      "TimePunches.list",
      "TimePunches.layer",
      "TimePunch.clockedIn",
      "PunchFilter.clockedIn",
      "RetrySettings.attempts",
      "RateLimited.retryAfter",
      ...Object.keys(Fault).map((name) => `Fault.${name}`),
      "Credentials.sign",
      "Endpoints.layer(options).baseUrl",
      "Period.WeekOptions.firstDay"
    ])
  })

  it("is left out for the few names that the declarations leave out", () => {
    assert.deepStrictEqual(internal.toSorted(), [
      "CloseSums.DetailOptions",
      "CloseSums.DetailedRow",
      "CloseSums.PersonSums",
      "CloseSums.RowDifference",
      "CloseSums.byPerson",
      "CloseSums.detailedSink",
      "CloseSums.difference",
      "CloseSums.empty",
      "CloseSums.equals",
      "CloseSums.makeSums",
      "CloseSums.withoutDetail",
      "CloseTerms.CountedInterval",
      "CloseTerms.Neighbour",
      "CloseTerms.NumberedTerms",
      "CloseTerms.Spans",
      "CloseTerms.alignEdges",
      "CloseTerms.changesFrom",
      "CloseTerms.checkOptions",
      "CloseTerms.contains",
      "CloseTerms.datesOf",
      "CloseTerms.dayRulesOf",
      "CloseTerms.daysAt",
      "CloseTerms.getCountedInterval",
      "CloseTerms.getInterval",
      "CloseTerms.getLocation",
      "CloseTerms.hasOtherDayRule",
      "CloseTerms.isByLocation",
      "CloseTerms.isInLaterClose",
      "CloseTerms.isRuleMap",
      "CloseTerms.overlaps",
      "CloseTerms.plusDays",
      "CloseTerms.refuseOrder",
      "CloseTerms.sharedOf",
      "CloseTerms.spanAt",
      "CloseTerms.spansOf",
      "CloseTerms.termsChecks",
      "CloseTerms.termsOf",
      "CloseTerms.thresholdsOf",
      "CloseTerms.withLocation",
      "CompanySchema",
      "Csv.cellsOf",
      "Csv.writeCsv",
      "Labor.amountOf",
      "Labor.hoursChecks",
      "Labor.laborChecks",
      "Labor.makeClassesBy",
      "Labor.makeRollup",
      "Labor.windowOf",
      "Ndjson.writeNdjson",
      "NodeSqlite.createFile",
      "Period.calendarChecks",
      "Period.dayOf",
      "Period.normalCalendar",
      "PeriodCheck.Finding",
      "PeriodCheck.checkChecks",
      "PeriodCheck.findings",
      "PeriodCheck.isMaxWage",
      "PeriodCheck.issueOf",
      "PeriodCheck.makeCheck",
      "PeriodCheck.windowOf",
      "RevisionName.next",
      "Segment",
      "WorkedTime.breaksOf",
      "WorkedTime.measureChecks",
      "WorkedTime.measureMillis",
      "WorkedTime.paidParts",
      "explain",
      "fingerprint",
      "isRefused",
      "isSegment",
      "refusedInclude",
      "retryAfterOf",
      "segmentOf",
      "textOf"
    ])
  })

  it("has its own text", () => {
    // The fields of a fault's data stand on its constructor, which has the same parameters.
    const ofConstructor = /^Fault\.(?!\w+\()/
    const silent = hovers.filter(({ name, text }) =>
      text.trim() === "" && (!ofConstructor.test(name) || name.slice("Fault.".length) in Fault)
    )

    assert.deepStrictEqual(silent.map(({ file, name }) => `${file}: ${name}`), [])
  })

  it("says what the name means, not where it is taken from", () => {
    const hollow = hovers.filter(({ text }) => text.includes("in the context"))

    assert.deepStrictEqual(hollow.map(({ file, name }) => `${file}: ${name}`), [])
  })
})
