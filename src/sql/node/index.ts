/** The `./sql/node` subpath: the `SqlClient` over `node:sqlite`. */
export * as NodeSqlite from "./NodeSqlite.ts"
export type { NodeSqliteOptions } from "./NodeSqlite.ts"
