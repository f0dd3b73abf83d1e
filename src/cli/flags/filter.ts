/** Every filter of the listing (spec 4.1) as a flag in the spec's terms, and the filter that the flags make. */
import * as Flag from "effect/cli/Flag"
import type * as DateTime from "effect/DateTime"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { type BusinessDate, DepartmentId, LocationId, RoleId, UserId } from "../../Ids.ts"
import { formatInstant } from "../../internal/wire/instant.ts"
import { type Criteria, EmployeeApprovalStatus, type PunchFilter, PunchFlag } from "../../PunchFilter.ts"
import type { TimePunch } from "../../TimePunch.ts"
import { type CommandFailure, usage } from "../failure.ts"
import { date, id, instant, sortBy, words } from "./values.ts"

export const filterFlags = {
  locationId: id("location-id", LocationId.makeOption, "Punches of this location"),
  departmentId: id("department-id", DepartmentId.makeOption, "Punches of this department"),
  roleId: id("role-id", RoleId.makeOption, "Punches of this role"),
  userId: id("user-id", UserId.makeOption, "Punches of this user"),
  approved: Flag.Literals("approved", ["true", "false"]).pipe(
    Flag.withDescription("Only approved, or only unapproved punches"),
    Flag.optional
  ),
  deleted: Flag.Literals("deleted", ["exclude", "only", "include"]).pipe(
    Flag.withDescription("What of deleted punches (default: exclude)"),
    Flag.optional
  ),
  modifiedSince: instant("modified-since", "Punches modified after this instant"),
  clockedInGte: instant("clocked-in-gte", "Clocked in at this instant or later"),
  clockedInLte: instant("clocked-in-lte", "Clocked in at this instant or earlier"),
  clockedInLt: instant("clocked-in-lt", "Clocked in before this instant"),
  clockedOutGte: instant("clocked-out-gte", "Clocked out at this instant or later"),
  clockedOutLte: instant("clocked-out-lte", "Clocked out at this instant or earlier"),
  clockedOutLt: instant("clocked-out-lt", "Clocked out before this instant"),
  businessDateStart: date("business-date-start", "Business date on or after this date; not with --clocked-…"),
  businessDateEnd: date("business-date-end", "Business date on or before this date; not with --clocked-…"),
  flags: words("flags", PunchFlag.literals, "Punches with any of these flags"),
  employeeApprovalStatuses: words(
    "employee-approval-statuses",
    EmployeeApprovalStatus.literals,
    "Punches of any of these statuses"
  ),
  localizeSearchTime: Flag.Boolean("localize-search-time").pipe(
    Flag.withDescription("Read windows as wall-clock time where the punch is, instead of UTC"),
    Flag.withoutNegation,
    Flag.withDefault(false)
  ),
  sortBy
}

/** What the flags were parsed to. */
export interface FilterInput {
  readonly locationId: Option.Option<LocationId>
  readonly departmentId: Option.Option<DepartmentId>
  readonly roleId: Option.Option<RoleId>
  readonly userId: Option.Option<UserId>
  readonly approved: Option.Option<"true" | "false">
  readonly deleted: Option.Option<"exclude" | "only" | "include">
  readonly modifiedSince: Option.Option<DateTime.Utc>
  readonly clockedInGte: Option.Option<DateTime.Utc>
  readonly clockedInLte: Option.Option<DateTime.Utc>
  readonly clockedInLt: Option.Option<DateTime.Utc>
  readonly clockedOutGte: Option.Option<DateTime.Utc>
  readonly clockedOutLte: Option.Option<DateTime.Utc>
  readonly clockedOutLt: Option.Option<DateTime.Utc>
  readonly businessDateStart: Option.Option<BusinessDate>
  readonly businessDateEnd: Option.Option<BusinessDate>
  readonly flags: Option.Option<ReadonlyArray<typeof PunchFlag.Type>>
  readonly employeeApprovalStatuses: Option.Option<ReadonlyArray<EmployeeApprovalStatus>>
  readonly localizeSearchTime: boolean
  readonly sortBy: Option.Option<ReadonlyArray<readonly [keyof TimePunch, "asc" | "desc"]>>
}

