/** The sums of a close: rows and people, what one revision has more than another, and the sums of each person. */
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as Sink from "effect/Sink"
import type { InvalidRequest } from "../ApiError.ts"
import { type BusinessDate, Cents, DepartmentId, LocationId, RoleId, type TimePunchId, UserId } from "../Ids.ts"
import { Seconds } from "../internal/wire/schema.ts"
import * as Amounts from "../payroll/Amounts.ts"
import { MissingDayRule } from "../payroll/DayRule.ts"
import { compareParts, hasDouble, hasOver, makeClasses, type Part as PartOf } from "../payroll/hourClasses.ts"
import { amountOf, SumOverflow } from "../payroll/Labor.ts"
import { type Checks, isBoolean, must, optional, orFailing, refusalOf } from "../payroll/options.ts"
import * as Period from "../payroll/Period.ts"
import { toSink } from "../payroll/running.ts"
import * as WorkedTime from "../payroll/WorkedTime.ts"
import type { TimePunch } from "../TimePunch.ts"
import { type CloseTerms, datesOf, daysAt, isInLaterClose, thresholdsOf } from "./CloseTerms.ts"

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
  tips: Cents,
  /** The wage of an hour in cents. */
  hourlyWage: Cents,
  /** The part of `net` over a threshold of a day or a week, or of a seventh day; not what is `double`. `None` without a threshold. */
  over: Schema.OptionFromNullOr(Seconds),
  /** The part of `net` over the second daily threshold, or of a seventh day; `None` if the terms have neither. */
  double: Schema.OptionFromNullOr(Seconds)
}

const rowNames = {
  net: "netSeconds",
  cost: "costCents",
  tips: "tipsCents",
  hourlyWage: "hourlyWageCents",
  over: "overSeconds",
  double: "doubleSeconds"
} as const

/** The sums of a person at a location, in a department and a role, at a wage. */
export const CloseRow = Schema.Struct(rowFields).pipe(Schema.encodeKeys(rowNames))

export type CloseRow = typeof CloseRow.Type

/** What a row has more in one revision than in another: `CloseRow` with numbers that may be negative. @internal */
export const RowDifference = Schema.Struct({
  ...rowFields,
  /** How many punches more; negative if there are fewer. */
  punches: Schema.Int,
  /** How many more of them have no known time; negative if there are fewer. */
  incomplete: Schema.Int
}).pipe(Schema.encodeKeys(rowNames))

/** The sums of a revision. */
export interface CloseSums {
  /** Sorted by person, location, department, role and wage. */
  readonly rows: ReadonlyArray<CloseRow>
}

/** What else is known of the punches of a close. */
export interface SumOptions {
  /** The terms of the other closes: a punch of a location without an entry may be of a later one. Default: none. */
  readonly otherTerms?: ReadonlyArray<CloseTerms> | undefined
  /**
   * Whether they arrive by clock-in, as `PunchCopy.list` gives them. Then a day is counted when it has ended at all locations, and
   * memory grows with people and not with punches; another order is a defect. Default: false.
   */
  readonly sorted?: boolean | undefined
}

const sumChecks: Checks<SumOptions> = {
  otherTerms: optional(must(Array.isArray, "a list of terms")),
  sorted: isBoolean
}

/**
 * The sums of a close. It takes the punches of `queryWindow(terms)`, in any order, none deleted. A punch belongs, whole, to the
 * day on which it was clocked in, by the day rule of its location; the days before the period count for its thresholds only.
 * The time of a punch without a clock-out is due when it has ended.
 *
 * A punch of a location without an entry must belong to a later close of `otherTerms`. Fails with `MissingDayRule` if it does not, and
 * with `SumOverflow` before a sum could be wrong.
 */
export const sum = (
  terms: CloseTerms,
  options: SumOptions = {}
): Sink.Sink<CloseSums, TimePunch, never, MissingDayRule | SumOverflow | InvalidRequest> =>
  orFailing(
    refusalOf(options, sumChecks, terms.companyId),
    () => detailedSink(terms, options)
  )

