import { assert, describe, it } from "@effect/vitest"
import {
  DateTime,
  Deferred,
  Duration,
  Effect,
  Fiber,
  Layer,
  Logger,
  Metric,
  Option,
  Result,
  Stream,
  Tracer
} from "effect"
import { SqlError, UnknownError } from "effect/sql/SqlError"
import { TestClock } from "effect/testing"
import type { Outcome } from "../../src/fleet/CompanyState.ts"
import { isPruning } from "../../src/fleet/node/keeper.ts"
import { elapsed } from "../../src/fleet/node/loop.ts"
import { decideName } from "../../src/fleet/node/name.ts"
import { decideShared, sharedOf, withShared } from "../../src/fleet/node/shared.ts"
import { initialState } from "../../src/fleet/node/state.ts"
import { decideTrouble, listening } from "../../src/fleet/node/trouble.ts"
import { decideTick, makeRunner } from "../../src/fleet/node/turns.ts"
import { planOf } from "../../src/fleet/node/work.ts"
import { readSettings } from "../../src/fleet/Settings.ts"
import type { FleetStore } from "../../src/fleet/store/FleetStore.ts"
import {
  CompanyId,
  Cursor,
  Forbidden,
  type ListError,
  RateLimited,
  TimePunches,
  TokenError,
  TransportError,
  UnexpectedStatus,
  UnprocessableEntity
} from "../../src/index.ts"
import { SyncError, SyncReason, SyncStore } from "../../src/sync/index.ts"
import { type Copy, makeStoreOf } from "../../src/sync/memoryStore.ts"
import { punch } from "../../src/testing/TestClient.ts"
import { pageOf } from "../support/page.ts"
import { recorder } from "../support/recorder.ts"
import { readCompany, setCompanies, sqliteStore, type TestStore } from "./support.ts"

const id = CompanyId.make(1)
const settings = Result.getOrThrow(readSettings({}))
const noon = Date.UTC(2026, 3, 5, 12)

/** A runner whose pages wait for the test. */
const world = (
  change: (store: FleetStore) => Partial<FleetStore> = () => ({}),
  fault: Effect.Effect<void, ListError> = Effect.void,
  mine: () => ReadonlyArray<number> | undefined = () => undefined
) =>
  Effect.gen(function*() {
    yield* TestClock.setTime(noon)
    const test = yield* sqliteStore
    const copies = new Map<CompanyId, Copy>()
    const commits: Array<number> = []
    const memory = makeStoreOf(copies)
    const refusals = { left: 0 }
    const store = SyncStore.of({
      ...memory,
      pagesPerCommit: 1,
      commit: (batch, previous) =>
        Effect.suspend(() => {
          if (refusals.left > 0) {
            refusals.left -= 1
            return Effect.fail(new SyncError({ companyId: batch.companyId, reason: new SyncReason.Superseded({}) }))
          }
          return Effect.tap(memory.commit(batch, previous), () => Effect.sync(() => commits.push(batch.companyId)))
        })
    })
    const page = Deferred.makeUnsafe<void>()
    const pages = () =>
      Stream.unfold(0, (index) =>
        Effect.gen(function*() {
          if (index === 3) return undefined
          yield* fault
          yield* Deferred.await(page)
          const next = index === 2 ? Option.none() : Option.some(Cursor.make(`${index}`))
          return [pageOf(DateTime.toUtc(yield* DateTime.now), { index, next }), index + 1] as const
        }))
    const runner = yield* makeRunner({
      store: { ...test.store, ...change(test.store) },
      settings,
      name: "a",
      mine,
      shared: "{}"
    }).pipe(Effect.provide(Layer.merge(Layer.succeed(SyncStore, store), Layer.mock(TimePunches)({ pages }))))
    yield* Effect.orDie(test.store.operator.add([{ id, every: undefined }]))
    return { ...test, test, runner, page: Deferred.succeed(page, undefined), commits, refusals }
  })

/** Lets fibers do what they can without time. */
const settled = TestClock.adjust(0)

const away = new SqlError({
  reason: new UnknownError({ cause: new Error("away"), message: "away", operation: "execute" })
})

