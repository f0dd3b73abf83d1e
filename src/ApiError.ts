/** Every way that a listing can fail: one tag for each thing that a caller would do differently. */
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { isBadRequest, isNotFound, isServerSide, usualStatus } from "./internal/http/status.ts"
import { printable } from "./internal/text/printable.ts"
import {
  inParentheses,
  place,
  tokenFailureText,
  waitText,
  type Where,
  where,
  whereUnsent,
  withDefault
} from "./internal/wire/errorFields.ts"
import { explain, Problem } from "./Problem.ts"

/** What the response of an error says beside its status. */
const responseFields = {
  /** What the body said about it; empty if nothing in it was well-typed. */
  problem: withDefault(Problem, {}),
  /**
   * Whether the body was a page for a browser, by its content type. Something in front of the service sends one, such as a
   * content network. Default: `false`.
   */
  isHtml: withDefault(Schema.Boolean, false),
  /** How long the service asks to wait, from `Retry-After`. `None` (the default): it does not say. */
  retryAfter: withDefault(Schema.OptionFromNullOr(Schema.DurationFromMillis), Option.none())
}

const isIncludeRefused = withDefault(Schema.Boolean, false)

/** The fields of an error that a status decides. */
const statusFields = (kind: keyof typeof usualStatus) => ({
  ...where,
  /** The status of the response. Default for a mock: the usual status of this error. */
  status: withDefault(Schema.Int, usualStatus[kind]),
  ...responseFields
})

/** The message of an error that a status decides. */
const statusMessage = (
  meaning: string,
  error: Where & {
    readonly status: number
    readonly problem: Problem
    readonly retryAfter: Option.Option<Duration.Duration>
  }
): string => `${error.status} ${meaning}${waitText(error.retryAfter)}${explain(error.problem)} [${place(error)}]`

/** 401. The service does not accept the credential, nor a refreshed one if it can be refreshed: replace it. */
export class Unauthorized extends Schema.TaggedError<Unauthorized>("effect-time-punches/ApiError/Unauthorized")(
  "Unauthorized",
  statusFields("unauthorized")
) {
  /** What failed, and at which page of the run: one printable line for a log. */
  override get message(): string {
    return statusMessage("the credential was not accepted", this)
  }

  /**
   * What failed. The exit code of the command and what a fleet does follow from it. `service` if the body is a page for a browser,
   * as a network in front of the service sends: it passes.
   */
  get kind() {
    return this.isHtml ? "service" as const : "credential" as const
  }

  /** Whether the same page may succeed later with nothing changed: resume from `resumeFrom`. */
  get isRetryable(): boolean {
    return false
  }
}

/**
 * 403. The credential is valid; its scope, the plan or the company does not allow this: ask the customer, do not retry.
 */
export class Forbidden extends Schema.TaggedError<Forbidden>("effect-time-punches/ApiError/Forbidden")(
  "Forbidden",
  statusFields("forbidden")
) {
  /** What failed, and at which page of the run: one printable line for a log. */
  override get message(): string {
    return statusMessage("the credential may not do this", this)
  }

  /**
   * What failed. The exit code of the command and what a fleet does follow from it. `service` if the body is a page for a browser,
   * as a network in front of the service sends: it passes.
   */
  get kind() {
    return this.isHtml ? "service" as const : "permission" as const
  }

  /** Whether the same page may succeed later with nothing changed: resume from `resumeFrom`. */
  get isRetryable(): boolean {
    return false
  }
}

/**
 * 422. The service refused a parameter; `problem.param` often names it: fix the request. If it refused an expired
 * cursor (`isCursor`), start again without one.
 */
export class UnprocessableEntity
  extends Schema.TaggedError<UnprocessableEntity>("effect-time-punches/ApiError/UnprocessableEntity")(
    "UnprocessableEntity",
    {
      ...statusFields("unprocessable"),
      /**
       * Whether the listing asked for `deleted: "include"`, and the service refused each way to write that: ask for `"exclude"`,
       * then for `"only"`. Default: `false`.
       */
      isIncludeRefused
    }
  )
{
  /** What failed, and at which page of the run: one printable line for a log. */
  override get message(): string {
    return statusMessage("the service refused a parameter", this)
  }

  /** Whether the service refused the cursor, by its name in the problem: start again without one. */
  get isCursor(): boolean {
    return this.problem.param === "cursor"
  }

  /** What failed. The exit code of the command and what a fleet does follow from it. */
  get kind() {
    return "answer" as const
  }

  /** Whether the same page may succeed later with nothing changed: resume from `resumeFrom`. */
  get isRetryable(): boolean {
    return false
  }
}

