/** The port of a sync: where the rows of a copy and its checkpoint are kept together. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type { CompanyId } from "../Ids.ts"
import { validateCount } from "../listing/request.ts"
import type { Batch, Committed } from "./Batch.ts"
import type { Checkpoint } from "./Checkpoint.ts"
import { makeMemoryStore } from "./memoryStore.ts"
import type { SyncError } from "./SyncError.ts"

/** A store of the caller's own, for `SyncStore.make`. */
export interface SyncStoreOptions {
  /** The checkpoint of a company, `None` before its first commit. Fails if it cannot be read: that is never a silent first load. */
  readonly load: (company: CompanyId) => Effect.Effect<Option.Option<Checkpoint>, SyncError>
  /**
   * Stores rows and checkpoint, all or nothing, as `commit` of `SyncStore` says. A count that it does not give is a default: all
   * rows of the batch are written, none is unchanged or missing.
   */
  readonly commit: (
    batch: Batch,
    previous: Option.Option<Checkpoint>
  ) => Effect.Effect<{ readonly [Count in keyof Committed]?: Committed[Count] | undefined } | void, SyncError>
  /** How many batches `Sync.run` and `Sync.sweep` join into one commit. Default 1. Less throws an `InvalidRequest`. */
  readonly pagesPerCommit?: number | undefined
}

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
  /**
   * A store of the caller's own. `syncStoreRules` of `effect-time-punches/testing` are what a test of it runs. A later release may
   * add a method to the service: a store that is made here then has its default.
   *
   * **Example** (A store that counts nothing)
   *
   * ```ts
   * import { Effect, Layer, Option } from "effect"
   * import { type Checkpoint, SyncStore } from "effect-time-punches/sync"
   *
   * export const forgetful = Layer.sync(SyncStore, () => {
   *   const checkpoints = new Map<number, Checkpoint>()
   *   return SyncStore.make({
   *     load: (company) => Effect.sync(() => Option.fromUndefinedOr(checkpoints.get(company))),
   *     commit: ({ checkpoint, companyId }) => Effect.sync(() => void checkpoints.set(companyId, checkpoint))
   *   })
   * })
   * ```
   */
  static readonly make = ({ commit, load, pagesPerCommit = 1 }: SyncStoreOptions): SyncStore["Service"] =>
    SyncStore.of({
      load,
      commit: (batch, previous) =>
        Effect.map(commit(batch, previous), (counts): Committed => {
          const {
            written = new Set(batch.punches.map(({ id }) => id)).size,
            unchanged = 0,
            missing = 0,
            oldestModified = Option.none()
          } = counts ?? {}
          return { written, unchanged, missing, oldestModified }
        }),
      pagesPerCommit: Result.getOrThrow(validateCount(undefined, "pagesPerCommit", pagesPerCommit, 1))
    })

  /** A store in memory, for tests, with every rule of the store in SQL. Its content ends with the layer. */
  static readonly layerMemory: Layer.Layer<SyncStore> = Layer.effect(SyncStore, makeMemoryStore)
}
