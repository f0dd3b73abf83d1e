/** Faults of the connection, over real sockets and all three transports: nothing lost, nothing twice, or an error to resume from. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { Cursor, TimePunches } from "../../src/index.ts"
import { company } from "../support/client.ts"
import { brief, client, outcome, pageOf, threePages, type Transport, transports } from "../support/transports.ts"
import { wirePunch } from "../support/wire.ts"
import { eventually } from "./support/eventually.ts"
import { type Answer, chunk, head, rawServer, whole } from "./support/rawServer.ts"

const { first, ids, second, third } = threePages
const to2 = Option.some(Cursor.make("to-2"))
const json = { "content-type": "application/json" }
const chunked = { ...json, "transfer-encoding": "chunked" }
const size = String(Buffer.byteLength(second))

/** What stands in the place of the second page, and what is made of it when it is there at every try. */
interface Fault {
  readonly row: string
  readonly what: string
  readonly answer: Answer
  readonly error: RegExp
  readonly tries: number | Readonly<Record<Transport, number>>
  readonly attemptTimeout?: number
}

const cut = /^TransportError headers (ECONNRESET|UND_ERR_SOCKET)$/
const cutBody = /^TransportError body (ECONNRESET|UND_ERR_SOCKET)$/
const late = /^TransportError timeout$/
const notHttp = /^TransportError headers (HPE_\w+|UND_ERR_HTTP_PARSER)$/
const notJson = /^DecodeError NotJson$/
const smuggling = /^TransportError headers (HPE_\w+|UND_ERR_HTTP_PARSER|UND_ERR_RES_CONTENT_LENGTH_MISMATCH)$/

const faults: ReadonlyArray<Fault> = [
  { row: "C2", what: "a reset before any byte", answer: "RESET", error: cut, tries: 4 },
  { row: "C3", what: "an end before any byte", answer: "FINISH", error: cut, tries: 4 },
  {
    row: "C4",
    what: "an end within the headers",
    answer: [head(200, json).slice(0, 30), "FINISH"],
    error: cut,
    tries: 4
  },
  { row: "C5", what: "an answer that is not HTTP", answer: ["SSH-2.0-Server\r\n", "FINISH"], error: notHttp, tries: 2 },
  {
    row: "C5",
    what: "a TLS alert",
    answer: ["\u0015\u0003\u0001\u0000\u0002\u0002\n", "FINISH"],
    error: notHttp,
    tries: 2
  },
  {
    row: "C6",
    what: "a reset within the body",
    answer: [head(200, { ...json, "content-length": size }), second.slice(0, 300), { pause: 20 }, "RESET"],
    error: cutBody,
    tries: 4
  },
  {
    row: "C7",
    what: "a body shorter than its length",
    answer: [head(200, { ...json, "content-length": `${Number(size) + 1}` }), second, "FINISH"],
    error: cutBody,
    tries: 4
  },
  {
    row: "C8",
    what: "a chunked body without its last chunk, its JSON complete",
    answer: [head(200, chunked), chunk(second), "FINISH"],
    error: cutBody,
    tries: 4
  },
  {
    row: "C8",
    what: "a chunk of broken size",
    answer: [head(200, chunked), chunk(second.slice(0, 100)), { pause: 20 }, "ZZ\r\n"],
    error: /^TransportError body (ECONNRESET|UND_ERR_HTTP_PARSER)$/,
    tries: { fetch: 2, undici: 2, "node:http": 4 }
  },
  {
    row: "C9",
    what: "a body that ends with the connection, too early",
    answer: [head(200, json), second.slice(0, 300), "FINISH"],
    error: notJson,
    tries: 3
  },
  {
    row: "C11",
    what: "a length given twice",
    answer: [head(200, { ...json, "content-length": size, "Content-Length": "5" }), second],
    error: smuggling,
    tries: 2
  },
  {
    row: "C11",
    what: "a length beside chunks",
    answer: [head(200, { ...chunked, "content-length": size }), chunk(second), chunk("")],
    error: smuggling,
    tries: 2
  },
  {
    row: "C12",
    what: "a length shorter than the body",
    answer: [head(200, { ...json, "content-length": `${Number(size) - 20}` }), second],
    error: notJson,
    tries: 3
  },
  {
    row: "C13",
    what: "a body that comes a byte at a time",
    answer: [head(200, { ...json, "content-length": size }), { drip: second, every: 50 }],
    error: late,
    tries: 2,
    attemptTimeout: 200
  },
  { row: "C14", what: "silence instead of headers", answer: [], error: late, tries: 2, attemptTimeout: 200 },
  {
    row: "C15",
    what: "silence after the headers",
    answer: [head(200, { ...json, "content-length": size })],
    error: late,
    tries: 2,
    attemptTimeout: 200
  },
  {
    row: "C23",
    what: "more headers than anybody reads",
    answer: [head(200, { ...json, "x-long": "a".repeat(20_000), "content-length": size }), second],
    error: /^TransportError headers (HPE_HEADER_OVERFLOW|UND_ERR_HEADERS_OVERFLOW)$/,
    tries: 2
  }
]

const pageFor = (line: string) => line.includes("cursor=to-2") ? second : line.includes("cursor=to-3") ? third : first

