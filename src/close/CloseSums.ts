/** The sums of a close: rows and people, what one revision has more than another, and the sums of each person. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Function from "effect/Function"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Sink from "effect/Sink"
import { Cents, DepartmentId, LocationId, RoleId, UserId } from "../Ids.ts"
import { Seconds } from "../internal/wire/schema.ts"
import * as Amounts from "../payroll/Amounts.ts"
import { cost, SumOverflow } from "../payroll/Labor.ts"
import * as Period from "../payroll/Period.ts"
import { addTime, hoursOf, type PersonTime, timeOf } from "../payroll/personHours.ts"
import * as WorkedTime from "../payroll/WorkedTime.ts"
import { MissingZone } from "../payroll/Zones.ts"
import type { TimePunch } from "../TimePunch.ts"
import { type CloseTerms, datesOf, daysAt, isInLaterClose } from "./CloseTerms.ts"

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
  punches: Schema.Natural,
  /** Number of punches with unknown durations. Of these only the tips are in the sums. */
  incomplete: Schema.Natural,
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

export type CloseRow = typeof CloseRow.Type

/** What a row has more in one revision than in another: `CloseRow` with numbers that may be negative. */
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
  overWeekly: Schema.OptionFromNullOr(Seconds),
  /** Time over the daily threshold; `None` without one. */
  overDaily: Schema.OptionFromNullOr(Seconds)
}).pipe(Schema.encodeKeys({ overWeekly: "aboveSeconds", overDaily: "aboveDaySeconds" }))

export type ClosePerson = typeof ClosePerson.Type

/** The sums of a revision. */
export interface CloseSums {
  /** Sorted by person, location, department and role. */
  readonly rows: ReadonlyArray<CloseRow>
  /** Sorted by person: everyone in `rows`. */
  readonly people: ReadonlyArray<ClosePerson>
}

/**
 * The sums of a close. It takes the punches of `queryWindow(terms)`, in any order, none deleted. A punch belongs, whole, to the
 * day on which it was clocked in, by the day rule of its location; the days before the period count for its thresholds only.
 * The time of a punch without a clock-out is due when it has ended.
 *
 * A punch of a location without an entry belongs to a later close that has it; such a close is one of `others`. Fails with
 * `MissingZone` if there is none, and with `SumOverflow` before a sum could be wrong.
 */
export const sum = (
  terms: CloseTerms,
  others: ReadonlyArray<CloseTerms> = []
): Sink.Sink<CloseSums, TimePunch, never, MissingZone | SumOverflow> =>
  Sink.foldArray(
    () => makeSums(terms, others),
    Function.constTrue,
    (running, punches: ReadonlyArray<TimePunch>) => {
      for (const punch of punches) {
        const failure = running.add(punch)
        if (failure !== undefined) return Effect.fail(failure)
      }
      return Effect.succeed(running)
    }
  ).pipe(Sink.map((running) => running.result()))

/** What a revision has more than another, by row and by the excess of each person. What does not differ is left out. */
export const difference = (revision: CloseSums, previous: CloseSums): CloseSums => {
  const earlier = new Map(previous.rows.map((row) => [keyOf(row), row]))
  const later = new Map(revision.rows.map((row) => [keyOf(row), row]))
  const rows = [...new Map([...earlier, ...later]).keys()].flatMap((key) => {
    const [one, other] = [later.get(key), earlier.get(key)]
    const known = one ?? other
    const amounts = Amounts.subtract(amountsOf(one), amountsOf(other))
    return known === undefined || Amounts.isZero(amounts) ? [] : [rowOf(known, amounts)]
  })
  const excessBefore = new Map(previous.people.map((person) => [person.userId, person]))
  const excessNow = new Map(revision.people.map((person) => [person.userId, person]))
  const people = [...new Set([...excessBefore.keys(), ...excessNow.keys()])].flatMap((userId) => {
    const [one, other] = [excessNow.get(userId), excessBefore.get(userId)]
    const between = (name: "overWeekly" | "overDaily") => {
      const [now, then] = [one?.[name] ?? Option.none(), other?.[name] ?? Option.none()]
      return Option.map(
        Option.orElse(now, () => then),
        () => Duration.millis(excessMillis(now) - excessMillis(then))
      )
    }
    const person: ClosePerson = { userId, overWeekly: between("overWeekly"), overDaily: between("overDaily") }
    return excessMillis(person.overWeekly) === 0 && excessMillis(person.overDaily) === 0 ? [] : [person]
  })
  return {
    rows: rows.toSorted(compareRows),
    people: people.toSorted((one, other) => one.userId - other.userId)
  }
}

/** Whether two revisions have the same sums. */
export const equals = (one: CloseSums, other: CloseSums): boolean => {
  const { people, rows } = difference(one, other)
  return rows.length === 0 && people.length === 0
}