describe("a process", () => {
  it.effect("turns while its claims are tried, also in vain, and no longer while one does not end", () =>
    Effect.gen(function*() {
      let answer: Effect.Effect<never, SqlError> = Effect.fail(away)
      const { runner } = yield* world(() => ({ claim: () => Effect.suspend(() => answer) }))
      assert.isTrue(yield* runner.isTurning, "it has not begun")
      yield* Effect.scoped(Effect.gen(function*() {
        yield* runner.start
        yield* TestClock.adjust("5 minutes")
        assert.isTrue(yield* runner.isTurning)
        assert.strictEqual(runner.workedAt(), -Infinity)
        answer = Effect.interruptible(Effect.never)
        yield* TestClock.adjust("70 seconds")
        assert.isFalse(yield* runner.isTurning)
      }))
    }))

  it.effect("notes that it lives until it ends, or until another process has its name", () =>
    Effect.gen(function*() {
      const { runner, store } = yield* world()
      const names = Effect.map(store.runners, (all) => all.map(({ runner, state }) => `${runner} ${state}`))
      yield* runner.present
      assert.deepStrictEqual(yield* names, ["a working"])
      yield* TestClock.adjust("20 seconds")
      assert.deepStrictEqual(yield* names, ["a silent"])
      yield* runner.close
      yield* runner.present
      assert.deepStrictEqual(yield* names, [])

      const lost = yield* world()
      yield* lost.runner.present
      yield* lost.runner.lose
      yield* lost.runner.close
      assert.lengthOf(yield* lost.store.runners, 1, "the note of the other process stays")
    }))

  it("says which of its settings do not hold", () => {
    const own = { ...sharedOf(settings), requestsPerSecond: 5, history: true }
    const held = { ...own, sweepEvery: 172_800_000, fullSweepEvery: 0, requestsPerSecond: null }
    const { shared, warnings } = decideShared(own, held, "b")

    assert.deepStrictEqual(shared, held)
    assert.deepStrictEqual(warnings.map((line) => line.slice(0, line.indexOf(" in the process b"))), [
      "sweepEvery is 1d here and 2d",
      "fullSweepEvery is 30d here and never",
      "requestsPerSecond is 5 here and not set"
    ])
    assert.strictEqual(withShared(settings, shared).sweepEvery, 172_800_000)
    // A program that does not know the limit of requests keeps the one that it has.
    assert.deepStrictEqual(decideShared(own, sharedOf(settings), "b"), { shared: own, warnings: [] })
  })
})

