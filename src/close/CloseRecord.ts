/** A closed period as a record: its days as instants, its states, and what one state has more than another. */
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Function from "effect/Function"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"
import * as Sink from "effect/Sink"
import { BusinessDate, Cents, CompanyId, DepartmentId, LocationId, RoleId, UserId } from "../Ids.ts"
import { Instant } from "../internal/wire/schema.ts"
import { cost, Rounding, SumOverflow } from "../payroll/Labor.ts"
import * as Period from "../payroll/Period.ts"
import * as PeriodCheck from "../payroll/PeriodCheck.ts"
import * as WorkedTime from "../payroll/WorkedTime.ts"
import { clockKey, dayStartsOf, type LocalClock, MissingZone, zoneOf } from "../payroll/Zones.ts"
import type { TimePunch } from "../TimePunch.ts"

const Count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))

/** A duration as seconds, with up to three decimals. */
const Seconds = Schema.Number.pipe(Schema.decodeTo(Schema.Duration, {
  decode: SchemaGetter.transform((seconds: number) => Duration.millis(Math.round(seconds * 1000))),
  encode: SchemaGetter.transform((duration: Duration.Duration) => Duration.toMillis(duration) / 1000)
}))

/** The days of one local clock, as instants: a later change of the zone's rules does not move them. */
export const CloseClock = Schema.Struct({
  /** The time zone that the days were counted by. */
  zone: Schema.String,
  /** When a business day begins, after midnight, or before it if negative. */
  dayStarts: Seconds,
  /** The first instant of each day from `CloseTerms.daysFrom` to `last`, and of the day after `last`. */
  starts: Schema.Array(Instant)
})

/** The days of one local clock, as `CloseClock` decodes them. */
export type CloseClock = typeof CloseClock.Type

/** A location of a close, and its clock. */
export const CloseLocation = Schema.Struct({
  /** The location; `None` stands for every location without its own entry. */
  locationId: Schema.OptionFromNullOr(LocationId),
  /** The place of its clock in `CloseTerms.clocks`. */
  clock: Count,
  /** The first instant of the close at this location, if it is not the beginning of `first`. */
  begins: Schema.OptionFromNullOr(Instant)
})

/** A location of a close, as `CloseLocation` decodes it. */
export type CloseLocation = typeof CloseLocation.Type

/** What all states of a close share: its period, its days, and how it is summed. */
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
  /** The clocks of the locations, each once. */
  clocks: Schema.Array(CloseClock),
  /** The locations of the close. */
  locations: Schema.Array(CloseLocation)
})

/** What all states of a close share, as `CloseTerms` decodes it. */
export type CloseTerms = typeof CloseTerms.Type

const rowFields = {
  /** The person. */
  userId: UserId,
  /** The location. */
  locationId: LocationId,
  /** The department; `None` without one. */
  departmentId: Schema.OptionFromNullOr(DepartmentId),
  /** The role. */
  roleId: RoleId,
  /** Number of punches, incomplete ones included. */
  punches: Count,
  /** Number of punches with unknown durations. Of these only the tips are in the sums. */
  incomplete: Count,
  /** Paid time. */
  net: Seconds,
  /** Wages in cents, rounded punch by punch. Without tips. */
  cost: Cents,
  /** Tips in cents. */
  tips: Cents
}

const rowNames = { net: "netSeconds", cost: "costCents", tips: "tipsCents" } as const

/** The sums of a person at a location, in a department and a role. */
export const CloseRow = Schema.Struct(rowFields).pipe(Schema.encodeKeys(rowNames))

/** The sums of a person at a location, as `CloseRow` decodes them. */
export type CloseRow = typeof CloseRow.Type

/** What a row has more in one state than in another: `CloseRow` with numbers that may be negative. */
export const RowDifference = Schema.Struct({
  ...rowFields,
  /** How many punches more; negative if there are fewer. */
  punches: Schema.Int,
  /** How many more of them have no known time; negative if there are fewer. */
  incomplete: Schema.Int
}).pipe(Schema.encodeKeys(rowNames))

