/** The arguments and the error of `backfill`, which reads a long range of time in windows, several at a time. */
import type * as DateTime from "effect/DateTime"
import * as Schema from "effect/Schema"
import { ListError } from "./ApiError.ts"
import { named } from "./internal/wire/issue.ts"
import type { RunOptions } from "./ListOptions.ts"
import type { PunchCriteria } from "./PunchFilter.ts"
import { isSegment } from "./Segment.ts"

/**
 * A part of the range that is not read yet, as `unfinished` names it and `segments` takes it. It is opaque: store the text until
 * the service is available again, and give it back with the same company and filter. With others it is refused, and so is a text
 * that was edited.
 * `.make` is for literals only: it throws. Read a text with `Schema.decodeUnknownEffect(BackfillSegment)`.
 */
export const BackfillSegment = Schema.String
  .check(Schema.makeFilter(isSegment, { expected: "a segment of a backfill" }))
  .pipe(Schema.brand("BackfillSegment"), named)

export type BackfillSegment = typeof BackfillSegment.Type

/**
 * What to backfill: any criteria without `sortBy` and `localizeSearchTime`, which the backfill sets itself, and a
 * closed range of clock-ins.
 */
export type BackfillFilter = Omit<PunchCriteria, "sortBy" | "localizeSearchTime"> & {
  /** The range of clock-ins to read: `gte`, and one of `lte` (inclusive) and `lt` (exclusive). */
  readonly clockedIn:
    | {
      /** The first instant of the range. */
      readonly gte: DateTime.DateTime
      /** The last instant of the range. */
      readonly lte: DateTime.DateTime
      /** Excluded by `lte`. */
      readonly lt?: undefined
    }
    | {
      /** The first instant of the range. */
      readonly gte: DateTime.DateTime
      /** The first instant after the range. */
      readonly lt: DateTime.DateTime
      /** Excluded by `lt`. */
      readonly lte?: undefined
    }
}

/** How to backfill. */
export interface BackfillOptions extends RunOptions {
  /** Pages to read at once, a whole number from 1 to 64. With 1 it is the plain listing of the range. */
  readonly concurrency: number
  /** Rows per page, 1 to 200. Default: 200. */
  readonly pageSize?: number | undefined
  /**
   * `"asCompleted"`, the default, emits a page when it arrives. `"byTime"` emits windows in the order of time, and rows
   * too if the service returns them in the requested order; it buffers up to twenty pages for each page read at once.
   */
  readonly order?: "asCompleted" | "byTime" | undefined
  /** Segments to read: the `unfinished` of an earlier failure with the same company and filter. Default: the whole range. */
  readonly segments?: ReadonlyArray<BackfillSegment> | undefined
}

/**
 * A backfill that failed, after the pages in flight were read to their end. Each row was either emitted or lies in
 * `unfinished`: continue with `segments: error.unfinished`.
 */
export class BackfillError
  extends Schema.TaggedError<BackfillError>("effect-time-punches/Backfill/BackfillError")("BackfillError", {
    /** The failure of the page that ended the run. */
    cause: ListError,
    /** The segments that are not read yet. */
    unfinished: Schema.Array(BackfillSegment)
  })
{
  /** The number of unfinished parts, and the message of `cause`. */
  override get message(): string {
    return `the backfill stopped with ${this.unfinished.length} parts unfinished: ${this.cause.message}`
  }
  /** Whether the same segments may succeed later with nothing changed, which is what `cause` says of itself. */
  get isRetryable(): boolean {
    return this.cause.isRetryable
  }
}
