/** The names of all tables, views, indexes and triggers of a copy, derived once from the name of its table. */
import * as Result from "effect/Result"
import type { SqlDialect } from "../internal/sql/dialect.ts"
import { SyncError } from "../sync/SyncError.ts"

/** The table, if none is given. */
export const defaultTable = "time_punches"

/** Names, quoted for a statement. */
export interface TableNames {
  readonly rows: string
  readonly sync: string
  readonly migrations: string
  readonly current: string
  readonly breaks: string
  /** The versions that were replaced. */
  readonly history: string
  /** The closes, their revisions, and the sums of each revision. */
  readonly close: string
  readonly closeState: string
  readonly closeRow: string
  /** The files of states that were written out. */
  readonly closeFile: string
  /** An index is in the schema of its table, and its name never has one. */
  readonly clockedIn: string
  readonly historyEnded: string
  readonly begun: string
  readonly historyBegun: string
  /** The trigger that keeps a version; in PostgreSQL the function of it too, which has the schema of the table. */
  readonly keepVersion: string
  readonly keepVersionFunction: string
  /** The triggers that refuse a hole in a history; in PostgreSQL also their function. */
  readonly refuseHole: string
  readonly refuseEnd: string
  readonly refuseFunction: string
  /** The trigger that erases the closes of a company with its copy; in PostgreSQL also its function. */
  readonly eraseCloses: string
  readonly eraseClosesFunction: string
  /** The trigger that hears of rows that are removed by hand; in PostgreSQL also its function. */
  readonly rowRemoved: string
  readonly tableEmptied: string
  readonly rowRemovedFunction: string
  /** The migrations table as the catalogue and `Migrator` have it: without quotes. */
  readonly migrationsName: string
}

/** At most 40 characters: PostgreSQL cuts a name at 63 in silence, and the derived ones are longer. */
const part = "[a-z_][a-z0-9_]{0,39}"
const plainName = new RegExp(`^${part}$`)
const nameWithSchema = new RegExp(`^${part}\\.${part}$`)

/** The names for a table, which is `name`, or `schema.name` on PostgreSQL. The quotes allow a keyword as its name. */
export const namesOf = (
  table: string,
  { hasSchemas }: Pick<SqlDialect, "hasSchemas">
): Result.Result<TableNames, SyncError> => {
  if (!plainName.test(table) && !(hasSchemas && nameWithSchema.test(table))) {
    return Result.fail(
      refused(
        `the table ${JSON.stringify(table)} is not a name of at most 40 characters of a-z, 0-9 and _${
          hasSchemas ? ", or two of them with a dot between" : ""
        }`
      )
    )
  }
  const name = table.slice(table.indexOf(".") + 1)
  const quoted = (suffix: string) => `"${`${table}${suffix}`.replace(".", `"."`)}"`
  return Result.succeed({
    rows: quoted(""),
    sync: quoted("_sync"),
    migrations: quoted("_migrations"),
    current: quoted("_current"),
    breaks: quoted("_breaks"),
    history: quoted("_history"),
    close: quoted("_close"),
    closeState: quoted("_close_state"),
    closeRow: quoted("_close_row"),
    closeFile: quoted("_close_file"),
    clockedIn: `"${name}_clocked_in"`,
    historyEnded: `"${name}_history_ended"`,
    begun: `"${name}_begun"`,
    historyBegun: `"${name}_history_begun"`,
    keepVersion: `"${name}_keep_version"`,
    keepVersionFunction: quoted("_keep_version"),
    refuseHole: `"${name}_refuse_hole"`,
    refuseEnd: `"${name}_refuse_end"`,
    refuseFunction: quoted("_refuse"),
    eraseCloses: `"${name}_erase_closes"`,
    eraseClosesFunction: quoted("_erase_closes"),
    rowRemoved: `"${name}_row_removed"`,
    tableEmptied: `"${name}_table_emptied"`,
    rowRemovedFunction: quoted("_row_removed"),
    migrationsName: `${table}_migrations`
  })
}

/** The store cannot be used as it is configured; no company is concerned. */
export const refused = (detail: string, cause?: unknown): SyncError =>
  new SyncError({ reason: "Store", detail, ...(cause === undefined ? {} : { cause }) })
