/** SQLite: STRICT tables, instants as milliseconds, rows of `VALUES` whose text is made once. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { SqlClient } from "effect/sql/SqlClient"
import type { Row } from "effect/sql/SqlConnection"
import { numberOf, orUndefined, sqlite as ground } from "../internal/sql/dialect.ts"
import { breakColumns, type Cell, type Column, columns } from "./columns.ts"
import {
  AmbiguousWrite,
  type BatchRows,
  deletionRefused,
  type Dialect,
  dialectFor,
  endsHistory,
  historyGap,
  hoursWorked,
  indexBegun,
  makesGap,
  writeInChunks,
  type Written
} from "./Dialect.ts"
import { currentColumns, eraseCloses, keepVersion, tablesOf, upsertOf } from "./tables.ts"

const tables = tablesOf(
  { bigint: "INTEGER", timestamptz: "INTEGER", boolean: "INTEGER", text: "TEXT", jsonb: "TEXT" },
  " STRICT"
)

/** A statement that sets no `valid_from` does not meet this trigger, so that a copy without history pays nothing. */
const createKeepVersion = `CREATE TRIGGER time_punches_keep_version AFTER UPDATE OF valid_from ON time_punches
WHEN NEW.valid_from IS NOT NULL AND NEW.valid_from IS NOT OLD.valid_from
BEGIN
${keepVersion()}
END`

const createRefusals = [
  `CREATE TRIGGER time_punches_refuse_hole BEFORE UPDATE OF checkpoint ON time_punches_sync
WHEN ${makesGap}
BEGIN
  SELECT RAISE(ABORT, '${historyGap}');
END`,
  `CREATE TRIGGER time_punches_refuse_end BEFORE DELETE ON time_punches_sync
WHEN ${endsHistory}
BEGIN
  SELECT RAISE(ABORT, '${deletionRefused}');
END`
]

const createEraseCloses = `CREATE TRIGGER time_punches_erase_closes AFTER DELETE ON time_punches_sync
BEGIN
${eraseCloses()}
END`

/** Without rows that were removed by hand the copy is not whole: it is known again from the next complete pass. */
const createRowRemoved = `CREATE TRIGGER time_punches_row_removed AFTER DELETE ON time_punches
BEGIN
  UPDATE time_punches_sync SET known_since = NULL WHERE company_id = OLD.company_id AND known_since IS NOT NULL;
END`

/** The milliseconds of an ISO text with milliseconds, without a detour over floating-point numbers. */
const millisOfIso = (text: string) =>
  `(unixepoch(substr(${text}, 1, 19)) * 1000 + CAST(substr(${text}, 21, 3) AS INTEGER))`

/** The ISO text of milliseconds; `%` has the sign of its left side. */
const isoOfMillis = (millis: string) =>
  `strftime('%Y-%m-%dT%H:%M:%S', (${millis} - (${millis} % 1000 + 1000) % 1000) / 1000, 'unixepoch') || printf('.%03dZ', (${millis} % 1000 + 1000) % 1000)`

/** Only a deleted break has the key: without it a plain test would be NULL. */
const isBreakDeleted = "coalesce(json_extract(b.value, '$.deleted'), 0)"

const currentColumn = ({ name, type }: Column): string =>
  name === "hourly_wage" || name === "tips"
    ? `t.${name} / 100.0 AS ${name}`
    : type === "timestamptz"
    ? `${isoOfMillis(`t.${name}`)} AS ${name}`
    : `t.${name}`

const hours = hoursWorked({
  breaks: "json_each(t.breaks) AS b",
  isDeleted: isBreakDeleted,
  isPaid: "json_extract(b.value, '$.paid')",
  breakIn: millisOfIso("json_extract(b.value, '$.in')"),
  breakOut: millisOfIso("json_extract(b.value, '$.out')"),
  greatest: "max",
  least: "min",
  millisBetween: (from, to) => `${to} - ${from}`,
  toHours: (millis) => `${millis} / 3600000.0`
})

const createCurrent = `CREATE VIEW time_punches_current AS SELECT
${currentColumns(currentColumn, hours)}
FROM time_punches AS t WHERE NOT t.deleted AND t.missing_at IS NULL`

const createBreaks = `CREATE VIEW time_punches_breaks AS SELECT
  t.company_id,
  t.id AS time_punch_id,
  b.key + 1 AS place,
${breakColumns.map(({ key, name }) => `  json_extract(b.value, '$.${key}') AS ${name}`).join(",\n")}
FROM time_punches AS t, json_each(t.breaks) AS b WHERE NOT t.deleted AND t.missing_at IS NULL AND NOT ${isBreakDeleted}`

