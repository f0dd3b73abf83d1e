/** The guards around the caller's client: what they add, and what they leave as it was. */
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Exit, Fiber, Layer, Redacted, Tracer } from "effect"
import {
  FetchHttpClient,
  Headers,
  HttpClient,
  HttpClientError,
  HttpClientRequest,
  HttpClientResponse,
  UrlParams
} from "effect/http"
import { inspect } from "node:util"
import { secureClient, type SecureClientOptions, wasRedirected } from "../../../src/internal/http/client.ts"
import { recorder } from "../../support/recorder.ts"

const request = HttpClientRequest.get("https://api.test/punches?cursor=canary&limit=2").pipe(
  HttpClientRequest.bearerToken(Redacted.make("canary"))
)

/** A transport that keeps the requests and the settings that it sees; its response has a body without end. */
const transport = (failure?: string) => {
  const seen: Array<{
    readonly headers: Headers.Headers
    readonly init: RequestInit | undefined
    readonly span: Tracer.AnySpan | undefined
  }> = []
  const body = { cancelled: 0 }
  const client = HttpClient.make((request) =>
    Effect.withFiber((fiber) => {
      seen.push({
        headers: request.headers,
        init: Context.getOrUndefined(fiber.context, FetchHttpClient.RequestInit),
        span: Context.getOrUndefined(fiber.context, Tracer.ParentSpan)
      })
      if (failure !== undefined) {
        const cause = Object.assign(new Error("canary"), { code: failure })
        return Effect.fail(
          new HttpClientError.HttpClientError({ reason: new HttpClientError.TransportError({ request, cause }) })
        )
      }
      const stream = new ReadableStream<Uint8Array>({
        pull: (controller) => controller.enqueue(new Uint8Array(1)),
        cancel: () => {
          body.cancelled++
        }
      }, { highWaterMark: 0 })
      return Effect.succeed(HttpClientResponse.fromWeb(request, new Response(stream)))
    })
  )
  return { client, seen, body }
}

/** Sends the request through the guards and answers with the status. */
const status = (
  client: HttpClient.HttpClient,
  options: {
    readonly propagate?: SecureClientOptions["propagate"]
    readonly privateParameters?: ReadonlyArray<string>
  } = {}
) =>
  secureClient(client, { propagate: () => false, privateParameters: ["cursor"], ...options })(request, {
    response: (response) => Effect.succeed(response.status),
    error: (error) => error.reason._tag
  })

describe("an exchange", () => {
  it.effect("gives what the response was read as", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* status(transport().client), 200)
    }))

  it.effect("translates an error of the transport", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* Effect.flip(status(transport("ECONNRESET").client)), "TransportError")
    }))

  it.effect("releases a response that was not read with success", () =>
    Effect.gen(function*() {
      const { body, client } = transport()
      const send = secureClient(client, { propagate: () => false, privateParameters: [] })
      const exit = yield* Effect.exit(
        send(request, { response: () => Effect.fail("unread"), error: () => "not sent" })
      )

      assert.deepStrictEqual(exit, Exit.fail("unread"))
      assert.strictEqual(body.cancelled, 1)
    }))

  it.effect("releases a response that is being read when it is interrupted", () =>
    Effect.gen(function*() {
      const { body, client } = transport()
      const send = secureClient(client, { propagate: () => false, privateParameters: [] })
      const fiber = yield* Effect.forkChild(send(request, { response: () => Effect.never, error: () => "not sent" }), {
        startImmediately: true
      })
      yield* Fiber.interrupt(fiber)

      assert.strictEqual(body.cancelled, 1)
    }))

  it.effect("restores the context of its caller", () =>
    Effect.gen(function*() {
      const before = yield* Effect.context<never>()
      yield* status(transport().client)

      assert.strictEqual(yield* Effect.context<never>(), before)
    }))
})

