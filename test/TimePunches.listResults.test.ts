import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Option, Result, Stream } from "effect"
import { TimePunches } from "../src/index.ts"
import { defaultCompany, Fault, generatePunches, type RowPatch, type StoredPunch } from "../src/testing/index.ts"
import { app, company, inject, pageRequests } from "./support/client.ts"
import { scenario } from "./support/listing.ts"
import { expected } from "./support/oracle.ts"

const idsOf = (punches: ReadonlyArray<{ readonly id: number }>) => punches.map(({ id }) => Number(id))

const plain = generatePunches({ seed: 9, count: 95, companyId: defaultCompany.id, deletedShare: 0 })

describe("TimePunches.listResults", () => {
  const failuresOf = <A, E>(results: ReadonlyArray<Result.Result<A, E>>) =>
    results.flatMap((each) => Result.isFailure(each) ? [each.failure] : [])
  const goodOf = <A, E>(results: ReadonlyArray<Result.Result<A, E>>) =>
    results.flatMap((each) => Result.isSuccess(each) ? [each.success] : [])

  it.effect("emits the whole listing where every row is valid", () =>
    Effect.forEach(Array.from({ length: 40 }).keys(), (seed) => {
      const { filter, pageSize, punches } = scenario(seed + 2000)
      return Effect.gen(function*() {
        const results = yield* Stream.runCollect(TimePunches.listResults(company, filter, { pageSize }))

        assert.deepStrictEqual(goodOf(results), [...expected(punches, filter)])
        assert.strictEqual(goodOf(results).length, results.length)
      }).pipe(Effect.provide(app({ punches })))
    }, { discard: true }))

  const spoil = (punches: ReadonlyArray<StoredPunch>, at: ReadonlyArray<number>) =>
    punches.map((punch, index) => at.includes(index) ? { ...punch, clocked_in: "2026-02-30T00:00:00Z" } : punch)

  it.effect("emits an invalid row in its place, as a value with its id and path", () =>
    Effect.gen(function*() {
      const results = yield* Stream.runCollect(TimePunches.listResults(company, {}, { pageSize: 20 }))

      assert.strictEqual(results.length, plain.length)
      assert.deepStrictEqual(idsOf(goodOf(results)), idsOf(plain).filter((_, index) => ![3, 41, 42].includes(index)))
      assert.deepStrictEqual(
        failuresOf(results).map(({ index, path, punchId }) => [index, path, Option.getOrUndefined(punchId)]),
        [3, 41, 42].map((at) => [at % 20, "clocked_in", plain[at]?.id])
      )
      assert.isTrue(results[41] !== undefined && Result.isFailure(results[41]))
    }).pipe(Effect.provide(app({ punches: spoil(plain, [3, 41, 42]) }))))

  it.effect("keeps an invalid row beside an exclusive end, because its instant is unknown", () =>
    Effect.gen(function*() {
      yield* inject(Fault.badRow(0, { clocked_in: "soon" }))
      const lt = DateTime.makeUnsafe("2026-03-20T00:00:00Z")
      const results = yield* Stream.runCollect(TimePunches.listResults(company, { clockedIn: { lt } }))

      assert.deepInclude(failuresOf(results)[0], { index: 0, path: "clocked_in" })
      assert.strictEqual(goodOf(results).length, expected(plain, { clockedIn: { lt } }).length - 1)
    }).pipe(Effect.provide(app({ punches: plain }))))

  it.effect("emits what list fails on: list names row and punch, and emits nothing of that page", () =>
    Effect.gen(function*() {
      const seen: Array<number> = []
      const error = yield* Effect.flip(
        Stream.runForEach(TimePunches.list(company, {}, { pageSize: 20 }), ({ id }) => Effect.sync(() => seen.push(id)))
      )

      assert.deepInclude(error, {
        _tag: "DecodeError",
        reason: "Schema",
        path: "data[1].clocked_in",
        pagesCompleted: 2
      })
      assert.strictEqual(error._tag === "DecodeError" ? Option.getOrUndefined(error.punchId) : undefined, plain[41]?.id)
      assert.deepStrictEqual(seen, idsOf(plain).slice(0, 40))
      assert.strictEqual((yield* pageRequests).length, 3)
    }).pipe(Effect.provide(app({ punches: spoil(plain, [41]) }))))

  const spoilt: ReadonlyArray<readonly [string, RowPatch, string]> = [
    ["an id that is no number", { id: "seven" }, "id"],
    ["an id that JSON cannot hold", { id: { rawJson: "12345678901234567890" } }, "id"],
    ["money with a fraction", { hourly_wage: 15.5 }, "hourly_wage"],
    [
      "a break without its start",
      { breaks: [{ id: 1, user_id: 1, custom_break_id: 1, paid: true, out: null }] },
      "breaks[0].in"
    ]
  ]

  it.effect.each(spoilt)("names %s", ([, patch, path]) =>
    Effect.gen(function*() {
      yield* inject(Fault.badRow(5, patch))
      const [bad] = failuresOf(yield* Stream.runCollect(TimePunches.listResults(company)))

      assert.deepInclude(bad, { index: 5, path })
    }).pipe(Effect.provide(app({ punches: plain }))))

  it.effect("names no punch where JSON has rounded the id", () =>
    Effect.gen(function*() {
      yield* inject(Fault.badRow(5, { id: { rawJson: "12345678901234567890" } }))
      const [bad] = failuresOf(yield* Stream.runCollect(TimePunches.listResults(company)))

      assert.deepStrictEqual(bad?.punchId, Option.none())
    }).pipe(Effect.provide(app({ punches: plain }))))

  it.effect("still fails on a wrong envelope and on rows of another company", () =>
    Effect.gen(function*() {
      const run = Effect.flip(Stream.runDrain(TimePunches.listResults(company)))
      yield* inject(Fault.missingCursorKey("next"), { requests: 1 })
      yield* inject(Fault.wrongCompany(), { requests: 2 })
      yield* inject(Fault.wrongObject(), { requests: 3 })

      assert.deepInclude(yield* run, { _tag: "DecodeError", reason: "Schema", path: "meta.cursor.next" })
      assert.deepInclude(yield* run, { _tag: "DecodeError", reason: "WrongCompany", path: "data[0].company_id" })
      assert.deepInclude(yield* run, { _tag: "PaginationError", reason: "WrongObject" })
    }).pipe(Effect.provide(app({ punches: plain }))))
})
