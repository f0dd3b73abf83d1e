/** Every way that a listing can fail: one tag for each thing that a caller would do differently (spec 7). */
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { place, refusal, where, withDefault } from "./internal/base/errorFields.ts"
import { printable } from "./internal/base/printable.ts"

/**
 * What a problem body said (spec 7): only members that were there and well-typed, perhaps none. `status` is the
 * body's own and may differ from the status line, which alone decides the tag.
 *
 * @since 0.1.0
 */
export const Problem = Schema.Struct({
  type: Schema.optionalKey(Schema.String),
  title: Schema.optionalKey(Schema.String),
  status: Schema.optionalKey(Schema.Number),
  detail: Schema.optionalKey(Schema.String),
  code: Schema.optionalKey(Schema.Number),
  param: Schema.optionalKey(Schema.String)
})
export type Problem = typeof Problem.Type

/** The fields of an error that a status line gave. */
const refused = (status: number) => ({
  ...where,
  status: withDefault(Schema.Int, status),
  problem: withDefault(Problem, {})
})

/**
 * 401. The credential is not accepted, also after one renewal where it can be renewed: replace it.
 *
 * @since 0.1.0
 */
export class Unauthorized extends Schema.TaggedError<Unauthorized>("effect-time-punches/ApiError/Unauthorized")(
  "Unauthorized",
  refused(401)
) {
  override get message(): string {
    return refusal("the credential was not accepted", this)
  }
}

/**
 * 403. The credential is good; the scope, the plan or the company is not: ask the customer, do not retry.
 *
 * @since 0.1.0
 */
export class Forbidden extends Schema.TaggedError<Forbidden>("effect-time-punches/ApiError/Forbidden")(
  "Forbidden",
  refused(403)
) {
  override get message(): string {
    return refusal("the credential may not do this", this)
  }
}

/**
 * 422. A parameter is not what the service expects, `problem.param` often says which: mend the request, or, where it
 * is an expired cursor, start again by filter.
 *
 * @since 0.1.0
 */
export class UnprocessableEntity
  extends Schema.TaggedError<UnprocessableEntity>("effect-time-punches/ApiError/UnprocessableEntity")(
    "UnprocessableEntity",
    refused(422)
  )
{
  override get message(): string {
    return refusal("the service refused a parameter", this)
  }
}

/**
 * 500, still after the retries. The service failed: resume later from `resumeFrom`.
 *
 * @since 0.1.0
 */
export class ServerError extends Schema.TaggedError<ServerError>("effect-time-punches/ApiError/ServerError")(
  "ServerError",
  refused(500)
) {
  override get message(): string {
    return refusal("the service failed", this)
  }
}

/**
 * 429, still after the retries, or with a `Retry-After` longer than `RetryPolicy` waits: resume after `retryAfter`.
 *
 * @since 0.1.0
 */
export class RateLimited extends Schema.TaggedError<RateLimited>("effect-time-punches/ApiError/RateLimited")(
  "RateLimited",
  { ...refused(429), retryAfter: withDefault(Schema.OptionFromNullOr(Schema.DurationFromMillis), Option.none()) }
) {
  override get message(): string {
    const wait = Option.match(this.retryAfter, {
      onNone: () => "too many requests",
      onSome: (duration) => `too many requests, retry after ${Duration.format(duration)}`
    })
    return refusal(wait, this)
  }
}

/**
 * 408, 502, 503 or 504, still after the retries. Something on the way is down or slow: resume later.
 *
 * @since 0.1.0
 */
export class ServiceUnavailable
  extends Schema.TaggedError<ServiceUnavailable>("effect-time-punches/ApiError/ServiceUnavailable")(
    "ServiceUnavailable",
    refused(503)
  )
{
  override get message(): string {
    return refusal("the service cannot be reached for now", this)
  }
}

/**
 * Any other status, redirects and 2xx without a page too. Something else answers at this address, or the interface
 * has changed: look at the base URL first.
 *
 * @since 0.1.0
 */
export class UnexpectedStatus
  extends Schema.TaggedError<UnexpectedStatus>("effect-time-punches/ApiError/UnexpectedStatus")(
    "UnexpectedStatus",
    { ...where, status: Schema.Int, problem: withDefault(Problem, {}) }
  )
{
  override get message(): string {
    return refusal("is not a status of this interface", this)
  }
}

/**
 * No whole answer came: the connection, its TLS, the headers or the body failed, or time ran out. `code` is the
 * platform's own (`ECONNRESET`, …) where there was one. Resume later; mend the trust store where it says `tls`.
 *
 * @since 0.1.0
 */
