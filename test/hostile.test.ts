/** Malicious and broken bodies: refused with a typed error or read exactly; never rounded, never a defect. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option, Result, Stream } from "effect"
import { HttpClient, HttpClientResponse } from "effect/http"
import { RetryPolicy, TimePunches, TimePunchId } from "../src/index.ts"
import { accessToken, company, endpoints } from "./support/client.ts"
import { errorName } from "./support/transports.ts"
import { wirePage, wirePunch } from "./support/wire.ts"

const json = { "content-type": "application/json" }

interface Reply {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
}

/** A client whose service sends these bytes to every request, with one attempt a page. */
const answering = (body: string | Uint8Array<ArrayBuffer>, { headers = json, status = 200 }: Reply = {}) =>
  TimePunches.layer.pipe(
    Layer.provide(RetryPolicy.layerNone),
    Layer.provide(accessToken),
    Layer.provide(endpoints),
    Layer.provide(Layer.succeed(
      HttpClient.HttpClient,
      HttpClient.make((request) =>
        Effect.succeed(HttpClientResponse.fromWeb(request, new Response(body, { status, headers })))
      )
    )),
    Layer.orDie
  )

/** The one page of these bytes, or the error. */
const pageResult = (body: string | Uint8Array<ArrayBuffer>, reply?: Reply) =>
  TimePunches.page(company).pipe(Effect.result, Effect.provide(answering(body, reply)))

const failureOf = (body: string | Uint8Array<ArrayBuffer>, reply?: Reply) =>
  Effect.flatMap(pageResult(body, reply), (result) => Effect.fromOption(Result.getFailure(result)).pipe(Effect.orDie))

const punchOf = (body: string | Uint8Array<ArrayBuffer>) =>
  Effect.map(pageResult(body), (result) => Result.getOrThrow(result).items[0])

/** A page of one punch in which a member is exactly this text, also where no JavaScript value is written so. */
const rawMember = (name: string, text: string) =>
  JSON.stringify(wirePage([wirePunch({ [name]: "@" })])).replace("\"@\"", () => text)

const bytesOf = (text: string) => new TextEncoder().encode(text)

/** The text with these bytes instead of its only `@`. */
const withBytes = (text: string, ...bytes: ReadonlyArray<number>) => {
  const [before = "", after = ""] = text.split("@")
  return Uint8Array.from([...bytesOf(before), ...bytes, ...bytesOf(after)])
}

const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth)

describe("numbers that JSON can write and a number cannot hold", () => {
  it.effect.each([
    "9007199254740993",
    "9007199254740992",
    "1e400",
    "-1e400",
    "99999999999999999999",
    "1.5",
    "-1",
    "\"1\"",
    "true",
    "null"
  ])(
    "[J5] are refused as an id, never rounded: %s",
    (text) =>
      Effect.gen(function*() {
        const error = yield* failureOf(rawMember("id", text))

        assert.strictEqual(errorName(error), "DecodeError Schema")
        assert.deepInclude(error, { path: "data[0].id" })
      })
  )

  it.effect.each(["user_id", "company_id", "location_id", "role_id", "shift_id", "department_id"])(
    "[J5] are refused as %s",
    (name) =>
      Effect.gen(function*() {
        const error = yield* failureOf(rawMember(name, "9007199254740993"))

        assert.strictEqual(errorName(error), "DecodeError Schema")
        assert.deepInclude(error, { path: `data[0].${name}`, punchId: Option.some(1) })
      })
  )

  it.effect.each(["hourly_wage", "tips"])("[J5] are refused as an amount: %s", (name) =>
    Effect.gen(function*() {
      assert.strictEqual(errorName(yield* failureOf(rawMember(name, "1e400"))), "DecodeError Schema")
      assert.strictEqual(errorName(yield* failureOf(rawMember(name, "15.5"))), "DecodeError Schema")
    }))

  it.effect.each([["7.0", 7], ["7e0", 7], ["9007199254740991", 9007199254740991]] as const)(
    "[J6] do not include a whole number in another notation: %s",
    ([text, id]) =>
      Effect.gen(function*() {
        assert.strictEqual((yield* punchOf(rawMember("id", text)))?.id, TimePunchId.make(id))
      })
  )
})

