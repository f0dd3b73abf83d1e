import { assert, describe, it } from "@effect/vitest"
import { Clock, Deferred, Duration, Effect, Exit, Option, Scope } from "effect"
import { afterAll, beforeAll } from "vitest"
import type { Outcome } from "../../src/fleet/CompanyState.ts"
import { nextSlot } from "../../src/fleet/Schedule.ts"
import type { Claim } from "../../src/fleet/store/claims.ts"
import { overloadText } from "../../src/fleet/store/runners.ts"
import { CompanyGuid, CompanyId } from "../../src/index.ts"
import { needs } from "../support/needs.ts"
import {
  claiming,
  companies,
  emptied,
  ending,
  failing,
  frozen,
  kinds,
  readCompany,
  setCompanies,
  settings,
  takeover,
  type TestStore,
  throttled
} from "./support.ts"

const every = 900_000
const id = CompanyId.make
const failure = { tag: "ServerError", text: "500" }
const transient: Outcome = { _tag: "Transient", failure }

/** The latest that the clock of a database may say: PostgreSQL rounds to a millisecond, which may be the next one. */
const latestNow = Effect.map(Clock.currentTimeMillis, (now) => now + 1)

const idsOf = (claims: ReadonlyArray<Claim>) => claims.map(({ company }) => company).toSorted((a, b) => a - b)

const first = (claims: ReadonlyArray<Claim>): Claim => {
  const [claim] = claims
  if (claim === undefined) throw new Error("nothing was claimed")
  return claim
}

const defined = (claim: Claim | undefined): Claim => first(claim === undefined ? [] : [claim])

