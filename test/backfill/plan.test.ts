import { assert, describe, it } from "@effect/vitest"
import { DateTime, Option } from "effect"
import { makePlan } from "../../src/backfill/plan.ts"
import { Cursor, type TimePunch } from "../../src/index.ts"
import type { Segment } from "../../src/Segment.ts"
import { type Prng, prng } from "../../src/testing/base/prng.ts"
import { type Density, momentsOf } from "../support/densities.ts"
import {
  type Arrange,
  byId,
  byTime,
  byTimeUntil,
  capacityOf,
  play,
  playInStep,
  rowAt,
  type Run,
  type Scene,
  segment,
  within
} from "./planSimulation.ts"

const start = Date.UTC(2026, 2, 1)

/** Instants of every density: spread, in rushes, all the same, on whole seconds and a millisecond beside them. */
const instants = (chance: Prng, count: number): ReadonlyArray<number> => {
  const span = chance.pick([10, 3_000, 90_000, 86_400_000, 400 * 86_400_000])
  const rushes = Array.from({ length: chance.between(1, 5) }, () => chance.between(0, span))
  const kind = chance.pick(["spread", "rushes", "one", "growing", "mixed"] as const)
  return Array.from({ length: count }, () => {
    const [rush = 0] = [rushes[chance.between(0, rushes.length - 1)]]
    const at = {
      spread: () => chance.between(0, span),
      rushes: () => rush + chance.between(0, 20),
      one: () => rush,
      growing: () => Math.floor((1 - chance.next() ** 4) * span),
      mixed: () => chance.chance(0.5) ? rush : chance.between(0, span)
    }[kind]()
    return start + chance.pick([at, at, at - at % 1000, at - at % 1000 + 1, at - at % 1000 + 999])
  })
}

type Service = "ordered" | "id" | "nearly" | "breaks"

const sceneOf = (seed: number, services: readonly [Service, ...ReadonlyArray<Service>]) => {
  const chance = prng(seed)
  const service = chance.pick(services)
  const times = instants(chance, chance.pick([0, 1, 5, 60, 200, 400]))
  // Ids nearly in the order of time, as of punches that are recorded when they happen.
  const written = service === "nearly" ? times.toSorted((a, b) => a + chance.between(-50, 50) - b) : times
  const edge = () => (times[chance.between(0, times.length - 1)] ?? start) + chance.pick([0, 0, 0, -1, 1, -1000, 1000])
  const [gte = start, end = start] = [edge(), edge()].toSorted((a, b) => a - b)
  const scene: Scene = {
    rows: written.map((at, index) => rowAt(at, index + 1)),
    range: segment(gte, end, chance.chance(0.7)),
    arrange: { ordered: byTime, id: byId, nearly: byId, breaks: byTimeUntil(edge()) }[service],
    ordered: service === "ordered" || service === "breaks"
  }
  const run = (): Run => ({
    workers: chance.between(1, 16),
    // A page of one row shows no order.
    pageSize: service === "breaks" ? chance.pick([7, 20]) : chance.pick([1, 2, 7, 20]),
    order: chance.pick(["asCompleted", "byTime"]),
    failsAfter: Infinity,
    appetite: chance.pick([0.05, 0.5, 1])
  })
  return { chance, scene, run, service }
}

const idsOf = (rows: ReadonlyArray<TimePunch>) => rows.map(({ id }) => Number(id)).toSorted((a, b) => a - b)

const millisOf = (rows: ReadonlyArray<TimePunch>) => rows.map(({ clockedIn }) => clockedIn.epochMilliseconds)

/** A mutant is noticed by the first of many plans; the mutation tester draws a tenth of them. */
const share = process.env["MUTATION_GROUP"] === undefined ? 1 : 10

const seeds = (count: number) => Array.from({ length: Math.ceil(count / share) }, (_, index) => index + 1)

const everyService = ["ordered", "ordered", "id", "nearly", "breaks"] as const

