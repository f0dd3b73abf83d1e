/** From company, filter and page size to a request, or to the first reason not to send one. */
import * as DateTime from "effect/DateTime"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { InvalidRequest } from "../ApiError.ts"
import { type Company, CompanySchema } from "../Company.ts"
import { CompanyId, Cursor } from "../Ids.ts"
import { wholeNumber } from "../internal/setting/setting.ts"
import { unknownKey } from "../internal/text/meant.ts"
import { unnamedCompany } from "../internal/wire/errorFields.ts"
import { isWritable } from "../internal/wire/instant.ts"
import { firstIssue } from "../internal/wire/issue.ts"
import { type Spelling, usualSpelling } from "../internal/wire/spelling.ts"
import { PunchFilter } from "../PunchFilter.ts"
import type { TimePunch } from "../TimePunch.ts"
import { type Contradicted, contradictedBy } from "./contradiction.ts"
import { isKey, keys, lastInstant, maxPageSize, writeParameters } from "./parameters.ts"

/** A listing that passed every local check: what its pages have in common. */
export interface Query {
  readonly company: Company
  /** Path and query without the cursor, from the base URL on. */
  readonly target: string
  /** The target in a spelling of deleted punches and others alike; `undefined` if it does not ask for both. */
  readonly targetIn: ((spelling: Spelling) => string) | undefined
  /** Whether a row is before every exclusive end; `undefined` if no end is exclusive. */
  readonly isInRange: ((punch: TimePunch) => boolean) | undefined
  /** What of a row contradicts what is sent; `undefined` if no row can. */
  readonly contradicted: Contradicted | undefined
}

const decodeCompany = Schema.decodeUnknownResult(CompanySchema)
const decodeId = Schema.decodeUnknownOption(CompanyId)
const isCursor = Schema.is(Cursor)

/** Validates company, filter and page size before any request, and writes all parameters but the cursor. */
export const buildQuery = (
  company: CompanyId | Company,
  filter: PunchFilter = {},
  pageSize: number = maxPageSize
): Result.Result<Query, InvalidRequest> =>
  Result.gen(function*() {
    const { guid, id } = yield* validCompany(company)
    const valid = yield* validFilter(id, filter)
    yield* validateCount(id, "pageSize", pageSize, 1, maxPageSize)
    const query = [["limit", pageSize] as const, ...writeParameters(valid)].flatMap(([name, value]) =>
      value === undefined ? [] : [`${encode(name)}=${encode(`${value}`)}`]
    )
    const targetIn = (spelling: Spelling) =>
      `v2/company/${id}/time_punches?${query.map((part) => part === usualSpelling ? spelling : part).join("&")}`
    return {
      company: guid === undefined ? { id } : { id, guid },
      target: targetIn(usualSpelling),
      targetIn: valid.deleted === "include" ? targetIn : undefined,
      isInRange: rowFilter(valid),
      contradicted: contradictedBy(valid)
    }
  })

/** The company of a call. Untyped code may pass anything. */
export const validCompany = (company: unknown) => {
  const record = Predicate.isNumber(company) ? { id: company } : company
  const id = Predicate.hasProperty(record, "id") ? decodeId(record.id) : Option.none()
  return Predicate.hasProperty(record, "id") && Predicate.isNumber(record.id)
    ? validated(decodeCompany(record), (path) => `company.${path}`, Option.getOrElse(id, () => unnamedCompany))
    : invalid(unnamedCompany, "company", "a company is a number or { id, guid }")
}

/**
 * Refuses options that do not exist, which untyped code may pass: to ignore one would list something else. `within` names the
 * option that holds them.
 */
export const checkOptions = (
  companyId: CompanyId | undefined,
  options: object | undefined,
  known: object,
  within?: string
): Result.Result<void, InvalidRequest> => {
  if (options === undefined) return Result.void
  if (!Predicate.isObject(options)) return invalid(companyId, within ?? "options", "must be an object")
  for (const key of Object.keys(options)) {
    if (!Object.hasOwn(known, key)) {
      const field = within === undefined ? key : `${within}.${key}`
      return invalid(companyId, field, unknownKey(key, Object.keys(known)))
    }
  }
  return Result.void
}

/** The cursor of a call: plain, or in the `Option` that a page or an error holds. */
export const startAt = (
  companyId: CompanyId,
  cursor: string | Option.Option<string> | undefined
): Result.Result<Option.Option<Cursor>, InvalidRequest> => {
  const start = Option.isOption(cursor) ? cursor : Option.fromUndefinedOr(cursor)
  if (Option.isNone(start)) return Result.succeedNone
  return isCursor(start.value)
    ? Result.succeedSome(start.value)
    : invalid(companyId, "cursor", "must be a cursor that the service gave, not an empty or broken text")
}

