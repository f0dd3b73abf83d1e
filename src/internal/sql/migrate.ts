/** Brings a set of tables to the schema of this release, or says how old it is. */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import { MigrationError } from "effect/sql/Migrator"
import type { Row } from "effect/sql/SqlConnection"
import type { SqlError } from "effect/sql/SqlError"
import { type Database, numberOf, raw } from "./dialect.ts"
import { isTransient, messageOf } from "./failure.ts"
import { retried, transact } from "./transaction.ts"

/** A step between two schemas. Its number is the number of the schema that it makes. One that was published is never changed. */
export interface Migration {
  readonly id: number
  readonly name: string
  readonly statements: ReadonlyArray<string>
}

/** Tables that are created and changed by their own migrations. */
export interface Migrations {
  /** What the messages call them. */
  readonly title: string
  /** The table of the migrations that were run, as the catalogue has it and quoted for a statement. */
  readonly table: { readonly name: string; readonly quoted: string }
  /** Holds up every other migration of such tables. */
  readonly lock: bigint
  /** The oldest schema that is changed to a later one. One below is left as it is, and `verify` refuses it. */
  readonly oldest: number
  /** In turn. */
  readonly steps: ReadonlyArray<Migration>
}

/** The statements of a migration, with the record of it: who runs them by hand has done all that `migrate` does. */
export const statementsOf = ({ table }: Migrations, { id, name, statements }: Migration): ReadonlyArray<string> => [
  ...statements,
  `INSERT INTO ${table.quoted} (migration_id, name) VALUES (${id}, '${name}') ON CONFLICT (migration_id) DO NOTHING`
]

/** The schema that the tables have; 0: there are none. */
const versionOf = Effect.fnUntraced(function*({ dialect, sql }: Database, { table }: Migrations) {
  const found = yield* sql`${dialect.hasTable(table.name)}`
  if (found.length === 0) return 0
  const [latest] = yield* sql<Row>`SELECT coalesce(max(migration_id), 0) AS version FROM ${raw(table.quoted)}`
  return numberOf(latest?.["version"])
})

/** The schema of this release. */
const newest = ({ steps }: Migrations): number => Math.max(...steps.map(({ id }) => id))

/** The steps from a schema to the one of this release. None lead on from one below `oldest`. */
const stepsFrom = (version: number, { oldest, steps }: Migrations): ReadonlyArray<Migration> =>
  version === 0 || version >= oldest ? steps.filter(({ id }) => id > version) : []

/** Runs the migrations that are missing, in one transaction. A newer schema is left as it is, and one below `oldest` too. */
export const migrate = Effect.fnUntraced(function*(database: Database, migrations: Migrations) {
  if (stepsFrom(yield* retried(versionOf(database, migrations)), migrations).length === 0) return
  const { dialect, sql } = database
  const run = (text: string) => sql.unsafe(text).unprepared
  yield* transact(
    database,
    Effect.gen(function*() {
      yield* Effect.forEach(dialect.lock(migrations.lock), run, { discard: true })
      for (const step of stepsFrom(yield* versionOf(database, migrations), migrations)) {
        yield* Effect.forEach(statementsOf(migrations, step), run, { discard: true }).pipe(
          Effect.mapError((error) => isTransient(error) ? error : migrationFailed(migrations, step, error))
        )
      }
    })
  )
})

/** The tables have not the schema that this release needs; 0: there are none. */
export class OtherSchema extends Data.TaggedError("OtherSchema")<{
  readonly version: number
  readonly needed: number
}> {}

/**
 * Which schemas will do beside that of this release. `newer`: for what reads columns that no migration changes. `none`: for
 * what writes, or reads what a later release may have written in a way that this one would take for something else.
 */
export type Others = "newer" | "none"

/** Fails if the schema is older than the one of this release, or is newer and `others` is `none`. */
export const verify = Effect.fnUntraced(function*(
  database: Database,
  migrations: Migrations,
  others: Others = "newer"
) {
  const version = yield* retried(versionOf(database, migrations))
  const needed = newest(migrations)
  if (version < needed || (version > needed && others === "none")) return yield* new OtherSchema({ version, needed })
})

const migrationFailed = ({ title }: Migrations, { id, name }: Migration, error: SqlError) =>
  new MigrationError({
    kind: "Failed",
    cause: error,
    message: `migration ${id}_${name} of ${title} failed: ${messageOf(error)}`
  })
