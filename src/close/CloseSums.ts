/** The sums of a close: rows and people, what one revision has more than another, and the sums of each person. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as Sink from "effect/Sink"
import { type BusinessDate, Cents, DepartmentId, LocationId, RoleId, UserId } from "../Ids.ts"
import { Seconds } from "../internal/wire/schema.ts"
import * as Amounts from "../payroll/Amounts.ts"
import { makeClasses, type Thresholds } from "../payroll/hourClasses.ts"
import { amountOf, SumOverflow } from "../payroll/Labor.ts"
import * as Period from "../payroll/Period.ts"
import { toSink } from "../payroll/running.ts"
import * as WorkedTime from "../payroll/WorkedTime.ts"
import { MissingZone } from "../payroll/Zones.ts"
import type { TimePunch } from "../TimePunch.ts"
import { type CloseTerms, datesOf, daysAt, isInLaterClose, thresholdsOf } from "./CloseTerms.ts"

/** `null` in the JSON of a release that did not have the field yet. */
const addedLater = <S extends Schema.Constraint>(field: S) =>
  Schema.OptionFromNullOr(field).pipe(Schema.withDecodingDefaultKey(Effect.succeed(null)))

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
  /** The wage of an hour in cents; `None` in a close with `separate` thresholds, whose rows are of all wages. */
  hourlyWage: addedLater(Cents),
  /**
   * The part of `net` over a daily threshold and, of what is left, over the weekly one; `None` without a threshold, and in a
   * close with `separate` ones.
   */
  over: addedLater(Seconds),
  /** The part of `net` over the second daily threshold; `None` without one. */
  double: addedLater(Seconds)
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
  /** The sum of `over` of the rows; with `separate` thresholds time over the weekly one. `None` without a threshold. */
  over: addedLater(Seconds),
  /** The sum of `double` of the rows; `None` without a second daily threshold. */
  double: addedLater(Seconds),
  /** With `separate` thresholds: time over the daily one, if there is a weekly one too. Else `None`. */
  overDaily: addedLater(Seconds)
}).pipe(Schema.encodeKeys({ over: "overSeconds", double: "doubleSeconds", overDaily: "overDailySeconds" }))

export type ClosePerson = typeof ClosePerson.Type

/** The sums of a revision. */
export interface CloseSums {
  /** Sorted by person, location, department, role and wage. */
  readonly rows: ReadonlyArray<CloseRow>
  /** Sorted by person: everyone in `rows`. */
  readonly people: ReadonlyArray<ClosePerson>
}

/** How the punches of a close arrive. */
export interface SumOptions {
  /**
   * Whether they arrive by clock-in, as `SqlStore.list` gives them. Then a day is counted when it has ended at all locations, and
   * memory grows with people and not with punches; another order is a defect. Default: false.
   */
  readonly isSorted?: boolean | undefined
}

/**
 * The sums of a close. It takes the punches of `queryWindow(terms)`, in any order, none deleted. A punch belongs, whole, to the
 * day on which it was clocked in, by the day rule of its location; the days before the period count for its thresholds only.
 * The time of a punch without a clock-out is due when it has ended.
 *
 * A punch of a location without an entry must belong to a later close of `others`. Fails with `MissingZone` if it does not, and
 * with `SumOverflow` before a sum could be wrong.
 */
export const sum = (
  terms: CloseTerms,
  others: ReadonlyArray<CloseTerms> = [],
  options: SumOptions = {}
): Sink.Sink<CloseSums, TimePunch, never, MissingZone | SumOverflow> =>
  toSink(() => makeSums(terms, others, options), (sums) => sums.result())

/** `revision` less `previous`, by row and by person. What does not differ is left out. */
export const difference = (revision: CloseSums, previous: CloseSums): CloseSums => ({
  rows: differences(compareKeys, revision.rows, previous.rows, (one, other, known) => {
    const amounts = Amounts.subtract(amountsOf(one), amountsOf(other))
    const row = rowOf(known, amounts, { over: between("over", one, other), double: between("double", one, other) })
    return Amounts.isZero(amounts) && isZero(row.over) && isZero(row.double) ? [] : [row]
  }),
  people: differences(comparePeople, revision.people, previous.people, (one, other, { userId }) => {
    const person: ClosePerson = {
      userId,
      over: between("over", one, other),
      double: between("double", one, other),
      overDaily: between("overDaily", one, other)
    }
    return isZero(person.over) && isZero(person.double) && isZero(person.overDaily) ? [] : [person]
  })
})

const comparePeople = (one: ClosePerson, other: ClosePerson): number => one.userId - other.userId

