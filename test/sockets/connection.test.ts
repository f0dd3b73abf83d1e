/** Faults of the connection, over real sockets and all transports: every row once, or an error to resume from. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { Cursor, TimePunches } from "../../src/index.ts"
import { company } from "../support/client.ts"
import {
  client,
  errorName,
  listingOutcome,
  pageText,
  threePages,
  type Transport,
  transports
} from "../support/transports.ts"
import { wirePunch } from "../support/wire.ts"
import { eventually } from "./support/eventually.ts"
import { type Answer, chunk, head, rawServer, whole } from "./support/rawServer.ts"

const { first, ids, second, third } = threePages
const to2 = Option.some(Cursor.make("to-2"))
const json = { "content-type": "application/json" }
const chunked = { ...json, "transfer-encoding": "chunked" }
const size = String(Buffer.byteLength(second))

/** A response in place of the second page, and the error when every attempt gets it. */
interface Fault {
  readonly row: string
  readonly what: string
  readonly answer: Answer
  readonly error: RegExp
  readonly attempts: number | Readonly<Record<Transport, number>>
  readonly attemptTimeout?: number
}

const cut = /^TransportError Headers (ECONNRESET|UND_ERR_SOCKET)$/
const cutBody = /^TransportError Body (ECONNRESET|UND_ERR_SOCKET)$/
const late = /^TransportError Timeout$/
const notHttp = /^TransportError Headers (HPE_\w+|UND_ERR_HTTP_PARSER)$/
const notJson = /^DecodeError NotJson$/
const smuggling = /^TransportError Headers (HPE_\w+|UND_ERR_HTTP_PARSER|UND_ERR_RES_CONTENT_LENGTH_MISMATCH)$/

const faults: ReadonlyArray<Fault> = [
  { row: "C2", what: "a reset before any byte", answer: "RESET", error: cut, attempts: 4 },
  { row: "C3", what: "an end before any byte", answer: "FINISH", error: cut, attempts: 4 },
  {
    row: "C4",
    what: "an end within the headers",
    answer: [head(200, json).slice(0, 30), "FINISH"],
    error: cut,
    attempts: 4
  },
  {
    row: "C5",
    what: "a response that is not HTTP",
    answer: ["SSH-2.0-Server\r\n", "FINISH"],
    error: notHttp,
    attempts: 2
  },
  {
    row: "C5",
    what: "a TLS alert",
    answer: ["\u0015\u0003\u0001\u0000\u0002\u0002\n", "FINISH"],
    error: notHttp,
    attempts: 2
  },
  {
    row: "C6",
    what: "a reset within the body",
    answer: [head(200, { ...json, "content-length": size }), second.slice(0, 300), { pause: 20 }, "RESET"],
    error: cutBody,
    attempts: 4
  },
  {
    row: "C7",
    what: "a body shorter than its length",
    answer: [head(200, { ...json, "content-length": `${Number(size) + 1}` }), second, "FINISH"],
    error: cutBody,
    attempts: 4
  },
  {
    row: "C8",
    what: "a chunked body without its last chunk, its JSON complete",
    answer: [head(200, chunked), chunk(second), "FINISH"],
    error: cutBody,
    attempts: 4
  },
  {
    row: "C8",
    what: "a chunk of broken size",
    answer: [head(200, chunked), chunk(second.slice(0, 100)), { pause: 20 }, "ZZ\r\n"],
    error: /^TransportError Body (ECONNRESET|UND_ERR_HTTP_PARSER)$/,
    attempts: { fetch: 2, undici: 2, "node:http": 4, NodeTransport: 2 }
  },
  {
    row: "C9",
    what: "a body that ends with the connection, too early",
    answer: [head(200, json), second.slice(0, 300), "FINISH"],
    error: notJson,
    attempts: 3
  },
  {
    row: "C11",
    what: "two lengths",
    answer: [head(200, { ...json, "content-length": size, "Content-Length": "5" }), second],
    error: smuggling,
    attempts: 2
  },
  {
    row: "C11",
    what: "a length beside chunks",
    answer: [head(200, { ...chunked, "content-length": size }), chunk(second), chunk("")],
    error: smuggling,
    attempts: 2
  },
  {
    row: "C12",
    what: "a length shorter than the body",
    answer: [head(200, { ...json, "content-length": `${Number(size) - 20}` }), second],
    error: notJson,
    attempts: 3
  },
  {
    row: "C13",
    what: "a body that arrives one byte at a time",
    answer: [head(200, { ...json, "content-length": size }), { drip: second, every: 50 }],
    error: late,
    attempts: 2,
    attemptTimeout: 200
  },
  { row: "C14", what: "silence instead of headers", answer: [], error: late, attempts: 2, attemptTimeout: 200 },
  {
    row: "C15",
    what: "silence after the headers",
    answer: [head(200, { ...json, "content-length": size })],
    error: late,
    attempts: 2,
    attemptTimeout: 200
  },
  {
    row: "C23",
    what: "headers above the limit of the parser",
    answer: [head(200, { ...json, "x-long": "a".repeat(20_000), "content-length": size }), second],
    error: /^TransportError Headers (HPE_HEADER_OVERFLOW|UND_ERR_HEADERS_OVERFLOW)$/,
    attempts: 2
  }
]

const pageFor = (line: string) => line.includes("cursor=to-2") ? second : line.includes("cursor=to-3") ? third : first

