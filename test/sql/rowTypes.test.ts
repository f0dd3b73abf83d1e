/** The types of rows that a program gives to a query builder name the columns that the databases have. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { expectTypeOf } from "vitest"
import { DepartmentId, ShiftId, TimePunchId } from "../../src/Ids.ts"
import type { PostgresTables, SqliteTables } from "../../src/sql/rowTypes.ts"
import { at, punch, rest } from "../support/arbitraryPunch.ts"
import { databases, itWithDatabase } from "../support/databases.ts"
import { batchOf } from "../support/storeBatches.ts"
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

/** The type of each column by the name of `kindOf`, and whether it may be null. */
type Kinds<Row> = {
  readonly [Name in keyof Row]: readonly [
    NonNullable<Row[Name]> extends number ? "number"
      : NonNullable<Row[Name]> extends string ? "string"
      : NonNullable<Row[Name]> extends boolean ? "boolean"
      : NonNullable<Row[Name]> extends Date ? "date"
      : "array",
    null extends Row[Name] ? "null" : "value"
  ]
}

interface ViewKinds<Tables extends SqliteTables | PostgresTables> {
  readonly current: Kinds<Tables["time_punches_current"]>
  readonly breaks: Kinds<Tables["time_punches_breaks"]>
}

const viewKinds = <
  const Id extends string,
  const Time extends string,
  const Flag extends string,
  const Amount extends string,
  const Json extends string
>(
  [id, time, flag, amount, json]: readonly [Id, Time, Flag, Amount, Json]
) => ({
  current: {
    company_id: [id, "value"],
    id: [id, "value"],
    user_id: [id, "value"],
    role_id: [id, "value"],
    location_id: [id, "value"],
    department_id: [id, "null"],
    shift_id: [id, "null"],
    clocked_in: [time, "value"],
    clocked_out: [time, "null"],
    hourly_wage: [amount, "value"],
    tips: [amount, "value"],
    approved: [flag, "value"],
    editable_punch: [flag, "value"],
    auto_clocked_out: [flag, "value"],
    clocked_in_offline: [flag, "value"],
    clocked_out_offline: [flag, "value"],
    pos_type: ["string", "null"],
    notes: ["string", "value"],
    created: [time, "null"],
    modified: [time, "null"],
    breaks: [json, "value"],
    hours_worked: ["number", "null"]
  },
  breaks: {
    company_id: [id, "value"],
    time_punch_id: [id, "value"],
    place: [id, "value"],
    id: [id, "value"],
    user_id: [id, "value"],
    custom_break_id: [id, "value"],
    paid: [flag, "value"],
    break_in: [time, "value"],
    break_out: [time, "null"]
  }
} as const)

/** The compiler holds them to the types, and the test to the views. */
const sqliteViews: ViewKinds<SqliteTables> = viewKinds(["number", "string", "number", "number", "string"])
const postgresViews: ViewKinds<PostgresTables> = viewKinds(["string", "date", "boolean", "string", "array"])

/** What `pg` returns by default for a type of a column. */
const kindOfType: Readonly<Record<string, string>> = {
  bigint: "string",
  numeric: "string",
  "double precision": "number",
  "timestamp with time zone": "date",
  boolean: "boolean",
  text: "string",
  jsonb: "array"
}

/** A punch with a value in each column, and one with as few as a punch may have; each break likewise. */
const fullAndSparse = [
  punch({
    id: TimePunchId.make(1),
    departmentId: Option.some(DepartmentId.make(3)),
    shiftId: Option.some(ShiftId.make(4)),
    posType: Option.some("till"),
    modified: Option.some(at(0)),
    breaks: [rest({ in: 60, out: 120, paid: true }), rest({ in: 180, out: null, paid: false })]
  }),
  punch({
    id: TimePunchId.make(2),
    shiftId: Option.none(),
    clockedOut: Option.none(),
    posType: Option.none(),
    created: Option.none(),
    modified: Option.none()
  })
]

describe.each(databases())("the types of rows, in $name", (database) => {
  const test = itWithDatabase(database, (client) =>
    Effect.gen(function*() {
      const context = yield* Layer.build(client)
      const { store } = yield* openSql(Layer.succeedContext(context))
      return { store, sql: yield* Effect.provideContext(SqlClient.SqlClient, context) }
    }))

  test("have the columns of the views, with what the driver returns", ({ sql, store }) =>
    Effect.gen(function*() {
      yield* store.commit(batchOf(1, { punches: fullAndSparse }), Option.none())
      const kindsOf = Effect.fnUntraced(function*(name: string): Effect.fn.Return<unknown, SqlError.SqlError> {
        const rows = yield* sql`SELECT * FROM ${sql(name)}`
        const types = database.dialect === "sqlite" ? [] : yield* sql<
          { name: string; type: string }
        >`SELECT column_name AS name, data_type AS type FROM information_schema.columns WHERE table_schema = current_schema() AND table_name = ${name}`
        const kindOf = (column: string) =>
          database.dialect === "sqlite"
            ? [
              ...new Set(rows.map((row) => row[column]).filter((value) => value !== null).map((value) => typeof value))
            ]
              .join(" or ")
            : kindOfType[types.find(({ name }) => name === column)?.type ?? ""]
        return Object.fromEntries(
          Object.keys(rows[0] ?? {}).map((column) => [
            column,
            [kindOf(column), rows.some((row) => row[column] === null) ? "null" : "value"]
          ])
        )
      })
      const views = database.dialect === "sqlite" ? sqliteViews : postgresViews

      assert.deepStrictEqual(yield* kindsOf(`time_punches_current`), views.current)
      assert.deepStrictEqual(yield* kindsOf(`time_punches_breaks`), views.breaks)
    }))

  test("have the columns of the tables", ({ sql }) =>
    Effect.gen(function*() {
      const columnsOf = Effect.fnUntraced(function*(name: string) {
        const found = database.dialect === "sqlite"
          ? yield* sql<
            { name: string; nulls: number }
          >`SELECT name, "notnull" = 0 AS nulls FROM pragma_table_info(${name})`
          : yield* sql<{ name: string; nulls: boolean }>`SELECT column_name AS name, is_nullable = 'YES' AS nulls
            FROM information_schema.columns WHERE table_schema = current_schema() AND table_name = ${name}`
        return Object.fromEntries(found.map(({ name, nulls }) => [name, nulls ? "null" : "value"]))
      })

      assert.deepStrictEqual(yield* columnsOf("time_punches"), row)
      assert.deepStrictEqual(yield* columnsOf(`time_punches_history`), version)
    }))
})

it("are what the drivers return", () => {
  expectTypeOf<SqliteTables["time_punches"]["clocked_out"]>().toEqualTypeOf<number | null>()
  expectTypeOf<SqliteTables["time_punches"]["approved"]>().toEqualTypeOf<number>()
  expectTypeOf<PostgresTables["time_punches"]["clocked_out"]>().toEqualTypeOf<Date | null>()
  expectTypeOf<PostgresTables["time_punches"]["id"]>().toEqualTypeOf<string>()
})
