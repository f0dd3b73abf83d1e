/** From the JSON of a page to its rows and cursors: the page as a whole, or row by row. */
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { InvalidPunch } from "../ApiError.ts"
import type { CompanyId } from "../Ids.ts"
import { firstIssue } from "../internal/base/issue.ts"
import { idOf } from "../internal/wire/idOf.ts"
import type { PageCursor, PageResponse } from "../Page.ts"
import { TimePunch } from "../TimePunch.ts"
import { Envelope, RawEnvelope } from "./envelope.ts"
import { decodeFailure, type Failure, paginationFailure } from "./failure.ts"

/** A page as the service sent it, before rows outside an exclusive end are dropped. */
export interface Rows<A> {
  readonly rows: ReadonlyArray<A>
  readonly cursor: Omit<PageCursor, "sent">
}

/** A page, with what its response says. */
export interface Fetched<A> extends Rows<A> {
  readonly response: PageResponse
}

/** Reads the JSON of a page of a company. */
export type Decode<A> = (json: unknown, companyId: CompanyId) => Result.Result<Rows<A>, Failure>

const decodeEnvelope = Schema.decodeUnknownResult(Envelope)
const decodeRawEnvelope = Schema.decodeUnknownResult(RawEnvelope)
const decodePunch = Schema.decodeUnknownResult(TimePunch.fromWire)

/** One bad row fails the page. */
export const decodePunches: Decode<TimePunch> = (json, companyId) => {
  const page = decodeEnvelope(json)
  if (Result.isFailure(page)) return Result.fail(envelopeFailure(page.failure, json))
  const { data, meta, object } = page.success
  return verifyEnvelope(object, data, meta.cursor, (punch) => punch.companyId === companyId)
}

/** A bad row is a value; a bad envelope still fails the page. */
export const decodeResults: Decode<Result.Result<TimePunch, InvalidPunch>> = (json, companyId) => {
  const page = decodeRawEnvelope(json)
  if (Result.isFailure(page)) return Result.fail(envelopeFailure(page.failure, json))
  const { data, meta, object } = page.success
  const rows = data.map((row, index) =>
    Result.mapError(decodePunch(row), (error) => {
      const { detail, path } = firstIssue(error)
      return new InvalidPunch({ index, punchId: idOf(row), path, detail })
    })
  )
  return verifyEnvelope(
    object,
    rows,
    meta.cursor,
    (row) => Result.isFailure(row) || row.success.companyId === companyId
  )
}

/** Verifies what the schema does not: the kind of object, the company of each row, the count. */
const verifyEnvelope = <A>(
  object: string,
  rows: ReadonlyArray<A>,
  cursor: Omit<PageCursor, "sent">,
  isOurs: (row: A) => boolean
): Result.Result<Rows<A>, Failure> => {
  if (object !== timePunches) return Result.fail(paginationFailure("WrongObject"))
  const foreign = rows.findIndex((row) => !isOurs(row))
  if (foreign !== -1) {
    const path = `data[${foreign}].company_id`
    return Result.fail(decodeFailure("WrongCompany", { path, detail: "Expected the company of the request" }))
  }
  if (Option.isSome(cursor.count) && cursor.count.value !== rows.length) {
    return Result.fail(paginationFailure("CountMismatch"))
  }
  return Result.succeed({ rows, cursor })
}

const timePunches = "time_punches"

/** A page of another resource has other fields too: its `object` says more than the first field that is missing. */
const envelopeFailure = (error: Schema.SchemaError, json: unknown): Failure => {
  if (Predicate.hasProperty(json, "object") && Predicate.isString(json.object) && json.object !== timePunches) {
    return paginationFailure("WrongObject")
  }
  const { at: [root, index], detail, path } = firstIssue(error)
  const row = root === "data" && Predicate.isNumber(index) && Predicate.hasProperty(json, "data") &&
      Array.isArray(json.data)
    ? json.data[index]
    : undefined
  return decodeFailure("Schema", { path, detail, punchId: idOf(row) })
}
