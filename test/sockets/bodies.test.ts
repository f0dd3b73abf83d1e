/** Bodies that are too large, or not what their headers say: limited while they are read, over all transports. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib"
import { oauth } from "../support/client.ts"
import { client, errorName, listingOutcome, threePages, type Transport, transports } from "../support/transports.ts"
import { eventually } from "./support/eventually.ts"
import { type Answer, chunk, head, rawServer, whole } from "./support/rawServer.ts"

const { first, ids, second, third } = threePages
const json = { "content-type": "application/json" }
const chunked = { ...json, "transfer-encoding": "chunked" }

const blank = new Uint8Array(64 * 1024).fill(0x20)
const blankChunk = chunk(blank)

/** White space, which JSON may begin with: a megabyte in a kilobyte, three hundred times. */
const bomb = Array.from({ length: 300 }, () => gzipSync(new Uint8Array(1024 * 1024).fill(0x20)))
const bombSize = bomb.reduce((size, { length }) => size + length, 0)

const floods: ReadonlyArray<{ readonly row: string; readonly what: string; readonly answer: Answer }> = [
  {
    row: "H28",
    what: "three hundred megabytes with their length",
    answer: [head(200, { ...json, "content-length": `${300 * 1024 * 1024}` }), { endless: blank }]
  },
  { row: "H28", what: "an endless body without length", answer: [head(200, json), { endless: blank }] },
  { row: "H29", what: "endless chunks", answer: [head(200, chunked), { endless: blankChunk }] }
]

/** Runs an effect and measures how far the memory of this process rises, in megabytes. */
const growth = <A, E, R>(self: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const before = process.memoryUsage.rss()
    let most = before
    const timer = setInterval(() => {
      most = Math.max(most, process.memoryUsage.rss())
    }, 2)
    const result = yield* self.pipe(Effect.ensuring(Effect.sync(() => clearInterval(timer))))
    return [result, (Math.max(most, process.memoryUsage.rss()) - before) / 2 ** 20] as const
  })

/** Loads the code of a listing before the measurement. */
const warmUp = (http: typeof transports[number]["http"]) =>
  Effect.gen(function*() {
    const { url } = yield* rawServer({ answers: [first, second, third].map((body) => whole(200, body)) })
    assert.deepStrictEqual(yield* listingOutcome().pipe(Effect.provide(client(url, http))), { ids, error: undefined })
  })

/** The first page, then this answer to every request. */
const firstThen = (answer: Answer) => rawServer({ answers: [whole(200, first), answer] })

/** The encodings that each transport decompresses. */
const decompresses = (transport: Transport, encoding: string): boolean =>
  transport === "fetch" || (transport === "NodeTransport" && encoding !== "deflate")

/** Sixteen megabytes of a problem that never closes, in parts that the client can read before the next is written. */
const endlessProblem = [
  "{\"title\":\"",
  { drip: new Uint8Array(16 * 1024 * 1024).fill(0x78), every: 0, bytes: 16 * 1024 }
] as const