/** 500, after all retries, or with a `Retry-After` longer than `RetryPolicy` waits. The service failed: resume later from `resumeFrom`. */
export class ServerError extends Schema.TaggedError<ServerError>("effect-time-punches/ApiError/ServerError")(
  "ServerError",
  statusFields("serverError")
) {
  /** What failed, and at which page of the run: one printable line for a log. */
  override get message(): string {
    return statusMessage("the service failed", this)
  }

  /** What failed. The exit code of the command and what a fleet does follow from it. */
  get kind() {
    return "service" as const
  }

  /** Whether the same page may succeed later with nothing changed: resume from `resumeFrom`. Wait for `retryAfter` first. */
  get isRetryable(): boolean {
    return true
  }
}

/** 429, after all retries, or with a `Retry-After` longer than `RetryPolicy` waits: resume after `retryAfter`. */
export class RateLimited extends Schema.TaggedError<RateLimited>("effect-time-punches/ApiError/RateLimited")(
  "RateLimited",
  statusFields("throttled")
) {
  /** What failed, and at which page of the run: one printable line for a log. */
  override get message(): string {
    return statusMessage("too many requests", this)
  }

  /** What failed. The exit code of the command and what a fleet does follow from it. */
  get kind() {
    return "throttled" as const
  }

  /** Whether the same page may succeed later with nothing changed: resume from `resumeFrom`. Wait for `retryAfter` first. */
  get isRetryable(): boolean {
    return true
  }
}

/**
 * 408, 425, or a 5xx other than 500, 501, 505 and 511, after all retries, or with a `Retry-After` longer than `RetryPolicy` waits.
 * The service, or what stands in front of it, is down or slow: resume after `retryAfter`.
 */
export class ServiceUnavailable
  extends Schema.TaggedError<ServiceUnavailable>("effect-time-punches/ApiError/ServiceUnavailable")(
    "ServiceUnavailable",
    statusFields("unavailable")
  )
{
  /** What failed, and at which page of the run: one printable line for a log. */
  override get message(): string {
    return statusMessage("the service cannot be reached for now", this)
  }

  /** What failed. The exit code of the command and what a fleet does follow from it. */
  get kind() {
    return "service" as const
  }

  /** Whether the same page may succeed later with nothing changed: resume from `resumeFrom`. Wait for `retryAfter` first. */
  get isRetryable(): boolean {
    return true
  }
}

/**
 * Any other status, with redirects and every 2xx but 200. Another server answers at this address, or the interface has
 * changed: check the base URL first.
 */
export class UnexpectedStatus
  extends Schema.TaggedError<UnexpectedStatus>("effect-time-punches/ApiError/UnexpectedStatus")(
    "UnexpectedStatus",
    {
      ...where,
      /** The status of the response. */
      status: Schema.Int,
      ...responseFields,
      /**
       * Whether the listing asked for `deleted: "include"`, and the service refused each way to write that with a 400: ask for
       * `"exclude"`, then for `"only"`. Default: `false`.
       */
      isIncludeRefused
    }
  )
{
  /** What failed, and at which page of the run: one printable line for a log. */
  override get message(): string {
    return statusMessage("is not a status of this interface", this)
  }

  /**
   * What failed. The exit code of the command and what a fleet does follow from it. `service` for a 5xx, and for a 404 whose body
   * is a page for a browser: it passes.
   */
  get kind() {
    const isOutage = isServerSide(this.status) || (this.isHtml && isNotFound(this.status))
    return isOutage ? "service" as const : "answer" as const
  }

  /** Whether the same page may succeed later with nothing changed: resume from `resumeFrom`. */
  get isRetryable(): boolean {
    return false
  }
}

const transportReason = Schema.Literals(["Connect", "Tls", "Headers", "Body", "Timeout", "TooLarge", "Unknown"])

/**
 * No whole response arrived: the connection, its TLS, the headers or the body failed, or time ran out. Resume later;
 * for `Tls`, fix the trust store first.
 */
