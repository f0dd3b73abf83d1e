/** The `SqlClient` of `effect/sql` over `node:sqlite`: one connection, for one file. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Reactivity from "effect/reactivity/Reactivity"
import * as Schedule from "effect/Schedule"
import * as Semaphore from "effect/Semaphore"
import * as SqlClient from "effect/sql/SqlClient"
import type { Connection } from "effect/sql/SqlConnection"
import { classifySqliteError, SqlError, UniqueViolation } from "effect/sql/SqlError"
import * as Statement from "effect/sql/Statement"
import * as Stream from "effect/Stream"
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite"

/** How a database is opened. */
export interface NodeSqliteOptions {
  /** The file, which is created if it does not exist; its folder must exist. `:memory:` is a database that ends with the layer. */
  readonly filename: string
  /** Whether the database is only read: the file must exist, and its journal mode stays as it is. Default `false`. */
  readonly readonly?: boolean | undefined
}

/**
 * A `SqlClient` over `node:sqlite`. The journal is a write-ahead log, so that other processes read while one writes. A lock
 * of another process is waited for at most 50 ms, since the wait holds up the whole process: retry the transaction.
 * Transactions begin with `BEGIN IMMEDIATE`. Fails if the file cannot be opened or is not a database.
 */
export const layer = (options: NodeSqliteOptions): Layer.Layer<SqlClient.SqlClient, SqlError> =>
  Layer.effect(SqlClient.SqlClient, make(options)).pipe(Layer.provide(Reactivity.layer))

const make = Effect.fnUntraced(function*({ filename, readonly = false }: NodeSqliteOptions) {
  const database = yield* Effect.acquireRelease(
    attempt("connect", () => new DatabaseSync(filename, { readOnly: readonly, timeout: 50 })),
    (database) => Effect.sync(() => database.close())
  )
  // The first statement reads the file, which opening it does not. To change the journal needs the file for itself.
  yield* attempt("connect", () => database.exec(readonly ? "PRAGMA schema_version" : writable)).pipe(
    Effect.retry({ schedule: shortWaits, times: 50, while: ({ reason }) => reason._tag === "LockTimeoutError" })
  )
  const connection = makeConnection(database)
  const { acquirer, ...acquirers } = SqlClient.makeSqliteAcquirers({
    connection: Effect.succeed(connection),
    semaphore: yield* Semaphore.make(1),
    isTransaction: () => database.isTransaction
  })
  return yield* SqlClient.make({
    ...acquirers,
    acquirer,
    compiler: Statement.makeCompilerSqlite(),
    driver: "node-sqlite",
    spanAttributes: [["db.system.name", "sqlite"]],
    beginTransaction: readonly ? "BEGIN" : "BEGIN IMMEDIATE",
    prepareTransactionControls: true,
    releaseSavepoint: (name) => `RELEASE SAVEPOINT ${name}`
  })
})

const writable = "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON"

/** Each attempt waits for 50 ms itself. */
const shortWaits = Schedule.jittered(Schedule.spaced("50 millis"))

/** Prepared statements that are kept; the one that was made first makes room. */
const mostStatements = 200

const makeConnection = (database: DatabaseSync): Connection => {
  const statements = new Map<string, StatementSync>()

  const prepared = (sql: string): StatementSync => {
    const known = statements.get(sql)
    if (known !== undefined) return known
    const statement = database.prepare(sql)
    const [oldest] = statements.keys()
    if (statements.size >= mostStatements && oldest !== undefined) statements.delete(oldest)
    statements.set(sql, statement)
    return statement
  }

  const rows = (prepare: (sql: string) => StatementSync): Connection["execute"] => (sql, params, transformRows) =>
    Effect.withFiber((fiber) =>
      attempt("execute", () => {
        const statement = prepare(sql)
        statement.setReadBigInts(fiber.getRef(SqlClient.SafeIntegers))
        const found = statement.all(...bound(params))
        return transformRows === undefined ? found : transformRows(found)
      })
    )

  const values = (prepare: (sql: string) => StatementSync): Connection["executeValues"] => (sql, params) =>
    Effect.withFiber((fiber) =>
      attempt("execute", () => {
        const statement = prepare(sql)
        statement.setReadBigInts(fiber.getRef(SqlClient.SafeIntegers))
        // By place, not by name: two columns may have one name.
        statement.setReturnArrays(true)
        try {
          return statement.all(...bound(params)).map((row) => Object.values(row))
        } finally {
          // The statement is kept: the next run of it may want objects, also if this one failed.
          statement.setReturnArrays(false)
        }
      })
    )

  return {
    execute: rows(prepared),
    executeUnprepared: rows((sql) => database.prepare(sql)),
    executeValues: values(prepared),
    executeValuesUnprepared: values((sql) => database.prepare(sql)),
    executeRaw: (sql, params) =>
      attempt("execute", () => {
        const statement = prepared(sql)
        const values = bound(params)
        return statement.columns().length > 0 ? statement.all(...values) : statement.run(...values)
      }),
    executeStream: (sql, params, transformRows) =>
      Stream.unwrap(Effect.map(
        // A separate statement: another run of a shared one would end the iteration.
        attempt("execute", () => database.prepare(sql).iterate(...bound(params))),
        (rows) =>
          Stream.paginate(undefined, () =>
            attempt("execute", () => {
              const chunk: Array<object> = []
              while (chunk.length < 256) {
                const { done, value } = rows.next()
                if (done === true) break
                chunk.push(value)
              }
              const next = chunk.length < 256 ? Option.none<undefined>() : Option.some(undefined)
              return [transformRows === undefined ? chunk : transformRows(chunk), next] as const
            }))
      ))
  }
}

const bound = (parameters: ReadonlyArray<unknown>): ReadonlyArray<SQLInputValue> =>
  parameters.every(isBindable) ? parameters : parameters.map(bindable)

const isBindable = (value: unknown): value is SQLInputValue =>
  typeof value === "number" || typeof value === "string" || value === null || typeof value === "bigint"

/** What `effect/sql` may pass as a parameter, as SQLite has it. */
const bindable = (value: unknown): SQLInputValue => {
  if (isBindable(value) || value instanceof Uint8Array) return value
  if (value === undefined) return null
  if (typeof value === "boolean") return value ? 1 : 0
  if (value instanceof Date) return value.toISOString()
  throw new TypeError(`SQLite cannot hold a parameter of the type ${typeof value}`)
}

const attempt = <A>(operation: string, evaluate: () => A): Effect.Effect<A, SqlError> =>
  Effect.try({ try: evaluate, catch: (cause) => failureOf(cause, operation) })

/** `SQLITE_CONSTRAINT_PRIMARYKEY` and `SQLITE_CONSTRAINT_ROWID`: a key that exists, which is a unique value as any other. */
const keyConflicts: ReadonlyArray<number> = [1555, 2579]

/** Node has the code of SQLite under a different name. */
const failureOf = (error: unknown, operation: string): SqlError => {
  const message = Predicate.isError(error) ? error.message : "SQLite failed"
  const code = Predicate.hasProperty(error, "errcode") && Predicate.isNumber(error.errcode) ? error.errcode : undefined
  const cause = Object.assign(new Error(message, { cause: error }), { code })
  return new SqlError({
    reason: code !== undefined && keyConflicts.includes(code)
      ? new UniqueViolation({ cause, message, operation, constraint: message.split(": ")[1] ?? "unknown" })
      : classifySqliteError(cause, { message, operation })
  })
}
