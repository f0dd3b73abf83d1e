/** The issues to resolve before a period is closed: open, unapproved, overlapping, long and odd punches. */
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Function from "effect/Function"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Sink from "effect/Sink"
import type { InvalidRequest } from "../ApiError.ts"
import { LocationId, TimePunchId, UserId } from "../Ids.ts"
import { openWord } from "../internal/wire/schema.ts"
import type { TimePunch } from "../TimePunch.ts"
import {
  byLocation,
  type DayRule,
  type DayRules,
  dayStartsOf,
  type Interval,
  isDayRuleOrRules,
  type LocalPeriods,
  zoneOf,
  zonesOf
} from "./DayRule.ts"
import { IssueKind } from "./IssueKind.ts"
import {
  type Checks,
  isBoolean,
  isFiniteTime,
  isFunction,
  must,
  optional,
  orFailing,
  orThrow,
  refusalOf
} from "./options.ts"
import { businessDate } from "./Period.ts"
import { toSink } from "./running.ts"
import * as WorkedTime from "./WorkedTime.ts"

export { IssueKind } from "./IssueKind.ts"

/** A reason to look at a punch. It is a fact, not an error. */
export class Issue extends Schema.Opaque<Issue>()(Schema.Struct({
  /** The punch. */
  punchId: TimePunchId,
  /** The person who clocked in. */
  userId: UserId,
  /** The location of the punch. */
  locationId: LocationId,
  /** Why the punch should be looked at. */
  kind: openWord(IssueKind),
  /** The clock-in of the punch, in the zone of its location. `JSON.stringify` writes the instant, in UTC. */
  at: Schema.DateTimeZonedFromString,
  /** The reason as a sentence. Its times are in the zone of `at`. It contains no name of a person and no note. */
  text: Schema.String
})) {}

/** What is checked, and by which day rule. */
export interface PeriodCheckOptions<out E = never> extends WorkedTime.WorkedTimeOptions {
  /** The day rule of all locations, or `Period.dayRules`: each location by its own. */
  readonly dayRule: DayRule | DayRules<E>
  /** The period to close, by a day rule: `(dayRule) => Period.week(dayRule, date)`. */
  readonly period: (dayRule: DayRule) => Interval
  /** A punch that is longer than this is `tooLong`. A finite duration; default: 16 hours. */
  readonly maxDuration?: Duration.Input | undefined
  /** An hourly wage above this many cents is `wageFar`. Default: only one above ten times the median is. */
  readonly maxWage?: number | undefined
  /** The disputed punches. Only the service knows them: list with `employeeApprovalStatuses`. Default: none. */
  readonly disputed?: ReadonlySet<TimePunchId> | undefined
  /**
   * Which punches of the period are checked, such as those of one location. The others are only reported if they overlap
   * one of these: a person may be clocked in at two locations. Default: all.
   */
  readonly select?: ((punch: TimePunch) => boolean) | undefined
  /**
   * Whether the punches arrive by clock-in, as `PunchCopy.list` gives them. Then only punches that have not ended are kept, and
   * another order is a defect. Default: false.
   */
  readonly sorted?: boolean | undefined
}

/** @internal */
export const isMaxWage = optional<number>(
  must((value) => Number.isSafeInteger(value) && value >= 0, "whole cents, such as 20000")
)

/** @internal */
export const checkChecks: Checks<PeriodCheckOptions<unknown>> = {
  ...WorkedTime.measureChecks,
  dayRule: isDayRuleOrRules,
  period: isFunction(),
  maxDuration: optional(isFiniteTime),
  maxWage: isMaxWage,
  disputed: optional(must(Predicate.isSet, "a set of ids")),
  select: optional(isFunction()),
  sorted: isBoolean
}

/**
 * What to list for a check: the period by the day rule of each location, and `maxDuration` more on each side, so that an
 * overlap across an edge of the period is found. A punch that began still earlier and reaches into the period is `tooLong` or
 * `open` in an earlier period.
 */
export const queryWindow = <E = never>(options: PeriodCheckOptions<E>): Interval => {
  orThrow(refusalOf(options, checkChecks))
  return windowOf(options)
}

/** `queryWindow` of options that were checked. @internal */
export const windowOf = <E = never>(options: PeriodCheckOptions<E>): Interval => {
  const { gte, lt } = byLocation(options.dayRule, options.period).queryWindow
  const maxDuration = maxDurationOf(options)
  return { gte: DateTime.subtractDuration(gte, maxDuration), lt: DateTime.addDuration(lt, maxDuration) }
}