export class TransportError
  extends Schema.TaggedError<TransportError>("effect-time-punches/ApiError/TransportError")("TransportError", {
    ...where,
    /**
     * What failed.
     *
     * - `Connect`: the connection was not made.
     * - `Tls`: the certificate or the handshake was refused. It is not retried.
     * - `Headers`: the connection failed before the headers were read.
     * - `Body`: it failed while the body was read.
     * - `Timeout`: the attempt or the page took longer than `RetryPolicy` allows.
     * - `TooLarge`: the body is larger than 8 MiB. It is not retried.
     * - `Unknown`: the transport does not say.
     */
    reason: transportReason,
    /** The code of the platform, such as `ECONNRESET`. `None` (the default): it gave none. */
    code: withDefault(Schema.OptionFromNullOr(Schema.String), Option.none()),
    /**
     * The origin of the base URL, such as `https://api.example.com`: scheme, host and port. It is the service's also if a
     * proxy on the way failed. `None` (the default): a mock named none.
     */
    origin: withDefault(Schema.OptionFromNullOr(Schema.String), Option.none())
  })
{
  /** What failed, and at which page of the run: one printable line for a log. */
  override get message(): string {
    const from = Option.match(this.origin, { onNone: () => "", onSome: (text) => ` from ${printable(text)}` })
    return `no whole response${from}: ${this.reason}${inParentheses(this.code)} [${place(this)}]`
  }

  /** What failed. The exit code of the command and what a fleet does follow from it. */
  get kind() {
    return "service" as const
  }

  /** Whether the same page may succeed later with nothing changed: resume from `resumeFrom`. Not for `Tls` and `TooLarge`. */
  get isRetryable(): boolean {
    return this.reason !== "Tls" && this.reason !== "TooLarge"
  }
}

/**
 * A 200 whose body is not a page of this company's punches. No row of that page was emitted, and no field of this error
 * quotes the body. `listResults` emits a single bad row as a value instead.
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
     * - `WrongFilter`: a row contradicts the filter that was sent, also when the page was requested twice more.
     */
    reason: Schema.Literals([
      "NotJson",
      "Empty",
      "ContentType",
      "ContentEncoding",
      "Charset",
      "Schema",
      "WrongCompany",
      "WrongFilter"
    ]),
    /** Where in the body, such as `data[3].clocked_in`. Default: empty, for the whole body. */
    path: withDefault(Schema.String, ""),
    /** What was expected there. Default: empty. */
    detail: withDefault(Schema.String, ""),
    /** The id of the punch at `path`. `None` (the default): the path is not in a punch, or its id cannot be read. */
    punchId: withDefault(Schema.OptionFromNullOr(Schema.Number), Option.none())
  })
{
  /** What failed, and at which page of the run: one printable line for a log. */
  override get message(): string {
    const at = this.path === "" ? "" : ` at ${printable(this.path)}`
    const punch = Option.match(this.punchId, { onNone: () => "", onSome: (id) => ` of punch ${id}` })
    const detail = this.detail === "" ? "" : `: ${printable(this.detail)}`
    return `the response cannot be read (${this.reason})${at}${punch}${detail} [${place(this)}]`
  }

  /** What failed. The exit code of the command and what a fleet does follow from it. `service` where `isRetryable` is true. */
  get kind() {
    return this.isRetryable ? "service" as const : "answer" as const
  }

  /** Whether the same page may succeed later with nothing changed: resume from `resumeFrom`. Only for `NotJson`, `Empty` and `ContentType`. */
  get isRetryable(): boolean {
    return this.reason === "NotJson" || this.reason === "Empty" || this.reason === "ContentType"
  }
}

const paginationSentences = {
  CursorCycle: "the page leads to a cursor that this run has already requested",
  WrongObject: "the page lists another kind of object than time punches",
  CountMismatch: "the page does not have as many rows as it counts",
  EmptyPages: "too many pages in a row were empty"
} as const

/**
 * The pages do not form a listing. No row was skipped in silence: `resumeFrom` is the first
 * page that was not emitted.
 */
export class PaginationError
  extends Schema.TaggedError<PaginationError>("effect-time-punches/ApiError/PaginationError")("PaginationError", {
    ...where,
    /**
     * Why the run stopped. The first three judge the page that carries them; the last stops before the page that was not read.
     *
     * - `CursorCycle`: the page leads to a cursor that this run has already requested.
     * - `WrongObject`: the page lists another kind of object than time punches.
     * - `CountMismatch`: the page does not have as many rows as its `count` says.
     * - `EmptyPages`: a hundred pages in a row were empty, and another follows.
     */
    reason: Schema.Literals(["CursorCycle", "WrongObject", "CountMismatch", "EmptyPages"])
  })
{
  /** What failed, and at which page of the run: one printable line for a log. */
  override get message(): string {
    return `the listing stopped (${this.reason}): ${paginationSentences[this.reason]} [${place(this)}]`
  }

  /** What failed. The exit code of the command and what a fleet does follow from it. */
  get kind() {
    return "answer" as const
  }

  /** Whether the same page may succeed later with nothing changed: resume from `resumeFrom`. */
  get isRetryable(): boolean {
    return false
  }
}

