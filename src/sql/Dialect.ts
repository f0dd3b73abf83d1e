/** What SQLite and PostgreSQL do differently for the tables of a copy: how the rows of a batch are written, and the schema. */
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"
import type { SqlClient } from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import type { CompanyId } from "../Ids.ts"
import { raw, type SqlDialect } from "../internal/sql/dialect.ts"
import type { Migration, Migrations } from "../internal/sql/migrate.ts"
import type { TimePunch } from "../TimePunch.ts"
import type { TableNames } from "./tables.ts"

export interface Dialect extends SqlDialect {
  /** The tables as parts of a template. */
  readonly tables: { readonly rows: Fragment; readonly sync: Fragment; readonly history: Fragment }
  readonly migrations: Migrations
  /** Writes the rows within the transaction that is open. */
  readonly write: (sql: SqlClient, rows: Rows) => Effect.Effect<Written, SqlError | Unclear>
}

/** The rows of a batch: each key once, in the order of the ids, so that two writers never wait for each other in a circle. */
export interface Rows {
  readonly company: CompanyId
  readonly pass: number
  readonly punches: ReadonlyArray<TimePunch>
  /** Whether every row is stamped with `pass`, also one that is equal already. */
  readonly isStamping: boolean
  /** Whether the write says what it did in any case, at a price. Else it may be `Unclear`. */
  readonly isExact: boolean
  /** The instant of the commit in milliseconds if it keeps versions: of what is written from now on. */
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

/** The dialect for the tables of these names. */
export const dialectFor = (
  ground: SqlDialect,
  names: TableNames,
  { steps, write }: { readonly steps: ReadonlyArray<Migration>; readonly write: Dialect["write"] }
): Dialect => ({
  ...ground,
  tables: { rows: raw(names.rows), sync: raw(names.sync), history: raw(names.history) },
  migrations: {
    title: names.rows,
    table: { name: names.migrationsName, quoted: names.migrations },
    // "time_pun", as a number: any other lock of the database is as good.
    lock: 8388356063114589550n,
    steps
  },
  write
})

/**
 * Whether a write of the checkpoint leaves a hole in a history that has begun: each commit moves `history_last`. A release
 * that does not know histories fails so, instead of replacing versions that are then missing. A checkpoint that is set to
 * NULL by hand writes no rows.
 */
export const makesHole =
  "OLD.history_since IS NOT NULL AND NEW.checkpoint IS NOT NULL AND (NEW.history_last IS NULL OR NEW.history_last <= OLD.history_last)"

/** Why such a write is refused. */
export const hole =
  "the history of this company has begun, and this write would leave a hole in it: use a release that keeps histories, or raise history_last too"

/** Whether to delete the row of a sync loses since when a history is known. */
export const endsHistory = "OLD.history_since IS NOT NULL"

/** Why such a deletion is refused. */
export const end =
  "the history of this company is known by this row: set its checkpoint to NULL to load everything, or purge the company with a release that keeps histories"