describe.each(transports)("a body over $transport", ({ http, transport }) => {
  it.live.each(
    [
      ["a page", 503, "application/problem+json", "ServiceUnavailable 503"],
      ["a page, as plain JSON", 422, "application/json", "UnprocessableEntity 422"]
    ] as const
  )(
    "of a problem is not taken beyond its cap: %s answered with %i",
    ([_what, status, type, error]) =>
      Effect.gen(function*() {
        const server = yield* rawServer({ answers: [[head(status, { "content-type": type }), ...endlessProblem]] })
        const run = yield* Effect.provide(listingOutcome(), client(server.url, http, { attempts: 1 }))
        yield* eventually(() => assert.strictEqual(server.open(), 0))

        assert.strictEqual(errorName(run.error), error)
        // The cap is 64 KiB; the rest is what was on its way when the client closed the connection.
        assert.isAtLeast(server.sent(), 64 * 1024)
        assert.isBelow(server.sent(), 1024 * 1024)
      })
  )

  it.live.each(floods)("[$row] is not read past its cap: $what", ({ answer }) =>
    Effect.gen(function*() {
      yield* warmUp(http)
      const { requests, url } = yield* firstThen(answer)
      const [run, megabytes] = yield* growth(listingOutcome().pipe(Effect.provide(client(url, http))))

      assert.strictEqual(errorName(run.error), "TransportError TooLarge")
      assert.deepStrictEqual(run.ids, ids.slice(0, 2))
      assert.strictEqual(requests.length, 2, "it was requested again")
      assert.isBelow(megabytes, 128)
    }))

  it.live.each([["with its length", false], ["in chunks", true]] as const)(
    "[H28] of eight megabytes is read whole, and one byte more is too large: %s",
    ([_how, inChunks]) =>
      Effect.gen(function*() {
        const answerOf = (size: number): Answer => {
          const body = Buffer.concat([Buffer.alloc(size - Buffer.byteLength(third), 0x20), Buffer.from(third)])
          return inChunks ? [head(200, chunked), chunk(body), chunk("")] : whole(200, body)
        }
        const cap = 8 * 1024 * 1024
        const full = yield* rawServer({ answers: [answerOf(cap)] })
        const over = yield* rawServer({ answers: [answerOf(cap + 1)] })

        assert.strictEqual(
          errorName((yield* listingOutcome().pipe(Effect.provide(client(full.url, http)))).error),
          "no error"
        )
        assert.strictEqual(
          errorName((yield* listingOutcome().pipe(Effect.provide(client(over.url, http)))).error),
          "TransportError TooLarge"
        )
      })
  )

  it.live("[H27] is not decompressed past its cap", () =>
    Effect.gen(function*() {
      const headers = { ...json, "content-encoding": "gzip", "content-length": String(bombSize) }
      yield* warmUp(http)
      const { requests, url } = yield* firstThen([head(200, headers), ...bomb])
      const [run, megabytes] = yield* growth(listingOutcome().pipe(Effect.provide(client(url, http))))

      assert.strictEqual(
        errorName(run.error),
        decompresses(transport, "gzip") ? "TransportError TooLarge" : "DecodeError ContentEncoding"
      )
      assert.strictEqual(requests.length, 2)
      assert.isBelow(megabytes, 128)
    }))

  it.live("[H29] of an endless problem does not change its status", () =>
    Effect.gen(function*() {
      const problem = { ...chunked, "content-type": "application/problem+json" }
      yield* warmUp(http)
      const { requests, url } = yield* firstThen([head(403, problem), { endless: blankChunk }])
      const [run, megabytes] = yield* growth(listingOutcome().pipe(Effect.provide(client(url, http))))

      assert.strictEqual(errorName(run.error), "Forbidden 403")
      assert.strictEqual(requests.length, 2)
      assert.isBelow(megabytes, 128)
    }))

  it.live("[H29] of an endless token response is a malformed token", () =>
    Effect.gen(function*() {
      yield* warmUp(http)
      const { requests, url } = yield* rawServer({ answers: [[head(200, chunked), { endless: blankChunk }]] })
      const [run, megabytes] = yield* growth(
        listingOutcome().pipe(Effect.provide(client(url, http, { credentials: oauth })))
      )

      assert.strictEqual(errorName(run.error), "TokenError Malformed")
      assert.strictEqual(requests.length, 1)
      assert.isBelow(megabytes, 128)
    }))

  it.live.each(
    [
      ["gzip", gzipSync(second)],
      ["GZIP", gzipSync(second)],
      ["br", brotliCompressSync(second)],
      ["deflate", deflateSync(second)]
    ] as const
  )(
    "[H30] with an encoding is decoded or refused, never misread: %s",
    ([encoding, body]) =>
      Effect.gen(function*() {
        const server = yield* rawServer({
          answers: [whole(200, first), whole(200, body, { ...json, "content-encoding": encoding }), whole(200, third)]
        })
        const run = yield* listingOutcome().pipe(Effect.provide(client(server.url, http)))

        const isRead = decompresses(transport, encoding)

        assert.strictEqual(errorName(run.error), isRead ? "no error" : "DecodeError ContentEncoding")
        assert.deepStrictEqual(run.ids, isRead ? ids : ids.slice(0, 2))
        assert.strictEqual(server.requests.length, isRead ? 3 : 2)
      })
  )

  it.live("[H30] with the encoding identity is read as it is", () =>
    Effect.gen(function*() {
      const { url } = yield* rawServer({
        answers: [first, second, third].map((body) => whole(200, body, { ...json, "content-encoding": "Identity" }))
      })

      assert.deepStrictEqual(yield* listingOutcome().pipe(Effect.provide(client(url, http))), { ids, error: undefined })
    }))

  it.live.each(
    [
      ["is cut", gzipSync(second).subarray(0, 200)],
      ["is corrupt", Buffer.concat([gzipSync(second).subarray(0, 100), new Uint8Array(100)])],
      ["is not gzip", new Uint8Array(100).fill(0xff)]
    ] as const
  )(
    "[H31] whose gzip %s is requested twice more by a transport that decodes it, and refused by the others",
    ([_what, body]) =>
      Effect.gen(function*() {
        const { requests, url } = yield* firstThen(whole(200, body, { ...json, "content-encoding": "gzip" }))
        const run = yield* listingOutcome().pipe(Effect.provide(client(url, http)))

        const isRead = decompresses(transport, "gzip")

        assert.match(
          errorName(run.error),
          isRead
            ? /^(TransportError Body Z_\w+_ERROR|DecodeError NotJson)$/
            : /^DecodeError ContentEncoding$/
        )
        assert.deepStrictEqual(run.ids, ids.slice(0, 2))
        assert.strictEqual(requests.length, isRead ? 4 : 2)
      })
  )
})