/**
 * Finds what must be looked at before a period is closed. A punch belongs, whole, to the period in which it was clocked
 * in, by the day rule of its location. A punch outside of the period is only reported if it overlaps one inside.
 * Deleted punches are skipped. The issues are sorted by person, clock-in, punch and kind.
 *
 * Two punches overlap if they share time; two that only touch do not. An open punch reaches to `asOf`. Without it its end
 * is not known, and only the instant of its clock-in counts.
 *
 * One pass, in any order. It keeps the issues, and about 180 bytes for each punch that is not deleted; with `sorted` about 50,
 * and 130 for the punches that have not ended, one or two a person. Fails with the error of `dayRule`, for any punch that is not deleted.
 *
 * **Example** (Is the week ready to close?)
 *
 * ```ts
 * import { DateTime, Stream } from "effect"
 * import { BusinessDate, CompanyId, TimePunches } from "effect-time-punches"
 * import { Period, PeriodCheck } from "effect-time-punches/payroll"
 *
 * const options: PeriodCheck.PeriodCheckOptions = {
 *   dayRule: DateTime.zoneMakeNamedUnsafe("America/New_York"),
 *   period: (dayRule) => Period.week(dayRule, BusinessDate.make("2026-03-09"))
 * }
 *
 * export const issues = TimePunches.list(CompanyId.make(7), { clockedIn: PeriodCheck.queryWindow(options) }).pipe(
 *   Stream.run(PeriodCheck.check(options))
 * )
 * ```
 */
export const check = <E = never>(
  options: PeriodCheckOptions<E>
): Sink.Sink<ReadonlyArray<Issue>, TimePunch, never, E | InvalidRequest> =>
  orFailing(refusalOf(options, checkChecks), () => Sink.map(findings(options), (found) => found.map(issueOf)))

/**
 * What `check` finds, in the same order, without sentences: an issue takes ten times the memory. `issueOf` makes it.
 * @internal
 */
export const findings = <E = never>(
  options: PeriodCheckOptions<E>
): Sink.Sink<ReadonlyArray<Finding>, TimePunch, never, E> => toSink(() => makeCheck(options), (check) => check.result())

/** @internal */
export interface Finding {
  readonly kind: IssueKind
  readonly shift: Place
  readonly reason: Reason
}

/**
 * A sentence, the shift that it overlaps, what it is longer than, or when it ended: sentences of millions of findings take
 * gigabytes.
 */
type Reason = string | Shift | Duration.Duration | DateTime.Utc

/** The time of a punch, `[start, end)` in epoch milliseconds, and what an issue needs of it. */
interface Place {
  punchId: TimePunchId
  readonly userId: UserId
  locationId: LocationId
  dayRule: DayRule
  start: number
  end: number
}

interface Paid extends Place {
  readonly wage: number
}

interface Shift extends Place {
  /** Whether it is in the period, selected or not. */
  within: boolean
  /** Whether it is checked, and not only read for overlaps. */
  belongs: boolean
  open: boolean
  /** Whether a finding has it. */
  isFound: boolean
}

/** `findings` punch by punch. @internal */
export const makeCheck = <E>(options: PeriodCheckOptions<E>) => {
  const { sorted = false } = options
  const found: Array<Finding> = []
  /** Of sorted punches the shifts that may share time with a later one; else all. */
  const people = new Map<UserId, Array<Shift>>()
  const zones = zonesOf(options.dayRule)
  const periods = byLocation(options.dayRule, options.period)
  const maxDuration = maxDurationOf(options)
  const wages = makeWages()
  let last = -Infinity

  const add = (punch: TimePunch): Result.Result<void, E> => {
    if (punch.deleted) return Result.void
    const located = shiftOf(punch, zones, periods, options)
    if (Result.isFailure(located)) return Result.fail(located.failure)
    const shift = located.success
    wages.add(shift, punch.hourlyWage, isAboveMax(punch, options))
    if (shift.belongs) {
      for (const [kind, reason] of reasons(punch, options, maxDuration)) {
        shift.isFound = true
        found.push({ kind, shift, reason })
      }
    }
    if (sorted && shift.start < last) {
      throw new TypeError(`sorted, but punch ${punch.id} arrives behind a later clock-in`)
    }
    last = shift.start
    // A shift without length shares time with none.
    if (shift.start >= shift.end) return Result.void
    const earlier = people.get(shift.userId)
    if (earlier === undefined) people.set(shift.userId, [shift])
    else if (!sorted) earlier.push(shift)
    else if (!replaces(earlier, shift)) people.set(shift.userId, withOverlaps(earlier, shift, found))
    return Result.void
  }

  const result = (): ReadonlyArray<Finding> => {
    if (!sorted) {
      for (const shifts of people.values()) {
        shifts.toSorted((a, b) => a.start - b.start)
          .reduce<Array<Shift>>((earlier, shift) => withOverlaps(earlier, shift, found), [])
      }
    }
    return inOrder(found.concat(wages.result()))
  }

  return { add, result }
}

const maxDurationOf = (options: PeriodCheckOptions<unknown>): Duration.Duration =>
  Duration.fromInputUnsafe(options.maxDuration ?? "16 hours")

