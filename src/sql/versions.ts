/** What both dialects share of a history: the columns of a version, and what must not be done to the row of a sync. */
import type { Column } from "./columns.ts"

/** The columns of a row that a version has too. A version ends at its `valid_to`. */
export const versionColumns = (columns: ReadonlyArray<Column>): ReadonlyArray<string> => [
  ...columns.map(({ name }) => name),
  "pass",
  "gone_at",
  "valid_from"
]

/**
 * Whether a write of the checkpoint leaves a hole in a history that has begun: each commit moves `history_last`. A release
 * that does not know histories fails so, instead of replacing versions that are then missing. A checkpoint that is set to
 * NULL by hand writes no rows.
 */
export const makesHole =
  "OLD.history_since IS NOT NULL AND NEW.checkpoint IS NOT NULL AND (NEW.history_last IS NULL OR NEW.history_last <= OLD.history_last)"

/** Why such a write is refused. */
export const hole =
  "the history of this company has begun, and this write would leave a hole in it: use a release that keeps histories, or raise history_last too"

/** Whether to delete the row of a sync loses since when a history is known. */
export const endsHistory = "OLD.history_since IS NOT NULL"

/** Why such a deletion is refused. */
export const end =
  "the history of this company is known by this row: set its checkpoint to NULL to load everything, or purge the company with a release that keeps histories"
