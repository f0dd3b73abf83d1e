/** Time that fell out of every close, and the period to close next. */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { SqlClient } from "effect/sql/SqlClient"
import type { InvalidRequest } from "../ApiError.ts"
import type { BusinessDate, CompanyId, LocationId } from "../Ids.ts"
import { isBoolean, optional, orFail, refusalOf } from "../payroll/options.ts"
import { type PayCalendar, PayCalendarText, type PayPeriod } from "../payroll/PayCalendar.ts"
import * as Period from "../payroll/Period.ts"
import type { SyncError } from "../sync/SyncError.ts"
import { type Books, inBooks } from "./books.ts"
import { refusal, type UnknownClose } from "./CloseError.ts"
import * as CloseTerms from "./CloseTerms.ts"
import { CloseNumber } from "./ids.ts"
import { endedOf } from "./Revision.ts"
import { activeOf, type StoredClose } from "./rows.ts"

/** Time between two active closes that no close has, or the period of a voided close before all of them, at one location. */
export interface Hole {
  /** The close before it; before all active ones, the voided close that had the period. */
  readonly earlier: number
  /** The close behind it. */
  readonly later: number
  /** The location; `None` stands for every location without a separate day rule. */
  readonly locationId: Option.Option<LocationId>
  /** The instants. */
  readonly interval: Period.Interval
  /** The dates between the two closes; `None` if it is only a part of a day, such as where a zone was corrected. */
  readonly dates: Option.Option<PayPeriod>
}

/**
 * The holes that were not accepted as a `gap`. A period falls out of every close when its first revision is voided: its
 * amounts are not due with any other close, so it must be closed again.
 */
export const holes = (
  company: CompanyId
): Effect.Effect<ReadonlyArray<Hole>, SyncError, SqlClient> =>
  inBooks(company, ({ all }) =>
    Effect.succeed(
      openHoles(all).map(({ earlier, interval, later, locationId }): Hole => ({
        earlier: earlier.close,
        later: later.close,
        locationId: Option.fromUndefinedOr(locationId),
        interval: { gte: DateTime.makeUnsafe(interval.from), lt: DateTime.makeUnsafe(interval.to) },
        dates: datesBetween(earlier, later)
      }))
    ))

/** The terms of a close for another period. */
export interface NextOptions extends Required<Omit<CloseTerms.CloseTermsOptions, "companyId">> {
  /** The first day of a week. */
  readonly firstDay: Period.Weekday
}

/** A period to close, with the terms of another close. */
export interface NextPeriod {
  /** The period and its terms, as `Close.create` takes them. */
  readonly options: NextOptions
  /** The close whose terms it has: the voided one that had the period, else the active one before it. */
  readonly termsOf: CloseNumber
  /** Whether the period is of a voided close; if not, it is behind the last close. */
  readonly isHole: boolean
}

/** Which period is next. */
export interface NextSearch {
  /** Whether the period behind the last close is next, also if a voided close had time that is in none now. Default `false`. */
  readonly acceptGaps?: boolean | undefined
  /** The pay periods from now on. Default: those of the close whose terms it has. */
  readonly calendar?: PayCalendar | undefined
}

/**
 * The period to close next: the oldest days of one voided close that no close has now, with the terms of that close; else the
 * period that begins behind the last active close, by its calendar and with its terms. With `acceptGaps`, always the latter. A hole
 * that only some locations have cannot be closed as a period of the company, so it is left out: `create` names it as a gap.
 *
 * Nothing is guessed. Fails with `UnknownClose` if no close is active or was voided; if the last close has no calendar, and none is
 * given; if no period of the calendar begins behind the last close; and if no close ever had the days of the oldest hole.
 */
export const next = (
  company: CompanyId,
  search: NextSearch = {}
): Effect.Effect<NextPeriod, InvalidRequest | SyncError | UnknownClose, SqlClient> =>
  Effect.andThen(
    orFail(refusalOf(search, { acceptGaps: isBoolean, calendar: optional(Period.calendarChecks.calendar) }, company)),
    inBooks(
      company,
      Effect.fnUntraced(function*(books: Books) {
        const given = Option.map(Option.fromUndefinedOr(search.calendar), Period.normalCalendar)
        const hole = search.acceptGaps === true ? undefined : yield* periodOfHole(books, given)
        return hole ?? (yield* periodBehind(books, given))
      })
    )
  )

