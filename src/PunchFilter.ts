/** What to list: every query parameter of the listing (spec 4.1), and how a call is bounded. Types, and their schemas. */
import * as DateTime from "effect/DateTime"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { BusinessDate, DepartmentId, LocationId, RoleId, UserId } from "./Ids.ts"
import { TimePunch } from "./TimePunch.ts"

/** A mark that the service puts on a punch (spec 3). @since 0.1.0 */
export const PunchFlag = Schema.Literals(["late", "auto_clocked_out", "missed_break"])
export type PunchFlag = typeof PunchFlag.Type

/** What the employee said of the punch (spec 3). @since 0.1.0 */
export const EmployeeApprovalStatus = Schema.Literals(["pending", "approved", "disputed"])
export type EmployeeApprovalStatus = typeof EmployeeApprovalStatus.Type

/**
 * What to list, but for date windows. What is left out does not filter; `deleted` left out excludes deleted punches.
 * With `localizeSearchTime` the service reads the UTC digits of every window as wall-clock time where the punch is.
 *
 * @since 0.1.0
 */
export interface Criteria {
  readonly locationId?: LocationId | undefined
  readonly departmentId?: DepartmentId | undefined
  readonly roleId?: RoleId | undefined
  readonly userId?: UserId | undefined
  readonly approved?: boolean | undefined
  readonly deleted?: "exclude" | "only" | "include" | undefined
  /** Punches modified after this instant. */
  readonly modifiedSince?: DateTime.DateTime | undefined
  /** Punches with any of these; an empty list is refused, since the service would list everything. */
  readonly flags?: ReadonlyArray<PunchFlag> | undefined
  readonly employeeApprovalStatuses?: ReadonlyArray<EmployeeApprovalStatus> | undefined
  readonly localizeSearchTime?: boolean | undefined
  /** First by the first field, then by the next. Some services order by id whatever is asked. */
  readonly sortBy?: ReadonlyArray<readonly [keyof TimePunch, "asc" | "desc"]> | undefined
}

/**
 * A window on an instant: `gte` and `lte` inclusive, `lt` exclusive. The service knows only `lte`, so the rows at `lt`
 * itself are dropped here; not together with `localizeSearchTime`.
 *
 * @since 0.1.0
 */
export interface InstantRange {
  readonly gte?: DateTime.DateTime | undefined
  readonly lte?: DateTime.DateTime | undefined
  readonly lt?: DateTime.DateTime | undefined
}

/** A window on the business date, both ends inclusive. @since 0.1.0 */
export interface DateRange {
  readonly start?: BusinessDate | undefined
  readonly end?: BusinessDate | undefined
}

/**
 * Which punches to list. Business dates would silently switch the clock windows off on the service (spec 4.1, rule 1),
 * so the type does not allow both.
 *
 * @since 0.1.0
 */
export type PunchFilter =
  & Criteria
  & (
    | {
      readonly clockedIn?: InstantRange | undefined
      readonly clockedOut?: InstantRange | undefined
      readonly businessDate?: undefined
    }
    | {
      readonly businessDate?: DateRange | undefined
      readonly clockedIn?: undefined
      readonly clockedOut?: undefined
    }
  )

const Instant = Schema.declare<DateTime.DateTime>(DateTime.isDateTime, { expected: "a DateTime" })
const list = <S extends Schema.Constraint>(item: S) =>
  Schema.Array(item).check(Schema.isMinLength(1, { expected: "a list with at least one item" }))
const Window = Schema.Struct({
  gte: Schema.optional(Instant),
  lte: Schema.optional(Instant),
  lt: Schema.optional(Instant)
})
const SortField = Schema.declare<keyof TimePunch>(
  (field): field is keyof TimePunch => Predicate.isString(field) && Object.hasOwn(TimePunch.fields, field),
  { expected: "a field of a time punch" }
)

/** What a filter that comes from untyped code must be; the types above say the same to the compiler. @internal */
export const PunchFilterSchema = Schema.Struct({
  locationId: Schema.optional(LocationId),
  departmentId: Schema.optional(DepartmentId),
  roleId: Schema.optional(RoleId),
  userId: Schema.optional(UserId),
  approved: Schema.optional(Schema.Boolean),
  deleted: Schema.optional(Schema.Literals(["exclude", "only", "include"])),
  modifiedSince: Schema.optional(Instant),
  flags: Schema.optional(list(PunchFlag)),
  employeeApprovalStatuses: Schema.optional(list(EmployeeApprovalStatus)),
  localizeSearchTime: Schema.optional(Schema.Boolean),
  sortBy: Schema.optional(list(Schema.Tuple([SortField, Schema.Literals(["asc", "desc"])]))),
  clockedIn: Schema.optional(Window),
  clockedOut: Schema.optional(Window),
  businessDate: Schema.optional(Schema.Struct({
    start: Schema.optional(BusinessDate),
    end: Schema.optional(BusinessDate)
  }))
})
