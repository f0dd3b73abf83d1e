/** Why an attempt for a page failed, and every constructor of such a failure. Its place in the run is added later. */
import type * as Duration from "effect/Duration"
import type * as Option from "effect/Option"
import * as ApiError from "../ApiError.ts"
import { statusOf } from "../internal/http/status.ts"
import type { TransportFailure } from "../internal/http/transportFailure.ts"
import { type Retry, transientRetry } from "../internal/resilience/retry.ts"
import type { Where } from "../internal/wire/errorFields.ts"
import type { Problem } from "../Problem.ts"

export interface Failure {
  /** How the page may be attempted again; `undefined` if it may not. */
  readonly retry: Retry | undefined
  /** Whether the service refused the credential, so that a fresh one may succeed. */
  readonly unauthorized: boolean
  /** `origin`: where the page was requested from. */
  readonly error: (at: Where, origin: Option.Option<string>) => ApiError.ListError
}

const failure = (error: Failure["error"], retry?: Retry): Failure => ({ error, retry, unauthorized: false })

/** The connection, the headers or the body failed, or time ran out. */
export const transportFailure = ({ code, reason, retry }: TransportFailure): Failure =>
  failure((at, origin) => new ApiError.TransportError({ ...at, code, origin, reason }), retry)

/** A 200 whose body is not a page of this company; `limit` is how many retries it is worth. */
export const decodeFailure = (
  reason: ApiError.DecodeError["reason"],
  found: { readonly path?: string; readonly detail?: string; readonly punchId?: Option.Option<number> } = {},
  limit = 0
): Failure =>
  failure(
    (at) => new ApiError.DecodeError({ ...at, ...found, reason }),
    limit === 0 ? undefined : transientRetry(reason, { limit })
  )

/** A page that cannot be part of this listing. */
export const paginationFailure = (reason: ApiError.PaginationError["reason"]): Failure =>
  failure((at) => new ApiError.PaginationError({ ...at, reason }))

/** The run has no more time. */
export const deadlineFailure = failure((at) => new ApiError.LimitReached({ ...at, reason: "Deadline" }))

/** A response of another origin: the caller's `HttpClient` followed a redirect. */
export const foreignOrigin = (status: number): Failure =>
  failure((at) => new ApiError.UnexpectedStatus({ ...at, status, problem: {} }))

/** A credential that cannot sign: its own error, with the place in the run. */
export const signFailure = (error: ApiError.TokenError | ApiError.InvalidRequest): Failure =>
  failure((at) =>
    error._tag === "TokenError"
      ? new ApiError.TokenError({ ...error, ...at, attempts: error.attempts, requestId: error.requestId })
      : new ApiError.InvalidRequest({ ...error, ...at })
  )

/** A status other than 200. The status decides the error; what else the response says only adds detail. */
export const statusFailure = (
  status: number,
  said: { readonly problem: Problem; readonly isHtml: boolean; readonly retryAfter: Option.Option<Duration.Duration> }
): Failure => {
  const { retryAfter } = said
  const transient = transientRetry(`${status}`, { retryAfter })
  switch (statusOf(status)) {
    case "unauthorized":
      return { ...failure((at) => new ApiError.Unauthorized({ ...at, status, ...said })), unauthorized: true }
    case "forbidden":
      return failure((at) => new ApiError.Forbidden({ ...at, status, ...said }))
    case "unprocessable":
      return failure((at) => new ApiError.UnprocessableEntity({ ...at, status, ...said }))
    case "throttled":
      return failure(
        (at) => new ApiError.RateLimited({ ...at, status, ...said }),
        transientRetry(`${status}`, { throttled: true, retryAfter })
      )
    case "serverError":
      return failure((at) => new ApiError.ServerError({ ...at, status, ...said }), transient)
    case "unavailable":
      return failure((at) => new ApiError.ServiceUnavailable({ ...at, status, ...said }), transient)
    case "ok":
    case "other":
      return failure((at) => new ApiError.UnexpectedStatus({ ...at, status, ...said }))
  }
}
