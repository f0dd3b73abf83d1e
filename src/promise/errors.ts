/** What a call without Effect rejects with: a class for each way to fail, by the tags that the errors of the main entry have. */

/** What the body of an error response says, as far as it is well-typed. */
export interface Problem {
  /** What kind of problem it is, for people. */
  readonly title?: string
  /** What is wrong with this request, for people. */
  readonly detail?: string
  /** The service's own number for the problem. */
  readonly code?: number
  /** The parameter that the service refused, by its name in the query. */
  readonly param?: string
}

/** What an error is made of. */
export type ErrorFields =
  & Pick<TimePunchesError, "message" | "advice" | "kind" | "isRetryable">
  & Partial<Omit<TimePunchesError, "_tag" | "name" | "stack">>

/** What every call may reject with: its class and its `_tag` name the failure. A key that a failure does not have is `undefined`. */
export abstract class TimePunchesError extends Error {
  /** The name of the failure, as in the main entry. */
  abstract readonly _tag: string
  /** What a person may do about it: one sentence or two. */
  readonly advice: string
  /** What failed: the call, the credential, what it may do, too many requests, the service or the way to it, or what it answered. */
  readonly kind: "request" | "credential" | "permission" | "throttled" | "service" | "answer"
  /** Whether the same call may succeed later with nothing changed: pass `resumeFrom` as `cursor`. */
  readonly isRetryable: boolean
  /** The company of the call; `undefined` if none could be read. */
  readonly companyId: number | undefined
  /** The cursor of the page that failed: a call with this `cursor` continues without loss or repeat. `undefined`: the first page. */
  readonly resumeFrom: string | undefined
  /** How long the service asks to wait, in milliseconds. */
  readonly retryAfter: number | undefined
  /** Pages that the run read whole before the error. */
  readonly pagesCompleted: number | undefined
  /** Requests that were sent for the page or token that failed. */
  readonly attempts: number | undefined
  /** The service's name for the request that failed, for its support. */
  readonly requestId: string | undefined
  /** The status of the response. */
  readonly status: number | undefined
  /** Which case of the tag it is, such as `Timeout` of a `TransportError`. */
  readonly reason: string | undefined
  /** The code of the platform, such as `ECONNRESET`, or of a token response, such as `invalid_scope`. */
  readonly code: string | undefined
  /** The argument or the field of the body that is invalid, such as `pageSize` or `data[3].clocked_in`. */
  readonly path: string | undefined
  /** What was expected at `path`; never the value. */
  readonly detail: string | undefined
  /** The id of the punch at `path`. */
  readonly punchId: number | undefined
  /** What the service says about the failure. */
  readonly problem: Problem | undefined

  constructor(fields: ErrorFields) {
    const { advice, cause, isRetryable, kind, message, ...more } = fields
    super(message, { cause })
    this.name = new.target.name
    this.advice = advice
    this.kind = kind
    this.isRetryable = isRetryable
    Object.assign(this, more)
  }
}

/** 401. The service does not accept the credential: replace it. */
export class Unauthorized extends TimePunchesError {
  override readonly _tag = "Unauthorized"
}

/** 403. The credential is valid; its scope, the plan or the company does not allow this. */
export class Forbidden extends TimePunchesError {
  override readonly _tag = "Forbidden"
}

/** 422. The service refused a parameter; `problem.param` often names it. */
export class UnprocessableEntity extends TimePunchesError {
  override readonly _tag = "UnprocessableEntity"
}

/** 500, after all retries: resume later. */
export class ServerError extends TimePunchesError {
  override readonly _tag = "ServerError"
}

/** 429, after all retries: resume after `retryAfter`. */
export class RateLimited extends TimePunchesError {
  override readonly _tag = "RateLimited"
}

/** 408, 425, or most other 5xx, after all retries: resume after `retryAfter`. */
export class ServiceUnavailable extends TimePunchesError {
  override readonly _tag = "ServiceUnavailable"
}

/** Any other status: another server may answer at this address. */
export class UnexpectedStatus extends TimePunchesError {
  override readonly _tag = "UnexpectedStatus"
}

/** No whole response arrived; `reason` says why. */
export class TransportError extends TimePunchesError {
  override readonly _tag = "TransportError"
}

/** A 200 whose body is not a page of this company's punches; `path` names the place. No row of that page was emitted. */
export class DecodeError extends TimePunchesError {
  override readonly _tag = "DecodeError"
}

/** The pages do not form a listing; `reason` says why. */
export class PaginationError extends TimePunchesError {
  override readonly _tag = "PaginationError"
}

/** `maxPages` or `deadline` ended the run; `reason` says which. */
export class LimitReached extends TimePunchesError {
  override readonly _tag = "LimitReached"
}

/** An argument of the call is invalid; `path` names it. Nothing was sent. */
export class InvalidRequest extends TimePunchesError {
  override readonly _tag = "InvalidRequest"
}

/** There is no token; `reason` says why. */
export class TokenError extends TimePunchesError {
  override readonly _tag = "TokenError"
}

/** An option of the client is invalid. Nothing was sent. */
export class ConfigError extends TimePunchesError {
  override readonly _tag = "ConfigError"
}

/** The client was closed, before the call or while it ran. Such an error has no `resumeFrom`. */
export class ClientClosed extends TimePunchesError {
  override readonly _tag = "ClientClosed"

  constructor() {
    const advice = "Make a client for the process, and close it when its last call has ended."
    super({ message: "the client is closed", advice, kind: "request", isRetryable: false })
  }
}

/** A backfill failed. Each row was either emitted or lies in `unfinished`. */
export class BackfillError extends TimePunchesError {
  override readonly _tag = "BackfillError"
  /** The parts that are not read yet: texts that `segments` takes, also in a later process. */
  readonly unfinished: ReadonlyArray<string>

  constructor({ unfinished, ...fields }: ErrorFields & { readonly unfinished: ReadonlyArray<string> }) {
    super(fields)
    this.unfinished = unfinished
  }
}
