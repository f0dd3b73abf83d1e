/** SQLite: STRICT tables, instants as milliseconds, rows of `VALUES` whose text is made once. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { SqlClient } from "effect/sql/SqlClient"
import type { Row } from "effect/sql/SqlConnection"
import { type Cell, columns, contentColumns } from "./columns.ts"
import { type Dialect, type Rows, Unclear, type Written } from "./Dialect.ts"
import { numberOf, orUndefined } from "./result.ts"
import { sqliteMigrations } from "./sqliteSchema.ts"
import type { Tables } from "./tables.ts"

export const sqlite = (tables: Tables): Dialect => ({
  name: "sqlite",
  tables,
  placeholder: () => "?",
  integer: (value) => value,
  instant: (millis) => millis,
  millisOf: (expression) => expression,
  clock,
  clockAfter: (column) => `max(${clock}, coalesce(${column} + 1, ${clock}))`,
  write: writer(tables),
  migrations: sqliteMigrations(tables),
  hasMigrations: "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?",
  lockMigrations: ""
})

/** A day has few enough milliseconds that the fraction of a Julian day has each of them. All calls in a statement are equal. */
const clock = "CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER)"

/** Rows of one statement. More save little, and each size of a last chunk has a separate text. */
const chunkSize = 100

const writer = (tables: Tables): Dialect["write"] => {
  const textOf = makeUpsert(tables)
  const some = "company_id = ? AND id IN (SELECT value FROM json_each(?))"
  const stamped = `SELECT count(*) AS count, min(modified) AS oldest FROM ${tables.rows} WHERE ${some} AND pass = ?`
  const stamp = `UPDATE ${tables.rows} SET pass = ? WHERE ${some} AND pass <> ?`

  /** To return the rows that were written costs a fifth more. */
  const writeExactly = (sql: SqlClient, rows: Rows, chunk: Rows["punches"]) =>
    Effect.map(
      sql.unsafe<Row>(`${textOf(chunk.length, rows.at !== undefined)} RETURNING modified`, parametersOf(rows, chunk)),
      (written): Written => ({
        count: written.length,
        oldestModified: earliest(written.map(({ modified }) => modified))
      })
    )

  /** Counts them instead. Where only a part was written, it is the part that bears the number now, if no other row did. */
  const writeChunk = Effect.fnUntraced(function*(sql: SqlClient, rows: Rows, chunk: Rows["punches"]) {
    const { at, company, pass } = rows
    yield* sql.unsafe(textOf(chunk.length, at !== undefined), parametersOf(rows, chunk))
    const [changes] = yield* sql.unsafe<Row>("SELECT changes() AS count")
    const count = numberOf(changes?.count)
    if (count === 0 || count === chunk.length) {
      const modified = count === 0 ? [] : chunk.flatMap(({ modified }) => Option.toArray(modified))
      return { count, oldestModified: earliest(modified.map(({ epochMilliseconds }) => epochMilliseconds)) }
    }
    const [found] = yield* sql.unsafe<Row>(stamped, [company, idsOf(chunk), pass])
    if (numberOf(found?.count) !== count) return yield* new Unclear()
    return { count, oldestModified: orUndefined(found?.oldest) }
  })

  return Effect.fnUntraced(function*(sql, rows) {
    const { company, isExact, isStamping, pass, punches } = rows
    const write = isExact ? writeExactly : writeChunk
    let count = 0
    const oldest: Array<unknown> = []
    for (let start = 0; start < punches.length; start += chunkSize) {
      const written = yield* write(sql, rows, punches.slice(start, start + chunkSize))
      count += written.count
      oldest.push(written.oldestModified)
    }
    if (isStamping && count < punches.length) yield* sql.unsafe(stamp, [pass, company, idsOf(punches), pass])
    return { count, oldestModified: earliest(oldest) }
  })
}

const idsOf = (punches: Rows["punches"]): string => JSON.stringify(punches.map(({ id }) => id))

const earliest = (modified: ReadonlyArray<unknown>): number | undefined => {
  const least = modified.reduce<number>((least, at) => Math.min(least, orUndefined(at) ?? Infinity), Infinity)
  return least === Infinity ? undefined : least
}

const parametersOf = ({ at, company, pass }: Rows, chunk: Rows["punches"]): ReadonlyArray<Cell> => {
  const parameters: Array<Cell> = []
  for (const punch of chunk) {
    parameters.push(company)
    for (const cell of cells) {
      const value = cell(punch)
      parameters.push(value === true ? 1 : value === false ? 0 : value)
    }
    parameters.push(pass)
    if (at !== undefined) parameters.push(at)
  }
  return parameters
}

/** All but the company, which is that of the batch. */
const cells = columns.slice(1).map(({ cell }) => cell)

/**
 * The upsert for a number of rows. A row that is equal already is not rewritten, unless it is gone. Only with history it
 * sets `valid_from`, so that a trigger keeps what it replaces. `changes()` and `RETURNING` do not count what a trigger does.
 */
const makeUpsert = ({ rows }: Tables) => {
  const plain = makeTexts(rows, [])
  const withHistory = makeTexts(rows, ["valid_from"])
  return (count: number, hasHistory: boolean): string => (hasHistory ? withHistory : plain)(count)
}

const makeTexts = (rows: string, more: ReadonlyArray<string>) => {
  const texts = new Map<number, string>()
  const content = contentColumns.map(({ name }) => name)
  const names = [...columns.map(({ name }) => name), "pass", ...more]
  const row = `(${names.map(() => "?").join(", ")})`
  const start = `INSERT INTO ${rows} AS t (${names.join(", ")}) VALUES `
  const end = ` ON CONFLICT (company_id, id) DO UPDATE SET ${
    [...content, "pass", ...more].map((name) => `${name} = excluded.${name}`).join(", ")
  }, gone_at = NULL WHERE (${content.map((name) => `t.${name}`).join(", ")}) IS NOT (${
    content.map((name) => `excluded.${name}`).join(", ")
  }) OR t.gone_at IS NOT NULL`
  return (count: number): string => {
    const known = texts.get(count)
    if (known !== undefined) return known
    const text = start + Array.from({ length: count }, () => row).join(", ") + end
    texts.set(count, text)
    return text
  }
}
