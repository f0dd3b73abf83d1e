import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Logger, Metric, Option, Result, Schedule, Stream } from "effect"
import { type Cursor, type ListError, type ListOptions, type PunchFilter, TimePunches } from "../src/index.ts"
import { type Prng, prng } from "../src/testing/base/prng.ts"
import { Fault, type FaultWhen } from "../src/testing/index.ts"
import { app, company, inject, oauth, pageRequests } from "./support/client.ts"
import { scenario } from "./support/listing.ts"
import { expected } from "./support/oracle.ts"
import { letTimePass } from "./support/time.ts"
import { untyped } from "./support/untyped.ts"

/** Faults that fail a run at once. */
const fatal: readonly [Fault, ...ReadonlyArray<Fault>] = [
  Fault.status(422),
  Fault.status(403),
  Fault.status(404),
  Fault.redirect(302, "https://elsewhere.test/"),
  Fault.retryAfter("86400"),
  Fault.countMismatch(2),
  Fault.wrongObject(),
  Fault.missingCursorKey("next"),
  Fault.emptyCursor,
  Fault.badRow(3, { clocked_in: "soon" }),
  Fault.invalidUtf8,
  Fault.oversizedBody(9 * 1024 * 1024)
]

/** Faults that a run recovers from by itself. */
const recoverable: readonly [Fault, ...ReadonlyArray<Fault>] = [
  Fault.status(503),
  Fault.status(500, { body: "html" }),
  Fault.retryAfter("30"),
  Fault.retryAfter("2", 503),
  Fault.reset,
  Fault.cutBody(0.6),
  Fault.cutBody(1),
  Fault.stallBeforeHeaders,
  Fault.stallBody(0.3),
  Fault.slow("10 seconds"),
  Fault.invalidJson(),
  Fault.emptyBody,
  Fault.html200,
  Fault.tokenRevoked,
  Fault.unauthorizedOnce,
  Fault.emptyPage
]

/** A dozen faults, far enough apart that no page uses all its attempts. */
const plan = ({ chance, pick }: Prng): ReadonlyArray<readonly [Fault, FaultWhen]> =>
  Array.from({ length: 12 }, (_, index) => [
    chance(0.4) ? pick(fatal) : pick(recoverable),
    { requests: 1 + index * 3 }
  ])

/** Runs a listing to its end, resuming after each failure. */
const runToEnd = Effect.fnUntraced(function*(filter: PunchFilter, options: ListOptions) {
  const seen: Array<number> = []
  const errors: Array<ListError> = []
  let from: Option.Option<Cursor> = Option.none()
  while (errors.length < 50) {
    const before = seen.length
    const list = TimePunches.list(company, filter, { ...options, cursor: from })
    const result = yield* Effect.result(Stream.runForEach(list, ({ id }) => Effect.sync(() => seen.push(id))))
    if (Result.isSuccess(result)) return { seen, errors }
    errors.push(result.failure)
    from = result.failure.resumeFrom
    if (result.failure.pagesCompleted === 0) assert.strictEqual(seen.length, before)
  }
  return assert.fail("fifty failures")
})

const { punches } = scenario(6)

describe("TimePunches.list, resumed from each of its failures", () => {
  it.effect(
    "emits every punch once and in order under any faults, with and without prefetch",
    () =>
      Effect.gen(function*() {
        let failures = 0
        for (let seed = 1; seed <= 200; seed++) {
          const { filter, prefetchPages, punches } = scenario(seed + 5000)
          const pageSize = prng(seed).pick([1, 3, 9])
          const { errors, seen } = yield* Effect.gen(function*() {
            for (const [fault, when] of plan(prng(seed))) yield* inject(fault, when)
            return yield* letTimePass(runToEnd(filter, { pageSize, prefetchPages }))
          }).pipe(Effect.provide(app({ punches }, oauth)))
          failures += errors.length

          assert.deepStrictEqual(seen, expected(punches, filter).map(({ id }) => Number(id)), `seed ${seed}`)
          for (const error of errors) assert.strictEqual(error.companyId, company.id)
        }
        assert.isAbove(failures, 150)
      })
  )

  it.effect.each([0, 1, 4])(
    "has emitted all pages before the one that failed, with prefetchPages %d",
    (prefetchPages) =>
      Effect.forEach([1, 2, 3, 4, 5, 6, 7], (broken) => {
        const options = { pageSize: Math.ceil(punches.length / 7), prefetchPages }
        return Effect.gen(function*() {
          yield* inject(Fault.status(403), { requests: broken })
          const { errors, seen } = yield* runToEnd({ deleted: "include" }, options)
          const [error] = errors

          assert.deepInclude(error, { _tag: "Forbidden", pagesCompleted: broken - 1, attempts: 1 })
          assert.strictEqual(Option.isNone(error?.resumeFrom ?? Option.none()), broken === 1)
          assert.deepStrictEqual(seen, punches.map(({ id }) => id))
          assert.strictEqual((yield* pageRequests).length, 8)
        }).pipe(Effect.provide(app({ punches })))
      }, { discard: true })
  )

  it.effect("can be resumed much later, with another page size, by pages", () =>
    Effect.gen(function*() {
      yield* inject(Fault.status(403), { requests: 3 })
      const error = yield* Effect.flip(Stream.runDrain(TimePunches.list(company, {}, { pageSize: 10 })))
      const rest = yield* Stream.runCollect(TimePunches.pages(company, {}, { pageSize: 25, cursor: error.resumeFrom }))

      assert.deepStrictEqual(rest.flatMap(({ items }) => items), [...expected(punches)].slice(20))
      assert.strictEqual(rest[0]?.index, 0)
    }).pipe(Effect.provide(app({ punches }))))
})

