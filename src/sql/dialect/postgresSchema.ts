/** The tables and views of a copy in PostgreSQL. A migration that was published is never changed: the next one adds. */
import { columns } from "./columns.ts"
import type { Migration } from "./Dialect.ts"
import type { Tables } from "./tables.ts"

export const postgresMigrations = (tables: Tables): ReadonlyArray<Migration> => [
  {
    id: 1,
    name: "tables",
    statements: [
      createMigrations(tables),
      createRows(tables),
      `CREATE INDEX ${tables.clockedIn} ON ${tables.rows} (company_id, clocked_in)`,
      createSync(tables),
      createCurrent(tables),
      createBreaks(tables)
    ]
  }
]

const createMigrations = ({ migrations }: Tables) =>
  `CREATE TABLE IF NOT EXISTS ${migrations} (
  migration_id integer PRIMARY KEY,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  name text NOT NULL
)`

const createRows = ({ rows }: Tables) =>
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

const currentColumn = (name: string): string =>
  name === "hourly_wage" || name === "tips"
    ? `(t.${name} / 100.0)::numeric(20, 2) AS ${name}`
    : `t.${name}`

const createCurrent = ({ current, rows }: Tables) =>
  `CREATE VIEW ${current} AS SELECT
${
    columns.filter(({ name }) => name !== "deleted").map(({ name }) => `  ${currentColumn(name)},`).join(
      "\n"
    )
  }
  CASE WHEN t.clocked_out >= t.clocked_in THEN (${
    millisBetween("t.clocked_in", "t.clocked_out")
  } - CASE WHEN t.breaks = '[]' THEN 0 ELSE ${unpaidMillis} END)::double precision / 3600000 END AS hours_worked
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
