/** The terms of a close: its days as instants, and how it lies beside other closes: intervals, edges, overlaps and gaps. */
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Struct from "effect/Struct"
import type { InvalidRequest } from "../ApiError.ts"
import { BusinessDate, CompanyId, LocationId } from "../Ids.ts"
import { dayMillis } from "../internal/wire/instant.ts"
import { Instant, Seconds } from "../internal/wire/schema.ts"
import {
  type DayRule,
  dayRuleKey,
  type DayRules,
  dayStartsOf,
  isDayRule,
  type MillisInterval,
  type MissingDayRule,
  zoneOf
} from "../payroll/DayRule.ts"
import { countsWeeks, hasOver, type Thresholds } from "../payroll/hourClasses.ts"
import { Rounding } from "../payroll/Labor.ts"
import {
  type Checks,
  isDate,
  isFiniteThreshold,
  must,
  optional,
  refusalOf,
  word,
  type Wrong,
  wrong
} from "../payroll/options.ts"
import { type PayCalendar, PayCalendarText } from "../payroll/PayCalendar.ts"
import * as Period from "../payroll/Period.ts"
import * as PeriodCheck from "../payroll/PeriodCheck.ts"
import type { TimePunch } from "../TimePunch.ts"
import type { CloseNumber } from "./ids.ts"

export type { MillisInterval } from "../payroll/DayRule.ts"

/** The days by one day rule, as instants: a later change of the zone's rules does not move them. */
export const CloseClock = Schema.Struct({
  /** The time zone that the days were counted by. */
  zone: Schema.String,
  /** When a business day begins, after midnight, or before it if negative. */
  dayStarts: Seconds,
  /** The first instant of each day from `CloseTerms.daysFrom` to `last`, and of the day after `last`. */
  starts: Schema.Array(Instant)
})

export type CloseClock = typeof CloseClock.Type

/** A location of a close, and its clock. */
export const CloseLocation = Schema.Struct({
  /** The location; `None` stands for every location without its own entry. */
  locationId: Schema.OptionFromNullOr(LocationId),
  /** The place of its clock in `CloseTerms.clocks`. */
  clock: Schema.Natural,
  /** The first instant of the close at this location, if it is not the beginning of `first`. */
  begins: Schema.OptionFromNullOr(Instant)
})

export type CloseLocation = typeof CloseLocation.Type

/** What all revisions of a close share: its period, its days, and how it is summed. */
export const CloseTerms = Schema.Struct({
  /** The company. A close is of all its locations. */
  companyId: CompanyId,
  /** The first date of the period. */
  first: BusinessDate,
  /** The last date of the period. */
  last: BusinessDate,
  /** The date of the first instant in `CloseClock.starts`: a week that the period cuts is read from its first day. */
  daysFrom: BusinessDate,
  /** The first day of a week. */
  firstDay: Period.Weekday,
  /** How a fraction of a cent is rounded. */
  rounding: Rounding,
  /** The threshold of a week. */
  weeklyThreshold: Schema.OptionFromNullOr(Seconds),
  /** The threshold of a day. */
  dailyThreshold: Schema.OptionFromNullOr(Seconds),
  /** The second threshold of a day. */
  doubleThreshold: Schema.OptionFromNullOr(Seconds),
  /** How much of a seventh day is `over`, before it is `double`. `None` without the rule. */
  seventhDay: Schema.OptionFromNullOr(Seconds),
  /** The pay periods, of which one begins behind `last`; equal calendars have equal texts. `None` for free dates. */
  calendar: Schema.OptionFromNullOr(PayCalendarText),
  /** The clocks of the locations, each once. */
  clocks: Schema.Array(CloseClock),
  /** The locations of the close. */
  locations: Schema.Array(CloseLocation)
})

export type CloseTerms = typeof CloseTerms.Type

