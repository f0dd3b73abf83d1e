import { assert, describe, it } from "@effect/vitest"
import { addMarks } from "../../../src/internal/wire/mark.ts"
import { unreadOf } from "../../../src/internal/wire/unknown.ts"
import { servicePunch } from "../../support/wire.ts"

const rest = (given: object = {}) => ({
  id: 1,
  user_id: 1,
  custom_break_id: 0,
  paid: false,
  in: "2026-03-02T15:00:00Z",
  out: null,
  deleted: false,
  ...given
})

const page = (...rows: ReadonlyArray<object>) => ({ object: "time_punches", data: rows, meta: {} })

const row = (id: number, given: object = {}) => ({ ...servicePunch({ id }), ...given })

const without = (object: object, ...keys: ReadonlyArray<string>) =>
  Object.fromEntries(Object.entries(object).filter(([key]) => !keys.includes(key)))

const marksOf = (json: unknown) => unreadOf(json).marks

const told = (json: unknown) => marksOf(json).map(({ count, path, punchId }) => `${path} ${punchId} ${count}`)

describe("the marks of a page", () => {
  it.each([
    ["voided", true],
    ["is_voided", 1],
    ["voided_at", "2026-03-02T15:00:00Z"],
    ["is_canceled", "yes"],
    ["cancelled_by", 7],
    ["rejected_on", "2026-03-02"],
    ["deleted_at", "2026-03-02"],
    ["isRemoved", true],
    ["archivedAt", {}],
    ["DRAFT", true],
    ["hidden", []],
    ["_deleted", "1"],
    ["was_deleted", "true"],
    ["has_been_removed", true],
    ["softDeleted", true],
    ["deleted_by_user_id", 7],
    ["deletedAtUtc", "2026-03-02"],
    ["date_voided", "2026-03-02"],
    ["deletion_date", "2026-03-02"],
    ["duplicate_of", 3],
    ["voidedTimestamp", 1],
    ["deleted-flag", "Y"],
    ["isdeleted", 1],
    ["status", "Deleted"],
    ["breakState", "voided"]
  ])("have %s with %j, which takes away by its name", (key, value) => {
    assert.deepStrictEqual(told(page(row(1), row(2, { [key]: value }))), [`data[].${key} 2 1`])
    assert.deepStrictEqual(told(page(row(3, { breaks: [rest(), rest({ [key]: value })] }))), [
      `data[].breaks[].${key} 3 1`
    ])
    // A key that the row lacks does not hide another one.
    for (const missing of ["shift_id", "department_id", "pos_type", "breaks", "deleted"]) {
      assert.deepStrictEqual(told(page(without(row(4, { [key]: value }), missing))), [`data[].${key} 4 1`], missing)
    }
    assert.deepStrictEqual(
      told(page(row(5, { breaks: [without(rest({ [key]: value }), "deleted")] }))),
      [`data[].breaks[].${key} 5 1`]
    )
  })

  it.each([
    ["voided", null],
    ["voided", false],
    ["voided", 0],
    ["voided", ""],
    ["paid_out", true],
    ["tested_hours", 3],
    ["avoided", true],
    ["void_reason", "none"],
    ["latest", true],
    ["is_deleted", "0"],
    ["is_deleted", "False"],
    ["archived", "f"],
    ["archived", " N "],
    ["deleted_by", "none"],
    ["test_score", 5],
    ["hidden_notes", "x"],
    ["draft_id", 3],
    ["deleted_at", "0000-00-00 00:00:00"],
    ["deleted_breaks", 1],
    ["test_id", 4],
    ["status", "approved"],
    ["state", 1],
    ["comment", "deleted"],
    ["state", { deleted: false, by: { id: 3 } }],
    ["a", { b: { c: { d: { deleted: true } } } }],
    ["tags", ["deleted"]],
    ["__proto__", true]
  ])("do not have %s with %j", (key, value) => {
    const given = JSON.parse(`{${JSON.stringify(key)}:${JSON.stringify(value)}}`)

    assert.deepStrictEqual(told(page(row(1, given), row(2, { breaks: [rest(given)] }))), [])
  })

  it("have the path of a key within an object", () => {
    const state = { name: "x", isDeleted: true, of: { voided_at: "now" } }

    assert.deepStrictEqual(
      told(page(row(1, { state }), row(2, { breaks: [rest({ state: { status: "removed" } })] }))),
      [
        "data[].state.isDeleted 1 1",
        "data[].state.of.voided_at 1 1",
        "data[].breaks[].state.status 2 1"
      ]
    )
  })

  it("have none of what is deleted already, and none of a page without rows", () => {
    assert.deepStrictEqual(
      told(page(row(1, { deleted: true, deleted_at: "now", breaks: [rest({ voided: true })] }))),
      []
    )
    assert.deepStrictEqual(told(page(row(1, { breaks: [rest({ deleted: true, deleted_at: "now" })] }))), [])
    for (const json of [null, "data", [], {}, { data: null }, { data: [null, 1, [], "row"] }]) {
      assert.deepStrictEqual(told(json), [])
    }
  })

  it("count each path, with the first punch that has it", () => {
    const first = marksOf(page(row(7, { voided: 1 }), row(5, { voided: 2, draft: true })))
    const all = addMarks(
      first,
      marksOf(page(row(1, { voided: true, breaks: [rest({ voided: 1 }), rest({ voided: 1 })] })))
    )

    assert.deepStrictEqual(all, [
      { path: "data[].voided", punchId: 7, count: 3 },
      { path: "data[].draft", punchId: 5, count: 1 },
      { path: "data[].breaks[].voided", punchId: 1, count: 2 }
    ])
  })

  it("count behind the first twenty paths under one, which a known key does not silence", () => {
    const keys = (ids: ReadonlyArray<number>) => Object.fromEntries(ids.map((id) => [`x${id}`, { voided: true }]))
    const many = Array.from({ length: 21 }, (_, id) => id)
    const marks = marksOf(page(row(6, keys(many)), row(7, keys([20, 21]))))

    assert.lengthOf(marks, 21)
    assert.deepStrictEqual(marks.at(-1), { path: "other paths", punchId: 6, count: 3 })
    const later = marksOf(page(row(8, keys([0, 21, 22]))))
    assert.deepStrictEqual(addMarks(marks, later).at(-1), { path: "other paths", punchId: 6, count: 5 })
  })
})
