/** What is known of the copy of a company. */
import * as Schema from "effect/Schema"
import { Instant } from "../internal/wire/schema.ts"
import { Checkpoint } from "../sync/Checkpoint.ts"

/** What is known of the past of a copy. */
export class HistoryRange extends Schema.Opaque<HistoryRange>()(Schema.Struct({
  /**
   * The first instant at which the copy is known, by the clock of the database: the first commit that kept a
   * history, at the earliest the end of the first load; or the instant to which the history was pruned.
   */
  since: Instant,
  /**
   * The instant of the last commit. Read it before the copy, or in the same transaction: `changes` since this instant then
   * misses nothing that changes later.
   */
  last: Instant
})) {}

/** An error that a sync ended with. */
export class LastError extends Schema.Opaque<LastError>()(Schema.Struct({
  /** When it was recorded, by the local clock. */
  at: Instant,
  /** The tag of the error. */
  tag: Schema.String,
  /** Its message. */
  text: Schema.String
})) {}

/** What is known of the copy of a company. */
export class CopyStatus extends Schema.Opaque<CopyStatus>()(Schema.Struct({
  /** How far the copy is; `None` before the first commit. */
  checkpoint: Schema.OptionFromNullOr(Checkpoint),
  /** All rows, with those that are deleted or missing. */
  rows: Schema.Natural,
  /** Rows that the service shows as deleted. */
  deleted: Schema.Natural,
  /** Rows that the service no longer shows. */
  missing: Schema.Natural,
  /** The last error that `recordError` kept; `None` if there was none, or a sync run was completed since. */
  lastError: Schema.OptionFromNullOr(LastError),
  /** Since when the past of the copy is known; `None` if no history is kept, or the first load has not ended. */
  history: Schema.OptionFromNullOr(HistoryRange),
  /**
   * The paths of fields that the service has sent and this version does not know, such as `data[].overtime`: those of the first
   * pages since the last first load, at most 20.
   */
  unknown: Schema.Array(Schema.String)
})) {}

/** The part of a tagged error that `recordError` keeps. */
export interface ErrorToRecord {
  /** Its tag. */
  readonly _tag: string
  /** Its message, of which the first 2000 characters are kept. */
  readonly message: string
}