const shiftOf = <E>(
  punch: TimePunch,
  zones: DayRules<E>,
  periods: LocalPeriods<E>,
  { asOf, select = Function.constTrue }: PeriodCheckOptions<E>
): Result.Result<Shift, E> => {
  const { clockedIn: { epochMilliseconds: start }, clockedOut, id: punchId, locationId, userId } = punch
  // Of an open punch without asOf only the instant of its clock-in is known.
  const end = Option.getOrElse(clockedOut, () => asOf)?.epochMilliseconds ?? start + 1
  return Result.flatMap(zones.getDayRule(locationId), (dayRule) =>
    Result.map(periods.contains(punch), (isWithin) => ({
      punchId,
      userId,
      locationId,
      dayRule,
      within: isWithin,
      belongs: isWithin && select(punch),
      open: Option.isNone(clockedOut),
      start,
      end,
      isFound: false
    })))
}

/** What is far from the others is known when all were seen, so it keeps each punch with a wage. */
const makeWages = () => {
  const lowest = new Map<UserId, number>()
  const paid: Array<Paid> = []

  const add = (shift: Shift, wage: number, isFound: boolean): void => {
    const { belongs, dayRule, end, locationId, punchId, start, userId, within } = shift
    if (!within || wage <= 0) return
    lowest.set(userId, Math.min(wage, lowest.get(userId) ?? Infinity))
    if (belongs && !isFound) paid.push({ punchId, userId, locationId, dayRule, start, end, wage })
  }

  const result = (): ReadonlyArray<Finding> => {
    if (lowest.size < leastPeople) return []
    const sorted = [...lowest.values()].toSorted((a, b) => a - b)
    const [one = 0, other = one] = sorted.slice((sorted.length - 1) >> 1, (sorted.length >> 1) + 1)
    const median = (one + other) / 2
    return paid.filter(({ wage }) => wage > 10 * median).map((shift) => ({
      kind: "wageFar",
      shift,
      reason: `Its hourly wage is ${amount(shift.wage)}, more than ten times the median of ${amount(median)}.`
    }))
  }

  return { add, result }
}

/** Fewer people have no usual wage. */
const leastPeople = 5

const amount = (cents: number): string => (cents / 100).toFixed(2)

/**
 * Lets a shift take the place of the only earlier one of the person, if that has ended and is in no finding. A new object for each
 * shift would live for a day of punches, and the engine collects such objects late: it would hold hundreds of megabytes of them.
 */
const replaces = ([only, ...others]: ReadonlyArray<Shift>, shift: Shift): boolean => {
  if (only === undefined || others.length > 0 || only.isFound || only.end > shift.start) return false
  Object.assign(only, shift)
  return true
}

/**
 * Finds what a shift of a person overlaps among the earlier ones, twice, unless both only surround the period. Gives the shifts
 * that have not ended when it begins, with itself.
 */
const withOverlaps = (earlier: ReadonlyArray<Shift>, shift: Shift, found: Array<Finding>): Array<Shift> => {
  const running = earlier.filter(({ end }) => shift.start < end)
  for (const other of running) {
    // The same punch, listed twice while the data changed.
    if (other.punchId === shift.punchId || !(other.belongs || shift.belongs)) continue
    shift.isFound = true
    other.isFound = true
    found.push({ kind: "overlap", shift, reason: other }, { kind: "overlap", shift: other, reason: shift })
  }
  return [...running, shift]
}

/** The issue of a finding. @internal */
export const issueOf = (finding: Finding): Issue => {
  const { kind, shift: { dayRule, locationId, punchId, start, userId } } = finding
  const at = DateTime.setZone(DateTime.makeUnsafe(start), zoneOf(dayRule))
  return { punchId, userId, locationId, kind, at, text: textOf(finding) }
}

const textOf = ({ reason, shift }: Finding): string =>
  typeof reason === "string"
    ? reason
    : Duration.isDuration(reason)
    ? `It lasts ${Duration.format(Duration.millis(shift.end - shift.start))}, longer than ${Duration.format(reason)}.`
    : DateTime.isDateTime(reason)
    ? clockOutText(reason, shift.dayRule)
    : overlapText(reason, zoneOf(shift.dayRule))