/** Sums without a punch, such as those before the first revision. */
export const empty: CloseSums = { rows: [], people: [] }

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
  const amounts = new Map(people.map(({ userId }) => [userId, Amounts.zero]))
  for (const row of rows) {
    amounts.set(row.userId, Amounts.add(amounts.get(row.userId) ?? Amounts.zero, amountsOf(row)))
  }
  return [...amounts].toSorted(([one], [other]) => one - other).map(([userId, { cost, net, punches, tips }]) => ({
    userId,
    overWeekly: excess.get(userId)?.overWeekly ?? Option.none(),
    overDaily: excess.get(userId)?.overDaily ?? Option.none(),
    punches,
    net: Duration.millis(net),
    cost,
    tips
  }))
}

/** A row while it is summed. */
interface RunningRow {
  readonly punch: TimePunch
  amounts: Amounts.Amounts
}

const makeSums = (terms: CloseTerms, others: ReadonlyArray<CloseTerms>) => {
  const isInLater = isInLaterClose(terms, others)
  const rows = new Map<string, RunningRow>()
  const people = new Map<UserId, PersonTime>()
  const dates = datesOf(terms)
  const known = new Map<LocationId, ReturnType<typeof daysAt>>()

  const daysOf = (locationId: LocationId) => {
    const days = known.get(locationId) ?? daysAt(terms, locationId)
    if (!known.has(locationId)) known.set(locationId, days)
    return days
  }

  const add = (punch: TimePunch): MissingZone | SumOverflow | undefined => {
    const days = daysOf(punch.locationId)
    if (days === undefined) {
      return isInLater(punch) ? undefined : new MissingZone({ locationId: punch.locationId })
    }
    const at = punch.clockedIn.epochMilliseconds
    const date = dates[days.starts.findLastIndex((start) => start <= at)]
    if (date === undefined || at >= days.interval.to) return undefined
    const isWithin = at >= days.interval.from
    const { durations } = WorkedTime.measure(punch)
    // A day that begins before the close at a location has a part outside of it.
    if (!addTime(timeOf(people, punch.userId), { date, place: isWithin ? "within" : "before" }, durations)) {
      return new SumOverflow({ field: "net", punchId: punch.id })
    }
    if (!isWithin) return undefined
    const key = keyOf(punch)
    const row = rows.get(key) ?? { punch, amounts: Amounts.zero }
    if (row.amounts === Amounts.zero) rows.set(key, row)
    row.amounts = Amounts.add(row.amounts, amountsOfPunch(punch, durations, terms))
    const field = Amounts.overflow(row.amounts)
    return field === undefined ? undefined : new SumOverflow({ field, punchId: punch.id })
  }

  const result = (): CloseSums => {
    const sorted = [...rows.values()].map(({ amounts, punch }) => rowOf(punch, amounts)).toSorted(compareRows)
    const weekOf = Period.makeFirstDateOfWeek(terms)
    const thresholds = {
      weeklyThreshold: Option.getOrUndefined(terms.weeklyThreshold),
      dailyThreshold: Option.getOrUndefined(terms.dailyThreshold)
    }
    const personOf = (userId: UserId): ClosePerson => {
      const { overWeekly, overDaily } = hoursOf(timeOf(people, userId), thresholds, weekOf)
      return {
        userId,
        overWeekly: Option.as(terms.weeklyThreshold, overWeekly),
        overDaily: Option.as(terms.dailyThreshold, overDaily)
      }
    }
    return { rows: sorted, people: [...new Set(sorted.map(({ userId }) => userId))].map(personOf) }
  }

  return { add, result }
}

const amountsOfPunch = (
  punch: TimePunch,
  durations: WorkedTime.WorkedTime["durations"],
  terms: CloseTerms
): Amounts.Amounts => {
  if (Option.isNone(durations)) return { punches: 1, incomplete: 1, net: 0, cost: 0, tips: punch.tips }
  return {
    punches: 1,
    incomplete: 0,
    net: Duration.toMillis(durations.value.net),
    cost: Option.getOrElse(cost(punch, terms), () => Infinity),
    tips: punch.tips
  }
}

type RowKey = Pick<CloseRow, "departmentId" | "locationId" | "roleId" | "userId">

const rowOf = (
  { departmentId, locationId, roleId, userId }: RowKey,
  { cost, incomplete, net, punches, tips }: Amounts.Amounts
): CloseRow => ({
  userId,
  locationId,
  departmentId,
  roleId,
  punches,
  incomplete,
  net: Duration.millis(net),
  cost: Cents.make(cost),
  tips: Cents.make(tips)
})

const amountsOf = (row: CloseRow | undefined): Amounts.Amounts =>
  row === undefined ? Amounts.zero : { ...row, net: Duration.toMillis(row.net) }

const compareRows = (one: CloseRow, other: CloseRow): number =>
  one.userId - other.userId ||
  one.locationId - other.locationId ||
  Option.getOrElse(one.departmentId, () => 0) - Option.getOrElse(other.departmentId, () => 0) ||
  one.roleId - other.roleId

const keyOf = ({ departmentId, locationId, roleId, userId }: RowKey): string =>
  [userId, locationId, Option.getOrElse(departmentId, () => ""), roleId].join(" ")

const excessMillis = (excess: Option.Option<Duration.Duration>): number =>
  Duration.toMillis(Option.getOrElse(excess, () => Duration.zero))
