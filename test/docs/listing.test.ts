/** The examples of pages, backfill and errors do what their pages say. */
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { type Config, ConfigProvider, Effect, Fiber, FileSystem, Layer, Option, Ref, Schema, Stream } from "effect"
import type { HttpClient } from "effect/http"
import { TestClock, TestConsole } from "effect/testing"
import { copyMarch, Unfinished } from "../../docs/examples/backfill.ts"
import { atOnce, count, overnight, patient, quick, worthAnotherRun } from "../../docs/examples/errors.ts"
import {
  ahead,
  copy,
  countInTime,
  firstTwenty,
  neverSilent,
  resuming,
  salvage,
  thereAndBack
} from "../../docs/examples/pages.ts"
import { CompanyGuid, CompanyId, Forbidden, RateLimit, ServerError, TimePunches } from "../../src/index.ts"
import {
  defaultCompany,
  FakeService,
  type FakeServiceOptions,
  Fault,
  generatePunches
} from "../../src/testing/index.ts"
import { letTimePass } from "../support/time.ts"
import { environment } from "./support/examples.ts"

const company = { id: CompanyId.make(defaultCompany.id), guid: CompanyGuid.make(defaultCompany.guid) }
const punches = generatePunches({ count: 1000, companyId: company.id, deletedShare: 0 })
const manyPunches = generatePunches({ count: 6000, companyId: company.id, deletedShare: 0 })
const ids = punches.map(({ id }) => id)

const settings = ConfigProvider.layer(ConfigProvider.fromUnknown(environment("http://localhost")))

/** A client from the environment, connected to the fake service. */
const withService = (
  client: Layer.Layer<TimePunches, Config.ConfigError, HttpClient.HttpClient> = TimePunches.layerFromConfig,
  options: FakeServiceOptions = { punches }
) =>
  client.pipe(
    Layer.provide(settings),
    Layer.provide(FakeService.layerClient),
    Layer.provideMerge(FakeService.layer(options))
  )

const pageRequests = Effect.gen(function*() {
  const service = yield* FakeService
  return (yield* service.requests).filter(({ endpoint }) => endpoint === "page")
})

