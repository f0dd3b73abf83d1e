import { assert, describe, it } from "@effect/vitest"
import { Effect, Option, Result, Stream } from "effect"
import { type Cursor, type ListError, type ListOptions, type PunchFilter, TimePunches } from "../src/index.ts"
import { type Prng, prng } from "../src/testing/base/prng.ts"
import { Fault, type FaultWhen } from "../src/testing/index.ts"
import { app, company, inject, oauth, pageRequests } from "./support/client.ts"
import { scenario } from "./support/listing.ts"
import { expected } from "./support/oracle.ts"
import { letTimePass } from "./support/time.ts"

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
    const list = TimePunches.list(company, filter, { ...options, from })
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
      }),
    30_000
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
      const rest = yield* Stream.runCollect(TimePunches.pages(company, {}, { pageSize: 25, from: error.resumeFrom }))

      assert.deepStrictEqual(rest.flatMap(({ items }) => items), [...expected(punches)].slice(20))
      assert.strictEqual(rest[0]?.index, 0)
    }).pipe(Effect.provide(app({ punches }))))
})