describe("a turn", () => {
  it.effect("whose pages were all empty leaves five seconds to the service, and one with rows none", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(noon)
      const test = yield* sqliteStore
      const endless = () =>
        Stream.unfold(0, (index) =>
          Effect.map(DateTime.now, (now) => {
            const items = index < 2 ? [punch({ id: index + 1, companyId: id })] : []
            return [pageOf(now, { index, items, next: Option.some(Cursor.make(`c${index}`)) }), index + 1] as const
          }))
      let from = 0
      const pages = () => Stream.drop(endless(), from)
      const runner = yield* makeRunner({
        store: test.store,
        settings: { ...settings, pagesPerTurn: 2 },
        name: "a",
        mine: () => undefined,
        shared: "{}"
      }).pipe(
        Effect.provide(Layer.merge(
          Layer.succeed(SyncStore, makeStoreOf(new Map())),
          Layer.mock(TimePunches)({ pages })
        ))
      )
      yield* Effect.orDie(test.store.operator.add([{ id, every: undefined }]))
      const turns = Effect.map(test.store.operator.runs(id), ({ length }) => length)
      yield* runner.tick
      yield* settled
      assert.strictEqual(yield* turns, 1)
      from = 2
      yield* runner.tick
      yield* settled
      assert.strictEqual(yield* turns, 2, "it continues at once behind pages with rows")
      from = 4
      yield* TestClock.adjust("4900 millis")
      yield* runner.tick
      yield* settled
      assert.strictEqual(yield* turns, 2)
      yield* TestClock.adjust("200 millis")
      yield* runner.tick
      yield* settled
      assert.strictEqual(yield* turns, 3)
    }))

  it.effect("that lost its company before it has claimed the copy stores no page", () =>
    Effect.gen(function*() {
      const { commits, page, runner, test } = yield* world(({ isHeld, sql }) => ({
        isHeld: (lease) => Effect.andThen(sql`UPDATE fleet_company SET epoch = epoch + 1`, isHeld(lease))
      }))
      yield* runner.tick
      yield* settled
      yield* page
      yield* settled

      assert.lengthOf(commits, 1, "its claim, and no page")
      assert.deepStrictEqual(runner.inWork(), [])
      assert.lengthOf(yield* test.store.operator.runs(id), 0)
    }))

  it.effect("that lost its company before its first commit of the copy writes nothing", () =>
    Effect.gen(function*() {
      const { commits, page, runner, test } = yield* world(({ sql, whileHeld }) => ({
        whileHeld: (lease, body) => Effect.andThen(sql`DELETE FROM fleet_company`, whileHeld(lease, body))
      }))
      yield* page
      yield* runner.tick
      yield* settled

      assert.deepStrictEqual(commits, [])
      assert.deepStrictEqual(runner.inWork(), [])
      assert.lengthOf(yield* test.store.operator.runs(id), 0)
    }))

  it.effect("whose read is left out continues: the read is needed", () =>
    Effect.gen(function*() {
      const { commits, page, runner, test } = yield* world(() => ({ isHeld: () => Effect.succeed(true) }))
      yield* runner.tick
      yield* settled
      yield* setCompanies(test, "epoch = epoch + 1")
      yield* page
      yield* settled

      assert.isAbove(commits.length, 1)
    }))

  it.effect("is ended without a word when a heartbeat no longer finds its company", () =>
    Effect.gen(function*() {
      const { page, runner, test } = yield* world()
      yield* runner.tick
      yield* settled
      yield* Effect.orDie(test.store.operator.remove([id]))
      yield* runner.beat
      yield* settled

      assert.deepStrictEqual(runner.inWork(), [])
      yield* page
      assert.deepStrictEqual(yield* readCompany(test, 1), {})
    }))

  it.effect("fails as superseded the third time, while its company is its own", () =>
    Effect.gen(function*() {
      const { page, refusals, runner, test } = yield* world()
      refusals.left = 3
      yield* page
      yield* runner.tick
      yield* settled
      const [run] = yield* test.store.operator.runs(id)

      assert.strictEqual(run?.outcome, "SyncError.Superseded")
      assert.strictEqual((yield* readCompany(test, 1)).failures, 1)
    }))

  it.effect("continues after one that superseded it", () =>
    Effect.gen(function*() {
      const { page, refusals, runner, test } = yield* world()
      refusals.left = 2
      yield* page
      yield* runner.tick
      yield* settled

      assert.strictEqual((yield* test.store.operator.runs(id))[0]?.outcome, "Complete")
    }))

  it.effect("keeps its lease until its end is written, and counts as in work", () =>
    Effect.gen(function*() {
      let failures = 3
      const { page, runner, test } = yield* world((store) => ({
        end: (...args) => Effect.suspend(() => failures-- > 0 ? Effect.fail(away) : store.end(...args))
      }))
      yield* page
      yield* runner.tick
      yield* settled
      assert.deepStrictEqual(runner.inWork(), [1])
      assert.isNotNull((yield* readCompany(test, 1)).heartbeat_at)
      yield* TestClock.adjust("2 seconds")
      assert.deepStrictEqual(runner.inWork(), [])
      assert.strictEqual((yield* readCompany(test, 1)).heartbeat_at, null)
    }))

  it.effect("that is interrupted with its runner is put back to the front, and is no failed start", () =>
    Effect.gen(function*() {
      const { runner, test } = yield* world()
      yield* runner.tick
      yield* settled
      yield* runner.close
      const row = yield* readCompany(test, 1)

      assert.deepStrictEqual([row.heartbeat_at, row.starts, row.next_at], [null, 0, noon])
      yield* runner.tick
      assert.deepStrictEqual(runner.inWork(), [], "a runner that closes claims nothing")
    }))

  it.effect("begins in any case once its company is claimed: an interruption between the two would leave a lease", () =>
    Effect.gen(function*() {
      const answer = Deferred.makeUnsafe<void>()
      const { page, runner, test } = yield* world((store) => ({
        claim: (options) => Effect.tap(store.claim(options), () => Deferred.await(answer))
      }))
      const tick = yield* Effect.forkChild(runner.tick)
      yield* settled
      assert.isNotNull((yield* readCompany(test, 1)).heartbeat_at)
      yield* Effect.forkChild(Fiber.interrupt(tick))
      yield* settled
      yield* Deferred.succeed(answer, undefined)
      yield* settled
      assert.deepStrictEqual(runner.inWork(), [1])
      yield* page
      yield* settled

      assert.deepStrictEqual((yield* readCompany(test, 1)).heartbeat_at, null)
    }))

  it.effect("that is interrupted while its end is being written has ended, and is not put back", () =>
    Effect.gen(function*() {
      const answer = Deferred.makeUnsafe<void>()
      const { page, runner, test } = yield* world((store) => ({
        end: (...args) => Effect.andThen(Deferred.await(answer), store.end(...args))
      }))
      yield* page
      yield* runner.tick
      yield* settled
      yield* Effect.forkChild(runner.close)
      yield* settled
      yield* Deferred.succeed(answer, undefined)
      yield* settled
      const runs = yield* test.store.operator.runs(id)
      const row = yield* readCompany(test, 1)

      assert.deepStrictEqual(runs.map(({ outcome }) => outcome), ["Complete"])
      assert.deepStrictEqual([row.heartbeat_at, row.phase, row.next_at === noon], [null, "increment", false])
      assert.deepStrictEqual(runner.inWork(), [])
    }))

  it.effect("is ended three minutes after its deadline, as a failure", () =>
    Effect.gen(function*() {
      const { runner, test } = yield* world()
      yield* runner.tick
      for (let minute = 0; minute < 14; minute++) {
        yield* TestClock.adjust("1 minute")
        yield* runner.beat
      }
      const [run] = yield* test.store.operator.runs(id)

      assert.strictEqual(run?.outcome, "Deadline")
    }))

  it.effect("that interrupted itself has failed: put back without a word, it would begin again for ever", () =>
    Effect.gen(function*() {
      const { runner, test } = yield* world(({ isHeld }) => ({ isHeld }), Effect.interrupt)
      yield* runner.tick
      yield* settled
      const row = yield* readCompany(test, 1)

      assert.deepStrictEqual([row.heartbeat_at, row.failures], [null, 1])
      assert.isAbove(Number(row.next_at), noon)
      assert.deepStrictEqual((yield* test.store.operator.runs(id)).map(({ outcome }) => outcome), ["Defect"])
      yield* runner.close
    }))

  it.effect.each([Object.create(null), Object.assign(new Error(), { message: 5 })])(
    "that died of what is no text has ended: it would be in work for ever",
    (defect) =>
      Effect.gen(function*() {
        const { runner, test } = yield* world(({ isHeld }) => ({ isHeld }), Effect.die(defect))
        yield* runner.tick
        yield* settled

        assert.deepStrictEqual(runner.inWork(), [])
        assert.deepStrictEqual((yield* test.store.operator.runs(id)).map(({ outcome }) => outcome), ["Defect"])
      })
  )

  it.effect("whose end cannot be written says so once a minute", () =>
    Effect.gen(function*() {
      const lines: Array<unknown> = []
      const logger = Logger.make(({ message }) => lines.push(message))
      const { page, runner } = yield* world(() => ({ end: () => Effect.fail(away) }))
      yield* page
      yield* Effect.provide(runner.tick, Logger.layer([logger]))
      for (let minute = 0; minute < 3; minute++) yield* TestClock.adjust("1 minute")

      assert.lengthOf(lines.filter((line) => String(line).includes("cannot be written yet")), 4)
      const closing = yield* Effect.forkChild(runner.close)
      yield* TestClock.adjust("10 seconds")
      yield* Fiber.join(closing)
    }))

  it.effect("whose end is written and not answered yet was not lost when it is claimed again", () =>
    Effect.gen(function*() {
      const lost = Effect.map(
        Metric.snapshot,
        (all) => all.find(({ id }) => id === "time_punches_fleet_lost_turns")?.state
      )
      const before = yield* lost
      const answer = Deferred.makeUnsafe<void>()
      const { page, runner, test } = yield* world((store) => ({
        end: (...args) => Effect.tap(store.end(...args), () => Deferred.await(answer))
      }))
      yield* page
      yield* runner.tick
      yield* settled
      yield* setCompanies(test, "next_at = 0")
      yield* runner.tick
      yield* settled
      yield* Deferred.succeed(answer, undefined)
      yield* settled

      assert.lengthOf(yield* test.store.operator.runs(id), 2)
      assert.deepStrictEqual(yield* lost, before)
    }))

  it.effect("writes nothing after the name of its process was lost", () =>
    Effect.gen(function*() {
      const { page, runner, test } = yield* world()
      yield* runner.tick
      yield* settled
      yield* runner.lose
      yield* settled
      yield* page
      yield* runner.tick

      assert.deepStrictEqual(runner.inWork(), [])
      assert.isNotNull((yield* readCompany(test, 1)).heartbeat_at, "the lease is left to expire")
    }))
})

