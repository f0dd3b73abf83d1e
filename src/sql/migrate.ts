/** Brings the tables of a copy to the schema of this release, or says what is missing. */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import { MigrationError } from "effect/sql/Migrator"
import type { SqlClient } from "effect/sql/SqlClient"
import type { Row } from "effect/sql/SqlConnection"
import type { SqlError } from "effect/sql/SqlError"
import { isTransient, messageOf, retried, transact } from "./connection.ts"
import { type Dialect, type Migration, numberOf } from "./Dialect.ts"
import { refused } from "./tables.ts"

/** The statements of a migration, with the record of it: who runs them by hand has done all that `migrate` does. */
export const statementsOf = ({ tables }: Dialect, { id, name, statements }: Migration): ReadonlyArray<string> => [
  ...statements,
  `INSERT INTO ${tables.migrations} (migration_id, name) VALUES (${id}, '${name}') ON CONFLICT (migration_id) DO NOTHING`
]

/** The schema that the tables have; 0 where there are none. */
const versionOf = Effect.fnUntraced(function*(sql: SqlClient, { hasMigrations, tables }: Dialect) {
  const found = yield* sql.unsafe(hasMigrations, [tables.migrationsName])
  if (found.length === 0) return 0
  const [latest] = yield* sql.unsafe<Row>(`SELECT coalesce(max(migration_id), 0) AS version FROM ${tables.migrations}`)
  return numberOf(latest?.version)
})

/** The schema of this release. */
const newest = ({ migrations }: Dialect): number => Math.max(...migrations.map(({ id }) => id))

/** Runs the migrations that are missing, in one transaction. A newer schema is left as it is. */
export const migrate = Effect.fnUntraced(function*(sql: SqlClient, dialect: Dialect) {
  if ((yield* retried(versionOf(sql, dialect))) >= newest(dialect)) return
  yield* transact(
    sql,
    dialect.name,
    Effect.gen(function*() {
      if (dialect.lockMigrations !== "") yield* sql.unsafe(dialect.lockMigrations)
      const version = yield* versionOf(sql, dialect)
      for (const migration of dialect.migrations.filter(({ id }) => id > version)) {
        yield* Effect.forEach(statementsOf(dialect, migration), (text) => sql.unsafe(text).unprepared, {
          discard: true
        })
          .pipe(Effect.mapError((error) => isTransient(error) ? error : migrationFailed(dialect, migration, error)))
      }
    })
  )
})

/** The tables have an older schema than this release needs; 0: there are none. */
export class OldSchema extends Data.TaggedError("OldSchema")<{ readonly version: number; readonly needed: number }> {}

/** Fails where the schema is older than the one of this release. */
export const verify = Effect.fnUntraced(function*(sql: SqlClient, dialect: Dialect) {
  const version = yield* retried(versionOf(sql, dialect))
  const needed = newest(dialect)
  if (version < needed) {
    return yield* Effect.fail(refused(
      `${dialect.tables.rows} has schema ${version} (0: no tables), and this release needs ${needed}: run SqlStore.migrations`,
      new OldSchema({ version, needed })
    ))
  }
})

const migrationFailed = ({ tables }: Dialect, { id, name }: Migration, error: SqlError) =>
  new MigrationError({
    kind: "Failed",
    cause: error,
    message: `migration ${id}_${name} of ${tables.rows} failed: ${messageOf(error)}`
  })