describe("the plan of a backfill", () => {
  it("reads every row once, whatever the density, the order of the service and the order of completion", () => {
    for (const seed of seeds(2000)) {
      const { chance, run, scene } = sceneOf(seed, everyService)
      const played = play(chance, scene, [scene.range], run())

      assert.deepStrictEqual(idsOf(played.emitted), idsOf(within(scene.range, scene.rows)), `seed ${seed}`)
      assert.isEmpty(played.unfinished)
    }
  })

  it("reads every row once over runs that fail, each resumed with other workers and another order", () => {
    let [resumed, resumedUnordered] = [0, 0]
    for (const seed of seeds(1500)) {
      const { chance, run, scene, service } = sceneOf(seed, everyService)
      const emitted: Array<TimePunch> = []
      let segments: ReadonlyArray<Segment> = [scene.range]
      let resumedBegun = false
      for (let round = 0; segments.length > 0; round++) {
        const failsAfter = round < 6 ? chance.between(0, 20) : Infinity
        const played = play(chance, scene, segments, { ...run(), failsAfter })
        emitted.push(...played.emitted)
        segments = played.unfinished
        resumedBegun ||= segments.some(({ cursor }) => Option.isSome(cursor))
        if (round === 0 && segments.length > 0) resumed++
      }
      if (service === "breaks" && resumedBegun) resumedUnordered++

      assert.deepStrictEqual(idsOf(emitted), idsOf(within(scene.range, scene.rows)), `seed ${seed}`)
    }
    assert.isAtLeast(resumed, 500 / share)
    assert.isAtLeast(resumedUnordered, 20 / share)
  })

  it("emits windows in the order of time, up to a failure too", () => {
    for (const seed of seeds(500)) {
      const { chance, run, scene } = sceneOf(seed, ["ordered"])
      const failsAfter = chance.pick([Infinity, chance.between(0, 40)])
      const { emitted } = play(chance, scene, [scene.range], { ...run(), order: "byTime", failsAfter })

      assert.deepStrictEqual(millisOf(emitted), millisOf(emitted).toSorted((a, b) => a - b), `seed ${seed}`)
    }
  })

  it("has at most one request in flight for each worker, and holds no more pages than its capacity", () => {
    let full = 0
    for (const seed of seeds(500)) {
      const { chance, run, scene } = sceneOf(seed, everyService)
      const drawn = { ...run(), appetite: 0.02 }
      const { mostInFlight, mostHeld } = play(chance, scene, [scene.range], drawn)
      if (mostHeld >= capacityOf(drawn)) full++

      assert.isAtMost(mostInFlight, drawn.workers, `seed ${seed}`)
      // One page more for the first window, and one if rows turn out to be unordered.
      assert.isAtMost(mostHeld, capacityOf(drawn) + 2, `seed ${seed}`)
    }
    assert.isAtLeast(full, 50 / share)
  })

  it("gives a row on a cut, and each row beside it, one owner", () => {
    const times = Array.from({ length: 240 }, (_, index) => start + index * 1000).flatMap((
      at
    ) => [at - 1, at, at, at + 1])
    for (const seed of seeds(60)) {
      const chance = prng(seed)
      const rows = times.map((at, index) => rowAt(at, index))
      const range = segment(start, start + 200_000, chance.chance(0.5))
      const scene: Scene = { rows, range, ordered: chance.chance(0.7), arrange: byTime }
      const run: Run = {
        workers: chance.between(2, 16),
        pageSize: chance.between(1, 9),
        order: chance.pick(["asCompleted", "byTime"]),
        failsAfter: Infinity,
        appetite: 0.5
      }

      assert.deepStrictEqual(
        idsOf(play(chance, scene, [range], run).emitted),
        idsOf(within(range, rows)),
        `seed ${seed}`
      )
    }
  })

  const plainly: Run = { workers: 1, pageSize: 2, order: "asCompleted", failsAfter: Infinity, appetite: 1 }
  const inSeconds = (...times: ReadonlyArray<number>) => times.map((at, index) => rowAt(start + at * 1000, index + 1))
  const sceneBy = (arrange: Arrange, end: number, rows: ReadonlyArray<TimePunch>): Scene => ({
    rows,
    arrange,
    range: segment(start, start + end * 1000, false),
    ordered: true
  })

  it("reads an unordered query to its end, in the resumed run too", () => {
    const scene = sceneBy(byId, 60, inSeconds(40, 5, 50, 55, 7))
    const first = play(prng(1), scene, [scene.range], { ...plainly, failsAfter: 1 })
    const [whole] = first.unfinished
    const cut = { ...whole, until: DateTime.makeUnsafe(start + 30_000), queriedUntil: scene.range.until }
    const second = play(prng(1), scene, [{ ...scene.range, ...cut }], plainly)

    assert.isTrue(whole?.unordered)
    assert.deepStrictEqual(idsOf(second.emitted), [5])
  })

  const pageOf = (rows: ReadonlyArray<TimePunch>, next: Option.Option<Cursor>) => {
    const none = Option.none()
    return { rows, cursor: { current: none, prev: none, next, count: none } }
  }

  /** Two workers share a minute. A page of the early half is in flight when it is cut, and reaches past the cut. */
  const stopEarly = ({ range, rows }: Scene) => {
    const plan = makePlan([range], { ...plainly, workers: 2, capacity: 2, ordered: true })
    const [early, late] = [plan.next(0, false), plan.next(0, false)]
    if (early === undefined || late === undefined) throw new Error("the minute was not shared")
    const cursor = Option.some(Cursor.make(`${start}..${start + 60_000}@2`))
    const emitted = plan.complete(early, pageOf(rows.slice(0, 2), cursor))
    const stopped: Segment = { ...segment(start, start + 30_000, false), cursor, queriedUntil: range.until }
    return { plan, late, emitted, stopped }
  }

  it("lists a window that stopped early as unfinished, until nothing is unread", () => {
    const scene = sceneBy(byTime, 60, inSeconds(10, 45, 50, 55))
    const { late, plan, stopped } = stopEarly(scene)
    const whileActive = plan.unfinished()
    const cursor = Option.some(Cursor.make("late"))
    plan.complete(late, pageOf(scene.rows.slice(1, 3), cursor))
    const whileOpen = plan.unfinished()
    const last = plan.next(0, false)
    plan.complete(late, pageOf(scene.rows.slice(3), Option.none()))

    const unread = segment(start + 30_000, start + 60_000, false)
    assert.deepStrictEqual(whileActive, [stopped, unread])
    assert.deepStrictEqual(whileOpen, [stopped, { ...unread, cursor }])
    assert.strictEqual(last, late)
    assert.isTrue(plan.isDone())
    assert.isEmpty(plan.unfinished())
  })

  it("reads every row once if the resumed run finds rows unordered after a window stopped early", () => {
    // The early half stops again before the late one shows that rows are not ordered.
    const scene = sceneBy(byId, 60, inSeconds(10, 45, 50, 55, 35, 25))
    const { emitted, plan } = stopEarly(scene)
    const resumed = play(prng(1), scene, plan.unfinished(), plainly)

    assert.deepStrictEqual(idsOf(emitted), [1])
    assert.deepStrictEqual(idsOf(resumed.emitted), [2, 3, 4, 5, 6])
    assert.isEmpty(resumed.unfinished)
  })

  it("reads on after a single row at its end, but not through a rush that a neighbour owns", () => {
    const early = sceneBy(byId, 10, inSeconds(10, 10.5, 11, 3, 4))
    const rush = sceneBy(byTime, 10, inSeconds(3, 4, 5, ...Array.from({ length: 500 }, () => 10)))

    assert.deepStrictEqual(idsOf(play(prng(1), early, [early.range], plainly).emitted), [4, 5])
    assert.strictEqual(playInStep(rush, plainly).requests, 3)
  })

  it("owns no row before its start if the service ignores the range", () => {
    for (const seed of seeds(100)) {
      const { chance, run, scene } = sceneOf(seed, ["ordered"])
      const played = play(chance, { ...scene, unfiltered: true }, [scene.range], run())

      assert.deepStrictEqual(idsOf(played.emitted), idsOf(within(scene.range, scene.rows)), `seed ${seed}`)
    }
  })

  it("does not shorten its windows by rows that others own, if the service ignores both range and order", () => {
    const day = 86_400_000
    const rows = Array.from({ length: 60 }, (_, index) => rowAt(start + index * 37 % 60 * day, index))
    const range = segment(start, start + 100 * day, false)
    const scene: Scene = { rows, range, arrange: byId, ordered: false, unfiltered: true }
    const { emitted, pages } = play(prng(1), scene, [range], { ...plainly, workers: 4, pageSize: 20 })

    assert.deepStrictEqual(idsOf(emitted), idsOf(rows))
    // Each window takes the three pages of all rows: 32 windows of equal length, and some cut a little shorter.
    assert.isBelow(pages, 200)
  })

  it("has room for the first window with a full buffer, also after it was reopened", () => {
    for (const seed of seeds(300)) {
      const chance = prng(seed)
      const times = instants(chance, 600)
      const rows = times.map((at, index) => rowAt(at, index))
      const range = segment(Math.min(...times), Math.max(...times), true)
      const turn = times[chance.between(0, times.length - 1)] ?? start
      const scene: Scene = { rows, range, ordered: true, arrange: byTimeUntil(turn) }
      const run: Run = { ...plainly, workers: chance.between(2, 4), pageSize: 7, order: "byTime", appetite: 0.5 }

      assert.deepStrictEqual(idsOf(play(chance, scene, [range], run).emitted), idsOf(rows), `seed ${seed}`)
    }
  })
})