/** `revision` less `previous`, row by row. What does not differ is left out. @internal */
export const difference = (revision: CloseSums, previous: CloseSums): CloseSums => {
  // Both lists are in the order of their keys. Maps would take more memory.
  const [now, then] = [revision.rows, previous.rows]
  const rows: Array<CloseRow> = []
  for (let [at, place] = [0, 0]; at < now.length || place < then.length;) {
    const [later, earlier] = [now[at], then[place]]
    const order = later === undefined ? 1 : earlier === undefined ? -1 : compareKeys(later, earlier)
    const [one, other] = [order <= 0 ? later : undefined, order >= 0 ? earlier : undefined]
    const known = one ?? other
    if (known === undefined) break
    const amounts = Amounts.subtract(amountsOf(one), amountsOf(other))
    const row = rowOf(known, amounts, combined(one, other, -1))
    if (!Amounts.isZero(amounts) || !isZero(row.over) || !isZero(row.double)) rows.push(row)
    if (order <= 0) at++
    if (order >= 0) place++
  }
  return { rows }
}

/** Times over thresholds. */
interface Excess {
  /** The time over the first thresholds; `None` without one. */
  readonly over: Option.Option<Duration.Duration>
  /** The time over the second daily threshold, or of a seventh day; `None` if the terms have neither. */
  readonly double: Option.Option<Duration.Duration>
}

const noExcess: Excess = { over: Option.none(), double: Option.none() }

/** One with the other added, or taken away. */
const combined = (one: Excess = noExcess, other: Excess = noExcess, sign: 1 | -1): Excess => ({
  over: combinedTime(one.over, other.over, sign),
  double: combinedTime(one.double, other.double, sign)
})

const combinedTime = (one: Excess["over"], other: Excess["over"], sign: 1 | -1): Excess["over"] =>
  Option.map(Option.orElse(one, () => other), () => Duration.millis(excessMillis(one) + sign * excessMillis(other)))

const isZero = (excess: Option.Option<Duration.Duration>): boolean => excessMillis(excess) === 0

/** Whether two revisions have the same sums. @internal */
export const equals = (one: CloseSums, other: CloseSums): boolean => difference(one, other).rows.length === 0

/** Sums without a punch, such as those before the first revision. @internal */
export const empty: CloseSums = { rows: [] }

/** The sums of a person over all locations, departments and roles. @internal */
export interface PersonSums extends Excess {
  /** The person. */
  readonly userId: UserId
  /** Number of punches. */
  readonly punches: number
  /** Paid time. */
  readonly net: Duration.Duration
  /** Wages in cents. */
  readonly cost: number
  /** Tips in cents. */
  readonly tips: number
}

/** The sums of each person, sorted by person. @internal */
export const byPerson = ({ rows }: CloseSums): ReadonlyArray<PersonSums> => {
  const people = new Map<UserId, { readonly amounts: Amounts.Amounts } & Excess>()
  for (const { userId, ...row } of rows) {
    const known = people.get(userId) ?? { amounts: Amounts.zero, ...noExcess }
    people.set(userId, { amounts: Amounts.add(known.amounts, Amounts.of(row)), ...combined(known, row, 1) })
  }
  return Array.from(people, ([userId, { amounts: { cost, net, punches, tips }, double, over }]) => ({
    userId,
    over,
    double,
    punches,
    net: Duration.millis(net),
    cost,
    tips
  })).toSorted((one, other) => one.userId - other.userId)
}

/** A row while it is summed; times in milliseconds. */
interface RunningRow {
  readonly key: RowKey
  /** Added to in place: a new object for each punch would be collected late. */
  readonly amounts: { -readonly [Name in keyof Amounts.Amounts]: number }
  over: number
  double: number
}

/** A person while the punches arrive. */
interface RunningPerson {
  /** In milliseconds, with the days before the close. */
  net: number
  /** What is not counted in the classes yet. */
  parts: Array<Part>
  /** When the first day of `parts` ends. */
  due: number
  /** The row of the last punch: most have the same one, and to find a row by its text takes longer than all else. */
  row: RunningRow | undefined
  /** Takes its time in the order in which it was worked. */
  readonly classesOf: ReturnType<typeof makeClasses>
}

/** The time of a punch; `day` is the place of its date in `datesOf`. */
type Part = PartOf<RunningRow>

const time = (isKnown: boolean, millis: number) => isKnown ? Option.some(Duration.millis(millis)) : Option.none()

