/** The `./sync` subpath: a copy of the punches that stays complete. It needs `TimePunches` and no Node. */
export type { Batch, Committed, Missing } from "./Batch.ts"
export { Checkpoint, PassKind, RunningPass, SweepWindow } from "./Checkpoint.ts"
export * as Sync from "./Sync.ts"
export { isSyncError, SyncError } from "./SyncError.ts"
export type { StopAfter, SweepOptions, SweepReadOptions, SyncOptions, SyncReadOptions } from "./SyncOptions.ts"
export { SyncSummary } from "./SyncOptions.ts"
export * as SyncReason from "./SyncReason.ts"
export { SyncStore, type SyncStoreOptions } from "./SyncStore.ts"
