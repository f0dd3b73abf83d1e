/** The options of a listing and of a single page: page size, start, guards. */
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import type * as Option from "effect/Option"
import type * as Schedule from "effect/Schedule"
import type { ListError } from "./ApiError.ts"
import type { Cursor } from "./Ids.ts"
import type { RetryOptions } from "./RetryPolicy.ts"

/**
 * Rows in one request of a call that names no `pageSize`, 1 to 200, a sync and a fleet too. Default: 200. Provide it to
 * `TimePunches.layer`, or to a run, for a service that refuses pages of 200.
 */
export class PageSize extends Context.Reference<number>("effect-time-punches/PageSize", {
  defaultValue: () => 200
}) {}

/** The settings of one run, in place of its client's. Settings that are provided to the run as services count too. */
export interface RunOptions {
  /**
   * The version that requests name, a date as `YYYY-MM-DD`; `Option.none()` sends none, so that the version of the access
   * token applies. Default: the `ApiVersion` of the run, or of the client.
   */
  readonly apiVersion?: string | Option.Option<string> | undefined
  /**
   * Changes of the `RetryPolicy` of the run, or of the client. The run shares the budget of the client, unless it names
   * another `budget`: that one is for this run alone. Default: no change.
   */
  readonly retry?: RetryOptions | undefined
  /**
   * The time of the whole run, from its start to its last page, waits and the work of the consumer included. When it is
   * over, the request in flight is interrupted, and the run fails with `LimitReached`, reason `Deadline`, whose
   * `resumeFrom` continues it; in a `BackfillError` this is the `cause`. Work on rows that were emitted is not interrupted. If
   * the next attempt would begin after the deadline, the run fails at once with the error of the last attempt, such as
   * `RateLimited`. `attemptTimeout` and `pageTimeout` of `retry` limit
   * one request and one page. Default: none.
   */
  readonly deadline?: Duration.Input | undefined
}

/** How a listing starts and what bounds it. */
export interface ListOptions extends RunOptions {
  /** Rows in one request, 1 to 200. Default: the `PageSize` of the run, or of the client. */
  readonly pageSize?: number | undefined
  /** The cursor of the first page to read, such as `resumeFrom` of an error. Default: the first page. */
  readonly cursor?: Cursor | Option.Option<Cursor> | undefined
  /**
   * A guard: a run that would read more pages fails with `LimitReached`, reason `MaxPages`. To stop early without a
   * failure use `Stream.take`. Default: no guard.
   */
  readonly maxPages?: number | undefined
  /** Pages to read ahead of the consumer. Default 0: no request beyond what is consumed. */
  readonly prefetchPages?: number | undefined
  /**
   * Resumes the run by itself: after an error whose `isRetryable` is true, the page is requested again when the schedule says
   * so, and not before `retryAfter` of the error has passed. Each time `RetryPolicy` makes all its attempts. The schedule starts
   * again for each page that fails; when it ends, the stream fails with the last error. No row comes twice and none is lost.
   * Each resumption is counted and logged. Default: the stream fails.
   *
   * Give it an end (`Schedule.upTo`, `Schedule.recurs`), or the run a `deadline`.
   */
  readonly resumeSchedule?: Schedule.Schedule<unknown, ListError> | undefined
}

/** Which page to request, and how large. */
export interface PageOptions extends RunOptions {
  /** Rows in the page, 1 to 200. Default 200. */
  readonly pageSize?: number | undefined
  /**
   * The cursor of the page, such as the value of `next` or `prev` of another page; `"start"`, the default, is the first page. An
   * `Option` is refused: behind the last page it would be `None`, which must not read as the first page again.
   */
  readonly cursor?: Cursor | "start" | undefined
}
