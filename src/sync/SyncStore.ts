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
  /** The checkpoint of a company, `None` before its first commit. Fails if it cannot be read: that is never a silent first load. */
  readonly load: (company: CompanyId) => Effect.Effect<Option.Option<Checkpoint>, SyncError>
  /**
   * Stores rows and checkpoint, all or nothing; they are durable when it returns. Fails with `Superseded` if the stored
   * checkpoint is not `previous`, with `TooManyMissing` if a sweep would mark too many rows, and stores nothing then.
   */
  readonly commit: (batch: Batch, previous: Option.Option<Checkpoint>) => Effect.Effect<Committed, SyncError>
  /** How many batches `Sync.run` and `Sync.sweep` join into one commit, at least 1. */
  readonly pagesPerCommit: number
}>()("effect-time-punches/sync/SyncStore") {
  /** A store in memory, for tests, with every rule of the store in SQL. Its content ends with the layer. */
  static readonly layerMemory: Layer.Layer<SyncStore> = Layer.effect(SyncStore, makeMemoryStore)

  /**
   * A store of the caller's own: `write` stores the rows of a batch, the checkpoint stands in a `KeyValueStore`. Rows are
   * written at least once, and the checkpoint is never ahead of them.
   *
   * Processes share no compare-and-set. So `write` must keep a row that is stamped with a higher `pass`, stamp every other
   * row, and mark what `missing` says, and a sweep must run alone. If you delete or restore the key, set the stamps to 0.
   * If `write` fails, the call fails with a `SyncError` of reason `Store` whose cause is that failure.
   */
  static readonly layerKeyValueStore = <E, R>(
    write: (batch: Batch) => Effect.Effect<void, E, R>
  ): Layer.Layer<SyncStore, never, KeyValueStore.KeyValueStore | R> => Layer.effect(SyncStore, makeKeyValueStore(write))
}