describe("keys that mean something to an object", () => {
  const keys = `"__proto__":{"deleted":true,"polluted":1},"constructor":{"prototype":{"polluted":1}},"toString":1`
  const polluted = JSON.stringify(wirePage([wirePunch()])).replaceAll("{\"", () => `{${keys},"`)

  it.effect("[J3] change no prototype and reach no field", () =>
    Effect.gen(function*() {
      const punch = yield* punchOf(polluted)
      const clean = yield* punchOf(JSON.stringify(wirePage([wirePunch()])))

      assert.deepStrictEqual(punch, clean)
      assert.deepStrictEqual(Object.keys(punch ?? {}).toSorted(), Object.keys(clean ?? {}).toSorted())
      assert.isFalse(punch?.deleted)
      assert.notProperty({}, "polluted")
    }))

  it.effect("[J3] give no field to a punch that lacks it", () =>
    Effect.gen(function*() {
      const { user_id: _, ...rest } = wirePunch()
      const body = JSON.stringify(wirePage([rest])).replace("\"role_id\"", () => `"__proto__":{"user_id":7},"role_id"`)

      assert.deepInclude(yield* failureOf(body), { _tag: "DecodeError", reason: "Schema", path: "data[0].user_id" })
    }))

  it.effect("[J3] give no member to a problem", () =>
    Effect.gen(function*() {
      const body = `{"__proto__":{"title":"inherited"},"constructor":{"name":"x"},"detail":"said"}`
      const error = yield* failureOf(body, { status: 403, headers: { "content-type": "application/problem+json" } })

      assert.deepInclude(error, { _tag: "Forbidden", problem: { detail: "said" } })
      assert.notProperty({}, "title")
    }))

  it.effect("[J4] have the last of two values where they are duplicate", () =>
    Effect.gen(function*() {
      assert.strictEqual((yield* punchOf(rawMember("tips", "1,\"tips\":2")))?.tips, 2)
    }))
})

describe("nesting a hundred thousand deep", () => {
  it.effect.each(
    [
      ["an unknown field", rawMember("extra", nested(1e5)), "no error"],
      ["a known field", rawMember("notes", nested(1e5)), "DecodeError Schema"],
      ["the breaks", rawMember("breaks", nested(1e5)), "DecodeError Schema"],
      ["the place of a punch", `{"object":"time_punches","data":${nested(1e5)},"meta":{}}`, "DecodeError Schema"],
      ["the place of the page", nested(1e5), "DecodeError Schema"],
      ["the cursor", `{"object":"time_punches","data":[],"meta":{"cursor":${nested(1e5)}}}`, "DecodeError Schema"]
    ] as const
  )("[J2] in %s is read or refused without a defect", ([_where, body, expected]) =>
    Effect.gen(function*() {
      const result = yield* pageResult(body)

      assert.strictEqual(errorName(Option.getOrUndefined(Result.getFailure(result))), expected)
    }))

  it.effect("[J2] in a problem does not change the status", () =>
    Effect.gen(function*() {
      const error = yield* failureOf(`{"detail":"said","title":${nested(3e4)}}`, { status: 422 })

      assert.deepInclude(error, { _tag: "UnprocessableEntity", problem: { detail: "said" } })
    }))

  it.effect("[J2] in a row is one bad row of listResults", () =>
    Effect.gen(function*() {
      const body = rawMember("notes", nested(1e5))
      const rows = yield* TimePunches.listResults(company).pipe(Stream.runCollect, Effect.provide(answering(body)))

      assert.deepInclude(rows[0] !== undefined && Result.isFailure(rows[0]) ? rows[0].failure : {}, { path: "notes" })
    }))
})