/** The days of a hole that one voided close had; without a close, that none ever had. */
interface Run extends PayPeriod {
  readonly owner: CloseTerms.NumberedTerms | undefined
}

/** The days that no active close has at any location, by the voided close that had them. */
const runsOf = (
  { first, last }: PayPeriod,
  active: ReadonlyArray<CloseTerms.NumberedTerms>,
  ended: ReadonlyArray<CloseTerms.NumberedTerms>
): ReadonlyArray<Run> => {
  const has = (date: BusinessDate) => ({ terms }: CloseTerms.NumberedTerms) => terms.first <= date && date <= terms.last
  const edges = [...active, ...ended].flatMap(({ terms }) => [terms.first, CloseTerms.plusDays(terms.last, 1)])
  const begins = [...new Set([first, ...edges])].filter((date) => first <= date && date <= last).toSorted()
  const runs: Array<Run> = []
  for (const [at, begin] of begins.entries()) {
    if (active.some(has(begin))) continue
    const following = begins[at + 1]
    const end = following === undefined ? last : CloseTerms.plusDays(following, -1)
    const owner = ended.findLast(has(begin))
    const before = runs.at(-1)
    if (before?.owner === owner && before !== undefined && CloseTerms.plusDays(before.last, 1) === begin)
      runs.splice(-1, 1, { ...before, last: end })
    else runs.push({ first: begin, last: end, owner })
  }
  return runs
}

const periodOfHole = Effect.fnUntraced(function*(
  { active, all, company }: Books,
  calendar: Option.Option<PayCalendar>
) {
  const refuse = refusal(company, "next")
  const ended = endedOf(all)
  for (const hole of openHoles(all).toSorted((one, other) => one.interval.from - other.interval.from)) {
    const dates = Option.getOrUndefined(datesBetween(hole.earlier, hole.later))
    for (const { owner, ...period } of dates === undefined ? [] : runsOf(dates, active, ended)) {
      const text = `no close has ${period.first} to ${period.last}`
      if (owner === undefined) {
        return yield* refuse(
          `${text}, and none ever had, so it has no terms: close it by its dates, or accept the gap ` +
            `(${[hole.earlier, hole.later].map(termsText).join("; ")})`
        )
      }
      const options = yield* optionsOf(company, owner, period)
      const terms = CloseTerms.alignEdges(
        CloseTerms.termsOf({ ...options, companyId: company }),
        active.map(({ terms }) => terms)
      )
      if (CloseTerms.overlaps(terms, active).length > 0) continue
      if (Option.isSome(calendar) && !Equal.equals(calendar, owner.terms.calendar)) {
        return yield* refuse(
          `${text}, and it has the calendar of close ${owner.close}: leave yours out, or accept the gap`
        )
      }
      return { options, termsOf: owner.close, isHole: true } satisfies NextPeriod
    }
  }
  return undefined
})

/** The period that begins behind the last active close. */
const periodBehind = Effect.fnUntraced(function*({ active, company }: Books, given: Option.Option<PayCalendar>) {
  const refuse = refusal(company, "next")
  const last = active.toSorted((one, other) => (one.terms.last < other.terms.last ? -1 : 1)).at(-1)
  if (last === undefined) {
    return yield* refuse("no close is active, so none says what follows: close the first period by its dates")
  }
  const begin = CloseTerms.plusDays(last.terms.last, 1)
  const calendar = Option.getOrUndefined(Option.orElse(given, () => last.terms.calendar))
  if (calendar === undefined) {
    return yield* refuse(
      `close ${last.close} has no calendar, so it does not say when the period from ${begin} ends: ` +
        "give the calendar too, or close it by its dates"
    )
  }
  const period = Period.payPeriod(calendar, begin)
  if (period.first !== begin) {
    const whole = Period.payPeriod(calendar, CloseTerms.plusDays(period.last, 1))
    return yield* refuse(
      `close ${last.close} ends the day before ${begin}, on which no period of ${calendarText(calendar)} begins: ` +
        `${begin} to ${period.last} is the rest of one, and the next one is ${whole.first} to ${whole.last}; ` +
        "close one of them by its dates, or give another calendar"
    )
  }
  const options = { ...yield* optionsOf(company, last, period), calendar }
  return { options, termsOf: last.close, isHole: false } satisfies NextPeriod
})

