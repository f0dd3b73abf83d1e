/** What a store keeps of any punch, and what the views say of it: SQLite and PostgreSQL beside `WorkedTime`. */
import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, DateTime, Duration, Effect, Layer, Option, Record } from "effect"
import { SqlClient } from "effect/sql"
import { Cents, ShiftId, TimePunchId, UserId } from "../../src/Ids.ts"
import * as WorkedTime from "../../src/payroll/WorkedTime.ts"
import type { TimePunch } from "../../src/TimePunch.ts"
import { punch, Sample } from "../support/arbitraryPunch.ts"
import { databases } from "../support/databases.ts"
import { needs } from "../support/needs.ts"
import { noPostgres } from "../support/postgres.ts"
import { PunchPair } from "../support/punchPair.ts"
import { batchOf, company } from "../support/storeBatches.ts"
import { openSql } from "../support/stores.ts"

/** The punch as a store has it. */
const stored = (punch: TimePunch) => {
  const text = (value: string) => value.replace(/[\0\p{Surrogate}]/gu, "\uFFFD")
  const kept = (value: unknown): unknown =>
    typeof value === "string" ? text(value) : Option.isOption(value) ? Option.map(value, kept) : value
  return { ...Record.map(punch, kept), companyId: company }
}

/** With ids in their order, so that none comes twice. */
const numbered = (punches: ReadonlyArray<TimePunch>) =>
  punches.map((each, at) => ({ ...each, id: TimePunchId.make(at + 1), companyId: company }))