describe("what an operator sees of a turn", () => {
  it.effect("is a span that contains those of its sync, and a count by outcome", () =>
    Effect.gen(function*() {
      const { spans, tracer } = recorder()
      const { page, runner } = yield* world()
      yield* page
      yield* runner.tick.pipe(Effect.provideService(Tracer.Tracer, tracer))
      yield* settled
      const sync = spans.find(({ name }) => name === "Sync.run")
      const turn = spans.find(({ name }) => name === "Fleet.turn")
      const counted = (yield* Metric.snapshot).filter(({ attributes, id }) =>
        id === "time_punches_fleet_turns" && attributes?.["outcome"] === "Complete"
      )

      assert.strictEqual(Option.getOrUndefined(sync?.parent ?? Option.none())?.spanId, turn?.spanId)
      assert.deepStrictEqual([turn?.attributes.get("company"), turn?.attributes.get("kind")], [1, "ordinary"])
      assert.lengthOf(counted, 1)
    }))
})

describe("a suspect", () => {
  it.effect("waits until all else has ended after a page, runs alone, and claims continue then", () =>
    Effect.gen(function*() {
      const { page, runner, test } = yield* world()
      yield* Effect.orDie(test.store.operator.add([{ id: CompanyId.make(2), every: undefined }]))
      yield* setCompanies(test, "starts = 2", "company_id = 2")
      yield* runner.tick
      yield* settled
      assert.deepStrictEqual(runner.inWork(), [1])
      yield* runner.drain
      yield* runner.tick
      assert.deepStrictEqual([runner.isDraining(), runner.inWork()], [true, [1]])
      yield* page
      yield* settled
      assert.deepStrictEqual(runner.inWork(), [], "the other one has stopped after a page")
      assert.strictEqual((yield* test.store.operator.runs(id))[0]?.outcome, "TurnOver")
      yield* runner.tick
      yield* settled
      const [run] = yield* test.store.operator.runs(CompanyId.make(2))
      assert.strictEqual(run?.outcome, "Complete", "the suspect itself continues to its end")
      assert.isFalse(runner.isDraining())
      yield* runner.tick
      yield* settled
      assert.lengthOf(yield* test.store.operator.runs(id), 2)
    }))
})

