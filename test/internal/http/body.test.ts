/** Bodies: limited in size while they are read, and strict about encoding. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Result } from "effect"
import { Headers, HttpClientRequest, HttpClientResponse } from "effect/http"
import {
  contentType,
  isEncoded,
  isJson,
  type NotJson,
  parseJson,
  readBytes,
  ReleaseBody,
  tooLarge
} from "../../../src/internal/http/body.ts"

const bytes = (text: string) => new TextEncoder().encode(text)

/** A response whose body has these parts; `taken` counts those that were pulled. */
const responseOf = (parts: ReadonlyArray<Uint8Array>, headers: Record<string, string> = {}) => {
  const state = { taken: 0, cancelled: false }
  const stream = new ReadableStream<Uint8Array>({
    pull: (controller) => {
      const part = parts[state.taken]
      if (part === undefined) return controller.close()
      state.taken++
      controller.enqueue(part)
    },
    cancel: () => {
      state.cancelled = true
    }
  }, { highWaterMark: 0 })
  const web = new Response(stream, { headers })
  return { state, response: HttpClientResponse.fromWeb(HttpClientRequest.get("https://api.test/"), web) }
}

describe("readBytes", () => {
  it.effect("joins the parts in order", () =>
    Effect.gen(function*() {
      const { response } = responseOf([bytes("one "), bytes(""), bytes("two")])

      assert.deepStrictEqual(yield* readBytes(response, 7), bytes("one two"))
    }))

  it.effect("returns a body of one part without a copy", () =>
    Effect.gen(function*() {
      const part = bytes("{}")

      assert.strictEqual(yield* readBytes(responseOf([part]).response, 10), part)
    }))

  it.effect("returns no bytes for an empty body", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* readBytes(responseOf([]).response, 10), new Uint8Array(0))
    }))

  it.effect("stops at the part that exceeds the cap and cancels the body", () =>
    Effect.gen(function*() {
      const { response, state } = responseOf(Array.from({ length: 100 }, () => bytes("12345")))

      assert.strictEqual(yield* Effect.flip(readBytes(response, 10)), tooLarge)
      assert.deepStrictEqual(state, { taken: 3, cancelled: true })
    }))

  it.effect("does not read a body whose declared length exceeds the cap", () =>
    Effect.gen(function*() {
      const { response, state } = responseOf([bytes("12345")], { "content-length": "11" })

      assert.strictEqual(yield* Effect.flip(readBytes(response, 10)), tooLarge)
      assert.strictEqual(state.taken, 0)
    }))

  it.effect("reads a body of the declared length", () =>
    Effect.gen(function*() {
      const { response } = responseOf([bytes("12345"), bytes("67890")], { "content-length": "10" })

      assert.deepStrictEqual(yield* readBytes(response, 10), bytes("1234567890"))
    }))

  it.effect("lets the transport release a body that it reads whole, as no other reader does", () =>
    Effect.gen(function*() {
      const releases: Array<boolean> = []
      const { response } = responseOf([bytes("12345")], { "content-length": "5" })
      const arrayBuffer = Effect.andThen(
        Effect.map(ReleaseBody, (isLast) => releases.push(isLast)),
        response.arrayBuffer
      )
      const seen = new Proxy(response, {
        get: (target, key) => key === "arrayBuffer" ? arrayBuffer : Reflect.get(target, key, target)
      })

      yield* seen.arrayBuffer
      assert.deepStrictEqual(yield* readBytes(seen, 10), bytes("12345"))
      assert.deepStrictEqual(releases, [false, true])
    }))

  it.effect.each(["", " "])(
    "counts the bytes of a body whose declared length is %j, which is no number",
    (length) =>
      Effect.gen(function*() {
        const { response, state } = responseOf(Array.from({ length: 100 }, () => bytes("12345")))
        const headers = Headers.fromInput({ "content-length": length })

        assert.strictEqual(yield* Effect.flip(readBytes(response, 10, headers)), tooLarge)
        assert.isBelow(state.taken, 5)
      })
  )

  it.effect.each<[string, Record<string, string>]>([
    ["encoded", { "content-length": "5", "content-encoding": "gzip" }],
    ["chunked", { "content-length": "5", "transfer-encoding": "chunked" }]
  ])(
    "counts the bytes of a body that is %s, whatever length it declares",
    ([_what, headers]) =>
      Effect.gen(function*() {
        const { response } = responseOf([bytes("12345"), bytes("67890"), bytes("x")], headers)

        assert.strictEqual(yield* Effect.flip(readBytes(response, 10)), tooLarge)
      })
  )
})

describe("parseJson", () => {
  it("parses UTF-8", () => {
    assert.deepStrictEqual(parseJson(bytes("{\"notes\":\"時給\"}")), Result.succeed({ notes: "時給" }))
  })

  it.each<[NotJson, Uint8Array]>([
    ["Empty", new Uint8Array(0)],
    ["NotJson", bytes("<html>")],
    ["NotJson", bytes(" ")],
    ["Charset", Uint8Array.of(0x22, 0xff, 0x22)],
    ["Charset", Uint8Array.of(0x22, 0xc3)]
  ])("fails with %s", (reason, body) => {
    assert.deepStrictEqual(parseJson(body), Result.fail(reason))
  })
})

describe("contentType", () => {
  it.each([
    [undefined, "", ""],
    ["application/json", "application/json", ""],
    ["Application/JSON; Charset=\"UTF-8\"", "application/json", "utf-8"],
    ["text/html ; boundary=x; charset=latin1", "text/html", "latin1"]
  ])("reads %j as type %j and charset %j", (header, type, charset) => {
    const headers = header === undefined ? {} : { "content-type": header }

    assert.deepStrictEqual(contentType(responseOf([], headers).response), { type, charset })
  })
})

describe("isJson", () => {
  it.each([
    ["application/json", true],
    ["application/problem+json", true],
    ["application/vnd.api+json", true],
    ["text/json", true],
    ["application/json-seq", false],
    ["text/html application/json", false],
    ["application/xml", false],
    ["json", false]
  ])("%s: %s", (type, expected) => {
    assert.strictEqual(isJson(type), expected)
  })
})

describe("isEncoded", () => {
  it.each([[undefined, false], ["", false], ["Identity", false], ["gzip", true], ["x-unknown", true]])(
    "%j: %s",
    (encoding, expected) => {
      const headers = encoding === undefined ? {} : { "content-encoding": encoding }

      assert.strictEqual(isEncoded(responseOf([], headers).response), expected)
    }
  )
})
