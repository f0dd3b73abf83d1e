/** The names of all tables, views and indexes of a copy, derived once from the name of its table. */
import * as Result from "effect/Result"
import { CompanyId } from "../../Ids.ts"
import { SyncError } from "../../sync/SyncError.ts"

/** The dialects of SQL that a copy can be kept in. */
export type DialectName = "sqlite" | "pg"

/** The name of the table where none is given. */
export const defaultTable = "time_punches"

/** Names, quoted for a statement; `index` and the texts of `plain` as the catalogue has them. */
export interface Tables {
  readonly rows: string
  readonly sync: string
  readonly migrations: string
  readonly current: string
  readonly breaks: string
  readonly primaryKey: string
  /** An index is in the schema of its table, and its name never has one. */
  readonly clockedIn: string
  /** The migrations table as `Migrator` takes it: without quotes. */
  readonly migrationsName: string
}

/** At most 40 characters: PostgreSQL cuts a name at 63 in silence, and the derived ones are longer. */
const part = "[a-z_][a-z0-9_]{0,39}"
const plainName = new RegExp(`^${part}$`)
const nameWithSchema = new RegExp(`^${part}\\.${part}$`)

/** The names for a table, which is `name`, or `schema.name` on PostgreSQL. The quotes allow a keyword as its name. */
export const tablesOf = (table: string, dialect: DialectName): Result.Result<Tables, SyncError> => {
  if (!plainName.test(table) && !(dialect === "pg" && nameWithSchema.test(table))) {
    return Result.fail(
      refused(
        `the table ${JSON.stringify(table)} is not a name of at most 40 characters of a-z, 0-9 and _${
          dialect === "pg" ? ", or two of them with a dot between" : ""
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
    primaryKey: `"${name}_pkey"`,
    clockedIn: `"${name}_clocked_in"`,
    migrationsName: `${table}_migrations`
  })
}

/** The store cannot be used as it is configured; no company is concerned. */
export const refused = (detail: string): SyncError =>
  new SyncError({ reason: "Store", companyId: CompanyId.make(0), detail })
