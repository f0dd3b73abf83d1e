/** Whether time can fall out of every close without a word: random plans of closes and voids, told instant by instant. */
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Option } from "effect"
import { Close } from "../../src/close/index.ts"
import { CompanyId, type LocationId, TimePunchId } from "../../src/Ids.ts"
import * as Period from "../../src/payroll/Period.ts"
import { NodeSqlite } from "../../src/sql/node/index.ts"
import { type Prng, prng } from "../../src/testing/base/prng.ts"
import { shift } from "../support/arbitraryPunch.ts"
import { commit, type OpenHistory, openHistory } from "../support/histories.ts"
import { seedsFrom, within } from "../support/series.ts"
import { berlin, date, east, far, newYork } from "./terms.ts"

const company = CompanyId.make(2)
const zones = new Map([[east, newYork], [far, berlin]])
const firstDay = date("2026-03-02")

const weekOf = (week: number) => {
  const first = Option.getOrThrow(Period.addDays(firstDay, 7 * week))
  return { first, last: Option.getOrThrow(Period.addDays(first, 6)) }
}

/** A week at a location: `301 2` is the third week at location 301. */
const cellOf = (locationId: LocationId, week: number) => `${locationId} ${week}`

/** The first instant, one in the middle, and the last one of a week at a location. */
const instantsOf = (locationId: LocationId, week: number): ReadonlyArray<number> => {
  const { first, last } = weekOf(week)
  const { gte, lt } = Period.localDays(zones.get(locationId) ?? assert.fail("no zone"), first, last)
  return [gte.epochMilliseconds, gte.epochMilliseconds + 3.6e8, lt.epochMilliseconds - 1]
}

/** What a plan has done to weeks of locations, in its order, and the closes that were mistakes. */
interface Model {
  readonly events: Array<
    { readonly kind: "close" | "accept" | "void"; readonly close: number; readonly cells: ReadonlyArray<string> }
  >
  readonly mistakes: Set<number>
  readonly closes: Map<number, ReadonlyArray<string>>
}

const weeks = 14
const allWeeks = Array.from({ length: weeks }, (_, week) => week)

const ownersOf = ({ closes }: Model, cell: string) =>
  [...closes.values()].filter((cells) => cells.includes(cell)).length

/**
 * The weeks that are open at a location: each as the last event left it, without what a mistake wrote; without an event, if a close
 * lies before it and one behind it.
 */
const openOf = (model: Model, locationId: LocationId): ReadonlyArray<number> => {
  const states = new Map<string, string>()
  for (const { cells, close, kind } of model.events) {
    if (!model.mistakes.has(close)) { for (const cell of cells) states.set(cell, kind) }
  }
  const has = (week: number) => ownersOf(model, cellOf(locationId, week)) > 0
  const [first, last] = [allWeeks.findIndex(has), allWeeks.findLastIndex(has)]
  return allWeeks.filter((week) => {
    const state = states.get(cellOf(locationId, week))
    return !has(week) && (state === "void" || (state !== "accept" && first < week && week < last))
  })
}

const holesOf = ({ run }: OpenHistory) => run(Close.holes(company))

/** Closes, and records in the model what the close has, and what it let through: the time before it that no close has. */
const close = Effect.fnUntraced(function*(
  copy: OpenHistory,
  model: Model,
  options: Pick<Close.CloseOptions, "dayRule" | "first" | "last">,
  acceptsGap: boolean
) {
  const revision = yield* copy.run(
    Close.create(company, {
      rounding: "halfUp",
      first: options.first,
      last: options.last,
      dayRule: options.dayRule,
      calendar: { kind: "days", days: 7, anchor: firstDay },
      accept: ["stale", "empty", ...acceptsGap ? ["gap"] as const : []]
    })
  )
  const own = [...zones.keys()].filter((id) => !(options.dayRule instanceof Map) || options.dayRule.has(id))
  const ofPeriod = allWeeks.filter((week) => options.first <= weekOf(week).first && weekOf(week).last <= options.last)
  const cells = own.flatMap((locationId) => ofPeriod.map((week) => cellOf(locationId, week)))
  model.closes.set(revision.close, cells)
  model.events.push({ kind: "close", close: revision.close, cells })
  // A hole is let go whole, as it is named.
  const accepted = [...zones.keys()].flatMap((locationId) => {
    const open = openOf(model, locationId)
    const beginOf = (week: number): number => open.includes(week - 1) ? beginOf(week - 1) : week
    return open.filter((week) => weekOf(beginOf(week)).first <= options.last).map((week) => cellOf(locationId, week))
  })
  assert.strictEqual(revision.accepted["gap"] !== undefined, accepted.length > 0, `gaps of ${revision.id}`)
  if (accepted.length > 0) model.events.push({ kind: "accept", close: revision.close, cells: accepted })
})

