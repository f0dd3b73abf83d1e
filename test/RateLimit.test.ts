/** The limit of requests a second, over the fake service in virtual time. */
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Fiber, Layer, Option, Result, Stream } from "effect"
import { HttpClient, HttpClientResponse } from "effect/http"
import { RateLimiterError, RateLimiterStore, RateLimitStoreError } from "effect/persistence/RateLimiter"
import { TestClock } from "effect/testing"
import manifest from "../package.json" with { type: "json" }
import { CompanyId, RateLimit, TimePunches } from "../src/index.ts"
import { version } from "../src/internal/wire/userAgent.ts"
import { FakeService, Fault } from "../src/testing/index.ts"
import { accessToken, app, client, company, inject, oauth, pageRequests } from "./support/client.ts"
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
  TimePunches.layerWith({ baseUrl: "http://localhost", credentials: accessToken }).pipe(
    Layer.provide(Layer.orDie(layer))
  )

/** The most of these times in any window of this length. */
const mostWithin = (millis: number, times: ReadonlyArray<number>) => {
  let most = 0
  for (let first = 0, last = 0; last < times.length; last++) {
    while ((times[first] ?? 0) <= (times[last] ?? 0) - millis) first++
    most = Math.max(most, last - first + 1)
  }
  return most
}

const pages = (count: number, concurrency: number | "unbounded" = "unbounded") =>
  Effect.all(Array.from({ length: count }, () => TimePunches.page(CompanyId.make(7))), { concurrency })

