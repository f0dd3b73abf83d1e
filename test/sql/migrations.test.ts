/** The migrations of a copy: the text of each is published, and a copy of an older release loses nothing. */
import { assert, describe, expect, it } from "@effect/vitest"
import { DateTime, Effect, Layer, Option, Result } from "effect"
import { SqlClient } from "effect/sql"
import type { Row } from "effect/sql/SqlConnection"
import { SqlStore } from "../../src/sql/index.ts"
import { checkpointText } from "../../src/sync/Checkpoint.ts"
import { at } from "../support/arbitraryPunch.ts"
import { databases, itWithTable } from "../support/databases.ts"
import { checkpointAt } from "../support/storeBatches.ts"

describe("the migrations that were published", () => {
  it("have the text that they were published with", async () => {
    const texts = (["sqlite", "pg"] as const).map((dialect) => {
      const statements = Result.getOrThrow(SqlStore.migrations().ddl(dialect))
      return [`-- ${dialect}`, ...statements.map((text) => `${text};`)].join("\n\n")
    })

    await expect(`${texts.join("\n\n")}\n`).toMatchFileSnapshot("migrations.sql")
  })
})

describe.each(databases())("a copy of an older schema, in $name", (database) => {
  const { client, dialect } = database
  const test = itWithTable(database, "older", (table) =>
    Effect.gen(function*() {
      const context = yield* Layer.build(client)
      const run = <A, E>(self: Effect.Effect<A, E, SqlClient.SqlClient>) => Effect.provideContext(self, context)
      const query = (text: string) =>
        run(Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe<Row>(text).unprepared))
      const all = Result.getOrThrow(SqlStore.migrations(table).ddl(dialect))
      const second = all.findIndex((text) => text.includes("(2, 'tables')"))
      for (const text of all.slice(0, second + 1)) yield* query(text)
      const migrate = run(Effect.scoped(Layer.build(SqlStore.layer({ table }))))
      const versions = Effect.map(
        query(`SELECT migration_id FROM ${table}_migrations ORDER BY 1`),
        (rows) => rows.map(({ migration_id }) => Number(migration_id))
      )
      return { table, query, migrate, versions }
    }))

  test("is changed by what follows 2, if it has that as 1 and 2, of before releases", (opened) =>
    Effect.gen(function*() {
      const { migrate, query, table, versions } = opened
      yield* query(`INSERT INTO ${table}_migrations (migration_id, name) VALUES (1, 'as it was')`)

      yield* migrate

      assert.deepStrictEqual(yield* versions, [1, 2, 3, 4, 5, 6, 7, 8])
    }))

  test("is refused, and stays as it is, with the migration 1 of before releases alone", (opened) =>
    Effect.gen(function*() {
      const { migrate, query, table, versions } = opened
      yield* query(`UPDATE ${table}_migrations SET migration_id = 1`)

      const error = yield* Effect.flip(migrate)

      assert.strictEqual(error._tag, "MigrationError")
      assert.include(error.message, "2_tables")
      assert.deepStrictEqual(yield* versions, [1])
    }))

  test("[Y78] is known since its last commit if a pass was completed, and keeps all it has", (opened) =>
    Effect.gen(function*() {
      const { migrate, query, table } = opened
      const [since, last] = [0, 5].map((seconds) =>
        dialect === "pg" ? `timestamptz '${iso(seconds)}'` : millis(seconds)
      )
      const checkpoints = [
        checkpointText({ ...checkpointAt(1), completedAt: Option.some(at(1)) }),
        // Whose cursor quotes what a completed one has.
        checkpointText({ ...checkpointAt(1), writer: `"completedAt":"2026"` })
      ]
      const rows: ReadonlyArray<readonly [company: number, checkpoint: string, since: unknown, last: unknown]> = [
        [1, `'${checkpoints[0]}'`, since, last],
        [2, `'${checkpoints[1]}'`, since, last],
        [3, `'${checkpoints[0]}'`, "NULL", "NULL"],
        [4, "NULL", since, last]
      ]
      for (const row of rows) {
        yield* query(
          `INSERT INTO ${table}_sync (company_id, checkpoint, history_since, history_last) VALUES (${row.join(", ")})`
        )
      }

      yield* migrate

      const found = yield* query(
        `SELECT company_id, known_since = history_last AS is_last FROM ${table}_sync ORDER BY 1`
      )
      assert.deepStrictEqual(
        found.map(({ company_id, is_last }) => [Number(company_id), is_last === null ? null : Boolean(is_last)]),
        [[1, true], [2, null], [3, null], [4, null]]
      )
      assert.lengthOf(yield* query(`SELECT 1 FROM ${table}_sync WHERE history_since IS NOT NULL`), 3)
    }))

  test("keeps its rows, versions and marks, and keeps versions of what is marked later", (opened) =>
    Effect.gen(function*() {
      const { migrate, query, table } = opened
      const instant = (seconds: number) => dialect === "pg" ? `timestamptz '${iso(seconds)}'` : `${millis(seconds)}`
      const isFalse = dialect === "pg" ? "false" : "0"
      const insert = (id: number, mark: string, validFrom: string) =>
        query(
          `INSERT INTO ${table} (company_id, id, user_id, role_id, location_id, clocked_in, hourly_wage, tips, approved,
            editable_punch, auto_clocked_out, clocked_in_offline, clocked_out_offline, notes, deleted, breaks, pass, gone_at,
            valid_from)
          VALUES (7, ${id}, 1, 1, 1, ${instant(0)}, 1500, 0, ${isFalse}, ${isFalse}, ${isFalse}, ${isFalse}, ${isFalse},
            'note ${id}', ${isFalse}, '[]', 1, ${mark}, ${validFrom})`
        )
      yield* insert(1, "NULL", "NULL")
      yield* insert(2, instant(5), instant(5))
      // The version with the mark goes to the history.
      yield* query(`UPDATE ${table} SET gone_at = NULL, valid_from = ${instant(9)} WHERE id = 2`)
      yield* insert(3, instant(5), instant(5))

      yield* migrate

      const marks = (from: string, order: string) =>
        Effect.map(
          query(`SELECT id, notes, missing_at = ${instant(5)} AS is_marked FROM ${from} ORDER BY ${order}`),
          (rows) => rows.map(({ id, is_marked, notes }) => [Number(id), notes, Boolean(is_marked)])
        )
      assert.deepStrictEqual(yield* marks(table, "id"), [[1, "note 1", false], [2, "note 2", false], [
        3,
        "note 3",
        true
      ]])
      assert.deepStrictEqual(yield* marks(`${table}_history`, "id"), [[2, "note 2", true]])
      assert.deepStrictEqual(
        (yield* query(`SELECT id FROM ${table}_current ORDER BY id`)).map(({ id }) => Number(id)),
        [1, 2]
      )

      yield* query(`UPDATE ${table} SET missing_at = ${instant(5)}, valid_from = ${instant(20)} WHERE id = 2`)
      yield* query(`UPDATE ${table} SET missing_at = NULL, valid_from = ${instant(30)} WHERE id = 2`)
      assert.deepStrictEqual(
        yield* marks(`${table}_history`, "valid_to"),
        [[2, "note 2", true], [2, "note 2", false], [2, "note 2", true]]
      )
    }))
})

const millis = (seconds: number) => at(seconds).epochMilliseconds
const iso = (seconds: number) => DateTime.formatIso(at(seconds))