/** The period of a close, and how it is summed. */
export interface CloseTermsOptions extends Thresholds {
  /** The company. */
  readonly companyId: CompanyId
  /** The first date of the period. */
  readonly first: BusinessDate
  /** The last date of the period. */
  readonly last: BusinessDate
  /** One day rule for all locations, or a map with one for each location. `Period.dayRules` has no list for the record. */
  readonly dayRule: DayRule | ReadonlyMap<LocationId, DayRule>
  /** The first day of a week. Default: `"monday"`. */
  readonly firstDay?: Period.Weekday | undefined
  /** How a fraction of a cent is rounded. */
  readonly rounding: Rounding
  /** The pay periods, of which `Close.next` gives the one behind this close. Default: none, for free dates. */
  readonly calendar?: PayCalendar | undefined
}

/** The thresholds of a close, as they are given to `make` and to `Labor`. @internal */
export const thresholdsOf = (terms: CloseTerms): Required<Thresholds> => ({
  weeklyThreshold: Option.getOrUndefined(terms.weeklyThreshold),
  dailyThreshold: Option.getOrUndefined(terms.dailyThreshold),
  doubleThreshold: Option.getOrUndefined(terms.doubleThreshold),
  seventhDay: Option.getOrUndefined(terms.seventhDay)
})

/** A term that differs between two closes: by another threshold, a week that both have would count hours twice, or not at all. */
export interface TermChange {
  /** The other close. */
  readonly close: CloseNumber
  /** The term. */
  readonly term: typeof shared[number]
  /** Its value in the other close, as in JSON: seconds, a word, or `null` without one. */
  readonly other: string | number | null
  /** Its value in this close. */
  readonly now: string | number | null
}

const shared = [
  "weeklyThreshold",
  "dailyThreshold",
  "doubleThreshold",
  "seventhDay",
  "rounding",
  "firstDay",
  "calendar"
] as const

/** The terms in which a close differs from another one. @internal */
export const changesFrom = ({ close, terms }: NumberedTerms, now: CloseTerms): ReadonlyArray<TermChange> => {
  const [other, own] = [sharedOf(terms), sharedOf(now)]
  return shared.flatMap((term) => {
    const change = { close, term, other: other[term], now: own[term] }
    // Free dates have no calendar to differ in.
    const isSame = change.other === change.now || (term === "calendar" && (!change.other || !change.now))
    return isSame ? [] : [change]
  })
}

/** The terms without dates and clocks, as in JSON. @internal */
export const sharedOf = (terms: CloseTerms): Record<typeof shared[number], string | number | null> =>
  Struct.pick(Schema.encodeSync(CloseTerms)({ ...terms, clocks: [], locations: [] }), shared)

/** Whether there is a day rule for each location. @internal */
export const isByLocation = (
  dayRule: CloseTermsOptions["dayRule"]
): dayRule is ReadonlyMap<LocationId, DayRule> => Predicate.isIterable(dayRule)

const isRuleOrMap = (dayRule: CloseTermsOptions["dayRule"]): Wrong | undefined =>
  isByLocation(dayRule) ? isRuleMap(dayRule) : isDayRule(dayRule)

/** A day rule for each location. @internal */
export const isRuleMap = (dayRules: ReadonlyMap<LocationId, DayRule>): Wrong | undefined => {
  if (!Predicate.isMap(dayRules)) return wrong("must be a map from locations to day rules")
  for (const [locationId, each] of dayRules) {
    const found = Schema.is(LocationId)(locationId) ? isDayRule(each) : wrong("must be of a location id")
    if (found !== undefined) return wrong(found.detail, `[${locationId}]${found.at}`)
  }
  return undefined
}

/** The weeks beside the first and the last of them are dates of the calendar too. */
const isDateBetween: typeof isDate = (date) =>
  isDate(date) ??
    (date < "0001-02-01" || date > "9999-11-30" ? wrong("must be from 0001-02-01 to 9999-11-30") : undefined)

