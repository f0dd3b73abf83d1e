/** What to list: the type of a filter, and its schema, a codec that can be sent and hashed. */
import * as DateTime from "effect/DateTime"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as Getter from "effect/SchemaGetter"
import * as SchemaParser from "effect/SchemaParser"
import { BusinessDate, DepartmentId, LocationId, RoleId, UserId } from "./Ids.ts"
import { approvalStatuses, isSortField, punchFlags } from "./internal/wire/names.ts"
import { instantFromText } from "./internal/wire/schema.ts"
import type { TimePunch } from "./TimePunch.ts"

/**
 * A mark that the service puts on a punch: clocked in late, clocked out by the service, or a break that was not taken.
 */
export const PunchFlag = Schema.Literals(punchFlags)

export type PunchFlag = typeof PunchFlag.Type

/** The employee's own approval of a punch: not given yet, given, or disputed. */
export const EmployeeApprovalStatus = Schema.Literals(approvalStatuses)

export type EmployeeApprovalStatus = typeof EmployeeApprovalStatus.Type

/**
 * What to list, except for windows of time. A key that is left out, or `undefined`, does not filter. The conditions
 * combine with AND.
 */
export interface PunchCriteria {
  /** Only punches at this location. Default: all locations. */
  readonly locationId?: LocationId | undefined
  /** Only punches of this department. Default: all departments. */
  readonly departmentId?: DepartmentId | undefined
  /** Only punches in this role. Default: all roles. */
  readonly roleId?: RoleId | undefined
  /** Only punches of this user. Default: all users. */
  readonly userId?: UserId | undefined
  /** `true`: only approved punches; `false`: only unapproved ones. Default: both. */
  readonly approved?: boolean | undefined
  /** Whether to leave deleted punches out, to list only them, or to list both. Default `"exclude"`. */
  readonly deleted?: "exclude" | "only" | "include" | undefined
  /** Only punches that were modified after this instant. Default: all. */
  readonly modifiedSince?: DateTime.DateTime | undefined
  /** Only punches with at least one of these flags. An empty list is an `InvalidRequest`, not "all". Default: all. */
  readonly flags?: ReadonlyArray<PunchFlag> | undefined
  /** Only punches with one of these statuses. An empty list is an `InvalidRequest`, not "all". Default: all. */
  readonly employeeApprovalStatuses?: ReadonlyArray<EmployeeApprovalStatus> | undefined
  /** Whether the service reads the UTC digits of every window as wall-clock time where the punch is. Default `false`. */
  readonly localizeSearchTime?: boolean | undefined
  /**
   * Sorts by the first field, then by the next. An empty list is an `InvalidRequest`. Default: the order of the service;
   * some services always order by id.
   */
  readonly sortBy?: ReadonlyArray<readonly [Exclude<keyof TimePunch, "breaks">, "asc" | "desc"]> | undefined
}

/** A window on an instant; each end may be left open. With both `lte` and `lt` the earlier one counts. */
export interface InstantRange {
  /** The earliest instant, inclusive. Default: no earliest. */
  readonly gte?: DateTime.DateTime | undefined
  /** The latest instant, inclusive. Default: no latest. */
  readonly lte?: DateTime.DateTime | undefined
  /**
   * The end, exclusive, so that windows can adjoin without a row in common. The service only knows `lte`; the client
   * drops the rows at `lt` itself. Not together with `localizeSearchTime`. Default: no end.
   */
  readonly lt?: DateTime.DateTime | undefined
}

/** A window on the business date; each end may be left open. */
export interface DateRange {
  /** The first date, inclusive. Default: no first. */
  readonly first?: BusinessDate | undefined
  /** The last date, inclusive. Default: no last. */
  readonly last?: BusinessDate | undefined
}

/**
 * Which punches to list. Business dates silently switch the clock windows off on the service, so the type does not
 * allow both.
 */
export type PunchFilter =
  & PunchCriteria
  & (
    | {
      /** Only punches that were clocked in within this window. Default: all. Not together with `businessDate`. */
      readonly clockedIn?: InstantRange | undefined
      /** Only punches that were clocked out within this window. Default: all. Not together with `businessDate`. */
      readonly clockedOut?: InstantRange | undefined
      /**
       * Not together with `clockedIn` or `clockedOut`: business dates switch the clock windows off on the service, so a
       * filter has one kind of window. "Not assignable to type 'undefined'" says that this filter has both: take one out, or
       * use `withClockWindows` or `withDates` to replace the windows of another filter.
       */
      readonly businessDate?: undefined
    }
    | {
      /** Only punches of these business dates. Default: all. Not together with `clockedIn` or `clockedOut`. */
      readonly businessDate?: DateRange | undefined
      /**
       * Not together with `businessDate`, which switches the clock windows off on the service. "Not assignable to type
       * 'undefined'" says that this filter has both: take one out, or use `withClockWindows` or `withDates`.
       */
      readonly clockedIn?: undefined
      /**
       * Not together with `businessDate`, which switches the clock windows off on the service. "Not assignable to type
       * 'undefined'" says that this filter has both: take one out, or use `withClockWindows` or `withDates`.
       */
      readonly clockedOut?: undefined
    }
  )

