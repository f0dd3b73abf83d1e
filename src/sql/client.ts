/** The client of the context, without its transformations, and the dialect that it speaks. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as SqlClient from "effect/sql/SqlClient"
import type { SyncError } from "../sync/SyncError.ts"
import type { Dialect } from "./dialect/Dialect.ts"
import { postgres } from "./dialect/postgres.ts"
import { sqlite } from "./dialect/sqlite.ts"
import { defaultTable, type DialectName, refused, tablesOf } from "./dialect/tables.ts"

/** The client of the context with the dialect that it speaks, for a copy in this table. */
export const connect = (
  table: string = defaultTable
): Effect.Effect<{ readonly sql: SqlClient.SqlClient; readonly dialect: Dialect }, SyncError, SqlClient.SqlClient> =>
  Effect.gen(function*() {
    // A client may rename columns.
    const sql = (yield* SqlClient.SqlClient).withoutTransforms()
    const dialect = sql.onDialect({
      sqlite: () => dialectOf("sqlite", table),
      pg: () => dialectOf("pg", table),
      mysql: () => unsupported("MySQL"),
      mssql: () => unsupported("SQL Server"),
      clickhouse: () => unsupported("ClickHouse")
    })
    return { sql, dialect: yield* Effect.fromResult(dialect) }
  })

/** A dialect, with its statements for this table. */
export const dialectOf = (name: DialectName, table: string): Result.Result<Dialect, SyncError> =>
  Result.map(tablesOf(table, name), name === "sqlite" ? sqlite : postgres)

const unsupported = (name: string) =>
  Result.fail(refused(`the database is ${name}; a copy is kept in SQLite or PostgreSQL`))