/** Voids a random close, or lets go of it as a mistake. */
const voidOne = Effect.fnUntraced(function*(copy: OpenHistory, model: Model, random: Prng) {
  const active = [...model.closes.keys()]
  const close = active[random.between(0, active.length - 1)]
  if (close === undefined) return
  const mistake = random.chance(0.3)
  yield* copy.run(Close.voidRevision(company, { revision: `${close}.1`, note: "not paid", mistake }))
  if (mistake) model.mistakes.add(close)
  else model.events.push({ kind: "void", close, cells: model.closes.get(close) ?? [] })
  model.closes.delete(close)
})

const step = Effect.fnUntraced(function*(copy: OpenHistory, model: Model, random: Prng) {
  const kind = random.between(0, 9)
  if (kind < 3) return yield* voidOne(copy, model, random)
  const acceptsGap = random.chance(0.3)
  if (kind < 5 && model.closes.size > 0) {
    const next = yield* copy.run(Close.next(company, { acceptGaps: acceptsGap }))
    return yield* close(copy, model, next.options, acceptsGap)
  }
  const week = weekOf(random.between(0, 6))
  const locationIds = random.pick([[east, far], [east, far], [east], [far]] as const)
  const dayRule = new Map(locationIds.map((id) => [id, zones.get(id) ?? newYork]))
  yield* close(copy, model, { ...week, dayRule }, acceptsGap)
})

const assertTold = Effect.fnUntraced(function*(copy: OpenHistory, model: Model, plan: string) {
  const holes = yield* holesOf(copy)
  for (const locationId of zones.keys()) {
    const open = openOf(model, locationId)
    for (const week of allWeeks) {
      const cell = cellOf(locationId, week)
      assert.isAtMost(ownersOf(model, cell), 1, `${plan}: ${cell}`)
      for (const at of instantsOf(locationId, week)) {
        const isNamed = holes.some((hole) =>
          Option.contains(hole.locationId, locationId) &&
          hole.interval.gte.epochMilliseconds <= at && at < hole.interval.lt.epochMilliseconds
        )
        assert.strictEqual(isNamed, open.includes(week), `${plan}: ${cell}`)
      }
    }
  }
  return holes.length
})

/** Closes what is next until no hole is left: what only some locations lack is no period, so it is let through. */
const closeAllNext = Effect.fnUntraced(function*(copy: OpenHistory, model: Model) {
  for (let rounds = 1; rounds < 20; rounds++) {
    // Days that no close ever had have no terms, so they are let through.
    const found = yield* Effect.option(copy.run(Close.next(company, {})))
    const isKnown = Option.isSome(found)
    const next = isKnown ? found.value : yield* copy.run(Close.next(company, { acceptGaps: true }))
    const written = yield* close(copy, model, next.options, !isKnown).pipe(
      Effect.as(true),
      Effect.catchTag("NotReady", ({ found }) => {
        assert.deepStrictEqual(Object.keys(found), ["gap"])
        return Effect.as(close(copy, model, next.options, true), false)
      })
    )
    // What lies behind the newest close is closed after the days before it, which none ever had.
    if ((yield* holesOf(copy)).length === 0) return { rounds, isWhole: written }
  }
  return assert.fail("close after close, and still a hole")
})

