/** From the JSON of a page to its rows and cursors: all of them good, or each one for itself. */
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { InvalidPunch } from "../ApiError.ts"
import type { CompanyId } from "../Ids.ts"
import { firstIssue } from "../internal/base/issue.ts"
import type { PageCursor } from "../Page.ts"
import { TimePunch } from "../TimePunch.ts"
import { Envelope, RawEnvelope } from "./envelope.ts"
import type { Failure } from "./failure.ts"
import { decodeFailure, paginationFailure } from "./response.ts"

/** A page as the service sent it: every row, whatever is dropped or salvaged later. */
export interface Rows<A> {
  readonly rows: ReadonlyArray<A>
  readonly cursor: Omit<PageCursor, "sent">
}

/** A page with the number of requests that it took. */
export interface Fetched<A> extends Rows<A> {
  readonly attempts: number
}

/** Reads a page's JSON for a company. */
export type Decode<A> = (json: unknown, companyId: CompanyId) => Result.Result<Rows<A>, Failure>

const decodeEnvelope = Schema.decodeUnknownResult(Envelope)
const decodeRawEnvelope = Schema.decodeUnknownResult(RawEnvelope)
const decodePunch = Schema.decodeUnknownResult(TimePunch.fromWire)

/** Reads a page whole: one bad row fails it. */
export const decodePunches: Decode<TimePunch> = (json, companyId) => {
  const page = decodeEnvelope(json)
  if (Result.isFailure(page)) return Result.fail(envelopeFailure(page.failure, json))
  const { data, meta, object } = page.success
  return checked(object, data, meta.cursor, (punch) => punch.companyId === companyId)
}

/** Reads a page row by row: a bad row is a value, a bad envelope still fails. */
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
  return checked(object, rows, meta.cursor, (row) => Result.isFailure(row) || row.success.companyId === companyId)
}

const checked = <A>(
  object: string,
  rows: ReadonlyArray<A>,
  cursor: Omit<PageCursor, "sent">,
  isOurs: (row: A) => boolean
): Result.Result<Rows<A>, Failure> => {
  if (object !== timePunches) return Result.fail(paginationFailure("WrongObject"))
  const stranger = rows.findIndex((row) => !isOurs(row))
  if (stranger !== -1) {
    return Result.fail(
      decodeFailure("WrongCompany", {
        path: `data[${stranger}].company_id`,
        detail: "Expected the company that was asked for"
      })
    )
  }
  if (Option.isSome(cursor.count) && cursor.count.value !== rows.length)
    return Result.fail(paginationFailure("CountMismatch"))
  return Result.succeed({ rows, cursor })
}

const timePunches = "time_punches"

/** A page of another resource has other rows too: its object says more than the first field that is missing. */
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

/** The id of a row that is otherwise unreadable, for whoever has to find it. */
const idOf = (row: unknown): Option.Option<number> =>
  Predicate.hasProperty(row, "id") && Predicate.isNumber(row.id) && Number.isSafeInteger(row.id)
    ? Option.some(row.id) :
    Option.none()
