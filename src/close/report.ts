/** A close as one page of HTML: its revisions, their differences and what each person got, always from its record. */
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import type { InvalidRequest } from "../ApiError.ts"
import type { LocationId } from "../Ids.ts"
import { counted } from "../internal/page/amounts.ts"
import type { Html } from "../internal/page/html.ts"
import type { Column, Quantity } from "../internal/page/parts.ts"
import { type DayRule, type DayRules, type Interval, isWithin, MissingDayRule, union } from "../payroll/DayRule.ts"
import type * as Labor from "../payroll/Labor.ts"
import { type Checks, isBoolean, isFunction, isText, must, optional, orFail, refusalOf } from "../payroll/options.ts"
import * as Period from "../payroll/Period.ts"
import * as PeriodCheck from "../payroll/PeriodCheck.ts"
import { figuresOf } from "../report/figures.ts"
import * as Page from "../report/page.ts"
import { byTime, type ReportSums, sumsBy, totalOf } from "../report/sums.ts"
import type { TimePunch } from "../TimePunch.ts"
import { foundText } from "./CloseError.ts"
import * as CloseSums from "./CloseSums.ts"
import * as CloseTerms from "./CloseTerms.ts"
import {
  activeRevisions,
  type ClosedPeriod,
  getPrevious,
  newestRevision,
  type RecordedRevision,
  termsAt
} from "./Revision.ts"

/** What a report of a close lists: the punches of this range, as the copy had them at this instant. */
export interface CloseListing {
  /** The instant of the newest active revision. */
  readonly at: DateTime.Utc
  /** The clock-ins: the days of the close, and what is read around them for overlaps. */
  readonly clockedIn: Interval
}

/** What to list for the report of a close; `None` if none of its revisions is active. */
export const listing = (close: ClosedPeriod): Option.Option<CloseListing> =>
  Option.map(newestRevision(close.revisions), (revision) => {
    const terms = termsAt(close, revision)
    const windows = [CloseTerms.queryWindow(terms), PeriodCheck.windowOf(checkOf(terms))]
    return { at: revision.at, clockedIn: union(windows) }
  })

/** How a close is shown. */
export interface CloseReportOptions extends Pick<PeriodCheck.PeriodCheckOptions, "sorted"> {
  /** The name of an id, such as the name of a person. It is shown as it is, as text. Default: ids only. */
  readonly names?: Page.NameLookup | undefined
  /**
   * The terms of the other closes, as `Close.newest` gives them: a punch right after the close, at a location that opened then,
   * belongs to a later close that has it. Default: none.
   */
  readonly otherTerms?: ReadonlyArray<CloseTerms.CloseTerms> | undefined
  /** The title of the page. Default: the number of the close, its company and its dates. */
  readonly title?: string | undefined
}

const reportChecks: Checks<CloseReportOptions> = {
  sorted: isBoolean,
  names: optional(isFunction()),
  otherTerms: optional(must(Array.isArray, "a list of terms")),
  title: isText
}

/**
 * Writes a close as one HTML file without a script, which loads nothing. Its revisions, their differences, what each person got
 * and all sums are those of the record.
 *
 * Hours by day, people on the clock and findings need the punches that the newest revision summed:
 * `PunchCopy.list(company, { clockedIn }, { at })` with what `listing` gives. `None` leaves these parts out, with a line
 * that says so. The page also says if the hours of the punches are not those of the record.
 *
 * Fails with `SumOverflow` before a sum could be wrong, and with `MissingDayRule` for a punch of the close at a location that its
 * record lacks.
 *
 * **Example** (The report of close 7)
 *
 * ```ts
 * import { Effect, Option } from "effect"
 * import { CompanyId } from "effect-time-punches"
 * import { Close, CloseNumber } from "effect-time-punches/close"
 * import { PunchCopy } from "effect-time-punches/sql"
 *
 * const company = CompanyId.make(7)
 *
 * export const page = Effect.gen(function*() {
 *   const close = yield* Close.get(company, CloseNumber.make(7))
 *   const punches = Option.map(Close.listing(close), ({ at, clockedIn }) =>
 *     PunchCopy.list(company, { clockedIn }, { at }))
 *   return yield* Close.toHtml(close, punches)
 * })
 * ```
 */
