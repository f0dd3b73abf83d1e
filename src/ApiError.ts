/** Every way that a listing can fail: one tag for each thing that a caller would do differently. */
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { place, where, whereUnsent, withDefault } from "./internal/base/errorFields.ts"
import { printable } from "./internal/base/printable.ts"
import {
  Forbidden,
  RateLimited,
  ServerError,
  ServiceUnavailable,
  Unauthorized,
  UnexpectedStatus,
  UnprocessableEntity
} from "./StatusError.ts"

export * from "./StatusError.ts"

/**
 * No whole response arrived: the connection, its TLS, the headers or the body failed, or time ran out. Resume later;
 * for `tls`, fix the trust store first.
 *
 * @since 0.1.0
 */
export class TransportError
  extends Schema.TaggedError<TransportError>("effect-time-punches/ApiError/TransportError")("TransportError", {
    ...where,
    /**
     * What failed.
     *
     * - `connect`: the connection was not made.
     * - `tls`: the certificate or the handshake was refused. It is not retried.
     * - `headers`: the connection failed before the headers were read.
     * - `body`: it failed while the body was read.
     * - `timeout`: the attempt or the page took longer than `RetryPolicy` allows.
     * - `tooLarge`: the body is larger than 8 MiB. It is not retried.
     * - `unknown`: the transport does not say.
     */
    reason: Schema.Literals(["connect", "tls", "headers", "body", "timeout", "tooLarge", "unknown"]),
    /** The code of the platform, such as `ECONNRESET`. `None` (the default): it gave none. */
    code: withDefault(Schema.OptionFromNullOr(Schema.String), Option.none())
  })
{
  /** What failed and where in the run, on one printable line for a log. */
  override get message(): string {
    const code = Option.match(this.code, { onNone: () => "", onSome: (text) => ` (${printable(text)})` })
    return `no whole response: ${this.reason}${code} [${place(this)}]`
  }
}

/**
 * A 200 whose body is not a page of this company's punches. No row of that page was emitted, and no field of this error
 * quotes the body. `listResults` emits a single bad row as a value instead.
 *
 * @since 0.1.0
 */
export class DecodeError
  extends Schema.TaggedError<DecodeError>("effect-time-punches/ApiError/DecodeError")("DecodeError", {
    ...where,
    /**
     * Why the body is not a page.
     *
     * - `NotJson`: the body is cut, or is not JSON. It is retried twice.
     * - `Empty`: the body has no bytes. It is retried once.
     * - `ContentType`: the content type is not JSON. It is retried once.
     * - `ContentEncoding`: the transport did not decode the content encoding.
     * - `Charset`: the charset is not UTF-8, or the bytes are not.
     * - `Schema`: a field is missing or has another type; `path` names it.
     * - `WrongCompany`: a row belongs to another company.
     */
    reason: Schema.Literals([
      "NotJson",
      "Empty",
      "ContentType",
      "ContentEncoding",
      "Charset",
      "Schema",
      "WrongCompany"
    ]),
    /** Where in the body, such as `data[3].clocked_in`. Default: empty, for the whole body. */
    path: withDefault(Schema.String, ""),
    /** What was expected there. Default: empty. */
    detail: withDefault(Schema.String, ""),
    /** The id of the punch at `path`. `None` (the default): the path is not in a punch, or its id cannot be read. */
    punchId: withDefault(Schema.OptionFromNullOr(Schema.Number), Option.none())
  })
{
  /** What failed and where in the run, on one printable line for a log. */
  override get message(): string {
    const at = this.path === "" ? "" : ` at ${printable(this.path)}`
    const punch = Option.match(this.punchId, { onNone: () => "", onSome: (id) => ` of punch ${id}` })
    const detail = this.detail === "" ? "" : `: ${printable(this.detail)}`
    return `the response cannot be read (${this.reason})${at}${punch}${detail} [${place(this)}]`
  }
}

const paginationSentences = {
  CursorCycle: "the page leads to a cursor that this run has already requested",
  WrongObject: "the page lists another kind of object than time punches",
  CountMismatch: "the page does not have as many rows as it counts",
  EmptyPages: "too many pages in a row were empty",
  MaxPages: "the listing has more pages than maxPages allows"
} as const

/**
 * The pages do not form a listing, or a guard stopped the run. No row was skipped in silence: `resumeFrom` is the first
 * page that was not emitted.
 *
 * @since 0.1.0
 */
