/** From the response of a page to its rows and cursors, or to the failure that it means: the page as a whole, or row by row. */
import * as Effect from "effect/Effect"
import type * as HttpClientError from "effect/http/HttpClientError"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import type * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { InvalidPunch } from "../ApiError.ts"
import type { CompanyId, Cursor } from "../Ids.ts"
import { contentType, isEncoded, isHtml, isJson, parseJson, readBytes, tooLarge } from "../internal/http/body.ts"
import { readProblem, retryAfterOf } from "../internal/http/problem.ts"
import { statusOf } from "../internal/http/status.ts"
import { overflowed, transportFailureOf } from "../internal/http/transportFailure.ts"
import { compiled, decodeEnvelope, idOf } from "../internal/wire/decoder.ts"
import { firstIssue } from "../internal/wire/issue.ts"
import { wireEnvelope } from "../internal/wire/schema.ts"
import type { Spelling } from "../internal/wire/spelling.ts"
import type { Unread } from "../internal/wire/unknown.ts"
import type { PageCursor, PageResponse } from "../Page.ts"
import { TimePunch } from "../TimePunch.ts"
import type { Contradicted } from "./contradiction.ts"
import { decodeFailure, type Failure, paginationFailure, statusFailure, transportFailure } from "./failure.ts"

/** A page as the service sent it, before rows outside an exclusive end are dropped. */
export interface DecodedPage<A> {
  readonly rows: ReadonlyArray<A>
  readonly cursor: Omit<PageCursor, "sent">
}

/** A page with its place in the run, and what its response says. */
export interface FetchedPage<A> extends DecodedPage<A>, Unread {
  readonly index: number
  readonly sent: Option.Option<Cursor>
  readonly response: PageResponse
  /** How its request asked for deleted punches and others alike; absent if it did not. */
  readonly spelling?: Spelling
}

/** Reads the JSON of a page of a company, none of whose rows may contradict the filter. */
export type Decode<A> = (
  json: unknown,
  companyId: CompanyId,
  contradicted?: Contradicted
) => Result.Result<DecodedPage<A>, Failure>

/** The most bytes of a page. A full page of 200 punches has a tenth or two of a megabyte. */
const pageCap = 8 * 1024 * 1024

/** The JSON of a 200; any other status fails, with what its body adds. `secrets` are removed from that. */
export const readPage = (
  response: HttpClientResponse.HttpClientResponse,
  secrets: () => ReadonlyArray<Redacted.Redacted>
): Effect.Effect<unknown, Failure> =>
  statusOf(response.status) === "ok" ? readJson(response) : failWithStatus(response, secrets())

const readJson = (response: HttpClientResponse.HttpClientResponse): Effect.Effect<unknown, Failure> => {
  const { headers } = response
  const { charset, type } = contentType({ headers })
  if (type !== "" && !isJson(type)) return Effect.fail(decodeFailure("ContentType", { detail: "Expected JSON" }, 1))
  if (charset !== "" && charset !== "utf-8" && charset !== "utf8" && charset !== "us-ascii") {
    return Effect.fail(decodeFailure("Charset", { detail: "Expected UTF-8" }))
  }
  return Effect.flatMap(Effect.mapError(readBytes(response, pageCap, headers), bodyFailure), (bytes) => {
    const json = parseJson(bytes)
    if (Result.isSuccess(json)) return Effect.succeed(json.success)
    // An encoded body that the transport did not decode is not text; one that it did decode may still be cut.
    if (json.failure === "Charset" && isEncoded(response)) {
      return Effect.fail(decodeFailure("ContentEncoding", { detail: "Expected a plain body" }))
    }
    return Effect.fail(decodeFailure(json.failure, {}, { Charset: 0, Empty: 1, NotJson: 2 }[json.failure]))
  })
}

const bodyFailure = (error: HttpClientError.HttpClientError | typeof tooLarge): Failure =>
  transportFailure(error === tooLarge ? overflowed : transportFailureOf(error, "Body"))

const failWithStatus = Effect.fnUntraced(function*(
  response: HttpClientResponse.HttpClientResponse,
  secrets: ReadonlyArray<Redacted.Redacted>
) {
  const problem = yield* readProblem(response, secrets)
  const retryAfter = yield* retryAfterOf(response)
  return yield* Effect.fail(statusFailure(response.status, { problem, isHtml: isHtml(response), retryAfter }))
})

const Punches = wireEnvelope(TimePunch.Wire)

/** With every row decoded: one bad row fails the page. */
export const Envelope: Schema.Codec<typeof Punches.Type, typeof Punches.Encoded> = Punches.pipe(
  compiled<typeof Punches.Type, typeof Punches.Encoded>({ decode: decodeEnvelope })
)

/** With the rows untouched, to keep the good ones of a page that has a bad one. */
export const RawEnvelope = wireEnvelope(Schema.Unknown)

const readEnvelope = Schema.decodeUnknownResult(Envelope)
const decodeRawEnvelope = Schema.decodeUnknownResult(RawEnvelope)
const decodePunch = Schema.decodeUnknownResult(TimePunch.Wire)

/** One bad row fails the page. */
export const decodePunches: Decode<TimePunch> = (json, companyId, contradicted) => {
  const page = readEnvelope(json)
  if (Result.isFailure(page)) return Result.fail(envelopeFailure(page.failure, json))
  const { data, meta, object } = page.success
  return verifyEnvelope(object, data, meta.cursor, companyId, contradicted, (punch) => punch)
}

/** A bad row is a value; a bad envelope still fails the page. */
export const decodeResults: Decode<Result.Result<TimePunch, InvalidPunch>> = (json, companyId, contradicted) => {
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
    companyId,
    contradicted,
    (row) => Result.isFailure(row) ? undefined : row.success
  )
}

/** Verifies what the schema does not: the kind of object, the company of each row, the filter, the count. */
const verifyEnvelope = <A>(
  object: string,
  rows: ReadonlyArray<A>,
  cursor: Omit<PageCursor, "sent">,
  companyId: CompanyId,
  contradicted: Contradicted | undefined,
  punchOf: (row: A) => TimePunch | undefined
): Result.Result<DecodedPage<A>, Failure> => {
  if (object !== timePunches) return Result.fail(paginationFailure("WrongObject"))
  const foreign = rows.findIndex((row) => (punchOf(row)?.companyId ?? companyId) !== companyId)
  if (foreign !== -1) {
    const path = `data[${foreign}].company_id`
    return Result.fail(decodeFailure("WrongCompany", { path, detail: "Expected the company of the request" }))
  }
  const wrong = contradicted === undefined ? undefined : firstWrong(rows, contradicted, punchOf)
  if (wrong !== undefined) return Result.fail(wrong)
  if (Option.isSome(cursor.count) && cursor.count.value !== rows.length) {
    return Result.fail(paginationFailure("CountMismatch"))
  }
  return Result.succeed({ rows, cursor })
}

/** The page is worth two retries: a row may be edited between the filter and the answer. */
const firstWrong = <A>(
  rows: ReadonlyArray<A>,
  contradicted: Contradicted,
  punchOf: (row: A) => TimePunch | undefined
): Failure | undefined => {
  for (const [index, row] of rows.entries()) {
    const punch = punchOf(row)
    const name = punch === undefined ? undefined : contradicted(punch)
    if (punch === undefined || name === undefined) continue
    const found = {
      path: `data[${index}].${name}`,
      detail: "Expected what the filter asks for",
      punchId: Option.some(punch.id)
    }
    return decodeFailure("WrongFilter", found, 2)
  }
  return undefined
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