const limitSentences = {
  MaxPages: "the listing has more pages than maxPages allows",
  Deadline: "the time that deadline allows is over"
} as const

/** A limit that the caller set ended the run; nothing is wrong with the service. No row was skipped: continue from `resumeFrom`. */
export class LimitReached extends Schema.TaggedError<LimitReached>("effect-time-punches/ApiError/LimitReached")(
  "LimitReached",
  {
    ...where,
    /**
     * Which limit ended the run, before the page that was not read.
     *
     * - `MaxPages`: the listing has more pages than `maxPages` allows.
     * - `Deadline`: the time of the run, which `deadline` limits, is over. A request in flight was interrupted.
     */
    reason: Schema.Literals(["MaxPages", "Deadline"])
  }
) {
  /** Which limit ended the run, and at which page: one printable line for a log. */
  override get message(): string {
    return `the listing stopped (${this.reason}): ${limitSentences[this.reason]} [${place(this)}]`
  }

  /** What failed: the limit of the call. A fleet counts no strike, and the command exits with 7. */
  get kind() {
    return "request" as const
  }

  /** Whether the same page may succeed later with nothing changed: no, it is beyond the limit. Resume from `resumeFrom`. */
  get isRetryable(): boolean {
    return false
  }
}

/** An argument of the call is invalid. No request was sent. */
export class InvalidRequest
  extends Schema.TaggedError<InvalidRequest>("effect-time-punches/ApiError/InvalidRequest")("InvalidRequest", {
    ...whereUnsent,
    /** The argument, such as `pageSize` or `clockedIn.gte`. */
    field: Schema.String,
    /** What the argument must be; never its value. */
    detail: Schema.String,
    /** Whether the call was of a company. Sums of punches, such as `Labor.rollup`, are of none. Default: `true`. */
    hasCompany: withDefault(Schema.Boolean, true)
  })
{
  /** Which argument is invalid and why, on one printable line for a log. */
  override get message(): string {
    // A company that cannot be read has no number to name.
    const company = !this.hasCompany || /^company(\.id)?$/.test(this.field) ? "" : ` [company ${this.companyId}]`
    return `invalid ${printable(this.field)}: ${printable(this.detail)}${company}`
  }

  /** What failed. The exit code of the command and what a fleet does follow from it. */
  get kind() {
    return "request" as const
  }

  /** Whether the same page may succeed later with nothing changed: resume from `resumeFrom`. */
  get isRetryable(): boolean {
    return false
  }
}

/** A response that is not one of a token endpoint may be an outage of what stands before it, as a failed lookup may. */
const tokenKinds = {
  InvalidClient: "credential",
  Rejected: "credential",
  Transport: "service",
  Malformed: "service",
  Throttled: "throttled",
  Lookup: "service"
} as const satisfies { readonly [R in TokenError["reason"]]: ErrorKind }

