/** Whether time can fall out of every close without a word: a few of the random plans of `npm run test:full`, and cases beside them. */
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Option } from "effect"
import { Close } from "../../src/close/index.ts"
import { CompanyId, type LocationId, TimePunchId } from "../../src/Ids.ts"
import * as Period from "../../src/payroll/Period.ts"
import { NodeSqlite } from "../../src/sql/node/index.ts"
import { itComparesStates } from "../full/stateRuns.ts"
import { shift } from "../support/arbitraryPunch.ts"
import { commit, openHistory } from "../support/histories.ts"
import { isReplay, seedsFrom } from "../support/series.ts"
import { berlin, date, east, far, newYork } from "./terms.ts"

const company = CompanyId.make(2)
const zones = new Map([[east, newYork], [far, berlin]])
const firstDay = date("2026-03-02")

const weekOf = (week: number) => {
  const first = Option.getOrThrow(Period.addDays(firstDay, 7 * week))
  return { first, last: Option.getOrThrow(Period.addDays(first, 6)) }
}

/** Of these plans two at least find each planted defect. */
const plans = [48_050, 48_034, 48_035, 48_020, 48_013, 48_018, 48_059]

itComparesStates("test/close/holes.test.ts", () => isReplay ? seedsFrom(0, 1) : plans, plans.length)

describe("Time between closes", () => {
  const openCopy = Effect.gen(function*() {
    const copy = yield* openHistory(NodeSqlite.layer({ filename: ":memory:" }))
    yield* commit(copy.kept, company, [shift("2026-01-02T14:00:00Z", 8, { id: TimePunchId.make(1), locationId: east })])
    const create = (week: number, dayRule: Close.CloseOptions["dayRule"], ...accept: ReadonlyArray<"gap">) =>
      copy.run(
        Close.create(company, {
          rounding: "halfUp",
          ...weekOf(week),
          dayRule,
          accept: ["stale", "empty", ...accept]
        })
      )
    return { copy, create, holes: copy.run(Close.holes(company)) }
  })

  it.live("beside a gap that was accepted, where a close was a mistake, has dates and is let go of by no earlier close", () =>
    Effect.gen(function*() {
      const { copy, create, holes } = yield* openCopy
      const of = (...ids: ReadonlyArray<LocationId>) => new Map([...zones].filter(([id]) => ids.includes(id)))
      const wrong = yield* create(4, of(far))
      yield* create(6, of(far), "gap")
      yield* create(2, of(far))
      yield* copy.run(Close.voidRevision(company, { revision: wrong.id, note: "not paid", mistake: true }))
      // Its week ends later at one of its locations than the hole begins at the other one.
      const revision = yield* create(3, zones, "gap")

      assert.notProperty(revision.accepted, "gap")
      assert.deepStrictEqual(
        (yield* holes).map(({ dates }) => dates),
        [Option.some(weekOf(4))]
      )
      const refused = yield* Effect.flip(copy.run(Close.next(company)))
      assert.include(refused.message, `no close has ${weekOf(4).first} to ${weekOf(4).last}, and none ever had`)
    }).pipe(Effect.scoped))

  it.live("that every other location let go of is open where a location that is added by another zone sticks out", () =>
    Effect.gen(function*() {
      const { copy, create, holes } = yield* openCopy
      const west = DateTime.zoneMakeNamedUnsafe("America/Los_Angeles")
      yield* create(0, newYork)
      const accepting = yield* create(2, newYork, "gap")
      yield* copy.run(Close.voidRevision(company, { revision: accepting.id, note: "not paid" }))
      const byZones = new Map([[east, newYork], [far, west]])
      const { message } = yield* Effect.flip(create(2, byZones))
      assert.include(message, "2026-03-16T04:00:00.000Z to 2026-03-16T07:00:00.000Z")
      yield* create(2, byZones, "gap")

      assert.deepStrictEqual(yield* holes, [])
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
