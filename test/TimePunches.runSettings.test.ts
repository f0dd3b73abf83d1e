/** Settings of one run: as options, and as services that are provided to the run. */
import { assert, describe, it } from "@effect/vitest"
import { Clock, DateTime, Duration, Effect, Layer, Option, Schedule, Stream } from "effect"
import {
  ApiVersion,
  type BackfillError,
  type ListError,
  RetryPolicy,
  type RunOptions,
  TimePunches,
  TracePropagation
} from "../src/index.ts"
import { defaultCompany, FakeService, Fault, generatePunches } from "../src/testing/index.ts"
import { accessToken, app, client, company, inject, pageRequests } from "./support/client.ts"
import { recorder } from "./support/recorder.ts"
import { letTimePass } from "./support/time.ts"
import { untyped } from "./support/untyped.ts"

const punches = generatePunches({ seed: 9, count: 90, companyId: defaultCompany.id, deletedShare: 0 })

const clockedIn = { gte: DateTime.makeUnsafe("2000-01-01T00:00:00Z"), lt: DateTime.makeUnsafe("2100-01-01T00:00:00Z") }

/** Every operation as a run that reads to the end, with pages ahead and several workers where it can. */
const operations: ReadonlyArray<
  readonly [string, (options: RunOptions) => Effect.Effect<unknown, ListError | BackfillError, TimePunches>]
> = [
  ["list", (options) => Stream.runDrain(TimePunches.list(company, {}, { pageSize: 20, ...options }))],
  [
    "list, with pages ahead",
    (options) => Stream.runDrain(TimePunches.list(company, {}, { pageSize: 20, prefetchPages: 3, ...options }))
  ],
  ["pages", (options) => Stream.runDrain(TimePunches.pages(company, {}, { pageSize: 20, ...options }))],
  ["listResults", (options) => Stream.runDrain(TimePunches.listResults(company, {}, { pageSize: 20, ...options }))],
  ["page", (options) => TimePunches.page(company, {}, options)],
  [
    "backfill",
    (options) =>
      Stream.runDrain(TimePunches.backfill(company, { clockedIn }, { concurrency: 4, pageSize: 10, ...options }))
  ]
]

/** The failure of a page, also within that of a backfill. */
const causeOf = (error: ListError | BackfillError): ListError => error._tag === "BackfillError" ? error.cause : error

const versions = Effect.map(pageRequests, (all) => [...new Set(all.map(({ headers }) => headers["x-api-version"]))])

