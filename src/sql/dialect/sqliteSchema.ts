/** The tables and views of a copy in SQLite. A migration that was published is never changed: the next one adds. */
import { columns, type ColumnType } from "./columns.ts"
import type { Migration } from "./Dialect.ts"
import { end, endsHistory, hole, makesHole, versionColumns } from "./history.ts"
import type { Tables } from "./tables.ts"

export const sqliteMigrations = (tables: Tables): ReadonlyArray<Migration> => [
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
  },
  {
    id: 2,
    name: "history",
    statements: [
      `ALTER TABLE ${tables.rows} ADD COLUMN valid_from INTEGER`,
      `ALTER TABLE ${tables.sync} ADD COLUMN history_since INTEGER`,
      `ALTER TABLE ${tables.sync} ADD COLUMN history_last INTEGER`,
      createHistory(tables),
      `CREATE INDEX ${tables.historyEnded} ON ${tables.history} (company_id, valid_to)`,
      createKeepVersion(tables),
      ...createRefusals(tables)
    ]
  }
]

const types: Readonly<Record<ColumnType, string>> = {
  bigint: "INTEGER",
  timestamptz: "INTEGER",
  boolean: "INTEGER",
  text: "TEXT",
  jsonb: "TEXT"
}

const createMigrations = ({ migrations }: Tables) =>
  `CREATE TABLE IF NOT EXISTS ${migrations} (
  migration_id integer PRIMARY KEY NOT NULL,
  created_at datetime NOT NULL DEFAULT current_timestamp,
  name VARCHAR(255) NOT NULL
)`

const createRows = ({ rows }: Tables) =>
  `CREATE TABLE ${rows} (
${columns.map(({ name, nullable, type }) => `  ${name} ${types[type]}${nullable ? "" : " NOT NULL"},`).join("\n")}
  pass INTEGER NOT NULL,
  gone_at INTEGER,
  PRIMARY KEY (company_id, id)
) STRICT`

const createSync = ({ sync }: Tables) =>
  `CREATE TABLE ${sync} (
  company_id INTEGER NOT NULL PRIMARY KEY,
  checkpoint TEXT,
  error_at INTEGER,
  error_tag TEXT,
  error_text TEXT
) STRICT`

/** A version: the row as it was from `valid_from` (NULL: since before the history began) to `valid_to`, which is not in it. */
const createHistory = ({ history }: Tables) =>
  `CREATE TABLE ${history} (
${columns.map(({ name, nullable, type }) => `  ${name} ${types[type]}${nullable ? "" : " NOT NULL"},`).join("\n")}
  pass INTEGER NOT NULL,
  gone_at INTEGER,
  valid_from INTEGER,
  valid_to INTEGER NOT NULL,
  PRIMARY KEY (company_id, id, valid_to),
  CHECK (valid_from < valid_to)
) STRICT`

/** A statement that sets no `valid_from` does not meet this trigger, so that a copy without history pays nothing. */
const createKeepVersion = ({ history, keepVersion, rows }: Tables) =>
  `CREATE TRIGGER ${keepVersion} AFTER UPDATE OF valid_from ON ${rows}
WHEN NEW.valid_from IS NOT NULL AND NEW.valid_from IS NOT OLD.valid_from
BEGIN
  INSERT INTO ${history} (${versionColumns.join(", ")}, valid_to)
  VALUES (${versionColumns.map((name) => `OLD.${name}`).join(", ")}, NEW.valid_from);
END`

const createRefusals = ({ refuseEnd, refuseHole, sync }: Tables) => [
  `CREATE TRIGGER ${refuseHole} BEFORE UPDATE OF checkpoint ON ${sync}
WHEN ${makesHole}
BEGIN
  SELECT RAISE(ABORT, '${hole}');
END`,
  `CREATE TRIGGER ${refuseEnd} BEFORE DELETE ON ${sync}
WHEN ${endsHistory}
BEGIN
  SELECT RAISE(ABORT, '${end}');
END`
]

/** The milliseconds of an ISO text with milliseconds, without a detour over floating-point numbers. */
const millisOfIso = (text: string) =>
  `(unixepoch(substr(${text}, 1, 19)) * 1000 + CAST(substr(${text}, 21, 3) AS INTEGER))`

/** The ISO text of milliseconds; `%` has the sign of its left side. */
const isoOfMillis = (millis: string) =>
  `strftime('%Y-%m-%dT%H:%M:%S', (${millis} - (${millis} % 1000 + 1000) % 1000) / 1000, 'unixepoch') || printf('.%03dZ', (${millis} % 1000 + 1000) % 1000)`

/** Milliseconds of unpaid breaks, clipped to the punch and united. A break without an end lasts as long as the punch. */
const unpaidMillis = `(
    SELECT coalesce(sum(max(0, ended - max(started, coalesce(reached, started)))), 0) FROM (
      SELECT started, ended, max(ended) OVER (
        ORDER BY started, ended ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
      ) AS reached FROM (
        SELECT
          max(t.clocked_in, ${millisOfIso("json_extract(b.value, '$.in')")}) AS started,
          min(t.clocked_out, coalesce(${millisOfIso("json_extract(b.value, '$.out')")}, t.clocked_out)) AS ended
        FROM json_each(t.breaks) AS b WHERE NOT json_extract(b.value, '$.paid')
      ) WHERE ended > started
    )
  )`

const currentColumn = (name: string, type: ColumnType): string =>
  name === "hourly_wage" || name === "tips"
    ? `t.${name} / 100.0 AS ${name}`
    : type === "timestamptz"
    ? `${isoOfMillis(`t.${name}`)} AS ${name}`
    : `t.${name}`

const createCurrent = ({ current, rows }: Tables) =>
  `CREATE VIEW ${current} AS SELECT
${
    columns.filter(({ name }) => name !== "deleted").map(({ name, type }) => `  ${currentColumn(name, type)},`).join(
      "\n"
    )
  }
  CASE WHEN t.clocked_out >= t.clocked_in THEN (t.clocked_out - t.clocked_in - CASE WHEN t.breaks = '[]' THEN 0 ELSE ${unpaidMillis} END) / 3600000.0 END AS hours_worked
FROM ${rows} AS t WHERE NOT t.deleted AND t.gone_at IS NULL`

const createBreaks = ({ breaks, rows }: Tables) =>
  `CREATE VIEW ${breaks} AS SELECT
  t.company_id,
  t.id AS time_punch_id,
  b.key + 1 AS place,
  json_extract(b.value, '$.id') AS id,
  json_extract(b.value, '$.user_id') AS user_id,
  json_extract(b.value, '$.custom_break_id') AS custom_break_id,
  json_extract(b.value, '$.paid') AS paid,
  json_extract(b.value, '$.in') AS break_in,
  json_extract(b.value, '$.out') AS break_out
FROM ${rows} AS t, json_each(t.breaks) AS b WHERE NOT t.deleted AND t.gone_at IS NULL`
