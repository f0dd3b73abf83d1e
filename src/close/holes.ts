/** Time that fell out of every close, and the period to close next. */
import * as Arr from "effect/Array"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { SqlClient } from "effect/sql/SqlClient"
import * as Stream from "effect/Stream"
import type { InvalidRequest } from "../ApiError.ts"
import type { Company } from "../Company.ts"
import type { BusinessDate, CompanyId, LocationId } from "../Ids.ts"
import type * as Amounts from "../payroll/Amounts.ts"
import { isBoolean, optional, orFail, refusalOf } from "../payroll/options.ts"
import { type PayCalendar, PayCalendarText, type PayPeriod } from "../payroll/PayCalendar.ts"
import * as Period from "../payroll/Period.ts"
import * as WorkedTime from "../payroll/WorkedTime.ts"
import { companyIdOf } from "../sql/connection.ts"
import type { SyncError } from "../sync/SyncError.ts"
import { type Books, inBooks } from "./books.ts"
import { refusal, type UnknownClose } from "./CloseError.ts"
import * as CloseTerms from "./CloseTerms.ts"
import type { CloseNumber } from "./ids.ts"
import { type AcceptedGap, endedOf, isMistake, termsAt } from "./Revision.ts"
import { activeOf, type StoredClose } from "./rows.ts"
import { punchesIn } from "./verdict.ts"

/** Time at a location that no close has: between two active closes, or of a voided one. */
export interface Hole {
  /** The active close before it. */
  readonly earlier: Option.Option<CloseNumber>
  /** The active close behind it. */
  readonly later: Option.Option<CloseNumber>
  /** The location; `None` stands for every location without a separate day rule. */
  readonly locationId: Option.Option<LocationId>
  /** Whether all locations of a close beside it have a hole there. */
  readonly isEverywhere: boolean
  /** The instants. */
  readonly interval: Period.Interval
  /** Its dates; `None` if it is only a part of a day, such as where a zone was corrected. */
  readonly dates: Option.Option<PayPeriod>
}

/**
 * The time that fell out of every close and was not accepted as a `gap`. Each instant at a location is as the last event left it: a
 * close takes it, a gap that is accepted lets it go, a void that ends its close opens it. Without one, it is open between two
 * active closes. Its amounts are not due with any other close, so it must be closed again.
 */
export const holes = (
  of: CompanyId | Company
): Effect.Effect<ReadonlyArray<Hole>, SyncError, SqlClient> =>
  inBooks(of, ({ all }) =>
    Effect.succeed(
      Object.values(Arr.groupBy(openHoles(all), besideOf)).flatMap((group) =>
        group.map(({ dates, earlier, interval, later, locationId }): Hole => ({
          earlier: Option.map(Option.fromUndefinedOr(earlier), ({ close }) => close),
          later: Option.map(Option.fromUndefinedOr(later), ({ close }) => close),
          locationId: Option.fromUndefinedOr(locationId),
          isEverywhere: isEverywhere(group, [earlier, later]),
          interval: intervalOf(interval),
          dates
        }))
      )
    ))

/** The closes beside a time, and its dates or instants: times with the same text are one to a person. @internal */
export const besideOf = ({ dates, earlier, interval, later }: Time): string =>
  [earlier?.close, later?.close, Option.match(dates, { onNone: () => interval.from, onSome: ({ first }) => first })]
    .join(" ")

/** Whether each location of one of the closes is among those that were found. @internal */
export const isEverywhere = (
  found: ReadonlyArray<Pick<CloseTerms.Neighbour<unknown>, "locationId">>,
  closes: ReadonlyArray<Pick<CloseTerms.NumberedTerms, "terms"> | undefined>
): boolean => {
  const ids = new Set(found.map(({ locationId }) => locationId))
  return closes.some((each) => each?.terms.locations.every((its) => ids.has(Option.getOrUndefined(its.locationId))))
}

const intervalOf = ({ from, to }: CloseTerms.MillisInterval): Period.Interval => ({
  gte: DateTime.makeUnsafe(from),
  lt: DateTime.makeUnsafe(to)
})

