/** The types of rows that a program gives to a query builder name the columns that the databases have. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { expectTypeOf } from "vitest"
import type { PostgresTables, SqliteTables } from "../../src/sql/rowTypes.ts"
import { databases, itWithTable } from "../support/databases.ts"
import { openSql } from "../support/stores.ts"

type Nulls<Row> = { readonly [Name in keyof Row]: null extends Row[Name] ? "null" : "value" }

/** The compiler holds it to the types of both databases, and the test to their tables. */
const row: Nulls<SqliteTables["time_punches"]> & Nulls<PostgresTables["time_punches"]> = {
  company_id: "value",
  id: "value",
  user_id: "value",
  role_id: "value",
  location_id: "value",
  department_id: "null",
  shift_id: "null",
  clocked_in: "value",
  clocked_out: "null",
  hourly_wage: "value",
  tips: "value",
  approved: "value",
  editable_punch: "value",
  auto_clocked_out: "value",
  clocked_in_offline: "value",
  clocked_out_offline: "value",
  pos_type: "null",
  notes: "value",
  created: "null",
  modified: "null",
  deleted: "value",
  breaks: "value",
  pass: "value",
  missing_at: "null",
  valid_from: "null"
}

const version: Nulls<SqliteTables["time_punches_history"]> & Nulls<PostgresTables["time_punches_history"]> = {
  ...row,
  valid_to: "value"
}

describe.each(databases())("the types of rows, in $name", (database) => {
  const test = itWithTable(database, "row_types", (table) =>
    Effect.gen(function*() {
      const context = yield* Layer.build(database.client)
      yield* openSql(Layer.succeedContext(context), { table })
      return { table, sql: yield* Effect.provideContext(SqlClient.SqlClient, context) }
    }))

  test("have the columns of the tables", ({ sql, table }) =>
    Effect.gen(function*() {
      const columnsOf = Effect.fnUntraced(function*(name: string) {
        const found = database.dialect === "sqlite"
          ? yield* sql<
            { name: string; nulls: number }
          >`SELECT name, "notnull" = 0 AS nulls FROM pragma_table_info(${name})`
          : yield* sql<{ name: string; nulls: boolean }>`SELECT column_name AS name, is_nullable = 'YES' AS nulls
            FROM information_schema.columns WHERE table_name = ${name}`
        return Object.fromEntries(found.map(({ name, nulls }) => [name, nulls ? "null" : "value"]))
      })

      assert.deepStrictEqual(yield* columnsOf(table), row)
      assert.deepStrictEqual(yield* columnsOf(`${table}_history`), version)
    }))
})

it("are what the drivers return", () => {
  expectTypeOf<SqliteTables["time_punches"]["clocked_out"]>().toEqualTypeOf<number | null>()
  expectTypeOf<SqliteTables["time_punches"]["approved"]>().toEqualTypeOf<number>()
  expectTypeOf<PostgresTables["time_punches"]["clocked_out"]>().toEqualTypeOf<Date | null>()
  expectTypeOf<PostgresTables["time_punches"]["id"]>().toEqualTypeOf<string>()
})