/** No token: an OAuth client has none after all retries of the token request, or the lookup of access tokens failed. */
export class TokenError
  extends Schema.TaggedError<TokenError>("effect-time-punches/ApiError/TokenError")("TokenError", {
    ...where,
    /**
     * Requests that were sent for the token, retries included. If `TokenCache` repeats an error without a request, the
     * number stays. Default: 0.
     */
    attempts: whereUnsent.attempts,
    /**
     * Why the client has no token.
     *
     * - `InvalidClient`: the endpoint does not accept the client id or the secret, whatever its status: replace them.
     * - `Rejected`: the endpoint refused the request; `code` may say why, such as `invalid_scope`.
     * - `Transport`: no whole response arrived, and `transport` says why; or the endpoint failed, and `status` says how:
     *   resume later. For `Tls`, fix the trust store first. Every status from 500 on is one, unless `code` says more.
     * - `Malformed`: the response is not a token.
     * - `Throttled`: 429, after all retries: resume later.
     * - `Lookup`: the lookup of `Credentials.layerAccessTokens` failed with another error, which is not kept: it may
     *   hold a secret.
     */
    reason: Schema.Literals(["InvalidClient", "Rejected", "Transport", "Malformed", "Throttled", "Lookup"]),
    /** The status of the token response. `None` (the default): there was no response. */
    status: withDefault(Schema.OptionFromNullOr(Schema.Int), Option.none()),
    /**
     * The error code of the token response, such as `invalid_scope`: one of the six of RFC 6749, section 5.2, or
     * `invalid_credentials` or `access_denied`. `None` (the default): the response names none of them; other text is not kept.
     */
    code: withDefault(Schema.OptionFromNullOr(Schema.String), Option.none()),
    /** How long the last response asked to wait, from `Retry-After`. `None` (the default): it did not say. */
    retryAfter: withDefault(Schema.OptionFromNullOr(Schema.DurationFromMillis), Option.none()),
    /** Why no whole response arrived. `None` (the default): one arrived, or the error was not made by `TokenEndpoint`. */
    transport: withDefault(
      Schema.OptionFromNullOr(Schema.Struct({
        /** What failed, as in `TransportError`. */
        reason: transportReason,
        /** The code of the platform, such as `ECONNRESET`. `None`: it gave none. */
        code: Schema.OptionFromNullOr(Schema.String),
        /** The origin of the token endpoint, such as `https://auth.example.com`. */
        origin: Schema.String
      })),
      Option.none()
    )
  })
{
  /** What failed, and at which page of the run: one printable line for a log. */
  override get message(): string {
    return `no token: ${tokenFailureText(this)} [${place(this, "token ")}]`
  }

  /** What failed. The exit code of the command and what a fleet does follow from it. */
  get kind() {
    return tokenKinds[this.reason]
  }

  /** Whether the same page may succeed later with nothing changed: resume from `resumeFrom`. Only for `Transport` (not for its `Tls`) and `Throttled`. */
  get isRetryable(): boolean {
    return this.reason === "Throttled" ||
      (this.reason === "Transport" && !Option.exists(this.transport, ({ reason }) => reason === "Tls"))
  }
}

/** Every failure of a listing, as a schema: it can be logged, sent and decoded again. */
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
  LimitReached,
  InvalidRequest,
  TokenError
])
export type ListError = typeof ListError.Type

/**
 * What failed, in six words: the call (`request`), the credential, what it may do (`permission`), too many requests
 * (`throttled`), the service or the way to it (`service`), or what it answered (`answer`).
 */
export type ErrorKind = "request" | "credential" | "permission" | "throttled" | "service" | "answer"

/** Whether a value is an error of a listing, such as the `cause` of another error, or what untyped code caught. */
export const isListError: (value: unknown) => value is ListError = Schema.is(ListError)

/** How long the service asks to wait before anything is sent for the same company; zero if it does not say. @internal */
export const retryAfterOf = (error: ListError): Duration.Duration =>
  "retryAfter" in error ? Option.getOrElse(error.retryAfter, () => Duration.zero) : Duration.zero

/** Whether the service refused a parameter of a request: with 422, or with 400 as some do. @internal */
export const isRefused = (error: ListError): boolean =>
  error._tag === "UnprocessableEntity" || (error._tag === "UnexpectedStatus" && isBadRequest(error.status))

/** The refusal of a listing with deleted punches and others alike, of which each spelling was refused. @internal */
export const refusedInclude = (error: ListError): ListError => {
  const isOther = "problem" in error && !["deleted", "include_deleted", undefined].includes(error.problem.param)
  if (isOther) return error
  if (error._tag === "UnprocessableEntity") return new UnprocessableEntity({ ...error, isIncludeRefused: true })
  return error._tag === "UnexpectedStatus" ? new UnexpectedStatus({ ...error, isIncludeRefused: true }) : error
}

/**
 * What a person may do about an error of a listing: one sentence or two for a log or a screen, without a value of the call. A
 * setting is named by the option of a program and by its variable.
 */