/** The time of a person over the thresholds, counted on the days of the period. */
export const ClosePerson = Schema.Struct({
  /** The person. */
  userId: UserId,
  /** Time over the weekly threshold; `None` without one. */
  above: Schema.OptionFromNullOr(Seconds),
  /** Time over the daily threshold; `None` without one. */
  aboveDay: Schema.OptionFromNullOr(Seconds)
}).pipe(Schema.encodeKeys({ above: "aboveSeconds", aboveDay: "aboveDaySeconds" }))

/** The time of a person over the thresholds, as `ClosePerson` decodes it. */
export type ClosePerson = typeof ClosePerson.Type

/** What keeps a period from being closed: a kind of `PeriodCheck`, or one of the whole period. */
export const Obstacle = Schema.Literals([
  // Disputes are not in a copy.
  ...PeriodCheck.Kind.pick(["open", "unapproved", "overlap", "tooLong", "anomaly", "zeroWage"]).literals,
  // Time lies between this close and the nearest one that stands.
  "gap",
  // The last complete pass began before the end of the period.
  "stale",
  // No punch is in the period.
  "empty",
  // The close begins at the end of the one before, less than 48 hours from its own beginning.
  "edge"
])

/** What keeps a period from being closed, as `Obstacle` decodes it. */
export type Obstacle = typeof Obstacle.Type

/** The sums of a state. */
export interface CloseSums {
  /** Sorted by person, location, department and role. */
  readonly rows: ReadonlyArray<CloseRow>
  /** Sorted by person: everyone in `rows`. */
  readonly people: ReadonlyArray<ClosePerson>
}

/** A half-open range of instants, in epoch milliseconds. */
export interface Span {
  /** The first instant. */
  readonly from: number
  /** The first instant after it. */
  readonly to: number
}

const dayMillis = 86_400_000

const dayOf = (date: BusinessDate): number => DateTime.makeUnsafe(date).epochMilliseconds / dayMillis

const daysBetween = (from: BusinessDate, to: BusinessDate): number => dayOf(to) - dayOf(from)

/** The entry of a location: its own, or the one that stands for every other. */
export const locationOf = ({ locations }: CloseTerms, locationId: LocationId): CloseLocation | undefined =>
  locations.find((each) => Option.contains(each.locationId, locationId)) ??
    locations.find((each) => Option.isNone(each.locationId))

/** The instants of the close at a location; `undefined` if the close does not have the location. */
export const spanOf = (terms: CloseTerms, locationId: LocationId): Span | undefined => {
  const location = locationOf(terms, locationId)
  return location === undefined ? undefined : spanAt(terms, location)
}

/** Whether a punch was clocked in during the close, by the clock of its location. @internal */
export const contains = (terms: CloseTerms) => ({ clockedIn, locationId }: TimePunch): boolean => {
  const span = spanOf(terms, locationId)
  return span !== undefined && span.from <= clockedIn.epochMilliseconds && clockedIn.epochMilliseconds < span.to
}

const spanAt = (terms: CloseTerms, { begins, clock }: CloseLocation): Span => {
  const starts = startsOf(terms, clock)
  return {
    from: Option.match(begins, {
      onNone: () => starts[daysBetween(terms.daysFrom, terms.first)] ?? Infinity,
      onSome: ({ epochMilliseconds }) => epochMilliseconds
    }),
    to: starts.at(-1) ?? -Infinity
  }
}

const startsOf = ({ clocks }: CloseTerms, clock: number): ReadonlyArray<number> =>
  (clocks[clock]?.starts ?? []).map(({ epochMilliseconds }) => epochMilliseconds)

/**
 * The instants to list for the sums of a close. They contain its days by every clock of the world, so that a punch of a
 * location without an entry fails instead of missing.
 */
export const window = ({ clocks, daysFrom, last }: CloseTerms): Period.Interval => {
  const starts = clocks.flatMap(({ starts }) => starts.map(({ epochMilliseconds }) => epochMilliseconds))
  // A day begins at the earliest at UTC+14:00, 12 hours before midnight; at the latest at UTC-12:00, 12 hours after it.
  const [before, after] = [26 * 3_600_000, 24 * 3_600_000]
  return {
    gte: DateTime.makeUnsafe(Math.min(dayOf(daysFrom) * dayMillis - before, ...starts)),
    lt: DateTime.makeUnsafe(Math.max((dayOf(last) + 1) * dayMillis + after, ...starts))
  }
}