export class TransportError
  extends Schema.TaggedError<TransportError>("effect-time-punches/ApiError/TransportError")("TransportError", {
    ...where,
    reason: Schema.Literals(["connect", "tls", "headers", "body", "timeout", "tooLarge", "unknown"]),
    code: withDefault(Schema.OptionFromNullOr(Schema.String), Option.none())
  })
{
  override get message(): string {
    const code = Option.match(this.code, { onNone: () => "", onSome: (text) => ` (${printable(text)})` })
    return `no whole answer: ${this.reason}${code} [${place(this)}]`
  }
}

/**
 * A 200 whose body is not a page of this company's punches: nothing of it was emitted. `path` says where
 * (`data[3].clocked_in`), `punchId` whose, `detail` what was expected; the value itself is never shown.
 *
 * @since 0.1.0
 */
export class DecodeError
  extends Schema.TaggedError<DecodeError>("effect-time-punches/ApiError/DecodeError")("DecodeError", {
    ...where,
    reason: Schema.Literals([
      "NotJson",
      "Empty",
      "ContentType",
      "ContentEncoding",
      "Charset",
      "Schema",
      "WrongCompany"
    ]),
    path: withDefault(Schema.String, ""),
    detail: withDefault(Schema.String, ""),
    punchId: withDefault(Schema.OptionFromNullOr(Schema.Number), Option.none())
  })
{
  override get message(): string {
    const at = this.path === "" ? "" : ` at ${printable(this.path)}`
    const punch = Option.match(this.punchId, { onNone: () => "", onSome: (id) => ` of punch ${id}` })
    const detail = this.detail === "" ? "" : `: ${printable(this.detail)}`
    return `the answer cannot be read (${this.reason})${at}${punch}${detail} [${place(this)}]`
  }
}

/**
 * The pages do not form a listing: a cursor came twice, the envelope is of another object, the count is not the rows,
 * a hundred pages in a row were empty, or `maxPages` was reached. Nothing was skipped in silence: see `resumeFrom`.
 *
 * @since 0.1.0
 */
export class PaginationError
  extends Schema.TaggedError<PaginationError>("effect-time-punches/ApiError/PaginationError")("PaginationError", {
    ...where,
    reason: Schema.Literals(["CursorCycle", "WrongObject", "CountMismatch", "EmptyPages", "MaxPages"])
  })
{
  override get message(): string {
    return `the listing stopped: ${this.reason} [${place(this)}]`
  }
}

/**
 * The call is wrong and nothing was sent: `field` names the argument, `detail` says what it must be.
 *
 * @since 0.1.0
 */
export class InvalidRequest
  extends Schema.TaggedError<InvalidRequest>("effect-time-punches/ApiError/InvalidRequest")("InvalidRequest", {
    ...where,
    attempts: withDefault(Schema.Int, 0),
    field: Schema.String,
    detail: Schema.String
  })
{
  override get message(): string {
    return `invalid ${printable(this.field)}: ${printable(this.detail)} [company ${this.companyId}]`
  }
}

/**
 * No token could be had for an OAuth client: the client was refused (`InvalidClient`), the request was (`Rejected`),
 * or the token endpoint did not answer as it should. It had its own retries.
 *
 * @since 0.1.0
 */
export class TokenError
  extends Schema.TaggedError<TokenError>("effect-time-punches/ApiError/TokenError")("TokenError", {
    ...where,
    attempts: withDefault(Schema.Int, 0),
    reason: Schema.Literals(["InvalidClient", "Rejected", "Transport", "Malformed", "Throttled"]),
    status: withDefault(Schema.OptionFromNullOr(Schema.Int), Option.none())
  })
{
  override get message(): string {
    const status = Option.match(this.status, { onNone: () => "", onSome: (code) => ` (${code})` })
    return `no token: ${this.reason}${status} [${place(this)}]`
  }
}

/**
 * Every failure of a listing, as a schema: it can be logged, sent and read back.
 *
 * @since 0.1.0
 */
export const ListError = Schema.Union([
  Unauthorized,
  Forbidden,
  UnprocessableEntity,
  ServerError,
  RateLimited,
  ServiceUnavailable,
  UnexpectedStatus,
  TransportError,
  DecodeError,
  PaginationError,
  InvalidRequest,
  TokenError
])
export type ListError = typeof ListError.Type

/**
 * One row of `listResults` that is not a punch. `index` is its place in its page, `path` what is wrong with it.
 *
 * @since 0.1.0
 */
export class InvalidPunch
  extends Schema.TaggedError<InvalidPunch>("effect-time-punches/ApiError/InvalidPunch")("InvalidPunch", {
    index: Schema.Int,
    punchId: withDefault(Schema.OptionFromNullOr(Schema.Number), Option.none()),
    path: Schema.String,
    detail: withDefault(Schema.String, "")
  })
{
  override get message(): string {
    const punch = Option.match(this.punchId, { onNone: () => "a punch", onSome: (id) => `punch ${id}` })
    return `${punch} cannot be read at ${printable(this.path)}${
      this.detail === "" ? "" : `: ${printable(this.detail)}`
    }`
  }
}