/** A hundred thousand punches in pages of two hundred, made smaller by five. */
const large = (density: Density): Scene => {
  const moment = momentsOf(prng(10), start, 35, density)
  const rows = byTime(Array.from({ length: 20_000 }, (_, index) => rowAt(moment(-300), index)))
  const [first = start, last = start] = [millisOf(rows).at(0), millisOf(rows).at(-1)]
  return { rows, range: segment(first, last, true), ordered: true, arrange: (found) => found }
}

// In the order of time, a rush of twenty pages on one instant blocks the workers once the buffer is full.
describe.each(
  [
    ["uniform", 6, 11],
    ["dayAndNight", 6, 11],
    ["skewed", 6, 10],
    ["bursts", 4, 5]
  ] as const
)("the plan of 500 pages of density %s", (density, eight, sixteen) => {
  const scene = large(density)
  const run: Run = { workers: 1, pageSize: 40, order: "asCompleted", failsAfter: Infinity, appetite: 1 }

  it.each([["asCompleted", 8, 6], ["asCompleted", 16, 11], ["byTime", 8, eight], ["byTime", 16, sixteen]] as const)(
    "is read %s by %d workers in a fraction of the time, with at most a quarter more requests",
    (order, workers, times) => {
      const { requests, rounds } = playInStep(scene, { ...run, order, workers })

      assert.isAtLeast(500 / rounds, times)
      assert.isAtMost(requests, 500 * 1.25)
    }
  )

  it("is one cursor chain for one worker", () => {
    assert.deepStrictEqual(playInStep(scene, run), { rounds: 500, requests: 500 })
  })
})
