/** Whether a filter is one that can be requested: its schema, the order of its ends, and what text can write. Pure. */
import * as DateTime from "effect/DateTime"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { InvalidRequest } from "../ApiError.ts"
import { CompanyId } from "../Ids.ts"
import { firstIssue } from "../internal/base/issue.ts"
import { isWritable } from "../internal/wire/instant.ts"
import { PunchFilter } from "../PunchFilter.ts"
import { lastInstant } from "./parameters.ts"

const decodeFilter = Schema.decodeUnknownResult(Schema.toType(PunchFilter))

/** The filter, or the first reason not to send it; `field` is the argument that is wrong. */
export const validFilter = (companyId: CompanyId, filter: PunchFilter): Result.Result<PunchFilter, InvalidRequest> =>
  Result.gen(function*() {
    const valid = yield* validated(decodeFilter(filter), (path) => path === "" ? "filter" : path, companyId)
    yield* checkWindows(companyId, valid)
    return valid
  })

/** The result of a schema, with its first issue as the argument that is invalid. */
export const validated = <A>(
  result: Result.Result<A, Schema.SchemaError>,
  fieldOf: (path: string) => string,
  companyId = CompanyId.make(0)
) =>
  Result.mapError(result, (error) => {
    const { detail, path } = firstIssue(error)
    return new InvalidRequest({ companyId, field: fieldOf(path), detail })
  })

export const invalid = (companyId: CompanyId, field: string, detail: string) =>
  Result.fail(new InvalidRequest({ companyId, field, detail }))

/** What the schema of a filter does not know: the order of two ends, and what a request can write. */
const checkWindows = (companyId: CompanyId, filter: PunchFilter): Result.Result<void, InvalidRequest> =>
  Result.gen(function*() {
    const { end, start } = filter.businessDate ?? {}
    if (start !== undefined && end !== undefined && start > end) {
      return yield* invalid(companyId, "businessDate", reversed)
    }
    for (const field of ["clockedIn", "clockedOut"] as const) {
      const range = filter[field] ?? {}
      const last = lastInstant(range)
      if (range.lt !== undefined && filter.localizeSearchTime === true) {
        return yield* invalid(companyId, `${field}.lt`, "cannot go with localizeSearchTime: use lte")
      }
      if (range.gte !== undefined && last !== undefined && DateTime.isGreaterThan(range.gte, last)) {
        return yield* invalid(companyId, field, reversed)
      }
      yield* checkInstant(companyId, `${field}.gte`, range.gte)
      yield* checkInstant(companyId, `${field}.${range.lte === undefined ? "lt" : "lte"}`, last)
    }
    yield* checkInstant(companyId, "modifiedSince", filter.modifiedSince)
  })

const reversed = "must not end before it starts"

const checkInstant = (companyId: CompanyId, field: string, at: DateTime.DateTime | undefined) =>
  at === undefined || isWritable(at.epochMilliseconds)
    ? Result.void
    : invalid(companyId, field, "must be an instant of the years 0001 to 9999")
