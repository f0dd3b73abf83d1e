/** The limit of requests a second, over the fake service in virtual time. */
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Layer, Option, Stream } from "effect"
import { HttpClient, HttpClientResponse } from "effect/http"
import { RateLimiterError, RateLimiterStore, RateLimitStoreError } from "effect/persistence/RateLimiter"
import manifest from "../package.json" with { type: "json" }
import { CompanyId, RateLimit, TimePunches } from "../src/index.ts"
import { version } from "../src/internal/wire/userAgent.ts"
import { Fault } from "../src/testing/index.ts"
import { accessToken as credentials, app, company, inject, pageRequests } from "./support/client.ts"
import { letTimePass } from "./support/time.ts"
import { wirePage } from "./support/wire.ts"

/** A transport that notes when each request was sent, and its headers. */
const noting = () => {
  const sent: Array<{ readonly at: number; readonly headers: Readonly<Record<string, string>> }> = []
  const layer = Layer.succeed(
    HttpClient.HttpClient,
    HttpClient.make((request) =>
      Effect.map(Clock.currentTimeMillis, (at) => {
        sent.push({ at, headers: request.headers })
        return HttpClientResponse.fromWeb(
          request,
          new Response(JSON.stringify(wirePage([])), { headers: { "content-type": "application/json" } })
        )
      })
    )
  )
  return { sent, layer }
}

const over = (layer: Layer.Layer<HttpClient.HttpClient, unknown>) =>
  TimePunches.layerWith({ baseUrl: "http://localhost", credentials }).pipe(Layer.provide(Layer.orDie(layer)))

const pages = (count: number) =>
  Effect.all(Array.from({ length: count }, () => TimePunches.page(CompanyId.make(7))), { concurrency: "unbounded" })

describe("RateLimit.layer", () => {
  it.effect("lets through as many requests a second, after a burst of the same size", () =>
    Effect.gen(function*() {
      const { layer, sent } = noting()
      yield* letTimePass(
        Effect.provide(pages(50), over(RateLimit.layer({ perSecond: 10 }).pipe(Layer.provide(layer))))
      )

      assert.lengthOf(sent, 50)
      for (const { at } of sent) {
        assert.isAtMost(sent.filter((other) => other.at > at - 1000 && other.at <= at).length, 20)
      }
      assert.isAtLeast((sent.at(-1)?.at ?? 0) - (sent[0]?.at ?? 0), 3000)
    }))

  it.effect.each([0, 0.5, -1, NaN, Infinity])("names perSecond if it is %d", (perSecond) =>
    Effect.gen(function*() {
      const built = Layer.build(RateLimit.layer({ perSecond }).pipe(Layer.provide(noting().layer)))

      assert.include((yield* Effect.flip(Effect.scoped(built))).message, "perSecond must be a whole number from 1 on")
    }))

  it.effect("leaves a 429 to the retry policy", () =>
    Effect.gen(function*() {
      yield* inject(Fault.status(429))
      const error = yield* letTimePass(Effect.flip(Stream.runDrain(TimePunches.list(company))))

      assert.deepInclude(error, { _tag: "RateLimited", attempts: 4 })
      assert.lengthOf(yield* pageRequests, 4)
    }).pipe(Effect.provide(app())))

  it.effect("sends nothing without its store, and fails typed", () =>
    Effect.gen(function*() {
      const { layer, sent } = noting()
      const down = Effect.fail(new RateLimiterError({ reason: new RateLimitStoreError({ message: "down" }) }))
      const store = Layer.succeed(
        RateLimiterStore,
        RateLimiterStore.of({
          fixedWindow: () => down,
          tokenBucket: () => down,
          adaptiveConsume: () => down,
          adaptiveFeedback: () => down
        })
      )
      const limited = RateLimit.layerWithStore({ perSecond: 1 }).pipe(Layer.provide(store), Layer.provide(layer))
      const error = yield* letTimePass(Effect.flip(Effect.provide(pages(1), over(limited))))

      assert.deepInclude(error, {
        _tag: "TransportError",
        code: Option.some("ERR_RATE_LIMIT_STORE"),
        isRetryable: true
      })
      assert.isEmpty(sent)
    }))
})

describe("the name of the client", () => {
  it.effect("is sent with the version of the package", () =>
    Effect.gen(function*() {
      const { layer, sent } = noting()
      yield* Effect.provide(pages(1), over(layer))

      assert.strictEqual(version, manifest.version)
      assert.strictEqual(sent[0]?.headers["user-agent"], `effect-time-punches/${manifest.version}`)
    }))

  it.effect("is left to a browser and its workers", () =>
    Effect.gen(function*() {
      const { layer, sent } = noting()
      yield* Effect.acquireUseRelease(
        Effect.sync(() => {
          const before = Object.getOwnPropertyDescriptor(globalThis, "navigator")
          Object.defineProperty(globalThis, "navigator", {
            value: { userAgent: "Mozilla/5.0 (X11)" },
            configurable: true
          })
          return before
        }),
        () => Effect.provide(pages(1), over(layer)),
        (before) => Effect.sync(() => Object.defineProperty(globalThis, "navigator", before ?? {}))
      )

      assert.isUndefined(sent[0]?.headers["user-agent"])
    }))
})