/** What the options of a close must be, except the order of its dates. @internal */
export const termsChecks: Checks<Omit<CloseTermsOptions, "companyId">> = {
  first: isDateBetween,
  last: isDateBetween,
  dayRule: isRuleOrMap,
  firstDay: optional(word(Period.Weekday.literals)),
  rounding: word(Rounding.literals),
  calendar: optional(Period.calendarChecks.calendar),
  weeklyThreshold: optional(isFiniteThreshold),
  dailyThreshold: optional(isFiniteThreshold),
  doubleThreshold: optional(isFiniteThreshold),
  seventhDay: optional(isFiniteThreshold)
}

/** Refuses a period that ends before it begins. @internal */
export const refuseOrder = ({ first, last }: Pick<CloseTerms, "first" | "last">, companyId: CompanyId) =>
  refusalOf({ last }, { last: must((last) => first <= last, "the first date or a later one") }, companyId)

/**
 * The terms of a close: the days of the period as instants, from the first week that it may cut. Fails with `InvalidRequest` for a
 * key that does not exist, a threshold below a minute, a word that is none, and a last date before the first.
 */
export const make = (options: CloseTermsOptions): Result.Result<CloseTerms, InvalidRequest> => {
  const { companyId, ...given } = options
  const refusal = refusalOf(given, termsChecks, companyId) ?? refuseOrder(given, companyId)
  return refusal === undefined ? Result.succeed(termsOf(options)) : Result.fail(refusal)
}

/** The terms of options that were checked. @internal */
export const termsOf = (options: CloseTermsOptions): CloseTerms => {
  const { companyId, dayRule, first, firstDay = "monday", last, rounding } = options
  const threshold = (input: Duration.Input | undefined) =>
    Option.map(Option.fromUndefinedOr(input), Duration.fromInputUnsafe)
  // A beginning may be moved by less than 48 hours, so that three days before the period may hold some of its punches.
  const earliest = plusDays(first, -3)
  const daysFrom = countsWeeks(options) ? Period.firstDateOfWeek(earliest, { firstDay }) : earliest
  const clocks: Array<CloseClock> = []
  const places = new Map<string, number>()
  const placeOf = (dayRule: DayRule): number => {
    const key = dayRuleKey(dayRule)
    // Many locations share a clock, and the days of one take some time to find.
    const place = places.get(key) ?? clocks.push(closeClock(dayRule, daysFrom, last)) - 1
    places.set(key, place)
    return place
  }
  const entries = isByLocation(dayRule)
    ? [...dayRule].toSorted(([one], [other]) => one - other)
    : [[undefined, dayRule] as const]
  const locations = entries.map(([locationId, dayRule]): CloseLocation => ({
    locationId: Option.fromUndefinedOr(locationId),
    clock: placeOf(dayRule),
    begins: Option.none()
  }))
  return {
    companyId,
    first,
    last,
    daysFrom,
    firstDay,
    rounding,
    weeklyThreshold: threshold(options.weeklyThreshold),
    dailyThreshold: threshold(options.dailyThreshold),
    doubleThreshold: threshold(options.doubleThreshold),
    seventhDay: threshold(options.seventhDay),
    calendar: Option.map(Option.fromUndefinedOr(options.calendar), Period.normalCalendar),
    clocks,
    locations
  }
}

/** The entry of a location: its own, or the one that stands for every other. @internal */
export const getLocation = (
  { locations }: CloseTerms,
  locationId: LocationId | undefined
): CloseLocation | undefined =>
  locations.find((each) => Option.contains(each.locationId, locationId)) ??
    locations.find((each) => Option.isNone(each.locationId))

/** The instants of the close at a location; `undefined` if the close does not have the location. @internal */
export const getInterval = (terms: CloseTerms, locationId: LocationId): MillisInterval | undefined => {
  const location = getLocation(terms, locationId)
  return location === undefined ? undefined : intervalAt(terms, location)
}

type ClockIn = Pick<TimePunch, "clockedIn" | "locationId">