describe("decideTrouble", () => {
  const failure = { tag: "T", text: "what happened" }
  const transient: Outcome = { _tag: "Transient", failure }
  const refused: Outcome = { _tag: "NoCredential", failure, reason: "InvalidClient" }
  const complete: Outcome = { _tag: "Complete", isResumed: false }
  const forbidden: Outcome = { _tag: "Refused", failure }
  const store: Outcome = { _tag: "StoreFailed", failure }
  const whole = { failedInRow: 0, trouble: undefined }
  const sick = { failedInRow: 5, trouble: { kind: "sick", text: failure.text } } as const
  const isRefused = { failedInRow: 0, trouble: { kind: "refused", text: failure.text } } as const

  it.each(
    [
      ["the first failure", transient, whole, { failedInRow: 1, trouble: undefined }],
      ["the fifth in a row", transient, { failedInRow: 4, trouble: undefined }, sick],
      ["an answer between", forbidden, { failedInRow: 4, trouble: undefined }, whole],
      ["a failure of the database between", store, { failedInRow: 4, trouble: undefined }, {
        failedInRow: 4,
        trouble: undefined
      }],
      ["an answer of any kind to a sick process", forbidden, sick, whole],
      ["a refusal", refused, whole, isRefused],
      ["a success that began before the refusal", complete, isRefused, isRefused],
      ["five failures of a refused process", transient, { ...isRefused, failedInRow: 4 }, {
        ...isRefused,
        failedInRow: 5
      }]
    ] as const
  )("of %s", (_, outcome, before, after) => {
    assert.deepStrictEqual(decideTrouble(outcome, before, "shared"), after)
  })

  it("of a credential of one company says nothing about the process", () => {
    assert.deepStrictEqual(decideTrouble(refused, whole, "perCompany"), whole)
  })
})

