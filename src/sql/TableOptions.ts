/** Which tables a copy is kept in, and the client of a call that needs them. */
import * as Effect from "effect/Effect"
import type { SqlClient } from "effect/sql/SqlClient"
import type { CompanyId } from "../Ids.ts"
import type { SyncError } from "../sync/SyncError.ts"
import { connect, failedWith } from "./connection.ts"
import type { Dialect } from "./Dialect.ts"
import { verify } from "./migrate.ts"

/** Which tables a copy is kept in. */
export interface TableOptions {
  /**
   * The table of the rows: `name`, or on PostgreSQL `schema.name` of a schema that exists. Each is at most 40 characters of
   * a-z, 0-9 and _. The other tables and the views are named after it. Default `time_punches`.
   */
  readonly table?: string | undefined
}

/** The client, where the tables are there. @internal */
export const opened = (
  company: CompanyId,
  { table }: TableOptions
): Effect.Effect<{ readonly sql: SqlClient; readonly dialect: Dialect }, SyncError, SqlClient> =>
  Effect.gen(function*() {
    const client = yield* connect(table)
    yield* Effect.mapError(verify(client.sql, client.dialect), failedWith(company, "the schema cannot be read"))
    return client
  })
