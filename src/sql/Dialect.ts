/** What differs between SQLite and PostgreSQL: how a value is bound, and how the rows of a batch are written. */
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"
import type { SqlClient } from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import type { CompanyId } from "../Ids.ts"
import { earliest } from "../internal/wire/instant.ts"
import type { TimePunch } from "../TimePunch.ts"
import { type Column, columnsAfter, type ColumnType } from "./columns.ts"
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

// MERGED additions.ts: The migrations that add columns: one for each number in `since` that is later than the tables and the history.

/** What a migration of a dialect does for the columns that it adds; `known` are all that the tables then have. */
type StatementsOf = (added: ReadonlyArray<Column>, known: ReadonlyArray<Column>) => ReadonlyArray<string>

/** The last migration that creates tables. */
const last = 2

export const additions = (all: ReadonlyArray<Column>, statementsOf: StatementsOf): ReadonlyArray<Migration> =>
  [...new Set(all.map(({ since }) => since))].filter((id) => id > last).toSorted((one, other) => one - other).map(
    (id) => {
      const added = all.filter(({ since }) => since === id)
      return {
        id,
        name: added.map(({ name }) => name).join("_"),
        statements: statementsOf(added, columnsAfter(id, all))
      }
    }
  )

/**
 * The columns of a view, each in its text, with what the view computes. A column that was added is the last one: where a view
 * is replaced, PostgreSQL lets it only have more columns at its end.
 */
export const viewTexts = (
  columns: ReadonlyArray<Column>,
  textOf: (column: Column) => string,
  computed: string
): string => {
  const first = columns.filter(({ since }) => since <= last)
  const later = columns.filter(({ since }) => since > last)
  return [...first.map(textOf), computed, ...later.map(textOf)].map((text) => `  ${text}`).join(",\n")
}

// MERGED result.ts: What a driver returns, whatever its types: a whole number is a number, a BigInt or a text.

/** A whole number of a result. The store writes none that a number cannot hold. */
export const numberOf = (value: unknown): number => Number(value)

/** The same, where the column may be NULL. */
export const orUndefined = (value: unknown): number | undefined =>
  value === null || value === undefined ? undefined : Number(value)

/** A text of a result, where the column may be NULL. */
export const textOrUndefined = (value: unknown): string | undefined => typeof value === "string" ? value : undefined

// MERGED parameters.ts: The parameters of a statement, in the order of their placeholders.

/**
 * Each placeholder has its own parameter, since SQLite knows them by their place alone. An instant is in milliseconds; one
 * before the year 1, of which PostgreSQL holds few, is the start of that year: no row is earlier.
 */
export const parametersFor = (dialect: Dialect) => {
  const parameters: Array<number | string> = []
  const placeholder = (type: "bigint" | "timestamptz", value: number): string => {
    parameters.push(type === "bigint" ? dialect.integer(value) : dialect.instant(Math.max(value, earliest)))
    return dialect.placeholder(parameters.length, type)
  }
  return { parameters, placeholder }
}