describe.each(operations)("a run of %s", (_name, run) => {
  it.effect("names the version of its options, of its context, of its client, in this order", () =>
    Effect.gen(function*() {
      const service = yield* FakeService
      const sentBy = (self: Effect.Effect<unknown, ListError | BackfillError, TimePunches>) =>
        Effect.andThen(service.clearRequests, Effect.andThen(self, versions))
      const provide = Effect.provideService(ApiVersion, Option.some("2025-02-02"))

      assert.deepStrictEqual(yield* sentBy(run({})), ["2026-06-01"])
      assert.deepStrictEqual(yield* sentBy(provide(run({}))), ["2025-02-02"])
      assert.deepStrictEqual(yield* sentBy(provide(run({ apiVersion: "2025-01-01" }))), ["2025-01-01"])
      assert.deepStrictEqual(yield* sentBy(provide(run({ apiVersion: Option.some("2025-01-01") }))), ["2025-01-01"])
      assert.deepStrictEqual(yield* sentBy(provide(run({ apiVersion: Option.none() }))), [undefined])
      assert.deepStrictEqual(yield* sentBy(run({ apiVersion: undefined })), ["2026-06-01"])
    }).pipe(Effect.provide(app({ punches }))))

  it.effect("takes the policy of its context, and the changes of its options", () =>
    Effect.gen(function*() {
      yield* inject(Fault.status(503))
      const attempts = (self: Effect.Effect<unknown, ListError | BackfillError, TimePunches>) =>
        Effect.map(Effect.flip(self), (error) => causeOf(error).attempts)
      const once = Effect.provide(RetryPolicy.layerNone)

      assert.strictEqual(yield* attempts(run({})), 4)
      assert.strictEqual(yield* attempts(once(run({}))), 1)
      assert.strictEqual(yield* attempts(run({ retry: { attempts: 2 } })), 2)
      assert.strictEqual(yield* attempts(once(run({ retry: { baseDelay: "1 second" } }))), 1)
      assert.strictEqual(yield* attempts(run({ retry: { attempts: undefined } })), 4)
    }).pipe(letTimePass, Effect.provide(app({ punches }))))

  const refused: ReadonlyArray<readonly [field: string, options: RunOptions]> = [
    ["apiVersion", { apiVersion: "latest" }],
    ["apiVersion", { apiVersion: Option.some("2026-02-30") }],
    ["apiVersion", { apiVersion: "2026-06-01\r\nx-injected: canary" }],
    ["apiVersion", untyped({ apiVersion: 3 })],
    ["retry", untyped({ retry: 3 })],
    ["retry", untyped({ retry: null })],
    ["retry.attempts", { retry: { attempts: 0 } }],
    ["retry.atempts", untyped({ retry: { atempts: 3 } })],
    ["retry.pageTimeout", { retry: { pageTimeout: "-1 second" } }],
    ["retry.budget", { retry: { budget: -1 } }],
    ["deadline", { deadline: 0 }],
    ["deadline", { deadline: "-1 second" }],
    ["deadline", { deadline: NaN }],
    ["deadline", untyped({ deadline: "soon" })]
  ]

  it.effect.each(refused)("refuses %s of %o before anything is sent", ([field, options]) =>
    Effect.gen(function*() {
      const error = causeOf(yield* Effect.flip(run(options)))

      assert.deepInclude(error, { _tag: "InvalidRequest", field, companyId: company.id })
      assert.notInclude(error.message, "canary")
      assert.isEmpty(yield* pageRequests)
    }).pipe(Effect.provide(app({ punches }))))

  it.effect("refuses what is provided to it and cannot be sent, instead of ignoring it", () =>
    Effect.gen(function*() {
      const policy = yield* RetryPolicy
      const version = Effect.provideService(run({}), ApiVersion, Option.some("canary\r\n"))
      const attempts = Effect.provideService(run({}), RetryPolicy, { ...policy, attempts: NaN })

      assert.deepInclude(causeOf(yield* Effect.flip(version)), { _tag: "InvalidRequest", field: "apiVersion" })
      assert.deepInclude(causeOf(yield* Effect.flip(attempts)), { _tag: "InvalidRequest", field: "retry.attempts" })
      assert.isEmpty(yield* pageRequests)
    }).pipe(Effect.provide(app({ punches }))))

  it.effect("ends with its deadline, and interrupts the request in flight", () =>
    Effect.gen(function*() {
      const { inFlight } = yield* FakeService
      yield* inject(Fault.stallBeforeHeaders)
      const [elapsed, error] = yield* letTimePass(Effect.timed(Effect.flip(run({ deadline: "10 seconds" }))))

      assert.deepInclude(causeOf(error), { _tag: "LimitReached", reason: "Deadline", isRetryable: false })
      assert.strictEqual(Duration.toMillis(elapsed), 10_000)
      assert.strictEqual(yield* inFlight, 0)
    }).pipe(Effect.provide(app({ punches }))))

  it.effect("does not wait for an attempt after its deadline: its failure ends the run", () =>
    Effect.gen(function*() {
      yield* inject(Fault.retryAfter("30", 503))
      const [elapsed, error] = yield* letTimePass(Effect.timed(Effect.flip(run({ deadline: "10 seconds" }))))

      assert.strictEqual(causeOf(error)._tag, "ServiceUnavailable")
      assert.strictEqual(Duration.toMillis(elapsed), 0)
    }).pipe(Effect.provide(app({ punches }))))

  it.effect("has time for an attempt that ends before its deadline", () =>
    Effect.gen(function*() {
      yield* inject(Fault.slow("9 seconds"), { requests: 1 })
      yield* letTimePass(run({ deadline: "10 seconds" }))

      assert.isNotEmpty(yield* pageRequests)
    }).pipe(Effect.provide(app({ punches }))))

  it.effect("sends trace headers if it is provided with TracePropagation, and not otherwise", () =>
    Effect.gen(function*() {
      const { tracer } = recorder()
      const traced = Effect.withTracer(run({}), tracer)
      yield* traced
      const before = yield* pageRequests
      yield* Effect.provideService(traced, TracePropagation, true)
      const after = (yield* pageRequests).slice(before.length)

      assert.isTrue(before.every(({ headers }) => !("traceparent" in headers)))
      assert.isTrue(after.length > 0 && after.every(({ headers }) => "traceparent" in headers))
    }).pipe(Effect.provide(app({ punches }))))
})

