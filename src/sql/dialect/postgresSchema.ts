/** The tables and views of a copy in PostgreSQL. A migration that was published is never changed: the next one adds. */
import { additions, viewTexts } from "./additions.ts"
import { type Column, columns, columnsAfter } from "./columns.ts"
import type { Migration } from "./Dialect.ts"
import { end, endsHistory, hole, makesHole, versionColumns } from "./history.ts"
import type { Tables } from "./tables.ts"

/** The migrations for these columns: the first two have those that they were published with, and each later one adds. */
export const postgresMigrations = (
  tables: Tables,
  all: ReadonlyArray<Column> = columns
): ReadonlyArray<Migration> => [
  {
    id: 1,
    name: "tables",
    statements: [
      createMigrations(tables),
      createRows(tables, columnsAfter(1, all)),
      `CREATE INDEX ${tables.clockedIn} ON ${tables.rows} (company_id, clocked_in)`,
      createSync(tables),
      createCurrent(tables, columnsAfter(1, all)),
      createBreaks(tables)
    ]
  },
  {
    id: 2,
    name: "history",
    statements: [
      `ALTER TABLE ${tables.rows} ADD COLUMN valid_from timestamptz`,
      `ALTER TABLE ${tables.sync} ADD COLUMN history_since timestamptz, ADD COLUMN history_last timestamptz`,
      createHistory(tables, columnsAfter(2, all)),
      `CREATE INDEX ${tables.historyEnded} ON ${tables.history} (company_id, valid_to)`,
      createKeepFunction(tables, columnsAfter(2, all)),
      createKeepTrigger(tables),
      ...createRefusals(tables)
    ]
  },
  // A view or a function that is replaced, not dropped, keeps its grants and what depends on it.
  ...additions(all, (added, known) => [
    ...[tables.rows, tables.history].map((table) =>
      `ALTER TABLE ${table} ${added.map(({ name, type }) => `ADD COLUMN ${name} ${type}`).join(", ")}`
    ),
    replacing(createKeepFunction(tables, known)),
    replacing(createCurrent(tables, known))
  ])
]

const replacing = (create: string): string => create.replace("CREATE", "CREATE OR REPLACE")

const createMigrations = ({ migrations }: Tables) =>
  `CREATE TABLE IF NOT EXISTS ${migrations} (
  migration_id integer PRIMARY KEY,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  name text NOT NULL
)`

const createRows = ({ rows }: Tables, columns: ReadonlyArray<Column>) =>
  `CREATE TABLE ${rows} (
${columns.map(({ name, nullable, type }) => `  ${name} ${type}${nullable ? "" : " NOT NULL"},`).join("\n")}
  pass bigint NOT NULL,
  gone_at timestamptz,
  PRIMARY KEY (company_id, id)
)`

const createSync = ({ sync }: Tables) =>
  `CREATE TABLE ${sync} (
  company_id bigint NOT NULL PRIMARY KEY,
  checkpoint text,
  error_at timestamptz,
  error_tag text,
  error_text text
)`

/** A version: the row as it was from `valid_from` (NULL: since before the history began) to `valid_to`, which is not in it. */
const createHistory = ({ history }: Tables, columns: ReadonlyArray<Column>) =>
  `CREATE TABLE ${history} (
${columns.map(({ name, nullable, type }) => `  ${name} ${type}${nullable ? "" : " NOT NULL"},`).join("\n")}
  pass bigint NOT NULL,
  gone_at timestamptz,
  valid_from timestamptz,
  valid_to timestamptz NOT NULL,
  PRIMARY KEY (company_id, id, valid_to),
  CHECK (valid_from < valid_to)
)`

/** The name of the history is bound here, with its schema: the search path of a later session may find that of another copy. */
const createKeepFunction = ({ history, keepVersionFunction }: Tables, columns: ReadonlyArray<Column>) =>
  `DO $do$ BEGIN
EXECUTE (SELECT format($format$CREATE FUNCTION ${keepVersionFunction}() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO %I.%I (${versionColumns(columns).join(", ")}, valid_to)
  VALUES (${versionColumns(columns).map((name) => `OLD.${name}`).join(", ")}, NEW.valid_from);
  RETURN NULL;
END $$
$format$, n.nspname, c.relname) FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE c.oid = '${history}'::regclass);
END $do$`