/** A row of one date, or of one punch. @internal */
export interface DetailedRow extends CloseRow {
  readonly date?: BusinessDate | undefined
  readonly punchId?: TimePunchId | undefined
}

/** Whether each date, or each punch, has a separate row. @internal */
export interface DetailOptions extends SumOptions {
  readonly detail?: "day" | "punch" | undefined
}

/** The recorded rows that detailed ones add up to. @internal */
export const withoutDetail = (rows: ReadonlyArray<DetailedRow>): CloseSums => {
  const whole = new Map<string, CloseRow>()
  for (const { date: _date, punchId: _punchId, ...row } of rows) {
    const known = whole.get(keyOf(row))
    whole.set(
      keyOf(row),
      known === undefined
        ? row
        : rowOf(row, Amounts.add(Amounts.of(known), Amounts.of(row)), combined(known, row, 1))
    )
  }
  return { rows: [...whole.values()].toSorted(compareKeys) }
}

/** `sum` with a row for each date or punch. @internal */
export const detailedSink = (terms: CloseTerms, options: DetailOptions) =>
  toSink(() => makeSums(terms, options), (sums) => sums.result())

/** `sum` punch by punch. @internal */
export const makeSums = (terms: CloseTerms, { detail, sorted = false, otherTerms = [] }: DetailOptions) => {
  const isInLater = isInLaterClose(terms, otherTerms)
  const rows = new Map<string, RunningRow>()
  const people = new Map<UserId, RunningPerson>()
  const dates = datesOf(terms)
  const known = new Map<LocationId, ReturnType<typeof daysAt>>()
  const thresholds = thresholdsOf(terms)
  const [isOver, isDouble] = [hasOver(thresholds), hasDouble(thresholds)]
  const weekOf = Period.makeFirstDateOfWeek({ firstDay: terms.firstDay })
  // When a day has ended by every clock, no later punch is of it or of a day before it.
  const ends = dates.map((_, day) =>
    sorted
      ? Math.max(...terms.clocks.map(({ starts }) => starts[day + 1]?.epochMilliseconds ?? Infinity))
      : Infinity
  )
  let last = -Infinity

  const daysOf = (locationId: LocationId) => {
    const days = known.get(locationId) ?? daysAt(terms, locationId)
    if (!known.has(locationId)) known.set(locationId, days)
    return days
  }

  const endOf = ({ day }: Part): number => ends[day] ?? Infinity

  /** Counts the parts of the days that have ended at an instant. */
  const count = (person: RunningPerson, at: number): void => {
    if (at < person.due) return
    const hasEnded = (part: Part) => endOf(part) <= at
    for (const { day, net, row } of person.parts.filter(hasEnded).toSorted(compareParts)) {
      const date = dates[day]
      if (date === undefined) continue
      const { double, over } = person.classesOf(date, net)
      if (row === undefined) continue
      row.over += over
      row.double += double
    }
    person.parts = person.parts.filter((part) => !hasEnded(part))
    person.due = person.parts.reduce((due, part) => Math.min(due, endOf(part)), Infinity)
  }

  const add = (punch: TimePunch): Result.Result<void, MissingDayRule | SumOverflow> => {
    const days = daysOf(punch.locationId)
    if (days === undefined) {
      return isInLater(punch) ? Result.void : Result.fail(new MissingDayRule({ locationId: punch.locationId }))
    }
    const at = punch.clockedIn.epochMilliseconds
    if (sorted && at < last) throw new TypeError(`sorted, but punch ${punch.id} arrives behind a later clock-in`)
    last = at
    const day = days.starts.findLastIndex((start) => start <= at)
    if (dates[day] === undefined || at >= days.interval.to) return Result.void
    const net = WorkedTime.measureMillis(punch).times?.net
    // A day that begins before the close at a location has a part outside of it.
    const person = personAt(punch.userId)
    const row = at >= days.interval.from ? rowAt(person, punch, dates[day]) : undefined
    count(person, at)
    if (net !== undefined) {
      person.net += net
      const part = { day, at, id: punch.id, net, row }
      if (person.parts.length === 0) person.parts = [part]
      else person.parts.push(part)
      person.due = Math.min(person.due, endOf(part))
      if (!Number.isSafeInteger(person.net)) return Result.fail(new SumOverflow({ field: "net", punchId: punch.id }))
    }
    if (row === undefined) return Result.void
    row.amounts.punches += 1
    row.amounts.tips += punch.tips
    if (net === undefined) row.amounts.incomplete += 1
    else {
      row.amounts.net += net
      row.amounts.cost += amountOf(net, punch, terms.rounding)
    }
    const field = Amounts.overflow(row.amounts)
    return field === undefined ? Result.void : Result.fail(new SumOverflow({ field, punchId: punch.id }))
  }

  const personAt = (userId: UserId): RunningPerson => {
    const known = people.get(userId)
    if (known !== undefined) return known
    const person = { net: 0, parts: [], due: Infinity, row: undefined, classesOf: makeClasses(thresholds, weekOf) }
    people.set(userId, person)
    return person
  }

  const rowAt = (person: RunningPerson, punch: TimePunch, date: BusinessDate | undefined): RunningRow => {
    if (detail === undefined && person.row !== undefined && isOfRow(person.row.key, punch)) return person.row
    const key = detail === undefined
      ? keyOfPunch(punch)
      : { ...keyOfPunch(punch), date, ...detail === "punch" && { punchId: punch.id } }
    const text = keyOf(key)
    const row = rows.get(text) ?? { key, amounts: { ...Amounts.zero }, over: 0, double: 0 }
    rows.set(text, row)
    person.row = row
    return row
  }

  const result = (): { readonly rows: ReadonlyArray<DetailedRow> } => {
    for (const person of people.values()) count(person, Infinity)
    return {
      rows: Array.from(
        rows.values(),
        ({ amounts, double, key, over }) => ({
          ...rowOf(key, amounts, { over: time(isOver, over), double: time(isDouble, double) }),
          ...detailOf(key)
        })
      ).toSorted(compareKeys)
    }
  }

  return { add, result }
}

