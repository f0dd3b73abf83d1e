/** Whether a punch is what a filter asked for, as far as the punch itself shows it. Pure. */
import type * as DateTime from "effect/DateTime"
import * as Option from "effect/Option"
import type { DateRange, InstantRange, PunchFilter } from "../../PunchFilter.ts"
import type { TimePunch } from "../../TimePunch.ts"

const dayMillis = 86_400_000

/** No zone is further from UTC: by so much a wall clock may differ from the instant that it shows. */
const widestOffset = 14 * 3_600_000

/** `tolerance` widens both ends where the service reads the window in a zone that the punch does not show. */
const isWithin = (at: DateTime.Utc | undefined, { gte, lt, lte }: InstantRange, tolerance: number): boolean => {
  if (gte === undefined && lte === undefined && lt === undefined) return true
  if (at === undefined) return false
  const millis = at.epochMilliseconds
  return (gte === undefined || millis >= gte.epochMilliseconds - tolerance) &&
    (lte === undefined || millis <= lte.epochMilliseconds + tolerance) &&
    (lt === undefined || millis < lt.epochMilliseconds + tolerance)
}

/** The business date is that of the clock-in in a zone of the service's choice: a day of grace on either side. */
const isOnDates = (at: DateTime.Utc, { end, start }: DateRange): boolean =>
  (start === undefined || at.epochMilliseconds >= Date.parse(start) - dayMillis) &&
  (end === undefined || at.epochMilliseconds < Date.parse(end) + 2 * dayMillis)

/** Marks that a punch shows itself; the others are known to the service alone. */
const isMarked = (punch: TimePunch, flags: PunchFilter["flags"]): boolean =>
  flags === undefined || flags.some((flag) => flag !== "auto_clocked_out") || punch.autoClockedOut

const isDeletedAs = (punch: TimePunch, deleted: PunchFilter["deleted"]): boolean =>
  deleted === "include" || punch.deleted === (deleted === "only")

const isOr = <A>(wanted: A | undefined, value: A | undefined): boolean => wanted === undefined || wanted === value

/** The names, in the spec's terms, of what the filter asked for and the punch is not; empty where they agree. */
export const mismatches = (filter: PunchFilter, punch: TimePunch): ReadonlyArray<string> => {
  const tolerance = filter.localizeSearchTime === true ? widestOffset : 0
  const modified = Option.getOrUndefined(punch.modified)
  const agrees: Record<string, boolean> = {
    location_id: isOr(filter.locationId, punch.locationId),
    // A punch without a department may well be one of department 0.
    department_id: isOr<number>(filter.departmentId, Option.getOrElse(punch.departmentId, () => 0)),
    role_id: isOr(filter.roleId, punch.roleId),
    user_id: isOr(filter.userId, punch.userId),
    approved: isOr(filter.approved, punch.approved),
    deleted: isDeletedAs(punch, filter.deleted),
    // "After" is the spec's word; a punch modified at the very instant is let pass.
    modified_since: isWithin(modified, { gte: filter.modifiedSince }, 0),
    clocked_in: isWithin(punch.clockedIn, filter.clockedIn ?? {}, tolerance),
    clocked_out: isWithin(Option.getOrUndefined(punch.clockedOut), filter.clockedOut ?? {}, tolerance),
    business_date: isOnDates(punch.clockedIn, filter.businessDate ?? {}),
    flags: isMarked(punch, filter.flags)
  }
  return Object.keys(agrees).filter((name) => agrees[name] === false)
}

/** Whether the punches come in the order of their clock-ins, the last one first. */
export const isLatestFirst = (punches: ReadonlyArray<TimePunch>): boolean =>
  punches.every((punch, at) => {
    const next = punches[at + 1]
    return next === undefined || next.clockedIn.epochMilliseconds <= punch.clockedIn.epochMilliseconds
  })