/** What each key has in both lists, either of which may lack it, in their order. Maps would take more memory than the lists. */
const differences = <A>(
  compare: (one: A, other: A) => number,
  now: ReadonlyArray<A>,
  then: ReadonlyArray<A>,
  differ: (one: A | undefined, other: A | undefined, known: A) => ReadonlyArray<A>
): ReadonlyArray<A> => {
  // They are sorted by a release that may have sorted in another way.
  const [later, earlier] = [now.toSorted(compare), then.toSorted(compare)]
  const found: Array<A> = []
  for (let [at, before] = [0, 0]; at < later.length || before < earlier.length;) {
    const [one, other] = [later[at], earlier[before]]
    const order = one === undefined ? 1 : other === undefined ? -1 : compare(one, other)
    const known = order <= 0 ? one : other
    if (known === undefined) break
    found.push(...differ(order <= 0 ? one : undefined, order >= 0 ? other : undefined, known))
    if (order <= 0) at++
    if (order >= 0) before++
  }
  return found
}

/** Times over thresholds. */
interface Excess {
  readonly over: Option.Option<Duration.Duration>
  readonly double: Option.Option<Duration.Duration>
}

const between = <Name extends string>(
  name: Name,
  one: { readonly [N in Name]: Option.Option<Duration.Duration> } | undefined,
  other: { readonly [N in Name]: Option.Option<Duration.Duration> } | undefined
): Option.Option<Duration.Duration> => {
  const [now, then] = [one?.[name] ?? Option.none(), other?.[name] ?? Option.none()]
  return Option.map(Option.orElse(now, () => then), () => Duration.millis(excessMillis(now) - excessMillis(then)))
}

const isZero = (excess: Option.Option<Duration.Duration>): boolean => excessMillis(excess) === 0

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
    amounts.set(row.userId, Amounts.add(amounts.get(row.userId) ?? Amounts.zero, Amounts.of(row)))
  }
  return [...amounts].toSorted(([one], [other]) => one - other).map(([userId, { cost, net, punches, tips }]) => ({
    userId,
    over: excess.get(userId)?.over ?? Option.none(),
    double: excess.get(userId)?.double ?? Option.none(),
    overDaily: excess.get(userId)?.overDaily ?? Option.none(),
    punches,
    net: Duration.millis(net),
    cost,
    tips
  }))
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
  readonly classes: RunningClasses
}

/** The time of a punch. */
interface Part {
  /** The place of its date in `datesOf`. */
  readonly day: number
  /** Its clock-in, which with its id says where it stands in its day. */
  readonly at: number
  readonly id: number
  /** In milliseconds. */
  readonly net: number
  /** The row that has it; `undefined` if it lies before the close. */
  readonly row: RunningRow | undefined
}

/** In the order in which a person worked. On a day, what lies before the close is in an earlier one. */
const compareParts = (one: Part, other: Part): number =>
  one.day - other.day ||
  Number(one.row !== undefined) - Number(other.row !== undefined) || one.at - other.at || one.id - other.id

/** Counts the parts of a person, which it takes in their order, by each rule of the close. */
interface RunningClasses {
  readonly add: (part: Part) => void
  readonly of: (userId: UserId) => ClosePerson
}

const time = (isKnown: boolean, millis: number) => isKnown ? Option.some(Duration.millis(millis)) : Option.none()

/** Classes that count together, or each threshold by itself. */
const makeRunningClasses = (
  terms: CloseTerms,
  dates: ReadonlyArray<BusinessDate>,
  weekOf: (date: BusinessDate) => BusinessDate
) => {
  const { dailyThreshold, doubleThreshold, weeklyThreshold } = thresholdsOf(terms)
  const hasDouble = doubleThreshold !== undefined
  const hasOver = hasDouble || weeklyThreshold !== undefined || dailyThreshold !== undefined
  const isTogether = terms.thresholds === "together"
  const counter = (thresholds: Thresholds, isInRows: boolean) => {
    const classesOf = makeClasses(thresholds, weekOf)
    const sums = { over: 0, double: 0 }
    const add = ({ day, net, row }: Part) => {
      const date = dates[day]
      if (date === undefined) return
      const { double, over } = classesOf(date, net)
      if (row === undefined) return
      for (const each of isInRows ? [sums, row] : [sums]) {
        each.over += over
        each.double += double
      }
    }
    return { add, sums }
  }
  const together = (): RunningClasses => {
    const { add, sums } = counter({ weeklyThreshold, dailyThreshold, doubleThreshold }, true)
    return {
      add,
      of: (userId) => ({
        userId,
        over: time(hasOver, sums.over),
        double: time(hasDouble, sums.double),
        overDaily: Option.none()
      })
    }
  }
  const separate = (): RunningClasses => {
    const [weekly, daily] = [counter({ weeklyThreshold }, false), counter({ dailyThreshold }, false)]
    const isWeekly = weeklyThreshold !== undefined
    return {
      add: (part) => {
        weekly.add(part)
        daily.add(part)
      },
      of: (userId) => ({
        userId,
        over: time(hasOver, isWeekly ? weekly.sums.over : daily.sums.over),
        double: Option.none(),
        overDaily: time(isWeekly && dailyThreshold !== undefined, daily.sums.over)
      })
    }
  }
  return {
    make: isTogether ? together : separate,
    ofRow: ({ double, over }: RunningRow): Excess => ({
      over: time(isTogether && hasOver, over),
      double: time(isTogether && hasDouble, double)
    })
  }
}

