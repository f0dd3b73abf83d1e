/** The types of the rows of a copy, for a query builder. It has no code. */
import type { PunchColumns } from "./columns.ts"

/** A break as the column `breaks` has it: parsed in PostgreSQL, a text in SQLite. */
export interface BreakJson {
  /** Identifies the break. */
  readonly id: number
  /** The user of the punch. */
  readonly user_id: number
  /** The type of break, as the company defines it. */
  readonly custom_break_id: number
  /** Whether the break counts as paid time. */
  readonly paid: boolean
  /** An instant in UTC, such as `2026-03-09T14:00:00.000Z`. */
  readonly in: string
  /** The same; null while the break is open. */
  readonly out: string | null
  /** True if the break was deleted; else the key is absent. */
  readonly deleted?: true
}

/** What a driver returns for a column: `node:sqlite` and `better-sqlite3` for SQLite, `pg` for PostgreSQL. */
interface Sqlite {
  readonly bigint: number
  readonly timestamptz: number
  readonly boolean: number
  readonly text: string
  readonly jsonb: string
  /** An amount in units. */
  readonly numeric: number
}

/** The views of SQLite write times as ISO texts. */
interface SqliteViews extends Omit<Sqlite, "timestamptz"> {
  readonly timestamptz: string
}

interface Postgres {
  readonly bigint: string
  readonly timestamptz: Date
  readonly boolean: boolean
  readonly text: string
  readonly jsonb: ReadonlyArray<BreakJson>
  readonly numeric: string
}

type AnyDriver = Sqlite | SqliteViews | Postgres

type Value<
  Driver extends AnyDriver,
  Column extends { readonly type: keyof Sqlite; readonly nullable: boolean }
> =
  | Driver[Column["type"]]
  | (Column["nullable"] extends true ? null : never)

type PunchValues<Driver extends AnyDriver> = {
  readonly [Name in keyof PunchColumns]: Value<Driver, PunchColumns[Name]>
}

/** A row of `time_punches`: a punch under its wire names, and what the copy knows of it. */
interface Row<Driver extends Sqlite | Postgres> extends PunchValues<Driver> {
  /** The sync run that wrote or saw the row last. */
  readonly pass: Driver["bigint"]
  /** Since when the service does not list the punch any more; null if it does. */
  readonly missing_at: Driver["timestamptz"] | null
  /** Since when the copy has this version; null without a history. */
  readonly valid_from: Driver["timestamptz"] | null
}

/** A row of `time_punches_history`: a version that was replaced. */
interface Version<Driver extends Sqlite | Postgres> extends Row<Driver> {
  /** When the next version replaced it. */
  readonly valid_to: Driver["timestamptz"]
}

/** A row of the view `time_punches_current`: a punch that is neither deleted nor missing. */
interface Current<Driver extends AnyDriver> extends Omit<PunchValues<Driver>, "deleted" | "hourly_wage" | "tips"> {
  /** In units of the currency, not in cents. */
  readonly hourly_wage: Driver["numeric"]
  /** In units of the currency, not in cents. */
  readonly tips: Driver["numeric"]
  /** Hours net of unpaid breaks; null if they are not known. */
  readonly hours_worked: number | null
}

/** A row of the view `time_punches_breaks`: a break of such a punch that is not deleted. */
interface PunchBreak<Driver extends AnyDriver> {
  /** The company of the punch. */
  readonly company_id: Driver["bigint"]
  /** The punch. */
  readonly time_punch_id: Driver["bigint"]
  /** The place of the break in its punch, from 1. */
  readonly place: Driver["bigint"]
  /** Identifies the break. */
  readonly id: Driver["bigint"]
  /** The user of the punch. */
  readonly user_id: Driver["bigint"]
  /** The type of break, as the company defines it. */
  readonly custom_break_id: Driver["bigint"]
  /** Whether the break counts as paid time. */
  readonly paid: Driver["boolean"]
  /** When the break began. */
  readonly break_in: Driver["timestamptz"]
  /** When it ended; null while it is open. */
  readonly break_out: Driver["timestamptz"] | null
}

interface Tables<Driver extends Sqlite | Postgres, Views extends AnyDriver> {
  /** Every row. */
  readonly time_punches: Row<Driver>
  /** Every version that was replaced. */
  readonly time_punches_history: Version<Driver>
  /** A view of the rows that are neither deleted nor missing, with hours worked and amounts in units. */
  readonly time_punches_current: Current<Views>
  /** A view of their breaks. */
  readonly time_punches_breaks: PunchBreak<Views>
}

/**
 * The tables and views of a copy in SQLite: times in milliseconds since 1970 (in the views ISO texts), booleans as 0 and 1,
 * breaks as JSON text.
 *
 * **Example** (The database of a query builder)
 *
 * ```ts
 * import type { SqliteTables } from "effect-time-punches/sql"
 *
 * // For example `new Kysely<SqliteTables>({ dialect })`.
 * export const isOpen = (row: SqliteTables["time_punches"]): boolean => row.clocked_out === null
 * ```
 */
export interface SqliteTables extends Tables<Sqlite, SqliteViews> {}

/**
 * The tables and views of a copy in PostgreSQL, as `pg` returns them by default: a `bigint` or an amount in units is a text, a
 * time is a `Date`.
 */
export interface PostgresTables extends Tables<Postgres, Postgres> {}