export const toHtml = <E, R>(
  close: ClosedPeriod,
  punches: Option.Option<Stream.Stream<TimePunch, E, R>>,
  options: CloseReportOptions = {}
): Effect.Effect<string, E | MissingDayRule | Labor.SumOverflow | InvalidRequest, R> =>
  Effect.gen(function*() {
    yield* orFail(refusalOf(options, reportChecks, close.terms.companyId))
    const { companyId, first, last } = close.terms
    const { names, title = `Close ${close.close} of company ${companyId}: ${first} to ${last}` } = options
    const newest = Option.getOrUndefined(newestRevision(close.revisions))
    const terms = newest === undefined ? close.terms : termsAt(close, newest)
    const sums = newest ?? CloseSums.empty
    const people = peopleOf(sums).toSorted(byTime)
    const locations = sumsBy(sums.rows.map(shownRow), ({ locationId }) => locationId).toSorted(byTime)
    const thresholds = CloseTerms.thresholdsOf(terms)
    const shown = newest === undefined || Option.isNone(punches)
      ? undefined
      : yield* ofPunches(punches.value, terms, options, people)
    const zones = [...new Set(terms.clocks.map(({ zone }) => zone))]
    return yield* Page.documentOf(
      title,
      [
        `By the clocks of ${zones.join("; ")}, as recorded`,
        newest === undefined
          ? "No revision of this close is active: it is over."
          : `The sums are those of revision ${newest.id}, of the copy at ${DateTime.formatIso(newest.at)}.`
      ],
      [
        Page.keyFigures(people, people.length > 0 && shown !== undefined),
        revisionsSection(close),
        ...(people.length === 0 ? [] : [
          gotSection(close, people, names),
          ...(shown === undefined ? [] : [shown.byDay]),
          Page.costSection(locations, names),
          Page.peopleSection(people, thresholds, names),
          ...(shown === undefined ? [] : [shown.presence, shown.issues])
        ]),
        ...(shown !== undefined || newest === undefined ? [] : [
          Page.section(
            "Left out",
            Page.note(
              `Hours by day, people on the clock and issues are left out: the history of the copy does not reach ` +
                `${DateTime.formatIso(newest.at)}, the instant of revision ${newest.id}.`
            )
          )
        ]),
        differencesSection(close, names),
        Page.section(
          "Sums",
          Page.sumsTable("By location", "location", locations, names),
          Page.sumsTable("By person", "user", people, names)
        )
      ]
    )
  })

/** The day rules of the record, for what its instants do not have: the hour of the day, and times in a text. */
const zonesOf = (terms: CloseTerms.CloseTerms): DayRules<MissingDayRule> => {
  const dayRules = terms.clocks.map(({ dayStarts, zone }): DayRule => ({
    zone: Option.getOrThrow(DateTime.zoneFromString(zone)),
    dayStarts
  }))
  return {
    all: dayRules,
    getDayRule: (locationId) => {
      const dayRule = dayRules[CloseTerms.getLocation(terms, locationId)?.clock ?? -1]
      return dayRule === undefined ? Result.fail(new MissingDayRule({ locationId })) : Result.succeed(dayRule)
    }
  }
}

const checkOf = (terms: CloseTerms.CloseTerms) => CloseTerms.checkOptions(terms, zonesOf(terms))

/** What the punches show. `people`: the sums of the record, which the punches must have too. */
const ofPunches = <E, R>(
  punches: Stream.Stream<TimePunch, E, R>,
  terms: CloseTerms.CloseTerms,
  { sorted, names, otherTerms = [] }: CloseReportOptions,
  people: ReadonlyArray<ReportSums>
) =>
  Effect.gen(function*() {
    const check = { ...checkOf(terms), sorted }
    const { getDayRule } = zonesOf(terms)
    const summed = CloseTerms.queryWindow(terms)
    const isOurs = CloseTerms.contains(terms)
    const isInLater = CloseTerms.isInLaterClose(terms, otherTerms)
    const starts = terms.clocks.map(({ starts }) => starts.map(({ epochMilliseconds }) => epochMilliseconds))
    const dayRules = new Map<LocationId, ReturnType<typeof getDayRule>>()
    const figures = yield* figuresOf(
      // Around the close a punch may be at a location that is newer than the record: its findings are not of the close.
      Stream.filter(punches, (punch) =>
        CloseTerms.getLocation(terms, punch.locationId) !== undefined ||
        (isWithin(summed, punch.clockedIn) && !isInLater(punch))),
      {
        placeOf: (punch) => {
          const dayRule = dayRules.get(punch.locationId) ?? getDayRule(punch.locationId)
          dayRules.set(punch.locationId, dayRule)
          return Result.map(dayRule, (dayRule) => {
            const days = starts[CloseTerms.getLocation(terms, punch.locationId)?.clock ?? -1] ?? []
            const day = days.findLastIndex((start) => start <= punch.clockedIn.epochMilliseconds)
            return isOurs(punch)
              ? { date: Option.getOrElse(Period.addDays(terms.daysFrom, day), () => terms.first), dayRule }
              : undefined
          })
        },
        datesOf: () => terms,
        labor: { rounding: terms.rounding },
        hours: undefined,
        check
      }
    )
    const recorded = totalOf(people)
    const isSame = Option.match(figures.total, {
      onNone: () => recorded.punches === 0,
      onSome: ({ cost, net, punches }) =>
        Duration.equals(net, recorded.net) && cost === recorded.cost && punches === recorded.punches
    })
    const notes = [
      "As the copy had the punches when the revision was written. Disputes are not in a copy: only the service knows them.",
      ...(isSame ? [] : [
        "The sums of these punches are not those of the record: time-punches payroll verify says which people differ."
      ])
    ]
    return {
      byDay: Page.hoursByDaySection(figures.days, names),
      presence: Page.presenceSection(figures.presence, terms.firstDay),
      issues: Page.issuesSection(figures.found, names, notes)
    }
  })

