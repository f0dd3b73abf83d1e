/** The rules of a `SyncStore`, as checks for the tests of who implements one. They need no test runner. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { CompanyId } from "../Ids.ts"
import type { Batch } from "../sync/Batch.ts"
import { blankCheckpoint, type Checkpoint, checkpointText } from "../sync/Checkpoint.ts"
import type { SyncError } from "../sync/SyncError.ts"
import { SyncStore } from "../sync/SyncStore.ts"
import { punch } from "./TestClient.ts"

/** A rule of a `SyncStore`. */
export interface SyncStoreRule {
  /** What a store does: the title of a test. */
  readonly name: string
  /** Dies with an `Error` that says what the store did instead. Each run builds the layer again: it must begin empty. */
  readonly check: Effect.Effect<void, SyncError>
}

/** What the rules need of a store beside its port. */
export interface SyncStoreRulesOptions {
  /** The ids of the rows that the store holds of a company, to see that a refused commit stores no row. Default: not looked at. */
  readonly idsOf?: ((company: CompanyId) => Effect.Effect<ReadonlyArray<number>, never, SyncStore>) | undefined
}

const company = CompanyId.make(4021)
const other = CompanyId.make(4022)

const checkpointAt = (pass: number, companyId = company): Checkpoint =>
  blankCheckpoint(companyId, `writer ${pass}`, pass)

const rows = (from: number, to: number, companyId = company) =>
  Array.from({ length: to - from + 1 }, (_, at) => punch({ id: from + at, companyId }))

const batchOf = (pass: number, more: Partial<Batch> = {}): Batch => ({
  companyId: company,
  kind: "first",
  pass,
  punches: [],
  checkpoint: checkpointAt(pass, more.companyId),
  missing: Option.none(),
  began: Option.none(),
  unknown: Option.none(),
  ...more
})

const expect = (isRight: boolean, what: string) => isRight ? Effect.void : Effect.die(new Error(what))

/** The same checkpoint has the same text, which is what a store may compare. */
const isAt = (found: Option.Option<Checkpoint>, wanted: Option.Option<Checkpoint>): boolean =>
  Option.getOrUndefined(Option.map(found, checkpointText)) === Option.getOrUndefined(Option.map(wanted, checkpointText))

/**
 * The rules that `Sync.run` and `Sync.sweep` rely on, each with a title.
 *
 * **Example** (The tests of a store)
 *
 * ```ts
 * import { Effect } from "effect"
 * import { SyncStore } from "effect-time-punches/sync"
 * import { syncStoreRules } from "effect-time-punches/testing"
 *
 * // For example `it.effect(name, () => check)` for each of them.
 * export const all = Effect.forEach(syncStoreRules(SyncStore.layerMemory), ({ check }) => check, { discard: true })
 * ```
 */
