/** The punches of a period that a command looks at, by location, department, role and person, and what it lists for them. */
import * as DateTime from "effect/DateTime"
import type * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as Struct from "effect/Struct"
import type { DepartmentId, LocationId, RoleId, TimePunchId, UserId } from "../../Ids.ts"
import type { Interval } from "../../payroll/DayRule.ts"
import type { PunchFilter } from "../../PunchFilter.ts"
import type { TimePunch } from "../../TimePunch.ts"
import { filterFlags, type FilterInput, isOfDepartment } from "../flags/filter.ts"

/** The filters of a check. Any other would hide what is to be looked at, as `--approved` hides unapproved punches. */
export const selectionFlags = Struct.pick(filterFlags, ["locationId", "departmentId", "roleId", "userId"])

/** Said where the punches come from a copy. */
export const disputesUnknown = "Disputes are not in a copy: only the service knows them."

/** The punches to check. */
export interface Selected {
  readonly locationId: LocationId | undefined
  readonly departmentId: DepartmentId | undefined
  readonly roleId: RoleId | undefined
  readonly userId: UserId | undefined
}

/** What the flags select. */
export const selectedOf = (
  { departmentId, locationId, roleId, userId }: {
    readonly [K in keyof Selected]: Option.Option<NonNullable<Selected[K]>>
  }
): Selected => ({
  locationId: Option.getOrUndefined(locationId),
  departmentId: Option.getOrUndefined(departmentId),
  roleId: Option.getOrUndefined(roleId),
  userId: Option.getOrUndefined(userId)
})

/**
 * Whether a punch is selected. Of a location, department and role it is decided here, since the service would leave out
 * the punches of the same person elsewhere, and with them the overlaps.
 */
export const selects = ({ departmentId, locationId, roleId, userId }: Selected) => (punch: TimePunch): boolean =>
  (locationId === undefined || punch.locationId === locationId) &&
  (roleId === undefined || punch.roleId === roleId) &&
  (userId === undefined || punch.userId === userId) &&
  (departmentId === undefined || isOfDepartment(punch, departmentId))

/** The ids of the selected punches of a window that their employees dispute. */
export const disputedIn = <E, R>(
  clockedIn: Interval,
  selected: Selected,
  list: (filter: PunchFilter) => Stream.Stream<TimePunch, E, R>
): Effect.Effect<ReadonlySet<TimePunchId>, E, R> =>
  list({ ...selected, clockedIn, employeeApprovalStatuses: ["disputed"] }).pipe(
    Stream.runFold(() => new Set<TimePunchId>(), (ids, { id }) => ids.add(id))
  )

/**
 * What is listed for a window, and for the window that the flags of the period make. A punch of the same person at another
 * location is read too, for the overlap.
 */
export const widerFilter = (
  { gte, lt }: Interval,
  { userId }: Selected,
  clockedIn: FilterInput["clockedIn"]
): PunchFilter => ({
  userId,
  clockedIn: {
    gte: DateTime.min(gte, Option.getOrElse(clockedIn.gte, () => gte)),
    lt: DateTime.max(lt, Option.getOrElse(clockedIn.lt, () => lt))
  }
})
