/** A check of punches in the order of a copy, which keeps few of them, against the check that keeps all. */
import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Cause, DateTime, Effect, Exit, Layer, Option, Schema, Stream } from "effect"
import { BusinessDate, LocationId, TimePunchId, UserId } from "../../src/Ids.ts"
import * as Period from "../../src/payroll/Period.ts"
import * as PeriodCheck from "../../src/payroll/PeriodCheck.ts"
import { PunchCopy, SqlStore } from "../../src/sql/index.ts"
import { SyncStore } from "../../src/sync/index.ts"
import type { TimePunch } from "../../src/TimePunch.ts"
import { punch } from "../support/arbitraryPunch.ts"
import { databases } from "../support/databases.ts"
import { needs } from "../support/needs.ts"
import { noPostgres } from "../support/postgres.ts"
import { batchOf, company } from "../support/storeBatches.ts"

const [east, far] = [LocationId.make(301), LocationId.make(303)]

const zones = new Map([
  [east, DateTime.zoneMakeNamedUnsafe("America/New_York")],
  [far, DateTime.zoneMakeNamedUnsafe("Pacific/Honolulu")]
])

const options = {
  dayRule: Period.zones(zones),
  period: (dayRule: Period.DayRule) => Period.week(dayRule, BusinessDate.make("2026-03-09")),
  maxDuration: "6 hours"
} as const satisfies PeriodCheck.PeriodCheckOptions<Period.MissingZone>

const int = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))

/** About both edges of the week, in quarters of an hour. Few people and a short time, so that many punches overlap. */
const Part = Schema.Struct({
  user: int(1, 3),
  location: Schema.Literals([east, far]),
  isLate: Schema.Boolean,
  start: int(-40, 40),
  length: Schema.NullOr(int(-1, 30)),
  approved: Schema.Boolean,
  deleted: Schema.Literals([true, false, false, false])
})

const Parts = Arbitrary.array(Arbitrary.schema(Part), { minLength: 12, maxLength: 40 })

const [monday, quarter] = [Date.parse("2026-03-09T10:00:00Z"), 15 * 60_000]

const punchOf = ({ approved, deleted, isLate, length, location, start, user }: typeof Part.Type, id: number) => {
  const from = monday + (isLate ? 7 * 96 : 0) * quarter + start * quarter
  return punch({
    id: TimePunchId.make(id),
    userId: UserId.make(user),
    locationId: location,
    clockedIn: DateTime.makeUnsafe(from),
    clockedOut: length === null ? Option.none() : Option.some(DateTime.makeUnsafe(from + length * quarter)),
    approved,
    deleted
  })
}

describe.each(databases())("A sorted check of a copy in $name", ({ client, isHere }) => {
  it.live.prop(
    "finds what a check of all punches finds, at two locations and after punches were moved",
    { parts: Parts, moves: Arbitrary.array(Arbitrary.schema(Part), { maxLength: 12 }), withAsOf: Schema.Boolean },
    ({ moves, parts, withAsOf }, context) => {
      needs(context, isHere, noPostgres)
      const asOf = withAsOf ? DateTime.makeUnsafe(monday + 20 * quarter) : undefined
      return Effect.scoped(Effect.gen(function*() {
        const context = yield* Layer.build(Layer.provideMerge(SqlStore.layer(), client))
        const listed = yield* Effect.gen(function*() {
          const store = yield* SyncStore
          const before = parts.map((part, at) => punchOf(part, at + 1))
          yield* store.commit(batchOf(1, { punches: before }), Option.none())
          // To other people, places and times: every third one.
          const moved = moves.flatMap((part, at) => 3 * at < before.length ? [punchOf(part, 3 * at + 1)] : [])
          const second = batchOf(2, { punches: moved })
          yield* store.commit(second, Option.some(batchOf(1).checkpoint))
          return yield* Stream.runCollect(PunchCopy.list(company, { deleted: "include" }))
        }).pipe(Effect.provideContext(context))
        const run = (isSorted: boolean, punches: ReadonlyArray<TimePunch>) =>
          Stream.run(Stream.fromArray(punches), PeriodCheck.check({ ...options, asOf, isSorted }))
        const issues = yield* run(true, listed)

        assert.deepStrictEqual(issues, yield* run(false, listed.toReversed()))
      }))
    },
    { arbitrary: { runs: 12 }, timeout: 60_000 }
  )
})

describe("A sorted check", () => {
  it.effect("is a defect if a punch arrives behind a later clock-in: it could miss an overlap", () =>
    Effect.gen(function*() {
      const part = { user: 1, location: east, isLate: false, length: 8, approved: true, deleted: false }
      const punches = [2, 1].map((start) => punchOf({ ...part, start }, start))
      const exit = yield* Effect.exit(
        Stream.run(Stream.fromArray(punches), PeriodCheck.check({ ...options, isSorted: true }))
      )

      assert.include(Exit.isFailure(exit) ? Cause.pretty(exit.cause) : "", "punch 1 arrives behind a later clock-in")
    }))
})