/** The three pages, with a fault in the place of the second one for as long as `isBroken` says so. */
const listing = (isBroken: (tries: number) => boolean, fault: Answer) => {
  let tries = 0
  return rawServer({
    answers: ({ line }) => line.includes("cursor=to-2") && isBroken(++tries) ? fault : whole(200, pageFor(line))
  })
}

const asksFor = (cursor: string) => ({ line }: { readonly line: string }) => line.includes(`cursor=${cursor}`)

describe.each(transports)("a listing over $transport", ({ http, transport }) => {
  it.live.each(faults)(
    "[$row] tries again after $what, and loses and repeats nothing",
    ({ answer, attemptTimeout = 2000 }) =>
      Effect.gen(function*() {
        const server = yield* listing((tries) => tries === 1, answer)
        const run = yield* outcome().pipe(Effect.provide(client(server.url, http, { attemptTimeout })))
        const [broken, retried] = server.requests.filter(asksFor("to-2"))

        assert.deepStrictEqual(run, { ids, error: undefined })
        assert.strictEqual(server.requests.length, 4)
        assert.notStrictEqual(retried?.connection, broken?.connection, "the connection of the fault was used again")
      })
  )

  it.live.each(faults)(
    "[$row] fails with where to go on when $what stays",
    ({ answer, attemptTimeout, error, tries }) =>
      Effect.gen(function*() {
        let broken = true
        const server = yield* listing(() => broken, answer)
        const policy = attemptTimeout === undefined ? {} : { attemptTimeout, attempts: 2 }
        const run = yield* outcome().pipe(Effect.provide(client(server.url, http, policy)))
        const asked = server.requests.filter(asksFor("to-2")).length
        broken = false
        const rest = yield* outcome(run.error?.resumeFrom).pipe(Effect.provide(client(server.url, http)))

        assert.match(brief(run.error), error)
        assert.deepInclude(run.error, { resumeFrom: to2, pagesCompleted: 1, attempts: asked })
        assert.strictEqual(asked, typeof tries === "number" ? tries : tries[transport])
        assert.deepStrictEqual([...run.ids, ...rest.ids], ids)
        assert.isUndefined(rest.error)
      })
  )

  it.live("[C10] never takes a cut body that is JSON all the same for the last page", () =>
    Effect.gen(function*() {
      const server = yield* listing((tries) => tries === 1, [head(200, json), "{}", "FINISH"])
      const run = yield* outcome().pipe(Effect.provide(client(server.url, http)))

      assert.strictEqual(brief(run.error), "DecodeError Schema")
      assert.deepStrictEqual(run.error?.resumeFrom, to2)
      assert.deepStrictEqual(run.ids, ids.slice(0, 2))
    }))

  it.live("[C21] reads a page whose characters come in pieces of one byte", () =>
    Effect.gen(function*() {
      const notes = "Ünïcödé, 時給, 🧑‍🍳"
      const body = pageOf([wirePunch({ notes })])
      const start = head(200, { ...json, "content-length": String(Buffer.byteLength(body)) })
      const server = yield* rawServer({ answers: [[start, { drip: body, every: 0 }]] })
      const page = yield* TimePunches.page(company).pipe(Effect.provide(client(server.url, http)))

      assert.deepStrictEqual(page.items.map((punch) => punch.notes), [notes])
      assert.strictEqual(server.requests.length, 1)
    }))

  it.live("[C22] survives a server that ends each connection right behind its answer", () =>
    Effect.gen(function*() {
      const server = yield* rawServer({ answers: ({ line }) => [whole(200, pageFor(line)), "FINISH"] })
      const run = yield* outcome().pipe(Effect.provide(client(server.url, http)))

      assert.deepStrictEqual(run, { ids, error: undefined })
      assert.isAtMost(server.requests.length, 3 * 4)
    }))

  it.live("[C24] takes a 100 that nobody asked for as the transport does: as nothing, or as a fault", () =>
    Effect.gen(function*() {
      const server = yield* listing((tries) => tries === 1, ["HTTP/1.1 100 Continue\r\n\r\n", whole(200, second)])
      const run = yield* outcome().pipe(Effect.provide(client(server.url, http)))

      assert.deepStrictEqual(run, { ids, error: undefined })
      assert.strictEqual(server.requests.length, transport === "node:http" ? 3 : 4)
    }))

  it.live("[C25] passes over early hints", () =>
    Effect.gen(function*() {
      const server = yield* listing(() => true, ["HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n", whole(200, second)])
      const run = yield* outcome().pipe(Effect.provide(client(server.url, http)))

      assert.deepStrictEqual(run, { ids, error: undefined })
      assert.strictEqual(server.requests.length, 3)
    }))

  it.live("[C26] fails, and does not hang, when the protocol is switched without being asked", () =>
    Effect.gen(function*() {
      const server = yield* listing(
        () => true,
        head("101 Switching Protocols", { connection: "upgrade", upgrade: "x" })
      )
      const run = yield* outcome().pipe(Effect.provide(client(server.url, http)))

      assert.strictEqual(
        brief(run.error),
        transport === "node:http" ? "UnexpectedStatus 101" : "TransportError headers UND_ERR_SOCKET"
      )
      assert.deepStrictEqual(run.error?.resumeFrom, to2)
      yield* eventually(() => assert.strictEqual(server.open(), 0))
    }))
})