/** Rows of one statement. More save little, and each size of a last chunk has a separate text. */
const rowsPerStatement = 100

const some = "company_id = ? AND id IN (SELECT value FROM json_each(?))"
const stamped = `SELECT count(*) AS count, min(modified) AS oldest FROM time_punches WHERE ${some} AND pass = ?`
const stamp = `UPDATE time_punches SET pass = ? WHERE ${some} AND pass <> ?`

/** To return the rows that were written costs a fifth more. */
const writeExactly = (sql: SqlClient, rows: BatchRows, chunk: BatchRows["punches"]) =>
  Effect.map(
    sql.unsafe<Row>(`${textOf(chunk.length, rows.at !== undefined)} RETURNING modified`, parametersOf(rows, chunk)),
    (written): Written => ({
      count: written.length,
      oldestModified: earliest(written.map(({ modified }) => modified))
    })
  )

/**
 * Uses `changes()`. After a partial write, the written rows are those stamped with this pass, unless a row had that stamp
 * before: then it is `AmbiguousWrite`.
 */
const writeChunk = Effect.fnUntraced(function*(sql: SqlClient, rows: BatchRows, chunk: BatchRows["punches"]) {
  const { at, company, pass } = rows
  yield* sql.unsafe(textOf(chunk.length, at !== undefined), parametersOf(rows, chunk))
  const [changes] = yield* sql.unsafe<Row>("SELECT changes() AS count")
  const count = numberOf(changes?.count)
  if (count === 0 || count === chunk.length) {
    const modified = count === 0 ? [] : chunk.flatMap(({ modified }) => Option.toArray(modified))
    return { count, oldestModified: earliest(modified.map(({ epochMilliseconds }) => epochMilliseconds)) }
  }
  const [found] = yield* sql.unsafe<Row>(stamped, [company, idsOf(chunk), pass])
  if (numberOf(found?.count) !== count) return yield* new AmbiguousWrite()
  return { count, oldestModified: orUndefined(found?.oldest) }
})

const write: Dialect["write"] = Effect.fnUntraced(function*(sql, rows) {
  const { company, isExact, isStamping, pass, punches } = rows
  const writeRows = isExact ? writeExactly : writeChunk
  const written = yield* writeInChunks(punches, rowsPerStatement, (chunk) => writeRows(sql, rows, chunk))
  if (isStamping && written.count < punches.length) yield* sql.unsafe(stamp, [pass, company, idsOf(punches), pass])
  return written
})

const idsOf = (punches: BatchRows["punches"]): string => JSON.stringify(punches.map(({ id }) => id))

const earliest = (modified: ReadonlyArray<unknown>): number | undefined => {
  const least = modified.reduce<number>((least, at) => Math.min(least, orUndefined(at) ?? Infinity), Infinity)
  return least === Infinity ? undefined : least
}

const parametersOf = ({ at, company, pass }: BatchRows, chunk: BatchRows["punches"]): ReadonlyArray<Cell> => {
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

/** All columns without the company, which the batch has. */
const cells = columns.slice(1).map(({ cell }) => cell)

/** The upsert for a number of rows. `changes()` and `RETURNING` do not count what a trigger does. */
const textOf = (count: number, hasHistory: boolean): string => (hasHistory ? withHistory : plain)(count)

const makeTexts = (hasHistory: boolean) => {
  const texts = new Map<number, string>()
  const { insert, names, update } = upsertOf(hasHistory, "IS NOT")
  const row = `(${names.map(() => "?").join(", ")})`
  return (count: number): string => {
    const known = texts.get(count)
    if (known !== undefined) return known
    const text = `${insert} VALUES ${Array.from({ length: count }, () => row).join(", ")} ${update}`
    texts.set(count, text)
    return text
  }
}

const plain = makeTexts(false)
const withHistory = makeTexts(true)

/** SQLite. A migration that was published is never changed: the next one adds. */
export const sqlite: Dialect = dialectFor(ground, {
  write,
  steps: [
    {
      id: 10,
      name: "tables",
      statements: [
        ground.createMigrations("time_punches_migrations"),
        tables.rows,
        `CREATE INDEX time_punches_clocked_in ON time_punches (company_id, clocked_in)`,
        tables.sync,
        tables.history,
        `CREATE INDEX time_punches_history_ended ON time_punches_history (company_id, valid_to)`,
        ...indexBegun,
        createKeepVersion,
        ...createRefusals,
        createCurrent,
        createBreaks,
        createRowRemoved,
        ...tables.closes,
        createEraseCloses
      ]
    }
  ]
})
