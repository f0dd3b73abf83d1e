/** Which process says what of the whole fleet, and that nothing it says is old. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Logger, Metric } from "effect"
import { TestClock } from "effect/testing"
import { makeKeeper } from "../../src/fleet/node/keeper.ts"
import { watchClaims } from "../../src/fleet/node/metrics.ts"
import { readSettings } from "../../src/fleet/Settings.ts"
import { companies, sqliteStore } from "./support.ts"

/** The metrics of this process, by the end of their names: the values of those that are numbers. */
const exported = Effect.map(
  Metric.snapshot,
  (series) =>
    Object.fromEntries(series.flatMap(({ attributes = {}, id, state }) => {
      const name = `${id.replace("time_punches_fleet_", "")}${"what" in attributes ? ` of ${attributes["what"]}` : ""}`
      return "value" in state ? [[name, state.value]] : "count" in state ? [[name, state.count]] : []
    }))
)

describe("the metrics of the whole fleet", () => {
  it.effect("are those of the keeper, and are gone while it cannot read them, and when it is the keeper no longer", () =>
    Effect.gen(function*() {
      const { sql, store } = yield* sqliteStore
      const settings = yield* Effect.orDie(Effect.fromResult(readSettings({}, 10_000)))
      yield* store.operator.add(companies(2, 1000))
      const keeper = yield* Effect.forkChild(makeKeeper(store, settings))
      yield* TestClock.adjust(0)
      const first = yield* exported
      yield* TestClock.adjust("10 seconds")
      const later = yield* exported
      yield* Effect.orDie(sql`ALTER TABLE fleet_company RENAME TO away`)
      yield* TestClock.adjust("10 seconds")
      const away = yield* exported
      yield* Effect.orDie(sql`ALTER TABLE away RENAME TO fleet_company`)
      yield* TestClock.adjust("10 seconds")
      const again = yield* exported
      yield* Fiber.interrupt(keeper)

      assert.deepStrictEqual(first, { age_seconds: 0, due: 2, late_seconds: 0, suspects: 0 })
      assert.deepStrictEqual(later, { age_seconds: 10, due: 2, late_seconds: 9, suspects: 0 })
      assert.deepStrictEqual(away, { "failed_statements of watch of the fleet": 1 })
      assert.deepInclude(again, { age_seconds: 30, due: 2, late_seconds: 29, suspects: 0 })
      assert.deepStrictEqual(yield* exported, away)
    }).pipe(Effect.scoped, Effect.provideService(Metric.MetricRegistry, new Map())))
})

describe("the keeper", () => {
  it.effect("says once an hour that the intervals need more requests than the limit gives, and both numbers", () =>
    Effect.gen(function*() {
      const { store } = yield* sqliteStore
      const settings = yield* Effect.orDie(Effect.fromResult(readSettings({}, 10_000)))
      const said: Array<unknown> = []
      const logger = Logger.make(({ logLevel, message }) => void said.push(`${logLevel} ${String(message)}`))
      yield* store.operator.add(companies(10, 1000))
      const note = store.notePresence("a", { isStart: false, release: "1", settings: `{"requestsPerSecond":8}` })
      const passing = (minutes: number) =>
        Effect.forEach(
          Array.from({ length: minutes }),
          // It notes that it lives more often than the keeper looks.
          () => Effect.andThen(Effect.andThen(TestClock.adjust("50 seconds"), note), TestClock.adjust("10 seconds")),
          { discard: true }
        )
      const keeper = yield* Effect.forkChild(Effect.provide(makeKeeper(store, settings), Logger.layer([logger])))
      yield* passing(150)
      yield* store.operator.add(companies(10, 2000))
      yield* passing(150)
      yield* Fiber.interrupt(keeper)

      assert.lengthOf(said, 3)
      for (const line of said) assert.include(line, "Warn the intervals of the companies need 10.0 requests a second")
      for (const line of said) assert.include(line, "the limit is 8: companies become late")
    }).pipe(Effect.scoped, Effect.provideService(Metric.MetricRegistry, new Map())))
})

describe("the age of the last claim", () => {
  it.effect("is of now, whenever it is exported, and ends with its process", () =>
    Effect.gen(function*() {
      let claimedAt = -Infinity
      yield* Effect.scoped(Effect.gen(function*() {
        yield* TestClock.adjust("5 seconds")
        yield* watchClaims(() => claimedAt)
        yield* TestClock.adjust("3 seconds")
        assert.deepStrictEqual(yield* exported, { claim_age_seconds: 3 })
        claimedAt = 7000
        assert.deepStrictEqual(yield* exported, { claim_age_seconds: 1 })
        yield* TestClock.adjust("1 minute")
        assert.deepStrictEqual(yield* exported, { claim_age_seconds: 61 })
      }))
      assert.deepStrictEqual(yield* exported, {})
    }).pipe(Effect.provideService(Metric.MetricRegistry, new Map())))
})
