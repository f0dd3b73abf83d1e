import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer, Option } from "effect"
import { Stream } from "effect"
import { SqlClient } from "effect/sql"
import type { CompanyId } from "../../src/index.ts"
import { PunchCopy, SqlStore } from "../../src/sql/index.ts"
import { NodeSqlite } from "../../src/sql/node/index.ts"
import { checkpointText } from "../../src/sync/Checkpoint.ts"
import { type Batch, type Checkpoint, Sync, SyncError, SyncReason, SyncStore } from "../../src/sync/index.ts"
import { syncStoreRules, TestClient } from "../../src/testing/index.ts"

const stores = [
  ["in memory", SyncStore.layerMemory, {}],
  [
    "in SQLite",
    Layer.provideMerge(SqlStore.layer(), NodeSqlite.layer({ filename: ":memory:" })),
    {
      idsOf: (company: CompanyId) =>
        Effect.flatMap(Effect.serviceOption(SqlClient.SqlClient), (sql) =>
          Effect.map(
            Stream.runCollect(PunchCopy.list(company, { deleted: "include" })),
            (punches) => punches.map(({ id }) => Number(id))
          ).pipe(Effect.provideService(SqlClient.SqlClient, Option.getOrThrow(sql)), Effect.orDie))
    }
  ]
] as const

describe.each(stores)("a store %s", (_, layer, options) => {
  it.effect.each(syncStoreRules(layer, options))("$name", ({ check }) => check)
})

/** A store of two maps, which can break a rule. */
const broken = (breaks: "nothing" | "previous" | "companies" | "marks" | "twice" | "load") =>
  Layer.sync(SyncStore, () => {
    const checkpoints = new Map<number, Checkpoint>()
    const rows = new Map<number, Map<number, number>>()
    const keyOf = (company: CompanyId) => breaks === "companies" ? 0 : company
    const superseded = (companyId: CompanyId) =>
      Effect.fail(new SyncError({ companyId, reason: new SyncReason.Superseded({}) }))
    const textOf = (checkpoint: Checkpoint | undefined) => checkpoint && checkpointText(checkpoint)
    const commit = (batch: Batch, previous: Option.Option<Checkpoint>) =>
      Effect.suspend(() => {
        const key = keyOf(batch.companyId)
        const isExpected = textOf(checkpoints.get(key)) === textOf(Option.getOrUndefined(previous))
        if (breaks !== "previous" && !isExpected) return superseded(batch.companyId)
        const kept = rows.get(key) ?? new Map<number, number>()
        for (const { id } of batch.punches) kept.set(id, batch.pass)
        rows.set(key, kept)
        const before = Option.match(batch.missing, { onNone: () => 0, onSome: ({ before }) => before })
        const missing = [...kept.values()].filter((pass) => pass < before).length
        const isAllowed = Option.match(batch.missing, { onNone: () => true, onSome: ({ allowed }) => allowed })
        if (breaks !== "marks" && !isAllowed && missing > 100 && missing > kept.size / 5) {
          const reason = new SyncReason.TooManyMissing({ missing, rows: kept.size })
          return Effect.fail(new SyncError({ companyId: batch.companyId, reason }))
        }
        checkpoints.set(key, batch.checkpoint)
        return Effect.succeed(breaks === "twice" ? { written: batch.punches.length } : undefined)
      })
    return SyncStore.make({
      load: (company) =>
        Effect.sync(() => breaks === "load" ? Option.none() : Option.fromUndefinedOr(checkpoints.get(keyOf(company)))),
      commit
    })
  })

/** The names of the rules that a store breaks. */
const brokenBy = (layer: Layer.Layer<SyncStore>) =>
  Effect.map(
    Effect.forEach(syncStoreRules(layer), ({ check, name }) =>
      Effect.map(Effect.exit(check), (exit) => [name, exit] as const)),
    (all) =>
      all.flatMap(([name, exit]) => Exit.isFailure(exit) ? [name] : [])
  )

describe("the rules of a store", () => {
  it.effect("are kept by a store of two maps, which counts nothing", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* brokenBy(broken("nothing")), [])
    }))

  it.effect.each(
    [
      ["previous", "Superseded"],
      ["companies", "companies apart"],
      ["marks", "TooManyMissing"],
      ["twice", "twice once"],
      ["load", "checkpoint of the last commit"]
    ] as const
  )("find a store that breaks one: %s", ([breaks, title]) =>
    Effect.gen(function*() {
      const found = yield* brokenBy(broken(breaks))

      assert.isTrue(found.some((name) => name.includes(title)), found.join("; "))
    }))
})

describe("SyncStore.make", () => {
  it.effect("counts each row of a batch as written where the store counts nothing", () =>
    Effect.gen(function*() {
      const punches = [TestClient.punch({ userId: 7 }), TestClient.punch({ userId: 8 })]
      const summary = yield* Sync.run(TestClient.company).pipe(
        Effect.provide(Layer.merge(broken("nothing"), TestClient.layer({ punches })))
      )

      assert.include(summary, { complete: true, punches: 2, written: 2, unchanged: 0, missing: 0 })
    }))

  it.each([0, 1.5, NaN, Infinity])(
    "refuses %s for pagesPerCommit, of which no commit would be full",
    (pagesPerCommit) => {
      const make = () => SyncStore.make({ load: () => Effect.succeedNone, commit: () => Effect.void, pagesPerCommit })

      assert.throws(make, "invalid pagesPerCommit: must be a whole number from 1 on")
    }
  )

  it.effect("takes a count that is undefined for one that is not given", () =>
    Effect.gen(function*() {
      const punches = [TestClient.punch({ userId: 7 })]
      const store = SyncStore.make({
        load: () => Effect.succeedNone,
        commit: () => Effect.succeed({ written: undefined, unchanged: 3, oldestModified: undefined }),
        pagesPerCommit: undefined
      })
      const summary = yield* Sync.run(TestClient.company).pipe(
        Effect.provide(Layer.merge(Layer.succeed(SyncStore, store), TestClient.layer({ punches })))
      )

      assert.include(summary, { complete: true, punches: 1, written: 1, unchanged: 3, missing: 0 })
    }))
})

describe("a sync", () => {
  it.effect("is handled by its reasons, of which TooManyMissing has the numbers", () =>
    Effect.gen(function*() {
      const failing: Effect.Effect<number, SyncError> = Effect.fail(
        new SyncError({
          companyId: TestClient.company.id,
          reason: new SyncReason.TooManyMissing({ missing: 101, rows: 200 })
        })
      )
      const handled = failing.pipe(
        Effect.catchReason("SyncError", "TooManyMissing", ({ missing, rows }) => Effect.succeed(missing + rows))
      )

      assert.strictEqual(yield* handled, 301)
    }))

  it.effect("refuses an option that does not exist, before anything is sent", () =>
    Effect.gen(function*() {
      const untyped: { readonly overlap?: string } = JSON.parse(`{"overlaps":"1 hour"}`)
      const errors = [
        yield* Effect.flip(Effect.asVoid(Sync.run(TestClient.company, untyped as {}))),
        yield* Effect.flip(Effect.asVoid(Sync.sweep(TestClient.company, untyped as {}))),
        yield* Effect.flip(Stream.runDrain(Sync.batches(TestClient.company, Option.none(), untyped as {})))
      ]

      assert.deepStrictEqual(
        errors.map(({ message }) => message),
        errors.map(() => "invalid overlaps: is not an option; did you mean overlap? [company 4021]")
      )
    }).pipe(Effect.provide(Layer.merge(SyncStore.layerMemory, TestClient.layer()))))
})