/**
 * The sums of a close. It takes the punches of `window(terms)`, in any order, none deleted. A punch belongs, whole, to the
 * day on which it was clocked in, by the clock of its location; the days before the period count for its thresholds only.
 * The time of a punch without a clock-out is due when it has ended.
 *
 * Fails with `MissingZone` for a location without an entry, and with `SumOverflow` before a sum could be wrong.
 */
export const sums = (terms: CloseTerms): Sink.Sink<CloseSums, TimePunch, never, MissingZone | SumOverflow> =>
  Sink.foldArray(
    () => makeSums(terms),
    Function.constTrue,
    (running, punches: ReadonlyArray<TimePunch>) => {
      for (const punch of punches) {
        const failure = running.add(punch)
        if (failure !== undefined) return Effect.fail(failure)
      }
      return Effect.succeed(running)
    }
  ).pipe(Sink.map((running) => running.result()))

/** Running sums of a row. */
interface Sums {
  readonly punch: TimePunch
  punches: number
  incomplete: number
  net: number
  cost: number
  tips: number
}

const makeSums = (terms: CloseTerms) => {
  const rows = new Map<string, Sums>()
  // By person, the time of each day. A day that begins before the close at a location has a part outside of it.
  const people = new Map<UserId, Map<number, number>>()
  const places = new Map<LocationId, { readonly starts: ReadonlyArray<number>; readonly span: Span } | undefined>()

  const placeOf = (locationId: LocationId) => {
    if (places.has(locationId)) return places.get(locationId)
    const location = locationOf(terms, locationId)
    const place = location === undefined
      ? undefined
      : { starts: startsOf(terms, location.clock), span: spanAt(terms, location) }
    places.set(locationId, place)
    return place
  }

  const add = (punch: TimePunch): MissingZone | SumOverflow | undefined => {
    const place = placeOf(punch.locationId)
    if (place === undefined) return new MissingZone({ locationId: punch.locationId })
    const at = punch.clockedIn.epochMilliseconds
    const day = place.starts.findLastIndex((start) => start <= at)
    if (day < 0 || at >= place.span.to) return undefined
    const isWithin = at >= place.span.from
    const { durations } = WorkedTime.measure(punch)
    const net = Option.match(durations, { onNone: () => 0, onSome: ({ net }) => Duration.toMillis(net) })
    const days = people.get(punch.userId) ?? new Map<number, number>()
    people.set(punch.userId, days)
    const part = 2 * day + (isWithin ? 1 : 0)
    days.set(part, (days.get(part) ?? 0) + net)
    if (!isWithin) return undefined
    const key = keyOf(punch)
    const row = rows.get(key) ?? { punch, punches: 0, incomplete: 0, net: 0, cost: 0, tips: 0 }
    rows.set(key, row)
    row.punches += 1
    row.tips += punch.tips
    if (Option.isNone(durations)) row.incomplete += 1
    else {
      row.net += net
      row.cost += Option.getOrElse(cost(punch, terms), () => Infinity)
    }
    const field = (["net", "cost", "tips"] as const).find((name) => !Number.isSafeInteger(row[name]))
    return field === undefined ? undefined : new SumOverflow({ field, punchId: punch.id })
  }

  const result = (): CloseSums => {
    const sorted = [...rows.values()].map(rowOf).toSorted(compareRows)
    const userIds = [...new Set(sorted.map(({ userId }) => userId))]
    return { rows: sorted, people: userIds.map((userId) => personOf(terms, userId, people.get(userId) ?? new Map())) }
  }

  return { add, result }
}

const rowOf = ({ cost, incomplete, net, punch, punches, tips }: Sums): CloseRow => ({
  userId: punch.userId,
  locationId: punch.locationId,
  departmentId: punch.departmentId,
  roleId: punch.roleId,
  punches,
  incomplete,
  net: Duration.millis(net),
  cost: Cents.make(cost),
  tips: Cents.make(tips)
})

