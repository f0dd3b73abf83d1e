/** PostgreSQL: parameters are texts with casts, and the rows of a batch one array for each column. */
import * as Effect from "effect/Effect"
import type { SqlClient } from "effect/sql/SqlClient"
import type { Row } from "effect/sql/SqlConnection"
import { type Cell, type Column, columns, type ColumnType, contentColumns } from "./columns.ts"
import type { Dialect, Rows, Written } from "./Dialect.ts"
import { postgresMigrations } from "./postgresSchema.ts"
import { numberOf, orUndefined } from "./result.ts"
import type { Tables } from "./tables.ts"

export const postgres = (tables: Tables): Dialect => ({
  name: "pg",
  tables,
  placeholder: (place, type) => `$${place}::${type}`,
  integer: String,
  instant: instantText,
  millisOf,
  clock,
  // Without the values that are NULL.
  clockAfter: (column) => `greatest(${clock}, ${column} + interval '1 millisecond')`,
  write: writer(tables),
  migrations: postgresMigrations(tables),
  // To read a table of the catalogue makes the session hear of what another created while this one waited for the lock.
  hasMigrations: "SELECT 1 FROM pg_catalog.pg_class WHERE oid = to_regclass($1::text)",
  // "time_pun", as a number: any other lock of the database is as good.
  lockMigrations: "SELECT pg_advisory_xact_lock(8388356063114589550)"
})

const millisOf = (expression: string) => `(extract(epoch FROM ${expression}) * 1000)::bigint`

/** Not `now()`: a commit that waited for another one would bear the instant at which it began to wait. */
const clock = "date_trunc('milliseconds', clock_timestamp())"

/** PostgreSQL writes years before 1 as `BC`, and years of five digits without a sign. */
const instantText = (millis: number): string => {
  const date = new Date(millis)
  const year = date.getUTCFullYear()
  const iso = date.toISOString()
  if (year >= 1 && year <= 9999) return iso
  const rest = iso.slice(iso.indexOf("-", 1))
  return year > 9999 ? `${year}${rest}` : `${String(1 - year).padStart(4, "0")}${rest} BC`
}

/** Rows of one statement: as many as the largest of common transactions has. */
const chunkSize = 1000

const writer = (tables: Tables): Dialect["write"] => {
  const plain = upsertOf(tables, false)
  const withHistory = upsertOf(tables, true)
  const stamp =
    `UPDATE ${tables.rows} SET pass = $1::bigint WHERE company_id = $2::bigint AND id = ANY($3::bigint[]) AND pass <> $1::bigint`

  const writeChunk = Effect.fnUntraced(
    function*(sql: SqlClient, { at, company, isStamping, pass, punches }: Rows) {
      const parameters = [String(company), String(pass), ...arrayColumns.map((column) => arrayOf(column, punches))]
      const [found] = yield* at === undefined
        ? sql.unsafe<Row>(plain, parameters)
        : sql.unsafe<Row>(withHistory, [...parameters, instantText(at)])
      const count = numberOf(found?.count)
      if (isStamping && count < punches.length) {
        yield* sql.unsafe(stamp, [String(pass), String(company), `{${punches.map(({ id }) => id).join(",")}}`])
      }
      return { count, oldestModified: orUndefined(found?.oldest) } satisfies Written
    }
  )

  return Effect.fnUntraced(function*(sql, rows) {
    let count = 0
    let oldest = Infinity
    for (let start = 0; start < rows.punches.length; start += chunkSize) {
      const written = yield* writeChunk(sql, { ...rows, punches: rows.punches.slice(start, start + chunkSize) })
      count += written.count
      oldest = Math.min(oldest, written.oldestModified ?? Infinity)
    }
    return { count, oldestModified: oldest === Infinity ? undefined : oldest }
  })
}

/** All but the company, which is the same for each row. */
const arrayColumns = columns.slice(1)

/**
 * The upsert of any number of rows. A row that is equal already is not rewritten, unless it is gone. Only with history it
 * sets `valid_from`, so that a trigger keeps what it replaces.
 */
const upsertOf = ({ rows }: Tables, hasHistory: boolean): string => {
  const more = hasHistory ? ["valid_from"] : []
  const names = [...columns.map(({ name }) => name), "pass", ...more]
  const content = contentColumns.map(({ name }) => name)
  const arrays = arrayColumns.map(({ type }, at) => `$${at + 3}::${type}[]`)
  const instant = hasHistory ? `, $${arrays.length + 3}::timestamptz` : ""
  return `WITH written AS (
INSERT INTO ${rows} AS t (${names.join(", ")})
SELECT $1::bigint, u.*, $2::bigint${instant} FROM unnest(${arrays.join(", ")}) AS u
ON CONFLICT (company_id, id) DO UPDATE SET ${
    [...content, "pass", ...more].map((name) => `${name} = excluded.${name}`).join(", ")
  }, gone_at = NULL
WHERE (${content.map((name) => `t.${name}`).join(", ")}) IS DISTINCT FROM (${
    content.map((name) => `excluded.${name}`).join(", ")
  }) OR t.gone_at IS NOT NULL
RETURNING t.modified
) SELECT count(*) AS count, ${millisOf("min(modified)")} AS oldest FROM written`
}

/** The literal of an array. A text is quoted, so that it is never taken for NULL, a brace or a comma. */
const arrayOf = ({ cell, type }: Column, punches: Rows["punches"]): string =>
  `{${punches.map((punch) => elementOf(cell(punch), type)).join(",")}}`

const elementOf = (cell: Cell, type: ColumnType): string =>
  cell === null
    ? "NULL"
    : typeof cell === "string"
    ? `"${cell.replace(/["\\]/g, "\\$&")}"`
    : typeof cell === "number" && type === "timestamptz"
    ? `"${instantText(cell)}"`
    : String(cell)