/** The three pages, with a fault in place of the second one while `isBroken`. */
const listing = (isBroken: (attempt: number) => boolean, fault: Answer) => {
  let attempt = 0
  return rawServer({
    answers: ({ line }) => line.includes("cursor=to-2") && isBroken(++attempt) ? fault : whole(200, pageFor(line))
  })
}

const isFor = (cursor: string) => ({ line }: { readonly line: string }) => line.includes(`cursor=${cursor}`)

describe.each(transports)("a listing over $transport", ({ http, transport }) => {
  it.live.each(faults)(
    "[$row] retries after $what, and loses and repeats nothing",
    ({ answer, attemptTimeout = 2000 }) =>
      Effect.gen(function*() {
        const server = yield* listing((attempt) => attempt === 1, answer)
        const run = yield* listingOutcome().pipe(Effect.provide(client(server.url, http, { attemptTimeout })))
        const [broken, retried] = server.requests.filter(isFor("to-2"))

        assert.deepStrictEqual(run, { ids, error: undefined })
        assert.strictEqual(server.requests.length, 4)
        assert.notStrictEqual(retried?.connection, broken?.connection, "the connection of the fault was reused")
      })
  )

  it.live.each(faults)(
    "[$row] fails with a cursor to resume from when $what persists",
    ({ answer, attemptTimeout, attempts, error }) =>
      Effect.gen(function*() {
        let broken = true
        const server = yield* listing(() => broken, answer)
        const policy = attemptTimeout === undefined ? {} : { attemptTimeout, attempts: 2 }
        const run = yield* listingOutcome().pipe(Effect.provide(client(server.url, http, policy)))
        const sent = server.requests.filter(isFor("to-2")).length
        broken = false
        const rest = yield* listingOutcome(run.error?.resumeFrom).pipe(Effect.provide(client(server.url, http)))

        assert.match(errorName(run.error), error)
        assert.deepInclude(run.error, { resumeFrom: to2, pagesCompleted: 1, attempts: sent })
        assert.strictEqual(sent, typeof attempts === "number" ? attempts : attempts[transport])
        assert.deepStrictEqual([...run.ids, ...rest.ids], ids)
        assert.isUndefined(rest.error)
      })
  )

  it.live("[C10] never takes a cut body that is still JSON for the last page", () =>
    Effect.gen(function*() {
      const server = yield* listing((attempt) => attempt === 1, [head(200, json), "{}", "FINISH"])
      const run = yield* listingOutcome().pipe(Effect.provide(client(server.url, http)))

      assert.strictEqual(errorName(run.error), "DecodeError Schema")
      assert.deepStrictEqual(run.error?.resumeFrom, to2)
      assert.deepStrictEqual(run.ids, ids.slice(0, 2))
    }))

  it.live("[C21] reads a page whose characters arrive in pieces of one byte", () =>
    Effect.gen(function*() {
      const notes = "Ünïcödé, 時給, 🧑‍🍳"
      const body = pageText([wirePunch({ notes })])
      const start = head(200, { ...json, "content-length": String(Buffer.byteLength(body)) })
      const server = yield* rawServer({ answers: [[start, { drip: body, every: 0 }]] })
      const page = yield* TimePunches.page(company).pipe(Effect.provide(client(server.url, http)))

      assert.deepStrictEqual(page.items.map((punch) => punch.notes), [notes])
      assert.strictEqual(server.requests.length, 1)
    }))

  it.live("[C22] reads every page of a server that closes each connection after its response", () =>
    Effect.gen(function*() {
      const server = yield* rawServer({ answers: ({ line }) => [whole(200, pageFor(line)), "FINISH"] })
      const run = yield* listingOutcome().pipe(Effect.provide(client(server.url, http)))

      assert.deepStrictEqual(run, { ids, error: undefined })
      assert.isAtMost(server.requests.length, 3 * 4)
    }))

  it.live("[C24] treats an unrequested 100 as the transport does: ignores it, or retries", () =>
    Effect.gen(function*() {
      const server = yield* listing((attempt) => attempt === 1, ["HTTP/1.1 100 Continue\r\n\r\n", whole(200, second)])
      const run = yield* listingOutcome().pipe(Effect.provide(client(server.url, http)))

      assert.deepStrictEqual(run, { ids, error: undefined })
      assert.strictEqual(server.requests.length, transport === "node:http" ? 3 : 4)
    }))

  it.live("[C25] ignores early hints", () =>
    Effect.gen(function*() {
      const server = yield* listing(() => true, ["HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n", whole(200, second)])
      const run = yield* listingOutcome().pipe(Effect.provide(client(server.url, http)))

      assert.deepStrictEqual(run, { ids, error: undefined })
      assert.strictEqual(server.requests.length, 3)
    }))

  it.live("[C26] fails, and does not hang, on an unrequested switch of protocols", () =>
    Effect.gen(function*() {
      const server = yield* listing(
        () => true,
        head("101 Switching Protocols", { connection: "upgrade", upgrade: "x" })
      )
      const run = yield* listingOutcome().pipe(Effect.provide(client(server.url, http)))

      assert.strictEqual(
        errorName(run.error),
        transport === "node:http" ? "UnexpectedStatus 101" : "TransportError Headers UND_ERR_SOCKET"
      )
      assert.deepStrictEqual(run.error?.resumeFrom, to2)
      yield* eventually(() => assert.strictEqual(server.open(), 0))
    }))
})