describe("RateLimit.layer", () => {
  it.effect.each([1, 2, 3, 5, 8, 9, 10, 11, 50, 200, 1001])(
    "sends %d a second and no burst, from the first second on and after each idle one",
    (perSecond) =>
      Effect.gen(function*() {
        const { layer, sent } = noting()
        const count = Math.ceil(perSecond * (perSecond > 100 ? 1.1 : 2)) + 20
        const idles = perSecond > 1000 ? [0] : [0, 900, 10_000]
        const streams = Effect.forEach(
          idles,
          (idle) => Effect.delay(pages(count, 64), idle),
          { discard: true }
        )
        yield* letTimePass(Effect.provide(streams, over(RateLimit.layer({ perSecond }).pipe(Layer.provide(layer)))))

        const times = sent.map(({ at }) => at)
        assert.lengthOf(times, idles.length * count)
        assert.isAtMost(mostWithin(1000, times), perSecond + 1 + (perSecond > 10 ? 0.05 * perSecond : 0))
        assert.isAtMost(mostWithin(60_000, times), perSecond * 60 + 1)
        const took = (times.at(-1) ?? 0) - (times[0] ?? 0) - idles.reduce((sum, idle) => sum + idle)
        assert.isAtMost(took, times.length / perSecond * 1000 * 1.02 + 50, "the full rate")
      })
  )

  it.effect("sends nothing late together, whatever the program does meanwhile", () =>
    Effect.gen(function*() {
      const { layer, sent } = noting()
      const fiber = yield* Effect.forkChild(
        Effect.provide(pages(60), over(RateLimit.layer({ perSecond: 10 }).pipe(Layer.provide(layer))))
      )
      // The timers of five seconds fire late, all at once.
      while (fiber.pollUnsafe() === undefined) yield* TestClock.adjust(sent.length === 3 ? "5 seconds" : "50 millis")

      assert.isAtMost(mostWithin(1000, sent.map(({ at }) => at)), 11)
    }))

  it.effect("gets all pages of 400 streams at 8 a second: a wait for a place is not the time of a page", () =>
    Effect.gen(function*() {
      const { layer, sent } = noting()
      const began = yield* Clock.currentTimeMillis
      const streams = Effect.forEach(
        Array.from({ length: 400 }),
        () => Effect.forEach([1, 2, 3, 4, 5], () => TimePunches.page(CompanyId.make(7))),
        { concurrency: "unbounded" }
      )
      const limited = RateLimit.layer({ perSecond: 8 }).pipe(Layer.provide(layer))
      const read = yield* letTimePass(Effect.provide(streams, over(limited)))

      assert.strictEqual(read.flat().length, 2000)
      assert.lengthOf(sent, 2000, "none was sent twice")
      assert.isAtMost((sent.at(-1)?.at ?? 0) - began, 2000 / 8 * 1000 + 100)
    }))

  it.effect("waits for longer than a page may take, and no longer than the run", () =>
    Effect.gen(function*() {
      const { layer, sent } = noting()
      const limited = over(RateLimit.layer({ perSecond: 1 }).pipe(Layer.provide(layer)))
      const page = Effect.result(TimePunches.page(CompanyId.make(7)))
      const last = Effect.delay(
        Effect.result(TimePunches.page(CompanyId.make(7), {}, { deadline: "3 minutes" })),
        "1 second"
      )
      const both = Effect.all([Effect.replicateEffect(page, 300, { concurrency: "unbounded" }), last], {
        concurrency: "unbounded"
      })
      const [read, late] = yield* letTimePass(Effect.provide(both, limited))

      assert.isTrue(read.every(Result.isSuccess))
      assert.deepInclude(Result.isFailure(late) ? late.failure : {}, { _tag: "LimitReached", reason: "Deadline" })
      assert.lengthOf(sent, 300, "the run that ended in the queue used no place")
    }))

  it.effect.each(["2 minutes", Infinity] as const)(
    "still ends an attempt that is not answered, if a page may take %s",
    (pageTimeout) =>
      Effect.gen(function*() {
        const times: Array<number> = []
        const silent = Layer.succeed(
          HttpClient.HttpClient,
          HttpClient.make(() =>
            Effect.flatMap(Clock.currentTimeMillis, (at) => {
              times.push(at)
              return Effect.never
            })
          )
        )
        const limited = RateLimit.layer({ perSecond: 1 }).pipe(Layer.provide(silent))
        const began = yield* Clock.currentTimeMillis
        const page = Effect.flip(TimePunches.page(CompanyId.make(7), {}, { retry: { attempts: 1, pageTimeout } }))
        const both = Effect.all([page, Effect.map(page, (error) => [error, Clock.currentTimeMillis])], {
          concurrency: 2
        })
        const [error] = yield* letTimePass(Effect.provide(both, over(limited)))

        assert.deepInclude(error, { _tag: "TransportError", reason: "Timeout" })
        assert.deepStrictEqual(times.map((at) => at - began), [0, 1000])
      })
  )

  it.effect("gives a process that comes to 96 waiting streams its token, beside them", () =>
    Effect.gen(function*() {
      const fake = FakeService.layer({ punches: [] })
      const limit = RateLimit.layer({ perSecond: 8 }).pipe(Layer.provide(FakeService.layerClient))
      const clientOf = (credentials: Parameters<typeof client>[0]) => Layer.fresh(client(credentials))
      const streams = Effect.provide(
        Effect.forEach(
          Array.from({ length: 96 }),
          () => Effect.forEach([1, 2, 3], () => TimePunches.page(company)),
          { concurrency: "unbounded" }
        ),
        clientOf(accessToken)
      )
      const newcomer = Effect.delay(
        Effect.andThen(Effect.provide(TimePunches.page(company), clientOf(oauth)), Clock.currentTimeMillis),
        "5 seconds"
      )
      const began = yield* Clock.currentTimeMillis
      yield* Effect.gen(function*() {
        const [, at] = yield* letTimePass(Effect.all([streams, newcomer], { concurrency: 2 }))
        const tokens = (yield* (yield* FakeService).requests).filter(({ endpoint }) => endpoint === "token")

        assert.deepStrictEqual(tokens.map(({ at }) => at - began), [5000])
        assert.isAtMost(at - began, 96 * 3 / 8 * 1000 + 1000)
      }).pipe(Effect.provide(Layer.provideMerge(limit, fake)))
    }))

  it.effect.each([-3_600_000, 3_600_000])(
    "is neither slowed nor released by a wall clock that steps %d ms",
    (step) =>
      Effect.gen(function*() {
        const { layer, sent } = noting()
        const clock = yield* TestClock.testClockWith(Effect.succeed)
        let stepped = 0
        const stepping: Clock.Clock = {
          ...clock,
          currentTimeMillisUnsafe: () => clock.currentTimeMillisUnsafe() + stepped
        }
        const both = Effect.gen(function*() {
          yield* pages(20)
          stepped = step
          yield* pages(20)
        })
        const limited = over(RateLimit.layer({ perSecond: 10 }).pipe(Layer.provide(layer)))
        const fiber = yield* Effect.forkChild(
          Effect.provideService(Effect.provide(both, limited), Clock.Clock, stepping)
        )
        for (let tick = 0; tick < 38; tick++) yield* TestClock.adjust("100 millis")
        assert.lengthOf(sent, 39)
        yield* TestClock.adjust("100 millis")
        yield* Fiber.join(fiber)
      })
  )

  it.effect("keeps a client within a limit of the service that ends in a block", () =>
    Effect.gen(function*() {
      yield* inject(Fault.rateLimit(10))
      const streams = Effect.forEach(Array.from({ length: 200 }), () => Effect.result(TimePunches.page(company)), {
        concurrency: 12
      })
      const refusedOf = Effect.gen(function*() {
        yield* FakeService.use((service) => service.clearRequests)
        const read = yield* letTimePass(streams)
        return {
          failed: read.filter(Result.isFailure).length,
          sent: (yield* pageRequests).length
        }
      })
      const unlimited = yield* Effect.provide(refusedOf, client())
      const limited = yield* Effect.provide(
        Effect.andThen(Effect.delay(Effect.void, "2 minutes").pipe(letTimePass), refusedOf),
        client().pipe(Layer.provide(RateLimit.layer({ perSecond: 8 })))
      )

      assert.isAbove(unlimited.sent, 200)
      assert.deepStrictEqual(limited, { failed: 0, sent: 200 })
    }).pipe(Effect.provide(Layer.provideMerge(FakeService.layerClient, FakeService.layer()))))

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