const valueOf = Option.getOrUndefined

/** `undefined` where nothing bounds it, so that no window at all is asked for. */
const windowOf = (
  gte: Option.Option<DateTime.Utc>,
  lte: Option.Option<DateTime.Utc>,
  lt: Option.Option<DateTime.Utc>
) => [gte, lte, lt].every(Option.isNone) ? undefined : { gte: valueOf(gte), lte: valueOf(lte), lt: valueOf(lt) }

/** The filter that the flags ask for. Business dates beside clock windows are refused, as the service would drop those. */
export const toFilter = (flags: FilterInput): Result.Result<PunchFilter, CommandFailure> => {
  const criteria: Criteria = {
    locationId: valueOf(flags.locationId),
    departmentId: valueOf(flags.departmentId),
    roleId: valueOf(flags.roleId),
    userId: valueOf(flags.userId),
    approved: valueOf(Option.map(flags.approved, (word) => word === "true")),
    deleted: valueOf(flags.deleted),
    modifiedSince: valueOf(flags.modifiedSince),
    flags: valueOf(flags.flags),
    employeeApprovalStatuses: valueOf(flags.employeeApprovalStatuses),
    localizeSearchTime: flags.localizeSearchTime ? true : undefined,
    sortBy: valueOf(flags.sortBy)
  }
  const clockedIn = windowOf(flags.clockedInGte, flags.clockedInLte, flags.clockedInLt)
  const clockedOut = windowOf(flags.clockedOutGte, flags.clockedOutLte, flags.clockedOutLt)
  const start = valueOf(flags.businessDateStart)
  const end = valueOf(flags.businessDateEnd)
  if (start === undefined && end === undefined) return Result.succeed({ ...criteria, clockedIn, clockedOut })
  return clockedIn === undefined && clockedOut === undefined
    ? Result.succeed({ ...criteria, businessDate: { start, end } })
    : Result.fail(usage(
      "--business-date-start and -end switch the --clocked-in-… and --clocked-out-… windows off on the service",
      "Give one or the other."
    ))
}

/** The flags that were given, by name, as text in one form for one meaning. */
export const describeFilter = (flags: FilterInput): Record<string, string> => {
  const given: Record<string, string> = {}
  const note = <A>(name: string, value: Option.Option<A>, show: (value: A) => string = String) => {
    if (Option.isSome(value)) given[`--${name}`] = show(value.value)
  }
  const instant = (at: DateTime.Utc) => formatInstant(at.epochMilliseconds)
  const list = (items: ReadonlyArray<string>) => items.join(",")
  note("location-id", flags.locationId)
  note("department-id", flags.departmentId)
  note("role-id", flags.roleId)
  note("user-id", flags.userId)
  note("approved", flags.approved)
  note("deleted", Option.filter(flags.deleted, (word) => word !== "exclude"))
  note("modified-since", flags.modifiedSince, instant)
  note("clocked-in-gte", flags.clockedInGte, instant)
  note("clocked-in-lte", flags.clockedInLte, instant)
  note("clocked-in-lt", flags.clockedInLt, instant)
  note("clocked-out-gte", flags.clockedOutGte, instant)
  note("clocked-out-lte", flags.clockedOutLte, instant)
  note("clocked-out-lt", flags.clockedOutLt, instant)
  note("business-date-start", flags.businessDateStart)
  note("business-date-end", flags.businessDateEnd)
  note("flags", flags.flags, list)
  note("employee-approval-statuses", flags.employeeApprovalStatuses, list)
  note("localize-search-time", flags.localizeSearchTime ? Option.some("true") : Option.none())
  note("sort-by", flags.sortBy, (keys) => list(keys.map((key) => key.join("."))))
  return given
}
