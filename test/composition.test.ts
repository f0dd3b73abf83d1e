/** Each service of the main entry, replaced at its place in the composition: the replacement is asked. */
import { assert, describe, it } from "@effect/vitest"
import { Cause, Duration, Effect, Exit, Layer, Option, Redacted, Ref, Result } from "effect"
import {
  ApiVersion,
  type CachedToken,
  Credentials,
  Endpoints,
  RetryPolicy,
  TimePunches,
  TokenCache,
  TokenEndpoint,
  TracePropagation
} from "effect-time-punches"
import { HttpClient, HttpClientRequest, HttpClientResponse } from "effect/http"
import { company, stranger } from "./support/client.ts"
import { recorder } from "./support/recorder.ts"
import { says } from "./support/scripted.ts"
import { building, surfaces } from "./support/settings.ts"
import { letTimePass } from "./support/time.ts"
import { untyped } from "./support/untyped.ts"
import { wirePage } from "./support/wire.ts"

/** What a service saw of a request. */
interface Seen {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
}

/** A service that answers with `statuses`, then with empty pages, and keeps what it saw. */
const recording = (statuses: ReadonlyArray<number> = []) => {
  const seen: Array<Seen> = []
  const layer = Layer.succeed(
    HttpClient.HttpClient,
    HttpClient.make((request, url) =>
      Effect.sync(() => {
        const status = statuses[seen.length] ?? 200
        seen.push({ url: url.href, headers: request.headers })
        return HttpClientResponse.fromWeb(request, status === 200 ? says(wirePage([])) : new Response("", { status }))
      })
    )
  )
  return { layer, seen }
}

const endpoints = Endpoints.layer({ baseUrl: "https://api.test" })

const cached = (token: string, generation = 1): CachedToken => ({
  token: Redacted.make(token),
  generation
})

/** A cache with one token, as a test of an application would give it. */
const fixedToken = (token: string) =>
  Layer.succeed(TokenCache, { get: Effect.succeed(cached(token)), invalidate: () => Effect.void })

const authorizations = (seen: ReadonlyArray<Seen>) => seen.map(({ headers }) => headers["authorization"])

