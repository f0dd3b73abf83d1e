/** The port of a sync: where the rows of a copy and its checkpoint are kept together. */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Option from "effect/Option"
import type * as KeyValueStore from "effect/persistence/KeyValueStore"
import type { CompanyId } from "../Ids.ts"
import type { Batch, Committed } from "./Batch.ts"
import type { Checkpoint } from "./Checkpoint.ts"
import { makeKeyValueStore } from "./keyValueStore.ts"
import { makeMemoryStore } from "./memoryStore.ts"
import type { SyncError } from "./SyncError.ts"

/** Where a copy is kept. `SqlStore.layer` of `effect-time-punches/sql` keeps it in SQLite or PostgreSQL. */
export class SyncStore extends Context.Service<SyncStore, {
  /** The checkpoint of a company, `None` before its first commit. Fails where it cannot be read: never a silent first load. */
  readonly load: (company: CompanyId) => Effect.Effect<Option.Option<Checkpoint>, SyncError>
  /**
   * Stores rows and checkpoint, all or nothing; they are durable when it returns. Fails with `Superseded` where the stored
   * checkpoint is not `previous`, with `TooManyGone` where a sweep would mark too many rows: nothing is stored then.
   */
  readonly commit: (batch: Batch, previous: Option.Option<Checkpoint>) => Effect.Effect<Committed, SyncError>
  /** How many batches `Sync.run` and `Sync.sweep` join into one commit, at least 1. */
  readonly pagesPerCommit: number
}>()("effect-time-punches/sync/SyncStore") {
  /** A store in memory, for tests. It has all rules of the store in SQL; what it holds ends with it. */
  static readonly layerMemory: Layer.Layer<SyncStore> = Layer.effect(SyncStore, makeMemoryStore)

  /**
   * A store of the caller's own: `write` stores the rows of a batch, the checkpoint stands in a `KeyValueStore`. Rows are
   * written at least once, and the checkpoint is never ahead of them.
   *
   * There is no compare-and-set between processes: `write` leaves a row alone that is stamped with a higher `pass`, stamps
   * every other, and marks what `gone` says; a sweep runs alone. Who deletes or restores the key sets the stamps to 0.
   * A failure of `write` is a `SyncError` with the reason `Store` and that failure as its cause.
   */
  static readonly layerKeyValueStore = <E, R>(
    write: (batch: Batch) => Effect.Effect<void, E, R>
  ): Layer.Layer<SyncStore, never, KeyValueStore.KeyValueStore | R> => Layer.effect(SyncStore, makeKeyValueStore(write))
}
