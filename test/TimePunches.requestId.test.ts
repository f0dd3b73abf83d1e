/** The id of a request on the error that its response became. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option, Redacted, Stream } from "effect"
import { HttpClient, HttpClientError, HttpClientResponse } from "effect/http"
import { CompanyId, Endpoints, TimePunches, TokenEndpoint } from "../src/index.ts"
import { accessToken as credentials } from "./support/client.ts"
import { scripted } from "./support/scripted.ts"
import { letTimePass } from "./support/time.ts"
import { wirePage } from "./support/wire.ts"

const company = CompanyId.make(4021)
const json = { "content-type": "application/json" }

/** The response of the request `index`, with the id `r-index`. */
const named = (index: number, status: number, body: unknown = {}) =>
  new Response(JSON.stringify(body), { status, headers: { ...json, "x-request-id": `r-${index}` } })

const failing = (respond: (index: number) => Response) =>
  letTimePass(Effect.flip(Stream.runDrain(TimePunches.list(company)))).pipe(
    Effect.provide(scripted(({ index }) => respond(index)))
  )

const requestId = (error: object) => "requestId" in error ? error.requestId : "no field"

describe("the id of the request that failed", () => {
  it.effect.each([401, 403, 422, 404, 302])("is on the error of a %d", (status) =>
    Effect.gen(function*() {
      assert.deepStrictEqual(requestId(yield* failing((index) => named(index, status))), Option.some("r-0"))
    }))

  it.effect.each([429, 500, 503])(
    "is that of the last attempt on the error of a %d",
    (status) =>
      Effect.gen(function*() {
        assert.deepStrictEqual(requestId(yield* failing((index) => named(index, status))), Option.some("r-3"))
      })
  )

  it.effect.each<readonly [Record<string, string>, string | undefined]>([
    [{ "x-request-id": " a " }, "a"],
    [{ "x-request-id": " ", "request-id": " b " }, "b"],
    [{ "x-request-id": "a", "request-id": "b" }, "a"],
    [{ "x-request-id": " ", "request-id": " " }, undefined],
    [{ "x-request-id": "r".repeat(200) }, "r".repeat(200)],
    [{ "x-request-id": "r".repeat(201) }, `${"r".repeat(199)}…`]
  ])("is read from %j", ([headers, id]) =>
    Effect.gen(function*() {
      const error = yield* failing(() => new Response("{}", { status: 403, headers: { ...json, ...headers } }))

      assert.deepStrictEqual(requestId(error), Option.fromUndefinedOr(id))
    }))

  it.effect("is on a page that cannot be read, and on one that is not of this listing", () =>
    Effect.gen(function*() {
      const undecodable = yield* failing((index) => named(index, 200, { data: [] }))
      const foreign = yield* failing((index) => named(index, 200, { ...wirePage([]), object: "shifts" }))
      const cycle = yield* failing((index) => named(index, 200, wirePage([], { next: "again" })))

      assert.deepStrictEqual(undecodable._tag, "DecodeError")
      assert.deepStrictEqual(requestId(undecodable), Option.some("r-0"))
      assert.deepInclude(foreign, { _tag: "PaginationError", reason: "WrongObject" })
      assert.deepStrictEqual(requestId(foreign), Option.some("r-0"))
      assert.deepInclude(cycle, { _tag: "PaginationError", reason: "CursorCycle" })
      assert.deepStrictEqual(requestId(cycle), Option.some("r-1"))
    }))

  it.effect("is None if the response names none, or the guard stops before a request", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(requestId(yield* failing(() => new Response("{}", { status: 403 }))), Option.none())
      const guarded = yield* Effect.flip(Stream.runDrain(TimePunches.list(company, {}, { maxPages: 1 }))).pipe(
        Effect.provide(scripted(({ index }) => named(index, 200, wirePage([], { next: "more" }))))
      )
      assert.deepInclude(guarded, { reason: "MaxPages", requestId: Option.none() })
    }))

  it.effect("is not that of an earlier attempt if the last one got no response", () =>
    Effect.gen(function*() {
      let sent = 0
      const transport = HttpClient.make((request) =>
        sent++ === 0
          ? Effect.succeed(HttpClientResponse.fromWeb(request, named(0, 503)))
          : Effect.fail(
            new HttpClientError.HttpClientError({
              reason: new HttpClientError.TransportError({
                request,
                cause: Object.assign(new Error("refused"), { code: "ECONNREFUSED" })
              })
            })
          )
      )
      const error = yield* letTimePass(Effect.flip(TimePunches.page(company))).pipe(
        Effect.provide(
          TimePunches.layerWith({ baseUrl: "http://localhost", credentials }).pipe(
            Layer.provide(Layer.succeed(HttpClient.HttpClient, transport))
          )
        )
      )

      assert.deepInclude(error, { _tag: "TransportError", attempts: 4, requestId: Option.none() })
    }))

  it.effect("is on a TokenError, without the secret of the client", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(Effect.flatMap(TokenEndpoint, ({ requestToken }) => requestToken))

      assert.deepInclude(error, { _tag: "TokenError", requestId: Option.some("for <redacted>") })
    }).pipe(Effect.provide(
      TokenEndpoint.layer({ clientId: "a", clientSecret: Redacted.make("canary-secret") }).pipe(
        Layer.provide(Endpoints.layer({ baseUrl: "http://localhost" })),
        Layer.provide(Layer.succeed(
          HttpClient.HttpClient,
          HttpClient.make((request) =>
            Effect.succeed(HttpClientResponse.fromWeb(
              request,
              new Response("{}", { status: 400, headers: { ...json, "request-id": "for canary-secret" } })
            ))
          )
        ))
      )
    )))
})