describe("docs/examples/pages.ts", () => {
  it.effect("requests one page to take twenty punches", () =>
    Effect.gen(function*() {
      const taken = yield* firstTwenty(company)

      assert.deepStrictEqual(taken.map(({ id }) => Number(id)), ids.slice(0, 20))
      assert.deepStrictEqual((yield* pageRequests).map(({ query }) => query["limit"]), ["20"])
    }).pipe(Effect.provide(withService())))

  it.effect("returns to the first page by its cursors", () =>
    Effect.gen(function*() {
      const page = yield* thereAndBack(company)

      assert.deepStrictEqual(page.items.map(({ id }) => Number(id)), ids.slice(0, 200))
    }).pipe(Effect.provide(withService())))

  it.effect("requests the next page while one is processed", () =>
    Effect.gen(function*() {
      const requestsDuring = yield* Ref.make<ReadonlyArray<number>>([])
      yield* Effect.forkChild(ahead(company, () =>
        Effect.sleep("1 second").pipe(
          Effect.andThen(pageRequests),
          Effect.flatMap(({ length }) => Ref.update(requestsDuring, (before) => [...before, length]))
        )))
      yield* TestClock.adjust("10 seconds")

      assert.deepStrictEqual(yield* Ref.get(requestsDuring), [2, 3, 4, 5, 5])
    }).pipe(Effect.provide(withService())))

  it.effect("resumes after an outage of two minutes, with each punch once", () =>
    Effect.gen(function*() {
      const service = yield* FakeService
      const run = yield* Effect.forkChild(Stream.runCollect(resuming(company, {}, 3)))
      yield* service.inject(Fault.status(503), { requests: Array.from({ length: 8 }, (_, index) => index + 3) })
      yield* TestClock.adjust("10 minutes")

      assert.deepStrictEqual((yield* Fiber.join(run)).map(({ id }) => Number(id)), ids)
    }).pipe(Effect.provide(withService())))

  it.effect("fails after the given number of rounds", () =>
    Effect.gen(function*() {
      const service = yield* FakeService
      yield* service.inject(Fault.status(503))
      const run = yield* Effect.forkChild(Effect.flip(Stream.runDrain(resuming(company, {}, 1))))
      yield* TestClock.adjust("10 minutes")

      assert.strictEqual((yield* Fiber.join(run))._tag, "ServiceUnavailable")
      assert.strictEqual((yield* pageRequests).length, 8)
    }).pipe(Effect.provide(withService())))

  it.effect("resumes at its checkpoint, and repeats the page that was not written", () =>
    Effect.gen(function*() {
      const file = `${yield* (yield* FileSystem.FileSystem).makeTempDirectoryScoped()}/cursor.json`
      const written = yield* Ref.make<ReadonlyArray<number>>([])
      const write = (page: ReadonlyArray<{ readonly id: number }>) =>
        Ref.update(written, (before) => [...before, ...page.map(({ id }) => id)])
      const diskIsFull = (page: ReadonlyArray<{ readonly id: number }>) =>
        Effect.flatMap(Ref.get(written), (before) => before.length === 400 ? Effect.fail("disk is full") : write(page))
      assert.strictEqual(yield* Effect.flip(copy(company, {}, file, diskIsFull)), "disk is full")

      yield* copy(company, {}, file, write)

      assert.deepStrictEqual(yield* Ref.get(written), ids)
      assert.strictEqual((yield* pageRequests).length, 6)

      // The file says that the listing has ended.
      yield* copy(company, {}, file, write)
      assert.strictEqual((yield* pageRequests).length, 6)
    }).pipe(Effect.scoped, Effect.provide(Layer.merge(withService(), NodeServices.layer))))

  it.effect("fails at the deadline, instead of ending with some of the rows", () =>
    Effect.gen(function*() {
      const service = yield* FakeService
      yield* service.inject(Fault.slow("25 seconds"))
      const run = yield* Effect.forkChild(Effect.flip(countInTime(company)))
      yield* TestClock.adjust("10 minutes")

      assert.deepInclude(yield* Fiber.join(run), { _tag: "LimitReached", reason: "Deadline" })
      assert.strictEqual((yield* pageRequests).length, 24)
    }).pipe(Effect.provide(withService(TimePunches.layerFromConfig, { punches: manyPunches }))))

  it.effect("fails after a minute without a chunk", () =>
    Effect.gen(function*() {
      const service = yield* FakeService
      yield* service.inject(Fault.stallBeforeHeaders, { requests: [3, 4, 5, 6] })
      const run = yield* Effect.forkChild(Effect.flip(Stream.runCount(neverSilent(company))))
      yield* Effect.repeat(Effect.andThen(Effect.yieldNow, pageRequests), { until: ({ length }) => length === 3 })
      yield* TestClock.adjust("1 minute")

      assert.strictEqual(yield* Fiber.join(run), "too slow")
    }).pipe(Effect.provide(withService())))

  it.effect("keeps the rows that can be decoded and prints the others", () =>
    Effect.gen(function*() {
      const service = yield* FakeService
      yield* service.inject(Fault.badRow(3, { clocked_in: "2026-02-30T00:00:00Z" }), { requests: 2 })
      const taken = yield* Stream.runCount(salvage(company))

      assert.strictEqual(taken, 999)
      assert.deepStrictEqual(yield* TestConsole.logLines, [
        `punch ${ids[203]} cannot be read at clocked_in: Expected an RFC 3339 date-time with a zone`
      ])
    }).pipe(Effect.provide(withService())))
})

describe("docs/examples/backfill.ts", () => {
  it.effect("copies each punch once across a failure, with the unfinished segments stored as text", () =>
    Effect.gen(function*() {
      const service = yield* FakeService
      const written = yield* Ref.make<ReadonlyArray<number>>([])
      const write = (page: ReadonlyArray<{ readonly id: number }>) =>
        Ref.update(written, (before) => [...before, ...page.map(({ id }) => id)])
      yield* service.inject(Fault.status(403), { requests: 12 })
      const left = yield* copyMarch(company, write)
      const before = (yield* Ref.get(written)).length
      const text = yield* Schema.encodeEffect(Unfinished)(left)
      const rest = yield* copyMarch(company, write, yield* Schema.decodeEffect(Unfinished)(text))

      const inMarch = manyPunches.filter(({ clocked_in }) => Date.parse(clocked_in) < Date.UTC(2026, 3, 1))
      assert.isAbove(before, 0)
      assert.isBelow(before, inMarch.length)
      assert.deepStrictEqual(rest, [])
      assert.deepStrictEqual((yield* Ref.get(written)).toSorted((a, b) => a - b), inMarch.map(({ id }) => id))
    }).pipe(Effect.provide(withService(TimePunches.layerFromConfig, { punches: manyPunches }))))
})

