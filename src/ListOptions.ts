/** The options of a listing and of a single page: page size, start, guards. */
import type * as Option from "effect/Option"
import type { Cursor } from "./Ids.ts"

/** How a listing starts and what bounds it. */
export interface ListOptions {
  /** Rows in one request, 1 to 200. Default 200. */
  readonly pageSize?: number | undefined
  /** The cursor to start from, such as `resumeFrom` of an error. Default: the first page. */
  readonly from?: Cursor | Option.Option<Cursor> | undefined
  /**
   * A guard: a run that would read more pages fails with `PaginationError`, reason `MaxPages`. To stop early without a
   * failure use `Stream.take`. Default: no guard.
   */
  readonly maxPages?: number | undefined
  /** Pages to read ahead of the consumer. Default 0: no request beyond what is consumed. */
  readonly prefetchPages?: number | undefined
}

/** Which page to request, and how large. */
export interface PageOptions {
  /** Rows in the page, 1 to 200. Default 200. */
  readonly pageSize?: number | undefined
  /** The cursor of the page: `next` or `prev` of another page. Default: the first page. */
  readonly cursor?: Cursor | Option.Option<Cursor> | undefined
}
