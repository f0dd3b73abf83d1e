/** Why a fleet cannot be operated or run: the reasons of a `FleetError`, one class each, for `Effect.catchReason`. */
import * as Schema from "effect/Schema"
import { isSqlError } from "effect/sql/SqlError"
import { isTransient } from "../internal/sql/failure.ts"
import { withDefault } from "../internal/wire/errorFields.ts"

const detailed = {
  /** What happened, without secrets. Default: empty. */
  detail: withDefault(Schema.String, "")
}

/**
 * The tables are missing or older than this release needs: run `FleetRunner.migrate`. Tables of a time before the first
 * publication stay as they are.
 */
export class NotMigrated extends Schema.TaggedError<NotMigrated>("effect-time-punches/fleet/FleetReason/NotMigrated")(
  "NotMigrated",
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

/** Another process runs under this name, or with this file. */
export class AlreadyRunning
  extends Schema.TaggedError<AlreadyRunning>("effect-time-punches/fleet/FleetReason/AlreadyRunning")(
    "AlreadyRunning",
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

/** The database failed; `cause` says how. */
export class Store extends Schema.TaggedError<Store>("effect-time-punches/fleet/FleetReason/Store")("Store", {
  ...detailed,
  /** The error of the database, without what it quotes of rows. Absent: there is none. */
  cause: Schema.optionalKey(Schema.Defect())
}) {
  /** What happened, within the message of the error. */
  override get message(): string {
    return this.detail
  }

  /** Whether the same call may succeed later: if the database was not reachable, locked or without resources. */
  get isRetryable(): boolean {
    return isSqlError(this.cause) && isTransient(this.cause)
  }
}

/** Why a fleet cannot be operated or run. */
export const Reason = Schema.Union([NotMigrated, AlreadyRunning, Store])

export type Reason = typeof Reason.Type
