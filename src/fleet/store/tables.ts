/** The tables of a fleet, and the migrations that make them. */
import * as Effect from "effect/Effect"
import type { SqlDialect } from "../../internal/sql/dialect.ts"
import * as Migrate from "../../internal/sql/migrate.ts"
import { type FleetError, translated } from "../FleetError.ts"
import type { FleetStatements } from "./statements.ts"

const migrationsOf = (dialect: SqlDialect): Migrate.Migrations => ({
  title: "the fleet",
  table: "fleet_migrations",
  // "fleet_mi", as a number: any other lock of the database is as good.
  lock: 7378705536486387049n,
  steps: stepsOf(dialect)
})

/** Brings the tables to the schema of this release; a newer one is left as it is. */
export const migrateTables = ({ dialect, sql }: FleetStatements): Effect.Effect<void, FleetError> =>
  translated("the tables cannot be made")(Migrate.migrate({ sql, dialect }, migrationsOf(dialect)))

/** Fails if the schema is older than the one of this release. */
export const verifyTables = ({ dialect, sql }: FleetStatements): Effect.Effect<void, FleetError> =>
  translated("the schema cannot be read")(Migrate.verify({ sql, dialect }, migrationsOf(dialect)))

/** The tables of a fleet. A migration that was published is never changed: the next one adds. */
const stepsOf = (dialect: SqlDialect): Migrate.Migrations["steps"] => [{
  id: 5,
  name: "fleet",
  statements: [
    dialect.createMigrations("fleet_migrations"),
    `CREATE TABLE fleet_company (
  company_id bigint NOT NULL PRIMARY KEY,
  guid text,
  state text NOT NULL,
  phase text NOT NULL,
  reason text,
  every_ms bigint NOT NULL,
  added_at bigint NOT NULL,
  next_at bigint NOT NULL,
  sweep_at bigint,
  full_sweep_at bigint,
  heartbeat_at bigint,
  claimed_at bigint,
  runner text,
  epoch bigint NOT NULL,
  starts integer NOT NULL,
  failures integer NOT NULL,
  tag text,
  tag_count integer NOT NULL,
  tag_since bigint,
  probed_at bigint,
  last_ok_at bigint,
  last_error text,
  rows bigint NOT NULL
)`,
    "CREATE INDEX fleet_company_due ON fleet_company (next_at, company_id) WHERE state = 'active'",
    "CREATE INDEX fleet_company_suspects ON fleet_company (next_at, company_id) WHERE state = 'active' AND starts >= 2",
    `CREATE TABLE fleet_run (
  company_id bigint NOT NULL,
  epoch bigint NOT NULL,
  runner text NOT NULL,
  began_at bigint NOT NULL,
  ended_at bigint NOT NULL,
  pages bigint NOT NULL,
  rows bigint NOT NULL,
  outcome text NOT NULL,
  PRIMARY KEY (company_id, epoch)
)`,
    "CREATE INDEX fleet_run_ended ON fleet_run (ended_at)",
    // What the end of a failed turn reads of the fleet. Without it every run of its window is read.
    "CREATE INDEX fleet_run_outcome ON fleet_run (outcome, ended_at)",
    `CREATE TABLE fleet_minute (
  minute bigint NOT NULL,
  runner text NOT NULL,
  runs bigint NOT NULL,
  pages bigint NOT NULL,
  rows bigint NOT NULL,
  failures bigint NOT NULL,
  PRIMARY KEY (minute, runner)
)`,
    `CREATE TABLE fleet_pause (
  reason text NOT NULL PRIMARY KEY,
  until bigint,
  probed_at bigint NOT NULL,
  probe_company bigint,
  probe_epoch bigint,
  paused_by text
)`,
    "CREATE TABLE fleet_solo (id integer NOT NULL PRIMARY KEY, runner text, until bigint NOT NULL)",
    "INSERT INTO fleet_solo (id, runner, until) VALUES (1, NULL, 0)",
    "CREATE TABLE fleet_setting (name text NOT NULL PRIMARY KEY, value text NOT NULL)",
    `CREATE TABLE fleet_rate (
  key text NOT NULL PRIMARY KEY,
  tokens double precision,
  at double precision
)`,
    `CREATE TABLE fleet_trouble (
  runner text NOT NULL PRIMARY KEY,
  kind text NOT NULL,
  since bigint NOT NULL,
  noted_at bigint NOT NULL,
  text text NOT NULL
)`,
    `CREATE TABLE fleet_runner (
  runner text NOT NULL PRIMARY KEY,
  release text NOT NULL,
  started_at bigint NOT NULL,
  seen_at bigint NOT NULL,
  settings text NOT NULL
)`,
    `CREATE TABLE fleet_removal (
  company_id bigint NOT NULL PRIMARY KEY,
  removed_at bigint NOT NULL,
  removed_by text
)`
  ]
}]
