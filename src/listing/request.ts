/** From a filter to the request that asks for it (spec 4.1): pure, and the only place that knows the query's names. */
import * as DateTime from "effect/DateTime"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { InvalidRequest } from "../ApiError.ts"
import { type Company, CompanySchema } from "../Company.ts"
import { CompanyId, Cursor } from "../Ids.ts"
import { firstIssue } from "../internal/base/issue.ts"
import { wholeNumber } from "../internal/base/wholeNumber.ts"
import { formatInstant, isWritable } from "../internal/wire/instant.ts"
import { type InstantRange, type PunchFilter, PunchFilterSchema } from "../PunchFilter.ts"
import type { TimePunch } from "../TimePunch.ts"

/** A listing that has passed every local check: what is the same for each of its pages. */
export interface Query {
  readonly company: Company
  /** Path and query without the cursor, from the base URL on. */
  readonly target: string
  /** Drops the rows at an exclusive end, which the service can only include; `undefined` where every row stays. */
  readonly isInRange: ((punch: TimePunch) => boolean) | undefined
}

const wireName: Record<keyof TimePunch, string> = {
  id: "id",
  companyId: "company_id",
  userId: "user_id",
  roleId: "role_id",
  locationId: "location_id",
  shiftId: "shift_id",
  departmentId: "department_id",
  clockedIn: "clocked_in",
  clockedOut: "clocked_out",
  hourlyWage: "hourly_wage",
  tips: "tips",
  approved: "approved",
  editablePunch: "editable_punch",
  notes: "notes",
  posType: "pos_type",
  breaks: "breaks",
  autoClockedOut: "auto_clocked_out",
  clockedInOffline: "clocked_in_offline",
  clockedOutOffline: "clocked_out_offline",
  created: "created",
  modified: "modified",
  deleted: "deleted"
}

/** Every parameter that says something of people or places, for whoever prints URLs. */
export const privateParameters = [
  "cursor",
  "location_id",
  "department_id",
  "role_id",
  "user_id",
  "modified_since",
  "clocked_in[gte]",
  "clocked_in[lte]",
  "clocked_out[gte]",
  "clocked_out[lte]",
  "business_date_start",
  "business_date_end"
]

const deletedParameter = { exclude: undefined, only: "true", include: "null" } as const

/** The most rows that one page may have, which is also what one page has when nothing is said (spec 8). */
export const maxPageSize = 200

const invalid = (companyId: CompanyId, field: string, detail: string) =>
  Result.fail(new InvalidRequest({ companyId, field, detail }))

const decodeCompany = Schema.decodeUnknownResult(CompanySchema)
const decodeFilter = Schema.decodeUnknownResult(PunchFilterSchema, { onExcessProperty: "error" })
const isCursor = Schema.is(Cursor)

