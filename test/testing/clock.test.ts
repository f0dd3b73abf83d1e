import { NodeHttpClient } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Clock, DateTime, Effect, Fiber, Layer } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import { TestClock } from "effect/testing"
import { FakeServer } from "../../src/testing/FakeServer.ts"
import { defaultCompany, FakeService, Fault } from "../../src/testing/index.ts"
import { ask, bearer, inject, pagePath, requestToken, textOf } from "./support.ts"

const start = Date.parse("2026-02-28T23:59:58.500Z")

const dateOf = Effect.map(ask({}), ({ headers }) => headers["date"])

/** The `Date` header in the words of `Date`. */
const httpDate = (millis: number) => new Date(millis).toUTCString()

describe("the clock of the fake service", () => {
  it.effect("is the `Clock` by default, and dates every response", () =>
    Effect.gen(function*() {
      const service = yield* FakeService
      yield* TestClock.setTime(start)
      const responses = [
        yield* ask({}),
        yield* ask({ limit: "0" }),
        yield* ask({}, {}),
        yield* requestToken,
        yield* service.respond({ method: "GET", url: "/nowhere", headers: {}, body: "" })
      ]

      assert.deepStrictEqual(responses.map(({ status }) => status), [200, 422, 401, 200, 404])
      assert.deepStrictEqual(
        responses.map(({ headers }) => headers["date"]),
        Array.from({ length: 5 }, () => "Sat, 28 Feb 2026 23:59:58 GMT")
      )
      assert.deepStrictEqual(yield* service.now, DateTime.makeUnsafe(start))
    }).pipe(Effect.provide(FakeService.layer())))

  it.effect("is ahead by its offset, can be set and stepped, and continues with the `Clock`", () =>
    Effect.gen(function*() {
      const service = yield* FakeService
      yield* TestClock.setTime(start)
      const seen = [yield* dateOf]
      yield* service.stepClock("-1 hour")
      seen.push(yield* dateOf)
      yield* service.setServiceTime(DateTime.makeUnsafe("1999-12-31T23:59:59Z"))
      seen.push(yield* dateOf)
      yield* TestClock.adjust("90 seconds")
      seen.push(yield* dateOf)
      yield* service.stepClock("2 days")
      seen.push(yield* dateOf)

      assert.deepStrictEqual(seen, [
        "Sun, 01 Mar 2026 00:04:58 GMT",
        "Sat, 28 Feb 2026 23:04:58 GMT",
        "Fri, 31 Dec 1999 23:59:59 GMT",
        "Sat, 01 Jan 2000 00:01:29 GMT",
        "Mon, 03 Jan 2000 00:01:29 GMT"
      ])
    }).pipe(Effect.provide(FakeService.layer({ clockOffset: "5 minutes" }))))

  it.effect("decides from when a token is valid, however far ahead it is", () =>
    Effect.gen(function*() {
      const issued: { readonly access_token: string } = JSON.parse(textOf(yield* requestToken))
      const headers = { ...bearer(issued.access_token), "x-company-guid": defaultCompany.guid }
      const fresh = yield* ask({}, headers)
      yield* TestClock.adjust("59 minutes")
      const young = yield* ask({}, headers)
      yield* TestClock.adjust("1 minute")
      const old = yield* ask({}, headers)

      assert.deepStrictEqual([fresh.status, young.status, old.status], [200, 200, 401])
    }).pipe(Effect.provide(FakeService.layer({ clockOffset: "1 day" }))))

  it.effect("decides when a token expires, and not when a request arrived", () =>
    Effect.gen(function*() {
      const service = yield* FakeService
      const issued: { readonly access_token: string } = JSON.parse(textOf(yield* requestToken))
      const headers = { ...bearer(issued.access_token), "x-company-guid": defaultCompany.guid }
      const fresh = yield* ask({}, headers)
      yield* service.stepClock("1 hour")
      const old = yield* ask({}, headers)
      const [first, , last] = yield* service.requests

      assert.deepStrictEqual([fresh.status, old.status], [200, 401])
      assert.strictEqual(first?.at, last?.at)
    }).pipe(Effect.provide(FakeService.layer())))
})

describe("the date of a response", () => {
  it.effect("is the one of any instant", () =>
    Effect.gen(function*() {
      const service = yield* FakeService
      const now = yield* Clock.currentTimeMillis
      for (let month = -3000; month < 3000; month += 7) {
        const at = now + month * 2_629_743_999
        yield* service.setServiceTime(DateTime.makeUnsafe(at))

        assert.strictEqual(yield* dateOf, httpDate(at))
      }
    }).pipe(Effect.provide(FakeService.layer())))

  it.effect("is that of the end of a slow response, after its wait", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(start)
      yield* inject(Fault.slow("10 seconds"), { times: 1 })
      const fiber = yield* Effect.forkChild(dateOf)
      yield* TestClock.adjust("10 seconds")

      assert.strictEqual(yield* Fiber.join(fiber), httpDate(start + 10_000))
    }).pipe(Effect.provide(FakeService.layer())))

  it.effect("can be absent, or wild on some pages", () =>
    Effect.gen(function*() {
      const dates = [yield* dateOf, yield* dateOf, yield* dateOf, yield* dateOf]

      assert.deepStrictEqual(dates, [
        "Thu, 01 Jan 1970 00:00:00 GMT",
        undefined,
        "yesterday",
        "Fri, 31 Dec 9999 23:59:59 GMT"
      ])
    }).pipe(Effect.provide(FakeService.layer({
      date: (serviceTime, { number }) =>
        new Map([[1, serviceTime], [3, "yesterday"], [4, "Fri, 31 Dec 9999 23:59:59 GMT"]]).get(number)
    }))))

  it.effect("gives way to that of a fault", () =>
    Effect.gen(function*() {
      yield* inject(Fault.status(503, { headers: { date: "never" } }), { times: 1 })

      assert.strictEqual(yield* dateOf, "never")
    }).pipe(Effect.provide(FakeService.layer())))

  it.live("is the service's over a socket too, or absent, and never that of Node", () =>
    Effect.gen(function*() {
      const { url } = yield* FakeServer
      const request = HttpClientRequest.get(url + pagePath).pipe(
        HttpClientRequest.bearerToken(defaultCompany.accessToken)
      )
      const service = yield* FakeService
      yield* service.setServiceTime(DateTime.makeUnsafe("2001-02-03T04:05:06Z"))
      const first = yield* HttpClient.execute(request)
      const second = yield* HttpClient.execute(request)
      yield* first.text
      yield* second.text

      assert.match(first.headers["date"] ?? "", /^Sat, 03 Feb 2001 04:0\d:\d\d GMT$/)
      assert.isUndefined(second.headers["date"])
    }).pipe(Effect.provide([
      FakeServer.layer().pipe(
        Layer.provideMerge(FakeService.layer({ date: (time, { number }) => number === 1 ? time : undefined }))
      ),
      NodeHttpClient.layerUndici
    ])))
})