describe("docs/examples/errors.ts", () => {
  it.effect("handles the errors that it names and propagates the others", () =>
    Effect.gen(function*() {
      const service = yield* FakeService
      const counted = yield* count(company)
      yield* service.inject(Fault.retryAfter("3600"), { times: 1 })
      const later = yield* count(company)
      yield* service.inject(Fault.status(404), { times: 1 })
      const propagated = yield* Effect.flip(count(company))

      assert.deepStrictEqual([counted, later, propagated._tag], [
        "1000 punches",
        "retry after 1h",
        "UnexpectedStatus"
      ])
    }).pipe(Effect.provide(withService())))

  it.effect("asks the customer when the plan does not cover the listing", () =>
    Effect.gen(function*() {
      assert.match(yield* count(company), /^ask the customer: /)
    }).pipe(Effect.provide(withService(TimePunches.layerFromConfig, { planOk: false }))))

  it("runs again only after what time may cure", () => {
    assert.isTrue(Option.isSome(worthAnotherRun(new ServerError({}))))
    assert.isTrue(Option.isNone(worthAnotherRun(new Forbidden({}))))
  })

  it.effect("resumes by itself through an outage", () =>
    Effect.gen(function*() {
      const service = yield* FakeService
      for (const request of [3, 4, 5, 6]) yield* service.inject(Fault.status(503), { requests: request })
      const saved: Array<number> = []
      const run = yield* Effect.forkChild(overnight(company, ({ id }) => Effect.sync(() => saved.push(id))))
      yield* TestClock.adjust("1 hour")
      yield* Fiber.join(run)

      assert.deepStrictEqual(saved, ids)
    }).pipe(Effect.provide(withService())))

  const attemptsOf = (client: typeof patient, part: typeof atOnce = (self) => self) =>
    Effect.gen(function*() {
      const service = yield* FakeService
      yield* service.inject(Fault.status(503))
      const run = yield* Effect.forkChild(part(Effect.flip(TimePunches.page(company))))
      yield* TestClock.adjust("20 minutes")
      return (yield* Fiber.join(run)).attempts
    }).pipe(Effect.provide(withService(client)))

  it.effect("makes six attempts with the policy of the layer, and one with the policy of a part", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual([yield* attemptsOf(patient), yield* attemptsOf(patient, atOnce)], [6, 1])
    }))

  it.effect("changes the settings of one listing", () =>
    Effect.gen(function*() {
      const service = yield* FakeService
      yield* service.inject(Fault.status(503), { requests: 1 })
      const error = yield* Effect.flip(quick(company))
      const [request] = yield* pageRequests

      assert.deepInclude<object>(error, { _tag: "ServiceUnavailable", attempts: 1 })
      assert.strictEqual(request?.headers["x-api-version"], "2026-01-15")
    }).pipe(Effect.provide(withService())))

  const limited = TimePunches.layerFromConfig.pipe(Layer.provide(RateLimit.layer({ perSecond: 10 })))

  it.effect("sends at most ten requests per second", () =>
    Effect.gen(function*() {
      const run = yield* Effect.forkChild(Stream.runCount(TimePunches.list(company, {}, { pageSize: 20 })))
      yield* TestClock.adjust("1 minute")
      const sent = (yield* (yield* FakeService).requests).map(({ at }) => at)

      assert.strictEqual(yield* Fiber.join(run), 1000)
      assert.strictEqual(sent.length, 51)
      for (const at of sent) assert.isAtMost(sent.filter((other) => other > at - 1000 && other <= at).length, 20)
      assert.isAtLeast((sent.at(-1) ?? 0) - (sent[0] ?? 0), 4000)
    }).pipe(Effect.provide(withService(limited))))

  it.effect("leaves a 429 to the policy, and ignores its rate-limit headers", () =>
    Effect.gen(function*() {
      const service = yield* FakeService
      yield* service.inject(Fault.status(429, { headers: { "retry-after": "7200", "ratelimit-remaining": "0" } }), {
        times: 1
      })
      // No burst: each waits for its place, the first one behind the token.
      const refused = yield* letTimePass(Effect.flip(TimePunches.page(company)))
      const page = yield* letTimePass(TimePunches.page(company))

      assert.strictEqual(refused._tag, "RateLimited")
      assert.strictEqual(page.items.length, 200)
    }).pipe(Effect.provide(withService(limited))))
})
