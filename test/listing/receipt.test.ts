/** What the headers of a page say, and that nothing else of them is kept. */
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Option, Redacted } from "effect"
import { Headers } from "effect/http"
import { TestClock } from "effect/testing"
import { beginReceipt } from "../../src/listing/fetch.ts"

const sent = Date.parse("2026-03-10T12:00:00.250Z")

/** The receipt of a response that comes `after` milliseconds after its request. */
const receiptOf = (headers: Readonly<Record<string, string>>, after = 0, secrets: ReadonlyArray<string> = []) =>
  Effect.gen(function*() {
    yield* TestClock.setTime(sent)
    const take = yield* beginReceipt
    yield* TestClock.adjust(after)
    return yield* take(Headers.fromInput(headers), () => secrets.map((secret) => Redacted.make(secret)))
  })

const iso = Option.map(DateTime.formatIso)

describe("the clock of the service", () => {
  it.effect("is the date less the time of the request", () =>
    Effect.gen(function*() {
      const { asOf, sentAt } = yield* receiptOf({ date: "Tue, 10 Mar 2026 12:30:00 GMT" }, 1500)

      assert.deepStrictEqual(iso(asOf), Option.some("2026-03-10T12:29:58.500Z"))
      assert.strictEqual(DateTime.formatIso(sentAt), "2026-03-10T12:00:00.250Z")
    }))

  it.effect.each([
    "",
    "now",
    "2026-03-10T12:30:00Z",
    "Tue, 10 Mar 2026 12:30:00",
    "Tue, 10 Mar 2026 12:30:00 +0100",
    "Tue, 99 Mar 2026 12:30:00 GMT",
    "Tue, 10 Mar 2026 25:30:00 GMT",
    "1773145800"
  ])("is unknown where the date is %j", (date) =>
    Effect.gen(function*() {
      assert.deepStrictEqual((yield* receiptOf({ date })).asOf, Option.none())
    }))

  it.effect("is unknown where there is no date", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual((yield* receiptOf({})).asOf, Option.none())
    }))
})

describe("the id of a request", () => {
  it.effect.each<readonly [Readonly<Record<string, string>>, Option.Option<string>]>([
    [{ "x-request-id": "a-1" }, Option.some("a-1")],
    [{ "request-id": "a-2" }, Option.some("a-2")],
    [{ "x-request-id": "a-1", "request-id": "a-2" }, Option.some("a-1")],
    [{ "x-request-id": "  ", "request-id": "a-2" }, Option.some("a-2")],
    [{ "x-request-id": "" }, Option.none()],
    [{ "x-correlation-id": "a-3" }, Option.none()]
  ])("of %j is %j", ([headers, id]) =>
    Effect.gen(function*() {
      assert.deepStrictEqual((yield* receiptOf(headers)).requestId, id)
    }))

  it.effect("is cut at 200 characters", () =>
    Effect.gen(function*() {
      const { requestId } = yield* receiptOf({ "x-request-id": "a".repeat(5000) })

      assert.deepStrictEqual(requestId, Option.some(`${"a".repeat(199)}…`))
    }))

  it.effect("has no secret of the request and no character that controls a terminal", () =>
    Effect.gen(function*() {
      const { requestId } = yield* receiptOf({ "x-request-id": "for \u001b[31m token-abcdefgh" }, 0, ["token-abcdefgh"])

      assert.deepStrictEqual(requestId, Option.some("for \\u001b[31m <redacted>"))
    }))
})

describe("the version that answered", () => {
  it.effect.each<readonly [string | undefined, Option.Option<string>]>([
    ["2026-06-01", Option.some("2026-06-01")],
    [" 2026-06-01 ", Option.some("2026-06-01")],
    ["v2.2026.0201", Option.some("2026-02-01")],
    ["2026-06-01, 2026-06-01", Option.some("2026-06-01")],
    ["2026-06-01, 2022-05-01", Option.none()],
    ["2026-06-01,", Option.none()],
    ["2026-02-30", Option.none()],
    ["v2.2026.1301", Option.none()],
    ["20260601", Option.none()],
    ["2", Option.none()],
    ["", Option.none()],
    [undefined, Option.none()]
  ])("of %j is %j", ([header, version]) =>
    Effect.gen(function*() {
      const headers: Readonly<Record<string, string>> = header === undefined ? {} : { "x-api-version": header }
      assert.deepStrictEqual((yield* receiptOf(headers)).apiVersion, version)
    }))
})

describe("the requests that remain", () => {
  it.effect.each<readonly [Readonly<Record<string, string>>, Option.Option<number>]>([
    [{ "ratelimit-remaining": "12" }, Option.some(12)],
    [{ "x-ratelimit-remaining": " 0 " }, Option.some(0)],
    [{ "ratelimit-remaining": "1", "x-ratelimit-remaining": "2" }, Option.some(1)],
    [{ "ratelimit-remaining": "-1" }, Option.none()],
    [{ "ratelimit-remaining": "1.5" }, Option.none()],
    [{ "ratelimit-remaining": "many" }, Option.none()],
    [{}, Option.none()]
  ])("of %j are %j", ([headers, remaining]) =>
    Effect.gen(function*() {
      assert.deepStrictEqual((yield* receiptOf(headers)).remaining, remaining)
    }))
})
