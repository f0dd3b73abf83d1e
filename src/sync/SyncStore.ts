/** The port of a sync: where the rows of a copy and its checkpoint are kept together. */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Option from "effect/Option"
import type { CompanyId } from "../Ids.ts"
import type { Batch, Committed } from "./Batch.ts"
import type { Checkpoint } from "./Checkpoint.ts"
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
}