/** Whether a punch was clocked in during the close, by the day rule of its location. @internal */
export const contains = (terms: CloseTerms): (punch: ClockIn) => boolean => {
  const intervals = new Map<LocationId, MillisInterval | undefined>()
  return ({ clockedIn: { epochMilliseconds: at }, locationId }) => {
    if (!intervals.has(locationId)) intervals.set(locationId, getInterval(terms, locationId))
    const interval = intervals.get(locationId)
    return interval !== undefined && interval.from <= at && at < interval.to
  }
}

/**
 * Whether a punch is in a close after this one. A location that opens right after a close has its first punches in the `window`
 * of that close: they are not of it as soon as the next close has the location. @internal
 */
export const isInLaterClose = (
  { last }: CloseTerms,
  others: ReadonlyArray<CloseTerms>
): (punch: ClockIn) => boolean => {
  const later = others.filter(({ first }) => first > last).map(contains)
  return (punch) => later.some((isIn) => isIn(punch))
}

/** What `PeriodCheck` looks for in a close. @internal */
export const checkOptions = (
  terms: CloseTerms,
  dayRule: DayRule | DayRules<MissingDayRule>,
  maxDuration?: Duration.Input
): PeriodCheck.PeriodCheckOptions<MissingDayRule> => ({
  dayRule,
  // A beginning may be moved by less than 48 hours.
  period: (dayRule) => Period.localDays(dayRule, terms.daysFrom, terms.last),
  select: contains(terms),
  maxDuration
})

/** The instants of the close at a location, and the first one of each of its days. @internal */
export const daysAt = (
  terms: CloseTerms,
  locationId: LocationId
): { readonly starts: ReadonlyArray<number>; readonly interval: MillisInterval } | undefined => {
  const location = getLocation(terms, locationId)
  return location === undefined
    ? undefined
    : { starts: startsOf(terms, location.clock), interval: intervalAt(terms, location) }
}

/** The close at a location, and the days before it whose punches count for its thresholds. @internal */
export interface CountedInterval extends MillisInterval {
  /** A punch before the close, from this instant on, counts for a threshold; `from` without thresholds. */
  readonly countedFrom: number
}

/** The instants of the close at a location, with those that count for its thresholds. @internal */
export const getCountedInterval = (terms: CloseTerms, locationId: LocationId): CountedInterval | undefined => {
  const days = daysAt(terms, locationId)
  if (days === undefined) return undefined
  const first = firstCountedDay(terms)
  const start = first === undefined ? undefined : days.starts[first]
  return { ...days.interval, countedFrom: start ?? days.interval.from }
}

/** The first day whose time counts for a threshold, as its place in `CloseClock.starts`; `undefined` without thresholds. */
const firstCountedDay = (terms: CloseTerms): number | undefined => {
  const { daysFrom, first, locations } = terms
  const thresholds = thresholdsOf(terms)
  if (!hasOver(thresholds)) return undefined
  const begun = locations.flatMap(({ begins, clock }) =>
    Option.toArray(begins).map(({ epochMilliseconds }) =>
      startsOf(terms, clock).findLastIndex((start) => start <= epochMilliseconds)
    )
  )
  const earliest = Math.max(0, Math.min(daysBetween(daysFrom, first), ...begun))
  if (!countsWeeks(thresholds)) return earliest
  return Math.max(
    0,
    daysBetween(daysFrom, Period.firstDateOfWeek(plusDays(daysFrom, earliest), { firstDay: terms.firstDay }))
  )
}

/** The dates of the days that the clocks of a close have. @internal */
export const datesOf = ({ daysFrom, last }: Pick<CloseTerms, "daysFrom" | "last">): ReadonlyArray<BusinessDate> =>
  Array.from({ length: daysBetween(daysFrom, last) + 1 }, (_, day) => plusDays(daysFrom, day))

