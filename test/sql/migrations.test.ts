/** The migrations of a copy: the text of each is published, and a copy of an older release loses nothing. */
import { assert, describe, expect, it } from "@effect/vitest"
import { Effect, Layer, Result } from "effect"
import { SqlClient } from "effect/sql"
import { SqlStore } from "../../src/sql/index.ts"
import { databases, itWithTable } from "../support/databases.ts"

describe("the migrations that were published", () => {
  it("have the text that they were published with", async () => {
    const texts = (["sqlite", "pg"] as const).map((dialect) => {
      const statements = Result.getOrThrow(SqlStore.migrations().ddl(dialect))
      return [`-- ${dialect}`, ...statements.map((text) => `${text};`)].join("\n\n")
    })

    await expect(`${texts.join("\n\n")}\n`).toMatchFileSnapshot("migrations.sql")
  })
})

describe.each(databases())("a copy that was made before releases, in $name", (database) => {
  const { client, dialect } = database
  const test = itWithTable(database, "early", (table) =>
    Effect.map(Layer.build(client), (context) => {
      const run = <A, E>(self: Effect.Effect<A, E, SqlClient.SqlClient>) => Effect.provideContext(self, context)
      const query = (text: string) => run(Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe(text)))
      return { table, query, build: run(Effect.scoped(Layer.build(SqlStore.layer({ table })))) }
    }))

  /** The tables of the migrations 1 and 2, which later became one with the number 2. */
  const create = Effect.fnUntraced(function*(
    table: string,
    query: (text: string) => Effect.Effect<unknown, unknown>,
    versions: ReadonlyArray<number>
  ) {
    for (const text of Result.getOrThrow(SqlStore.migrations(table).ddl(dialect))) yield* query(text)
    yield* query(`DELETE FROM ${table}_migrations`)
    for (const version of versions) {
      yield* query(`INSERT INTO ${table}_migrations (migration_id, name) VALUES (${version}, 'as it was')`)
    }
  })

  test("is current with the migrations 1 and 2", ({ build, query, table }) =>
    Effect.gen(function*() {
      yield* create(table, query, [1, 2])

      yield* build

      assert.lengthOf(yield* query(`SELECT * FROM ${table}_migrations`), 2)
    }))

  test("is refused, and stays as it is, with the migration 1 alone", ({ build, query, table }) =>
    Effect.gen(function*() {
      yield* create(table, query, [1])

      const error = yield* Effect.flip(build)

      assert.strictEqual(error._tag, "MigrationError")
      assert.include(error.message, "2_tables")
      assert.lengthOf(yield* query(`SELECT * FROM ${table}_migrations`), 1)
    }))
})
