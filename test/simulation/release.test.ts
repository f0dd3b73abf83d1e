import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Option, Redacted, Schedule, Stream } from "effect"
import type { HttpClient } from "effect/http"
import { CompanyId, Credentials, Endpoints, RetryPolicy, TimePunches } from "../../src/index.ts"
import { defaultCompany, FakeService, Fault, generatePunches } from "../../src/testing/index.ts"
import { CountedServer } from "./countedServer.ts"
import { transports } from "./sockets.ts"

const company = CompanyId.make(defaultCompany.id)

const punches = generatePunches({ seed: 6, count: 60, companyId: company, deletedShare: 0 })

const service = CountedServer.layer.pipe(Layer.provideMerge(FakeService.layer({ punches, latency: "5 millis" })))

const client = (http: Layer.Layer<HttpClient.HttpClient>) =>
  Layer.unwrap(CountedServer.useSync(({ url }) =>
    TimePunches.layer.pipe(
      Layer.provide(RetryPolicy.layer({ attempts: 9, baseDelay: 0, budget: 100_000 })),
      Layer.provide(Credentials.layerAccessToken(Redacted.make(defaultCompany.accessToken))),
      Layer.provide(Endpoints.layer({ baseUrl: url })),
      Layer.provide(http)
    )
  )).pipe(Layer.provideMerge(service))

/** Waits until this number of requests is in flight: less than the limit of an attempt, which would end one too. */
const until = Effect.fnUntraced(function*(open: number) {
  const { inFlight } = yield* FakeService
  yield* Effect.repeat(inFlight, { until: (count) => count === open, schedule: Schedule.spaced("1 millis") })
}, Effect.timeout("20 seconds"))

const inject = (...args: Parameters<FakeService["Service"]["inject"]>) =>
  FakeService.use(({ inject }) => inject(...args))

const list = (options: { readonly pageSize?: number; readonly prefetchPages?: number } = {}) =>
  TimePunches.list(company, {}, { pageSize: 10, ...options })

/** Ways to stop a consumer while a page is in flight. Each ends when the service has noticed. */
const stops = [
  [
    "is interrupted before the headers arrive",
    Effect.gen(function*() {
      yield* inject(Fault.stallBeforeHeaders)
      const fiber = yield* Effect.forkChild(Stream.runDrain(list()))
      yield* until(1)
      yield* Effect.forkChild(Fiber.interrupt(fiber))
      yield* until(0)
    })
  ],
  [
    "is interrupted within a body",
    Effect.gen(function*() {
      yield* inject(Fault.stallBody(0.5))
      const fiber = yield* Effect.forkChild(Stream.runDrain(list()))
      yield* until(1)
      yield* Effect.sleep("20 millis")
      yield* Effect.forkChild(Fiber.interrupt(fiber))
      yield* until(0)
    })
  ],
  [
    "times out",
    Effect.gen(function*() {
      yield* inject(Fault.stallBody(0.5))
      assert.isTrue(Option.isNone(yield* Effect.timeoutOption(Stream.runDrain(list()), "60 millis")))
      yield* until(0)
    })
  ],
  [
    "has taken enough while a page is read ahead",
    Effect.gen(function*() {
      const first = yield* TimePunches.page(company, {}, { pageSize: 10 })
      yield* inject(Fault.stallBody(0.5), { cursor: Option.getOrNull(first.cursor.next) })
      const last = first.items.at(-1)?.id
      yield* list({ prefetchPages: 1 }).pipe(
        Stream.take(10),
        Stream.runForEach(({ id }) => id === last ? until(1) : Effect.void)
      )
      yield* until(0)
    })
  ]
] as const

describe.each(transports)("A consumer of TimePunches.list over %s", (_name, http) => {
  it.live.each(stops)("closes the request when it %s", ([_, stop]) => Effect.provide(stop, client(http)))
})

/** Runs 500 streams at once with some refused pages, and returns the largest number of connections. */
const crowd = Effect.fnUntraced(function*(refusal: Fault) {
  const { maxInFlight } = yield* FakeService
  const { most } = yield* CountedServer
  yield* inject(refusal, { probability: { chance: 0.1, seed: 4 } })
  const counts = yield* Effect.forEach(
    Array.from({ length: 500 }),
    () => Stream.runCount(list({ pageSize: 30 })),
    { concurrency: "unbounded" }
  )

  assert.isTrue(counts.every((count) => count === punches.length))
  assert.isAbove(yield* maxInFlight, 8)
  return yield* most
})

const configured = 16

describe("500 streams at once", () => {
  const bounded = transports.filter(([name]) => name !== "fetch")

  it.live.each(bounded)(
    "open no more connections over %s than it is configured for",
    ([_, http]) =>
      Effect.gen(function*() {
        assert.isAtMost(yield* crowd(Fault.status(503)), configured)
      }).pipe(Effect.provide(client(http)))
  )

  it.live.each(bounded)(
    "release over %s each connection with an unread error body",
    ([_, http]) =>
      Effect.gen(function*() {
        const sorry = { contentType: "text/html", text: "sorry ".repeat(30_000) }

        // The service notices a closed connection a moment after the client has replaced it.
        assert.isAtMost(yield* crowd(Fault.status(503, { body: sorry })), configured * 2)
      }).pipe(Effect.provide(client(http)))
  )
})