describe("a process in trouble", () => {
  const companies = Array.from({ length: 8 }, (_, at) => ({ id: CompanyId.make(at + 1), every: undefined }))
  const query = ({ sql }: TestStore, statement: string) => Effect.orDie(sql.unsafe(statement))

  const troubles = ({ sql }: TestStore) =>
    Effect.orDie(
      sql.unsafe<{ readonly runner: string; readonly kind: string }>("SELECT runner, kind FROM fleet_trouble")
    )

  /** A runner that meets the fault, and what it says. */
  const inTrouble = (
    fault: () => ListError | undefined,
    change?: Parameters<typeof world>[0],
    mine?: () => ReadonlyArray<number>
  ) =>
    Effect.gen(function*() {
      const lines: Array<string> = []
      const logger = Logger.make(({ message }) => lines.push(String(message)))
      const made = yield* world(
        change,
        Effect.suspend(() => {
          const error = fault()
          return error === undefined ? Effect.void : Effect.fail(error)
        }),
        mine
      )
      yield* made.page
      yield* Effect.orDie(made.test.store.operator.add(companies))
      const due = setCompanies(made.test, "next_at = 0")
      const logged = Effect.provide(Logger.layer([logger]))
      const tick = Effect.andThen(logged(made.runner.tick), settled)
      return { ...made, lines, due, tick, ask: logged(made.runner.ask) }
    })

  it.effect("that does not reach the service claims one company at a time, and none while another process completes turns", () =>
    Effect.gen(function*() {
      let error: ListError | undefined = new TransportError({ reason: "Connect" })
      const claims: Array<number> = []
      const { ask, due, lines, runner, test, tick } = yield* inTrouble(() => error, (store) => ({
        claim: (options) => Effect.tap(store.claim(options), ({ length }) => Effect.sync(() => claims.push(length)))
      }))
      yield* tick
      assert.strictEqual(runner.trouble()?.kind, "sick")
      assert.deepStrictEqual((yield* troubles(test)).map(({ kind, runner }) => [runner, kind]), [["a", "sick"]])
      yield* due
      yield* tick
      yield* tick
      assert.deepStrictEqual(claims, [8, 1, 1])

      const completed = "INSERT INTO fleet_run VALUES (77, 1, 'b', 0, $, 1, 1, 'Complete')"
      yield* query(test, completed.replace("$", `${noon}`))
      yield* tick
      assert.lengthOf(claims, 3, "it would keep the company from the other process")

      yield* ask
      assert.match(lines.join(), /does not reach the service, and leaves the companies to other processes: .*Connect/)
      error = undefined
      yield* ask
      assert.include(lines.at(-1), "reaches the service again")
      assert.deepStrictEqual(yield* troubles(test), [])
      yield* due
      yield* tick
      assert.strictEqual(claims.at(-1), 8)
    }))

  it.effect("that does not reach the service owns no shard", () =>
    Effect.gen(function*() {
      const claims: Array<readonly [ReadonlyArray<number> | undefined, number]> = []
      const { due, tick } = yield* inTrouble(
        () => new TransportError({ reason: "Connect" }),
        (store) => ({
          claim: (options) => {
            claims.push([options.mine, options.helpAfter])
            return store.claim(options)
          }
        }),
        () => [1, 2, 3, 4, 5, 6, 7, 8]
      )
      yield* tick
      yield* due
      yield* tick

      assert.deepStrictEqual(claims, [[[1, 2, 3, 4, 5, 6, 7, 8], 2000], [[], 10_000]])
    }))

  it.effect("that is refused claims nothing until it is granted a token, and then has the pauses tried", () =>
    Effect.gen(function*() {
      let error: ListError | undefined = new TokenError({ reason: "InvalidClient" })
      let asked = 0
      const { ask, due, lines, runner, test, tick } = yield* inTrouble(() => {
        asked += 1
        return error
      })
      yield* tick
      assert.strictEqual(runner.trouble()?.kind, "refused")
      assert.deepStrictEqual((yield* test.store.operator.pauses).map(({ reason }) => reason), ["InvalidClient"])
      yield* test.store.operator.resumeAll
      yield* due
      const before = asked
      yield* tick
      assert.strictEqual(asked, before, "it claims nothing")
      for (const still of [error, new TokenError({ reason: "Transport" })]) {
        error = still
        yield* ask
      }
      assert.strictEqual(asked, before + 2)
      assert.strictEqual(runner.trouble()?.kind, "refused")
      assert.lengthOf(lines.filter((line) => line.includes("refuses this process, which claims no company")), 2)

      yield* query(test, `INSERT INTO fleet_pause (reason, until, probed_at) VALUES ('Rejected', NULL, ${noon})`)
      // What the service says of the company needs a token.
      error = new Forbidden({})
      yield* ask
      assert.strictEqual(runner.trouble(), undefined)
      assert.deepStrictEqual(yield* query(test, "SELECT probed_at FROM fleet_pause"), [{
        probed_at: 0
      }])
    }))

  it.effect("says once a minute why the turns of a company fail, and when all turns of the process fail", () =>
    Effect.gen(function*() {
      let error: ListError | undefined = new UnexpectedStatus({ status: 404 })
      const { due, lines, tick } = yield* inTrouble(() => error)
      const said = (part: string) => lines.splice(0).filter((line) => line.includes(part))
      yield* tick
      const first = lines.filter((line) => /^company \d: \w+: .*; the next attempt is in \d+ s$/.test(line))
      assert.lengthOf(first, 8)
      assert.lengthOf(said("the last 5 turns of this process failed"), 1)
      yield* due
      yield* TestClock.adjust("30 seconds")
      yield* tick
      assert.deepStrictEqual(said("fail").concat(said("next attempt")), [])
      yield* due
      yield* TestClock.adjust("31 seconds")
      // The third of one kind would block the company.
      error = new UnprocessableEntity({})
      yield* tick
      assert.lengthOf(lines.filter((line) => line.includes("the next attempt")), 8)
      assert.lengthOf(said("turns of this process failed"), 1)

      error = undefined
      yield* due
      yield* tick
      error = new UnexpectedStatus({ status: 404 })
      yield* due
      yield* tick
      // At once: the company has succeeded since.
      assert.lengthOf(said("the next attempt"), 8)
    }))

  it.effect("that hears nothing for 25 seconds, while another one completes turns, gives its companies back as they were", () =>
    Effect.gen(function*() {
      const { runner, test } = yield* world()
      yield* Effect.orDie(test.store.operator.add(companies))
      yield* runner.tick
      yield* settled
      yield* TestClock.adjust("26 seconds")
      yield* runner.listen
      assert.lengthOf(runner.inWork(), 8, "the service is slow for all, as far as it knows")
      yield* query(test, `INSERT INTO fleet_run VALUES (77, 1, 'b', 0, ${noon + 20_000}, 1, 1, 'Complete')`)
      yield* runner.listen
      yield* settled

      assert.deepStrictEqual(runner.inWork(), [])
      const row = yield* readCompany(test, 3)
      assert.deepStrictEqual([row.heartbeat_at, row.starts, row.next_at, row.failures], [null, 0, noon, 0])
      assert.lengthOf(yield* test.store.operator.runs(CompanyId.make(3)), 0)
      assert.strictEqual(runner.trouble()?.kind, "sick")
    }))

  it.effect("continues turns that began less than 25 seconds ago, or that have had a page since", () =>
    Effect.gen(function*() {
      const { page, runner, test } = yield* world()
      yield* query(test, `INSERT INTO fleet_run VALUES (77, 1, 'b', 0, ${noon + 60_000}, 1, 1, 'Complete')`)
      yield* TestClock.adjust("1 minute")
      yield* runner.tick
      yield* settled
      yield* TestClock.adjust("24 seconds")
      yield* runner.listen
      yield* settled
      assert.deepStrictEqual(runner.inWork(), [1])
      yield* page
      yield* settled
      assert.strictEqual((yield* test.store.operator.runs(id))[0]?.outcome, "Complete")
    }))

  it.effect("asks for its pages without a wait for a throttle", () =>
    Effect.gen(function*() {
      const retries: Array<unknown> = []
      const punches = yield* Effect.provide(
        TimePunches,
        Layer.mock(TimePunches)({
          pages: (_company, _filter, options) => {
            retries.push(options?.retry)
            return Stream.fail(new RateLimited({}))
          }
        })
      )
      const state = initialState()
      yield* Effect.flip(Stream.runDrain(listening(state, punches).pages(id, {}, { retry: { attempts: 2 } })))

      assert.deepStrictEqual(retries, [{ attempts: 2, throttleDelay: Duration.infinity }])
    }))
})