/** Time that came into an accepted gap after it was accepted: it is due with no close. */
export interface LateTime {
  /** The close that accepted the gap. */
  readonly close: CloseNumber
  /** The location; `None` stands for every location without a separate day rule. */
  readonly locationId: Option.Option<LocationId>
  /** The instants of the gap. */
  readonly interval: Period.Interval
  /** Number of punches more than when it was accepted. */
  readonly punches: number
  /** Paid time more than when it was accepted. */
  readonly net: Duration.Duration
}

/** The accepted gaps whose punches or paid time are more than when they were accepted, until a close has them. */
export const lateTime = (
  of: CompanyId | Company
): Effect.Effect<ReadonlyArray<LateTime>, SyncError, SqlClient> =>
  inBooks(
    of,
    Effect.fnUntraced(function*(books: Books) {
      const times = timesOf(books.all)
      const late: Array<LateTime> = []
      for (const gap of new Set(times.flatMap((each) => each.gap ?? []))) {
        const parts = times.filter((each) => each.gap === gap)
        const measured = (at?: DateTime.Utc) =>
          measure(books, parts, at).pipe(
            Effect.map(totalOf),
            // What is not known any more counts as nothing: it is named rather than missed.
            Effect.catchTag("HistoryUnavailable", () => Effect.succeed(totalOf([])))
          )
        const now = yield* measured()
        // A close that took a part of the gap took a part of its punches.
        const isWhole = parts.every(({ interval }) => interval.from === gap.from && interval.to === gap.to)
        const then = isWhole
          ? { punches: gap.punches, net: Duration.toMillis(gap.net) }
          : yield* measured(gap.at)
        const [punches, net] = [now.punches - then.punches, now.net - then.net]
        if (punches <= 0 && net <= 0) continue
        const { close, locationId } = gap
        late.push({ close, locationId, interval: intervalOf(gap), punches, net: Duration.millis(net) })
      }
      return late
    })
  )

type Measured = Pick<Amounts.Amounts, "net" | "punches">

const totalOf = (measured: ReadonlyArray<Measured>): Measured =>
  measured.reduce((sum, { net, punches }) => ({ punches: sum.punches + punches, net: sum.net + net }), {
    punches: 0,
    net: 0
  })

/** The punches that were clocked in at each of these times, and their paid time. */
const measure = Effect.fnUntraced(function*(
  { active, all, company }: Books,
  times: ReadonlyArray<Time>,
  at?: DateTime.Utc
) {
  const named = [...all, ...active].flatMap(({ terms }) => Array.from(CloseTerms.spansOf(terms).keys()))
  const known = new Set([...named, ...times.map(({ locationId }) => locationId)])
  const sums = times.map(({ interval: { from, to }, locationId }) => ({ from, to, locationId, punches: 0, net: 0 }))
  const windows: Array<{ from: number; to: number }> = []
  for (const { from, to } of sums.toSorted((one, other) => one.from - other.from)) {
    const last = windows.at(-1)
    if (last !== undefined && from <= last.to) last.to = Math.max(last.to, to)
    else windows.push({ from, to })
  }
  const byLocation = Arr.groupBy(sums, ({ locationId }) => `${locationId}`)
  for (const window of windows) {
    yield* Stream.runForEach(punchesIn(company, intervalOf(window), { at }), (punch) =>
      Effect.sync(() => {
        const millis = punch.clockedIn.epochMilliseconds
        const locationId = known.has(punch.locationId) ? punch.locationId : undefined
        for (const sum of byLocation[`${locationId}`] ?? []) {
          if (millis < sum.from || millis >= sum.to) continue
          sum.punches += 1
          sum.net += WorkedTime.measureMillis(punch).times?.net ?? 0
        }
      }))
  }
  return sums
})