export class PaginationError
  extends Schema.TaggedError<PaginationError>("effect-time-punches/ApiError/PaginationError")("PaginationError", {
    ...where,
    /**
     * Why the run stopped. The first three judge the page that carries them; the others stop before the next page.
     *
     * - `CursorCycle`: the page leads to a cursor that this run has already requested.
     * - `WrongObject`: the page lists another kind of object than time punches.
     * - `CountMismatch`: the page does not have as many rows as its `count` says.
     * - `EmptyPages`: a hundred pages in a row were empty, and another follows.
     * - `MaxPages`: the listing has more pages than `maxPages` allows.
     */
    reason: Schema.Literals(["CursorCycle", "WrongObject", "CountMismatch", "EmptyPages", "MaxPages"])
  })
{
  /** What failed and where in the run, on one printable line for a log. */
  override get message(): string {
    return `the listing stopped (${this.reason}): ${paginationSentences[this.reason]} [${place(this)}]`
  }
}

/**
 * An argument of the call is invalid. No request was sent.
 *
 * @since 0.1.0
 */
export class InvalidRequest
  extends Schema.TaggedError<InvalidRequest>("effect-time-punches/ApiError/InvalidRequest")("InvalidRequest", {
    ...whereUnsent,
    /** The argument, such as `pageSize` or `clockedIn.gte`. */
    field: Schema.String,
    /** What the argument must be; never its value. */
    detail: Schema.String
  })
{
  /** Which argument is invalid and why, on one printable line for a log. */
  override get message(): string {
    return `invalid ${printable(this.field)}: ${printable(this.detail)} [company ${this.companyId}]`
  }
}

/**
 * There is no token for an OAuth client, after the retries of the token request.
 *
 * @since 0.1.0
 */
export class TokenError
  extends Schema.TaggedError<TokenError>("effect-time-punches/ApiError/TokenError")("TokenError", {
    ...whereUnsent,
    /**
     * Why there is no token.
     *
     * - `InvalidClient`: the endpoint does not accept the client id or the secret: replace them.
     * - `Rejected`: the endpoint refused the request; `code` may say why, such as `invalid_scope`.
     * - `Transport`: no whole response arrived, or the endpoint failed: resume later.
     * - `Malformed`: the response is not a token.
     * - `Throttled`: 429, after all retries: resume later.
     */
    reason: Schema.Literals(["InvalidClient", "Rejected", "Transport", "Malformed", "Throttled"]),
    /** The status of the token response. `None` (the default): there was no response. */
    status: withDefault(Schema.OptionFromNullOr(Schema.Int), Option.none()),
    /**
     * The error code of the token response, such as `invalid_scope`: one of the six of RFC 6749, section 5.2. `None` (the
     * default): the response names none of them; other text is not kept.
     */
    code: withDefault(Schema.OptionFromNullOr(Schema.String), Option.none())
  })
{
  /** What failed and where in the run, on one printable line for a log. */
  override get message(): string {
    const said = [...Option.toArray(this.status), ...Option.toArray(Option.map(this.code, printable))].join(" ")
    return `no token: ${this.reason}${said === "" ? "" : ` (${said})`} [${place(this)}]`
  }
}

/**
 * Every failure of a listing, as a schema: it can be logged, sent and decoded again.
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
 * One row of `listResults` that is not a punch.
 *
 * @since 0.1.0
 */
export class InvalidPunch
  extends Schema.TaggedError<InvalidPunch>("effect-time-punches/ApiError/InvalidPunch")("InvalidPunch", {
    /** The index of the row in its page, from 0. */
    index: Schema.Int,
    /** The id of the row. `None` (the default): the id itself cannot be read. */
    punchId: withDefault(Schema.OptionFromNullOr(Schema.Number), Option.none()),
    /** Where in the row, such as `breaks[0].in`. */
    path: Schema.String,
    /** What was expected there; never the value. Default: empty. */
    detail: withDefault(Schema.String, "")
  })
{
  /** Which punch is invalid and why, on one printable line for a log. */
  override get message(): string {
    const punch = Option.match(this.punchId, { onNone: () => "a punch", onSome: (id) => `punch ${id}` })
    return `${punch} cannot be read at ${printable(this.path)}${
      this.detail === "" ? "" : `: ${printable(this.detail)}`
    }`
  }
}
