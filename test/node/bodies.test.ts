/** How the transport for Node reads bodies: exactly, once or again, never past the cap, also when they are compressed. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import { randomBytes } from "node:crypto"
import { brotliCompressSync, constants, gzipSync } from "node:zlib"
import { ReleaseBody } from "../../src/internal/http/body.ts"
import { eventually } from "../sockets/support/eventually.ts"
import { type Answer, chunk, head, rawServer, whole } from "../sockets/support/rawServer.ts"
import { answered, cap, chunked, ending, json, mebibyte, transport, within } from "./support.ts"

const text = "{\"notes\":\"Ünïcödé, 時給, 🧑‍🍳\"}"
const gzip = gzipSync(text)
const br = brotliCompressSync(text)
const encoded = (encoding: string) => ({ ...json, "content-encoding": encoding })
const inChunks = (body: Uint8Array, headers: Readonly<Record<string, string>> = json): Answer => [
  head(200, { ...headers, "transfer-encoding": "chunked" }),
  ...Array.from(body, (byte) => chunk(Uint8Array.of(byte))),
  chunk("")
]
const slowly = (body: Uint8Array, headers: Readonly<Record<string, string>> = json): Answer => [
  head(200, { ...headers, "content-length": String(body.length) }),
  { drip: body, every: 0 }
]

const forms: ReadonlyArray<readonly [what: string, answer: Answer]> = [
  ["whole", whole(200, text)],
  ["byte by byte", slowly(Buffer.from(text))],
  ["in chunks of one byte", inChunks(Buffer.from(text))],
  ["up to the end of the connection", [head(200, json), text, "FINISH"]],
  ["with trailers", [head(200, chunked), chunk(text), "0\r\nx-after: 1\r\n\r\n"]],
  ["after an informational response", ["HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n", whole(200, text)]],
  ["as gzip", whole(200, gzip, encoded("gzip"))],
  ["as x-gzip, byte by byte", slowly(gzip, encoded("X-GZIP"))],
  [
    "as gzip of two members",
    whole(200, Buffer.concat([gzipSync(text.slice(0, 5)), gzipSync(text.slice(5))]), encoded("gzip"))
  ],
  ["as brotli", whole(200, br, encoded("br"))],
  ["as brotli, in chunks of one byte", inChunks(br, encoded("br"))]
]

describe("a body over the transport for Node", () => {
  it.live.each(forms)(
    "is read as text, as JSON, as bytes and as a stream: %s",
    ([_what, answer]) =>
      Effect.gen(function*() {
        const bytes = new Uint8Array(Buffer.from(text))

        assert.strictEqual(yield* answered(answer, ({ text }) => text), text)
        assert.deepStrictEqual(yield* answered(answer, ({ json }) => json), JSON.parse(text))
        assert.deepStrictEqual(new Uint8Array(yield* answered(answer, ({ arrayBuffer }) => arrayBuffer)), bytes)
        const parts = yield* answered(answer, ({ stream }) => Stream.runCollect(stream))
        assert.deepStrictEqual(new Uint8Array(Buffer.concat(parts)), bytes)
      })
  )

  it.live("is read again: as text, as JSON, as bytes, and then as a stream", () =>
    Effect.gen(function*() {
      const read = yield* answered(whole(200, text), (response) =>
        Effect.all([
          response.text,
          Effect.map(response.json, JSON.stringify),
          Effect.map(response.arrayBuffer, (bytes) => Buffer.from(bytes).toString()),
          Effect.map(Stream.runCollect(response.stream), (parts) => Buffer.concat(parts).toString())
        ]))

      assert.deepStrictEqual(read, [text, text, text, text])
    }))

  it.live("is not kept after a read that promises to be the last", () =>
    Effect.gen(function*() {
      const read = yield* answered(whole(200, text), (response) =>
        Effect.all([
          response.text,
          Effect.provideService(response.text, ReleaseBody, true),
          ending(response.text),
          ending(Stream.runDrain(response.stream))
        ]))

      assert.deepStrictEqual(read, [text, text, "DecodeError", "DecodeError"])
    }))

  it.live("is read by two at once", () =>
    Effect.gen(function*() {
      const read = yield* answered(slowly(Buffer.from(text)), (response) =>
        Effect.all([response.text, response.text], { concurrency: 2 }))

      assert.deepStrictEqual(read, [text, text])
    }))

  it.live("that was read as a stream fails a second read, and does not wait", () =>
    Effect.gen(function*() {
      const [stream, bytes] = yield* answered(whole(200, text), (response) =>
        Effect.gen(function*() {
          yield* Stream.runDrain(response.stream)
          return [yield* ending(Stream.runDrain(response.stream)), yield* ending(response.text)]
        }))

      assert.deepStrictEqual([stream, bytes], ["DecodeError", "DecodeError"])
    }))

  it.live.each(
    [
      ["no byte", whole(200, ""), ""],
      ["a 204", head(204, { "content-length": "5" }), ""],
      ["a 304 with the length of another response", head(304, { "content-length": "99999999999" }), ""],
      ["gzip of no byte", whole(200, gzipSync(""), encoded("gzip")), ""],
      ["a gzip header without a body", whole(200, "", encoded("gzip")), ""]
    ] as const
  )("is empty, and null as JSON: %s", ([_what, answer, expected]) =>
    Effect.gen(function*() {
      assert.strictEqual(yield* answered(answer, ({ text }) => text), expected)
      assert.isNull(yield* answered(answer, ({ json }) => json))
    }))

  it.live("of a HEAD is empty, whatever length is declared", () =>
    Effect.gen(function*() {
      const server = yield* rawServer({
        answers: [head(200, { ...json, "content-length": `${cap * 2}` })]
      })
      for (let i = 0; i < 3; i++) {
        assert.strictEqual(yield* Effect.flatMap(HttpClient.head(server.url), ({ text }) => text), "")
      }
      assert.strictEqual(server.requests.length, 3)
    }).pipe(Effect.provide(transport)))

  it.live.each([[[0xe9]], [[0xed, 0xa0, 0x80]], [[0xc0, 0xaf]], [[0xf0, 0x9f, 0xa7]]])(
    "that is not UTF-8 fails as text, and is still bytes: %s",
    ([bytes = []]) =>
      Effect.gen(function*() {
        const read = yield* answered(whole(200, Uint8Array.from(bytes)), (response) =>
          Effect.all([
            ending(response.text),
            ending(response.json),
            Effect.map(response.arrayBuffer, (b) => b.byteLength)
          ]))

        assert.deepStrictEqual(read.map(String), [
          "DecodeError ERR_ENCODING_INVALID_ENCODED_DATA",
          "DecodeError ERR_ENCODING_INVALID_ENCODED_DATA",
          `${bytes.length}`
        ])
      })
  )

  it.live("keeps every cookie and every other header", () =>
    Effect.gen(function*() {
      const response =
        "HTTP/1.1 200 OK\r\nset-cookie: a=1\r\nset-cookie: b=2\r\nx-y: 1\r\nX-Y: 2\r\ncontent-length: 0\r\n\r\n"
      const { cookies, headers } = yield* answered(response, Effect.succeed)

      assert.deepStrictEqual(Object.keys(cookies.cookies), ["a", "b"])
      assert.strictEqual(headers["x-y"], "1, 2")
    }))

  it.live("reads a form", () =>
    Effect.gen(function*() {
      const type = { "content-type": "application/x-www-form-urlencoded" }
      const params = yield* answered(whole(200, "?a=1&b=%C3%BC", type), ({ urlParamsBody }) => urlParamsBody)
      const form = yield* answered(whole(200, "a=1&b=2", type), ({ formData }) => formData)

      assert.deepStrictEqual([...params], [["?a", "1"], ["b", "ü"]])
      assert.strictEqual(form.get("b"), "2")
    }))

  it.live("is requested as gzip or br, unless the request says otherwise", () =>
    Effect.gen(function*() {
      const { requests, url } = yield* rawServer({ answers: [whole(200, text)] })
      yield* Effect.flatMap(HttpClient.get(url), ({ text }) => text)
      yield* Effect.flatMap(HttpClient.get(url, { headers: { "accept-encoding": "identity" } }), ({ text }) => text)

      assert.deepStrictEqual(requests.map(({ headers }) => headers["accept-encoding"]), ["gzip, br", "identity"])
    }).pipe(Effect.provide(transport)))

  it.live("that is a stream is sent through the core's client", () =>
    Effect.gen(function*() {
      const server = yield* rawServer({ answers: [whole(200, text)] })
      yield* Effect.flatMap(HttpClient.get(server.url), ({ text }) => text)
      const streamed = HttpClientRequest.post(server.url).pipe(
        HttpClientRequest.bodyStream(Stream.make(new TextEncoder().encode("streamed")), { contentLength: 8 })
      )
      const answer = yield* Effect.flatMap(HttpClient.execute(streamed), ({ text }) => text)

      assert.strictEqual(answer, text)
      assert.strictEqual(server.requests[1]?.body, "streamed")
    }).pipe(Effect.provide(transport)))
})

const blank = (size: number) => Buffer.alloc(size, 0x20)
const noise = randomBytes(cap + 1)

/** The same body in every framing and encoding. */
const framings: ReadonlyArray<readonly [what: string, answerOf: (body: Uint8Array) => Answer]> = [
  ["with its length", (body) => whole(200, body)],
  ["in chunks", (body) => [head(200, chunked), chunk(body), chunk("")]],
  ["as gzip", (body) => whole(200, gzipSync(body, { level: 1 }), encoded("gzip"))],
  [
    "as brotli",
    (body) => whole(200, brotliCompressSync(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }), encoded("br"))
  ]
]

