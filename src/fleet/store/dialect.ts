/** What SQLite and PostgreSQL say differently about a fleet, beside what they do for any table. */
import type { Fragment } from "effect/sql/Statement"
import { type DialectName, fragmentOf, parameter, raw, type SqlDialect } from "../../internal/sql/dialect.ts"

/** What the two databases say differently about a fleet. */
export interface FleetDialect extends SqlDialect {
  /** The clock of the database in milliseconds; SQLite has none that a test could set, and takes this one. */
  readonly now: (millis: number) => Fragment
  readonly text: (value: string | undefined) => Fragment
  readonly double: (value: number) => Fragment
  readonly isIn: (column: string, values: ReadonlyArray<number>) => Fragment
  /** Rows as a table `t` of a statement. The second column is a text where it is named `guid`. */
  readonly table: (
    columns: ReadonlyArray<string>,
    rows: ReadonlyArray<ReadonlyArray<number | string | null>>
  ) => Fragment
  readonly skipLocked: Fragment
  /** Keeps a row from being removed, and lets others change it. */
  readonly forKeyShare: Fragment
  /** A column: from here the server ends this transaction if its process says nothing for a second. */
  readonly endsIfIdle: Fragment
  readonly materialized: Fragment
  /** Whether a statement may have others that write within it. */
  readonly isOneStatement: boolean
  /** Whether many processes run the fleet; otherwise there is one, without the engine. */
  readonly isShared: boolean
}

type Differences = Omit<FleetDialect, keyof SqlDialect>

const differences: { readonly [Name in DialectName]: Differences } = {
  pg: {
    // `clock_timestamp()` is volatile: each claim would compare it with every row.
    now: () => raw("(extract(epoch from statement_timestamp()) * 1000)::bigint"),
    // A parameter is a text with a cast: by its value, a statement would be prepared for each mixture of types.
    text: (value) => value === undefined ? raw("NULL::text") : parameter(value, "::text"),
    double: (value) => parameter(String(value), "::double precision"),
    isIn: (column, values) => fragmentOf(`${column} = ANY(`, parameter(`{${values.join(",")}}`, "::bigint[]"), ")"),
    table: (columns, rows) =>
      fragmentOf(
        "unnest(",
        ...columns.flatMap((name, at) => [
          at === 0 ? "" : ", ",
          parameter(`{${rows.map((row) => row[at] ?? "NULL").join(",")}}`, name === "guid" ? "::text[]" : "::bigint[]")
        ]),
        `) AS t(${columns.join(", ")})`
      ),
    skipLocked: raw("FOR UPDATE SKIP LOCKED"),
    forKeyShare: raw("FOR KEY SHARE"),
    endsIfIdle: raw(", set_config('idle_in_transaction_session_timeout', '1000', true)"),
    materialized: raw("MATERIALIZED"),
    isOneStatement: true,
    isShared: true
  },
  sqlite: {
    now: (millis) => parameter(millis),
    text: (value) => value === undefined ? raw("NULL") : parameter(value),
    double: (value) => parameter(value),
    isIn: (column, values) =>
      fragmentOf(`${column} IN (SELECT value FROM json_each(`, parameter(JSON.stringify(values)), "))"),
    table: (columns, rows) =>
      fragmentOf(
        `(SELECT ${columns.map((name, at) => `value ->> ${at} AS ${name}`).join(", ")} FROM json_each(`,
        parameter(JSON.stringify(rows)),
        ")) AS t"
      ),
    skipLocked: raw(""),
    forKeyShare: raw(""),
    endsIfIdle: raw(""),
    materialized: raw(""),
    isOneStatement: false,
    isShared: false
  }
}

export const fleetDialect = (dialect: SqlDialect): FleetDialect => ({ ...dialect, ...differences[dialect.name] })