const compareRows = (one: CloseRow, other: CloseRow): number =>
  one.userId - other.userId ||
  one.locationId - other.locationId ||
  Option.getOrElse(one.departmentId, () => 0) - Option.getOrElse(other.departmentId, () => 0) ||
  one.roleId - other.roleId

/** `days` has the time of a day at twice its number, and one more for the part of it that belongs to the close. */
const personOf = (terms: CloseTerms, userId: UserId, days: ReadonlyMap<number, number>): ClosePerson => {
  const parts = [...days].toSorted(([one], [other]) => one - other)
  const first = dayOf(terms.daysFrom)
  const weekStart = dayOf(Period.firstDateOfWeek(terms.daysFrom, terms))
  const weekOf = (part: number) => Math.floor((first + Math.floor(part / 2) - weekStart) / 7)
  const dateOf = (part: number) => Math.floor(part / 2)
  return {
    userId,
    above: Option.map(terms.weeklyThreshold, (threshold) => excess(parts, threshold, weekOf)),
    aboveDay: Option.map(terms.dailyThreshold, (threshold) => excess(parts, threshold, dateOf))
  }
}

/**
 * The rule of `Labor.hoursAbove`, over a close: the time over a threshold stands on the days on which the running sum passes
 * it, here on those of the parts of the close.
 */
const excess = (
  parts: ReadonlyArray<readonly [part: number, net: number]>,
  threshold: Duration.Duration,
  groupOf: (part: number) => number
): Duration.Duration => {
  const limit = Math.max(0, Duration.toMillis(threshold))
  const running = new Map<number, number>()
  let sum = 0
  for (const [part, net] of parts) {
    const group = groupOf(part)
    const before = running.get(group) ?? 0
    running.set(group, before + net)
    if (part % 2 === 1) sum += Math.max(0, before + net - limit) - Math.max(0, before - limit)
  }
  return Duration.millis(sum)
}

/** What a state has more than another, by row and by the excess of each person. What does not differ is left out. */
export const difference = (state: CloseSums, before: CloseSums): CloseSums => {
  const earlier = new Map(before.rows.map((row) => [keyOf(row), row]))
  const later = new Map(state.rows.map((row) => [keyOf(row), row]))
  const rows = [...new Map([...earlier, ...later]).keys()].flatMap((key) => {
    const [one, other] = [later.get(key), earlier.get(key)]
    const known = one ?? other
    if (known === undefined) return []
    const row: CloseRow = {
      ...known,
      punches: (one?.punches ?? 0) - (other?.punches ?? 0),
      incomplete: (one?.incomplete ?? 0) - (other?.incomplete ?? 0),
      net: Duration.millis(millisOf(one?.net) - millisOf(other?.net)),
      cost: Cents.make((one?.cost ?? 0) - (other?.cost ?? 0)),
      tips: Cents.make((one?.tips ?? 0) - (other?.tips ?? 0))
    }
    return isZero(row) ? [] : [row]
  })
  const excessBefore = new Map(before.people.map((person) => [person.userId, person]))
  const excessNow = new Map(state.people.map((person) => [person.userId, person]))
  const people = [...new Set([...excessBefore.keys(), ...excessNow.keys()])].flatMap((userId) => {
    const [one, other] = [excessNow.get(userId), excessBefore.get(userId)]
    const between = (name: "above" | "aboveDay") => {
      const [now, then] = [one?.[name] ?? Option.none(), other?.[name] ?? Option.none()]
      return Option.map(
        Option.orElse(now, () => then),
        () => Duration.millis(excessMillis(now) - excessMillis(then))
      )
    }
    const person: ClosePerson = { userId, above: between("above"), aboveDay: between("aboveDay") }
    return excessMillis(person.above) === 0 && excessMillis(person.aboveDay) === 0 ? [] : [person]
  })
  return {
    rows: rows.toSorted(compareRows),
    people: people.toSorted((one, other) => one.userId - other.userId)
  }
}

/** Whether two states have the same sums. */
export const isSame = (one: CloseSums, other: CloseSums): boolean => {
  const { people, rows } = difference(one, other)
  return rows.length === 0 && people.length === 0
}

/** A state without a punch, such as what stands before the first one. */
export const nothing: CloseSums = { rows: [], people: [] }

