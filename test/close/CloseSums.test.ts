import { assert, describe, it } from "@effect/vitest"
import { DateTime, Duration, Effect, Option, Schema } from "effect"
import * as CloseSums from "../../src/close/CloseSums.ts"
import { RoleId, UserId } from "../../src/Ids.ts"
import * as Period from "../../src/payroll/Period.ts"
import { punch } from "../support/arbitraryPunch.ts"
import { berlin, date, east, far, newYork, run, shift, terms } from "./terms.ts"

describe("CloseSums.sum", () => {
  it.effect("has a row for each person, location, department and role", () =>
    Effect.gen(function*() {
      const cook = RoleId.make(22)
      const { rows } = yield* run([
        shift("2026-03-02T14:00:00Z", 8),
        shift("2026-03-03T14:00:00Z", 4),
        shift("2026-03-03T20:00:00Z", 2, { roleId: cook }),
        shift("2026-03-04T14:00:00Z", 0, { clockedOut: Option.none(), roleId: cook }),
        // Sunday evening before the period, and Monday after it, in New York.
        shift("2026-03-02T03:00:00Z", 8),
        shift("2026-03-16T05:00:00Z", 8)
      ], terms())

      assert.deepStrictEqual(
        rows.map(({ incomplete, net, punches, roleId }) => [roleId, punches, incomplete, Duration.toHours(net)]),
        [[punch({}).roleId, 2, 0, 12], [cook, 2, 1, 2]]
      )
    }))

  it.effect("fails for a location without an entry", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(
        run([shift("2026-03-03T14:00:00Z", 8, { locationId: far })], terms({ dayRule: new Map([[east, newYork]]) }))
      )

      assert.strictEqual(error._tag, "MissingZone")
    }))

  it.effect("keeps its days where the rules of the zone change later", () =>
    Effect.gen(function*() {
      const own = terms()
      const renamed = { ...own, clocks: own.clocks.map((dayRule) => ({ ...dayRule, zone: "Pacific/Kiritimati" })) }
      const punches = [shift("2026-03-02T14:00:00Z", 8), shift("2026-03-02T04:30:00Z", 8)]

      assert.deepStrictEqual(yield* run(punches, renamed), yield* run(punches, own))
    }))

  const between = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))
  const Sample = Schema.Struct({
    user: between(1, 3),
    hour: between(-24 * 12, 24 * 24),
    minutes: between(0, 900),
    isFar: Schema.Boolean
  })

  it.effect.prop(
    "adds up to the sums of one period, however a week is cut in two",
    [Schema.Array(Sample), between(0, 12), between(0, 50), between(0, 10)],
    ([samples, days, weekly, daily]) =>
      Effect.gen(function*() {
        const punches = samples.map(({ hour, isFar, minutes, user }) => {
          const start = DateTime.add(DateTime.makeUnsafe("2026-03-02T00:00:00Z"), { hours: hour })
          return shift(DateTime.formatIso(start), minutes / 60, {
            userId: UserId.make(user),
            locationId: isFar ? far : east
          })
        })
        const dayRule = new Map([[east, newYork], [far, berlin]])
        const thresholds = {
          weeklyThreshold: Duration.hours(weekly),
          dailyThreshold: Duration.hours(daily),
          doubleThreshold: Duration.hours(daily + 2)
        }
        const cut = Option.getOrThrow(Period.addDays(date("2026-03-02"), days))
        const after = Option.getOrThrow(Period.addDays(cut, 1))
        const whole = yield* run(punches, terms({ dayRule, ...thresholds }))
        const one = yield* run(punches, terms({ dayRule, ...thresholds, last: cut }))
        const other = yield* run(punches, terms({ dayRule, ...thresholds, first: after }))

        // What the whole has more than the one part is the other part.
        const rest = CloseSums.difference(whole, one)
        assert.isTrue(
          CloseSums.equals(rest, CloseSums.difference(other, CloseSums.empty))
        )
      })
  )
})

describe("CloseSums.difference", () => {
  it.effect("is empty after an edit and its undoing, and has both rows of a changed role", () =>
    Effect.gen(function*() {
      const before = [shift("2026-03-03T14:00:00Z", 8), shift("2026-03-04T14:00:00Z", 8)]
      const moved = before.map((each, at) => at === 0 ? { ...each, roleId: RoleId.make(99) } : each)
      const [one, other] = [yield* run(before, terms()), yield* run(moved, terms())]

      assert.isTrue(CloseSums.equals(one, yield* run(before, terms())))
      assert.deepStrictEqual(
        CloseSums.difference(other, one).rows.map((
          { net, punches, roleId }
        ) => [roleId, punches, Duration.toHours(net)]),
        [[punch({}).roleId, -1, -8], [99, 1, 8]]
      )
    }))
})
