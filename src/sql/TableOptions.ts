/** Which tables a copy is kept in, and the client of a call that needs them. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { SqlClient } from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import * as Stream from "effect/Stream"
import type { CompanyId } from "../Ids.ts"
import type { SyncError } from "../sync/SyncError.ts"
import { connect, failedWith, inSnapshot } from "./connection.ts"
import type { Dialect } from "./Dialect.ts"
import { verify } from "./migrate.ts"
import { defaultTable } from "./tables.ts"

/** Which tables a copy is kept in. */
export interface TableOptions {
  /**
   * The table of the rows: `name`, or on PostgreSQL `schema.name` of a schema that exists. Each is at most 40 characters of
   * a-z, 0-9 and _. The other tables and the views are named after it. Default `time_punches`.
   */
  readonly table?: string | undefined
}

/** A client whose tables were checked. */
interface Opened {
  readonly sql: SqlClient
  readonly dialect: Dialect
}

/** Set by `inOneState`, with the table that it has checked. */
const Checked = Context.Reference<{ readonly table: string; readonly client: Opened } | undefined>(
  "effect-time-punches/sql/Checked",
  { defaultValue: () => undefined }
)

/** The client, if the tables are there. @internal */
export const opened = (
  company: CompanyId,
  { table = defaultTable }: TableOptions
): Effect.Effect<Opened, SyncError, SqlClient> =>
  Effect.gen(function*() {
    const checked = yield* Checked
    if (checked?.table === table) return checked.client
    const client = yield* connect(table)
    yield* Effect.mapError(verify(client.sql, client.dialect), failedWith(company, "the schema cannot be read"))
    return client
  })

/** Runs a stream in one snapshot, in which the schema is checked once for all its reads of the copy. @internal */
export const inOneState = <A, E, R>(
  company: CompanyId,
  stream: Stream.Stream<A, E, R>
): Stream.Stream<A, E | SqlError | SyncError, R | SqlClient> =>
  Stream.unwrap(Effect.map(connect(), (client) => {
    const checked = Effect.map(opened(company, {}), (client) =>
      Stream.provideService(stream, Checked, { table: defaultTable, client }))
    return inSnapshot(client, Stream.unwrap(checked))
  }))
