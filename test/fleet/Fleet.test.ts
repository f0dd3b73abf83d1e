import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Layer, Option, Schema } from "effect"
import { HttpClient, HttpClientResponse } from "effect/http"
import { RateLimiter } from "effect/persistence"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { CompanyStatus, Fleet, type FleetCompany } from "../../src/fleet/index.ts"
import { makeFleetStore } from "../../src/fleet/store/FleetStore.ts"
import { CompanyGuid, CompanyId, RateLimit } from "../../src/index.ts"
import { NodeSqlite } from "../../src/sql/node/index.ts"
import { needs } from "../support/needs.ts"
import { hasPostgres, noPostgres, postgresClient } from "../support/postgres.ts"

const id = CompanyId.make

const migrated = Layer.effectDiscard(Effect.flatMap(makeFleetStore, ({ migrate }) => migrate))

const over = <E>(client: Layer.Layer<SqlClient.SqlClient, E>) =>
  Fleet.layer.pipe(Layer.provide(migrated), Layer.provideMerge(client))

const layer = over(NodeSqlite.layer({ filename: ":memory:" }))

describe("Fleet", () => {
  it.effect("adds, pauses and resumes, and shows what it did", () =>
    Effect.gen(function*() {
      const fleet = yield* Fleet
      yield* fleet.add([{ id: id(1) }, { id: id(2), every: "1 minute" }])
      const paused = yield* fleet.pause([id(2), id(3)])
      const status = Option.getOrThrow(yield* fleet.status(id(2)))
      const json = Schema.encodeSync(CompanyStatus)(status)

      assert.deepStrictEqual(paused, { changed: [id(2)], unknown: [id(3)], inactive: [] })
      assert.deepStrictEqual(json, {
        companyId: 2,
        state: "paused",
        phase: "first",
        reason: null,
        everySeconds: 60,
        nextAt: "1970-01-01T00:00:00.000Z",
        lastOkAt: null,
        lateSeconds: 0,
        failures: 0,
        lastError: null,
        rows: 0
      })
      assert.deepStrictEqual(yield* fleet.status(id(9)), Option.none())
      assert.deepStrictEqual(yield* fleet.resumeWhere({ state: "paused" }), [id(2)])
      assert.deepStrictEqual(yield* fleet.turns(id(1)), [])
    }).pipe(Effect.provide(layer)))

  it.effect("refuses what is no company, and adds nothing then", () =>
    Effect.gen(function*() {
      const fleet = yield* Fleet
      const untyped: Array<{ id: CompanyId }> = JSON.parse(`[{"id":1},{"id":-5}]`)
      const errors = [
        yield* Effect.flip(fleet.add(untyped)),
        yield* Effect.flip(fleet.add([{ id: id(1), every: "999 millis" }])),
        yield* Effect.flip(fleet.add([{ id: id(1), every: Infinity }])),
        yield* Effect.flip(fleet.list(JSON.parse(`{"states":"active"}`))),
        yield* Effect.flip(fleet.add([{ id: id(1), every: "36526 days" }])),
        ...(yield* Effect.forEach(untyped.slice(1), (company) => Effect.flip(fleet.turns(company.id))))
      ]

      assert.deepStrictEqual(
        errors.map((error) => error._tag === "InvalidRequest" ? error.field : error._tag),
        ["id", "every", "every", "states", "every", "id"]
      )
      assert.deepStrictEqual(yield* fleet.list(), [])
    }).pipe(Effect.provide(layer)))

  it.effect("takes a company that is given twice once, with what each says of it, and refuses what contradicts", () =>
    Effect.gen(function*() {
      const fleet = yield* Fleet
      const guids = ["3b2f7c1e-5a94-4d0b-8e6f-9c1a7d2e4f60", "a7d0e5f2-1c38-4b69-9f24-6e8b3c5d7a12"]
      const [guid, other] = guids.map((text) => CompanyGuid.make(text))
      const twice = (...companies: ReadonlyArray<Omit<FleetCompany, "id">>) =>
        fleet.add(companies.map(({ every, guid }) => ({ id: id(1), guid, every })))
      const added = yield* twice({ guid, every: "1 minute" }, {}, { guid })
      const same = yield* twice({ guid }, { every: "1 minute" })
      const refused = [
        yield* Effect.flip(twice({ guid }, {}, { guid: other })),
        yield* Effect.flip(twice({ every: 60_000 }, { every: 61_000 }))
      ]

      assert.deepStrictEqual(added, { added: [id(1)], changed: [] })
      assert.deepStrictEqual(same, { added: [], changed: [] }, "the guid and the interval are those that it has")
      assert.deepStrictEqual(refused.map(({ message }) => message), [
        "invalid guid: must have one value: company 1 is given twice [company 1]",
        "invalid every: must have one value: company 1 is given twice [company 1]"
      ])
    }).pipe(Effect.provide(layer)))

  it.effect("fails by name over tables that are older", () =>
    Effect.gen(function*() {
      const built = Layer.build(Fleet.layer.pipe(Layer.provide(NodeSqlite.layer({ filename: ":memory:" }))))
      const error = yield* Effect.flip(Effect.scoped(built))

      assert.strictEqual(error._tag === "FleetError" && error.reason._tag, "NotMigrated")
    }))

  it.live("adds ten thousand companies", (context) => {
    needs(context, hasPostgres, noPostgres)
    return Effect.gen(function*() {
      const fleet = yield* Fleet
      const { added } = yield* fleet.add(Array.from({ length: 10_000 }, (_, at) => ({ id: id(at + 1) })))

      assert.lengthOf(added, 10_000)
    }).pipe(Effect.provide(over(postgresClient)))
  })
})

