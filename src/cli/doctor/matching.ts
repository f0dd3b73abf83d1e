/** Compares punches with a filter, as far as a punch shows whether it matches. Pure. */
import * as DateTime from "effect/DateTime"
import * as Option from "effect/Option"
import { BusinessDate } from "../../Ids.ts"
import { timePunchNames } from "../../internal/wire/names.ts"
import { idKeys } from "../../listing/parameters.ts"
import type { DateRange, InstantRange, PunchFilter } from "../../PunchFilter.ts"
import type { TimePunch } from "../../TimePunch.ts"

const hour = 3_600_000

const day = 24 * hour

/** The largest offset of any zone, by which a wall-clock time may differ from UTC. */
export const widestOffset = 14 * hour

/** The most by which a business day starts after midnight UTC: the zone of -12 hours, and a day that starts at 6. */
const latestStart = 18 * hour

/** The instants between which the digits may lie that a punch does not show. */
const hiddenDigits = 1000

/** `tolerance` widens both ends if the service reads the window in a zone that the punch does not show. */
const isWithin = (at: DateTime.Utc | undefined, { gte, lt, lte }: InstantRange, tolerance: number): boolean => {
  if (gte === undefined && lte === undefined && lt === undefined) return true
  if (at === undefined) return false
  const millis = at.epochMilliseconds
  return (gte === undefined || millis >= gte.epochMilliseconds - tolerance) &&
    (lte === undefined || millis <= lte.epochMilliseconds + tolerance) &&
    (lt === undefined || millis < lt.epochMilliseconds + tolerance)
}

/**
 * The business date is the date of the clock-in in a zone that only the service knows, on a day that may start later
 * than midnight.
 */
const isOnDates = (at: DateTime.Utc, { end, start }: DateRange): boolean =>
  (start === undefined || dateOf(at, widestOffset) >= start) && (end === undefined || dateOf(at, -latestStart) <= end)

/** The date of an instant in UTC, moved by some milliseconds. */
const dateOf = (at: DateTime.Utc, millis: number): string =>
  DateTime.formatIsoDateUtc(DateTime.add(at, { milliseconds: millis }))

/** The first and last business date that an instant may have. */
export const possibleDates = (at: DateTime.Utc) => ({
  start: BusinessDate.make(dateOf(at, -latestStart)),
  end: BusinessDate.make(dateOf(at, widestOffset))
})

/** Milliseconds since midnight UTC. */
export const timeOfDay = (at: DateTime.Utc): number => ((at.epochMilliseconds % day) + day) % day

/** A punch shows only `auto_clocked_out`; the service alone knows the other flags. */
const hasFlag = (punch: TimePunch, flags: PunchFilter["flags"]): boolean =>
  flags === undefined || flags.some((flag) => flag !== "auto_clocked_out") || punch.autoClockedOut

const matchesDeleted = (punch: TimePunch, deleted: PunchFilter["deleted"]): boolean =>
  deleted === "include" || punch.deleted === (deleted === "only")

const isUnsetOr = <A>(wanted: A | undefined, value: A | undefined): boolean => wanted === undefined || wanted === value

/** The id that a punch has under a key; 0, as on the wire, for none. */
export const idOf = (punch: TimePunch, key: typeof idKeys[number]): number => {
  const id: number | Option.Option<number> = punch[key]
  return Option.isOption(id) ? Option.getOrElse(id, () => 0) : id
}

/** The wire names of the conditions of the filter that the punch does not meet. */
export const mismatches = (filter: PunchFilter, punch: TimePunch): ReadonlyArray<string> => {
  const tolerance = filter.localizeSearchTime === true ? widestOffset : 0
  const modified = Option.getOrUndefined(punch.modified)
  const matches: Record<string, boolean> = {
    ...Object.fromEntries(idKeys.map((key) => [timePunchNames[key], isUnsetOr<number>(filter[key], idOf(punch, key))])),
    approved: isUnsetOr(filter.approved, punch.approved),
    deleted: matchesDeleted(punch, filter.deleted),
    // The spec says "after"; a punch modified at exactly this instant passes too.
    // A punch without it may be one that the service always sends.
    modified_since: modified === undefined || isWithin(modified, { gte: filter.modifiedSince }, 0),
    clocked_in: isWithin(punch.clockedIn, filter.clockedIn ?? {}, tolerance),
    clocked_out: isWithin(Option.getOrUndefined(punch.clockedOut), filter.clockedOut ?? {}, tolerance),
    business_date: isOnDates(punch.clockedIn, filter.businessDate ?? {}),
    flags: hasFlag(punch, filter.flags)
  }
  return Object.keys(matches).filter((name) => matches[name] === false)
}

/** Whether a punch shows every condition of the filter. */
export const isShown = (filter: PunchFilter): boolean =>
  filter.employeeApprovalStatuses === undefined &&
  filter.localizeSearchTime !== true &&
  filter.businessDate === undefined &&
  (filter.flags ?? []).every((flag) => flag === "auto_clocked_out")

/**
 * Whether the service must send the punch for the filter, whatever digits the punch does not show. Where this is false,
 * the punch may still match.
 */
export const mustMatch = (filter: PunchFilter, punch: TimePunch): boolean => {
  const { clockedIn, clockedOut, modifiedSince } = filter
  return isShown(filter) &&
    mismatches(filter, punch).length === 0 &&
    (modifiedSince === undefined ||
      Option.exists(punch.modified, (at) => at.epochMilliseconds > modifiedSince.epochMilliseconds)) &&
    isSurelyBefore(punch.clockedIn, clockedIn) &&
    isSurelyBefore(Option.getOrUndefined(punch.clockedOut), clockedOut)
}

const isSurelyBefore = (at: DateTime.Utc | undefined, { lt, lte }: InstantRange = {}): boolean =>
  at === undefined ||
  [lt, lte].every((end) => end === undefined || at.epochMilliseconds + hiddenDigits <= end.epochMilliseconds)

/** Whether the punches are in the order of their clock-ins, latest first. */
export const isLatestFirst = (punches: ReadonlyArray<TimePunch>): boolean =>
  punches.every((punch, at) => {
    const next = punches[at + 1]
    return next === undefined || next.clockedIn.epochMilliseconds <= punch.clockedIn.epochMilliseconds
  })