/** A bomb without end: each part unpacks to a megabyte. */
const bombs = [
  ["gzip", gzipSync(blank(mebibyte))],
  ["br", brotliCompressSync(blank(256 * mebibyte), { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } })]
] as const

const tooLarge = "DecodeError UND_ERR_RES_EXCEEDED_MAX_SIZE"

describe("the cap of a body over the transport for Node", () => {
  it.live.each(framings)(
    "takes exactly its bytes and not one more: %s",
    ([_what, answerOf]) =>
      Effect.gen(function*() {
        for (const source of [noise, blank(cap + 1)]) {
          const read = yield* answered(answerOf(source.subarray(0, cap)), ({ arrayBuffer }) => arrayBuffer)
          assert.isTrue(Buffer.from(read).equals(source.subarray(0, cap)))
          const ended = yield* answered(answerOf(source), ({ arrayBuffer }) => ending(arrayBuffer))
          assert.strictEqual(ended, tooLarge)
        }
      })
  )

  it.live("is that of the reader where it has one", () =>
    Effect.gen(function*() {
      const body = (size: number) => whole(200, "x".repeat(size))

      assert.strictEqual(yield* answered(body(10), ({ text }) => within(10)(text)), "x".repeat(10))
      assert.strictEqual(yield* answered(body(11), ({ text }) => ending(within(10)(text))), tooLarge)
      assert.strictEqual(
        (yield* answered(body(cap + 5), ({ text }) => within(2 * cap)(text))).length,
        cap + 5
      )
      const twice = yield* answered(body(11), ({ text }) => Effect.all([text, ending(within(10)(text))]))
      assert.deepStrictEqual(twice, ["x".repeat(11), tooLarge])
    }))

  it.live.each(bombs)(
    "stops a bomb where it has unpacked that much, and frees the socket: %s",
    ([encoding, part]) =>
      Effect.gen(function*() {
        const before = process.memoryUsage.rss()
        const [ended, sent] = yield* answered(
          [head(200, encoded(encoding)), part, { endless: part }],
          (response, server) =>
            Effect.gen(function*() {
              const ended = yield* ending(response.arrayBuffer)
              yield* eventually(() => assert.strictEqual(server.open(), 0))
              return [ended, server.sent()] as const
            })
        )

        assert.strictEqual(ended, tooLarge)
        // What was on its way when the client closed the connection: the whole would be endless.
        assert.isBelow(sent, 8 * mebibyte)
        assert.isBelow((process.memoryUsage.rss() - before) / mebibyte, 192)
      })
  )

  it.live.each(bombs)(
    "does not hold for a stream, which unpacks no more than is read: %s",
    ([encoding, part]) =>
      Effect.gen(function*() {
        const before = process.memoryUsage.rss()
        const read = yield* answered([head(200, encoded(encoding)), part, { endless: part }], (response, server) =>
          Effect.gen(function*() {
            const first = yield* Stream.runCollect(Stream.take(response.stream, 3))
            yield* eventually(() =>
              assert.strictEqual(server.open(), 0)
            )
            return first
          }))

        assert.lengthOf(read, 3)
        assert.isBelow((process.memoryUsage.rss() - before) / mebibyte, 192)
      })
  )

  it.live.each(
    [
      ["gzip, cut by the connection", [
        head(200, { ...encoded("gzip"), "content-length": "999" }),
        gzip.subarray(0, 30),
        { pause: 20 },
        "FINISH"
      ], "DecodeError UND_ERR_SOCKET"],
      ["gzip, reset", [
        head(200, { ...encoded("gzip"), "content-length": "999" }),
        gzip.subarray(0, 30),
        { pause: 20 },
        "RESET"
      ], "DecodeError ECONNRESET"],
      ["gzip, whole but for its end", whole(200, gzip.subarray(0, 30), encoded("gzip")), "DecodeError Z_BUF_ERROR"],
      ["gzip that is none", whole(200, "not gzip", encoded("gzip")), "DecodeError Z_DATA_ERROR"],
      ["brotli, whole but for its end", whole(200, br.subarray(0, 20), encoded("br")), "DecodeError Z_BUF_ERROR"],
      ["brotli that is none", whole(200, Buffer.alloc(200, 0xff), encoded("br")), "DecodeError ERR__ERROR_FORMAT"]
    ] as ReadonlyArray<readonly [string, Answer, string]>
  )("does not turn a broken body into a whole one: %s", ([_what, answer, expected]) =>
    Effect.gen(function*() {
      const bytes = yield* answered(answer, ({ arrayBuffer }) => ending(arrayBuffer))
      const parts = yield* answered(answer, ({ stream }) => ending(Stream.runDrain(stream)))

      assert.include(String(bytes), expected)
      assert.include(String(parts), expected)
    }))
})