/**
 * The criteria of `base` with these clock windows in place of whatever windows it has: its business dates are dropped, and
 * so is a clock window that is left out here.
 */
export const withClockWindows = (
  base: PunchFilter,
  windows: {
    /** Only punches that were clocked in within this window. Default: all. */
    readonly clockedIn?: InstantRange | undefined
    /** Only punches that were clocked out within this window. Default: all. */
    readonly clockedOut?: InstantRange | undefined
  }
): PunchFilter => ({ ...withoutWindows(base), ...windows })

/**
 * The criteria of `base` with these business dates in place of whatever windows it has: its clock windows are dropped.
 */
export const withDates = (base: PunchFilter, dates: DateRange): PunchFilter => ({
  ...withoutWindows(base),
  businessDate: dates
})

const withoutWindows = ({ businessDate: _dates, clockedIn: _in, clockedOut: _out, ...criteria }: PunchFilter) =>
  criteria

/** A key that may be left out: `undefined` is accepted as a value, and is left out of the JSON. */
const key = <S extends Schema.Constraint>(schema: S) =>
  Schema.optionalKey(schema).pipe(Schema.decodeTo(Schema.optional(Schema.toType(schema)), {
    decode: Getter.transformOptional((value: Option.Option<S["Type"]>) => value),
    encode: Getter.transformOptional((value: Option.Option<S["Type"] | undefined>) =>
      Option.filter(value, Predicate.isNotUndefined)
    )
  }))

/** Refuses keys that are unknown, whatever the options of the caller. */
const exact = <S extends Schema.Constraint>(record: S) =>
  Schema.declareConstructor<S["Type"], S["Encoded"]>()(
    [record],
    ([codec]) => (input, _, options) =>
      SchemaParser.decodeUnknownEffect(codec)(input, { ...options, onExcessProperty: "error" })
  )

const list = <S extends Schema.Constraint>(item: S) =>
  Schema.Array(item).check(Schema.isMinLength(1, { expected: "a list with at least one item" }))

const AnyZone = Schema.declare<DateTime.DateTime>(DateTime.isDateTime, { expected: "a DateTime" })

/** An instant of any zone; its text is in UTC. */
const Instant = Schema.String.pipe(Schema.decodeTo(AnyZone, instantFromText))

const Range = Schema.Struct({ gte: key(Instant), lte: key(Instant), lt: key(Instant) })

const Dates = Schema.Struct({ first: key(BusinessDate), last: key(BusinessDate) })

const SortField = Schema.String.pipe(Schema.refine(isSortField, { expected: "a field of a time punch, not breaks" }))

/** The schema of each key, in the order in which a filter is encoded. */
const fields = {
  locationId: key(LocationId),
  departmentId: key(DepartmentId),
  roleId: key(RoleId),
  userId: key(UserId),
  approved: key(Schema.Boolean),
  deleted: key(Schema.Literals(["exclude", "only", "include"])),
  modifiedSince: key(Instant),
  flags: key(list(PunchFlag)),
  employeeApprovalStatuses: key(list(EmployeeApprovalStatus)),
  localizeSearchTime: key(Schema.Boolean),
  sortBy: key(list(Schema.Tuple([SortField, Schema.Literals(["asc", "desc"])]))),
  clockedIn: key(Range),
  clockedOut: key(Range),
  businessDate: key(Dates)
} satisfies { readonly [K in keyof PunchFilter]-?: Schema.Constraint & { readonly Type: PunchFilter[K] } }

const Fields = Schema.Struct(fields)

const hasOneKindOfWindow = (filter: typeof Fields.Type): filter is PunchFilter =>
  filter.businessDate === undefined || (filter.clockedIn === undefined && filter.clockedOut === undefined)

const oneKindOfWindow = Schema.makeFilter((filter: typeof Fields.Type) =>
  hasOneKindOfWindow(filter) || {
    path: ["businessDate"],
    issue: "switches clockedIn and clockedOut off on the service: give one or the other"
  }
)

/**
 * The codec between a filter and plain JSON, to store, send or hash it: instants are RFC 3339 texts in UTC, ids are
 * numbers, keys that are left out or `undefined` are absent. Keys that are unknown are refused, and so are business
 * dates beside a clock window. The keys are encoded in a fixed order, so that filters that differ only in the order of
 * their keys or in the zones of their instants have equal JSON texts. `Schema.toType(PunchFilter)` checks a value that
 * comes from untyped code.
 */
export const PunchFilter: Schema.Codec<PunchFilter, Schema.Json> = exact(Fields)
  .check(oneKindOfWindow)
  .pipe(Schema.refine(hasOneKindOfWindow))
