/** The tables of a copy, and the statements that both dialects write alike except the words of a dialect. */
import { type Column, columns, type ColumnType, contentColumns, versionColumns } from "./columns.ts"

/** Makes the tables. `types`: the type of a column by its name in PostgreSQL; `end`: what stands behind the columns. */
export const tablesOf = (types: Readonly<Record<ColumnType, string>>, end = "") => {
  const { bigint, text, timestamptz } = types
  const columnsOfVersion = [
    ...columns.map(({ name, nullable, type }) => `  ${name} ${types[type]}${nullable ? "" : " NOT NULL"},`),
    `  pass ${bigint} NOT NULL,
  missing_at ${timestamptz},
  valid_from ${timestamptz},`
  ].join("\n")
  return {
    rows: `CREATE TABLE time_punches (
${columnsOfVersion}
  PRIMARY KEY (company_id, id)
)${end}`,
    sync: `CREATE TABLE time_punches_sync (
  company_id ${bigint} NOT NULL PRIMARY KEY,
  checkpoint ${text},
  pass_began ${timestamptz},
  unknown ${text},
  error_at ${timestamptz},
  error_tag ${text},
  error_text ${text},
  history_since ${timestamptz},
  history_last ${timestamptz},
  known_since ${timestamptz}
)${end}`,
    // A version: the row as it was from `valid_from` (NULL: since before the history began) to `valid_to`, which is not in it.
    history: `CREATE TABLE time_punches_history (
${columnsOfVersion}
  valid_to ${timestamptz} NOT NULL,
  PRIMARY KEY (company_id, id, valid_to),
  CHECK (valid_from < valid_to)
)${end}`,
    // Rows of these tables are only inserted, except at the erasure of a company, which removes its row of the sync.
    closes: [
      `CREATE TABLE time_punches_close (
  company_id ${bigint} NOT NULL,
  close_id ${bigint} NOT NULL,
  terms ${text} NOT NULL,
  PRIMARY KEY (company_id, close_id)
)${end}`,
      `CREATE TABLE time_punches_close_state (
  company_id ${bigint} NOT NULL,
  close_id ${bigint} NOT NULL,
  number ${bigint} NOT NULL,
  before ${bigint},
  kind ${text} NOT NULL,
  at ${timestamptz} NOT NULL,
  closed_at ${timestamptz} NOT NULL,
  user_name ${text} NOT NULL,
  note ${text} NOT NULL,
  accepted ${text} NOT NULL,
  added ${text} NOT NULL,
  release ${text} NOT NULL,
  rules ${bigint} NOT NULL,
  token ${text} NOT NULL,
  PRIMARY KEY (company_id, close_id, number)
)${end}`,
      `CREATE TABLE time_punches_close_row (
  company_id ${bigint} NOT NULL,
  close_id ${bigint} NOT NULL,
  number ${bigint} NOT NULL,
  place ${bigint} NOT NULL,
  user_id ${bigint} NOT NULL,
  location_id ${bigint} NOT NULL,
  department_id ${bigint},
  role_id ${bigint} NOT NULL,
  hourly_wage ${bigint} NOT NULL,
  punches ${bigint} NOT NULL,
  incomplete ${bigint} NOT NULL,
  net_ms ${bigint} NOT NULL,
  cost_cents ${bigint} NOT NULL,
  tips_cents ${bigint} NOT NULL,
  over_ms ${bigint},
  double_ms ${bigint},
  PRIMARY KEY (company_id, close_id, number, place)
)${end}`,
      `CREATE TABLE time_punches_close_file (
  company_id ${bigint} NOT NULL,
  close_id ${bigint} NOT NULL,
  number ${bigint} NOT NULL,
  place ${bigint} NOT NULL,
  noted_at ${timestamptz} NOT NULL,
  user_name ${text} NOT NULL,
  mapping ${text} NOT NULL,
  mapping_hash ${text} NOT NULL,
  codes ${text} NOT NULL,
  codes_hash ${text} NOT NULL,
  token ${text} NOT NULL,
  PRIMARY KEY (company_id, close_id, number, place)
)${end}`
    ]
  }
}

/** Keeps the version that a row had. `schema`: what stands before the name of a table. */
export const keepVersion = (schema = ""): string =>
  `  INSERT INTO ${schema}time_punches_history (${versionColumns.join(", ")}, valid_to)
  VALUES (${versionColumns.map((name) => `OLD.${name}`).join(", ")}, NEW.valid_from);`

/** Erases the closes of a company. */
export const eraseCloses = (schema = ""): string =>
  ["close", "close_state", "close_row", "close_file"]
    .map((table) => `  DELETE FROM ${schema}time_punches_${table} WHERE company_id = OLD.company_id;`)
    .join("\n")

/** The columns of the view of punches and breaks of the dialect, a line each, in the order of the tables. */
export const currentColumns = (columnOf: (column: Column) => string, hours: string): string =>
  [...columns.filter(({ name }) => name !== "deleted").map(columnOf), hours].map((text) => `  ${text}`).join(",\n")

/**
 * The upsert of rows, around their values. A row that is equal already is not rewritten, unless it is missing. Only with history it
 * sets `valid_from`, so that a trigger keeps what it replaces. `differs`: the operator that takes two NULLs as equal.
 */
export const upsertOf = (hasHistory: boolean, differs: "IS NOT" | "IS DISTINCT FROM") => {
  const more = ["pass", ...hasHistory ? ["valid_from"] : []]
  const names = [...columns.map(({ name }) => name), ...more]
  const content = contentColumns.map(({ name }) => name)
  const each = (names: ReadonlyArray<string>, text: (name: string) => string) => names.map(text).join(", ")
  return {
    names,
    insert: `INSERT INTO time_punches AS t (${names.join(", ")})`,
    update: `ON CONFLICT (company_id, id) DO UPDATE SET ${
      each([...content, ...more], (name) => `${name} = excluded.${name}`)
    }, missing_at = NULL
WHERE (${each(content, (name) => `t.${name}`)}) ${differs} (${
      each(content, (name) => `excluded.${name}`)
    }) OR t.missing_at IS NOT NULL`
  }
}