describe("the guards", () => {
  it.effect("follow no redirect, and keep the other settings of fetch", () =>
    Effect.gen(function*() {
      const { client, seen } = transport()
      yield* status(client).pipe(
        Effect.provideService(FetchHttpClient.RequestInit, { redirect: "follow", keepalive: true })
      )

      assert.deepStrictEqual(seen.map(({ init }) => init), [{ redirect: "manual", keepalive: true }])
    }))

  it.effect("follow no redirect where the client's layer sets it", () =>
    Effect.gen(function*() {
      const { client, seen } = transport()
      const eager = HttpClient.transformResponse(
        client,
        Effect.provideService(FetchHttpClient.RequestInit, { redirect: "follow", keepalive: true })
      )
      yield* status(eager)

      assert.deepStrictEqual(seen.map(({ init }) => init), [{ redirect: "manual", keepalive: true }])
    }))

  it.effect("keep the caller's changes of the request", () =>
    Effect.gen(function*() {
      const { client, seen } = transport()
      yield* status(HttpClient.mapRequest(client, HttpClientRequest.setHeader("x-application", "kept")))

      assert.strictEqual(seen[0]?.headers["x-application"], "kept")
    }))

  it.effect.each<[string, boolean, ReadonlyArray<string>]>([
    ["no trace header", false, []],
    ["trace headers where the client propagates", true, ["b3", "traceparent"]]
  ])("send %s", ([_what, propagate, names]) =>
    Effect.gen(function*() {
      const { client, seen } = transport()
      const { spans, tracer } = recorder()
      yield* Effect.withTracer(status(client, { propagate: () => propagate }), tracer)

      assert.strictEqual(spans.length, 1)
      assert.deepStrictEqual(
        Object.keys(seen[0]?.headers ?? {}).filter((header) => header === "traceparent" || header === "b3"),
        names
      )
    }))

  it.effect("open no span and send no trace header with the core's tracer", () =>
    Effect.gen(function*() {
      const { client, seen } = transport()
      const span = yield* Effect.withSpan(Effect.tap(Effect.currentSpan, () => status(client)), "the application")

      assert.deepStrictEqual(seen.map(({ span }) => span), [span])
      assert.notProperty(seen[0]?.headers, "traceparent")
    }))

  it.effect("redact credentials and private parameters in spans, beside the application's names", () =>
    Effect.gen(function*() {
      const { client } = transport()
      const { spans, tracer } = recorder()
      const application = Layer.mergeAll(
        Layer.succeed(Tracer.Tracer, tracer),
        Layer.succeed(HttpClient.TracerHeaderFilter, () => true),
        Layer.succeed(Headers.CurrentRedactedNames, ["x-application"]),
        Layer.succeed(UrlParams.CurrentRedactedNames, ["limit"])
      )
      yield* Effect.provide(status(client), application)
      const printed = inspect(spans.map(({ attributes }) => attributes), { depth: Infinity })

      assert.include(printed, "api.test")
      assert.notInclude(printed, "canary")
      assert.notInclude(printed, "limit=2")
    }))

  it.effect("record a failure as its kind and code, without the request", () =>
    Effect.gen(function*() {
      const { client } = transport("ECONNRESET")
      const { spans, tracer } = recorder()
      yield* Effect.flip(Effect.withTracer(status(client), tracer))
      const printed = inspect(spans.map(({ status }) => status), { depth: Infinity })

      assert.include(printed, "TransportError (ECONNRESET)")
      assert.notInclude(printed, "canary")
    }))

  it.effect("are made for each context, also when two take turns", () =>
    Effect.gen(function*() {
      const { client, seen } = transport()
      const send = status(client)
      const inContext = (keepalive: boolean) => Effect.provideService(send, FetchHttpClient.RequestInit, { keepalive })
      yield* Effect.all([inContext(true), inContext(false), inContext(true), send])

      assert.deepStrictEqual(seen.map(({ init }) => init?.keepalive), [true, false, true, undefined])
      assert.isTrue(seen.every(({ init }) => init?.redirect === "manual"))
    }))
})

describe("wasRedirected", () => {
  it.each([
    ["https://api.test/a?b=1", "https://api.test/a?b=1", false],
    ["https://api.test/a", "https://api.test/b", false],
    ["https://api.test/a", "", false],
    ["https://api.test/a", "https://other.test/a", true],
    ["https://api.test/a", "https://api.test.other.test/a", true],
    ["https://api.test/a", "http://api.test/a", true],
    ["https://api.test/a", "https://api.test:8443/a", true]
  ])("from %s to %j: %s", (requested, answered, expected) => {
    assert.strictEqual(wasRedirected(requested, answered), expected)
  })
})
