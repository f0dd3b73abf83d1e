/** Which punches of a period are checked: those of a location, department, role or user. Pure. */
import * as Option from "effect/Option"
import type { DepartmentId, LocationId, RoleId, UserId } from "../../Ids.ts"
import type { TimePunch } from "../../TimePunch.ts"
import { filterFlags } from "../flags/filter.ts"

/** The filters of a check. Any other would hide what is to be looked at, as `--approved` hides unapproved punches. */
export const selectionFlags = {
  locationId: filterFlags.locationId,
  departmentId: filterFlags.departmentId,
  roleId: filterFlags.roleId,
  userId: filterFlags.userId
}

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
  (departmentId === undefined || Option.contains(punch.departmentId, departmentId))
