/** What differs between SQLite and PostgreSQL: how a value is bound, and how the rows of a batch are written. */
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"
import type { SqlClient } from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import type { CompanyId } from "../../Ids.ts"
import type { TimePunch } from "../../TimePunch.ts"
import type { ColumnType } from "./columns.ts"
import type { DialectName, Tables } from "./tables.ts"

/** The rows of a batch: each key once, in the order of the ids, so that two writers never wait for each other in a circle. */
export interface Rows {
  readonly company: CompanyId
  readonly pass: number
  readonly punches: ReadonlyArray<TimePunch>
  /** Whether every row is stamped with `pass`, also one that is equal already. */
  readonly isStamping: boolean
  /** Whether the write says what it did in any case, at a price. Else it may be `Unclear`. */
  readonly isExact: boolean
  /** The instant of the commit in milliseconds, where the history of the company is kept: of what is written from now on. */
  readonly at: number | undefined
}

/** What was inserted, changed, or brought back. */
export interface Written {
  readonly count: number
  /** The earliest `modified` of it, in milliseconds. */
  readonly oldestModified: number | undefined
}

/** The write cannot say what it did. It is undone, and done exactly. */
export class Unclear extends Data.TaggedError("Unclear") {}

export interface Dialect {
  readonly name: DialectName
  readonly tables: Tables
  /** The placeholder of the parameter with this number, counted from 1. A statement has them in this order. */
  readonly placeholder: (place: number, type: ColumnType) => string
  readonly integer: (value: number) => number | string
  readonly instant: (millis: number) => number | string
  /** The value of a column of instants, as epoch milliseconds. */
  readonly millisOf: (expression: string) => string
  /** The clock of the database as the value of a column, in whole milliseconds. */
  readonly clock: string
  /** The later of the clock and the first millisecond after a column of instants, which may be NULL. */
  readonly clockAfter: (column: string) => string
  /** Writes the rows within the transaction that is open. */
  readonly write: (sql: SqlClient, rows: Rows) => Effect.Effect<Written, SqlError | Unclear>
  /** The statements of every migration, in turn. */
  readonly migrations: ReadonlyArray<Migration>
  /** Whether the migrations table is there; its parameter is its name. */
  readonly hasMigrations: string
  /** Holds up every other migration until the transaction ends; empty where `BEGIN` does. */
  readonly lockMigrations: string
}

export interface Migration {
  readonly id: number
  readonly name: string
  readonly statements: ReadonlyArray<string>
}
