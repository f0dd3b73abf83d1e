/** How long a page waits before a retry, and what ends the wait. */
import { assert, describe, it } from "@effect/vitest"
import { Clock, Duration, Effect, Fiber, Layer, Option, Random, Stream } from "effect"
import { TestClock } from "effect/testing"
import { RetryPolicy, TimePunches } from "../../src/index.ts"
import { prng } from "../../src/testing/base/prng.ts"
import { defaultCompany, FakeService, Fault, generatePunches } from "../../src/testing/index.ts"
import { app, client, company, inject, oauth, pageRequests } from "../support/client.ts"
import { letTimePass } from "../support/time.ts"

const punches = generatePunches({ seed: 21, count: 50, companyId: defaultCompany.id, deletedShare: 0 })
const ids = punches.map(({ id }) => id)

/** The milliseconds between the requests for pages. */
const gaps = Effect.map(
  pageRequests,
  (requests) => requests.slice(1).map(({ at }, index) => at - (requests[index]?.at ?? 0))
)

/** The gap before the second request of a page whose first one has this fault. */
const waitAfter = Effect.fnUntraced(
  function*(fault: Fault) {
    yield* inject(fault, { requests: 1 })
    yield* letTimePass(TimePunches.page(company))
    const [gap] = yield* gaps
    return gap ?? Number.NaN
  },
  Random.withSeed("wait"),
  (effect) => Effect.provide(effect, app())
)

const withPolicy = (policy: Parameters<typeof RetryPolicy.layer>[0]) =>
  client(oauth).pipe(
    Layer.provide(RetryPolicy.layer(policy)),
    Layer.provide(FakeService.layerClient),
    Layer.provideMerge(FakeService.layer({ punches }))
  )

const date = (millis: number) => new Date(millis).toUTCString()

describe("a Retry-After", () => {
  it.effect.each([429, 503, 425, 520, 522, 530])(
    "[H1] sets the wait: status %d",
    (status) =>
      Effect.gen(function*() {
        assert.strictEqual(yield* waitAfter(Fault.retryAfter("2", status)), 2000)
        assert.strictEqual(yield* waitAfter(Fault.retryAfter("60", status)), 60_000)
      })
  )

  it.effect("[H1] does not shorten the wait of the policy", () =>
    Effect.gen(function*() {
      yield* inject(Fault.retryAfter("2"), { times: 3 })
      yield* letTimePass(TimePunches.page(company))
      const waits = yield* gaps

      assert.strictEqual(waits.length, 3)
      for (const wait of waits) assert.isAtLeast(wait, 2000)
      assert.isAbove(Math.max(...waits), 2000)
    }).pipe(
      Random.withSeed("backoff"),
      Effect.provide(withPolicy({ baseDelay: "1 minute", maxDelay: "20 seconds" }))
    ))

  it.effect("[H2] can be a date", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* waitAfter(Fault.retryAfter(date(7000))), 7000)
      const past = yield* waitAfter(Fault.retryAfter(date(-1000)))

      assert.isTrue(past >= 5000 && past <= 6000, `waited ${past} ms after a date that is over`)
    }))

  it.effect.each([
    ["61", 429],
    ["99999999", 429],
    ["99999999999999999999", 429],
    ["9".repeat(40), 429],
    [date(3_600_000), 429],
    ["Fri, 31 Dec 9999 23:59:59 GMT", 429],
    ["99999999", 503],
    ["61", 522],
    [date(3_600_000), 522]
  ])("[H3] of %s fails at once: status %d", ([text, status]) =>
    Effect.gen(function*() {
      yield* inject(Fault.retryAfter(String(text), Number(status)))
      const fiber = yield* Effect.forkChild(Effect.flip(TimePunches.page(company)))
      yield* TestClock.adjust(0)
      const exit = fiber.pollUnsafe()
      assert.isDefined(exit, "the page waits")
      const error = yield* Fiber.join(fiber)

      assert.deepInclude<object>(error, { attempts: 1, _tag: status === 429 ? "RateLimited" : "ServiceUnavailable" })
      const retryAfter = "retryAfter" in error ? error.retryAfter : Option.none()
      assert.isTrue(Option.exists(retryAfter, Duration.isGreaterThan(Duration.minutes(1))))
      assert.strictEqual((yield* pageRequests).length, 1)
    }).pipe(Effect.provide(app())))

  it.effect("[H3] fails at once where it ends after the page's deadline", () =>
    Effect.gen(function*() {
      yield* inject(Fault.retryAfter("50"))
      const error = yield* letTimePass(Effect.flip(TimePunches.page(company)))

      assert.deepInclude(error, { _tag: "RateLimited", attempts: 3 })
      assert.deepStrictEqual(yield* gaps, [50_000, 50_000])
    }).pipe(Effect.provide(app())))

  const unreadable = ["", " ", "-5", "1.5", "abc", "2, 3", "0x10", "1e3", "Infinity", "NaN", "2 seconds", "+2"]

  it.effect.each(unreadable)(
    "[H4] of %j is ignored: the policy sets the wait",
    (text) =>
      Effect.gen(function*() {
        const wait = yield* waitAfter(Fault.retryAfter(text))

        assert.isTrue(wait >= 5000 && wait <= 6000, `waited ${wait} ms`)
      })
  )

  it.effect("[H4] of any text waits between a second and a minute", () =>
    Effect.gen(function*() {
      const chance = prng(4)
      const signs = ["0", "1", "9", "-", "+", ".", ",", ":", " ", "e", "G", "M", "T", "x", "\u00e9"] as const
      for (let run = 0; run < 200; run++) {
        const text = Array.from({ length: chance.between(0, 6) }, () => chance.pick(signs)).join("")
        yield* Effect.gen(function*() {
          yield* inject(Fault.retryAfter(text), { requests: 1 })
          const began = yield* Clock.currentTimeMillis
          yield* Effect.result(letTimePass(TimePunches.page(company)))
          const [first, second] = yield* pageRequests

          assert.strictEqual(first?.at, began)
          if (second !== undefined) {
            assert.isTrue(second.at - began >= 1000 && second.at - began <= 60_000, `${text}: ${second.at - began}`)
          }
        }).pipe(Effect.provide(app()))
      }
    }))
})

