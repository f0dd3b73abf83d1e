import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, Fiber, Layer, Option, Stream } from "effect"
import { HttpClient, HttpClientError, HttpClientRequest, type HttpClientResponse } from "effect/http"
import { TestClock } from "effect/testing"
import {
  defaultCompany,
  FakeService,
  type FakeServiceOptions,
  Fault,
  generatePunches
} from "../../src/testing/index.ts"
import { type Envelope, idsOf, inject, pagePath } from "./support.ts"

const punches = generatePunches({ seed: 2, count: 300, companyId: defaultCompany.id, deletedShare: 0 })

const app = (options: FakeServiceOptions = {}) =>
  Layer.provideMerge(FakeService.layerClient, FakeService.layer({ punches, ...options }))

const request = HttpClientRequest.get(`https://anywhere.test${pagePath}`).pipe(
  HttpClientRequest.bearerToken(defaultCompany.accessToken),
  HttpClientRequest.setUrlParams({ limit: 200 })
)

const text = Effect.flatMap(HttpClient.execute(request), (response) => response.text)

const reasonOf = (exit: Exit.Exit<unknown, unknown>) => {
  const error = Exit.isFailure(exit) ? Option.getOrUndefined(Cause.findErrorOption(exit.cause)) : undefined
  return HttpClientError.isHttpClientError(error) ? error.reason : undefined
}

const codeOf = (reason: HttpClientError.HttpClientErrorReason | undefined) =>
  reason !== undefined && "cause" in reason && reason.cause instanceof Error && "code" in reason.cause
    ? reason.cause.code
    : undefined

const sizeOf = (response: HttpClientResponse.HttpClientResponse) =>
  Stream.runFold(response.stream, () => 0, (sum, bytes) => sum + bytes.length)

describe("the client in process", () => {
  it.effect("gets pages, and large ones in chunks", () =>
    Effect.gen(function*() {
      const response = yield* HttpClient.execute(request)
      const chunks = yield* Stream.runCollect(response.stream)
      const page: Envelope = JSON.parse(yield* response.text)

      assert.strictEqual(response.status, 200)
      assert.isAbove(chunks.length, 1)
      assert.deepStrictEqual(idsOf(page.data), idsOf(punches).slice(0, 200))
      assert.strictEqual(response.headers["content-length"], String(yield* sizeOf(response)))
    }).pipe(Effect.provide(app())))

  it.effect("appears in the record of requests", () =>
    Effect.gen(function*() {
      const service = yield* FakeService
      yield* TestClock.adjust("5 seconds")
      yield* text
      const [record, ...others] = yield* service.requests

      assert.isEmpty(others)
      assert.deepInclude(record, { index: 0, number: 1, endpoint: "page", method: "GET", path: pagePath, at: 5000 })
      assert.deepStrictEqual(record?.query, { limit: "200" })
      assert.strictEqual(record?.rawQuery, "limit=200")
      assert.strictEqual(record?.headers["authorization"], `Bearer ${defaultCompany.accessToken}`)
      yield* service.clearRequests
      yield* text
      assert.deepStrictEqual((yield* service.requests).map((entry) => entry.index), [1])
    }).pipe(Effect.provide(app())))

  it.effect("waits for a slow service by the test clock", () =>
    Effect.gen(function*() {
      const service = yield* FakeService
      yield* inject(Fault.slow("2 seconds"))
      const fiber = yield* Effect.forkChild(text)
      yield* TestClock.adjust("2499 millis")
      assert.strictEqual(yield* service.inFlight, 1)
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust("1 millis")
      yield* Fiber.join(fiber)
      assert.strictEqual(yield* service.inFlight, 0)
      assert.strictEqual(yield* service.maxInFlight, 1)
    }).pipe(Effect.provide(app({ latency: "500 millis" }))))

  it.effect("sees a reset as a transport error with its code", () =>
    Effect.gen(function*() {
      yield* inject(Fault.reset)
      const reason = reasonOf(yield* Effect.exit(HttpClient.execute(request)))

      assert.strictEqual(reason?._tag, "TransportError")
      assert.strictEqual(codeOf(reason), "ECONNRESET")
    }).pipe(Effect.provide(app())))

  it.effect.each([0, 0.5, 1])(
    "sees a body cut at %s as a decode error",
    (share) =>
      Effect.gen(function*() {
        const whole = yield* text
        yield* inject(Fault.cutBody(share))
        const response = yield* HttpClient.execute(request)
        const reason = reasonOf(yield* Effect.exit(response.text))

        assert.strictEqual(response.status, 200)
        assert.strictEqual(reason?._tag, "DecodeError")
        assert.strictEqual(codeOf(reason), "UND_ERR_SOCKET")
        // Also a body that is cut at its end is shorter than its headers say.
        assert.isAbove(Number(response.headers["content-length"]), Buffer.byteLength(whole))
      }).pipe(Effect.provide(app()))
  )

  it.effect.each([Fault.stallBeforeHeaders, Fault.stallBody(), Fault.stallBody(0), Fault.stallBody(1)])(
    "is in flight while the service is silent, until it is interrupted",
    (fault) =>
      Effect.gen(function*() {
        const service = yield* FakeService
        yield* inject(fault)
        const fiber = yield* Effect.forkChild(text)
        yield* TestClock.adjust("10 days")
        assert.strictEqual(yield* service.inFlight, 1)
        assert.isUndefined(fiber.pollUnsafe())
        yield* Fiber.interrupt(fiber)
        assert.strictEqual(yield* service.inFlight, 0)
      }).pipe(Effect.provide(app()))
  )

  it.effect("can time out within a body", () =>
    Effect.gen(function*() {
      yield* inject(Fault.stallBody())
      const fiber = yield* Effect.forkChild(Effect.exit(Effect.timeout(text, "30 seconds")))
      yield* TestClock.adjust("30 seconds")

      assert.isTrue(Exit.isFailure(yield* Fiber.join(fiber)))
    }).pipe(Effect.provide(app())))

  it.effect("can stop within a body that is too large, or that never ends", () =>
    Effect.gen(function*() {
      yield* inject(Fault.oversizedBody(1_000_000), { requests: 1 })
      yield* inject(Fault.oversizedBody(Infinity), { requests: 2 })
      const large = yield* HttpClient.execute(request)
      const endless = yield* HttpClient.execute(request)
      const first = yield* Stream.runHead(Stream.drop(endless.stream, 200))

      assert.strictEqual(large.headers["content-length"], "1000000")
      assert.strictEqual(yield* sizeOf(large), 1_000_000)
      assert.doesNotThrow(JSON.parse.bind(undefined, yield* large.text))
      assert.isUndefined(endless.headers["content-length"])
      assert.isTrue(Option.isSome(first))
    }).pipe(Effect.provide(app())))

  it.effect("keeps the state of two services separate", () =>
    Effect.gen(function*() {
      const count = Effect.map(Effect.flatMap(FakeService, (service) => service.requests), (all) => all.length)
      const ask = Effect.andThen(text, count)

      assert.strictEqual(yield* Effect.provide(ask, app()), 1)
      assert.strictEqual(yield* Effect.provide(Effect.andThen(text, ask), app()), 2)
    }))
})
