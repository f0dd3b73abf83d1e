/** What HTTP allows and a service should not do, and what a run leaves behind: no trace header, no socket, no extra request. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Layer, Scope, Stream, Tracer } from "effect"
import { HttpClient } from "effect/http"
import { TimePunches, TracePropagation } from "../../src/index.ts"
import { company, oauth } from "../support/client.ts"
import { client, errorName, listingOutcome, threePages, transports } from "../support/transports.ts"
import { eventually } from "./support/eventually.ts"
import { type Answer, head, rawServer, whole } from "./support/rawServer.ts"

const { first, ids, second, third } = threePages
const json = { "content-type": "application/json" }

const pageFor = (line: string) => line.includes("cursor=to-2") ? second : line.includes("cursor=to-3") ? third : first

/** The three pages, each with these headers. */
const pagesWith = (headers: Readonly<Record<string, string>>) =>
  rawServer({ answers: ({ line }) => whole(200, pageFor(line), { ...json, ...headers }) })

/** The first page, then this answer to every request. */
const firstThen = (answer: Answer) => rawServer({ answers: [whole(200, first), answer] })

const token = whole(200, JSON.stringify({ access_token: "issued", token_type: "Bearer", expires_in: 3600 }))

describe.each(transports)("a listing over $transport", ({ http, transport }) => {
  it.live.each([204, 205, 304])("[H22] never takes a %s for an empty page", (status) =>
    Effect.gen(function*() {
      const server = yield* firstThen(head(status, status === 205 ? { "content-length": "0" } : {}))
      const run = yield* listingOutcome().pipe(Effect.provide(client(server.url, http)))

      assert.strictEqual(errorName(run.error), `UnexpectedStatus ${status}`)
      assert.deepStrictEqual(run.ids, ids.slice(0, 2))
      assert.strictEqual(server.requests.length, 2)
    }))

  it.live("[H22] never takes a part of a page for a page", () =>
    Effect.gen(function*() {
      const server = yield* firstThen(whole(206, second, { ...json, "content-range": "bytes 0-99/200" }))
      const run = yield* listingOutcome().pipe(Effect.provide(client(server.url, http)))

      assert.strictEqual(errorName(run.error), "UnexpectedStatus 206")
      assert.deepStrictEqual(run.ids, ids.slice(0, 2))
    }))

  it.live("[H32] refuses a thousand nested encodings", () =>
    Effect.gen(function*() {
      const encodings = Array.from({ length: 1000 }, () => "gzip").join(", ")
      const server = yield* firstThen(
        whole(200, new Uint8Array(100).fill(0xff), { ...json, "content-encoding": encodings })
      )
      const run = yield* listingOutcome().pipe(Effect.provide(client(server.url, http)))

      assert.match(
        errorName(run.error),
        transport === "fetch" ? /^(TransportError|DecodeError)/ : /^DecodeError ContentEncoding$/
      )
      assert.deepStrictEqual(run.ids, ids.slice(0, 2))
    }))

  it.live("[H37] ignores a wrong clock and an age, and reconnects after each response that closes its connection", () =>
    Effect.gen(function*() {
      const server = yield* pagesWith({ date: "Thu, 01 Jan 1970 00:00:00 GMT", age: "99999999", connection: "close" })
      const run = yield* listingOutcome().pipe(Effect.provide(client(server.url, http)))

      assert.deepStrictEqual(run, { ids, error: undefined })
      assert.strictEqual(server.requests.length, 3)
      assert.strictEqual(server.connections.length, 3)
    }))

  it.live("[R1] requests no page that is not consumed", () =>
    Effect.gen(function*() {
      const server = yield* pagesWith({})
      const taken = yield* TimePunches.list(company).pipe(
        Stream.take(2),
        Stream.map((punch) => punch.id),
        Stream.runCollect,
        Effect.provide(client(server.url, http))
      )

      assert.deepStrictEqual<ReadonlyArray<number>>(taken, ids.slice(0, 2))
      assert.strictEqual(server.requests.length, 1)
    }))

  it.live.each(
    [
      ["before its headers", []],
      ["within its body", [head(200, { ...json, "content-length": "5000" }), second]]
    ] as const
  )("[R2] frees the connection of a page that is abandoned %s", ([_when, answer]) =>
    Effect.gen(function*() {
      const server = yield* firstThen(answer)
      const fiber = yield* Effect.forkChild(listingOutcome().pipe(Effect.provide(client(server.url, http))))
      yield* eventually(() => assert.strictEqual(server.requests.length, 2))
      yield* Effect.sleep("20 millis")
      const connection = server.connections[(server.requests[1]?.connection ?? 0) - 1]
      assert.isDefined(connection)
      assert.isUndefined(connection?.closedAt)
      yield* Fiber.interrupt(fiber)
      // Long before the limit of an attempt would end it.
      yield* eventually(() => assert.isDefined(connection?.closedAt))
    }))

  it.live("[A22] frees the connection of a token request when its last waiter is interrupted", () =>
    Effect.gen(function*() {
      const server = yield* rawServer({ answers: [[]] })
      yield* Effect.gen(function*() {
        const waiting = yield* Effect.forEach([1, 2, 3], () => Effect.forkChild(listingOutcome()))
        yield* eventually(() => assert.strictEqual(server.requests.length, 1))
        yield* Fiber.interruptAll(waiting)
        yield* eventually(() =>
          assert.isDefined(server.connections[(server.requests[0]?.connection ?? 0) - 1]?.closedAt)
        )
      }).pipe(Effect.provide(client(server.url, http, { credentials: oauth })))

      assert.strictEqual(server.requests.length, 1)
    }))

  it.live("[R8] ends with an error when the layer of the client closes during a run", () =>
    Effect.gen(function*() {
      const server = yield* firstThen([])
      const scope = yield* Scope.make()
      const context = yield* Layer.buildWithScope(
        client(server.url, http, { attemptTimeout: "200 millis", attempts: 1 }),
        scope
      )
      const fiber = yield* Effect.forkChild(Effect.provide(listingOutcome(), context))
      yield* eventually(() => assert.strictEqual(server.requests.length, 2))
      yield* Scope.close(scope, Exit.void)
      const run = yield* Fiber.join(fiber)

      assert.strictEqual(run.error?._tag, "TransportError")
      assert.deepStrictEqual(run.ids, ids.slice(0, 2))
    }))

  it.live.each(
    [
      ["a few bytes", "{}", "application/problem+json"],
      ["longer than its cap", "x".repeat(200_000), "application/problem+json"],
      ["a page of HTML", "x".repeat(200_000), "text/html"]
    ] as const
  )("[R9] keeps no connection of a response that it discards: %s", ([_what, body, type]) =>
    Effect.gen(function*() {
      const busy = whole(503, body, { "content-type": type })
      const answers = [...Array.from({ length: 39 }, () => busy), whole(200, third)]
      const server = yield* rawServer({ answers })
      let open = 0
      const patient = client(server.url, http, { attempts: 40, budget: Infinity, maxDelay: "2 millis" })
      yield* Effect.gen(function*() {
        yield* TimePunches.page(company)
        yield* eventually(() => assert.isAtMost(server.open(), 2))
        open = server.open()
      }).pipe(Effect.provide(patient))

      assert.strictEqual(server.requests.length, 40)
      assert.isAtMost(open, 2)
    }))

  it.live("[S9] sends no trace header to the service", () =>
    Effect.gen(function*() {
      const server = yield* rawServer({ answers: [token, whole(200, third)] })
      yield* TimePunches.page(company).pipe(
        Effect.withSpan("a run of the application"),
        Effect.provide(client(server.url, http, { credentials: oauth })),
        Effect.provideService(Tracer.Tracer, Tracer.make({ span: (options) => new Tracer.NativeSpan(options) }))
      )

      assert.strictEqual(server.requests.length, 2)
      for (const { headers } of server.requests) assert.notProperty(headers, "traceparent")
      for (const { headers } of server.requests) assert.notProperty(headers, "b3")
    }))

  it.live("[S9] sends no trace header where the application's client switches them on inside itself", () =>
    Effect.gen(function*() {
      const server = yield* rawServer({ answers: [token, whole(200, third)] })
      const propagating = Layer.effect(
        HttpClient.HttpClient,
        Effect.map(
          HttpClient.HttpClient,
          HttpClient.transformResponse(Effect.provideService(HttpClient.TracerPropagationEnabled, true))
        )
      ).pipe(Layer.provide(http))
      yield* TimePunches.page(company).pipe(
        Effect.withSpan("a run of the application"),
        Effect.provide(client(server.url, propagating, { credentials: oauth })),
        Effect.provideService(Tracer.Tracer, Tracer.make({ span: (options) => new Tracer.NativeSpan(options) }))
      )

      assert.strictEqual(server.requests.length, 2)
      for (const { headers } of server.requests) assert.notProperty(headers, "traceparent")
      for (const { headers } of server.requests) assert.notProperty(headers, "b3")
    }))

  it.live("[S9] sends trace headers with TracePropagation", () =>
    Effect.gen(function*() {
      const server = yield* rawServer({ answers: [token, whole(200, third)] })
      const propagating = client(server.url, http, { credentials: oauth }).pipe(
        Layer.provide(Layer.succeed(TracePropagation, true))
      )
      yield* TimePunches.page(company).pipe(Effect.withSpan("a run of the application"), Effect.provide(propagating))

      assert.strictEqual(server.requests.length, 2)
      for (const { headers } of server.requests)
        assert.match(headers["traceparent"] ?? "", /^00-[\da-f]{32}-[\da-f]{16}-01$/)
    }))
})
