/** The options of a listing and of a single page: page size, start, guards. */
import type * as Option from "effect/Option"
import type { Cursor } from "./Ids.ts"

/**
 * How a run is bounded. `pageSize` is 1 to 200, default 200. `from` is a cursor to go on from. `maxPages` is a guard
 * that fails the run; to stop early use `Stream.take`. `prefetchPages` pages are read ahead, default 0.
 *
 * @since 0.1.0
 */
export interface ListOptions {
  readonly pageSize?: number | undefined
  readonly from?: Cursor | Option.Option<Cursor> | undefined
  readonly maxPages?: number | undefined
  readonly prefetchPages?: number | undefined
}

/** How one page is asked for: from its cursor, `next` or `prev` of another page, or the first one. @since 0.1.0 */
export interface PageOptions {
  readonly pageSize?: number | undefined
  readonly cursor?: Cursor | Option.Option<Cursor> | undefined
}