describe("the composition of a client", () => {
  it.effect("asks other Endpoints", () =>
    Effect.gen(function*() {
      const { layer, seen } = recording()
      const own = Layer.succeed(Endpoints, { baseUrl: "https://mock.test/base", authUrl: "https://mock.test" })
      yield* TimePunches.page(company).pipe(
        Effect.provide(TimePunches.layer),
        Effect.provide([Credentials.layerAccessToken(Redacted.make("token")), own, layer])
      )

      assert.match(seen[0]?.url ?? "", /^https:\/\/mock\.test\/base\/v2\/company\//)
    }))

  it.effect("asks other Credentials, in the layer and as an option", () =>
    Effect.gen(function*() {
      const { layer, seen } = recording()
      const credentials = Layer.succeed(Credentials, {
        sign: ({ request }) =>
          Effect.succeed({
            request: HttpClientRequest.setHeader(request, "x-signed", "by the mock"),
            onUnauthorized: Effect.succeed(false)
          })
      })
      const clients = [
        TimePunches.layer.pipe(Layer.provide(credentials), Layer.provide(endpoints)),
        TimePunches.layerWith({ baseUrl: "https://api.test", credentials })
      ]
      for (const client of clients) {
        yield* TimePunches.page(company).pipe(Effect.provide(client), Effect.provide(layer))
      }

      assert.deepStrictEqual(seen.map(({ headers }) => headers["x-signed"]), ["by the mock", "by the mock"])
    }))

  it.effect("asks another TokenCache, in the layer and as an option", () =>
    Effect.gen(function*() {
      const { layer, seen } = recording()
      const clients = [
        TimePunches.layer.pipe(Layer.provide(Credentials.layerOAuthNoDeps()), Layer.provide(endpoints)),
        TimePunches.layerWith({ baseUrl: "https://api.test", credentials: Credentials.layerOAuthNoDeps() })
      ]
      for (const client of clients) {
        yield* TimePunches.page(company).pipe(Effect.provide(client), Effect.provide([fixedToken("fixed"), layer]))
      }

      assert.deepStrictEqual(authorizations(seen), ["Bearer fixed", "Bearer fixed"])
      assert.strictEqual(seen[0]?.headers["x-company-guid"], company.guid)
    }))

  it.effect("asks another TokenEndpoint through the standard cache, once for all pages", () =>
    Effect.gen(function*() {
      const { layer, seen } = recording()
      const requests = yield* Ref.make(0)
      const endpoint = Layer.succeed(TokenEndpoint, {
        requestToken: Effect.as(
          Ref.update(requests, (count) => count + 1),
          { token: Redacted.make("from-a-vault"), lifetime: Duration.hours(1) }
        )
      })
      const client = TimePunches.layer.pipe(
        Layer.provide(Credentials.layerOAuthNoDeps()),
        Layer.provide(TokenCache.layer),
        Layer.provide(endpoint),
        Layer.provide(endpoints),
        Layer.provide(layer)
      )
      yield* Effect.forEach([company, stranger], (each) => TimePunches.page(each)).pipe(Effect.provide(client))

      assert.deepStrictEqual(authorizations(seen), ["Bearer from-a-vault", "Bearer from-a-vault"])
      assert.strictEqual(yield* Ref.get(requests), 1)
    }))
})

describe("Credentials.layerOAuth", () => {
  it.effect("gives each client of a composition its own token", () =>
    Effect.gen(function*() {
      const seen: Array<string | undefined> = []
      const http = Layer.succeed(
        HttpClient.HttpClient,
        HttpClient.make((request, url) =>
          Effect.sync(() => {
            if (!url.pathname.endsWith("/oauth2/token")) {
              seen.push(request.headers["authorization"])
              return HttpClientResponse.fromWeb(request, says(wirePage([])))
            }
            const form = request.body._tag === "Uint8Array" ? new TextDecoder().decode(request.body.body) : ""
            const client = new URLSearchParams(form).get("client_id")
            const issued = { token_type: "bearer", expires_in: 3600, access_token: `token-${client}` }
            return HttpClientResponse.fromWeb(request, Response.json(issued))
          })
        )
      )
      const clientOf = (clientId: string) =>
        TimePunches.layerWith({
          baseUrl: "https://api.test",
          credentials: Credentials.layerOAuth({ clientId, clientSecret: Redacted.make("a client secret") })
        })
      const pageOf = (clientId: string) =>
        Layer.effectDiscard(TimePunches.page(company)).pipe(Layer.provide(clientOf(clientId)))
      yield* Effect.scoped(Layer.build(Layer.mergeAll(pageOf("alpha"), pageOf("beta")).pipe(Layer.provide(http))))

      assert.deepStrictEqual(seen.toSorted(), ["Bearer token-alpha", "Bearer token-beta"])
    }))
})

describe("the settings of a client", () => {
  const settings = [
    ["ApiVersion", Layer.succeed(ApiVersion, Option.some("2025-01-01"))],
    ["RetryPolicy", RetryPolicy.layerNone],
    ["TracePropagation", Layer.succeed(TracePropagation, true)]
  ] as const

  /** What one page shows of the three settings, in their order. */
  const shown = (provided: Layer.Layer<never>, run: typeof TimePunches.page) =>
    Effect.gen(function*() {
      const { layer, seen } = recording([503])
      const client = TimePunches.layer.pipe(
        Layer.provide(provided),
        Layer.provide([Credentials.layerAccessToken(Redacted.make("token")), endpoints, layer])
      )
      yield* letTimePass(
        Effect.exit(run(company).pipe(Effect.provide(client), Effect.withTracer(recorder().tracer)))
      )
      const headers = seen[0]?.headers ?? {}
      return [headers["x-api-version"] === "2025-01-01", seen.length === 1, "traceparent" in headers]
    })

  it.effect.each(settings)(
    "are asked of %s, at the layer and at the run, and nowhere without it",
    ([name, setting]) =>
      Effect.gen(function*() {
        const expected = settings.map(([other]) => other === name)

        assert.deepStrictEqual(yield* shown(setting, TimePunches.page), expected)
        assert.deepStrictEqual(
          yield* shown(Layer.empty, (...args) => Effect.provide(TimePunches.page(...args), setting)),
          expected
        )
        assert.deepStrictEqual(yield* shown(Layer.empty, TimePunches.page), [false, false, false])
      })
  )
})

describe("Credentials.layerOAuthNoDeps", () => {
  /** Clients that share nothing but the cache that each is given, as those of two processes do. */
  const client = (http: Layer.Layer<HttpClient.HttpClient>, cache: Layer.Layer<TokenCache>) =>
    TimePunches.layer.pipe(
      Layer.provide(Credentials.layerOAuthNoDeps()),
      Layer.provide(cache),
      Layer.provide(endpoints),
      Layer.provide(http)
    )

  it.effect("sends nothing without a guid, and does not ask the cache", () =>
    Effect.gen(function*() {
      const { layer, seen } = recording()
      const cache = Layer.succeed(TokenCache, {
        get: Effect.die(new Error("asked")),
        invalidate: () => Effect.void
      })
      const error = yield* Effect.flip(TimePunches.page(company.id).pipe(Effect.provide(client(layer, cache))))

      assert.deepInclude(error, { _tag: "InvalidRequest", field: "company.guid" })
      assert.isEmpty(seen)
    }))

  it.effect.each(["", "abc", "canary\r\nx-injected: 1", "canäry-token", "canary token"])(
    "refuses the token %j of a cache, which a header cannot carry, without printing it",
    (token) =>
      Effect.gen(function*() {
        const { layer, seen } = recording()
        const exit = yield* TimePunches.page(company).pipe(
          Effect.provide(client(layer, fixedToken(token))),
          Effect.exit
        )
        const error = yield* Effect.fromResult(Result.fromOption(Exit.findErrorOption(exit), () => "no error"))

        assert.deepInclude(error, { _tag: "InvalidRequest", field: "accessToken", attempts: 0 })
        assert.notMatch(surfaces(error) + (Exit.isFailure(exit) ? Cause.pretty(exit.cause) : ""), /can.ry/)
        assert.isEmpty(seen)
      })
  )

  it.effect("scrubs the secret that it is given, and the token, from a problem body", () =>
    Effect.gen(function*() {
      const layer = Layer.succeed(
        HttpClient.HttpClient,
        HttpClient.make((request) =>
          Effect.succeed(HttpClientResponse.fromWeb(
            request,
            new Response(JSON.stringify({ detail: "canary-secret of canary-token" }), {
              status: 403,
              headers: { "content-type": "application/problem+json" }
            })
          ))
        )
      )
      const credentials = Credentials.layerOAuthNoDeps({ clientSecret: Redacted.make("canary-secret") })
      const error = yield* Effect.flip(
        TimePunches.page(company).pipe(
          Effect.provide(TimePunches.layerWith({ baseUrl: "https://api.test", credentials })),
          Effect.provide([fixedToken("canary-token"), layer])
        )
      )

      assert.include(error.message, "<redacted> of <redacted>")
      assert.notInclude(surfaces(error), "canary")
    }))

  it.effect("refuses a company without a guid when it is built", () =>
    Effect.gen(function*() {
      const layer = Credentials.layerOAuthNoDeps(untyped({ company: { id: 4021 } }))
      const error = yield* Effect.flip(building(layer.pipe(Layer.provide(fixedToken("fixed")))))

      assert.include(error.message, "company must be a company id with its guid")
    }))
})
