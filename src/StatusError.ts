/** The listing errors that a status decides; the body only adds detail. */
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { place, type Where, where, withDefault } from "./internal/base/errorFields.ts"
import { usualStatus } from "./internal/http/status.ts"
import { explain, Problem } from "./Problem.ts"

/** The fields of an error that a status decides. */
const statusFields = (kind: keyof typeof usualStatus) => ({
  ...where,
  /** The status of the response. Default for a mock: the usual status of this error. */
  status: withDefault(Schema.Int, usualStatus[kind]),
  /** What the body said about it; empty where it said nothing well-typed. */
  problem: withDefault(Problem, {})
})

/** The message of an error that a status decides. */
const statusMessage = (
  meaning: string,
  error: Where & { readonly status: number; readonly problem: Problem }
): string => `${error.status} ${meaning}${explain(error.problem)} [${place(error)}]`

/**
 * 401. The service does not accept the credential, even after one refresh where it can be refreshed: replace it.
 *
 * @since 0.1.0
 */
export class Unauthorized extends Schema.TaggedError<Unauthorized>("effect-time-punches/ApiError/Unauthorized")(
  "Unauthorized",
  statusFields("unauthorized")
) {
  /** What failed and where in the run, on one printable line for a log. */
  override get message(): string {
    return statusMessage("the credential was not accepted", this)
  }
}

/**
 * 403. The credential is valid; its scope, the plan or the company does not allow this: ask the customer, do not retry.
 *
 * @since 0.1.0
 */
export class Forbidden extends Schema.TaggedError<Forbidden>("effect-time-punches/ApiError/Forbidden")(
  "Forbidden",
  statusFields("forbidden")
) {
  /** What failed and where in the run, on one printable line for a log. */
  override get message(): string {
    return statusMessage("the credential may not do this", this)
  }
}

/**
 * 422. The service refused a parameter; `problem.param` often names it: fix the request. Where it is an expired cursor,
 * start again without one.
 *
 * @since 0.1.0
 */
export class UnprocessableEntity
  extends Schema.TaggedError<UnprocessableEntity>("effect-time-punches/ApiError/UnprocessableEntity")(
    "UnprocessableEntity",
    statusFields("unprocessable")
  )
{
  /** What failed and where in the run, on one printable line for a log. */
  override get message(): string {
    return statusMessage("the service refused a parameter", this)
  }
}

/**
 * 500, after all retries. The service failed: resume later from `resumeFrom`.
 *
 * @since 0.1.0
 */
export class ServerError extends Schema.TaggedError<ServerError>("effect-time-punches/ApiError/ServerError")(
  "ServerError",
  statusFields("serverError")
) {
  /** What failed and where in the run, on one printable line for a log. */
  override get message(): string {
    return statusMessage("the service failed", this)
  }
}

/**
 * 429, after all retries, or with a `Retry-After` longer than `RetryPolicy` waits: resume after `retryAfter`.
 *
 * @since 0.1.0
 */
export class RateLimited extends Schema.TaggedError<RateLimited>("effect-time-punches/ApiError/RateLimited")(
  "RateLimited",
  {
    ...statusFields("throttled"),
    /** How long the service asks to wait, from `Retry-After`. `None` (the default): it does not say. */
    retryAfter: withDefault(Schema.OptionFromNullOr(Schema.DurationFromMillis), Option.none())
  }
) {
  /** What failed and where in the run, on one printable line for a log. */
  override get message(): string {
    const wait = Option.match(this.retryAfter, {
      onNone: () => "too many requests",
      onSome: (duration) => `too many requests, retry after ${Duration.format(duration)}`
    })
    return statusMessage(wait, this)
  }
}

/**
 * 408, 502, 503 or 504, after all retries. The service, or a proxy before it, is down or slow: resume later.
 *
 * @since 0.1.0
 */
export class ServiceUnavailable
  extends Schema.TaggedError<ServiceUnavailable>("effect-time-punches/ApiError/ServiceUnavailable")(
    "ServiceUnavailable",
    statusFields("unavailable")
  )
{
  /** What failed and where in the run, on one printable line for a log. */
  override get message(): string {
    return statusMessage("the service cannot be reached for now", this)
  }
}

/**
 * Any other status, with redirects and every 2xx but 200. Another server answers at this address, or the interface has
 * changed: check the base URL first.
 *
 * @since 0.1.0
 */
export class UnexpectedStatus
  extends Schema.TaggedError<UnexpectedStatus>("effect-time-punches/ApiError/UnexpectedStatus")(
    "UnexpectedStatus",
    {
      ...where,
      /** The status of the response. */
      status: Schema.Int,
      /** What the body said about it; empty where it said nothing well-typed. */
      problem: withDefault(Problem, {})
    }
  )
{
  /** What failed and where in the run, on one printable line for a log. */
  override get message(): string {
    return statusMessage("is not a status of this interface", this)
  }
}