/** What the punch alone shows. */
const reasons = (
  punch: TimePunch,
  options: PeriodCheckOptions<unknown>,
  maxDuration: Duration.Duration
): ReadonlyArray<readonly [IssueKind, Reason]> => {
  const { anomalies, open, times } = WorkedTime.measureMillis(punch, options)
  const found: Array<readonly [IssueKind, Reason]> = []
  if (open) found.push(["open", "It has no clock-out."])
  if (!punch.approved) found.push(["unapproved", "It is not approved."])
  if (options.disputed?.has(punch.id) === true) found.push(["disputed", "The employee disputes it."])
  if (times !== undefined && times.gross > Duration.toMillis(maxDuration)) found.push(["tooLong", maxDuration])
  for (const anomaly of anomalies) {
    if (anomaly !== "OpenPunch") found.push(["anomaly", `${anomaly}: ${anomalyTexts[anomaly]}.`])
  }
  if (punch.hourlyWage === 0) found.push(["zeroWage", "Its hourly wage is 0."])
  if (isAboveMax(punch, options)) {
    found.push(["wageFar", `Its hourly wage is ${amount(punch.hourlyWage)}, above ${amount(options.maxWage ?? 0)}.`])
  }
  if (punch.autoClockedOut && Option.isSome(punch.clockedOut)) found.push(["autoClockedOut", punch.clockedOut.value])
  return found
}

const isAboveMax = ({ hourlyWage }: TimePunch, { maxWage = Infinity }: PeriodCheckOptions<unknown>): boolean =>
  hourlyWage > maxWage

const anomalyTexts: Record<Exclude<WorkedTime.Anomaly, "OpenPunch">, string> = {
  AsOfBeforeClockIn: "it begins after the instant up to which open punches count",
  NegativeSpan: "it ends before it begins",
  ZeroLength: "it begins and ends at the same instant",
  BreakOutsidePunch: "a break begins or ends outside of it",
  BreaksOverlap: "two of its breaks share time",
  NegativeBreak: "a break ends before it begins",
  OpenBreakInClosedPunch: "a break has no end",
  NothingPaid: "its unpaid breaks cover all of it"
}

/** A service that ends what a person did not clock out often takes the end of the day: a guess, and not an hour of work. */
const clockOutText = (at: DateTime.Utc, dayRule: DayRule): string => {
  const midnight = zoneOf(dayRule)
  const isLast = endsDay(at, midnight) || (dayStartsOf(dayRule) !== 0 && endsDay(at, dayRule))
  const local = DateTime.formatIsoOffset(DateTime.setZone(at, midnight))
  return `The service clocked it out at ${localTime(local, false)}${isLast ? ", in the last minute of a day" : ""}.`
}

/** Whether a day ends within a minute, or at this instant. */
const endsDay = (at: DateTime.Utc, dayRule: DayRule): boolean =>
  businessDate(dayRule, DateTime.subtract(at, { milliseconds: 1 })) !==
    businessDate(dayRule, DateTime.add(at, { minutes: 1 }))

const overlapText = (other: Shift, zone: DateTime.TimeZone): string => {
  const local = (millis: number) => DateTime.formatIsoOffset(DateTime.setZone(DateTime.makeUnsafe(millis), zone))
  const [start, end] = [local(other.start), local(other.end)]
  if (other.open) return `It overlaps punch ${other.punchId}, open since ${localTime(start, false)}.`
  // Where the clocks were set back in between, it could end before it begins.
  const withOffset = start.slice(-6) !== end.slice(-6)
  return `It overlaps punch ${other.punchId}, ${localTime(start, withOffset)} to ${localTime(end, withOffset)}.`
}

/** `2026-03-09 16:30`, or `2026-03-09 16:30-04:00`, from RFC 3339. */
const localTime = (iso: string, withOffset: boolean): string =>
  iso.replace(/^(.*)T(\d\d:\d\d).*(.{6})$/, withOffset ? "$1 $2$3" : "$1 $2")

/** By person, clock-in, punch and kind. A punch that was listed twice has each issue once. Sorts the array itself. */
const inOrder = (found: Array<Finding>): ReadonlyArray<Finding> => {
  found.sort(compare)
  const isAgain = (finding: Finding, at: number) => {
    const before = found[at - 1]
    return before !== undefined && compare(before, finding) === 0
  }
  return found.some(isAgain) ? found.filter((finding, at) => !isAgain(finding, at)) : found
}

const compare = (a: Finding, b: Finding): number =>
  a.shift.userId - b.shift.userId ||
  a.shift.start - b.shift.start ||
  a.shift.punchId - b.shift.punchId ||
  IssueKind.literals.indexOf(a.kind) - IssueKind.literals.indexOf(b.kind) ||
  compareTexts(a, b)

const isShift = (reason: Reason): reason is Shift =>
  typeof reason !== "string" && !Duration.isDuration(reason) && !DateTime.isDateTime(reason)

/** By the sentences. Those of two overlaps differ at the id already, unless a punch was listed twice. */
const compareTexts = (a: Finding, b: Finding): number => {
  const [one, other] = isShift(a.reason) && isShift(b.reason) && a.reason.punchId !== b.reason.punchId
    ? [`${a.reason.punchId},`, `${b.reason.punchId},`]
    : [textOf(a), textOf(b)]
  return one < other ? -1 : one > other ? 1 : 0
}
