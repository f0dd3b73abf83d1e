import { NodeHttpClient } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, Fiber, Layer, Option, Schedule, Stream } from "effect"
import { FetchHttpClient, HttpClient, HttpClientError, HttpClientRequest } from "effect/http"
import { NodeTransport } from "../../src/node/index.ts"
import { FakeServer } from "../../src/testing/FakeServer.ts"
import { defaultCompany, FakeService, Fault, generatePunches } from "../../src/testing/index.ts"
import { bearer, type Envelope, idsOf, inject, pagePath } from "./support.ts"

const punches = generatePunches({ seed: 2, count: 300, companyId: defaultCompany.id, deletedShare: 0 })

const app = FakeServer.layer().pipe(Layer.provideMerge(FakeService.layer({ punches })))

const request = Effect.map(FakeServer, ({ url }) =>
  HttpClientRequest.get(url + pagePath).pipe(
    HttpClientRequest.bearerToken(defaultCompany.accessToken),
    HttpClientRequest.setUrlParams({ limit: 200 })
  ))

const response = Effect.flatMap(request, HttpClient.execute)

const text = Effect.flatMap(response, (response) => response.text)

const tagOf = (exit: Exit.Exit<unknown, unknown>) => {
  const error = Exit.isFailure(exit) ? Option.getOrUndefined(Cause.findErrorOption(exit.cause)) : undefined
  return HttpClientError.isHttpClientError(error) ? error.reason._tag : "none"
}

/** Repeats a check, because the service notices what a client does a moment later. */
const eventually = <A, E, R>(check: Effect.Effect<A, E, R>) =>
  Effect.retry(Effect.catchDefect(check, Effect.fail), Schedule.spaced("10 millis").pipe(Schedule.upTo({ times: 200 })))

const transports = [
  ["fetch", FetchHttpClient.layer],
  ["undici", NodeHttpClient.layerUndici],
  ["node:http", NodeHttpClient.layerNodeHttp],
  ["NodeTransport", NodeTransport.layer()]
] as const

describe.each(transports)("the fake service over a socket, with %s", (_name, layer) => {
  it.live("responds with pages and with errors", () =>
    Effect.gen(function*() {
      const { url } = yield* FakeServer
      const page: Envelope = JSON.parse(yield* text)
      const refused = yield* HttpClient.get(url + pagePath)

      assert.match(url, /^http:\/\/127\.0\.0\.1:\d+$/)
      assert.deepStrictEqual(idsOf(page.data), idsOf(punches).slice(0, 200))
      assert.strictEqual(refused.status, 401)
      assert.strictEqual(refused.headers["content-type"], "application/problem+json")
      yield* refused.text
    }).pipe(Effect.provide([app, layer])))

  it.live("issues tokens", () =>
    Effect.gen(function*() {
      const { url } = yield* FakeServer
      const service = yield* FakeService
      const issued = yield* HttpClientRequest.post(`${url}/oauth2/token`).pipe(
        HttpClientRequest.bodyUrlParams({
          grant_type: "client_credentials",
          client_id: "fake-client",
          client_secret: "fake-client-secret"
        }),
        HttpClient.execute
      )

      assert.strictEqual(issued.status, 200)
      assert.match(yield* issued.text, /"token_type":"Bearer"/)
      assert.strictEqual(yield* service.tokensIssued, 1)
    }).pipe(Effect.provide([app, layer])))

  it.live("resets the connection", () =>
    Effect.gen(function*() {
      yield* inject(Fault.reset, { times: 1 })
      assert.strictEqual(tagOf(yield* Effect.exit(text)), "TransportError")
      assert.isAbove((yield* text).length, 1000)
    }).pipe(Effect.provide([app, layer])))

  it.live.each([0.3, 1])("cuts the body at %s", (share) =>
    Effect.gen(function*() {
      yield* inject(Fault.cutBody(share), { times: 1 })
      const cut = yield* response

      assert.strictEqual(cut.status, 200)
      assert.strictEqual(tagOf(yield* Effect.exit(cut.text)), "DecodeError")
      assert.isAbove((yield* text).length, 1000)
    }).pipe(Effect.provide([app, layer])))

  it.live.each([Fault.stallBeforeHeaders, Fault.stallBody(0.5)])(
    "stalls until the client disconnects",
    (fault) =>
      Effect.gen(function*() {
        const service = yield* FakeService
        yield* inject(fault)
        const fiber = yield* Effect.forkChild(text)
        yield* eventually(Effect.map(service.inFlight, (count) => assert.strictEqual(count, 1)))
        yield* Effect.sleep("30 millis")
        assert.isUndefined(fiber.pollUnsafe())
        yield* Fiber.interrupt(fiber)
        yield* eventually(Effect.map(service.inFlight, (count) => assert.strictEqual(count, 0)))
      }).pipe(Effect.provide([app, layer]))
  )

  it.live("sends an endless body to a client that stops reading", () =>
    Effect.gen(function*() {
      yield* inject(Fault.oversizedBody(Infinity))
      const endless = yield* HttpClient.withScope(yield* HttpClient.HttpClient).execute(yield* request)
      const bytes = yield* endless.stream.pipe(
        Stream.scan(() => 0, (sum, piece) => sum + piece.length),
        Stream.takeUntil((sum) => sum > 2_000_000),
        Stream.runLast
      )

      assert.isTrue(Option.isSome(bytes))
    }).pipe(Effect.scoped, Effect.provide([app, layer])))

  it.live("sends statuses, headers, and no body where a status has none", () =>
    Effect.gen(function*() {
      yield* inject(Fault.retryAfter("7", 503), { requests: 1 })
      yield* inject(Fault.status(204), { requests: 2 })
      const busy = yield* response
      const nothing = yield* response

      assert.deepInclude(busy.headers, { "retry-after": "7" })
      assert.include(yield* busy.text, "Service Unavailable")
      assert.strictEqual(nothing.status, 204)
      assert.strictEqual(yield* nothing.text, "")
    }).pipe(Effect.provide([app, layer])))
})

describe("the server of the fake service", () => {
  it.live("stops with a stalled request, which no client ends", () =>
    Effect.gen(function*() {
      yield* inject(Fault.stallBody())
      const { url } = yield* FakeServer
      const answer = yield* Effect.promise(() =>
        fetch(`${url}${pagePath}`, { headers: bearer(defaultCompany.accessToken) })
      )
      return answer.status
    }).pipe(Effect.provide(app), Effect.map((status) => assert.strictEqual(status, 200))))
})
