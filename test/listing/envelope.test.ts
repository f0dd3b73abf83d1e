import { assert, describe, it } from "@effect/vitest"
import { Option, Result, Schema, SchemaIssue } from "effect"
import { Cursor, Page, TimePunch } from "../../src/index.ts"
import { Envelope, RawEnvelope } from "../../src/listing/rows.ts"
import { PunchPair } from "../support/punchPair.ts"
import { wirePage, wirePunch, without } from "../support/wire.ts"

const decode = Schema.decodeUnknownResult(Envelope)
const decodeRaw = Schema.decodeUnknownResult(RawEnvelope)
const paths = SchemaIssue.makeFormatterStandardSchemaV1()

const issueAt = (wire: unknown): string | undefined =>
  Result.match(decode(wire), {
    onSuccess: () => undefined,
    onFailure: ({ issue }) => (paths(issue).issues[0]?.path ?? []).map(String).join(".")
  })

const cursorOf = (cursor: Record<string, unknown>) => {
  const { meta } = Result.getOrThrow(decode(wirePage([wirePunch()], cursor)))
  return meta.cursor
}

describe("Envelope", () => {
  it("reads rows and cursors", () => {
    const page = Result.getOrThrow(
      decode(wirePage([wirePunch(), wirePunch({ id: 2 })], { current: "a", prev: "b=", next: "c" }))
    )

    assert.deepStrictEqual(page.data.map(({ id }) => Number(id)), [1, 2])
    assert.strictEqual(page.object, "time_punches")
    assert.deepStrictEqual(page.meta.cursor, {
      current: Option.some(Cursor.make("a")),
      prev: Option.some(Cursor.make("b=")),
      next: Option.some(Cursor.make("c")),
      count: Option.some(2)
    })
  })

  it.each(["current", "prev", "next", "count"])("takes null for %s as none, but not an absent key", (key) => {
    const none = new Map<string, Option.Option<unknown>>(Object.entries(cursorOf({ [key]: null }))).get(key)
    const envelope = wirePage([])

    assert.deepStrictEqual(none, Option.none())
    assert.strictEqual(
      issueAt({ ...envelope, meta: { cursor: without({ current: null, prev: null, next: null, count: 0 }, key) } }),
      `meta.cursor.${key}`
    )
  })

  it.each(["current", "prev", "next"])("refuses an empty %s, which would be sent as no cursor at all", (key) => {
    assert.strictEqual(issueAt(wirePage([], { [key]: "" })), `meta.cursor.${key}`)
  })

  it.each([1, true, {}, ["a"]])("refuses %j for a cursor", (next) => {
    assert.strictEqual(issueAt(wirePage([], { next })), "meta.cursor.next")
  })

  it.each(["20", -1, 1.5, true, {}])("refuses the count %j", (count) => {
    assert.strictEqual(issueAt(wirePage([], { count })), "meta.cursor.count")
  })

  it("keeps a cursor to the letter", () => {
    for (const cursor of ["a b", "=&#+%,/?", "ключ", "\u0000", "🧑‍🍳", "x".repeat(10_000)]) {
      assert.strictEqual(String(Option.getOrThrow(cursorOf({ next: cursor }).next)), cursor)
    }
  })

  it.each(["object", "data", "meta"])("refuses an envelope without %s", (key) => {
    assert.strictEqual(issueAt(without(wirePage([]), key)), key)
  })

  it("refuses an envelope without a cursor, and what is no envelope", () => {
    assert.strictEqual(issueAt({ ...wirePage([]), meta: {} }), "meta.cursor")
    assert.strictEqual(issueAt({ ...wirePage([]), meta: { cursor: null } }), "meta.cursor")
    for (const wire of [null, [], "time_punches", {}]) assert.isDefined(issueAt(wire))
  })

  it("names the row that is wrong, and the path in it", () => {
    assert.strictEqual(issueAt(wirePage([wirePunch(), wirePunch({ clocked_in: "today" })])), "data.1.clocked_in")
    assert.strictEqual(issueAt(wirePage([null])), "data.0")
  })

  it("ignores what it does not know", () => {
    const envelope = wirePage([], { total: 7 })

    assert.isUndefined(issueAt({ ...envelope, links: {}, meta: { ...Object(envelope["meta"]), took: 3 } }))
  })
})

describe("RawEnvelope", () => {
  it("leaves the rows untouched", () => {
    const rows = [wirePunch(), { id: "x" }, null, 5, [wirePunch()]]

    assert.deepStrictEqual(Result.getOrThrow(decodeRaw(wirePage(rows))).data, rows)
  })

  it("is as strict about everything else", () => {
    assert.isTrue(Result.isFailure(decodeRaw(wirePage([], { next: "" }))))
    assert.isTrue(Result.isFailure(decodeRaw({ ...wirePage([]), data: {} })))
  })
})

describe("Page", () => {
  it.prop("survives the JSON codec that every schema has", [PunchPair, Cursor], ([{ domain }, cursor]) => {
    const page: Page = {
      items: [domain],
      index: 3,
      cursor: {
        sent: Option.some(cursor),
        current: Option.none(),
        prev: Option.none(),
        next: Option.some(cursor),
        count: Option.some(1)
      },
      response: {
        asOf: Option.some(domain.clockedIn),
        sentAt: domain.clockedIn,
        requestId: Option.some("r-1"),
        attempts: 2,
        remaining: Option.none(),
        apiVersion: Option.some("2026-06-01"),
        askedVersion: Option.some("2026-06-01")
      },
      unknown: ["data[].overtime"]
    }
    const codec = Schema.toCodecJson(Page)
    const sent: unknown = JSON.parse(JSON.stringify(Schema.encodeSync(codec)(page)))

    assert.deepStrictEqual(Schema.decodeUnknownSync(codec)(sent), page)
    assert.isTrue(Schema.is(TimePunch)(page.items[0]))
  }, { arbitrary: { runs: 50, seed: 1 } })
})
