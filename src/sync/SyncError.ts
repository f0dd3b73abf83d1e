/** Why a sync stops, other than a failed listing: the checkpoint, the store, or another sync. */
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { CompanyId } from "../Ids.ts"
import { printable } from "../internal/text/printable.ts"
import { unnamedCompany, withDefault } from "../internal/wire/errorFields.ts"
import { Checkpoint, type NoCheckpoint } from "./Checkpoint.ts"

/** A sync stopped. The copy and its checkpoint are those of the last commit; the next call continues from there. */
export class SyncError extends Schema.TaggedError<SyncError>("effect-time-punches/sync/SyncError")("SyncError", {
  /**
   * Why the sync stopped.
   *
   * - `Checkpoint`: the stored checkpoint cannot be read, or is of another company. Nothing was sent.
   * - `NewerCheckpoint`: a newer release wrote the stored checkpoint. Nothing was sent, and nothing is wrong with the copy: use
   *   that release.
   * - `CursorLost`: the service refused the cursors of a sync run four times. The next call begins it again.
   * - `Superseded`: another sync of the company wrote since this one read the checkpoint. Nothing of the batch was stored.
   * - `TooManyMissing`: a sweep would mark more than 20 % of its window and more than 100 rows. No row was marked.
   * - `Store`: the store failed; `cause` says how.
   */
  reason: Schema.Literals(["Checkpoint", "NewerCheckpoint", "CursorLost", "Superseded", "TooManyMissing", "Store"]),
  /** The company of the copy. Default for a mock: 1. */
  companyId: withDefault(CompanyId, unnamedCompany),
  /** What happened, without cursors and secrets. Default: empty. */
  detail: withDefault(Schema.String, ""),
  /** The last checkpoint of this call that is durable. `None` (the default): it has none, or the store knows. */
  checkpoint: withDefault(Schema.OptionFromNullOr(Checkpoint), Option.none()),
  /** The error of the store. Absent: there is none. */
  cause: Schema.optionalKey(Schema.Defect())
}) {
  /** What stopped the sync of which company, on one printable line for a log. */
  override get message(): string {
    const detail = this.detail === "" ? "" : `: ${printable(this.detail)}`
    return `the sync stopped (${this.reason})${detail} [company ${this.companyId}]`
  }

  /**
   * Whether the same call may succeed later with nothing changed. `CursorLost` and `Superseded`: yes. `Checkpoint`,
   * `NewerCheckpoint` and `TooManyMissing`: no. `Store`: if `cause` says so, as a `SqlError` of a lost connection or a lock does.
   */
  get isRetryable(): boolean {
    switch (this.reason) {
      case "CursorLost":
      case "Superseded":
        return true
      case "Checkpoint":
      case "NewerCheckpoint":
      case "TooManyMissing":
        return false
      case "Store":
        return Predicate.hasProperty(this.cause, "isRetryable") && this.cause.isRetryable === true
    }
  }
}

/** Whether a value is an error of a sync, such as what untyped code caught. */
export const isSyncError: (value: unknown) => value is SyncError = Schema.is(SyncError)

/** The error with the last checkpoint that is durable. Its `cause` is not enumerable, so a spread would lose it. @internal */
export const withCheckpoint = (error: SyncError, checkpoint: Option.Option<Checkpoint>) =>
  new SyncError({ ...error, ...("cause" in error ? { cause: error.cause } : {}), checkpoint })

/** The stored checkpoint cannot be read, or is of another company. @internal */
export const unreadable = (companyId: CompanyId, { detail, reason }: NoCheckpoint) =>
  new SyncError({ reason, companyId, detail })

/** The stored checkpoint is not the one that the sync read. @internal */
export const superseded = (companyId: CompanyId) =>
  new SyncError({ reason: "Superseded", companyId, detail: "another sync of this company wrote meanwhile" })

/** More rows are missing than a sweep may mark. @internal */
export const tooManyMissing = (companyId: CompanyId, missing: number, rows: number) =>
  new SyncError({
    reason: "TooManyMissing",
    companyId,
    detail: `the sweep did not see ${missing} of ${rows} rows of its window; a withdrawn permission looks the same`
  })

/** Whether a sweep may not mark this number of the rows of its window. @internal */
export const isTooManyMissing = (missing: number, rows: number): boolean => missing > 100 && missing > rows / 5

/** The store failed. @internal */
export const storeFailed = (companyId: CompanyId, detail: string, cause: unknown) =>
  new SyncError({ reason: "Store", companyId, detail, cause })