/** A row as the tables take it. */
const shownRow = ({ double, over, ...row }: CloseSums.CloseRow) => ({
  ...row,
  over: Option.getOrUndefined(over),
  double: Option.getOrUndefined(double)
})

/** The sums of each person, with the time over the thresholds. */
const peopleOf = ({ rows }: CloseSums.CloseSums): ReadonlyArray<ReportSums> =>
  sumsBy(rows.map(shownRow), ({ userId }) => userId)

/** What a revision has more than the one before it; of a void, what it takes away: all that its revision had more. */
const differenceOf = ({ revisions }: ClosedPeriod, revision: RecordedRevision): CloseSums.CloseSums => {
  const previousOf = (each: RecordedRevision) => Option.getOrElse(getPrevious(revisions, each), () => CloseSums.empty)
  const voided = revisions.find(({ id }) => Option.contains(revision.voids, id))
  return voided === undefined
    ? CloseSums.difference(revision, previousOf(revision))
    : CloseSums.difference(previousOf(voided), voided)
}

/** What is paid, as the tables show it. */
const paid: ReadonlyArray<{ readonly title: string; readonly text: (sums: ReportSums) => Quantity }> = [
  { title: "net", text: ({ net }) => Page.time(net) },
  { title: "cost", text: ({ cost }) => Page.money(cost) },
  { title: "tips", text: ({ tips }) => Page.money(tips) }
]

const nothing = totalOf([])

const revisionsSection = (close: ClosedPeriod): Html => {
  const active = new Set(activeRevisions(close.revisions).map(({ id }) => id))
  const columns: ReadonlyArray<Column<RecordedRevision>> = [
    { title: "revision", cell: ({ id }) => id },
    { title: "kind", cell: ({ kind }) => kind },
    { title: "of", cell: ({ previous, voids }) => Option.getOrElse(Option.orElse(previous, () => voids), () => "") },
    { title: "active", cell: ({ id }) => active.has(id) ? "yes" : "no" },
    {
      title: "written",
      isTime: true,
      cell: ({ closedAt }) => DateTime.formatIso(closedAt).replace(/T(\d\d:\d\d).*/, " $1 UTC")
    },
    { title: "people", isNumber: true, cell: (revision) => Page.count(peopleOf(revision).length) },
    { title: "user", cell: ({ user }) => user },
    { title: "note", cell: ({ note }) => note },
    { title: "accepted", cell: ({ accepted }) => foundText(accepted) }
  ]
  const amounts: ReadonlyArray<Column<RecordedRevision>> = [
    { title: "revision", cell: ({ id }) => id },
    ...paid.flatMap(({ text, title }): ReadonlyArray<Column<RecordedRevision>> => [
      { title, isNumber: true, cell: (revision) => text(totalOf(peopleOf(revision))) },
      {
        title: `${title} due`,
        isNumber: true,
        // Empty unless it is active, so that the column adds up to what was paid.
        cell: (revision) => active.has(revision.id) ? text(totalOf(peopleOf(differenceOf(close, revision)))) : ""
      }
    ])
  ]
  return Page.section(
    "Revisions",
    Page.table(counted(close.revisions.length, "revision"), columns, close.revisions),
    Page.table("What each revision has, and what is due with it", amounts, close.revisions)
  )
}

/** What each person got with each active revision, and in all. */
const gotSection = (
  close: ClosedPeriod,
  people: ReadonlyArray<ReportSums>,
  names: Page.NameLookup | undefined
): Html => {
  const revisions = activeRevisions(close.revisions).map((revision) => ({
    name: revision.id,
    people: new Map(peopleOf(differenceOf(close, revision)).map((person) => [person.key, person]))
  }))
  const keys = new Set([...people.map(({ key }) => key), ...revisions.flatMap(({ people }) => [...people.keys()])])
  const newest = { name: "", people: new Map(people.map((person) => [person.key, person])) }
  const columns: ReadonlyArray<Column<number | string>> = [
    { title: "person", cell: (key) => typeof key === "string" ? key : Page.labelOf("user", key, names) },
    ...[...revisions, newest].flatMap(({ name, people }) =>
      paid.map(({ text, title }): Column<number | string> => ({
        title: `${name} ${title}`.trim(),
        isNumber: true,
        cell: (key) => text(people.get(key) ?? nothing)
      }))
    )
  ]
  return Page.section(
    "What each person got",
    Page.note("With each active revision, what it has more than the one before it; and in all."),
    Page.table("By person and revision", columns, [...keys])
  )
}

const differencesSection = (close: ClosedPeriod, names: Page.NameLookup | undefined): Html =>
  Page.section(
    "Differences",
    ...close.revisions.map((revision) => {
      const { id, previous, voids } = revision
      const of = Option.isSome(voids)
        ? `${voids.value} was not paid`
        : Option.match(previous, { onNone: () => "all of it", onSome: (previous) => `more than ${previous}` })
      return Page.sumsTable(`${id}: ${of}`, "user", peopleOf(differenceOf(close, revision)), names)
    })
  )