/** The gaps as a revision records them, with what lies in each now. @internal */
export const acceptedGaps = (books: Books, gaps: ReadonlyArray<Time>) =>
  Effect.map(
    measure(books, gaps),
    (measured) =>
      gaps.map(({ interval: { from, to }, locationId, voided }, place): AcceptedGap => ({
        locationId: Option.fromUndefinedOr(locationId),
        from: DateTime.makeUnsafe(from),
        to: DateTime.makeUnsafe(to),
        voided,
        punches: measured[place]?.punches ?? 0,
        net: Duration.millis(measured[place]?.net ?? 0)
      }))
  )

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
  of: CompanyId | Company,
  search: NextSearch = {}
): Effect.Effect<NextPeriod, InvalidRequest | SyncError | UnknownClose, SqlClient> =>
  Effect.andThen(
    orFail(
      refusalOf(search, { acceptGaps: isBoolean, calendar: optional(Period.calendarChecks.calendar) }, companyIdOf(of))
    ),
    inBooks(
      of,
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
  const times = timesOf(all)
  const isFree = (terms: CloseTerms.CloseTerms) => {
    const spans = CloseTerms.spansOf(terms)
    return CloseTerms.overlaps(terms, active).length === 0 &&
      !times.some(({ gap, interval, locationId }) => {
        const own = gap && CloseTerms.spanAt(spans, locationId)
        return own !== undefined && own.from < interval.to && interval.from < own.to
      })
  }
  const open = times.filter(({ gap }) => gap === undefined)
  for (const { dates, earlier, later } of open.toSorted((one, other) => one.interval.from - other.interval.from)) {
    for (const { owner, ...period } of Option.isNone(dates) ? [] : runsOf(dates.value, active, ended)) {
      const text = `no close has ${period.first} to ${period.last}`
      if (owner === undefined) {
        const beside = [earlier, later].flatMap((each) => each === undefined ? [] : [termsText(each)])
        return yield* refuse(
          `${text}, and none ever had, so it has no terms: close it by its dates, or accept the gap (${
            beside.join("; ")
          })`
        )
      }
      const options = yield* optionsOf(company, owner, period)
      const terms = CloseTerms.termsOf({ ...options, companyId: company })
      if (!isFree(CloseTerms.alignEdges(terms, active.map(({ terms }) => terms)))) continue
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
  `close ${close}: ${
    Object.entries(CloseTerms.sharedOf(terms)).flatMap(([term, value]) => value === null ? [] : [`${term} ${value}`])
      .join(", ")
  }`

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

/** A gap that a revision accepted. */
interface Gap extends Omit<AcceptedGap, "from" | "to">, CloseTerms.MillisInterval {
  readonly close: CloseNumber
  /** The instant of the copy whose punches it counts. */
  readonly at: DateTime.Utc
  readonly isAt: (locationId: LocationId | undefined) => boolean
}

const gapsOf = (all: ReadonlyArray<StoredClose>): ReadonlyArray<Gap> =>
  all.filter((each) => !isMistake(each)).flatMap((each) =>
    each.revisions.filter(({ added }) => added.gaps.length > 0).flatMap((revision) => {
      const own = CloseTerms.spansOf(termsAt(each, revision))
      return revision.added.gaps.map((gap): Gap => ({
        ...gap,
        close: each.close,
        at: revision.at,
        from: gap.from.epochMilliseconds,
        to: gap.to.epochMilliseconds,
        isAt: (locationId) =>
          Option.match(gap.locationId, {
            onNone: () => locationId === undefined || !own.has(locationId),
            onSome: (id) => locationId === id
          })
      }))
    })
  )

/** Time at a location that no active close has. @internal */
export interface Time {
  /** The active closes before it and behind it. */
  readonly earlier: CloseTerms.NumberedTerms | undefined
  readonly later: CloseTerms.NumberedTerms | undefined
  /** `undefined` for every location without its own entry. */
  readonly locationId: LocationId | undefined
  readonly interval: CloseTerms.MillisInterval
  readonly dates: Option.Option<PayPeriod>
  /** The voided closes that had some of it. */
  readonly voided: ReadonlyArray<CloseNumber>
  /** The gap that let it go; open without one. */
  readonly gap: Gap | undefined
}

/** A close at a location. */
interface Placed extends CloseTerms.MillisInterval {
  readonly of: CloseTerms.NumberedTerms
}

/** The time that no active close has, and that is open or was let go of, location by location. */
const timesOf = (
  all: ReadonlyArray<StoredClose>,
  active: ReadonlyArray<CloseTerms.NumberedTerms> = activeOf(all)
): ReadonlyArray<Time> => {
  const placed = (closes: ReadonlyArray<CloseTerms.NumberedTerms>) =>
    closes.map((of) => ({ of, spans: CloseTerms.spansOf(of.terms) }))
  const [taken, ended, mistakes] = [placed(active), placed(endedOf(all)), placed(all.filter(isMistake))]
  const gaps = gapsOf(all)
  const locationIds = new Set([...taken, ...ended].flatMap(({ spans }) => Array.from(spans.keys())))
  return [...locationIds].flatMap((locationId) => {
    const at = (closes: typeof taken) =>
      closes.flatMap(({ of, spans }): ReadonlyArray<Placed> => {
        const span = CloseTerms.spanAt(spans, locationId)
        return span === undefined ? [] : [{ of, ...span }]
      })
    return timesAt(
      locationId,
      at(taken).toSorted((one, other) => one.from - other.from),
      at(ended),
      at(mistakes),
      gaps.filter(({ isAt }) => isAt(locationId))
    )
  })
}

const timesAt = (
  locationId: LocationId | undefined,
  taken: ReadonlyArray<Placed>,
  ended: ReadonlyArray<Placed>,
  mistakes: ReadonlyArray<Placed>,
  gaps: ReadonlyArray<Gap>
): ReadonlyArray<Time> => {
  const edges = [...taken, ...ended, ...mistakes]
  /** Of an instant at which a close begins or ends: a gap that was accepted beside a mistake begins or ends with it. */
  const dateOf = (instant: number) => {
    const edge = edges.find(({ from, to }) => from === instant || to === instant)
    return edge?.to === instant ? CloseTerms.plusDays(edge.of.terms.last, 1) : edge?.of.terms.first
  }
  const datesOf = ({ from, to }: CloseTerms.MillisInterval): Option.Option<PayPeriod> => {
    const [first, end] = [dateOf(from), dateOf(to)]
    return first !== undefined && end !== undefined && first < end
      ? Option.some({ first, last: CloseTerms.plusDays(end, -1) })
      : Option.none()
  }
  const times: Array<Omit<Time, "dates">> = []
  let from = -Infinity
  for (let place = 0; place <= taken.length; place++) {
    const [before, behind] = [taken[place - 1], taken[place]]
    const to = behind?.from ?? Infinity
    const parts = [...ended, ...gaps].filter((each) => each.from < to && from < each.to)
    const isBetween = before !== undefined && behind !== undefined
    const cuts = [...new Set([from, to, ...parts.flatMap((each) => [each.from, each.to])])]
      .filter((cut) => Number.isFinite(cut) && from <= cut && cut <= to)
      .toSorted((one, other) => one - other)
    for (const [at, begin] of cuts.entries()) {
      const end = cuts[at + 1]
      if (end === undefined) break
      const has = (each: CloseTerms.MillisInterval) => each.from <= begin && end <= each.to
      const voided = ended.filter(has).map(({ of }) => of.close)
      // A close that was voided later is not among those that the gap knew.
      const gap = gaps.findLast((each) => has(each) && voided.every((close) => each.voided.includes(close)))
      if (gap === undefined && voided.length === 0 && !isBetween) continue
      const last = times.at(-1)
      const isMore = last?.interval.to === begin && last.gap === gap
      times.splice(isMore ? -1 : times.length, 1, {
        earlier: before?.of,
        later: behind?.of,
        locationId,
        interval: { from: isMore ? last.interval.from : begin, to: end },
        voided: isMore ? [...new Set([...last.voided, ...voided])] : voided,
        gap
      })
    }
    from = Math.max(from, behind?.to ?? Infinity)
  }
  return times.map((each): Time => Object.assign(each, { dates: datesOf(each.interval) }))
}

/** The open times, with these active closes. @internal */
export const openHoles = (
  all: ReadonlyArray<StoredClose>,
  active?: ReadonlyArray<CloseTerms.NumberedTerms>
): ReadonlyArray<Time> => timesOf(all, active).filter(({ gap }) => gap === undefined)

/**
 * The holes that a new close leaves behind it: what lies after it is closed after it, so that several periods are closed again one
 * by one. @internal
 */
export const holesBefore = (
  { active, all }: Books,
  close: CloseNumber,
  terms: CloseTerms.CloseTerms
): ReadonlyArray<Time> => {
  const spans = CloseTerms.spansOf(terms)
  const end = Math.max(...Array.from(spans.values(), ({ to }) => to))
  return openHoles(all, [...active, { close, terms }]).filter(({ dates, interval, locationId }) =>
    Option.match(dates, {
      onNone: () => interval.from < (CloseTerms.spanAt(spans, locationId)?.to ?? end),
      onSome: ({ first }) => first <= terms.last
    })
  )
}
