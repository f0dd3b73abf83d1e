/** The `./sql` subpath: a copy of the punches in SQLite or PostgreSQL. It needs `SqlClient` of `effect/sql`, and no driver. */
export * as SqlStore from "./SqlStore.ts"
export { HistoryUnknown } from "./SqlStore.ts"
export type {
  ChangeKind,
  Changes,
  ChangesOptions,
  CopyStatus,
  ErrorToNote,
  KnownHistory,
  Migrations,
  NotedError,
  PersonChange,
  PruneOptions,
  PunchChange,
  SqlStoreOptions,
  TableOptions
} from "./SqlStore.ts"
export type { DialectName } from "./tables.ts"
