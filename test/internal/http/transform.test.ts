/** A change of the client works inside the guards: it weakens none of them, whatever it does. */
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Redacted, Schedule } from "effect"
import { FetchHttpClient, HttpClient, HttpClientError, HttpClientRequest, HttpClientResponse } from "effect/http"
import { inspect } from "node:util"
import { secureClient } from "../../../src/internal/http/client.ts"
import { recorder } from "../../support/recorder.ts"

const request = HttpClientRequest.get("https://api.test/punches?cursor=canary").pipe(
  HttpClientRequest.bearerToken(Redacted.make("canary"))
)

/** A transport that keeps what it sees; `respond` gives the response to each request, or none for a reset. */
const transport = (respond: (index: number) => Response | undefined) => {
  const seen: Array<{
    readonly url: string
    readonly headers: Readonly<Record<string, string>>
    readonly redirect: string | undefined
  }> = []
  const client = HttpClient.make((request) =>
    Effect.withFiber((fiber) => {
      const redirect = Context.getOrUndefined(fiber.context, FetchHttpClient.RequestInit)?.redirect
      const response = respond(seen.length)
      seen.push({ url: request.url, headers: request.headers, redirect })
      const cause = Object.assign(new Error("canary"), { code: "ECONNRESET" })
      return response === undefined
        ? Effect.fail(
          new HttpClientError.HttpClientError({ reason: new HttpClientError.TransportError({ request, cause }) })
        )
        : Effect.succeed(HttpClientResponse.fromWeb(request, response))
    })
  )
  return { client, seen }
}

type Transform = (client: HttpClient.HttpClient) => HttpClient.HttpClient

const status = (client: HttpClient.HttpClient, transform: Transform) =>
  secureClient(client, { propagate: () => false, privateParameters: ["cursor"], transform })(request, {
    response: (response) => Effect.succeed(response.status),
    error: (error) => error.reason._tag
  })

const ok = () => new Response("{}")
const moved = (to: string) => () => new Response(null, { status: 302, headers: { location: to } })

describe("a transform of the client", () => {
  it.effect.each(["https://other.test/", "https://api.test/elsewhere"])(
    "that follows redirects follows none: to %s",
    (to) =>
      Effect.gen(function*() {
        const { client, seen } = transport(moved(to))

        assert.strictEqual(yield* status(client, HttpClient.followRedirects(5)), 302)
        assert.deepStrictEqual(seen.map(({ url }) => url), [request.url])
      })
  )

  it.effect("cannot let the transport follow redirects, or send trace headers", () =>
    Effect.gen(function*() {
      const { client, seen } = transport(ok)
      const { tracer } = recorder()
      const eager: Transform = (inner) =>
        HttpClient.makeWith(
          (sending) =>
            Effect.flatMap(sending, (request) => inner.postprocess(Effect.succeed(request))).pipe(
              Effect.provideService(FetchHttpClient.RequestInit, { redirect: "follow" }),
              Effect.provideService(HttpClient.TracerPropagationEnabled, true)
            ),
          inner.preprocess
        )
      yield* Effect.withTracer(status(client, eager), tracer)
      // Set between the guards of the exchange and those of the transport.
      const late: Transform = (inner) =>
        HttpClient.makeWith(
          (sending) =>
            Effect.flatMap(sending, (request) =>
              inner.postprocess(Effect.succeed(request)).pipe(
                Effect.provideService(FetchHttpClient.RequestInit, { redirect: "follow" }),
                Effect.provideService(HttpClient.TracerPropagationEnabled, true)
              )),
          inner.preprocess
        )
      yield* Effect.withTracer(status(client, late), tracer)

      assert.deepStrictEqual(seen.map(({ redirect }) => redirect), ["manual", "manual"])
      for (const { headers } of seen) assert.doesNotHaveAnyKeys(headers, ["traceparent", "b3"])
    }))

  it.effect("that retries sends each request with the guards, and ends as the last one", () =>
    Effect.gen(function*() {
      const { client, seen } = transport((index) => index < 2 ? undefined : ok())

      assert.strictEqual(yield* status(client, HttpClient.retry({ times: 2 })), 200)
      assert.deepStrictEqual(seen.map(({ redirect }) => redirect), ["manual", "manual", "manual"])
    }))

  it.effect("that retries without end ends with the one who waits for it", () =>
    Effect.gen(function*() {
      const { client } = transport(() => undefined)
      const endless = status(client, HttpClient.retry(Schedule.spaced("1 second")))

      assert.strictEqual(
        yield* Effect.timeoutOrElse(Effect.flip(endless), {
          duration: 0,
          orElse: () => Effect.succeed("ended")
        }),
        "ended"
      )
    }))

  it.effect("that makes a failure of a status still gives the response", () =>
    Effect.gen(function*() {
      const { client } = transport(() => new Response("{}", { status: 403 }))

      assert.strictEqual(yield* status(client, HttpClient.filterStatusOk), 403)
    }))

  it.effect("that adds a header and a span shows no credential and no cursor", () =>
    Effect.gen(function*() {
      const { client, seen } = transport(() => undefined)
      const { spans, tracer } = recorder()
      const noisy: Transform = (inner) =>
        inner.pipe(
          HttpClient.mapRequest(HttpClientRequest.setHeader("x-application", "kept")),
          HttpClient.transformResponse(Effect.withSpan("of the transform"))
        )
      yield* Effect.flip(Effect.withTracer(status(client, noisy), tracer))
      const printed = inspect(spans.map(({ attributes, events, status }) => [[...attributes], events, status]), {
        depth: Infinity
      })

      assert.strictEqual(seen[0]?.headers["x-application"], "kept")
      assert.strictEqual(spans.length, 2)
      assert.lengthOf(printed.match(/TransportError \(ECONNRESET\)/g) ?? [], 2, printed)
      assert.notInclude(printed, "canary")
    }))

  it.effect("that logs the request logs no credential and no cursor", () =>
    Effect.gen(function*() {
      const { client } = transport(ok)
      const { tracer } = recorder()
      const logged: Array<string> = []
      const log: Transform = HttpClient.tapRequest((request) => Effect.sync(() => logged.push(JSON.stringify(request))))
      yield* Effect.withTracer(status(client, log), tracer)

      assert.strictEqual(logged.length, 1)
      assert.notInclude(logged[0], "Bearer canary")
    }))
})
