/** Why a sync stops: the reasons of a `SyncError`, one class each, for `Effect.catchReason`. */
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { withDefault } from "../internal/wire/errorFields.ts"

const detailed = {
  /** What happened, without cursors and secrets. Default: empty. */
  detail: withDefault(Schema.String, "")
}

/** The stored checkpoint cannot be read, or is of another company. Nothing was sent. */
export class Checkpoint extends Schema.TaggedError<Checkpoint>("effect-time-punches/sync/SyncReason/Checkpoint")(
  "Checkpoint",
  detailed
) {
  /** What happened, within the message of the error. */
  override get message(): string {
    return this.detail
  }

  /** Whether the same call may succeed later with nothing changed. */
  get isRetryable(): boolean {
    return false
  }
}

/**
 * A newer release wrote the stored checkpoint. Nothing was sent, and nothing is wrong with the copy: use that release.
 */
export class NewerCheckpoint
  extends Schema.TaggedError<NewerCheckpoint>("effect-time-punches/sync/SyncReason/NewerCheckpoint")(
    "NewerCheckpoint",
    detailed
  )
{
  /** What happened, within the message of the error. */
  override get message(): string {
    return this.detail
  }

  /** Whether the same call may succeed later with nothing changed. */
  get isRetryable(): boolean {
    return false
  }
}

/** The service refused the cursors of a sync run four times. The next call begins it again. */
export class CursorLost extends Schema.TaggedError<CursorLost>("effect-time-punches/sync/SyncReason/CursorLost")(
  "CursorLost",
  detailed
) {
  /** What happened, within the message of the error. */
  override get message(): string {
    return this.detail
  }

  /** Whether the same call may succeed later with nothing changed. */
  get isRetryable(): boolean {
    return true
  }
}

/** Another sync of the company wrote since this one read the checkpoint. Nothing of the batch was stored. */
export class Superseded extends Schema.TaggedError<Superseded>("effect-time-punches/sync/SyncReason/Superseded")(
  "Superseded",
  {}
) {
  /** What happened, within the message of the error. */
  override get message(): string {
    return "another sync of this company wrote meanwhile"
  }

  /** Whether the same call may succeed later with nothing changed. */
  get isRetryable(): boolean {
    return true
  }
}

/** A sweep would mark more than 20 % of its window and more than 100 rows. No row was marked. */
export class TooManyMissing
  extends Schema.TaggedError<TooManyMissing>("effect-time-punches/sync/SyncReason/TooManyMissing")("TooManyMissing", {
    /** The rows of the window that the sweep did not see. */
    missing: Schema.Natural,
    /** All rows of the window that were not missing before. */
    rows: Schema.Natural
  })
{
  /** What happened, within the message of the error. */
  override get message(): string {
    return `the sweep did not see ${this.missing} of ${this.rows} rows of its window; a withdrawn permission looks the same`
  }

  /** Whether the same call may succeed later with nothing changed. */
  get isRetryable(): boolean {
    return false
  }
}

/** The store failed; `cause` says how. */
export class Store extends Schema.TaggedError<Store>("effect-time-punches/sync/SyncReason/Store")("Store", {
  ...detailed,
  /** The error of the store. Absent: there is none. */
  cause: Schema.optionalKey(Schema.Defect())
}) {
  /** What happened, within the message of the error. */
  override get message(): string {
    return this.detail
  }

  /** Whether the same call may succeed later: if `cause` says so, as a `SqlError` of a lost connection or a lock does. */
  get isRetryable(): boolean {
    return Predicate.hasProperty(this.cause, "isRetryable") && this.cause.isRetryable === true
  }
}

/** Why a sync stopped. */
export const Reason = Schema.Union([Checkpoint, NewerCheckpoint, CursorLost, Superseded, TooManyMissing, Store])

export type Reason = typeof Reason.Type