/** `sum` punch by punch. @internal */
export const makeSums = (terms: CloseTerms, others: ReadonlyArray<CloseTerms>, { isSorted = false }: SumOptions) => {
  const isInLater = isInLaterClose(terms, others)
  const rows = new Map<string, RunningRow>()
  const people = new Map<UserId, RunningPerson>()
  const dates = datesOf(terms)
  const known = new Map<LocationId, ReturnType<typeof daysAt>>()
  const isTogether = terms.thresholds === "together"
  const classes = makeRunningClasses(terms, dates, Period.makeFirstDateOfWeek(terms))
  // When a day has ended by every clock, no later punch is of it or of a day before it.
  const ends = dates.map((_, day) =>
    isSorted
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
    for (const part of person.parts.filter(hasEnded).toSorted(compareParts)) person.classes.add(part)
    person.parts = person.parts.filter((part) => !hasEnded(part))
    person.due = person.parts.reduce((due, part) => Math.min(due, endOf(part)), Infinity)
  }

  const add = (punch: TimePunch): Result.Result<void, MissingZone | SumOverflow> => {
    const days = daysOf(punch.locationId)
    if (days === undefined) {
      return isInLater(punch) ? Result.void : Result.fail(new MissingZone({ locationId: punch.locationId }))
    }
    const at = punch.clockedIn.epochMilliseconds
    if (isSorted && at < last) throw new TypeError(`isSorted, but punch ${punch.id} arrives behind a later clock-in`)
    last = at
    const day = days.starts.findLastIndex((start) => start <= at)
    if (dates[day] === undefined || at >= days.interval.to) return Result.void
    const net = WorkedTime.measureMillis(punch).times?.net
    // A day that begins before the close at a location has a part outside of it.
    const person = personAt(punch.userId)
    const row = at >= days.interval.from ? rowAt(person, punch) : undefined
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
    const person = { net: 0, parts: [], due: Infinity, row: undefined, classes: classes.make() }
    people.set(userId, person)
    return person
  }

  const rowAt = (person: RunningPerson, punch: TimePunch): RunningRow => {
    if (person.row !== undefined && isOfRow(person.row.key, punch)) return person.row
    const key = keyOfPunch(punch, isTogether)
    const text = keyOf(key)
    const row = rows.get(text) ?? { key, amounts: { ...Amounts.zero }, over: 0, double: 0 }
    rows.set(text, row)
    person.row = row
    return row
  }

  const result = (): CloseSums => {
    for (const person of people.values()) count(person, Infinity)
    const users = new Set([...rows.values()].map(({ key }) => key.userId))
    return {
      rows: [...rows.values()].map((row) => rowOf(row.key, row.amounts, classes.ofRow(row))).toSorted(compareKeys),
      people: [...people].flatMap(([userId, { classes }]) => users.has(userId) ? [classes.of(userId)] : [])
        .toSorted((one, other) => one.userId - other.userId)
    }
  }

  return { add, result }
}

type RowKey = Pick<CloseRow, "departmentId" | "hourlyWage" | "locationId" | "roleId" | "userId">

/** The row of a punch; with `separate` thresholds a row is of all wages. */
const keyOfPunch = (
  { departmentId, hourlyWage, locationId, roleId, userId }: TimePunch,
  isByWage: boolean
): RowKey => ({
  userId,
  locationId,
  departmentId,
  roleId,
  hourlyWage: isByWage ? Option.some(hourlyWage) : Option.none()
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
  (Option.isNone(key.hourlyWage) || key.hourlyWage.value === hourlyWage)

/** Rows with another key differ: one of no wage is not one of the wage 0. */
const compareKeys = (one: RowKey, other: RowKey): number =>
  one.userId - other.userId ||
  one.locationId - other.locationId ||
  Option.getOrElse(one.departmentId, () => -1) - Option.getOrElse(other.departmentId, () => -1) ||
  one.roleId - other.roleId ||
  Option.getOrElse(one.hourlyWage, () => -1) - Option.getOrElse(other.hourlyWage, () => -1)

const keyOf = ({ departmentId, hourlyWage, locationId, roleId, userId }: RowKey): string =>
  [
    userId,
    locationId,
    Option.getOrElse(departmentId, () => ""),
    roleId,
    Option.getOrElse(hourlyWage, () => "")
  ].join(" ")

const excessMillis = (excess: Option.Option<Duration.Duration>): number =>
  Duration.toMillis(Option.getOrElse(excess, () => Duration.zero))
