/** The options of a sync, and what it reports. */
import type * as DateTime from "effect/DateTime"
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type { Window } from "./Checkpoint.ts"

/**
 * How a sync reads.
 *
 * @since 0.1.0
 */
export interface ChangesOptions {
  /**
   * How far before the watermark an increment begins: at least as long as a change may take to show, plus the difference of
   * the service's clocks. Default 15 minutes; at least 1 minute.
   */
  readonly overlap?: Duration.Input | undefined
  /** Pages to read ahead of the consumer. Default 0. */
  readonly prefetchPages?: number | undefined
}

/**
 * How a sweep reads, and which part of the copy.
 *
 * @since 0.1.0
 */
export interface SweepChangesOptions extends ChangesOptions {
  /** The clock-ins to compare. Default: all. */
  readonly window?: Window | undefined
}

/**
 * How a sync reads, writes and stops.
 *
 * @since 0.1.0
 */
export interface RunOptions extends ChangesOptions {
  /** Where to stop, at the end of a page. What was read is committed, and the next call continues there. Default: at the end. */
  readonly stopAfter?: StopAfter | undefined
  /**
   * Whether the call first commits the stored checkpoint under its own name, so that no older call can commit any more.
   * Default `false`: the first page does that.
   */
  readonly claim?: boolean | undefined
  /** Called after each commit, with the counts of this call. `false` stops the call here. */
  readonly onCommit?: ((soFar: SyncSummary) => Effect.Effect<boolean>) | undefined
}

/**
 * Where a call stops before it is complete.
 *
 * @since 0.1.0
 */
export interface StopAfter {
  /** Pages of the service, over all passes of the call. No page is read ahead beyond them. Default: no limit. */
  readonly pages?: number | undefined
  /** The time after which no further page is read. Default: no limit. */
  readonly duration?: Duration.Input | undefined
}

/**
 * How a sweep reads, writes and stops.
 *
 * @since 0.1.0
 */
export interface SweepOptions extends RunOptions {
  /** The clock-ins to compare. Default: all. */
  readonly window?: Window | undefined
  /** Whether the sweep may mark more than 20 % of its window and more than 100 rows. Default `false`. */
  readonly acceptGone?: boolean | undefined
}

/**
 * What a call did. All counts are of this call.
 *
 * @since 0.1.0
 */
export interface SyncSummary {
  /** What the last pass of the call was. */
  readonly kind: "first" | "increment" | "sweep"
  /** Whether the call did all that it is for; `false` where it was stopped. */
  readonly complete: boolean
  /** Whether it continued a stored pass. Such a pass only proves what was there when that pass began. */
  readonly resumed: boolean
  /** Pages of the service that were read. */
  readonly pages: number
  /** Rows in those pages. */
  readonly punches: number
  /** Rows that were inserted or changed. */
  readonly written: number
  /** Rows that were equal already. */
  readonly unchanged: number
  /** Rows that were marked as gone. */
  readonly gone: number
  /** How many times a pass began again, since its cursors were refused. */
  readonly restarts: number
  /** The watermark of the copy. */
  readonly watermark: Option.Option<DateTime.Utc>
  /** How late the latest change showed: the watermark before an increment less the earliest `modified` that it wrote. */
  readonly lateness: Option.Option<Duration.Duration>
}
