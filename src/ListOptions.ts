/** The options of a listing and of a single page: page size, start, guards. */
import type * as Option from "effect/Option"
import type * as Schedule from "effect/Schedule"
import type { ListError } from "./ApiError.ts"
import type { Cursor } from "./Ids.ts"

/** How a listing starts and what bounds it. */
export interface ListOptions {
  /** Rows in one request, 1 to 200. Default 200. */
  readonly pageSize?: number | undefined
  /** The cursor of the first page to read, such as `resumeFrom` of an error. Default: the first page. */
  readonly cursor?: Cursor | Option.Option<Cursor> | undefined
  /**
   * A guard: a run that would read more pages fails with `PaginationError`, reason `MaxPages`. To stop early without a
   * failure use `Stream.take`. Default: no guard.
   */
  readonly maxPages?: number | undefined
  /** Pages to read ahead of the consumer. Default 0: no request beyond what is consumed. */
  readonly prefetchPages?: number | undefined
  /**
   * Resumes the run by itself: a page that failed with an error whose `isRetryable` is true is requested again when the
   * schedule says so, and not before a `retryAfter` of the error has passed. `RetryPolicy` has its own attempts each time. The schedule
   * starts again for each page that fails; when it ends, the stream fails with the last error. No row comes twice and none
   * is lost. Each resumption is counted and logged. Default: the stream fails.
   *
   * Give it an end (`Schedule.upTo`, `Schedule.recurs`), or the run a deadline (`Effect.timeout`).
   */
  readonly resumeSchedule?: Schedule.Schedule<unknown, ListError> | undefined
}

/** Which page to request, and how large. */
export interface PageOptions {
  /** Rows in the page, 1 to 200. Default 200. */
  readonly pageSize?: number | undefined
  /** The cursor of the page: `next` or `prev` of another page. Default: the first page. */
  readonly cursor?: Cursor | Option.Option<Cursor> | undefined
}