describe("Time between closes", () => {
  it.live(
    "is in one close, in a hole that is named, or accepted, and is closed by next, in random plans",
    () =>
      Effect.gen(function*() {
        let [written, refused, named, again] = [0, 0, 0, 0]
        const endings = new Set<boolean>()
        let plans = 0
        for (const seed of within("30 seconds", seedsFrom(0, 24))) {
          plans++
          yield* Effect.gen(function*() {
            const copy = yield* openHistory(NodeSqlite.layer({ filename: ":memory:" }))
            yield* commit(copy.kept, company, [
              shift("2026-01-02T14:00:00Z", 8, { id: TimePunchId.make(1), locationId: east })
            ])
            const [random, model] = [
              prng(seed),
              { closes: new Map(), events: [], mistakes: new Set() } satisfies Model
            ]
            for (let index = 0; index < 16; index++) {
              const isWritten = yield* step(copy, model, random).pipe(
                Effect.as(true),
                Effect.catchTags({
                  NotReady: () => Effect.succeed(false),
                  UnknownClose: () => Effect.succeed(false),
                  PeriodClosed: () => Effect.succeed(false)
                })
              )
              if (isWritten) written++
              else refused++
              named += yield* assertTold(copy, model, `plan ${seed}, step ${index}`)
            }
            for (let count = 0; count < 2; count++) yield* voidOne(copy, model, random)
            if (model.closes.size === 0) return
            const { isWhole, rounds } = yield* closeAllNext(copy, model)
            endings.add(isWhole)
            again += rounds
            assert.strictEqual(yield* assertTold(copy, model, `plan ${seed}, at its end`), 0)
          }).pipe(Effect.scoped)
        }
        // The plans do what they are for: a busy machine runs fewer of them.
        if (plans < 24) return
        assert.isAbove(Math.min(written, refused, named, again), 15)
        assert.isNotEmpty([...endings])
      }),
    60_000
  )

  it.live("beside a gap that was accepted, where a close was a mistake, has dates and is let go of by no earlier close", () =>
    Effect.gen(function*() {
      const copy = yield* openHistory(NodeSqlite.layer({ filename: ":memory:" }))
      yield* commit(copy.kept, company, [
        shift("2026-01-02T14:00:00Z", 8, { id: TimePunchId.make(1), locationId: east })
      ])
      const create = (week: number, ids: ReadonlyArray<LocationId>, ...accept: ReadonlyArray<"gap">) =>
        copy.run(
          Close.create(company, {
            rounding: "halfUp",
            ...weekOf(week),
            dayRule: new Map(ids.map((id) => [id, zones.get(id) ?? newYork])),
            accept: ["stale", "empty", ...accept]
          })
        )
      const wrong = yield* create(4, [far])
      yield* create(6, [far], "gap")
      yield* create(2, [far])
      yield* copy.run(Close.voidRevision(company, { revision: wrong.id, note: "not paid", mistake: true }))
      // Its week ends later at one of its locations than the hole begins at the other one.
      const revision = yield* create(3, [east, far], "gap")

      assert.notProperty(revision.accepted, "gap")
      assert.deepStrictEqual(
        (yield* holesOf(copy)).map(({ dates }) => dates),
        [Option.some(weekOf(4))]
      )
      const refused = yield* Effect.flip(copy.run(Close.next(company)))
      assert.include(refused.message, `no close has ${weekOf(4).first} to ${weekOf(4).last}, and none ever had`)
    }).pipe(Effect.scoped))

  it.live("that every other location let go of is open where a location that is added by another zone sticks out", () =>
    Effect.gen(function*() {
      const copy = yield* openHistory(NodeSqlite.layer({ filename: ":memory:" }))
      yield* commit(copy.kept, company, [
        shift("2026-01-02T14:00:00Z", 8, { id: TimePunchId.make(1), locationId: east })
      ])
      const create = (week: number, dayRule: Close.CloseOptions["dayRule"], ...accept: ReadonlyArray<"gap">) =>
        copy.run(
          Close.create(company, {
            rounding: "halfUp",
            ...weekOf(week),
            dayRule,
            accept: ["stale", "empty", ...accept]
          })
        )
      const west = DateTime.zoneMakeNamedUnsafe("America/Los_Angeles")
      yield* create(0, newYork)
      const accepting = yield* create(2, newYork, "gap")
      yield* copy.run(Close.voidRevision(company, { revision: accepting.id, note: "not paid" }))
      const byZones = new Map([[east, newYork], [far, west]])
      const { message } = yield* Effect.flip(create(2, byZones))
      assert.include(message, "2026-03-16T04:00:00.000Z to 2026-03-16T07:00:00.000Z")
      yield* create(2, byZones, "gap")

      assert.deepStrictEqual(yield* holesOf(copy), [])
      // In the week that is let go of, in the hours before the week by the other zone, and in the close.
      yield* commit(
        copy.kept,
        company,
        ["2026-03-12T14:00:00Z", "2026-03-16T05:00:00Z", "2026-03-16T07:00:00Z"].map((clockedIn, at) =>
          shift(clockedIn, 1, { id: TimePunchId.make(11 + at), locationId: far })
        )
      )
      const late = yield* copy.run(Close.lateTime(company))
      assert.strictEqual(late.reduce((sum, { punches }) => sum + punches, 0), 2)
    }).pipe(Effect.scoped))
})