const calendarText = Schema.encodeSync(PayCalendarText)

/** What a person copies from a close for another period. */
const termsText = ({ close, terms }: CloseTerms.NumberedTerms): string =>
  `close ${close}: ${Object.entries(CloseTerms.sharedOf(terms)).map(([term, value]) => `${term} ${value}`).join(", ")}`

const datesBetween = (earlier: CloseTerms.NumberedTerms, later: CloseTerms.NumberedTerms) =>
  CloseTerms.datesBetween(earlier.terms, later.terms)

/** The terms of a close, for another period. */
const optionsOf = Effect.fnUntraced(
  function*(company: CompanyId, { close, terms }: CloseTerms.NumberedTerms, period: PayPeriod) {
    const dayRule = CloseTerms.dayRulesOf(terms)
    if (Option.isNone(dayRule)) {
      return yield* refusal(company, `${close}`)("a zone of its record is not known here")
    }
    const { calendar, firstDay, rounding } = terms
    return {
      ...period,
      dayRule: dayRule.value,
      firstDay,
      rounding,
      calendar: Option.getOrUndefined(calendar),
      ...CloseTerms.thresholdsOf(terms)
    } satisfies NextOptions
  }
)

/**
 * The holes between active closes that were not accepted; with the terms of a new close, those before it, as they will be with
 * it: what it leaves behind it is closed after it, so that several periods are closed again one by one. A hole is accepted by
 * a `gap` of a close behind it, which was accepted when both of its closes were there and no other close had time of it.
 * @internal
 */
export const openHoles = (
  all: ReadonlyArray<StoredClose>,
  own?: CloseTerms.CloseTerms
): ReadonlyArray<CloseTerms.HoleBetween<CloseTerms.NumberedTerms>> => {
  const active = activeOf(all)
  const over = all.filter(({ close }) => !active.some((each) => each.close === close))
  const millisOf = ({ closedAt }: StoredClose["revisions"][number]) => closedAt.epochMilliseconds
  const began = new Map<number, number>(
    all.map(({ close, revisions }) => [close, Math.min(...revisions.map(millisOf))])
  )
  const acceptances = all.flatMap(({ close, revisions, terms }) =>
    revisions.flatMap((revision) =>
      revision.accepted["gap"] === undefined
        ? []
        : [{ close, last: terms.last, at: millisOf(revision), isOfAll: revision.kind === "close" }]
    )
  )
  const isAccepted = (hole: CloseTerms.HoleBetween<CloseTerms.NumberedTerms>): boolean => {
    const sides = [hole.earlier.close, hole.later.close]
    const closed = Math.max(...sides.map((close) => began.get(close) ?? Infinity))
    const voided = over.filter(({ terms }) => CloseTerms.touches(terms, hole)).flatMap(({ revisions }) =>
      revisions.map(millisOf)
    )
    return acceptances.some(({ at, close, isOfAll, last }) =>
      at >= closed && at > Math.max(...voided) && (isOfAll ? hole.earlier.terms.last < last : sides.includes(close))
    )
  }
  const closes: ReadonlyArray<CloseTerms.NumberedTerms> = own === undefined
    ? active
    : [...active, { close: CloseNumber.make(0), terms: own }]
  return [...CloseTerms.periodsBefore(closes, over), ...CloseTerms.holes(closes)].filter((hole) =>
    !isAccepted(hole) && (own === undefined || hole.earlier.terms.last < own.last)
  )
}
