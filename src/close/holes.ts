/** Time that fell out of every close, and the period to close next. */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { SqlClient } from "effect/sql/SqlClient"
import type { InvalidRequest } from "../ApiError.ts"
import type { CompanyId, LocationId } from "../Ids.ts"
import { isBoolean, orFail, refusalOf } from "../payroll/options.ts"
import type { PayPeriod } from "../payroll/PayCalendar.ts"
import * as Period from "../payroll/Period.ts"
import type { SyncError } from "../sync/SyncError.ts"
import { type Books, inBooks } from "./books.ts"
import { refusal, type UnknownClose } from "./CloseError.ts"
import * as CloseTerms from "./CloseTerms.ts"
import { type ActiveClose, activeOf, type StoredClose } from "./rows.ts"

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
  /** The close whose terms it has: the active one before it, else the one behind it. */
  readonly termsOf: number
  /** The close behind it, if it fell out of every close; `None` if it is behind the last close. */
  readonly followingClose: Option.Option<number>
}

/** Which period is next. */
export interface NextSearch {
  /** Whether the period behind the last close is next, also if time between two closes is in none. Default `false`. */
  readonly acceptGaps?: boolean | undefined
}

/**
 * The period to close next: the oldest one that fell out of every close, else the one behind the last active close. Its length
 * is that of the close before it, or its days of the month; the clocks, the thresholds, the rounding and the first day of the
 * week are those of that close. With `acceptGaps`, always the one behind the last close. A hole that
 * only some locations have cannot be closed as a period of the company, so it is left out: `create` names it as a gap.
 *
 * Fails with `UnknownClose` if no close is active, or if its dates do not say which period follows.
 */
export const next = (
  company: CompanyId,
  search: NextSearch = {}
): Effect.Effect<NextPeriod, InvalidRequest | SyncError | UnknownClose, SqlClient> =>
  Effect.andThen(
    orFail(refusalOf(search, { acceptGaps: isBoolean }, company)),
    inBooks(
      company,
      Effect.fnUntraced(function*(books: Books) {
        const active = books.active.toSorted((one, other) => (one.terms.last < other.terms.last ? -1 : 1))
        const last = active.at(-1)
        if (last === undefined) {
          return yield* refusal(company, "next")(
            "no close is active, so none says what follows: close the first period by its dates"
          )
        }
        const holes = search.acceptGaps === true
          ? []
          : openHoles(books.all).toSorted((one, other) => one.interval.from - other.interval.from)
        for (const { earlier, later } of holes) {
          const dates = datesBetween(earlier, later)
          if (Option.isNone(dates)) continue
          const own = active.find(({ close }) => close === earlier.close)
          const follower = active.find(({ close }) => close === later.close) ?? last
          const period = own === undefined
            ? { ...yield* termsOf(company, follower), ...dates.value }
            : yield* periodAfter(books, own)
          const end = period.last < dates.value.last ? period.last : dates.value.last
          const { termsOf: source, ...options } = { ...period, last: end }
          const terms = CloseTerms.alignEdges(
            CloseTerms.termsOf({ ...options, companyId: company }),
            active.map(({ terms }) => terms)
          )
          if (CloseTerms.overlaps(terms, active).length === 0)
            return { options, termsOf: source, followingClose: Option.some(later.close) }
        }
        const { termsOf: source, ...options } = yield* periodAfter(books, last)
        return { options, termsOf: source, followingClose: Option.none() }
      })
    )
  )

const datesBetween = (earlier: CloseTerms.NumberedTerms, later: CloseTerms.NumberedTerms) =>
  CloseTerms.datesBetween(earlier.terms, later.terms)

/** The period that follows a close, with its terms. */
const periodAfter = Effect.fnUntraced(function*({ active, company }: Books, { close, terms }: ActiveClose) {
  const refuse = refusal(company, `${close}`)
  const previous = active.find((each) => Option.contains(Period.addDays(each.terms.last, 1), terms.first))
  const period = CloseTerms.periodAfter(terms, previous?.terms)
  if (Option.isNone(period))
    return yield* refuse("its dates do not say which period follows: close that one by its dates")
  return { ...yield* termsOf(company, { close, terms }), ...period.value }
})

/** The terms of a close, for another period. */
const termsOf = Effect.fnUntraced(function*(company: CompanyId, { close, terms }: CloseTerms.NumberedTerms) {
  const dayRule = CloseTerms.dayRulesOf(terms)
  if (Option.isNone(dayRule)) {
    return yield* refusal(company, `${close}`)("a zone of its record is not known here")
  }
  const { firstDay, rounding } = terms
  return { dayRule: dayRule.value, firstDay, rounding, ...CloseTerms.thresholdsOf(terms), termsOf: close }
})

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
    : [...active, { close: Infinity, terms: own }]
  return [...CloseTerms.periodsBefore(closes, over), ...CloseTerms.holes(closes)].filter((hole) =>
    !isAccepted(hole) && (own === undefined || hole.earlier.terms.last < own.last)
  )
}