/** What a run that resumes itself gives: the ids in order, and the error that ended it. */
const resumedRun = Effect.fnUntraced(function*(filter: PunchFilter, options: ListOptions) {
  const seen: Array<number> = []
  const result = yield* Effect.result(
    Stream.runForEach(TimePunches.list(company, filter, options), ({ id }) => Effect.sync(() => seen.push(id)))
  )
  return { seen, error: Result.isFailure(result) ? result.failure : undefined }
})

describe("ListOptions.resume", () => {
  /** The listing has seven pages. */
  const pageSize = Math.ceil(punches.length / 7)

  /** Pages that fail with all their attempts: four requests of each. */
  const outages: readonly [readonly [Fault, number], ...ReadonlyArray<readonly [Fault, number]>] = [
    [Fault.status(503), 4],
    [Fault.status(500), 4],
    [Fault.reset, 4],
    [Fault.cutBody(0.5), 4],
    [Fault.status(429), 4],
    [Fault.retryAfter("86400"), 1],
    [Fault.emptyBody, 2]
  ]

  it.effect(
    "emits every punch once and in order, whichever pages fail with all their attempts",
    () =>
      Effect.gen(function*() {
        let resumptions = 0
        for (let seed = 1; seed <= 100; seed++) {
          const { filter, prefetchPages, punches } = scenario(seed + 9000)
          const random = prng(seed)
          yield* Effect.gen(function*() {
            let request = 1
            for (let index = 0; index < 4; index++) {
              const [fault, times] = random.pick(outages)
              request += random.between(0, 3)
              for (let i = 0; i < times; i++) yield* inject(fault, { requests: request++ })
              resumptions++
            }
            const { error, seen } = yield* letTimePass(
              resumedRun(filter, {
                pageSize: random.pick([1, 3, 9]),
                prefetchPages,
                resumeSchedule: Schedule.spaced("10 minutes")
              })
            )

            assert.isUndefined(error, `seed ${seed}`)
            assert.deepStrictEqual(seen, expected(punches, filter).map(({ id }) => Number(id)), `seed ${seed}`)
          }).pipe(Effect.provide(app({ punches })))
        }
        assert.isAbove(resumptions, 300)
      }),
    60_000
  )

  it.effect.each([0, 2])(
    "requests the page that failed again, and no other, with prefetchPages %d",
    (prefetchPages) =>
      Effect.gen(function*() {
        for (const request of [3, 4, 5, 6, 7]) yield* inject(Fault.status(503), { requests: request })
        const { error, seen } = yield* letTimePass(
          resumedRun({ deleted: "include" }, { pageSize, prefetchPages, resumeSchedule: Schedule.recurs(2) })
        )
        const cursors = (yield* pageRequests).map(({ query }) => query["cursor"])

        assert.isUndefined(error)
        assert.deepStrictEqual(seen, punches.map(({ id }) => id))
        assert.strictEqual(new Set(cursors.slice(2, 8)).size, 1)
        assert.strictEqual(cursors.length, 7 + 5)
      }).pipe(Effect.provide(app({ punches })))
  )

  it.effect("counts its pages, its guard and its place over the resumptions", () =>
    Effect.gen(function*() {
      for (const request of [3, 4, 5, 6]) yield* inject(Fault.status(503), { requests: request })
      const options = { pageSize, maxPages: 3, resumeSchedule: Schedule.recurs(1) }
      const pages: Array<number> = []
      const error = yield* letTimePass(Effect.flip(
        Stream.runForEach(TimePunches.pages(company, {}, options), ({ index }) => Effect.sync(() => pages.push(index)))
      ))

      assert.deepStrictEqual(pages, [0, 1, 2])
      assert.deepInclude(error, { _tag: "LimitReached", reason: "MaxPages", pagesCompleted: 3 })
    }).pipe(Effect.provide(app({ punches }))))

  it.effect("fails with the last error when the schedule ends, and starts it again for another page", () =>
    Effect.gen(function*() {
      // Pages 2 and 3 fail once, page 4 twice.
      for (const request of [2, 3, 4, 5, 7, 8, 9, 10]) yield* inject(Fault.status(503), { requests: request })
      for (let request = 12; request < 20; request++) yield* inject(Fault.status(500), { requests: request })
      const { error } = yield* letTimePass(resumedRun({}, { pageSize, resumeSchedule: Schedule.recurs(1) }))

      assert.deepInclude(error, { _tag: "ServerError", pagesCompleted: 3, attempts: 4 })
    }).pipe(Effect.provide(app({ punches }))))

  it.effect("fails at once with what time does not cure", () =>
    Effect.gen(function*() {
      yield* inject(Fault.status(403), { requests: 2 })
      const { error } = yield* letTimePass(resumedRun({}, { pageSize, resumeSchedule: Schedule.forever }))

      assert.strictEqual(error?._tag, "Forbidden")
      assert.strictEqual((yield* pageRequests).length, 2)
    }).pipe(Effect.provide(app({ punches }))))

  it.effect("waits for the Retry-After, counts the resumption and logs it", () =>
    Effect.gen(function*() {
      yield* inject(Fault.retryAfter("3600"), { requests: 2 })
      const lines: Array<unknown> = []
      const logger = Logger.make(({ message }) => void lines.push(message))
      const [duration] = yield* letTimePass(
        Effect.timed(resumedRun({}, { pageSize, resumeSchedule: Schedule.spaced("1 second") }))
      ).pipe(Effect.provide(Logger.layer([logger])))
      const counted = (yield* Metric.snapshot).find(({ id }) => id === "time_punches_resumptions")

      assert.isAtLeast(Duration.toSeconds(duration), 3600)
      assert.deepInclude(counted?.state, { count: 1 })
      assert.deepInclude(counted?.attributes, { reason: "RateLimited" })
      assert.deepStrictEqual(lines, [["page 2 failed (RateLimited), the run resumes there in 1h"]])
    }).pipe(Effect.provide(app({ punches })), Effect.provideService(Metric.MetricRegistry, new Map())))

  /** Every kind of status that is retried, and some that only a content network sends. */
  const retried = [408, 425, 429, 500, 502, 503, 504, 520, 522, 530]

  /** What the service asks for, what the client waits for by itself, and the attempts that a page then has. */
  const asked = [[30, 60, 4], [60, 60, 4], [61, 60, 1], [3600, 60, 1], [3600, 7200, 4], [5, 0, 1]] as const

  it.effect.each(
    retried.flatMap((status) => asked.map(([wait, cap, attempts]) => [status, wait, cap, attempts] as const))
  )(
    "never requests before the Retry-After is over: status %d, %d s, cap %d s",
    ([status, wait, cap, attempts]) =>
      Effect.gen(function*() {
        const retry = { retryAfterCap: Duration.seconds(cap), pageTimeout: Duration.seconds(120 + 3 * cap) }
        const resumeSchedule = Schedule.spaced("100 millis")
        for (let request = 2; request < 9; request++) {
          yield* inject(Fault.retryAfter(String(wait), status), { requests: request })
        }
        const { error, seen } = yield* letTimePass(
          resumedRun({ deleted: "include" }, { pageSize, resumeSchedule, retry })
        )
        const at = (yield* pageRequests).slice(1, 9).map(({ at }) => at)
        const waits = at.slice(1).map((time, index) => time - (at[index] ?? 0))

        assert.isUndefined(error)
        assert.deepStrictEqual(seen, punches.map(({ id }) => id))
        for (const each of waits) {
          assert.isAtLeast(each, wait * 1000)
          assert.isAtMost(each, wait * 1000 + 6000)
        }

        yield* inject(Fault.retryAfter(String(wait), status))
        const failed = yield* letTimePass(Effect.flip(TimePunches.page(company, {}, { retry })))
        assert.deepInclude<object>(failed, { attempts, status })
        assert.deepStrictEqual(
          "retryAfter" in failed ? failed.retryAfter : undefined,
          Option.some(Duration.seconds(wait))
        )
        assert.include(failed.message, `, retry after ${Duration.format(Duration.seconds(wait))}`)
      }).pipe(Effect.provide(app({ punches })))
  )

  it.effect("stops when its consumer stops, also during a wait", () =>
    Effect.gen(function*() {
      for (let request = 1; request < 9; request++) yield* inject(Fault.status(503), { requests: request })
      const run = Effect.timeout(resumedRun({}, { resumeSchedule: Schedule.spaced("1 hour") }), "30 minutes")

      assert.strictEqual((yield* letTimePass(Effect.flip(run)))._tag, "TimeoutError")
      assert.strictEqual((yield* pageRequests).length, 4)
    }).pipe(Effect.provide(app({ punches }))))

  it.effect("must be a Schedule", () =>
    Effect.gen(function*() {
      const { error } = yield* resumedRun({}, untyped({ resumeSchedule: 3 }))

      assert.deepInclude(error, { _tag: "InvalidRequest", field: "resumeSchedule", detail: "must be a Schedule" })
    }).pipe(Effect.provide(app({ punches }))))
})