describe("Fleet.layerRateLimiterStore", () => {
  const limiterOver = <E>(client: Layer.Layer<SqlClient.SqlClient, E>) =>
    RateLimiter.layer.pipe(
      Layer.provideMerge(Fleet.layerRateLimiterStore),
      Layer.provide(migrated),
      Layer.provideMerge(client)
    )

  const algorithms = ["fixed-window", "token-bucket"] as const

  /** What a limiter answers to a plan of requests and pauses. */
  const answers = (algorithm: typeof algorithms[number], onExceeded: "delay" | "fail") =>
    Effect.gen(function*() {
      const limiter = yield* RateLimiter.RateLimiter
      const said: Array<unknown> = []
      for (
        const [tokens, pause] of [[1, 0], [2, 300], [3, 0], [1, 1700], [4, 0], [5, 10_000], [1, 50], [2, 0]] as const
      ) {
        const consumed = limiter.consume({ algorithm, onExceeded, window: "1 second", limit: 5, key: "k", tokens })
        said.push(
          yield* Effect.match(consumed, {
            onFailure: ({ reason }) => reason,
            onSuccess: (result) => ({ ...result })
          })
        )
        yield* TestClock.adjust(pause)
      }
      return said
    })

  it.effect.each(algorithms.flatMap((algorithm) => (["delay", "fail"] as const).map((mode) => ({ algorithm, mode }))))(
    "answers as the store in memory does: $algorithm, $mode",
    ({ algorithm, mode }) =>
      Effect.gen(function*() {
        const inMemory = yield* answers(algorithm, mode).pipe(
          Effect.provide(RateLimiter.layer.pipe(Layer.provide(RateLimiter.layerStoreMemory)))
        )
        const inSqlite = yield* answers(algorithm, mode).pipe(
          Effect.provide(limiterOver(NodeSqlite.layer({ filename: ":memory:" })))
        )

        assert.deepStrictEqual(inSqlite, inMemory)
      })
  )

  it.effect.each(algorithms)(
    "waits no longer than before where the clock was set back: %s",
    (algorithm) =>
      Effect.gen(function*() {
        const limiter = yield* RateLimiter.RateLimiter
        const consume = limiter.consume({ algorithm, onExceeded: "delay", window: "1 second", limit: 1, key: "k" })
        yield* TestClock.setTime(Date.UTC(2099, 0, 1))
        yield* consume
        yield* TestClock.setTime(Date.UTC(2026, 0, 1))
        const waits: Array<number> = []
        for (let request = 0; request < 3; request++) {
          const { delay } = yield* consume
          waits.push(Duration.toMillis(delay))
          yield* TestClock.adjust(delay)
        }

        assert.isAtMost(Math.max(...waits), 2000)
      }).pipe(Effect.provide(limiterOver(NodeSqlite.layer({ filename: ":memory:" }))))
  )

  it.effect("gives the same places to a statement that has waited for the row, with the time of its start", () =>
    Effect.gen(function*() {
      const limiter = yield* RateLimiter.RateLimiter
      const consume = limiter.consume({
        algorithm: "token-bucket",
        onExceeded: "delay",
        window: "125 millis",
        limit: 1,
        key: "k"
      })
      const places: Array<number> = []
      for (const now of [10_000, 10_000, 9500, 10_000, 9300, 10_100]) {
        yield* TestClock.setTime(now)
        const { delay } = yield* consume
        places.push(now + Duration.toMillis(delay))
      }

      assert.deepStrictEqual(places, [10_000, 10_125, 10_250, 10_375, 10_500, 10_625])
    }).pipe(Effect.provide(limiterOver(NodeSqlite.layer({ filename: ":memory:" })))))

  it.live("is one limit for all connections to PostgreSQL", (context) => {
    needs(context, hasPostgres, noPostgres)
    return Effect.gen(function*() {
      const limiter = yield* RateLimiter.RateLimiter
      const consumed = Effect.result(
        limiter.consume({ window: "1 hour", limit: 7, key: "k", algorithm: "fixed-window" })
      )
      const results = yield* Effect.all(Array.from({ length: 20 }, () => consumed), { concurrency: 8 })

      assert.lengthOf(results.filter(({ _tag }) => _tag === "Success"), 7)
    }).pipe(Effect.provide(limiterOver(postgresClient)))
  })

  it.effect("is the store of RateLimit.layerWithStore", () =>
    Effect.gen(function*() {
      const transport = HttpClient.make((request) =>
        Effect.succeed(HttpClientResponse.fromWeb(request, new Response("answered")))
      )
      const answered = yield* Effect.flatMap(HttpClient.get("http://localhost/"), ({ text }) => text).pipe(
        Effect.provide(RateLimit.layerWithStore({ perSecond: 5 })),
        Effect.provideService(HttpClient.HttpClient, transport)
      )

      assert.strictEqual(answered, "answered")
    }).pipe(Effect.provide(limiterOver(NodeSqlite.layer({ filename: ":memory:" })))))

  it.effect("refuses the adaptive algorithms by name", () =>
    Effect.gen(function*() {
      const store = yield* RateLimiter.RateLimiterStore
      const error = yield* Effect.flip(
        store.adaptiveConsume({ key: "k", tokens: 1, fallbackLimit: 1, fallbackWindow: Duration.seconds(1) })
      )

      assert.include(error.message, "adaptiveConsume")
    }).pipe(Effect.provide(limiterOver(NodeSqlite.layer({ filename: ":memory:" })))))
})