/** A statement that sets no `valid_from` does not meet this trigger, so that a copy without history pays nothing. */
const createKeepTrigger = ({ keepVersion, keepVersionFunction, rows }: Tables) =>
  `CREATE TRIGGER ${keepVersion} AFTER UPDATE OF valid_from ON ${rows} FOR EACH ROW
WHEN (NEW.valid_from IS NOT NULL AND NEW.valid_from IS DISTINCT FROM OLD.valid_from)
EXECUTE FUNCTION ${keepVersionFunction}()`

const createRefusals = ({ refuseEnd, refuseFunction, refuseHole, sync }: Tables) => [
  `CREATE FUNCTION ${refuseFunction}() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION USING MESSAGE = TG_ARGV[0], ERRCODE = 'integrity_constraint_violation';
END $$`,
  `CREATE TRIGGER ${refuseHole} BEFORE UPDATE OF checkpoint ON ${sync} FOR EACH ROW
WHEN (${makesHole})
EXECUTE FUNCTION ${refuseFunction}('${hole}')`,
  `CREATE TRIGGER ${refuseEnd} BEFORE DELETE ON ${sync} FOR EACH ROW
WHEN (${endsHistory})
EXECUTE FUNCTION ${refuseFunction}('${end}')`
]

/** Whole milliseconds between two instants. */
const millisBetween = (from: string, to: string) => `(extract(epoch FROM ${to} - ${from}) * 1000)::bigint`

/** Milliseconds of unpaid breaks, clipped to the punch and united. A break without an end lasts as long as the punch. */
const unpaidMillis = `(
    SELECT coalesce(sum(greatest(0, ${
  millisBetween("greatest(started, coalesce(reached, started))", "ended")
})), 0) FROM (
      SELECT started, ended, max(ended) OVER (
        ORDER BY started, ended ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
      ) AS reached FROM (
        SELECT
          greatest(t.clocked_in, (b.value->>'in')::timestamptz) AS started,
          least(t.clocked_out, coalesce((b.value->>'out')::timestamptz, t.clocked_out)) AS ended
        FROM jsonb_array_elements(t.breaks) AS b(value) WHERE NOT (b.value->>'paid')::boolean
      ) AS clipped WHERE ended > started
    ) AS ordered
  )`

const currentColumn = ({ name }: Column): string =>
  name === "hourly_wage" || name === "tips"
    ? `(t.${name} / 100.0)::numeric(20, 2) AS ${name}`
    : `t.${name}`

const hoursWorked = `CASE WHEN t.clocked_out >= t.clocked_in THEN (${
  millisBetween("t.clocked_in", "t.clocked_out")
} - CASE WHEN t.breaks = '[]' THEN 0 ELSE ${unpaidMillis} END)::double precision / 3600000 END AS hours_worked`

const createCurrent = ({ current, rows }: Tables, columns: ReadonlyArray<Column>) =>
  `CREATE VIEW ${current} AS SELECT
${viewTexts(columns.filter(({ name }) => name !== "deleted"), currentColumn, hoursWorked)}
FROM ${rows} AS t WHERE NOT t.deleted AND t.gone_at IS NULL`

const createBreaks = ({ breaks, rows }: Tables) =>
  `CREATE VIEW ${breaks} AS SELECT
  t.company_id,
  t.id AS time_punch_id,
  b.place,
  (b.value->>'id')::bigint AS id,
  (b.value->>'user_id')::bigint AS user_id,
  (b.value->>'custom_break_id')::bigint AS custom_break_id,
  (b.value->>'paid')::boolean AS paid,
  (b.value->>'in')::timestamptz AS break_in,
  (b.value->>'out')::timestamptz AS break_out
FROM ${rows} AS t, jsonb_array_elements(t.breaks) WITH ORDINALITY AS b(value, place) WHERE NOT t.deleted AND t.gone_at IS NULL`