describe.each(databases())("in $name", ({ client, dialect, isHere, name }) => {
  /** A boolean as the driver returns it. */
  const booleans = (value: unknown) => dialect === "pg" ? value : value === 1
  const open = openSql(client)

  /** The rows of a view of the tables that hold these punches. */
  const viewOf = (view: string, punches: ReadonlyArray<TimePunch>) =>
    Effect.gen(function*() {
      const context = yield* Layer.build(client)
      const { store } = yield* openSql(Layer.succeedContext(context))
      yield* store.commit(batchOf(1, { punches }), Option.none())
      const sql = yield* Effect.provideContext(SqlClient.SqlClient, context)
      return yield* sql.unsafe<{ readonly [column: string]: unknown }>(
        `SELECT * FROM time_punches${view} ORDER BY 1, 2, 3`
      )
    })

  const roundTrip = Effect.fnUntraced(function*(punches: ReadonlyArray<TimePunch>) {
    const { rows, store } = yield* open
    const done = yield* store.commit(batchOf(1, { punches }), Option.none())
    return { found: (yield* rows(company)).map(({ punch }) => punch), done, store }
  })

  it.live.prop("reads back what it stored, and finds it equal", [Arbitrary.array(PunchPair, { maxLength: 8 })], (
    [pairs],
    context
  ) => {
    needs(context, isHere, noPostgres)
    const punches = numbered(pairs.map(({ domain }) => domain))
    return Effect.scoped(Effect.gen(function*() {
      const { found, store } = yield* roundTrip(punches)
      assert.deepStrictEqual<unknown>(found, punches.map(stored))

      const again = yield* store.commit(batchOf(2, { punches }), Option.some(batchOf(1).checkpoint))
      assert.deepStrictEqual([again.written, again.unchanged], [0, punches.length])
    }))
  }, { arbitrary: { runs: 40 } })

  const extremes: ReadonlyArray<readonly [string, Partial<TimePunch>]> = [
    ["U+0000", { notes: "a\0b", posType: Option.some("\0") }],
    ["lone surrogates", { notes: "\uD800a\uDC00 \u{1F9D1}", posType: Option.some("\uDBFF") }],
    ["quotes, braces, NULL and back slashes", { notes: `{"a\\b",'NULL'},NULL`, posType: Option.some("NULL") }],
    ["the empty text", { notes: "", posType: Option.some("") }],
    ["the first instant of year 1", { clockedIn: DateTime.makeUnsafe("0001-01-01T00:00:00.001Z") }],
    ["the last instant of year 9999", { clockedIn: DateTime.makeUnsafe("9999-12-31T23:59:59.999Z") }],
    ["an instant before 1970", { modified: Option.some(DateTime.makeUnsafe(-1)) }],
    ["ids above 2^31", { userId: UserId.make(2 ** 31 + 1), shiftId: Option.some(ShiftId.make(2 ** 53 - 1)) }],
    ["the largest amounts", { hourlyWage: Cents.make(2 ** 53 - 1), tips: Cents.make(1 - 2 ** 53) }]
  ]

  it.live.each(extremes)("keeps %s", ([, changes], context) => {
    needs(context, isHere, noPostgres)
    return Effect.scoped(Effect.gen(function*() {
      const punches = [punch({ ...changes, id: TimePunchId.make(2 ** 53 - 1) })]

      assert.deepStrictEqual<unknown>((yield* roundTrip(punches)).found, punches.map(stored))
    }))
  })

  it.live("keeps a zero with a sign as zero", (context) => {
    needs(context, isHere, noPostgres)
    return Effect.scoped(Effect.gen(function*() {
      const { found } = yield* roundTrip([punch({ tips: Cents.make(-0) })])

      assert.deepStrictEqual(found, [punch({ tips: Cents.make(0) })])
    }))
  })

  it.live("keeps rows whose optional columns are all NULL", (context) => {
    needs(context, isHere, noPostgres)
    const none = Option.none()
    const empty = { shiftId: none, departmentId: none, clockedOut: none, posType: none, created: none, modified: none }
    return Effect.scoped(Effect.gen(function*() {
      const punches = numbered([punch(empty), punch(empty)])

      assert.deepStrictEqual((yield* roundTrip(punches)).found, punches)
    }))
  })

  it.live("takes instants outside of the years 1 to 9999", (context) => {
    needs(context, isHere, noPostgres)
    const years = ["-000044-03-15T12:00:00.001Z", "0000-12-31T23:59:59.999Z", "+010000-01-01T00:00:00.000Z"]
    return Effect.scoped(Effect.gen(function*() {
      const { store } = yield* open
      const punches = numbered(years.map((year) => punch({ clockedIn: DateTime.makeUnsafe(year) })))
      yield* store.commit(batchOf(1, { punches }), Option.none())
      const again = yield* store.commit(batchOf(2, { punches }), Option.some(batchOf(1).checkpoint))

      assert.deepStrictEqual([again.written, again.unchanged], [0, 3])
    }))
  })

  /** Fails unless the view shows the hours that WorkedTime counts. */
  const assertHours = (punches: ReadonlyArray<TimePunch>) =>
    Effect.gen(function*() {
      const found = yield* viewOf("_current", punches)

      assert.deepStrictEqual(
        found.map(({ hours_worked }) => hours_worked),
        punches.map((punch) =>
          Option.match(WorkedTime.measure(punch).durations, {
            onNone: () => null,
            onSome: ({ net }) => Duration.toMillis(net) / 3_600_000
          })
        )
      )
    }).pipe(Effect.scoped)

  it.live.prop("shows the hours that WorkedTime counts", [Arbitrary.array(Sample, { maxLength: 12 })], (
    [samples],
    context
  ) => {
    needs(context, isHere, noPostgres)
    return assertHours(numbered(samples.map(({ punch }) => ({ ...punch, deleted: false }))))
  }, { arbitrary: { runs: 80 } })

  it.live.prop("shows the hours of punches of any year", [Arbitrary.array(PunchPair, { maxLength: 6 })], (
    [pairs],
    context
  ) => {
    needs(context, isHere, noPostgres)
    return assertHours(numbered(pairs.map(({ domain }) => ({ ...domain, deleted: false }))))
  }, { arbitrary: { runs: 40 } })

  it.live("shows wages in units and instants as ISO texts or as instants", (context) => {
    needs(context, isHere, noPostgres)
    const one = punch({ clockedIn: DateTime.makeUnsafe("1969-12-31T23:59:59.001Z"), tips: Cents.make(-5) })
    return Effect.scoped(Effect.gen(function*() {
      const [row] = yield* viewOf("_current", [one, punch({ id: TimePunchId.make(2), deleted: true })])

      assert.deepStrictEqual([Number(row?.["hourly_wage"]), Number(row?.["tips"])], [15.5, -0.05])
      const at = row?.["clocked_in"]
      assert.strictEqual(at instanceof Date ? at.toISOString() : at, "1969-12-31T23:59:59.001Z")
      assert.strictEqual(booleans(row?.["approved"]), true, name)
      assert.notProperty(row, "deleted")
    }))
  })

  it.live.prop("shows each break that is not deleted, with its place among all", [
    Arbitrary.array(PunchPair, { maxLength: 4 })
  ], ([pairs], context) => {
    needs(context, isHere, noPostgres)
    const punches = numbered(pairs.map(({ domain }) => ({ ...domain, deleted: false })))
    return Effect.scoped(Effect.gen(function*() {
      const found = yield* viewOf("_breaks", punches)
      const iso = (value: unknown) => value instanceof Date ? value.toISOString() : value

      assert.deepStrictEqual(
        found.map((row) => [
          Number(row["time_punch_id"]),
          Number(row["place"]),
          Number(row["id"]),
          Number(row["user_id"]),
          Number(row["custom_break_id"]),
          booleans(row["paid"]),
          iso(row["break_in"]),
          iso(row["break_out"])
        ]),
        punches.flatMap(({ breaks, id }) =>
          breaks.flatMap((each, at) =>
            each.deleted ? [] : [[
              id,
              at + 1,
              each.id,
              each.userId,
              each.customBreakId,
              each.paid,
              DateTime.formatIso(each.in),
              Option.getOrNull(Option.map(each.out, DateTime.formatIso))
            ]]
          )
        )
      )
    }))
  }, { arbitrary: { runs: 40 } })
})
