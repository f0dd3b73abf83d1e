/**
 * START HERE. What SQLite and PostgreSQL do differently for any table: one object for each dialect, and readers of what
 * drivers return.
 */
import * as Result from "effect/Result"
import type { SqlClient } from "effect/sql/SqlClient"
import * as Statement from "effect/sql/Statement"
import { earliest } from "../wire/instant.ts"

/** The dialects of SQL that a copy can be kept in. */
export type DialectName = "sqlite" | "pg"

/** A dialect. A `string` is text of SQL, a `Fragment` a part of a template of the client. */
export interface SqlDialect {
  readonly name: DialectName
  /** A parameter that is a whole number. */
  readonly bigint: (value: number) => Statement.Fragment
  /**
   * A parameter that is an instant in epoch milliseconds. An instant before the year 1 is sent as the start of that year:
   * PostgreSQL holds few of those years.
   */
  readonly timestamp: (millis: number) => Statement.Fragment
  /** The value of a column of instants, as epoch milliseconds. */
  readonly millisOf: (expression: string) => Statement.Fragment
  /**
   * The value of a column of whole numbers, in a type that a driver reads as a number. A value above 2^53 is rounded, and stays
   * above 2^53. A condition on it uses no index.
   */
  readonly wholeOf: (expression: string) => Statement.Fragment
  /** The clock of the database as the value of a column, in whole milliseconds. */
  readonly clock: Statement.Fragment
  /**
   * The clock, or an instant after a column of instants, which may be NULL, if the clock is behind it. Far behind, it is the first
   * one with the milliseconds of the clock: a database that is restored meanwhile does not give an instant out again, and many
   * commits are not ahead of the clock for longer.
   */
  readonly clockAfter: (column: string) => Statement.Fragment
  /** The names of the functions that choose among values that are not NULL. */
  readonly greatest: Statement.Fragment
  readonly least: Statement.Fragment
  /** Behind a SELECT: holds up other transactions that write its rows, until the transaction ends. */
  readonly forUpdate: Statement.Fragment
  /** How a transaction that writes begins; `undefined`: as the client begins it. */
  readonly begin: string | undefined
  /** What makes the COMMIT of a transaction return only once it is on disk; `undefined`: each one does. */
  readonly durable: string | undefined
  /** How a transaction that only reads one state of the database begins: the last statement takes the snapshot. */
  readonly beginSnapshot: ReadonlyArray<string>
  /** Holds up every other transaction that takes the lock of this number, until the transaction ends. */
  readonly lock: (key: bigint) => ReadonlyArray<string>
  /** Whether there is a table of this name. */
  readonly hasTable: (name: string) => Statement.Fragment
  /** Selects the `name` of all that a table, a view or an index which is created now must not be called. */
  readonly namesHere: Statement.Fragment
  /** Creates the table of the migrations that were run, as `Migrator` of `effect/sql` has it. */
  readonly createMigrations: (table: string) => string
  /** Deletes the rows of a table that `rows` selects (`WHERE … ORDER BY … LIMIT …`). */
  readonly deleteSelected: (table: Statement.Fragment, rows: Statement.Fragment) => Statement.Fragment
}

/** A client, and the dialect that it speaks. */
export interface Database<out D extends SqlDialect = SqlDialect> {
  readonly sql: SqlClient
  readonly dialect: D
}

/** The dialect of a client, or the name of one that is not served. */
export const dialectOf = (sql: SqlClient): Result.Result<SqlDialect, string> =>
  sql.onDialect({
    sqlite: () => Result.succeed(sqlite),
    pg: () => Result.succeed(postgres),
    mysql: () => Result.fail("MySQL"),
    mssql: () => Result.fail("SQL Server"),
    clickhouse: () => Result.fail("ClickHouse")
  })

/** Text of SQL within a template. */
export const raw = (text: string): Statement.Fragment => Statement.fragment([Statement.literal(text)])

/** A part of a statement, of texts and parts. */
export const fragmentOf = (...parts: ReadonlyArray<string | Statement.Fragment>): Statement.Fragment =>
  Statement.fragment(
    parts.flatMap((part) => typeof part === "string" ? [Statement.literal(part)] : part.segments)
  )

/** A parameter, whose type the text behind it says. */
export const parameter = (value: unknown, cast = ""): Statement.Fragment =>
  Statement.fragment([Statement.parameter(value), ...(cast === "" ? [] : [Statement.literal(cast)])])

/** A day has few enough milliseconds that the fraction of a Julian day has each of them. All calls in a statement are equal. */
const sqliteClock = "CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER)"

