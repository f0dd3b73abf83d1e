/** From company, filter and page size to a request, or to the first reason not to send one. Pure. */
import type * as DateTime from "effect/DateTime"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { InvalidRequest } from "../ApiError.ts"
import { type Company, CompanySchema } from "../Company.ts"
import { type CompanyId, Cursor } from "../Ids.ts"
import { wholeNumber } from "../internal/base/wholeNumber.ts"
import type { PunchFilter } from "../PunchFilter.ts"
import type { TimePunch } from "../TimePunch.ts"
import { invalid, validated, validFilter } from "./filter.ts"
import { writeParameters } from "./parameters.ts"

/** A listing that passed every local check: what its pages have in common. */
export interface Query {
  readonly company: Company
  /** Path and query without the cursor, from the base URL on. */
  readonly target: string
  /** Whether a row is before every exclusive end; `undefined` where no end is exclusive. */
  readonly isInRange: ((punch: TimePunch) => boolean) | undefined
}

/** The most rows that a page may have, and the default. */
export const maxPageSize = 200

const decodeCompany = Schema.decodeUnknownResult(CompanySchema)
const isCursor = Schema.is(Cursor)

/** Validates company, filter and page size before any request, and writes all parameters but the cursor. */
export const buildQuery = (
  company: CompanyId | Company,
  filter: PunchFilter = {},
  pageSize: number = maxPageSize
): Result.Result<Query, InvalidRequest> =>
  Result.gen(function*() {
    const { id, guid } = yield* validated(
      decodeCompany(typeof company === "number" ? { id: company } : company),
      (path) => path === "" ? "company" : `company.${path}`
    )
    const valid = yield* validFilter(id, filter)
    const limit = wholeNumber(pageSize, 1, maxPageSize)
    if (Result.isFailure(limit)) return yield* invalid(id, "pageSize", `must be ${limit.failure}`)
    const query = [["limit", pageSize] as const, ...writeParameters(valid)].flatMap(([name, value]) =>
      value === undefined ? [] : [`${encode(name)}=${encode(`${value}`)}`]
    )
    return {
      company: guid === undefined ? { id } : { id, guid },
      target: `v2/company/${id}/time_punches?${query.join("&")}`,
      isInRange: rowFilter(valid)
    }
  })

/** The cursor of a call: plain, or in the `Option` that a page or an error holds. */
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

/** Form style, not exploded: the service expects literal commas. */
const encode = (text: string): string => encodeURIComponent(text).replaceAll("%2C", ",")

/** Tells the rows before an exclusive end, which the service can only include; `undefined` where no end is exclusive. */
const rowFilter = ({ clockedIn, clockedOut }: PunchFilter): Query["isInRange"] => {
  const inEnd = clockedIn?.lt
  const outEnd = clockedOut?.lt
  if (inEnd === undefined && outEnd === undefined) return undefined
  const isBefore = (end: DateTime.DateTime | undefined, at: DateTime.Utc) =>
    end === undefined || at.epochMilliseconds < end.epochMilliseconds
  // Whether an open punch belongs to a window on `clockedOut` is the decision of the service.
  return (punch) =>
    isBefore(inEnd, punch.clockedIn) && (Option.isNone(punch.clockedOut) || isBefore(outEnd, punch.clockedOut.value))
}