export const getAdvice = (error: ListError): string => {
  if ("isIncludeRefused" in error && error.isIncludeRefused) return twoListings
  switch (error._tag) {
    case "InvalidRequest":
      return "Nothing was sent. Change the call."
    case "Unauthorized":
      return error.kind === "service"
        ? inFront
        : "Replace the credential. If it is right, ask the company: its plan may lack time punches, or the technical contact of the " +
          "token may have left."
    case "Forbidden":
      return error.kind === "service"
        ? inFront
        : "Ask the company: its plan, the scope time_punches:read, or the grant of this company is missing."
    case "UnprocessableEntity":
      return error.isCursor
        ? "The service does not know the cursor (any more): start over, without a cursor."
        : error.problem.param === "limit"
        ? smallerPages
        : adviceByParam(error.problem) ??
          "Change the filter, the order or the API version: the service refused a parameter."
    case "UnexpectedStatus":
      if (error.status === 400 && error.problem.param === "limit") return smallerPages
      return error.kind === "service" ? inFront : adviceByParam(error.problem) ?? adviceByWords(error)
    case "DecodeError":
      return error.reason === "WrongFilter" ? ignoredFilter : findCause
    case "PaginationError":
      return findCause
    case "LimitReached":
      return error.reason === "MaxPages"
        ? "Narrow the filter, or raise maxPages."
        : "Continue from the cursor of the error, or raise deadline."
    case "TransportError":
      return transportAdvice(error, "the base URL (baseUrl, or TIME_PUNCHES_BASE_URL)")
    case "TokenError":
      return Option.match(error.transport, {
        onNone: () => tokenAdvice(error),
        onSome: ({ origin, reason }) =>
          transportAdvice({ origin: Option.some(origin), reason }, "the auth URL (authUrl, or TIME_PUNCHES_AUTH_URL)")
      })
    case "ServerError":
    case "RateLimited":
    case "ServiceUnavailable":
      return retryLater
  }
}

const twoListings =
  "The service takes no way to ask for deleted punches and others at once. Ask for those that are not deleted, then for the " +
  "deleted ones: deleted \"exclude\", then \"only\" (--deleted). If these are refused too, it is another parameter."

const smallerPages = "Ask for smaller pages: pageSize, --page-size or TIME_PUNCHES_PAGE_SIZE."

const retryLater = "This may pass: try again later."

const wrongAddress = "Check the base URL (baseUrl, or TIME_PUNCHES_BASE_URL): something else may answer there."

/** What to change of what the service names. */
const adviceByParam = ({ param }: Problem): string | undefined => {
  switch (param) {
    case undefined:
      return undefined
    case "x-api-version":
      return "Change the API version (ApiVersion, or TIME_PUNCHES_API_VERSION): the service refused it."
    case "company":
    case "company_id":
    case "x-company-guid":
      return "Check the id of the company, and its guid: the service refused them."
    default:
      return `Change ${printable(param)} or leave it out: the service refused it.`
  }
}

/** A problem without a parameter: a service that answers in its own words is the right one, unless it does not know the path. */
const adviceByWords = ({ problem: { detail, title }, status }: UnexpectedStatus): string => {
  if (detail === undefined && title === undefined) return wrongAddress
  return status === 404 ? `${wrongAddress} If it is right, report what it says.` : "Report what the service says."
}

const inFront = `${wrongAddress} If it is right, this may pass: try again later.`

const ignoredFilter = "The service ignores this filter: leave it out, choose the rows yourself, and report it."

const findCause = "Run time-punches doctor to find the cause."

const transportAdvice = ({ origin, reason }: Pick<TransportError, "origin" | "reason">, address: string): string =>
  reason === "Connect"
    ? `Nothing answers ${
      Option.match(origin, { onNone: () => "there", onSome: (text) => `at ${printable(text)}` })
    }: check ${address}, the network and any proxy. ${retryLater}`
    : reason === "Tls"
    ? "The certificate is not trusted, so a retry does not help. NODE_EXTRA_CA_CERTS adds trusted ones."
    : reason === "TooLarge"
    ? smallerPages
    : retryLater

/** A token endpoint that refuses a request says why by a code; something else at its address does not. */
const tokenAdvice = ({ code, isRetryable, reason }: TokenError): string => {
  if (isRetryable) return retryLater
  if (reason === "Lookup") return "Check the lookup of access tokens: it failed by itself, and nothing was sent."
  if (Option.contains(code, "invalid_scope")) {
    return "Check the scopes (scopes, or TIME_PUNCHES_SCOPES): the client may not have all of them."
  }
  return reason === "Malformed" || (reason === "Rejected" && Option.isNone(code))
    ? "Check the auth URL (authUrl, or TIME_PUNCHES_AUTH_URL), by default the base URL: something else may answer there."
    : "Check the OAuth client: its id, secret and scopes (clientId, clientSecret and scopes, or TIME_PUNCHES_CLIENT_ID, " +
      "TIME_PUNCHES_CLIENT_SECRET and TIME_PUNCHES_SCOPES)."
}

/** One row of `listResults` that is not a punch. */
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

  /** Whether the same row may be read later with nothing changed: no. */
  get isRetryable(): boolean {
    return false
  }
}
