/** From the JSON of a page to rows: what the envelope must say, and what one bad row does. */
import { assert, describe, it } from "@effect/vitest"
import { Option, Result } from "effect"
import { CompanyId, Cursor, type ListError } from "../../src/index.ts"
import { type Decode, decodePunches, decodeResults } from "../../src/listing/rows.ts"
import { type Wire, wirePage, wirePunch } from "../support/wire.ts"

const company = CompanyId.make(4021)
const where = {
  companyId: company,
  resumeFrom: Option.none(),
  pagesCompleted: 0,
  attempts: 1,
  requestId: Option.none()
}

/** The error of a page, if it has one. */
const errorOf = <A>(decode: Decode<A>, json: unknown): ListError | undefined =>
  Result.match(decode(json, company), {
    onSuccess: () => undefined,
    onFailure: ({ error }) => error(where, Option.none())
  })

const decoders = [["decodePunches", decodePunches], ["decodeResults", decodeResults]] as const

describe.each(decoders)("%s", (_name, decode: Decode<unknown>) => {
  it("has the rows and the cursors of a page", () => {
    const json = wirePage([wirePunch(), wirePunch({ id: 2 })], { current: "a", prev: "b", next: "c" })
    const { cursor, rows } = Result.getOrThrow(decode(json, company))

    assert.strictEqual(rows.length, 2)
    assert.deepStrictEqual(cursor, {
      current: Option.some(Cursor.make("a")),
      prev: Option.some(Cursor.make("b")),
      next: Option.some(Cursor.make("c")),
      count: Option.some(2)
    })
  })

  const broken: ReadonlyArray<readonly [string, unknown, object]> = [
    ["another object", { ...wirePage([]), object: "users" }, { reason: "WrongObject" }],
    ["another object with other fields", { object: "users", items: [] }, { reason: "WrongObject" }],
    ["more rows than its count", wirePage([wirePunch()], { count: 0 }), { reason: "CountMismatch" }],
    ["fewer rows than its count", wirePage([wirePunch()], { count: 2 }), { reason: "CountMismatch" }],
    ["a row of another company", wirePage([wirePunch(), wirePunch({ company_id: 4022 })]), {
      reason: "WrongCompany",
      path: "data[1].company_id"
    }],
    ["no data", { object: "time_punches", meta: wirePage([])["meta"] }, { reason: "Schema", path: "data" }],
    ["no cursor", { object: "time_punches", data: [], meta: {} }, { reason: "Schema", path: "meta.cursor" }],
    ["no object at all", null, { reason: "Schema", path: "" }]
  ]

  it.each(broken)("fails on %s", (_what, json, expected) => {
    assert.deepInclude(errorOf(decode, json), expected)
  })

  it("judges another object first, then the company of a row, then the count", () => {
    const foreign = wirePage([wirePunch({ company_id: 4022 })], { count: 7 })

    assert.deepInclude(errorOf(decode, { ...foreign, object: "users" }), { reason: "WrongObject" })
    assert.deepInclude(errorOf(decode, foreign), { reason: "WrongCompany" })
  })

  it("takes a null count for none", () => {
    assert.isUndefined(errorOf(decode, wirePage([wirePunch()], { count: null })))
  })
})

describe("a bad row", () => {
  const cases: ReadonlyArray<readonly [string, Wire, Option.Option<number>]> = [
    ["a valid id", { id: 12, notes: 1 }, Option.some(12)],
    ["the largest safe id", { id: Number.MAX_SAFE_INTEGER, notes: 1 }, Option.some(Number.MAX_SAFE_INTEGER)],
    ["an id that JSON has rounded", JSON.parse(`{"id":9007199254740993,"notes":1}`), Option.none()],
    ["an id with a fraction", { id: 1.5, notes: 1 }, Option.none()],
    ["an id that is a text", { id: "12", notes: 1 }, Option.none()]
  ]

  it.each(cases)("fails decodePunches, with its id where that is safe: %s", (_what, changes, punchId) => {
    const error = errorOf(decodePunches, wirePage([wirePunch(), wirePunch(changes)]))

    assert.deepInclude<object>(error ?? {}, { _tag: "DecodeError", reason: "Schema", punchId })
  })

  it.each(cases)("is a value of decodeResults, with its index: %s", (_what, changes, punchId) => {
    const { rows } = Result.getOrThrow(decodeResults(wirePage([wirePunch(), wirePunch(changes)]), company))
    const [good, bad] = rows

    assert.isTrue(good !== undefined && Result.isSuccess(good))
    assert.deepInclude<object>(bad !== undefined && Result.isFailure(bad) ? bad.failure : {}, { index: 1, punchId })
  })

  it("counts as a row of the page", () => {
    assert.isUndefined(errorOf(decodeResults, wirePage([wirePunch({ notes: 1 })], { count: 1 })))
    assert.deepInclude(errorOf(decodeResults, wirePage([wirePunch({ notes: 1 })], { count: 0 })), {
      reason: "CountMismatch"
    })
  })
})