describe("decideTick", () => {
  const calm = {
    isClosing: false,
    isAlone: false,
    isDraining: false,
    inWork: 0,
    mostInWork: 8,
    sinceProbe: 0,
    trouble: undefined
  }

  it.each(
    [
      [{}, { suspect: false, probe: false, room: 8 }],
      [{ inWork: 5 }, { suspect: false, probe: false, room: 3 }],
      [{ inWork: 9 }, { suspect: false, probe: false, room: 0 }],
      [{ sinceProbe: 5000 }, { suspect: false, probe: true, room: 8 }],
      [{ sinceProbe: 5000, inWork: 1 }, { suspect: false, probe: false, room: 7 }],
      [{ isDraining: true, sinceProbe: 5000 }, { suspect: true, probe: false, room: 0 }],
      [{ isDraining: true, inWork: 1 }, { suspect: false, probe: false, room: 0 }],
      [{ isAlone: true, inWork: 1 }, { suspect: false, probe: false, room: 0 }],
      [{ isClosing: true, isDraining: true }, { suspect: false, probe: false, room: 0 }],
      [{ trouble: "refused", isDraining: true, sinceProbe: 5000 }, { suspect: false, probe: false, room: 0 }],
      [{ trouble: "sick", sinceProbe: 5000 }, { suspect: false, probe: false, room: 1 }],
      [{ trouble: "sick", inWork: 1 }, { suspect: false, probe: false, room: 0 }]
    ] as const
  )("of %o is %o", (at, decided) => {
    assert.deepStrictEqual(decideTick({ ...calm, ...at }), decided)
  })
})