type RowKey = Pick<DetailedRow, "date" | "departmentId" | "hourlyWage" | "locationId" | "punchId" | "roleId" | "userId">

const detailOf = ({ date, punchId }: RowKey) => ({
  ...date !== undefined && { date },
  ...punchId !== undefined && { punchId }
})

/** The row of a punch. */
const keyOfPunch = ({ departmentId, hourlyWage, locationId, roleId, userId }: TimePunch): RowKey => ({
  userId,
  locationId,
  departmentId,
  roleId,
  hourlyWage: Cents.make(hourlyWage)
})

const rowOf = (
  { departmentId, hourlyWage, locationId, roleId, userId }: RowKey,
  { cost, incomplete, net, punches, tips }: Amounts.Amounts,
  { double, over }: Excess
): CloseRow => ({
  userId,
  locationId,
  departmentId,
  roleId,
  hourlyWage,
  punches,
  incomplete,
  net: Duration.millis(net),
  over,
  double,
  cost: Cents.make(cost),
  tips: Cents.make(tips)
})

const amountsOf = (row: CloseRow | undefined): Amounts.Amounts => row === undefined ? Amounts.zero : Amounts.of(row)

/** Whether a punch of the same person belongs to a row. */
const isOfRow = (key: RowKey, { departmentId, hourlyWage, locationId, roleId }: TimePunch): boolean =>
  key.locationId === locationId && key.roleId === roleId &&
  Option.getOrNull(key.departmentId) === Option.getOrNull(departmentId) &&
  key.hourlyWage === hourlyWage

const compareKeys = (one: RowKey, other: RowKey): number =>
  one.userId - other.userId ||
  one.locationId - other.locationId ||
  Option.getOrElse(one.departmentId, () => -1) - Option.getOrElse(other.departmentId, () => -1) ||
  one.roleId - other.roleId ||
  one.hourlyWage - other.hourlyWage

const keyOf = ({ date, departmentId, hourlyWage, locationId, punchId, roleId, userId }: RowKey): string =>
  [userId, locationId, Option.getOrElse(departmentId, () => ""), roleId, hourlyWage, date, punchId].join(" ")

const excessMillis = (excess: Option.Option<Duration.Duration>): number =>
  Duration.toMillis(Option.getOrElse(excess, () => Duration.zero))
