/** Why a sync stops, other than a failed listing: the checkpoint, the store, or another sync. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { CompanyId } from "../Ids.ts"
import { printable } from "../internal/text/printable.ts"
import { withDefault } from "../internal/wire/errorFields.ts"
import { Checkpoint, type NoCheckpoint, readCheckpoint } from "./Checkpoint.ts"
import * as Reason from "./SyncReason.ts"

/**
 * A sync stopped. The copy and its checkpoint are those of the last commit; the next call continues from there.
 *
 * **Example** (Mark the missing rows after somebody has looked)
 *
 * ```ts
 * import { Effect } from "effect"
 * import { CompanyId } from "effect-time-punches"
 * import { Sync } from "effect-time-punches/sync"
 *
 * export const sweep = Sync.sweep(CompanyId.make(7)).pipe(
 *   Effect.catchReason("SyncError", "TooManyMissing", ({ missing, rows }) =>
 *     Effect.logError(`${missing} of ${rows} rows are missing: look before allowMissing marks them`)
 *   )
 * )
 * ```
 */
export class SyncError extends Schema.TaggedError<SyncError>("effect-time-punches/sync/SyncError")("SyncError", {
  /** Why the sync stopped. */
  reason: Reason.Reason,
  /** The company of the copy. */
  companyId: CompanyId,
  /** The last checkpoint of this call that is durable. `None` (the default): it has none, or the store knows. */
  checkpoint: withDefault(Schema.OptionFromNullOr(Checkpoint), Option.none())
}) {
  /** The reason, for what prints a chain of causes. */
  override readonly cause = this.reason

  /** What stopped the sync of which company, on one printable line for a log. */
  override get message(): string {
    const { _tag, message } = this.reason
    const detail = message === "" ? "" : `: ${printable(message)}`
    return `the sync stopped (${_tag})${detail} [company ${this.companyId}]`
  }

  /**
   * Whether the same call may succeed later with nothing changed. `CursorLost` and `Superseded`: yes. `Checkpoint`,
   * `NewerCheckpoint` and `TooManyMissing`: no. `Store`: if `cause` says so, as a `SqlError` of a lost connection or a lock does.
   */
  get isRetryable(): boolean {
    return this.reason.isRetryable
  }
}

/** Whether a value is an error of a sync, such as what untyped code caught. */
export const isSyncError: (value: unknown) => value is SyncError = Schema.is(SyncError)

/** The error with the last checkpoint that is durable. @internal */
export const withCheckpoint = ({ companyId, reason }: SyncError, checkpoint: Option.Option<Checkpoint>) =>
  new SyncError({ companyId, reason, checkpoint })

/** The stored checkpoint cannot be read, or is of another company. @internal */
export const unreadable = (companyId: CompanyId, { detail, reason }: NoCheckpoint) =>
  new SyncError({ companyId, reason: new Reason[reason]({ detail }) })

/** Reads what a store has of a company: a text, or nothing, such as NULL if only an error was noted. @internal */
export const readStored = (
  companyId: CompanyId,
  stored: unknown
): Effect.Effect<Option.Option<Checkpoint>, SyncError> =>
  Predicate.isString(stored)
    ? Effect.fromResult(Result.mapBoth(readCheckpoint(stored, companyId), {
      onFailure: (why) => unreadable(companyId, why),
      onSuccess: Option.some
    }))
    : Effect.succeedNone

/** The stored checkpoint is not the one that the sync read. @internal */
export const superseded = (companyId: CompanyId) => new SyncError({ companyId, reason: new Reason.Superseded({}) })

/** More rows are missing than a sweep may mark. @internal */
export const tooManyMissing = (companyId: CompanyId, missing: number, rows: number) =>
  new SyncError({ companyId, reason: new Reason.TooManyMissing({ missing, rows }) })

/** Whether a sweep may not mark this number of the rows of its window. @internal */
export const isTooManyMissing = (missing: number, rows: number): boolean => missing > 100 && missing > rows / 5

/** The store failed. @internal */
export const storeFailed = (companyId: CompanyId, detail: string, cause?: unknown) =>
  new SyncError({ companyId, reason: new Reason.Store({ detail, ...(cause === undefined ? {} : { cause }) }) })