const intervalAt = (
  { clocks, daysFrom, first }: CloseTerms,
  { begins, clock }: CloseLocation
): MillisInterval => {
  const starts = clocks[clock]?.starts
  const from = Option.getOrElse(begins, () => starts?.[daysBetween(daysFrom, first)])
  return { from: from?.epochMilliseconds ?? Infinity, to: starts?.at(-1)?.epochMilliseconds ?? -Infinity }
}

/** The instants of a close by location; those of `undefined` are of each other location. @internal */
export type Spans = ReadonlyMap<LocationId | undefined, MillisInterval>

/** The instants of a close at all its locations, once for all that is compared with them. @internal */
export const spansOf = (terms: CloseTerms): Spans =>
  new Map(terms.locations.map((each) => [Option.getOrUndefined(each.locationId), intervalAt(terms, each)]))

/** The instants of a close at a location. @internal */
export const spanAt = (spans: Spans, locationId: LocationId | undefined): MillisInterval | undefined =>
  spans.get(locationId) ?? spans.get(undefined)

const startsOf = ({ clocks }: CloseTerms, clock: number): ReadonlyArray<number> =>
  (clocks[clock]?.starts ?? []).map(({ epochMilliseconds }) => epochMilliseconds)

/**
 * The instants to list for the sums of a close. They contain its days by every clock of the world, so that a punch of a
 * location without an entry fails instead of missing.
 */
export const queryWindow = ({ clocks, daysFrom, last }: CloseTerms): Period.Interval => {
  const starts = clocks.flatMap(({ starts }) => starts.map(({ epochMilliseconds }) => epochMilliseconds))
  // A day begins at the earliest at UTC+14:00, 12 hours before midnight; at the latest at UTC-12:00, 12 hours after it.
  const [before, after] = [26 * 3_600_000, 24 * 3_600_000]
  return {
    gte: DateTime.makeUnsafe(Math.min(Period.dayOf(daysFrom) * dayMillis - before, ...starts)),
    lt: DateTime.makeUnsafe(Math.max((Period.dayOf(last) + 1) * dayMillis + after, ...starts))
  }
}

/** How a close lies beside another one at a location. @internal */
export interface Neighbour<A> {
  /** The other close. */
  readonly other: A
  /** The location; `undefined` stands for every location without its own entry. */
  readonly locationId: LocationId | undefined
  /** The instants that lie in both. */
  readonly interval: MillisInterval
}

/** Instants that lie in a close and in another active one, location by location. @internal */
export const overlaps = <A extends { readonly terms: CloseTerms }>(
  terms: CloseTerms,
  others: ReadonlyArray<A>
): ReadonlyArray<Neighbour<A>> => {
  const spans = spansOf(terms)
  return others.flatMap((other) => {
    const others = spansOf(other.terms)
    return [...new Set([...spans.keys(), ...others.keys()])].flatMap((locationId) => {
      const [own, its] = [spanAt(spans, locationId), spanAt(others, locationId)]
      if (own === undefined || its === undefined) return []
      const interval = { from: Math.max(own.from, its.from), to: Math.min(own.to, its.to) }
      return interval.from < interval.to ? [{ other, locationId, interval }] : []
    })
  })
}

/** The terms of a close, with its number. @internal */
export interface NumberedTerms {
  /** The number. */
  readonly close: CloseNumber
  /** Its terms. */
  readonly terms: CloseTerms
}

/** The day rules of a close as `make` takes them; `None` if a zone is not known here. @internal */
export const dayRulesOf = ({ clocks, locations }: CloseTerms): Option.Option<CloseTermsOptions["dayRule"]> =>
  Option.map(
    Option.all(
      clocks.map(({ dayStarts, zone }) =>
        Option.map(DateTime.zoneFromString(zone), (zone): DayRule => ({ zone, dayStarts }))
      )
    ),
    (known) => {
      const entries = locations.flatMap(({ clock, locationId }) =>
        known[clock] === undefined ? [] : [[locationId, known[clock]] as const]
      )
      return entries.find(([locationId]) => Option.isNone(locationId))?.[1] ??
        new Map(
          entries.flatMap(([locationId, dayRule]) => Option.toArray(locationId).map((id) => [id, dayRule] as const))
        )
    }
  )

