/** Compares punches with a filter, as far as a punch shows whether it matches. Pure. */
import type * as DateTime from "effect/DateTime"
import * as Option from "effect/Option"
import type { DateRange, InstantRange, PunchFilter } from "../../PunchFilter.ts"
import type { TimePunch } from "../../TimePunch.ts"

const dayMillis = 86_400_000

/** The largest offset of any zone, by which a wall-clock time may differ from UTC. */
const widestOffset = 14 * 3_600_000

/** `tolerance` widens both ends if the service reads the window in a zone that the punch does not show. */
const isWithin = (at: DateTime.Utc | undefined, { gte, lt, lte }: InstantRange, tolerance: number): boolean => {
  if (gte === undefined && lte === undefined && lt === undefined) return true
  if (at === undefined) return false
  const millis = at.epochMilliseconds
  return (gte === undefined || millis >= gte.epochMilliseconds - tolerance) &&
    (lte === undefined || millis <= lte.epochMilliseconds + tolerance) &&
    (lt === undefined || millis < lt.epochMilliseconds + tolerance)
}

/** The business date is the date of the clock-in in a zone that only the service knows: one day of tolerance each way. */
const isOnDates = (at: DateTime.Utc, { end, start }: DateRange): boolean =>
  (start === undefined || at.epochMilliseconds >= Date.parse(start) - dayMillis) &&
  (end === undefined || at.epochMilliseconds < Date.parse(end) + 2 * dayMillis)

/** A punch shows only `auto_clocked_out`; the service alone knows the other flags. */
const hasFlag = (punch: TimePunch, flags: PunchFilter["flags"]): boolean =>
  flags === undefined || flags.some((flag) => flag !== "auto_clocked_out") || punch.autoClockedOut

const matchesDeleted = (punch: TimePunch, deleted: PunchFilter["deleted"]): boolean =>
  deleted === "include" || punch.deleted === (deleted === "only")

const isUnsetOr = <A>(wanted: A | undefined, value: A | undefined): boolean => wanted === undefined || wanted === value

/** The wire names of the conditions of the filter that the punch does not meet. */
export const mismatches = (filter: PunchFilter, punch: TimePunch): ReadonlyArray<string> => {
  const tolerance = filter.localizeSearchTime === true ? widestOffset : 0
  const modified = Option.getOrUndefined(punch.modified)
  const matches: Record<string, boolean> = {
    location_id: isUnsetOr(filter.locationId, punch.locationId),
    // Department 0 on the wire is `None` here.
    department_id: isUnsetOr<number>(filter.departmentId, Option.getOrElse(punch.departmentId, () => 0)),
    role_id: isUnsetOr(filter.roleId, punch.roleId),
    user_id: isUnsetOr(filter.userId, punch.userId),
    approved: isUnsetOr(filter.approved, punch.approved),
    deleted: matchesDeleted(punch, filter.deleted),
    // The spec says "after"; a punch modified at exactly this instant passes too.
    modified_since: isWithin(modified, { gte: filter.modifiedSince }, 0),
    clocked_in: isWithin(punch.clockedIn, filter.clockedIn ?? {}, tolerance),
    clocked_out: isWithin(Option.getOrUndefined(punch.clockedOut), filter.clockedOut ?? {}, tolerance),
    business_date: isOnDates(punch.clockedIn, filter.businessDate ?? {}),
    flags: hasFlag(punch, filter.flags)
  }
  return Object.keys(matches).filter((name) => matches[name] === false)
}

/** Whether the punches are in the order of their clock-ins, latest first. */
export const isLatestFirst = (punches: ReadonlyArray<TimePunch>): boolean =>
  punches.every((punch, at) => {
    const next = punches[at + 1]
    return next === undefined || next.clockedIn.epochMilliseconds <= punch.clockedIn.epochMilliseconds
  })
