/** The transport for Node: its settings, its connections, and the end of a request in every phase. */
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Exit, Fiber, Layer, Scope, Stream } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { Agent, MockAgent } from "undici"
import { NodeTransport } from "../../src/node/index.ts"
import { eventually } from "../sockets/support/eventually.ts"
import { type Answer, chunk, head, rawServer, whole } from "../sockets/support/rawServer.ts"
import { answered, chunked, ending, json, kindOf, mebibyte, transport } from "./support.ts"

const agent = new Agent()

const settings: ReadonlyArray<readonly [NodeTransport.NodeTransportOptions, string]> = [
  [{ connections: 0 }, "connections must be a whole number from 1 on"],
  [{ connections: 1.5 }, "connections must be a whole number from 1 on"],
  [{ connections: Infinity }, "connections must be a whole number from 1 on"],
  [{ connectTimeout: 0 }, "connectTimeout must be a duration above zero, and not without end"],
  [{ connectTimeout: NaN }, "connectTimeout must be a duration above zero, and not without end"],
  [{ connectTimeout: Infinity }, "connectTimeout must be a duration above zero, and not without end"],
  [{ maxBodySize: 8 * mebibyte - 1 }, "maxBodySize must be a whole number from 8388608 on"],
  [{ maxBodySize: NaN }, "maxBodySize must be a whole number from 8388608 on"],
  [{ maxBodySize: "7 MiB" }, "maxBodySize must be a whole number from 8388608 on"],
  [{ dispatcher: agent, connections: 4 }, "dispatcher must be the only setting of connections"],
  [{ dispatcher: agent, tls: {} }, "dispatcher must be the only setting of connections"]
]

describe("NodeTransport.layer", () => {
  it.effect.each(settings)("names a setting that is not possible: %j", ([options, message]) =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(Effect.scoped(Layer.build(NodeTransport.layer(options))))

      assert.include(error.message, message)
    }))

  it.live("takes an undefined setting for none", () =>
    Effect.gen(function*() {
      const { url } = yield* rawServer({ answers: [whole(200, "{}")] })
      const options = {
        connections: undefined,
        connectTimeout: undefined,
        maxBodySize: undefined,
        dispatcher: undefined
      }
      const layer = NodeTransport.layer({ ...options, tls: { checkServerIdentity: undefined } })

      assert.strictEqual((yield* Effect.provide(HttpClient.get(url), layer)).status, 200)
    }))

  it.live("opens no more connections than it may, for a thousand requests at once", () =>
    Effect.gen(function*() {
      const body = JSON.stringify("x".repeat(20_000))
      const server = yield* rawServer({ answers: [whole(200, body)] })
      const one = Effect.flatMap(HttpClient.get(server.url), ({ text }) => text)
      const all = yield* Effect.all(Array.from({ length: 1000 }, () => one), { concurrency: "unbounded" })

      assert.isTrue(all.every((text) => text === body))
      assert.strictEqual(server.requests.length, 1000)
      assert.strictEqual(server.connections.length, 16)
    }).pipe(Effect.provide(transport)))

  it.live("closes its connections at its end, and fails the requests that are in flight", () =>
    Effect.gen(function*() {
      const server = yield* rawServer({ answers: [[head(200, { ...json, "content-length": "9" }), "x"]] })
      const scope = yield* Scope.make()
      const client = Context.get(yield* Layer.buildWithScope(transport, scope), HttpClient.HttpClient)
      const response = yield* client.get(server.url)
      const reading = yield* Effect.forkChild(Effect.flip(response.text))
      yield* Effect.sleep("20 millis")
      yield* Scope.close(scope, Exit.void)

      assert.strictEqual(kindOf(yield* Fiber.join(reading)), "DecodeError UND_ERR_DESTROYED")
      assert.strictEqual(kindOf(yield* Effect.flip(client.get(server.url))), "TransportError UND_ERR_DESTROYED")
      yield* eventually(() => assert.strictEqual(server.open(), 0))
    }))

  it.live("answers from a mock agent of undici, and lets no other request leave", () =>
    Effect.gen(function*() {
      const agent = new MockAgent()
      agent.disableNetConnect()
      agent.get("https://api.test").intercept({ path: "/punches" }).reply(200, { count: 1 })
      const send = (url: string) =>
        Effect.flatMap(HttpClient.get(url), ({ json }) => json).pipe(
          Effect.provide(NodeTransport.layer({ dispatcher: agent }))
        )

      assert.deepStrictEqual(yield* send("https://api.test/punches"), { count: 1 })
      assert.match(String(yield* Effect.flip(send("https://api.test/others"))), /Transport/)
    }))

  it.live("sends through a dispatcher of the application, and leaves it open", () =>
    Effect.gen(function*() {
      const server = yield* rawServer({ answers: [whole(200, "{}")] })
      const dispatcher = yield* Effect.acquireRelease(
        Effect.sync(() => new Agent({ connections: 1 })),
        (agent) => Effect.promise(() => agent.destroy())
      )
      const layer = NodeTransport.layer({ dispatcher })
      const get = Effect.flatMap(HttpClient.get(server.url), ({ text }) => text)
      yield* Effect.provide(get, layer)
      assert.strictEqual(yield* Effect.provide(get, layer), "{}")

      assert.isFalse(dispatcher.destroyed)
      assert.strictEqual(server.connections.length, 1)
    }))

  it.live("keeps a connection after an error response, and opens another after a broken one", () =>
    Effect.gen(function*() {
      const broken: Answer = [head(200, { "content-length": "9" }), "x", "RESET"]
      const ok = whole(200, "{}")
      const server = yield* rawServer({ answers: [whole(500, "no"), ok, broken, ok] })
      const layer = Layer.orDie(NodeTransport.layer({ connections: 1 }))
      const get = Effect.flatMap(HttpClient.get(server.url), ({ text }) => ending(text))
      const read = yield* Effect.all([get, get, get, get]).pipe(Effect.provide(layer))

      assert.deepStrictEqual(read, ["no", "{}", "DecodeError ECONNRESET", "{}"])
      assert.deepStrictEqual(server.requests.map(({ connection }) => connection), [1, 1, 1, 2])
    }))
})