const keyOf = (
  { departmentId, locationId, roleId, userId }: Pick<CloseRow, "departmentId" | "locationId" | "roleId" | "userId">
): string => [userId, locationId, Option.getOrElse(departmentId, () => ""), roleId].join(" ")

const millisOf = (duration = Duration.zero): number => Duration.toMillis(duration)

const excessMillis = (excess: Option.Option<Duration.Duration>): number => millisOf(Option.getOrUndefined(excess))

const isZero = ({ cost, incomplete, net, punches, tips }: CloseRow): boolean =>
  punches === 0 && incomplete === 0 && Duration.toMillis(net) === 0 && cost === 0 && tips === 0

/** How a close lies beside another one at a location. */
export interface Neighbour<A> {
  /** The other close. */
  readonly other: A
  /** The location; `undefined` stands for every location without its own entry. */
  readonly locationId: LocationId | undefined
  /** The instants that lie in both, or in neither. */
  readonly span: Span
}

/** The locations that either has an entry for, each once. */
const locationIdsOf = (one: CloseTerms, other: CloseTerms): ReadonlyArray<LocationId | undefined> => [
  ...new Set([...one.locations, ...other.locations].map(({ locationId }) => Option.getOrUndefined(locationId)))
]

const spanOrAll = (terms: CloseTerms, locationId: LocationId | undefined): Span | undefined => {
  if (locationId !== undefined) return spanOf(terms, locationId)
  const all = terms.locations.find((each) => Option.isNone(each.locationId))
  return all === undefined ? undefined : spanAt(terms, all)
}

/** Instants that lie in a close and in another one that stands, location by location. */
export const overlaps = <A extends { readonly terms: CloseTerms }>(
  terms: CloseTerms,
  others: ReadonlyArray<A>
): ReadonlyArray<Neighbour<A>> =>
  others.flatMap((other) =>
    locationIdsOf(terms, other.terms).flatMap((locationId) => {
      const [own, its] = [spanOrAll(terms, locationId), spanOrAll(other.terms, locationId)]
      if (own === undefined || its === undefined) return []
      const span = { from: Math.max(own.from, its.from), to: Math.min(own.to, its.to) }
      return span.from < span.to ? [{ other, locationId, span }] : []
    })
  )

/** Instants between a close and the nearest one that stands, before or after it, location by location. */
export const gaps = <A extends { readonly terms: CloseTerms }>(
  terms: CloseTerms,
  others: ReadonlyArray<A>
): ReadonlyArray<Neighbour<A>> => {
  const locationIds = new Set(others.flatMap((other) => locationIdsOf(terms, other.terms)))
  return [...locationIds].flatMap((locationId) => {
    const own = spanOrAll(terms, locationId)
    if (own === undefined) return []
    const spans = others.flatMap((other) => {
      const span = spanOrAll(other.terms, locationId)
      return span === undefined ? [] : [{ other, span }]
    })
    const before = spans.filter(({ span }) => span.to <= own.from).toSorted((a, b) => b.span.to - a.span.to)[0]
    const after = spans.filter(({ span }) => span.from >= own.to).toSorted((a, b) => a.span.from - b.span.from)[0]
    const found: Array<Neighbour<A>> = []
    if (before !== undefined && before.span.to < own.from) {
      found.push({ other: before.other, locationId, span: { from: before.span.to, to: own.from } })
    }
    if (after !== undefined && after.span.from > own.to) {
      found.push({ other: after.other, locationId, span: { from: own.to, to: after.span.from } })
    }
    return found
  })
}

/** A state of a close, as `Close.list` gives it: what it follows, and what it adds to the terms. */
export interface LinkedState {
  /** Its name, such as `7.2`. */
  readonly state: string
  /** A void takes back the state `before`. */
  readonly kind: "close" | "correct" | "void"
  /** The state that it was compared with, or that it voids; `None` for the first one. */
  readonly before: Option.Option<string>
  /** The locations that it has and the states before it lack, with their clocks. */
  readonly added: Pick<CloseTerms, "clocks" | "locations">
}