/** A close begins at the end of the one before if the two are less than this apart. */
const edgeMillis = 48 * 3_600_000

/**
 * The terms with their beginnings moved: a close begins at each location at the end of the one before, if that lies less than
 * 48 hours from its own beginning, such as after a day start or a zone was corrected. @internal
 */
export const alignEdges = (terms: CloseTerms, others: ReadonlyArray<CloseTerms>): CloseTerms => {
  const spans = spansOf(terms)
  const otherSpans = others.map(spansOf)
  const locationIds = new Set([spans, ...otherSpans].flatMap((each) => Array.from(each.keys())))
  const moved = [...locationIds].flatMap((locationId) => {
    const own = spanAt(spans, locationId)
    if (own === undefined) return []
    const ends = otherSpans.flatMap((each) => {
      const interval = spanAt(each, locationId)
      return interval !== undefined && interval.from < own.from ? [interval.to] : []
    })
    const end = Math.max(...ends)
    // A beginning at or after the own end would leave no instant: the two overlap, and are refused as such.
    if (end === own.from || end >= own.to || Math.abs(end - own.from) >= edgeMillis) return []
    const location = getLocation(terms, locationId)
    if (location === undefined) return []
    return [{
      ...location,
      locationId: Option.fromUndefinedOr(locationId),
      begins: Option.some(DateTime.makeUnsafe(end))
    }]
  })
  const isMoved = ({ locationId }: CloseLocation) =>
    moved.some((each) => Option.getOrUndefined(each.locationId) === Option.getOrUndefined(locationId))
  return { ...terms, locations: [...terms.locations.filter((each) => !isMoved(each)), ...moved] }
}

/** The terms with the day rule of one more location. @internal */
export const withLocation = (terms: CloseTerms, locationId: LocationId, dayRule: DayRule): CloseTerms => {
  const { clocks, daysFrom, last, locations } = terms
  const known = clocks.findIndex((each) => hasDayRule(each, dayRule))
  return {
    ...terms,
    clocks: known < 0 ? [...clocks, closeClock(dayRule, daysFrom, last)] : clocks,
    locations: [...locations, {
      locationId: Option.some(locationId),
      clock: known < 0 ? clocks.length : known,
      begins: Option.none()
    }]
  }
}

/** Whether the terms have a location, and under another day rule than this one. @internal */
export const hasOtherDayRule = (terms: CloseTerms, locationId: LocationId, dayRule: DayRule): boolean => {
  const location = getLocation(terms, locationId)
  const known = location === undefined ? undefined : terms.clocks[location.clock]
  return known !== undefined && !hasDayRule(known, dayRule)
}

const closeClock = (dayRule: DayRule, from: BusinessDate, last: BusinessDate): CloseClock => ({
  zone: DateTime.zoneToString(zoneOf(dayRule)),
  dayStarts: Duration.millis(dayStartsOf(dayRule)),
  starts: [
    ...datesOf({ daysFrom: from, last }).map((date) => Period.localDays(dayRule, date, date).gte),
    Period.localDays(dayRule, last, last).lt
  ]
})

const hasDayRule = ({ dayStarts, zone }: CloseClock, dayRule: DayRule): boolean =>
  zone === DateTime.zoneToString(zoneOf(dayRule)) && Duration.toMillis(dayStarts) === dayStartsOf(dayRule)

const daysBetween = (from: BusinessDate, to: BusinessDate): number => Period.dayOf(to) - Period.dayOf(from)

/** A date that many days later, or the last one of the calendar. @internal */
export const plusDays = (date: BusinessDate, days: number): BusinessDate =>
  Option.getOrElse(Period.addDays(date, days), () => date)
