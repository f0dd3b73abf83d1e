import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Redacted, References, Result, Stream } from "effect"
import { TestClock } from "effect/testing"
import { CompanyId, Credentials, Endpoints, RetryPolicy, TimePunches } from "../../src/index.ts"
import { defaultCompany, FakeService, Fault, generatePunches } from "../../src/testing/index.ts"

const company = CompanyId.make(defaultCompany.id)

const app = TimePunches.layer.pipe(
  Layer.provide(Credentials.layerAccessToken(Redacted.make(defaultCompany.accessToken))),
  Layer.provide(Endpoints.layer({ baseUrl: "https://api.test" })),
  Layer.provideMerge(FakeService.layerClient),
  Layer.provideMerge(FakeService.layer({ punches: generatePunches({ seed: 5, count: 30, companyId: company }) }))
)

/** Runs streams for a minute; each one starts again twenty seconds after a failure. */
const minute = Effect.fnUntraced(function*(streams: number) {
  let runs = 0
  const stream = Effect.gen(function*() {
    for (let start = 0; start < 60; start += 20) {
      runs++
      const result = yield* Effect.result(Stream.runDrain(TimePunches.list(company, {}, { pageSize: 10 })))
      if (Result.isSuccess(result)) return
      yield* Effect.sleep("20 seconds")
    }
  })
  yield* Effect.forkDetach(
    Effect.andThen(
      Effect.sleep(1),
      Effect.forEach(Array.from({ length: streams }), () => stream, { concurrency: "unbounded" })
    )
  )
  yield* TestClock.adjust("1 hour")
  return { runs, requests: (yield* (yield* FakeService).requests).length }
})

const outages = [
  ["answers 503", Fault.status(503)],
  ["answers 500 with a page of HTML", Fault.status(500, { body: "html" })],
  ["answers 429", Fault.status(429)],
  ["answers 503 with a Retry-After of one second", Fault.retryAfter("1", 503)],
  ["resets every connection", Fault.reset],
  ["cuts every body", Fault.cutBody(0.5)],
  ["answers nothing", Fault.stallBeforeHeaders],
  ["answers with a sign-in page", Fault.html200]
] as const

describe("The retry budget of a client with 1 000 streams", () => {
  it.effect.each(outages)(
    "adds at most a tenth to the requests while the service %s",
    ([_, fault]) =>
      Effect.gen(function*() {
        yield* (yield* FakeService).inject(fault)
        const { requests, runs } = yield* minute(1000)

        assert.strictEqual(runs, 3000)
        assert.isAbove(requests, runs)
        assert.isAtMost(requests, runs * 1.1)
        // The whole minute has the bound of a single round: the budget is spent at once and never refunded.
        assert.isAtMost(requests - runs, 100)
      }).pipe(Effect.provide(app), Effect.provideService(References.MinimumLogLevel, "None"))
  )

  it.effect("is full again after an outage, so that later short failures are retried", () =>
    Effect.gen(function*() {
      const service = yield* FakeService
      yield* service.inject(Fault.status(503))
      yield* minute(1000)
      yield* service.clearFaults
      yield* minute(1000)
      yield* service.clearRequests
      yield* service.inject(Fault.status(503), { probability: { chance: 0.01, seed: 3 } })
      const { requests, runs } = yield* minute(1000)

      assert.strictEqual(runs, 1000)
      assert.isAbove(requests, runs * 3)
    }).pipe(Effect.provide(app), Effect.provideService(References.MinimumLogLevel, "None")))

  it.effect("can be disabled, and every stream then retries independently", () =>
    Effect.gen(function*() {
      yield* (yield* FakeService).inject(Fault.status(503))
      const { requests, runs } = yield* minute(100)

      assert.strictEqual(requests, runs * 4)
    }).pipe(
      Effect.provide(app.pipe(Layer.provide(RetryPolicy.layer({ budget: Infinity })))),
      Effect.provideService(References.MinimumLogLevel, "None")
    ))
})
