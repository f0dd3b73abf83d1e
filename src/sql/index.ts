/** The `./sql` subpath: a copy of the punches in SQLite or PostgreSQL. It needs `SqlClient` of `effect/sql`, and no driver. */
export type { DialectName } from "../internal/sql/dialect.ts"
export * as SqlStore from "./SqlStore.ts"
export {
  ChangeKind,
  Changes,
  CopyStatus,
  FeedEvent,
  FeedKind,
  FeedPosition,
  HistoryRange,
  HistoryUnavailable,
  LastError,
  PersonChange,
  PunchChange
} from "./SqlStore.ts"
export type {
  ChangesOptions,
  CopyListOptions,
  ErrorToRecord,
  FeedOptions,
  Migrations,
  PruneOptions,
  SqlStoreOptions
} from "./SqlStore.ts"