describe("planOf", () => {
  const sweeps = { sweepWindow: 1000, fullSweepEvery: 9000 }
  it.each(
    [
      [{ phase: "increment", sweepAt: undefined, fullSweepAt: undefined }, { _tag: "Run" }],
      [{ phase: "increment", sweepAt: 5001, fullSweepAt: 9999 }, { _tag: "Run" }],
      [{ phase: "increment", sweepAt: 5000, fullSweepAt: 9999 }, { _tag: "Sweep", from: 4000 }],
      [{ phase: "sweep", sweepAt: 4000, fullSweepAt: 9999 }, { _tag: "Sweep", from: 4000 }],
      [{ phase: "increment", sweepAt: 9999, fullSweepAt: 5000 }, { _tag: "Sweep", from: undefined }],
      [{ phase: "first", sweepAt: 0, fullSweepAt: 0 }, { _tag: "Run" }]
    ] as const
  )("of %o is %o", (claim, plan) => {
    assert.deepStrictEqual(planOf({ ...claim, began: 5000 }, sweeps), plan)
  })

  it("sweeps no more than the window where full sweeps are switched off", () => {
    const plan = (sweepAt: number) =>
      planOf({ phase: "increment", sweepAt, fullSweepAt: 4000, began: 5000 }, { ...sweeps, fullSweepEvery: 0 })

    assert.deepStrictEqual([plan(5000), plan(5001)], [{ _tag: "Sweep", from: 4000 }, { _tag: "Run" }])
  })
})

describe("decideName", () => {
  it("gives the name up only after it was taken by another for longer than the takeover", () => {
    assert.deepStrictEqual(decideName(100, "taken", undefined, 10_000), { since: 100, isLost: false })
    assert.deepStrictEqual(decideName(11_099, "taken", 100, 10_000), { since: 100, isLost: false })
    assert.deepStrictEqual(decideName(11_100, "taken", 100, 10_000), { since: 100, isLost: true })
    assert.deepStrictEqual(decideName(99_999, "ours", 100, 10_000), { since: undefined, isLost: false })
    assert.deepStrictEqual(decideName(99_999, "unknown", 100, 10_000), { since: 100, isLost: false })
  })
})

describe("elapsed", () => {
  it.effect("does not go back with the clock", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(noon)
      const before = yield* elapsed
      yield* TestClock.setTime(0)

      assert.isAtLeast(yield* elapsed, before)
    }))
})

describe("isPruning", () => {
  it("is once a day, where versions are kept for days", () => {
    const day = 86_400_000
    assert.isFalse(isPruning(5, undefined, undefined))
    assert.isTrue(isPruning(5, undefined, 30))
    assert.isFalse(isPruning(day + 4, 5, 30))
    assert.isTrue(isPruning(day + 5, 5, 30))
    assert.isTrue(isPruning(5, day + 5, 30), "the clock was set back")
  })
})