/** The cursor of a call for one page. Untyped code may pass an `Option`, whose `None` would be the first page for ever. */
export const pageAt = (
  companyId: CompanyId,
  cursor: Cursor | "start" | undefined
): Result.Result<Option.Option<Cursor>, InvalidRequest> =>
  Option.isOption(cursor)
    ? invalid(companyId, "cursor", "must be a cursor or \"start\", not an Option: take its value, if there is one")
    : startAt(companyId, cursor === "start" ? undefined : cursor)

/** The request for one page. */
export const pageRequest = (baseUrl: string, query: Query, cursor: Option.Option<Cursor>) =>
  HttpClientRequest.get(
    Option.isNone(cursor)
      ? `${baseUrl}/${query.target}`
      : `${baseUrl}/${query.target}&cursor=${encodeURIComponent(cursor.value)}`
  )

/** Form style, not exploded: the service expects literal commas. */
const encode = (text: string): string => encodeURIComponent(text).replaceAll("%2C", ",")

/** Tells the rows before an exclusive end, which the service can only include; `undefined` if no end is exclusive. */
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

const decodeFilter = Schema.decodeUnknownResult(Schema.toType(PunchFilter))

/** The filter, or the first reason not to send it: its schema, the order of its ends, what text can write. */
export const validFilter = (companyId: CompanyId, filter: unknown): Result.Result<PunchFilter, InvalidRequest> =>
  Result.gen(function*() {
    yield* checkKeys(companyId, filter)
    const valid = yield* validated(decodeFilter(filter), (path) => path === "" ? "filter" : path, companyId)
    yield* checkWindows(companyId, valid)
    return valid
  })

const ranges: Partial<Record<string, ReadonlyArray<string>>> = {
  clockedIn: ["gte", "lte", "lt"],
  clockedOut: ["gte", "lte", "lt"],
  businessDate: ["first", "last"]
}

/** Names a key that no filter has, also one within a window. The schema refuses it too, without the name that was meant. */
const checkKeys = (companyId: CompanyId, filter: unknown): Result.Result<void, InvalidRequest> => {
  if (!Predicate.isObject(filter)) return Result.void
  for (const [key, value] of Object.entries(filter)) {
    if (!isKey(key)) return invalid(companyId, key, unknownKey(key, keys, "a key of a filter"))
    const inner = ranges[key]
    const unknown = inner === undefined || !Predicate.isObject(value)
      ? undefined
      : Object.keys(value).find((name) => !inner.includes(name))
    if (inner !== undefined && unknown !== undefined) {
      return invalid(companyId, `${key}.${unknown}`, unknownKey(unknown, inner, `one of ${inner.join(", ")}`))
    }
  }
  return Result.void
}

/** The result of a schema, with its first issue as the argument that is invalid. */
export const validated = <A>(
  result: Result.Result<A, Schema.SchemaError>,
  fieldOf: (path: string) => string,
  companyId = unnamedCompany
) =>
  Result.mapError(result, (error) => {
    const { detail, path } = firstIssue(error)
    return invalidRequest(companyId, fieldOf(path), detail)
  })

/** An argument that is refused; `detail` says what it must be, never its value. Without a company the call has none. */
export const invalidRequest = (companyId: CompanyId | undefined, field: string, detail: string): InvalidRequest =>
  new InvalidRequest(companyId === undefined ? { field, detail, hasCompany: false } : { companyId, field, detail })

/** The same as a result. */
export const invalid = (companyId: CompanyId | undefined, field: string, detail: string) =>
  Result.fail(invalidRequest(companyId, field, detail))

/** Refuses an argument that is not a whole number within these bounds. */
export const validateCount = (
  companyId: CompanyId | undefined,
  field: string,
  value: number,
  least: number,
  most?: number
) =>
  Result.mapError(
    wholeNumber(value, least, most),
    (mustBe) => invalidRequest(companyId, field, `must be ${mustBe}`)
  )

/** What the schema of a filter does not know: the order of two ends, and what a request can write. */
const checkWindows = (companyId: CompanyId, filter: PunchFilter): Result.Result<void, InvalidRequest> =>
  Result.gen(function*() {
    const { first, last } = filter.businessDate ?? {}
    if (first !== undefined && last !== undefined && first > last) {
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