describe.each(kinds)("the statements of a fleet in $name", ({ missing, open }) => {
  let opened: TestStore | undefined
  const scope = Scope.makeUnsafe()
  beforeAll(async () => {
    if (Option.isNone(missing)) opened = await Effect.runPromise(Scope.provide(open, scope))
  })
  afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))

  /** A test over empty tables. */
  const test = <E>(title: string, body: (fleet: TestStore) => Effect.Effect<void, E>) =>
    it.live(title, (context) => {
      needs(context, Option.isNone(missing), Option.getOrElse(missing, () => ""))
      if (opened === undefined) throw new Error("the store did not open")
      return Effect.andThen(emptied(opened), body(opened))
    })

  const pause = ({ sql }: TestStore, reason: string, until: string, probedAt = "0") =>
    Effect.orDie(
      sql.unsafe(`INSERT INTO fleet_pause (reason, until, probed_at) VALUES ('${reason}', ${until}, ${probedAt})`)
    )

  describe("claim", () => {
    test("takes companies of its shards, and helps others after a while", (fleet) =>
      Effect.gen(function*() {
        yield* fleet.store.operator.add([1, 2, 301, 302].map((n) => ({ id: id(n), every: undefined })))
        const mine = claiming("a", { mine: [1] })

        assert.deepStrictEqual(idsOf(yield* fleet.store.claim(mine)), [1, 301])
        assert.deepStrictEqual(idsOf(yield* fleet.store.claim(claiming("a", { mine: [] }))), [])
        yield* setCompanies(fleet, "next_at = next_at - 11000", "company_id = 302")
        assert.deepStrictEqual(idsOf(yield* fleet.store.claim(claiming("a", { mine: [] }))), [302])
      }))

    test("rows of other shards do not fill its limit", (fleet) =>
      Effect.gen(function*() {
        yield* fleet.store.operator.add([2, 3, 4, 5, 1].map((n) => ({ id: id(n), every: undefined })))
        yield* setCompanies(fleet, "next_at = next_at - 5000", "company_id <> 1")

        assert.deepStrictEqual(idsOf(yield* fleet.store.claim(claiming("a", { mine: [1], room: 1 }))), [1])
      }))
  })

  describe("heartbeat", () => {
    test("holds the leases that are ours, and names them", (fleet) =>
      Effect.gen(function*() {
        yield* fleet.store.operator.add(companies(3))
        const claimed = yield* fleet.store.claim(claiming())
        yield* setCompanies(fleet, "heartbeat_at = 5")
        yield* setCompanies(fleet, "epoch = epoch + 1", "company_id = 2")
        yield* setCompanies(fleet, "heartbeat_at = NULL", "company_id = 3")
        const held = yield* fleet.store.heartbeat(
          claimed.map(({ company, epoch }) => ({ company, epoch, isPaged: false }))
        )

        assert.deepStrictEqual([...held], [1])
        assert.isAbove(Number((yield* readCompany(fleet, 1)).heartbeat_at), 5)
        assert.strictEqual((yield* readCompany(fleet, 2)).heartbeat_at, 5)
        assert.strictEqual((yield* readCompany(fleet, 3)).heartbeat_at, null)
      }))

    test("forgets the starts before a stored page, of that company alone", (fleet) =>
      Effect.gen(function*() {
        yield* fleet.store.operator.add(companies(2))
        const claimed = yield* fleet.store.claim(claiming())
        yield* setCompanies(fleet, "starts = 4")
        yield* fleet.store.heartbeat(claimed.map(({ company, epoch }) => ({ company, epoch, isPaged: company === 1 })))

        assert.strictEqual((yield* readCompany(fleet, 1)).starts, 1)
        assert.strictEqual((yield* readCompany(fleet, 2)).starts, 4)
      }))
  })

  describe("end", () => {
    test("of a complete pass takes the next slot, the sweeps theirs, and proves the copy up to the start", (fleet) =>
      Effect.gen(function*() {
        yield* fleet.store.operator.add(companies(1))
        yield* setCompanies(fleet, `failures = 3, tag = 'X', tag_count = 2, last_error = '{"tag":"X"}'`)
        const claim = first(yield* fleet.store.claim(claiming()))
        const before = yield* Clock.currentTimeMillis
        const ended = yield* fleet.store.end("a", ending(claim, { rows: 7, pages: 2 }), settings)
        const row = yield* readCompany(fleet, 1)

        assert.deepStrictEqual(ended, {
          state: "active",
          reason: undefined,
          pause: undefined,
          isPauseNew: false,
          isLifted: false,
          next: { _tag: "Slot" }
        })
        assert.deepStrictEqual(
          [row.heartbeat_at, row.starts, row.phase, row.failures, row.tag, row.tag_count, row.last_error, row.rows],
          [null, 0, "increment", 0, null, 0, null, 7]
        )
        assert.strictEqual(row.last_ok_at, claim.began)
        assert.include([nextSlot(1, every, before), nextSlot(1, every, before + 5000)], row.next_at)
        assert.include(
          [nextSlot(1, settings.sweepEvery, before), nextSlot(1, settings.sweepEvery, before + 5000)],
          row.sweep_at
        )
        assert.isAbove(Number(row.full_sweep_at), before)
        const [run] = yield* fleet.store.operator.runs(id(1))
        assert.deepStrictEqual([run?.epoch, run?.runner, run?.pages, run?.rows, run?.outcome], [
          claim.epoch,
          "a",
          2,
          7,
          "Complete"
        ])
        const minutes = yield* Effect.orDie(fleet.sql.unsafe<{ runs: unknown }>("SELECT * FROM fleet_minute"))
        assert.deepStrictEqual(minutes.map(({ runs }) => Number(runs)), [1])
      }))

    test("is due again where an operator asked meanwhile, and keeps the state that was set", (fleet) =>
      Effect.gen(function*() {
        yield* fleet.store.operator.add(companies(4))
        const claimed = yield* fleet.store.claim(claiming())
        yield* Effect.sleep(3)
        yield* fleet.store.operator.trigger([id(1)])
        yield* fleet.store.operator.sweep([id(2)])
        yield* fleet.store.operator.add([{ id: id(3), every: 1000 }])
        yield* fleet.store.operator.pause([id(4)])
        yield* Effect.forEach(claimed, (claim) => fleet.store.end("a", ending(claim), settings))
        const now = yield* latestNow
        const due = yield* Effect.forEach([1, 2], (n) => readCompany(fleet, n))

        for (const { next_at } of due) assert.isAtMost(Number(next_at), now)
        assert.isAtMost(Number(due[1]?.sweep_at), now, "the requested sweep is to come")
        assert.isAtMost(Number((yield* readCompany(fleet, 3)).next_at), now + 1000)
        assert.strictEqual((yield* readCompany(fleet, 4)).state, "paused")
      }))

    test("of a failed turn waits within the backoff and keeps the error", (fleet) =>
      Effect.gen(function*() {
        yield* fleet.store.operator.add(companies(1))
        const claim = first(yield* fleet.store.claim(claiming()))
        yield* fleet.store.end("a", failing(claim, transient), settings)
        const [status] = yield* fleet.store.operator.list({ states: undefined, isLate: false, id: undefined })
        const now = yield* Clock.currentTimeMillis

        assert.deepStrictEqual([status?.failures, status?.phase], [1, "first"])
        assert.isAtMost(status?.nextAt.epochMilliseconds ?? 0, now + every)
        const error = Option.getOrThrow(status?.lastError ?? Option.none())
        assert.deepStrictEqual([error.tag, error.text], ["ServerError", "500"])
        assert.approximately(error.at.epochMilliseconds, now, 5000)
      }))

    test("of a sweep takes a slot for full sweeps, also where they were switched off before", (fleet) =>
      Effect.gen(function*() {
        yield* fleet.store.operator.add(companies(1))
        const slots: Array<unknown> = []
        for (const fullSweepEvery of [0, settings.fullSweepEvery]) {
          yield* setCompanies(fleet, "next_at = 0")
          const end = ending(first(yield* fleet.store.claim(claiming())), {
            phase: { phase: "increment", isSwept: true }
          })
          yield* fleet.store.end("a", end, { ...settings, fullSweepEvery })
          slots.push((yield* readCompany(fleet, 1)).full_sweep_at)
        }

        assert.strictEqual(slots[0], null)
        assert.isAtLeast(Number(slots[1]), yield* Clock.currentTimeMillis)
      }))

    test("of a refused sweep keeps its error until a sweep ends", (fleet) =>
      Effect.gen(function*() {
        yield* fleet.store.operator.add(companies(1))
        const errors: Array<unknown> = []
        const run = (more: Parameters<typeof ending>[1]) =>
          Effect.gen(function*() {
            yield* setCompanies(fleet, "next_at = 0, phase = 'increment'")
            const claim = first(yield* fleet.store.claim(claiming()))
            yield* fleet.store.end("a", ending(claim, more), settings)
            errors.push((yield* readCompany(fleet, 1)).last_error !== null)
          })
        const refused: Outcome = {
          _tag: "TooManyMissing",
          failure: { tag: "SyncError.TooManyMissing", text: "too many" }
        }
        yield* run({ outcome: refused, phase: { phase: "increment", isSwept: true } })
        yield* run({ phase: { phase: "increment", isSwept: false } })
        yield* run({ phase: { phase: "increment", isSwept: true } })

        assert.deepStrictEqual(errors, [true, true, false])
      }))

    test("of a resumed pass proves the copy up to the checkpoint alone, and never less than before", (fleet) =>
      Effect.gen(function*() {
        yield* fleet.store.operator.add(companies(1))
        const resumed = (proven: number) =>
          Effect.gen(function*() {
            yield* setCompanies(fleet, "next_at = 0")
            const claim = first(yield* fleet.store.claim(claiming()))
            yield* fleet.store.end(
              "a",
              ending(claim, { proven, outcome: { _tag: "Complete", isResumed: true } }),
              settings
            )
            return yield* readCompany(fleet, 1)
          })
        const early = yield* resumed(1000)
        assert.strictEqual(early.last_ok_at, 1000)
        assert.isAtMost(Number(early.next_at), yield* latestNow)
        assert.strictEqual((yield* resumed(500)).last_ok_at, 1000)
        const ahead = yield* resumed((yield* Clock.currentTimeMillis) + 3_600_000)
        assert.isAtMost(Number(ahead.last_ok_at), yield* latestNow)
      }))

    test("keeps the last runs of its company alone, also after turns that wrote none", (fleet) =>
      Effect.gen(function*() {
        yield* fleet.store.operator.add(companies(2))
        const ended: Array<number> = []
        for (let turn = 0; turn < 6; turn++) {
          yield* setCompanies(fleet, "next_at = 0")
          for (const claim of yield* fleet.store.claim(claiming())) {
            const isInterrupted = turn === 2 || turn === 4
            if (isInterrupted) yield* fleet.store.release(claim)
            else yield* fleet.store.end("a", ending(claim), { ...settings, keepTurns: claim.company === 1 ? 3 : 50 })
            if (!isInterrupted && claim.company === 1) ended.unshift(claim.epoch)
          }
        }
        const runs = yield* fleet.store.operator.runs(id(1))

        assert.lengthOf(ended, 4)
        assert.deepStrictEqual(runs.map(({ epoch }) => epoch), ended.slice(0, 3))
        assert.lengthOf(yield* fleet.store.operator.runs(id(2)), 4)
      }))
  })

  describe("whileHeld", () => {
    test("does nothing for a company that was removed, or is another turn's, and keeps both from happening", (fleet) =>
      Effect.gen(function*() {
        yield* fleet.store.operator.add(companies(2))
        const [one, two] = (yield* fleet.store.claim(claiming())).map(defined)
        yield* frozen(fleet, "company_id = 2")
        yield* fleet.store.claim(claiming("b"))
        const kept = yield* fleet.store.whileHeld(defined(one), Effect.succeed("done"))
        const taken = yield* fleet.store.whileHeld(defined(two), Effect.die("another turn's"))
        yield* fleet.store.operator.remove([id(1)])
        const removed = yield* fleet.store.whileHeld(defined(one), Effect.die("removed"))

        assert.deepStrictEqual([kept, taken, removed], [Option.some("done"), Option.none(), Option.none()])
      }))

    test("rolls back what it ran if that fails", (fleet) =>
      Effect.gen(function*() {
        yield* fleet.store.operator.add(companies(1))
        const claim = first(yield* fleet.store.claim(claiming()))
        const write = Effect.orDie(fleet.sql.unsafe("INSERT INTO fleet_setting (name, value) VALUES ('x', 'y')"))
        yield* Effect.flip(fleet.store.whileHeld(claim, Effect.andThen(write, Effect.fail("refused"))))

        assert.lengthOf(yield* Effect.orDie(fleet.sql.unsafe("SELECT 1 FROM fleet_setting")), 0)
      }))
  })

  describe("pauses", () => {
    test("are new once: a company that is refused in one of them only lengthens it", (fleet) =>
      Effect.gen(function*() {
        yield* fleet.store.operator.add(companies(6))
        const news: Array<boolean | undefined> = []
        for (const [at, claim] of (yield* fleet.store.claim(claiming())).entries()) {
          if (at === 5) yield* Effect.orDie(fleet.sql.unsafe("UPDATE fleet_pause SET until = 1"))
          news.push((yield* fleet.store.end("a", failing(claim, throttled), settings))?.isPauseNew)
        }

        assert.deepStrictEqual(news, [false, false, true, false, false, true])
        assert.lengthOf(yield* fleet.store.operator.pauses, 1, "the row of a pause that ended does not stop the next")
      }))

    test("are not made by three throttled companies while another one succeeds, whatever a clock that was ahead has written", (fleet) =>
      Effect.gen(function*() {
        yield* fleet.store.operator.add(companies(8))
        const claims = yield* fleet.store.claim(claiming())
        const pauses: Array<string | undefined> = []
        for (const [at, claim] of claims.entries()) {
          const end = at === 2 ? ending(claim) : failing(claim, throttled)
          pauses.push((yield* fleet.store.end("a", end, settings))?.pause?.reason)
          if (at === 5) yield* Effect.orDie(fleet.sql.unsafe("DELETE FROM fleet_pause"))
          if (at === 6) {
            yield* Effect.orDie(
              fleet.sql.unsafe("UPDATE fleet_run SET ended_at = ended_at + 3600000 WHERE outcome = 'Complete'")
            )
          }
          yield* Effect.sleep(2)
        }

        const none = undefined
        assert.deepStrictEqual(pauses, [none, none, none, none, none, "RateLimited", "RateLimited", "RateLimited"])
      }))
  })

  describe("begin", () => {
    test("frees what a predecessor of this name held, and no other", (fleet) =>
      Effect.gen(function*() {
        yield* fleet.store.operator.add(companies(2))
        yield* fleet.store.claim(claiming("a", { room: 1 }))
        yield* fleet.store.claim(claiming("b", { room: 1 }))
        yield* pause(fleet, "Rejected", "NULL", "77")
        yield* fleet.store.begin("a", false)
        const rows = yield* Effect.forEach([1, 2], (n) => readCompany(fleet, n))

        for (const { heartbeat_at, runner, starts } of rows) {
          assert.strictEqual(heartbeat_at === null, runner === "a")
          assert.strictEqual(starts, 1)
        }
        yield* fleet.store.operator.resumeAll
        yield* fleet.store.begin("embedded", true)
        assert.lengthOf(yield* fleet.store.claim(claiming("embedded")), 2)
      }))

    test("keeps the takeover that the first runner has stored", ({ store }) =>
      Effect.gen(function*() {
        assert.strictEqual(yield* store.takeoverOf(10_000), 10_000)
        assert.strictEqual(yield* store.takeoverOf(20_000), 10_000)
      }))
  })

  describe("the trouble of a process", () => {
    const troubles = ({ sql }: TestStore) =>
      Effect.map(
        Effect.orDie(
          sql.unsafe<{ readonly [column: string]: unknown }>("SELECT * FROM fleet_trouble ORDER BY runner")
        ),
        (rows) =>
          rows.map(({ kind, noted_at, runner, since, text }) => ({
            runner,
            kind,
            text,
            since: Number(since),
            notedAt: Number(noted_at)
          }))
      )

    test("is noted since it began, until it is over", (fleet) =>
      Effect.gen(function*() {
        yield* fleet.store.noteTrouble("a", { kind: "sick", text: "refused" })
        yield* fleet.store.noteTrouble("b", { kind: "refused", text: "no token" })
        const [first] = yield* troubles(fleet)
        yield* Effect.sleep(3)
        yield* fleet.store.noteTrouble("a", { kind: "sick", text: "reset" })
        const [again, other] = yield* troubles(fleet)
        yield* fleet.store.noteTrouble("a", { kind: "refused", text: "no token" })
        const [changed] = yield* troubles(fleet)

        assert.deepStrictEqual([again?.kind, again?.text, again?.since], ["sick", "reset", first?.since])
        assert.isAbove(again?.notedAt ?? 0, first?.notedAt ?? 0)
        assert.deepStrictEqual([other?.runner, other?.kind, other?.text], ["b", "refused", "no token"])
        assert.deepStrictEqual([changed?.kind, changed?.since], ["refused", changed?.notedAt])
        yield* fleet.store.noteTrouble("a", undefined)
        assert.deepStrictEqual((yield* troubles(fleet)).map(({ runner }) => runner), ["b"])
      }))

    test("ends with its process, and an hour after a process that did not end it", (fleet) =>
      Effect.gen(function*() {
        for (const runner of ["a", "b", "gone"]) {
          yield* fleet.store.noteTrouble(runner, { kind: "refused", text: "no token" })
        }
        yield* Effect.orDie(
          fleet.sql.unsafe("UPDATE fleet_trouble SET noted_at = noted_at - 3601000 WHERE runner = 'gone'")
        )
        yield* fleet.store.trim
        yield* fleet.store.begin("a", false)
        assert.deepStrictEqual((yield* troubles(fleet)).map(({ runner }) => runner), ["b"])
        yield* fleet.store.begin("embedded", true)
        assert.deepStrictEqual(yield* troubles(fleet), [])
      }))
  })

  describe("the operator's statements", () => {
    test("give a known company the guid that is given, and keep the one that it has", ({ store }) =>
      Effect.gen(function*() {
        const guid = CompanyGuid.make("3b2f7c1e-5a94-4d0b-8e6f-9c1a7d2e4f60")
        yield* store.operator.add([{ id: id(1), guid, every: 60_000 }, { id: id(2), every: undefined }])
        yield* store.operator.add([{ id: id(1), every: undefined }, { id: id(2), guid, every: 60_000 }])
        const claims = yield* store.claim(claiming())

        assert.deepStrictEqual(claims.map((claim) => claim.guid), [guid, guid])
      }))

    test("add what two calls add at once, with what both say of it", ({ sql, store }) =>
      Effect.gen(function*() {
        const guid = CompanyGuid.make("3b2f7c1e-5a94-4d0b-8e6f-9c1a7d2e4f60")
        const isAdded = yield* Deferred.make<void>()
        const slow = sql.withTransaction(
          store.operator.add([{ id: id(1), guid, every: undefined }]).pipe(
            Effect.tap(() => Deferred.succeed(isAdded, undefined)),
            Effect.tap(() => Effect.sleep("200 millis"))
          )
        )
        const other = store.operator.add([{ id: id(1), every: 60_000 }, { id: id(2), every: 60_000 }])
        const [one, two] = yield* Effect.all([slow, Effect.andThen(Deferred.await(isAdded), other)], { concurrency: 2 })
        const claims = yield* store.claim(claiming())

        assert.deepStrictEqual([one, two], [{ added: [id(1)], changed: [] }, { added: [id(2)], changed: [id(1)] }])
        assert.deepStrictEqual(claims.map(({ every, guid }) => [every, guid]), [[60_000, guid], [60_000, undefined]])
      }))

    test("resume those of one reason", (fleet) =>
      Effect.gen(function*() {
        yield* fleet.store.operator.add(companies(3))
        yield* setCompanies(fleet, "state = 'blocked', reason = 'Forbidden', failures = 3, tag_count = 3")
        yield* setCompanies(fleet, "reason = 'DecodeError'", "company_id = 2")

        assert.deepStrictEqual((yield* fleet.store.operator.resumeWhere("blocked", "Forbidden")).toSorted(), [
          id(1),
          id(3)
        ])
        const row = yield* readCompany(fleet, 1)
        assert.deepStrictEqual([row.state, row.reason, row.failures, row.tag_count], ["active", null, 0, 0])
      }))
  })

  describe("the keeper", () => {
    test("removes old minutes and pauses that ended, and nothing else", (fleet) =>
      Effect.gen(function*() {
        const minute = Math.floor((yield* Clock.currentTimeMillis) / 60_000)
        for (const [name, at] of [["old", minute - 1500], ["fresh", minute - 1400]] as const) {
          yield* Effect.orDie(
            fleet.sql.unsafe(`INSERT INTO fleet_minute VALUES (${at}, '${name}', 1, 1, 1, 0)`)
          )
        }
        yield* pause(fleet, "RateLimited", String((minute - 90) * 60_000))
        yield* pause(fleet, "Rejected", "NULL", "0")
        yield* fleet.store.trim
        const minutes = yield* Effect.orDie(fleet.sql.unsafe("SELECT runner FROM fleet_minute"))
        const pauses = yield* Effect.orDie(fleet.sql.unsafe("SELECT reason FROM fleet_pause"))

        assert.deepStrictEqual(minutes, [{ runner: "fresh" }])
        assert.deepStrictEqual(pauses, [{ reason: "Rejected" }])
      }))

    test("brings back what a clock that was ahead has written, and nothing else", (fleet) =>
      Effect.gen(function*() {
        const times = { ...settings, takeover }
        const year = 365 * 86_400_000
        yield* fleet.store.operator.add([...companies(2), { id: id(3), every: 2 * 86_400_000 }])
        for (const claim of yield* fleet.store.claim(claiming())) yield* fleet.store.end("a", ending(claim), settings)
        yield* fleet.store.claim(claiming())
        yield* pause(fleet, "RateLimited", String((yield* Clock.currentTimeMillis) + 900_000))
        yield* pause(fleet, "Rejected", "NULL", String(yield* Clock.currentTimeMillis))
        const all = Effect.forEach(
          ["fleet_company", "fleet_pause", "fleet_solo", "fleet_run"],
          (table) => Effect.orDie(fleet.sql.unsafe(`SELECT * FROM ${table} ORDER BY 1`))
        )
        const before = yield* all
        yield* fleet.store.correctTimes(times)
        assert.deepStrictEqual(yield* all, before)

        yield* setCompanies(
          fleet,
          ["next_at", "last_ok_at", "added_at", "sweep_at", "full_sweep_at"].map((column) =>
            `${column} = ${column} + ${year}`
          ).join(", ")
        )
        yield* setCompanies(fleet, `heartbeat_at = next_at`, "company_id < 3")
        yield* Effect.orDie(
          fleet.sql.unsafe(`UPDATE fleet_pause SET until = until + ${year}, probed_at = ${year * 90}`)
        )
        yield* Effect.orDie(fleet.sql.unsafe(`UPDATE fleet_solo SET runner = 'dead', until = ${year * 90}`))
        yield* Effect.orDie(fleet.sql.unsafe(`UPDATE fleet_run SET ended_at = ended_at + ${year}`))
        const start = yield* Clock.currentTimeMillis
        yield* fleet.store.correctTimes(times)
        const end = yield* latestNow
        for (const company of [1, 2, 3]) {
          const row = yield* readCompany(fleet, company)
          assert.strictEqual(row.heartbeat_at, null)
          for (const column of ["next_at", "last_ok_at", "added_at"]) {
            assert.isAtMost(Number(row[column]), end, column)
            assert.isAtLeast(Number(row[column]), start - 1, column)
          }
          for (const [column, most] of [["sweep_at", 86_400_000], ["full_sweep_at", 30 * 86_400_000]] as const) {
            assert.isAtMost(Number(row[column]), end + most, column)
            assert.isAbove(Number(row[column]), start, column)
          }
        }
        assert.deepStrictEqual(yield* fleet.store.operator.runs(id(1)), [])
        assert.deepStrictEqual((yield* fleet.store.operator.pauses).map(({ reason }) => reason), ["Rejected"])
        assert.isDefined(yield* fleet.store.probe("a", takeover))
        yield* fleet.store.operator.resumeAll
        yield* setCompanies(fleet, "starts = 2, heartbeat_at = NULL, next_at = 0")
        assert.isTrue((yield* fleet.store.drain("a", takeover)).isDraining, "a process that is gone does not drain")
      }))

    test("finds a clock that was set back by less than a day, and leaves what waits after failures", (fleet) =>
      Effect.gen(function*() {
        const hour = 3_600_000
        const times = { ...settings, takeover }
        yield* fleet.store.operator.add(companies(3))
        const [one, two] = yield* fleet.store.claim(claiming("a", { room: 2 }))
        yield* fleet.store.end("a", ending(defined(one)), settings)
        yield* fleet.store.end("a", failing(defined(two), transient), settings)
        const failed = defined(two).company
        yield* setCompanies(fleet, `next_at = next_at + ${hour}`)
        const waiting = (yield* readCompany(fleet, failed)).next_at
        yield* fleet.store.correctTimes(times)
        for (const company of [1, 2, 3]) {
          const { next_at } = yield* readCompany(fleet, company)
          if (company === failed) assert.strictEqual(next_at, waiting, "a backoff may be an hour")
          else assert.isAtMost(Number(next_at), yield* latestNow)
        }

        yield* Effect.orDie(fleet.sql.unsafe(`UPDATE fleet_run SET ended_at = ended_at + ${hour}`))
        yield* fleet.store.correctTimes(times)
        assert.isAtMost(
          Number((yield* readCompany(fleet, failed)).next_at),
          yield* latestNow,
          "a run of the future shows that the clock was set back"
        )
      }))

    test("reads what an operator watches", (fleet) =>
      Effect.gen(function*() {
        yield* fleet.store.operator.add(companies(3))
        yield* fleet.store.claim(claiming("a", { room: 1 }))
        yield* setCompanies(fleet, `starts = 2, added_at = added_at - ${2 * every}`, "company_id = 3")
        const { age, due, late, suspects } = yield* fleet.store.gauges

        assert.deepStrictEqual([due, suspects], [3, 1])
        assert.approximately(late, every, 5000)
        assert.strictEqual(age - late, every)
      }))
  })

  describe("processes", () => {
    const note = { release: "1.0.0", settings: "{}", isStart: false }

    test("are listed with what they hold, until an hour after the last note of one that was killed", (fleet) =>
      Effect.gen(function*() {
        const { store } = fleet
        yield* store.notePresence("a", { ...note, isStart: true })
        yield* store.notePresence("b", { ...note, isStart: true })
        yield* store.operator.add(companies(2))
        yield* store.claim(claiming("b", { room: 1 }))
        yield* Effect.orDie(
          fleet.sql.unsafe(
            "UPDATE fleet_runner SET started_at = started_at - 60000, seen_at = seen_at - 16000 WHERE runner = 'b'"
          )
        )
        yield* store.noteTrouble("a", { kind: "sick", text: "ECONNREFUSED" })
        const [a, b] = yield* store.runners

        assert.containSubset(a, { runner: "a", state: "sick", error: Option.some("ECONNREFUSED"), holds: [] })
        assert.containSubset(b, { runner: "b", state: "silent", release: "1.0.0", holds: [{ companyId: 1 }] })
        assert.isBelow(Duration.toSeconds(b?.holds[0]?.for ?? Infinity), 5)

        // Noted again, it lives, and has started when it did.
        yield* store.notePresence("b", note)
        const [, again] = yield* store.runners
        assert.strictEqual(again?.state, "working")
        assert.deepStrictEqual(again?.startedAt, b?.startedAt)
        yield* store.noteEnd("b")
        yield* Effect.orDie(fleet.sql.unsafe("UPDATE fleet_runner SET seen_at = seen_at - 3601000"))
        yield* store.trim
        assert.deepStrictEqual(yield* store.runners, [])
      }))

    test("say what the intervals need, and the limit of the one that has lived longest", (fleet) =>
      Effect.gen(function*() {
        const { store } = fleet
        yield* store.operator.add([...companies(9, 1000), { id: id(10), every: 4000 }, { id: id(11), every: 1000 }])
        yield* store.operator.pause([id(11)])
        const noted = (name: string, settings: string) => store.notePresence(name, { ...note, isStart: true, settings })
        assert.deepStrictEqual(yield* store.requests, { needed: 9.25, limit: Option.none() })
        yield* noted("a", `{"requestsPerSecond":8}`)
        yield* Effect.orDie(fleet.sql.unsafe("UPDATE fleet_runner SET started_at = started_at - 1000"))
        yield* noted("b", `{"requestsPerSecond":20}`)
        const both = yield* store.requests
        yield* store.notePresence("a", { ...note, isStart: false, settings: `{"requestsPerSecond":null}` })
        const none = yield* store.requests
        yield* store.operator.remove(companies(11).map((company) => company.id))

        assert.deepStrictEqual(both, { needed: 9.25, limit: Option.some(8) })
        assert.match(overloadText(both) ?? "", /need 9\.3 requests a second or more, and the limit is 8$/)
        assert.isUndefined(overloadText({ ...both, limit: Option.some(10) }))
        assert.deepStrictEqual(none.limit, Option.none())
        assert.isUndefined(overloadText(none))
        assert.strictEqual((yield* store.requests).needed, 0)
      }))

    test("take the settings of the other one that has lived longest", (fleet) =>
      Effect.gen(function*() {
        const { store } = fleet
        assert.isUndefined(yield* store.settingsElsewhere("a"))
        for (const [name, every] of [["a", 1], ["b", 2], ["c", 3]] as const) {
          yield* store.notePresence(name, { ...note, isStart: true, settings: `{"sweepEvery":${every}}` })
          yield* Effect.orDie(fleet.sql.unsafe("UPDATE fleet_runner SET started_at = started_at - 1000"))
        }
        const held = (name: string) => Effect.map(store.settingsElsewhere(name), (found) => found?.runner)
        assert.deepStrictEqual(yield* Effect.all(["a", "b", "c"].map(held)), ["b", "a", "a"])
        yield* Effect.orDie(fleet.sql.unsafe("UPDATE fleet_runner SET seen_at = seen_at - 16000 WHERE runner = 'a'"))
        assert.strictEqual(yield* held("c"), "b")
      }))
  })

  test("migrations run once, and a newer schema is accepted", (fleet) =>
    Effect.gen(function*() {
      yield* fleet.store.migrate
      yield* Effect.orDie(fleet.sql.unsafe("INSERT INTO fleet_migrations (migration_id, name) VALUES (99, 'later')"))
      yield* fleet.store.migrate
      yield* fleet.store.verify
      yield* Effect.orDie(fleet.sql.unsafe("DELETE FROM fleet_migrations"))
      const error = yield* Effect.flip(fleet.store.verify)
      assert.strictEqual(error.reason._tag, "NotMigrated")
      assert.include(error.message, "fleet migrate")
      const taken = yield* Effect.flip(fleet.store.migrate)
      assert.strictEqual(taken.reason._tag, "NotMigrated")
      assert.include(
        taken.reason.detail,
        "fleet_company is there already, and not of the fleet: use another file or database"
      )
      yield* Effect.orDie(fleet.sql.unsafe("INSERT INTO fleet_migrations (migration_id, name) VALUES (4, 'removals')"))
      for (const call of [fleet.store.migrate, fleet.store.verify]) {
        const error = yield* Effect.flip(call)
        assert.strictEqual(error.reason._tag, "NotMigrated")
        assert.include(error.reason.detail, "the fleet has schema 4, made before the first publication")
      }
    }))
})