/** Instants are whole numbers of milliseconds. */
export const sqlite: SqlDialect = {
  name: "sqlite",
  bigint: (value) => parameter(value),
  timestamp: (millis) => parameter(Math.max(millis, earliest)),
  millisOf: raw,
  wholeOf: raw,
  clock: raw(sqliteClock),
  clockAfter: (column) =>
    raw(`CASE WHEN ${column} - ${sqliteClock} > 1000
      THEN ${column} + 1 + ((${sqliteClock} - ${column} - 1) % 1000 + 1000) % 1000
      ELSE max(${sqliteClock}, coalesce(${column} + 1, ${sqliteClock})) END`),
  greatest: raw("max"),
  least: raw("min"),
  // `begin` has locked the whole database.
  forUpdate: raw(""),
  // A transaction that reads first and then writes fails at once if another process wrote meanwhile.
  begin: "BEGIN IMMEDIATE",
  // `synchronous` cannot change within a transaction: the client says it once.
  durable: undefined,
  beginSnapshot: ["BEGIN", "SELECT 1 FROM sqlite_master LIMIT 1"],
  // `begin` has locked the whole database.
  lock: () => [],
  hasTable: (name) => fragmentOf("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ", parameter(name)),
  namesHere: raw("SELECT name FROM sqlite_master"),
  createMigrations: (table) =>
    `CREATE TABLE IF NOT EXISTS ${table} (
  migration_id integer PRIMARY KEY NOT NULL,
  created_at datetime NOT NULL DEFAULT current_timestamp,
  name VARCHAR(255) NOT NULL
)`,
  deleteSelected: (table, rows) =>
    fragmentOf("DELETE FROM ", table, " WHERE rowid IN (SELECT rowid FROM ", table, " ", rows, ")")
}

/** Not `now()`: a commit that waited for another one would bear the instant at which it began to wait. */
const postgresClock = "date_trunc('milliseconds', clock_timestamp())"

/** Parameters are texts with casts: a driver that types them by their value makes a new prepared statement for each type. */
export const postgres: SqlDialect = {
  name: "pg",
  bigint: (value) => parameter(String(value), "::bigint"),
  timestamp: (millis) => parameter(timestamptzOf(Math.max(millis, earliest)), "::timestamptz"),
  millisOf: (expression) => raw(`(extract(epoch FROM ${expression}) * 1000)::bigint::float8`),
  // A driver makes a BigInt or a text of a bigint, which costs more than all else that is read of a row.
  wholeOf: (expression) => raw(`${expression}::float8`),
  clock: raw(postgresClock),
  // `greatest` leaves out the values that are NULL.
  clockAfter: (column) => {
    const millis = (at: string) => `extract(milliseconds FROM ${at})::int`
    const step = `1 + (${millis(postgresClock)} - ${millis(column)} + 59999) % 1000`
    return raw(`CASE WHEN ${column} - ${postgresClock} > interval '1 second'
      THEN ${column} + (${step}) * interval '1 millisecond'
      ELSE greatest(${postgresClock}, ${column} + interval '1 millisecond') END`)
  },
  greatest: raw("greatest"),
  least: raw("least"),
  forUpdate: raw("FOR UPDATE"),
  begin: undefined,
  // A server, a database or a role may have it off.
  durable: "SET LOCAL synchronous_commit = on",
  // Only if the isolation is chosen does PostgreSQL keep one snapshot for several statements.
  beginSnapshot: ["BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", "SELECT 1 FROM pg_catalog.pg_class LIMIT 1"],
  lock: (key) => [`SELECT pg_advisory_xact_lock(${key})`],
  // To read a table of the catalogue makes the session hear of what another created while this one waited for the lock.
  hasTable: (name) =>
    fragmentOf("SELECT 1 FROM pg_catalog.pg_class WHERE oid = to_regclass(", parameter(name, "::text"), ")"),
  namesHere: raw(`SELECT c.relname::text AS name
FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = current_schema()`),
  createMigrations: (table) =>
    `CREATE TABLE IF NOT EXISTS ${table} (
  migration_id integer PRIMARY KEY,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  name text NOT NULL
)`,
  deleteSelected: (table, rows) =>
    fragmentOf("DELETE FROM ", table, " WHERE ctid = ANY (ARRAY(SELECT ctid FROM ", table, " ", rows, "))")
}

/** The text of an instant. PostgreSQL writes years before 1 as `BC`, and years of five digits without a sign. */
export const timestamptzOf = (millis: number): string => {
  const date = new Date(millis)
  const year = date.getUTCFullYear()
  const iso = date.toISOString()
  if (year >= 1 && year <= 9999) return iso
  const rest = iso.slice(iso.indexOf("-", 1))
  return year > 9999 ? `${year}${rest}` : `${String(1 - year).padStart(4, "0")}${rest} BC`
}

/** A whole number of a result, which a driver may return as a number, a BigInt or a text. No store here writes larger ones. */
export const numberOf = (value: unknown): number => Number(value)

/** The same, if the column may be NULL. */
export const orUndefined = (value: unknown): number | undefined =>
  value === null || value === undefined ? undefined : Number(value)

/** A text of a result, if the column may be NULL. */
export const textOrUndefined = (value: unknown): string | undefined => typeof value === "string" ? value : undefined