describe("bytes that are not in their charset", () => {
  const noted = JSON.stringify(wirePage([wirePunch({ notes: "caf@" })]))

  it.effect.each(
    [
      ["a Latin-1 letter", [0xe9]],
      ["a lone surrogate", [0xed, 0xa0, 0x80]],
      ["an overlong slash", [0xc0, 0xaf]],
      ["half an emoji", [0xf0, 0x9f, 0xa7]]
    ] as const
  )("[H33] are refused, not replaced: %s", ([_what, bytes]) =>
    Effect.gen(function*() {
      assert.strictEqual(errorName(yield* failureOf(withBytes(noted, ...bytes))), "DecodeError Charset")
    }))

  it.effect.each(["utf-16", "UTF-16LE", "iso-8859-1", "\"windows-1252\""])(
    "[H34] are refused, not guessed: charset %s",
    (charset) =>
      Effect.gen(function*() {
        const headers = { "content-type": `application/json; charset=${charset}` }

        assert.strictEqual(errorName(yield* failureOf(noted, { headers })), "DecodeError Charset")
      })
  )

  it.effect.each(["utf-8", "UTF-8", "\"utf-8\"", "us-ascii"])(
    "[H34] are read where the charset is part of UTF-8: %s",
    (charset) =>
      Effect.gen(function*() {
        const headers = { "content-type": `application/json; charset=${charset}` }

        assert.isTrue(Result.isSuccess(yield* pageResult(noted, { headers })))
      })
  )

  it.effect("[H35] can begin with a byte order mark", () =>
    Effect.gen(function*() {
      assert.strictEqual((yield* punchOf(withBytes(`@${noted.replace("@", "é")}`, 0xef, 0xbb, 0xbf)))?.notes, "café")
    }))
})

describe("text that breaks logs and terminals", () => {
  it.effect.each(
    [
      ["a lone surrogate", "\"\\ud800\"", "\ud800"],
      ["a NUL and an escape", "\"a\\u0000b\\u001b[31m\"", "a\u0000b\u001b[31m"],
      ["both directions", "\"\\u202eabc\\u2066\"", "\u202eabc\u2066"],
      ["an emoji of many parts", "\"🧑‍🍳\"", "🧑‍🍳"],
      ["a megabyte", JSON.stringify("é".repeat(5e5)), "é".repeat(5e5)]
    ] as const
  )("[J20] is kept unchanged in notes: %s", ([_what, text, notes]) =>
    Effect.gen(function*() {
      const punch = yield* punchOf(rawMember("notes", text))

      assert.isTrue(punch?.notes === notes)
    }))

  it.effect("[J20] starts no line and controls no terminal in a message", () =>
    Effect.gen(function*() {
      const problem = JSON.stringify({ title: "a\nb\u001b[31m", detail: "\u2028\u202e\u0000", param: "p\rq" })
      const { message } = yield* failureOf(problem, { status: 422 })

      assert.include(message, "a\\u000ab\\u001b[31m: \\u2028\\u202e\\u0000 (param p\\u000dq)")
      // eslint-disable-next-line no-control-regex
      assert.notMatch(message, /[\u0000-\u001f\u2028\u202e]/)
    }))

  it.effect("[Q7] is refused as a cursor that no URL can carry", () =>
    Effect.gen(function*() {
      const body = JSON.stringify(wirePage([wirePunch()], { next: "@" })).replace("@", () => "to-\\ud800")
      const result = yield* TimePunches.list(company).pipe(
        Stream.runCollect,
        Effect.result,
        Effect.provide(answering(body))
      )

      assert.deepInclude(Option.getOrThrow(Result.getFailure(result)), {
        _tag: "DecodeError",
        reason: "Schema",
        path: "meta.cursor.next",
        pagesCompleted: 0
      })
    }))
})

describe("rows of another company", () => {
  it.effect("[H36] fail the page, even a single one", () =>
    Effect.gen(function*() {
      const rows = [wirePunch(), wirePunch({ id: 2, company_id: 4022 }), wirePunch({ id: 3 })]
      const error = yield* failureOf(JSON.stringify(wirePage(rows)))

      assert.strictEqual(errorName(error), "DecodeError WrongCompany")
      assert.deepInclude(error, { path: "data[1].company_id" })
      assert.notInclude(error.message, "4022")
    }))
})
