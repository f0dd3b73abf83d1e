/** `Page.unknown`: the paths of fields that this version does not know. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option, Stream } from "effect"
import { TimePunches } from "../../src/index.ts"
import { unknownOf, unreadOf } from "../../src/internal/wire/unknown.ts"
import { defaultCompany, Fault, generatePunches } from "../../src/testing/index.ts"
import { app, company, inject } from "../support/client.ts"
import { wirePage, wirePunch } from "../support/wire.ts"

const rest = { id: 1, user_id: 2, custom_break_id: 3, paid: true, in: "2026-03-02T12:00:00Z", out: null }

const punches = generatePunches({ seed: 12, count: 50, companyId: defaultCompany.id, deletedShare: 0 })

const unknownPaths = (json: unknown) => unreadOf(json).unknown

const patched = Fault.badRow(7, { overtime: { secret: "500" } })

describe("the unknown fields of a page", () => {
  it("are none of what the interface names", () => {
    assert.deepStrictEqual(unknownPaths(wirePage([wirePunch({ breaks: [rest] })], { next: "c" })), [])
  })

  it("are keys of any row, any break, meta, meta.cursor and the page, each once and without a value", () => {
    const rows = [wirePunch(), { ...wirePunch({ breaks: [rest] }), overtime: "a" }, {
      ...wirePunch(),
      breaks: [rest, { ...rest, reason: "b" }],
      overtime: "c"
    }]
    const { data, meta, object } = JSON.parse(JSON.stringify(wirePage(rows)))
    const page = { object, data, meta: { ...meta, total: 3, cursor: { ...meta.cursor, last: "z" } }, links: ["d"] }

    assert.deepStrictEqual(unknownPaths(page), [
      "links",
      "meta.total",
      "meta.cursor.last",
      "data[].overtime",
      "data[].breaks[].reason"
    ])
  })

  it("are at most 20 paths of 100 printable characters", () => {
    const odd = { "a\u001b[2J\n": 1, "\ud800": 2, ["é".repeat(5000)]: 3, constructor: 4 }
    const keys = unknownPaths({ ...wirePage([]), ...odd, ...JSON.parse(`{"__proto__":1}`) })
    const many = Object.fromEntries(Array.from({ length: 1000 }, (_, at) => [`field_${at}`, at]))

    assert.deepStrictEqual(keys, ["a\\u001b[2J\\u000a", "\uFFFD", `${"é".repeat(99)}…`, "constructor", "__proto__"])
    assert.strictEqual(unknownPaths({ ...many, ...wirePage([]) }).length, 20)
  })

  it.each([null, 5, "text", [], [5], { data: [null, 5, []], meta: null }, { data: [{ breaks: [null, 5] }], meta: [] }])(
    "are none of what is no page: %j",
    (json) => {
      assert.deepStrictEqual(unknownPaths(json), [])
    }
  )

  it("are joined without those that this version knows", () => {
    assert.deepStrictEqual(unknownOf(["a", "data[].notes"], ["b", "a", "data[].breaks[].paid", "meta.cursor.next"]), [
      "a",
      "b"
    ])
  })
})

describe("Page.unknown", () => {
  it.effect("has the fields of each page, also of one at a cursor", () =>
    Effect.gen(function*() {
      yield* inject(patched)
      const pages = yield* Stream.runCollect(TimePunches.pages(company, {}, { pageSize: 20 }))
      const cursor = Option.getOrThrow(pages[0]?.cursor.next ?? Option.none())
      const second = yield* TimePunches.page(company, {}, { pageSize: 20, cursor })

      assert.deepStrictEqual([...pages, second].map(({ unknown }) => unknown), [
        ["data[].overtime"],
        ["data[].overtime"],
        ["data[].overtime"],
        ["data[].overtime"]
      ])
    }).pipe(Effect.provide(app({ punches }))))
})