export const syncStoreRules = <E>(
  layer: Layer.Layer<SyncStore, E>,
  { idsOf }: SyncStoreRulesOptions = {}
): ReadonlyArray<SyncStoreRule> => {
  const rule = (
    name: string,
    check: (store: SyncStore["Service"]) => Effect.fn.Return<void, SyncError, SyncStore>
  ): SyncStoreRule => ({
    name,
    check: Effect.provide(Effect.flatMap(SyncStore, Effect.fnUntraced(check)), Layer.orDie(Layer.fresh(layer)))
  })

  const expectStored = (store: SyncStore["Service"], wanted: Checkpoint, what: string) =>
    Effect.flatMap(store.load(company), (found) => expect(isAt(found, Option.some(wanted)), `${what}: the checkpoint`))

  const expectIds = (wanted: ReadonlyArray<number>, what: string) =>
    idsOf === undefined ? Effect.void : Effect.flatMap(idsOf(company), (found) =>
      expect(
        JSON.stringify(found.toSorted((one, two) => one - two)) === JSON.stringify(wanted),
        `${what}: the rows are ${found.join(", ")}`
      ))

  const expectRefused = (
    store: SyncStore["Service"],
    batch: Batch,
    previous: Option.Option<Checkpoint>,
    tag: SyncError["reason"]["_tag"]
  ) =>
    Effect.flatMap(Effect.result(store.commit(batch, previous)), (done) =>
      expect(
        Result.isFailure(done) && done.failure.reason._tag === tag && done.failure.companyId === batch.companyId,
        `the commit does not fail with ${tag}: ${Result.isFailure(done) ? done.failure.message : "it succeeds"}`
      ))

  return [
    rule("has no checkpoint before the first commit", function*(store) {
      yield* expect(Option.isNone(yield* store.load(company)), "there is a checkpoint")
    }),
    rule("gives back the checkpoint of the last commit", function*(store) {
      const [one, two] = [batchOf(1, { punches: rows(1, 3) }), batchOf(2, { kind: "increment", punches: rows(3, 4) })]
      yield* store.commit(one, Option.none())
      yield* expectStored(store, one.checkpoint, "after the first commit")
      yield* store.commit(two, Option.some(one.checkpoint))
      yield* expectStored(store, two.checkpoint, "after the second commit")
      yield* expectIds([1, 2, 3, 4], "after the second commit")
    }),
    rule("refuses a commit over another checkpoint with Superseded, and stores nothing of it", function*(store) {
      const one = batchOf(1, { punches: rows(1, 1) })
      const late = batchOf(2, { punches: rows(2, 2) })
      yield* expectRefused(store, late, Option.some(one.checkpoint), "Superseded")
      yield* store.commit(one, Option.none())
      yield* expectRefused(store, late, Option.none(), "Superseded")
      yield* expectRefused(store, late, Option.some(checkpointAt(9)), "Superseded")
      yield* expectStored(store, one.checkpoint, "after a refused commit")
      yield* expectIds([1], "after a refused commit")
    }),
    rule("lets one of two commits over the same checkpoint through", function*(store) {
      const both = [batchOf(1, { punches: rows(1, 1) }), batchOf(2, { punches: rows(2, 2) })]
      const done = yield* Effect.forEach(both, (batch) => Effect.result(store.commit(batch, Option.none())), {
        concurrency: "unbounded"
      })
      const won = both.filter((_, at) => done[at] !== undefined && Result.isSuccess(done[at]))
      yield* expect(won.length === 1, `${won.length} of two commits succeed`)
      for (const { checkpoint, pass } of won) {
        yield* expectStored(store, checkpoint, "after the race")
        yield* expectIds([pass], "after the race")
      }
    }),
    rule("keeps companies apart", function*(store) {
      const one = batchOf(1, { punches: rows(1, 2) })
      yield* store.commit(one, Option.none())
      yield* store.commit(batchOf(7, { companyId: other, punches: rows(1, 1, other) }), Option.none())
      yield* expectStored(store, one.checkpoint, "after a commit of another company")
      yield* expectIds([1, 2], "after a commit of another company")
    }),
    rule("takes a row that comes twice once", function*(store) {
      const twice = [punch({ id: 1, companyId: company }), punch({ id: 1, companyId: company, notes: "later" })]
      const { unchanged, written } = yield* store.commit(batchOf(1, { punches: twice }), Option.none())
      yield* expect(written + unchanged === 1, `of one row, ${written} are written and ${unchanged} unchanged`)
      yield* expectIds([1], "after a row that came twice")
    }),
    rule(
      "refuses to mark more than 20 % of a window and more than 100 rows with TooManyMissing, unless it is allowed",
      function*(store) {
        const missing = (allowed: boolean) => Option.some({ window: {}, before: 2, allowed })
        const loaded = batchOf(1, { punches: rows(1, 600) })
        yield* store.commit(loaded, Option.none())
        const swept = batchOf(2, { kind: "sweep", punches: rows(1, 400) })
        yield* store.commit(swept, Option.some(loaded.checkpoint))
        const confirm = batchOf(3, { kind: "confirm", missing: missing(false) })
        yield* expectRefused(store, confirm, Option.some(swept.checkpoint), "TooManyMissing")
        yield* expectStored(store, swept.checkpoint, "after refused marks")
        yield* store.commit({ ...confirm, missing: missing(true) }, Option.some(swept.checkpoint))
        yield* expectStored(store, confirm.checkpoint, "after marks that were allowed")
      }
    ),
    rule("marks 100 rows of a window", function*(store) {
      const loaded = batchOf(1, { punches: rows(1, 110) })
      yield* store.commit(loaded, Option.none())
      const swept = batchOf(2, { kind: "sweep", punches: rows(1, 10) })
      yield* store.commit(swept, Option.some(loaded.checkpoint))
      const missing = Option.some({ window: {}, before: 2, allowed: false })
      const confirm = batchOf(3, { kind: "confirm", missing })
      yield* store.commit(confirm, Option.some(swept.checkpoint))
      yield* expectStored(store, confirm.checkpoint, "after the marks")
    })
  ]
}