/** A close, as `Close.list` gives it. */
export interface LinkedClose {
  /** The terms of its first state. */
  readonly terms: CloseTerms
  /** Its states, the oldest first. */
  readonly states: ReadonlyArray<LinkedState>
}

/** The states that stand, in their order: neither a void nor voided by one. The last one is the newest; none if the close is over. */
export const standing = <S extends LinkedState>(states: ReadonlyArray<S>): ReadonlyArray<S> => {
  const voided = new Set(states.flatMap(({ before, kind }) => kind === "void" ? Option.toArray(before) : []))
  return states.filter(({ kind, state }) => kind !== "void" && !voided.has(state))
}

/** The newest state that stands; `None` if the close is over. */
export const newestOf = <S extends LinkedState>(states: ReadonlyArray<S>): Option.Option<S> =>
  Option.fromUndefinedOr(standing(states).at(-1))

/** The terms of a state: those of its close, with the locations that it and the states before it added. */
export const termsAt = (
  close: LinkedClose,
  { added, before }: LinkedState
): CloseTerms => {
  const earlier = close.states.find(({ state }) => Option.contains(before, state))
  const terms = earlier === undefined ? close.terms : termsAt(close, earlier)
  return { ...terms, clocks: [...terms.clocks, ...added.clocks], locations: [...terms.locations, ...added.locations] }
}

/** A close begins at the end of the one before if the two are less than this apart. */
const edgeMillis = 48 * 3_600_000

/**
 * The terms with their beginnings moved: a close begins at each location at the end of the one before, if that lies less than
 * 48 hours from its own beginning, such as after a day start or a zone was corrected.
 */
