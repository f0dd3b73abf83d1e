/** Brings a set of tables to the schema of this release, or says which one it has. */
import type * as Arr from "effect/Array"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
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
  /** The table of the migrations that were run. */
  readonly table: string
  /** Holds up every other migration of such tables. */
  readonly lock: bigint
  /** In turn. The first makes the tables of the first publication: no step leads on from a lower schema. */
  readonly steps: Arr.NonEmptyReadonlyArray<Migration>
}

/** The statements of a migration, with the record of it: who runs them by hand has done all that `migrate` does. */
export const statementsOf = ({ table }: Migrations, { id, name, statements }: Migration): ReadonlyArray<string> => [
  ...statements,
  `INSERT INTO ${table} (migration_id, name) VALUES (${id}, '${name}') ON CONFLICT (migration_id) DO NOTHING`
]

/** The tables have not the schema that this release needs. */
export class OtherSchema extends Data.TaggedError("OtherSchema")<{
  /** What the messages call the tables. */
  readonly title: string
  /** 0: there are none. */
  readonly version: number
  readonly needed: number
  /**
   * `unpublished`: of a time before the first publication, so that nothing brings them to this release. `foreign`: there are none,
   * and the table `taken` of another program has the name of one.
   */
  readonly kind: "unpublished" | "foreign" | "older" | "later"
  readonly taken?: string
}> {
  /** What is wrong, and what to do about it. `migrate` says what makes the tables. */
  detail(migrate: string): string {
    const { kind, needed, taken, title, version } = this
    const found = `${title} has schema ${version} (0: no tables), and this release needs ${needed}`
    switch (kind) {
      case "unpublished":
        return `${title} has schema ${version}, made before the first publication: sync into a new file or database`
      case "foreign":
        return `${taken} is there already, and not of ${title}: use another file or database, which has none of that name`
      case "older":
        return `${found}: ${migrate}`
      case "later":
        return `${found}: use the release that made it`
    }
  }
}

const otherSchema = (migrations: Migrations, version: number, kind: OtherSchema["kind"], taken?: string) =>
  new OtherSchema({
    title: migrations.title,
    version,
    needed: newest(migrations),
    kind,
    ...(taken === undefined ? {} : { taken })
  })

/** The schema of this release. */
const newest = ({ steps }: Migrations): number => Math.max(...steps.map(({ id }) => id))

/** The schema that the tables have; 0: there are none. Fails if it is of a time before the first publication. */
const versionOf = Effect.fnUntraced(function*({ dialect, sql }: Database, migrations: Migrations) {
  const { steps: [first], table } = migrations
  const found = yield* sql`${dialect.hasTable(table)}`
  if (found.length === 0) return 0
  const [latest] = yield* sql<Row>`SELECT coalesce(max(migration_id), 0) AS version FROM ${raw(table)}`
  const version = numberOf(latest?.["version"])
  return version === 0 || version >= first.id ? version : yield* otherSchema(migrations, version, "unpublished")
})

/** Fails if a name that the first step gives is taken. What another program has under it stays. */
const requireFree = Effect.fnUntraced(function*({ dialect, sql }: Database, migrations: Migrations) {
  const names = migrations.steps[0].statements.flatMap((text) =>
    Option.toArray(Option.fromUndefinedOr(/^CREATE (?:TABLE|VIEW|INDEX) (\w+)/.exec(text)?.[1]))
  )
  const [taken] = yield* sql<Row>`SELECT name FROM (${dialect.namesHere}) AS here WHERE ${
    sql.in("name", names)
  } ORDER BY name`
  if (taken !== undefined) return yield* otherSchema(migrations, 0, "foreign", String(taken["name"]))
})

/** Runs the migrations that are missing, in one transaction. A newer schema is left as it is. */
export const migrate = Effect.fnUntraced(function*(database: Database, migrations: Migrations) {
  if ((yield* retried(versionOf(database, migrations))) >= newest(migrations)) return
  const { dialect, sql } = database
  const run = (text: string) => sql.unsafe(text).unprepared
  yield* transact(
    database,
    Effect.gen(function*() {
      yield* Effect.forEach(dialect.lock(migrations.lock), run, { discard: true })
      const version = yield* versionOf(database, migrations)
      if (version === 0) yield* requireFree(database, migrations)
      for (const step of migrations.steps.filter(({ id }) => id > version)) {
        yield* Effect.forEach(statementsOf(migrations, step), run, { discard: true }).pipe(
          Effect.mapError((error) => isTransient(error) ? error : migrationFailed(migrations, step, error))
        )
      }
    })
  )
})

/**
 * Which schemas will do beside that of this release. `newer`: for what reads columns that no migration changes. `none`: for
 * what writes, or reads what a later release may have written in a way that this one would take for something else. `any`: for
 * what runs the migrations.
 */
export type AllowedSchemas = "newer" | "none" | "any"

/** Fails if the schema will not do. One of a time before the first publication never does. */
export const verify = Effect.fnUntraced(function*(
  database: Database,
  migrations: Migrations,
  allowed: AllowedSchemas = "newer"
) {
  const version = yield* retried(versionOf(database, migrations))
  const needed = newest(migrations)
  if (version < needed && allowed !== "any") return yield* otherSchema(migrations, version, "older")
  if (version > needed && allowed === "none") return yield* otherSchema(migrations, version, "later")
})

const migrationFailed = ({ title }: Migrations, { id, name }: Migration, error: SqlError) =>
  new MigrationError({
    kind: "Failed",
    cause: error,
    message: `migration ${id}_${name} of ${title} failed: ${messageOf(error)}`
  })