/** Checks company, filter and page size, and writes all but the cursor. Fails with what and where, before any request. */
export const buildQuery = (
  company: CompanyId | Company,
  filter: PunchFilter = {},
  pageSize: number = maxPageSize
): Result.Result<Query, InvalidRequest> =>
  Result.gen(function*() {
    const { id, guid } = yield* checked(
      decodeCompany(typeof company === "number" ? { id: company } : company),
      (path) => path === "" ? "company" : `company.${path}`
    )
    const criteria = yield* checked(decodeFilter(filter), (path) => path === "" ? "filter" : path, id)
    const limit = wholeNumber(pageSize, 1, maxPageSize)
    if (Result.isFailure(limit)) return yield* invalid(id, "pageSize", `must be ${limit.failure}`)
    const { businessDate, clockedIn, clockedOut } = criteria
    const localized = criteria.localizeSearchTime === true
    if (businessDate !== undefined && (clockedIn !== undefined || clockedOut !== undefined)) {
      return yield* invalid(
        id,
        "businessDate",
        "switches clockedIn and clockedOut off on the service: give one or the other"
      )
    }
    const { end, start } = businessDate ?? {}
    if (start !== undefined && end !== undefined && start > end) {
      return yield* invalid(id, "businessDate", "must not end before it starts")
    }
    const window = (field: "clockedIn" | "clockedOut", range: InstantRange = {}) =>
      checkedRange(id, field, range, localized)
    const entered = yield* window("clockedIn", clockedIn)
    const left = yield* window("clockedOut", clockedOut)
    const modifiedSince = yield* instant(id, "modifiedSince", criteria.modifiedSince)

    const parameters: ReadonlyArray<readonly [string, number | string | boolean | undefined]> = [
      ["limit", pageSize],
      ["location_id", criteria.locationId],
      ["department_id", criteria.departmentId],
      ["role_id", criteria.roleId],
      ["user_id", criteria.userId],
      ["approved", criteria.approved],
      ["modified_since", modifiedSince],
      ["clocked_in[gte]", entered.gte],
      ["clocked_in[lte]", entered.lte],
      ["clocked_out[gte]", left.gte],
      ["clocked_out[lte]", left.lte],
      ["deleted", deletedParameter[criteria.deleted ?? "exclude"]],
      ["localize_search_time", localized ? true : undefined],
      ["flags", criteria.flags?.join(",")],
      ["employee_approval_statuses", criteria.employeeApprovalStatuses?.join(",")],
      ["sort_by", criteria.sortBy?.map(([field, direction]) => `${wireName[field]}.${direction}`).join(",")],
      ["business_date_start", start],
      ["business_date_end", end]
    ]
    const query = parameters.flatMap(([name, value]) =>
      value === undefined ? [] : [`${encode(name)}=${encode(`${value}`)}`]
    )
    const isBefore = (end: number | undefined, at: DateTime.Utc) => end === undefined || at.epochMilliseconds < end
    return {
      company: guid === undefined ? { id } : { id, guid },
      target: `v2/company/${id}/time_punches?${query.join("&")}`,
      isInRange: entered.lt === undefined && left.lt === undefined ?
        undefined :
        (punch) =>
          isBefore(entered.lt, punch.clockedIn) &&
          (Option.isNone(punch.clockedOut) || isBefore(left.lt, punch.clockedOut.value))
    }
  })

/** The cursor of a call, which may be given as it is or as the `Option` that a page or an error holds. */
export const startAt = (
  companyId: CompanyId,
  field: "from" | "cursor",
  cursor: Cursor | Option.Option<Cursor> | undefined
): Result.Result<Option.Option<Cursor>, InvalidRequest> => {
  const start = Option.isOption(cursor) ? cursor : Option.fromUndefinedOr(cursor)
  return Option.isNone(start) || isCursor(start.value)
    ? Result.succeed(start)
    : invalid(companyId, field, "must be a cursor that the service gave, not an empty or broken text")
}

/** The request for one page. */
export const pageRequest = (baseUrl: string, query: Query, cursor: Option.Option<Cursor>) =>
  HttpClientRequest.get(
    Option.isNone(cursor)
      ? `${baseUrl}/${query.target}`
      : `${baseUrl}/${query.target}&cursor=${encodeURIComponent(cursor.value)}`
  )

/** Lists stay readable: form style has a literal comma (spec 4.1). */
const encode = (text: string): string => encodeURIComponent(text).replaceAll("%2C", ",")

const checked = <A>(
  result: Result.Result<A, Schema.SchemaError>,
  fieldOf: (path: string) => string,
  companyId = CompanyId.make(0)
) =>
  Result.mapError(result, (error) => {
    const { detail, path } = firstIssue(error)
    return new InvalidRequest({ companyId, field: fieldOf(path), detail })
  })

const instant = (companyId: CompanyId, field: string, at: DateTime.DateTime | undefined) =>
  at === undefined
    ? Result.succeed(undefined)
    : isWritable(at.epochMilliseconds)
    ? Result.succeed(formatInstant(at.epochMilliseconds))
    : invalid(companyId, field, "must be an instant of the years 0001 to 9999")

const checkedRange = (
  companyId: CompanyId,
  field: "clockedIn" | "clockedOut",
  range: InstantRange,
  localized: boolean
) =>
  Result.gen(function*() {
    const { gte, lt, lte } = range
    if (lt !== undefined && localized) {
      return yield* invalid(companyId, `${field}.lt`, "cannot go with localizeSearchTime: use lte")
    }
    const last = lte === undefined ? lt : lt === undefined ? lte : DateTime.min(lte, lt)
    if (gte !== undefined && last !== undefined && DateTime.isGreaterThan(gte, last)) {
      return yield* invalid(companyId, field, "must not end before it starts")
    }
    return {
      gte: yield* instant(companyId, `${field}.gte`, gte),
      lte: yield* instant(companyId, `${field}.${lte === undefined ? "lt" : "lte"}`, last),
      lt: lt?.epochMilliseconds
    }
  })