export const alignEdges = (terms: CloseTerms, others: ReadonlyArray<CloseTerms>): CloseTerms => {
  const locationIds = new Set(others.flatMap((other) => locationIdsOf(terms, other)))
  const moved = [...locationIds].flatMap((locationId) => {
    const own = spanOrAll(terms, locationId)
    if (own === undefined) return []
    const ends = others.flatMap((other) => {
      const span = spanOrAll(other, locationId)
      return span !== undefined && span.from < own.from ? [span.to] : []
    })
    const end = Math.max(...ends)
    // A beginning at or after the own end would leave no instant: the two overlap, and are refused as such.
    if (end === own.from || end >= own.to || Math.abs(end - own.from) >= edgeMillis) return []
    const known = locationId === undefined ? undefined : locationOf(terms, locationId)
    const location = known ?? terms.locations.find((each) => Option.isNone(each.locationId))
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

/** What a close is of. */
export interface CloseTermsOptions {
  /** The company. */
  readonly companyId: CompanyId
  /** The first date of the period. */
  readonly first: BusinessDate
  /** The last date of the period. */
  readonly last: BusinessDate
  /** One clock for all locations, or a map with the clock of each: the map, not `Period.zones`, since the record lists it. */
  readonly clock: LocalClock | ReadonlyMap<LocationId, LocalClock>
  /** The first day of a week. Default: `"monday"`. */
  readonly firstDay?: Period.Weekday | undefined
  /** How a fraction of a cent is rounded. */
  readonly rounding: Rounding
  /** The threshold for the net time of a local week. Default: none. */
  readonly weeklyThreshold?: Duration.Input | undefined
  /** The threshold for the net time of a local day. Default: none. */
  readonly dailyThreshold?: Duration.Input | undefined
}

/** Whether there is a clock for each location. */
export const isByLocation = (
  clock: CloseTermsOptions["clock"]
): clock is ReadonlyMap<LocationId, LocalClock> => Predicate.isIterable(clock)

/** The terms of a close: the days of the period as instants, from the first week that it may cut. */
export const makeTerms = (options: CloseTermsOptions): CloseTerms => {
  const { clock, companyId, dailyThreshold, first, firstDay = "monday", last, rounding, weeklyThreshold } = options
  // A beginning may be moved by less than 48 hours, so that three days before the period may hold some of its punches.
  const earliest = plusDays(first, -3)
  const daysFrom = weeklyThreshold === undefined ? earliest : Period.firstDateOfWeek(earliest, { firstDay })
  const clocks: Array<CloseClock> = []
  const places = new Map<string, number>()
  const placeOf = (clock: LocalClock): number => {
    const key = clockKey(clock)
    // Many locations share a clock, and the days of one take some time to find.
    const place = places.get(key) ?? clocks.push(clockOf(clock, daysFrom, last)) - 1
    places.set(key, place)
    return place
  }
  const entries = isByLocation(clock)
    ? [...clock].toSorted(([one], [other]) => one - other)
    : [[undefined, clock] as const]
  const locations = entries.map(([locationId, clock]): CloseLocation => ({
    locationId: Option.fromUndefinedOr(locationId),
    clock: placeOf(clock),
    begins: Option.none()
  }))
  return {
    companyId,
    first,
    last,
    daysFrom,
    firstDay,
    rounding,
    weeklyThreshold: Option.map(Option.fromUndefinedOr(weeklyThreshold), Duration.fromInputUnsafe),
    dailyThreshold: Option.map(Option.fromUndefinedOr(dailyThreshold), Duration.fromInputUnsafe),
    clocks,
    locations
  }
}

const plusDays = (date: BusinessDate, days: number): BusinessDate =>
  Option.getOrElse(Period.addDays(date, days), () => date)

/** The terms with the clock of one more location. */
export const withLocation = (terms: CloseTerms, locationId: LocationId, clock: LocalClock): CloseTerms => {
  const { clocks, daysFrom, last, locations } = terms
  const known = clocks.findIndex((each) => isClock(each, clock))
  return {
    ...terms,
    clocks: known < 0 ? [...clocks, clockOf(clock, daysFrom, last)] : clocks,
    locations: [...locations, {
      locationId: Option.some(locationId),
      clock: known < 0 ? clocks.length : known,
      begins: Option.none()
    }]
  }
}

/** Whether the terms have a location, and under another clock than this one. */
export const hasOtherClock = (terms: CloseTerms, locationId: LocationId, clock: LocalClock): boolean => {
  const location = locationOf(terms, locationId)
  const known = location === undefined ? undefined : terms.clocks[location.clock]
  return known !== undefined && !isClock(known, clock)
}

const clockOf = (clock: LocalClock, from: BusinessDate, last: BusinessDate): CloseClock => ({
  zone: DateTime.zoneToString(zoneOf(clock)),
  dayStarts: Duration.millis(dayStartsOf(clock)),
  starts: [
    ...Array.from({ length: daysBetween(from, last) + 1 }, (_, day) => plusDays(from, day)).map((date) =>
      Period.localDays(clock, date, date).gte
    ),
    Period.localDays(clock, last, last).lt
  ]
})

const isClock = ({ dayStarts, zone }: CloseClock, clock: LocalClock): boolean =>
  zone === DateTime.zoneToString(zoneOf(clock)) && Duration.toMillis(dayStarts) === dayStartsOf(clock)

/** The sums of a person over all locations, departments and roles. */
export interface PersonSums extends ClosePerson {
  /** Number of punches. */
  readonly punches: number
  /** Paid time. */
  readonly net: Duration.Duration
  /** Wages in cents. */
  readonly cost: number
  /** Tips in cents. */
  readonly tips: number
}

/** The sums of each person, sorted by person. */
export const byPerson = ({ people, rows }: CloseSums): ReadonlyArray<PersonSums> => {
  const excess = new Map(people.map((person) => [person.userId, person]))
  const rowsOf = new Map(people.map(({ userId }): [UserId, Array<CloseRow>] => [userId, []]))
  for (const row of rows) {
    const own = rowsOf.get(row.userId)
    if (own === undefined) rowsOf.set(row.userId, [row])
    else own.push(row)
  }
  return [...rowsOf].toSorted(([one], [other]) => one - other).map(([userId, own]) => {
    const sum = (value: (row: CloseRow) => number) => own.reduce((total, row) => total + value(row), 0)
    return {
      userId,
      above: excess.get(userId)?.above ?? Option.none(),
      aboveDay: excess.get(userId)?.aboveDay ?? Option.none(),
      punches: sum(({ punches }) => punches),
      net: Duration.millis(sum(({ net }) => Duration.toMillis(net))),
      cost: sum(({ cost }) => cost),
      tips: sum(({ tips }) => tips)
    }
  })
}
