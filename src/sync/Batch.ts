/** What a sync hands to a store: the rows of a page, and the checkpoint that is true once they are durable. */
import type * as DateTime from "effect/DateTime"
import type * as Option from "effect/Option"
import type { CompanyId } from "../Ids.ts"
import type { TimePunch } from "../TimePunch.ts"
import type { Checkpoint, PassKind, SweepWindow } from "./Checkpoint.ts"

/**
 * The rows of the copy that a sweep did not see: the service no longer shows them in the window. A store marks them and keeps
 * their content.
 */
export interface Missing {
  /** Rows whose `clockedIn` in the copy lies here. */
  readonly window: SweepWindow
  /** Rows that are stamped with a lower pass number than this. */
  readonly before: number
  /** Whether the limit of 20 % of the window and 100 rows is lifted. */
  readonly allowed: boolean
}

/** One page of a pass. A store writes rows and checkpoint together, or neither. */
export interface Batch {
  /** The company of all rows. */
  readonly companyId: CompanyId
  /** What the pass reads. An increment need not rewrite equal rows; the other kinds stamp every row. */
  readonly kind: PassKind
  /** The number of the attempt, with which the rows are stamped. */
  readonly pass: number
  /** The rows in the order of the service; the same id may come twice, and the last one counts. */
  readonly punches: ReadonlyArray<TimePunch>
  /** The checkpoint that is true once the rows are durable. */
  readonly checkpoint: Checkpoint
  /** The rows to mark, with the last page of a confirm; else `None`. */
  readonly missing: Option.Option<Missing>
  /**
   * With the batch that completes a pass: when its first page was requested, by the service's clock, or by the local one if the
   * service sends none. A sweep is complete with its confirm. Else `None`.
   */
  readonly began: Option.Option<DateTime.Utc>
  /**
   * With the batch of a page: the paths of its fields that this version does not know, as `Page.unknown` has them. The first batch
   * of a first load replaces what a store has kept of them, every other one adds. Else `None`.
   */
  readonly unknown: Option.Option<ReadonlyArray<string>>
}

/** What a commit did. */
export interface Committed {
  /** Rows that were inserted or changed. */
  readonly written: number
  /** Rows that were equal already. */
  readonly unchanged: number
  /** Rows that were marked as missing. */
  readonly missing: number
  /** The earliest `modified` of what was inserted or changed; `None` if nothing was, or if the store cannot know. */
  readonly oldestModified: Option.Option<DateTime.Utc>
}