describe("the deadline of a run", () => {
  const ids = punches.map(({ id }) => id)

  it.effect("counts the work of the consumer, does not interrupt it, and leaves a place to resume from", () =>
    Effect.gen(function*() {
      const seen: Array<number> = []
      const error = yield* TimePunches.pages(company, {}, { pageSize: 20, deadline: "1 minute" }).pipe(
        Stream.runForEach(({ items }) =>
          Effect.andThen(Effect.sleep("25 seconds"), Effect.sync(() => seen.push(...items.map(({ id }) => id))))
        ),
        Effect.flip,
        letTimePass
      )
      const sent = (yield* pageRequests).length
      const rest = yield* Stream.runCollect(
        TimePunches.list(company, {}, { pageSize: 20, cursor: error.resumeFrom })
      )

      assert.deepInclude(error, { _tag: "LimitReached", reason: "Deadline", pagesCompleted: 3, attempts: 0 })
      assert.strictEqual(sent, 3)
      assert.deepStrictEqual([...seen, ...rest.map(({ id }) => Number(id))], ids)
    }).pipe(Effect.provide(app({ punches }))))

  it.effect("counts from the start of each run of a stream", () =>
    Effect.gen(function*() {
      const stream = TimePunches.list(company, {}, { pageSize: 20, deadline: "1 minute" })
      yield* letTimePass(Effect.sleep("5 minutes"))

      assert.strictEqual(yield* Stream.runCount(stream), ids.length)
      yield* letTimePass(Effect.sleep("5 minutes"))
      assert.strictEqual(yield* Stream.runCount(stream), ids.length)
    }).pipe(Effect.provide(app({ punches }))))

  it.effect("is not passed by a resumption", () =>
    Effect.gen(function*() {
      yield* inject(Fault.status(503))
      const resumeSchedule = Schedule.spaced("1 minute")
      const run = Stream.runDrain(TimePunches.list(company, {}, { resumeSchedule, deadline: "150 seconds" }))
      const began = yield* Clock.currentTimeMillis
      const [elapsed, error] = yield* letTimePass(Effect.timed(Effect.flip(run)))

      assert.strictEqual(error._tag, "ServiceUnavailable")
      assert.isBelow(Duration.toMillis(elapsed), 150_000)
      assert.isAbove(Math.max(...(yield* pageRequests).map(({ at }) => at)) - began, 100_000)
    }).pipe(Effect.provide(app({ punches }))))

  it.effect("leaves the segments that a backfill has not read", () =>
    Effect.gen(function*() {
      yield* inject(Fault.slow("4 seconds"))
      const seen: Array<number> = []
      const backfill = (options: { readonly deadline?: string; readonly segments?: BackfillError["unfinished"] }) =>
        TimePunches.backfill(company, { clockedIn }, { concurrency: 1, pageSize: 20, ...untyped(options) }).pipe(
          Stream.runForEach(({ id }) => Effect.sync(() => seen.push(Number(id))))
        )
      const error = yield* letTimePass(Effect.flip(backfill({ deadline: "10 seconds" })))
      const first = seen.length
      yield* letTimePass(backfill({ segments: error.unfinished }))

      assert.deepInclude(error.cause, { _tag: "LimitReached", reason: "Deadline" })
      assert.strictEqual(first, 40)
      assert.deepStrictEqual(seen.toSorted((a, b) => a - b), ids.toSorted((a, b) => a - b))
    }).pipe(Effect.provide(app({ punches }))))
})

describe("the budget of a run", () => {
  const oneRetry = client(accessToken).pipe(
    Layer.provide(RetryPolicy.layer({ budget: 14 })),
    Layer.provide(FakeService.layerClient),
    Layer.provideMerge(FakeService.layer({ punches }))
  )
  const attempts = (options: RunOptions) =>
    Effect.map(Effect.flip(TimePunches.page(company, {}, options)), (error) => error.attempts)

  it.effect("is that of its client, unless the run names another one", () =>
    Effect.gen(function*() {
      yield* inject(Fault.status(503))

      assert.strictEqual(yield* attempts({ retry: { attempts: 3 } }), 2)
      assert.strictEqual(yield* attempts({ retry: { attempts: 3 } }), 1)
      assert.strictEqual(yield* attempts({}), 1)
      assert.strictEqual(yield* attempts({ retry: { attempts: 3, budget: 100 } }), 3)
      assert.strictEqual(yield* attempts({ retry: { attempts: 3, budget: 100 } }), 3)
    }).pipe(letTimePass, Effect.provide(oneRetry)))

  it.effect("is shared by the runs of a program with one policy around it", () =>
    Effect.gen(function*() {
      yield* inject(Fault.status(503))
      const made = yield* Effect.forEach([1, 2, 3], () => attempts({})).pipe(
        Effect.provide(RetryPolicy.layer({ attempts: 3, budget: 28 }))
      )

      assert.deepStrictEqual(made, [3, 1, 1])
    }).pipe(letTimePass, Effect.provide(oneRetry)))
})
