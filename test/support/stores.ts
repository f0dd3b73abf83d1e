/** The stores of a sync as a test sees them: the port, and what is behind it. */
import { Effect, Layer, Option, Result, type Scope } from "effect"
import { SqlClient } from "effect/sql"
import type { CompanyId } from "../../src/Ids.ts"
import { retried } from "../../src/internal/sql/transaction.ts"
import { connect } from "../../src/sql/connection.ts"
import { SqlStore, type SqlStoreOptions } from "../../src/sql/index.ts"
import { NodeSqlite } from "../../src/sql/node/index.ts"
import { rowColumns, rowOf } from "../../src/sql/row.ts"
import { SyncStore } from "../../src/sync/index.ts"
import { type Copy, makeStoreOf } from "../../src/sync/memoryStore.ts"
import type { TimePunch } from "../../src/TimePunch.ts"
import { hasPostgres, noPostgres } from "./postgres.ts"

/** A row of a copy, whatever the store. */
export interface CopyRow {
  readonly punch: TimePunch
  readonly pass: number
  readonly isMissing: boolean
}

/** A store that is open, and its content. */
export interface OpenStore {
  readonly store: SyncStore["Service"]
  /** By id, in the order of the ids. */
  readonly rows: (company: CompanyId) => Effect.Effect<ReadonlyArray<CopyRow>>
  /** Replaces the text of the checkpoint behind the back of the store, as who does so by hand where there is a history. */
  readonly setText: (company: CompanyId, text: string) => Effect.Effect<void>
}

export interface StoreKind {
  readonly name: string
  /** Why it cannot be tested here. */
  readonly missing: Option.Option<string>
  readonly open: Effect.Effect<OpenStore, never, Scope.Scope>
}

const memory: Effect.Effect<OpenStore> = Effect.sync(() => {
  const copies = new Map<CompanyId, Copy>()
  return {
    store: SyncStore.of(makeStoreOf(copies)),
    rows: (company) =>
      Effect.sync(() =>
        [...(copies.get(company)?.rows.values() ?? [])].toSorted((one, other) => one.punch.id - other.punch.id)
      ),
    setText: (company, text) =>
      Effect.sync(() => {
        copies.set(company, { rows: new Map(), ...copies.get(company), checkpoint: text })
      })
  }
})

/** What the tables of a client hold. */
export const opened: Effect.Effect<OpenStore, never, SqlClient.SqlClient | SyncStore> = Effect.gen(function*() {
  const store = yield* SyncStore
  const { dialect, sql } = yield* connect
  const { bigint, clockAfter, tables } = dialect
  return {
    store,
    rows: (company: CompanyId) =>
      sql`SELECT ${rowColumns(dialect)} FROM ${tables.rows} WHERE company_id = ${bigint(company)} ORDER BY id`.pipe(
        // A test may have cut connections that were idle: the pool notices that at their next use.
        retried,
        Effect.map((rows) =>
          rows.map(rowOf).map(({ isMissing, pass, punch }) => ({ punch: Result.getOrThrow(punch), pass, isMissing }))
        ),
        Effect.orDie
      ),
    setText: (company: CompanyId, text: string) =>
      Effect.orDie(
        sql`UPDATE ${tables.sync} SET checkpoint = ${text},
            history_last = CASE WHEN history_since IS NOT NULL THEN ${clockAfter("history_last")} END
            WHERE company_id = ${bigint(company)}`
      )
  }
}).pipe(Effect.orDie)

/** A store over a client, which both end with the scope. */
export const openSql = <E, R>(
  client: Layer.Layer<SqlClient.SqlClient, E, R>,
  options?: SqlStoreOptions
): Effect.Effect<OpenStore, never, R | Scope.Scope> =>
  Effect.gen(function*() {
    const context = yield* Layer.build(Layer.provideMerge(SqlStore.layer(options), client))
    return yield* Effect.provideContext(opened, context)
  }).pipe(Effect.orDie)

export const memoryKind: StoreKind = { name: "in memory", missing: Option.none(), open: memory }

export const sqliteKind: StoreKind = {
  name: "in SQLite",
  missing: Option.none(),
  open: openSql(NodeSqlite.layer({ filename: ":memory:" }))
}

export const sqliteHistoryKind: StoreKind = {
  name: "in SQLite with a history",
  missing: Option.none(),
  open: openSql(NodeSqlite.layer({ filename: ":memory:" }), { history: true })
}

/** Each build of the client is another schema. */
export const postgresKind = <E>(client: Layer.Layer<SqlClient.SqlClient, E>): StoreKind => ({
  name: "in PostgreSQL",
  missing: hasPostgres ? Option.none() : Option.some(noPostgres),
  open: openSql(client)
})
