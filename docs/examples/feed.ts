/** Three programs on the feed of a copy: an alert, a board of who is on the clock, and a queue. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Console, Effect, HashMap, Layer, Option, Stream } from "effect"
import { CompanyId, type TimePunch } from "effect-time-punches"
import { type FeedEvent, type FeedOptions, FeedPosition, PunchCopy } from "effect-time-punches/sql"
import { Sync } from "effect-time-punches/sync"
import { defaultCompany, FakeService } from "effect-time-punches/testing"
import { KeyValueStore } from "effect/persistence"
import { app } from "./closes.ts"

const id = CompanyId.make(defaultCompany.id)

/** An alert for each punch that was edited after somebody had approved it. */
export const alerts = (options: FeedOptions) =>
  PunchCopy.feed(id, options).pipe(
    Stream.filter(({ before, kind }) => kind === "edited" && Option.exists(before, ({ approved }) => approved)),
    Stream.runForEach(({ punchId, userId }) => Console.log(`approved punch ${punchId} of user ${userId} was edited`))
  )

const isOnTheClock = ({ clockedOut, deleted }: TimePunch) => !deleted && Option.isNone(clockedOut)

/** Who is on the clock, after each event: the punches without a clock-out, and their users. */
export const board = (options: FeedOptions) =>
  PunchCopy.feed(id, options).pipe(
    Stream.scan(() => HashMap.empty<number, number>(), (open, { after, punchId, userId }) =>
      Option.exists(after, isOnTheClock) ? HashMap.set(open, punchId, userId) : HashMap.remove(open, punchId))
  )

/**
 * Puts each event into a queue at least once: the position is kept after `put`, so a restart repeats one event at most. The store
 * must replace a value whole, as `KeyValueStore.layerSql` does.
 */
export const fillQueue = <E, R>(put: (event: FeedEvent) => Effect.Effect<void, E, R>, options: FeedOptions = {}) =>
  Effect.gen(function*() {
    const positions = KeyValueStore.toSchemaStore(yield* KeyValueStore.KeyValueStore, FeedPosition)
    const after = Option.getOrUndefined(yield* positions.get("time-punches"))
    yield* PunchCopy.feed(id, { after, ...options }).pipe(
      Stream.runForEach((event) => Effect.andThen(put(event), positions.set("time-punches", event.position)))
    )
  })

/** The events of several companies, as they come: in order for each company, which has a position for itself. */
export const feedOfAll = (companies: ReadonlyArray<CompanyId>, positions: ReadonlyMap<number, FeedPosition>) =>
  Stream.mergeAll(
    companies.map((id) => PunchCopy.feed(id, { after: positions.get(id), follow: "5 seconds" })),
    { concurrency: "unbounded" }
  )

export const main = Effect.gen(function*() {
  const service = yield* FakeService
  yield* Sync.run(id)
  const after = yield* PunchCopy.feedPosition(id)
  // An approved punch is edited, and somebody clocks out late.
  yield* service.edit([1001], { approved: true })
  yield* Sync.run(id)
  yield* service.edit([1001], { clocked_out: "2026-03-02T23:59:00Z" })
  yield* service.edit([1002], { clocked_out: null })
  yield* Sync.run(id)

  yield* alerts({ after })
  const open = yield* Stream.runLast(board({}))
  yield* Console.log(`on the clock: ${Option.match(open, { onNone: () => 0, onSome: HashMap.size })}`)
  for (const run of ["first", "second"]) {
    let count = 0
    yield* fillQueue(() => Effect.sync(() => count++))
    yield* Console.log(`${run} run: ${count} events`)
  }
})

if (import.meta.main) NodeRuntime.runMain(Effect.provide(main, Layer.provideMerge(KeyValueStore.layerSql(), app)))
