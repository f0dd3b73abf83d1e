/** Reading a long time range in windows side by side: what is asked, and what a failure leaves to be read. */
import type * as DateTime from "effect/DateTime"
import * as Schema from "effect/Schema"
import { ListError } from "./ApiError.ts"
import { Cursor } from "./Ids.ts"
import type { Criteria } from "./PunchFilter.ts"

/**
 * A part of the range that is not read yet, as `unfinished` names it and `resume` takes it: the instants from `gte` to
 * `until`. A plain value with a JSON form, so that it can be stored until the service is available again.
 *
 * @since 0.1.0
 */
export const Segment = Schema.Struct({
  /** The first instant of the part. */
  gte: Schema.DateTimeUtc,
  /** The end of the part: its last instant if `inclusive`, otherwise the first instant after it. */
  until: Schema.DateTimeUtc,
  /** Whether `until` belongs to the part. */
  inclusive: Schema.Boolean,
  /** The cursor of the next page to read; `None` if no page was read. */
  cursor: Schema.Option(Cursor),
  /** The end that the query of `cursor` named, where it differs from `until`. Absent: `until`. */
  queriedUntil: Schema.optionalKey(Schema.DateTimeUtc),
  /** Whether rows came out of the requested order. Absent: no. */
  unordered: Schema.optionalKey(Schema.Boolean)
})
export type Segment = typeof Segment.Type

/**
 * What to backfill: a window on `clockedIn` that is closed at both ends, and any criteria but those that decide order
 * and zone, which are the backfill's own.
 *
 * @since 0.1.0
 */
export type BackfillFilter = Omit<Criteria, "sortBy" | "localizeSearchTime"> & {
  readonly clockedIn:
    | { readonly gte: DateTime.DateTime; readonly lte: DateTime.DateTime; readonly lt?: undefined }
    | { readonly gte: DateTime.DateTime; readonly lt: DateTime.DateTime; readonly lte?: undefined }
}

/**
 * How to backfill. `concurrency` pages are read at once (1 to 64; 1 is the plain listing of the range). With
 * `order: "asCompleted"`, the default, a page comes as soon as it is there. With `"byTime"` pages come in the order of
 * time, as far as the service keeps the order that it is asked for; that takes a buffer of twenty pages for each page
 * read at once. `resume` takes the `unfinished` of an earlier failure, for the same filter.
 *
 * @since 0.1.0
 */
export interface BackfillOptions {
  readonly concurrency: number
  readonly pageSize?: number | undefined
  readonly order?: "asCompleted" | "byTime" | undefined
  readonly resume?: ReadonlyArray<Segment> | undefined
}

/**
 * A backfill that stopped. Every row that was emitted is outside `unfinished`, every other one inside: go on with
 * `resume: error.unfinished`.
 *
 * @since 0.1.0
 */
export class BackfillError
  extends Schema.TaggedError<BackfillError>("effect-time-punches/Backfill/BackfillError")("BackfillError", {
    cause: ListError,
    unfinished: Schema.Array(Segment)
  })
{
  override get message(): string {
    return `the backfill stopped with ${this.unfinished.length} parts unfinished: ${this.cause.message}`
  }
}
