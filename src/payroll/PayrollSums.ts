/** The sums of a pay period, of which payroll files are made. */
import type * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import type { BusinessDate, Cents, DepartmentId, LocationId, RoleId, TimePunchId, UserId } from "../Ids.ts"
import type { RowKey } from "./mapping.ts"

/** The sums of a person at a location, in a department and a role, at a wage: a row of a close. */
export interface PayrollRow {
  /** The person. */
  readonly userId: UserId
  /** The location. */
  readonly locationId: LocationId
  /** The department; `None` without one. */
  readonly departmentId: Option.Option<DepartmentId>
  /** The role. */
  readonly roleId: RoleId
  /** The wage of an hour in cents. */
  readonly hourlyWage: Cents
  /** Number of punches. */
  readonly punches: number
  /** Paid time. */
  readonly net: Duration.Duration
  /** The part of `net` over the first threshold of a day, or over that of a week; `None` if the row does not have it. */
  readonly over: Option.Option<Duration.Duration>
  /** The part of `net` over the second threshold of a day; `None` without one. */
  readonly double: Option.Option<Duration.Duration>
  /** Wages in cents. */
  readonly cost: Cents
  /** Tips in cents. */
  readonly tips: Cents
  /** The date of its punches, if each date has its own rows: a mapping by day needs it. */
  readonly date?: BusinessDate | undefined
  /** The punch, if each has its own row: `hoursOf` of punches needs it. */
  readonly punchId?: TimePunchId | undefined
}

/** The sums of a pay period: whole sums, never differences. A revision of a close is one. */
export interface PayrollSums {
  /** The first date of the period. */
  readonly first: BusinessDate
  /** The last date of the period. */
  readonly last: BusinessDate
  /** The name of the revision, such as `7.2`; without one, `revisionId` is empty. */
  readonly id?: string | undefined
  /** The date on which it is paid, for `payDate`. */
  readonly payDate?: BusinessDate | undefined
  /** The sums of each person, location, department, role and wage. */
  readonly rows: ReadonlyArray<PayrollRow>
}

/** What a row is by; `undefined` for a key that it does not have. */
export const idsOf = ({ date, departmentId, locationId, roleId, userId }: PayrollRow) => ({
  user: userId,
  location: locationId,
  department: Option.getOrUndefined(departmentId),
  role: roleId,
  day: date
} satisfies Readonly<Record<RowKey, number | string | undefined>>)
