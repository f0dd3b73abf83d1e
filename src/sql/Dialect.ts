/** What SQLite and PostgreSQL do differently for the tables of a copy: how the rows of a batch are written, and the schema. */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type { SqlClient } from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import type { CompanyId } from "../Ids.ts"
import { raw, type SqlDialect } from "../internal/sql/dialect.ts"
import type { Migrations } from "../internal/sql/migrate.ts"
import type { TimePunch } from "../TimePunch.ts"

/** The tables that statements name. */
type TableName = "rows" | "sync" | "history" | "close" | "closeState" | "closeRow" | "closeFile"

export interface Dialect extends SqlDialect {
  /** The tables as parts of a template. */
  readonly tables: { readonly [Name in TableName]: Fragment }
  readonly migrations: Migrations
  /** Writes the rows within the transaction that is open. */
  readonly write: (sql: SqlClient, rows: BatchRows) => Effect.Effect<Written, SqlError | AmbiguousWrite>
}

/** The rows of a batch: each key once, in the order of the ids, so that two writers never wait for each other in a circle. */
export interface BatchRows {
  readonly company: CompanyId
  readonly pass: number
  readonly punches: ReadonlyArray<TimePunch>
  /** Whether every row is stamped with `pass`, also one that is equal already. */
  readonly isStamping: boolean
  /** Whether the write says what it did in any case, at a price. Else it may be `AmbiguousWrite`. */
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

/** Writes rows some at a time, and adds up what was written. */
export const writeInChunks = Effect.fnUntraced(function*<E>(
  punches: BatchRows["punches"],
  size: number,
  write: (chunk: BatchRows["punches"]) => Effect.Effect<Written, E>
) {
  let count = 0
  let oldest = Infinity
  for (let start = 0; start < punches.length; start += size) {
    const written = yield* write(punches.slice(start, start + size))
    count += written.count
    oldest = Math.min(oldest, written.oldestModified ?? Infinity)
  }
  return { count, oldestModified: oldest === Infinity ? undefined : oldest } satisfies Written
})

/** The write cannot say what it did. It is undone, and done exactly. */
export class AmbiguousWrite extends Data.TaggedError("AmbiguousWrite") {}

/** A dialect with what a copy needs of it. */
export const dialectFor = (
  ground: SqlDialect,
  { steps, write }: { readonly steps: Migrations["steps"]; readonly write: Dialect["write"] }
): Dialect => ({
  ...ground,
  tables: {
    rows: raw("time_punches"),
    sync: raw("time_punches_sync"),
    history: raw("time_punches_history"),
    close: raw("time_punches_close"),
    closeState: raw("time_punches_close_state"),
    closeRow: raw("time_punches_close_row"),
    closeFile: raw("time_punches_close_file")
  },
  migrations: {
    title: `"time_punches"`,
    table: "time_punches_migrations",
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
export const makesGap =
  "OLD.history_since IS NOT NULL AND NEW.checkpoint IS NOT NULL AND (NEW.history_last IS NULL OR NEW.history_last <= OLD.history_last)"

/** Why such a write is refused. */
export const historyGap =
  "the history of this company has begun, and this write would leave a hole in it: use a release that keeps histories, or raise history_last too"

/** Whether to delete the row of a sync loses since when a history is known. */
export const endsHistory = "OLD.history_since IS NOT NULL"

/** Why such a deletion is refused. */
export const deletionRefused =
  "the history of this company is known by this row: set its checkpoint to NULL to load everything, or purge the company with a release that keeps histories"

/** Finds the versions that began after an instant. A copy without a history has none of them, and pays nothing. */
export const indexBegun: ReadonlyArray<string> = [
  ["time_punches_begun", "time_punches"],
  ["time_punches_history_begun", "time_punches_history"]
].map(([index, table]) => `CREATE INDEX ${index} ON ${table} (company_id, valid_from, id) WHERE valid_from IS NOT NULL`)

/** What the hours of a punch `t` are made of, in the words of a dialect. */
interface HoursWords {
  /** The breaks of the punch, as rows `b`. */
  readonly breaks: string
  /** Never NULL. */
  readonly isDeleted: string
  readonly isPaid: string
  readonly breakIn: string
  /** NULL for a break without an end. */
  readonly breakOut: string
  /** The functions of two values. */
  readonly greatest: string
  readonly least: string
  /** Whole milliseconds between two instants. */
  readonly millisBetween: (from: string, to: string) => string
  readonly toHours: (millis: string) => string
}

/**
 * The hours of a punch without its unpaid breaks, which are clipped to the punch and united. A break without an end lasts as
 * long as the punch.
 */
export const hoursWorked = (words: HoursWords): string => {
  const { breakIn, breakOut, breaks, greatest, isDeleted, isPaid, least, millisBetween, toHours } = words
  const unpaidMillis = `(
    SELECT coalesce(sum(${greatest}(0, ${
    millisBetween(`${greatest}(started, coalesce(reached, started))`, "ended")
  })), 0) FROM (
      SELECT started, ended, max(ended) OVER (
        ORDER BY started, ended ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
      ) AS reached FROM (
        SELECT
          ${greatest}(t.clocked_in, ${breakIn}) AS started,
          ${least}(t.clocked_out, coalesce(${breakOut}, t.clocked_out)) AS ended
        FROM ${breaks} WHERE NOT ${isPaid} AND NOT ${isDeleted}
      ) AS clipped WHERE ended > started
    ) AS ordered
  )`
  const millis = `${
    millisBetween("t.clocked_in", "t.clocked_out")
  } - CASE WHEN t.breaks = '[]' THEN 0 ELSE ${unpaidMillis} END`
  return `CASE WHEN t.clocked_out >= t.clocked_in THEN ${toHours(`(${millis})`)} END AS hours_worked`
}