describe("a transient status", () => {
  it.effect.each([
    ["H7", 500],
    ["H8", 502],
    ["H8", 503],
    ["H8", 504],
    ["H9", 408],
    ["H5", 429]
  ])("[%s] is retried within its page: %d", ([_row, status]) =>
    Effect.gen(function*() {
      yield* inject(Fault.status(Number(status)), { requests: [2, 4, 5] })
      const seen = yield* letTimePass(Stream.runCollect(TimePunches.list(company, {}, { pageSize: 10 })))

      assert.deepStrictEqual<ReadonlyArray<number>>(seen.map(({ id }) => id), ids)
      assert.strictEqual((yield* pageRequests).length, 5 + 3)
      assert.isTrue((yield* gaps).filter((gap) => gap > 0).length === 3, "a retry did not wait")
    }).pipe(Random.withSeed("status"), Effect.provide(app({ punches }))))
})

describe("an interrupted consumer", () => {
  it.effect("[R3] does not wait for a retry, and no request follows", () =>
    Effect.gen(function*() {
      yield* inject(Fault.retryAfter("60"))
      const fiber = yield* Effect.forkChild(Stream.runDrain(TimePunches.list(company)))
      yield* TestClock.adjust("1 second")
      assert.isUndefined(fiber.pollUnsafe())
      yield* Fiber.interrupt(fiber)
      assert.strictEqual(yield* Clock.currentTimeMillis, 1000)
      yield* TestClock.adjust("10 minutes")

      assert.strictEqual((yield* pageRequests).length, 1)
    }).pipe(Effect.provide(app())))
})

describe("a slow token", () => {
  const tokenRequests = FakeService.use((service) =>
    Effect.map(service.requests, (all) => all.filter(({ endpoint }) => endpoint === "token"))
  )

  it.effect("[A12] is requested once for all pages that wait for it", () =>
    Effect.gen(function*() {
      yield* inject(Fault.slow("9 seconds"), { target: "token" })
      const pages = yield* letTimePass(
        Effect.forEach(Array.from({ length: 50 }), () => TimePunches.page(company), { concurrency: "unbounded" })
      )

      assert.strictEqual(pages.length, 50)
      assert.strictEqual((yield* tokenRequests).length, 1)
      for (const { at } of yield* pageRequests) assert.strictEqual(at, 9000)
    }).pipe(Effect.provide(app({ punches }, oauth))))

  it.effect("[A12] counts towards the deadline of the page that waits for it", () =>
    Effect.gen(function*() {
      yield* inject(Fault.stallBeforeHeaders, { target: "token" })
      const fiber = yield* Effect.forkChild(Effect.flip(TimePunches.page(company)))
      yield* TestClock.adjust("14999 millis")
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust("1 millis")
      const error = yield* Fiber.join(fiber)

      assert.deepInclude(error, { _tag: "TransportError", reason: "Timeout", attempts: 0 })
      assert.isEmpty(yield* pageRequests)
    }).pipe(Effect.provide(withPolicy({ pageTimeout: "15 seconds" }))))
})