/** The phases of a request: what the server has sent when the request ends. */
const phases: ReadonlyArray<readonly [phase: string, answer: Answer]> = [
  ["before its headers", []],
  ["between its headers and its body", head(200, { ...json, "content-length": "9" })],
  ["within its body", [head(200, { ...json, "content-length": "9" }), "x"]],
  ["within a chunk", [head(200, chunked), "5\r\nab"]],
  ["within gzip", [head(200, { ...chunked, "content-encoding": "gzip" }), chunk(Uint8Array.of(0x1f, 0x8b, 8, 0))]]
]

const readText = (url: string) => Effect.flatMap(HttpClient.get(url), ({ text }) => text)
const readStream = (url: string) => Effect.flatMap(HttpClient.get(url), ({ stream }) => Stream.runDrain(stream))
const readScoped = (url: string) =>
  Effect.scoped(Effect.flatMap(
    HttpClient.HttpClient,
    (client) => Effect.flatMap(HttpClient.withScope(client).get(url), ({ text }) => text)
  ))

const readers = [["as text", readText], ["as a stream", readStream], ["in a scope", readScoped]] as const

describe("a request over the transport for Node", () => {
  it.live.each(phases.flatMap(([phase, answer]) => readers.map(([how, read]) => [phase, how, answer, read] as const)))(
    "that is interrupted frees its socket: %s, read %s",
    ([_phase, _how, answer, read]) =>
      Effect.gen(function*() {
        const server = yield* rawServer({ answers: [answer] })
        const fiber = yield* Effect.forkChild(read(server.url))
        yield* eventually(() => assert.strictEqual(server.requests.length, 1))
        yield* Effect.sleep("20 millis")
        assert.strictEqual(server.open(), 1)
        yield* Fiber.interrupt(fiber)

        yield* eventually(() => assert.strictEqual(server.open(), 0))
      }).pipe(Effect.provide(transport))
  )

  it.live("that is interrupted while it waits for a connection is never sent", () =>
    Effect.gen(function*() {
      const server = yield* rawServer({ answers: [[]] })
      const first = yield* Effect.forkChild(readText(`${server.url}/first`))
      yield* eventually(() => assert.strictEqual(server.requests.length, 1))
      const second = yield* Effect.forkChild(readText(`${server.url}/second`))
      yield* Effect.sleep("20 millis")
      yield* Fiber.interrupt(second)
      yield* Fiber.interrupt(first)
      yield* eventually(() => assert.strictEqual(server.open(), 0))

      assert.strictEqual(server.requests.length, 1)
    }).pipe(Effect.provide(Layer.orDie(NodeTransport.layer({ connections: 1 })))))

  it.live("whose scope closes elsewhere fails its reader", () =>
    Effect.gen(function*() {
      const server = yield* rawServer({ answers: [[head(200, { "content-length": "9" }), "x"]] })
      const scope = yield* Scope.make()
      const client = HttpClient.withScope(yield* HttpClient.HttpClient)
      const response = yield* Scope.provide(client.get(server.url), scope)
      const reading = yield* Effect.forkChild(ending(response.text))
      yield* Effect.sleep("20 millis")
      yield* Scope.close(scope, Exit.void)

      assert.strictEqual(yield* Fiber.join(reading), "DecodeError UND_ERR_ABORTED")
      yield* eventually(() => assert.strictEqual(server.open(), 0))
    }).pipe(Effect.provide(transport)))

  it.live("frees its socket when its stream is opened and closed again", () =>
    answered([head(200, chunked), chunk("x")], ({ stream }, server) =>
      Effect.gen(function*() {
        yield* Effect.asVoid(Effect.scoped(Stream.toPull(stream)))
        yield* eventually(() => assert.strictEqual(server.open(), 0))
      })))

  it.live("frees its socket when its response is dropped unread", () =>
    Effect.gen(function*() {
      setFlagsFromString("--expose-gc")
      const collect: () => void = runInNewContext("gc")
      const server = yield* rawServer({ answers: [[head(200, chunked), { endless: chunk("x".repeat(60_000)) }]] })
      yield* Effect.asVoid(HttpClient.get(server.url))
      assert.strictEqual(server.open(), 1)

      yield* eventually(() => {
        collect()
        assert.strictEqual(server.open(), 0)
      })
    }).pipe(Effect.provide(transport)))

  it.live("slows down a server whose body is not read, or not as fast", () =>
    answered(
      [head(200, json), { endless: Buffer.alloc(64 * 1024, 0x20) }],
      ({ stream }, server) =>
        Effect.gen(function*() {
          const sent = Effect.delay(Effect.sync(server.sent), "100 millis")
          let unread = yield* sent
          for (let more = yield* sent; more > unread && more < 16 * mebibyte; more = yield* sent) unread = more
          const read = yield* stream.pipe(
            Stream.tap(() => Effect.sleep("10 millis")),
            Stream.take(20),
            Stream.runFold(() => 0, (sum, part) => sum + part.length)
          )

          assert.isBelow(server.sent(), unread + read + 2 * mebibyte)
          assert.isBelow(unread, 16 * mebibyte, "it is still sent")
        })
    ))

  it.live("reads a stream to its end, whatever the speed of its reader", () =>
    Effect.gen(function*() {
      const body = Buffer.from(Array.from({ length: 3 * mebibyte }, (_, i) => i % 251))
      const parts = yield* answered(
        whole(200, body),
        ({ stream }) => stream.pipe(Stream.tap(() => Effect.sleep("1 millis")), Stream.runCollect)
      )

      assert.isTrue(Buffer.concat(parts).equals(body))
    }))

  it.live("fails with the codes of the platform", () =>
    Effect.gen(function*() {
      const refused = yield* ending(HttpClient.execute(HttpClientRequest.get("http://127.0.0.1:1")))
      const { url } = yield* rawServer({ answers: ["RESET"] })

      assert.strictEqual(refused, "TransportError ECONNREFUSED")
      assert.strictEqual(yield* ending(HttpClient.get(url)), "TransportError ECONNRESET")
    }).pipe(Effect.provide(transport)))
})
