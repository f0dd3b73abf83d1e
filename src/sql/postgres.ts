/** PostgreSQL: parameters are texts with casts, and the rows of a batch one array for each column. */
import * as Effect from "effect/Effect"
import type { SqlClient } from "effect/sql/SqlClient"
import type { Row } from "effect/sql/SqlConnection"
import { numberOf, orUndefined, postgres as ground, timestamptzOf } from "../internal/sql/dialect.ts"
import { breakColumns, type Cell, type Column, columns, type ColumnType } from "./columns.ts"
import {
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

const tables = tablesOf({
  bigint: "bigint",
  timestamptz: "timestamptz",
  boolean: "boolean",
  text: "text",
  jsonb: "jsonb"
})

/**
 * The function of a trigger, whose body names the schema of the copy as `%1$I`. It is bound now: by its search path, a later
 * session may find the tables of another copy.
 */
const createFunction = (name: string, body: string, rights = "") =>
  `DO $do$ BEGIN
EXECUTE (SELECT format($format$CREATE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql${rights} AS $$
BEGIN
${body}
  RETURN NULL;
END $$
$format$, n.nspname) FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE c.oid = 'time_punches'::regclass);
END $do$`

const createKeepFunction = createFunction("time_punches_keep_version", keepVersion("%1$I."))

/** A statement that sets no `valid_from` does not meet this trigger, so that a copy without history pays nothing. */
const createKeepTrigger =
  `CREATE TRIGGER time_punches_keep_version AFTER UPDATE OF valid_from ON time_punches FOR EACH ROW
WHEN (NEW.valid_from IS NOT NULL AND NEW.valid_from IS DISTINCT FROM OLD.valid_from)
EXECUTE FUNCTION time_punches_keep_version()`

const createRefusals = [
  `CREATE FUNCTION time_punches_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION USING MESSAGE = TG_ARGV[0], ERRCODE = 'integrity_constraint_violation';
END $$`,
  `CREATE TRIGGER time_punches_refuse_hole BEFORE UPDATE OF checkpoint ON time_punches_sync FOR EACH ROW
WHEN (${makesGap})
EXECUTE FUNCTION time_punches_refuse('${historyGap}')`,
  `CREATE TRIGGER time_punches_refuse_end BEFORE DELETE ON time_punches_sync FOR EACH ROW
WHEN (${endsHistory})
EXECUTE FUNCTION time_punches_refuse('${deletionRefused}')`
]

/** It runs with the rights of who made it: a role that keeps the copy may have none on the tables of closes. */
const createEraseCloses = [
  createFunction(
    "time_punches_erase_closes",
    eraseCloses("%1$I."),
    "\nSECURITY DEFINER SET search_path = pg_catalog, pg_temp"
  ),
  // A role that may execute it could put it on its own table, and erase closes with that.
  `REVOKE EXECUTE ON FUNCTION time_punches_erase_closes() FROM PUBLIC`,
  `CREATE TRIGGER time_punches_erase_closes AFTER DELETE ON time_punches_sync FOR EACH ROW EXECUTE FUNCTION time_punches_erase_closes()`
]

/** Without rows that were removed by hand the copy is not whole: it is known again from the next complete pass. */
const createRowRemoved = [
  createFunction(
    "time_punches_row_removed",
    `  UPDATE %1$I.time_punches_sync SET known_since = NULL WHERE known_since IS NOT NULL AND (TG_OP = 'TRUNCATE' OR company_id = OLD.company_id);`
  ),
  `CREATE TRIGGER time_punches_row_removed AFTER DELETE ON time_punches FOR EACH ROW EXECUTE FUNCTION time_punches_row_removed()`,
  `CREATE TRIGGER time_punches_table_emptied AFTER TRUNCATE ON time_punches FOR EACH STATEMENT EXECUTE FUNCTION time_punches_row_removed()`
]

/** Only a deleted break has the key: without it a plain test would be NULL. */
const isBreakDeleted = "coalesce((b.value->>'deleted')::boolean, false)"

const currentColumn = ({ name }: Column): string =>
  name === "hourly_wage" || name === "tips"
    ? `(t.${name} / 100.0)::numeric(20, 2) AS ${name}`
    : `t.${name}`

const hours = hoursWorked({
  breaks: "jsonb_array_elements(t.breaks) AS b(value)",
  isDeleted: isBreakDeleted,
  isPaid: "(b.value->>'paid')::boolean",
  breakIn: "(b.value->>'in')::timestamptz",
  breakOut: "(b.value->>'out')::timestamptz",
  greatest: "greatest",
  least: "least",
  millisBetween: (from, to) => `(extract(epoch FROM ${to} - ${from}) * 1000)::bigint`,
  toHours: (millis) => `${millis}::double precision / 3600000`
})

const createCurrent = `CREATE VIEW time_punches_current AS SELECT
${currentColumns(currentColumn, hours)}
FROM time_punches AS t WHERE NOT t.deleted AND t.missing_at IS NULL`

const createBreaks = `CREATE VIEW time_punches_breaks AS SELECT
  t.company_id,
  t.id AS time_punch_id,
  b.place,
${breakColumns.map(({ key, name, type }) => `  (b.value->>'${key}')::${type} AS ${name}`).join(",\n")}
FROM time_punches AS t, jsonb_array_elements(t.breaks) WITH ORDINALITY AS b(value, place) WHERE NOT t.deleted AND t.missing_at IS NULL AND NOT ${isBreakDeleted}`

/** Rows of one statement: as many as the largest of common transactions has. */
const rowsPerStatement = 1000

const stamp =
  `UPDATE time_punches SET pass = $1::bigint WHERE company_id = $2::bigint AND id = ANY($3::bigint[]) AND pass <> $1::bigint`

const writeChunk = Effect.fnUntraced(
  function*(sql: SqlClient, { at, company, isStamping, pass, punches }: BatchRows) {
    const parameters = [String(company), String(pass), ...arrayColumns.map((column) => arrayOf(column, punches))]
    const [found] = yield* at === undefined
      ? sql.unsafe<Row>(plain, parameters)
      : sql.unsafe<Row>(withHistory, [...parameters, timestamptzOf(at)])
    const count = numberOf(found?.count)
    if (isStamping && count < punches.length) {
      yield* sql.unsafe(stamp, [String(pass), String(company), `{${punches.map(({ id }) => id).join(",")}}`])
    }
    return { count, oldestModified: orUndefined(found?.oldest) } satisfies Written
  }
)

const write: Dialect["write"] = (sql, rows) =>
  writeInChunks(rows.punches, rowsPerStatement, (punches) => writeChunk(sql, { ...rows, punches }))

/** All but the company, which is the same for each row. */
const arrayColumns = columns.slice(1)

/** The upsert of any number of rows. */
const textOf = (hasHistory: boolean): string => {
  const { insert, update } = upsertOf(hasHistory, "IS DISTINCT FROM")
  const arrays = arrayColumns.map(({ type }, at) => `$${at + 3}::${type}[]`)
  const instant = hasHistory ? `, $${arrays.length + 3}::timestamptz` : ""
  return `WITH written AS (
${insert}
SELECT $1::bigint, u.*, $2::bigint${instant} FROM unnest(${arrays.join(", ")}) AS u
${update}
RETURNING t.modified
) SELECT count(*) AS count, (extract(epoch FROM min(modified)) * 1000)::bigint AS oldest FROM written`
}

/** The literal of an array. A text is quoted, so that it is never taken for NULL, a brace or a comma. */
const arrayOf = ({ cell, type }: Column, punches: BatchRows["punches"]): string =>
  `{${punches.map((punch) => elementOf(cell(punch), type)).join(",")}}`

const elementOf = (cell: Cell, type: ColumnType): string =>
  cell === null
    ? "NULL"
    : typeof cell === "string"
    ? `"${cell.replace(/["\\]/g, "\\$&")}"`
    : typeof cell === "number" && type === "timestamptz"
    ? `"${timestamptzOf(cell)}"`
    : String(cell)

const plain = textOf(false)
const withHistory = textOf(true)

/**
 * PostgreSQL. A migration that was published is never changed: the next one adds. A view or a
 * function that a later one replaces (`CREATE OR REPLACE`, new columns last) keeps its grants and what depends on it.
 */
export const postgres: Dialect = dialectFor(ground, {
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
        createKeepFunction,
        createKeepTrigger,
        ...createRefusals,
        createCurrent,
        createBreaks,
        ...createRowRemoved,
        ...tables.closes,
        ...createEraseCloses
      ]
    }
  ]
})
