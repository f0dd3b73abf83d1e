/** The migrations of a copy: the text of each, and a copy of a schema that is older than the first publication. */
import { assert, describe, expect, it } from "@effect/vitest"
import { DateTime, Effect, Layer, Stream } from "effect"
import { Migrator, SqlClient } from "effect/sql"
import type { Row } from "effect/sql/SqlConnection"
import { Close } from "../../src/close/index.ts"
import { CompanyId } from "../../src/Ids.ts"
import { PunchCopy, SqlStore } from "../../src/sql/index.ts"
import { databases, itWithDatabase } from "../support/databases.ts"

describe("the migrations", () => {
  it("have these texts", async () => {
    const texts = (["sqlite", "pg"] as const).map((dialect) => {
      const statements = SqlStore.migrations.ddl(dialect)
      return [`-- ${dialect}`, ...statements.map((text) => `${text};`)].join("\n\n")
    })

    await expect(`${texts.join("\n\n")}\n`).toMatchFileSnapshot("migrations.sql")
  })
})

/** The message about a copy of an older schema, everywhere. */
const refusal = "made before the first publication: sync into a new file or database"

describe.each(databases())("a copy of an older schema, in $name", (database) => {
  const { dialect } = database
  const test = itWithDatabase(database, (client) =>
    Effect.gen(function*() {
      const context = yield* Layer.build(client)
      const run = <A, E>(self: Effect.Effect<A, E, SqlClient.SqlClient>) => Effect.provideContext(self, context)
      const query = (text: string) =>
        run(Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe<Row>(text).unprepared))
      yield* run(Effect.scoped(Layer.build(SqlStore.layer())))
      const at = dialect === "pg" ? "timestamptz '2026-03-02T14:00:00Z'" : "1772460000000"
      const no = dialect === "pg" ? "false" : "0"
      yield* query(
        `INSERT INTO time_punches (company_id, id, user_id, role_id, location_id, clocked_in, hourly_wage, tips, approved,
          editable_punch, auto_clocked_out, clocked_in_offline, clocked_out_offline, notes, deleted, breaks, pass)
        VALUES (7, 1, 1, 1, 1, ${at}, 1500, 0, ${no}, ${no}, ${no}, ${no}, ${no}, 'note', ${no}, '[]', 1)`
      )
      const kept = Effect.all([
        query(`SELECT migration_id, name FROM time_punches_migrations ORDER BY 1`),
        query(`SELECT * FROM time_punches`)
      ])
      return { run, query, kept }
    }))

  test("is refused by the store, a Migrator and each reader, and stays as it is", ({ kept, query, run }) =>
    Effect.gen(function*() {
      const id = CompanyId.make(7)
      const calls: Readonly<Record<string, Effect.Effect<unknown, { readonly message: string }, SqlClient.SqlClient>>> =
        {
          "layer": Effect.scoped(Layer.build(SqlStore.layer())),
          "layer with history": Effect.scoped(Layer.build(SqlStore.layer({ history: true }))),
          "layer without migrate": Effect.scoped(Layer.build(SqlStore.layer({ migrate: false }))),
          "migrations": Migrator.make({})(SqlStore.migrations),
          "status": PunchCopy.status(id),
          "list": Stream.runCollect(PunchCopy.list(id, {})),
          "feed": Stream.runCollect(PunchCopy.feed(id)),
          "feedPosition": PunchCopy.feedPosition(id),
          "pruneHistory": PunchCopy.pruneHistory(id, { before: DateTime.makeUnsafe(0) }),
          "recordError": PunchCopy.recordError(id, { _tag: "Any", message: "any" }),
          "purge": PunchCopy.purge(id),
          "Close.list": Close.list(id),
          "Close.due": Close.due(id, {})
        }
      for (let version = 9; version >= 1; version--) {
        yield* query(`UPDATE time_punches_migrations SET migration_id = ${version}`)
        const before = yield* kept
        for (const [name, call] of Object.entries(calls)) {
          const { message } = yield* Effect.flip(run(call))
          assert.include(
            message,
            `"time_punches" has schema ${version}, ${refusal}`,
            name
          )
        }
        assert.deepStrictEqual(yield* kept, before)
      }
    }))
})
