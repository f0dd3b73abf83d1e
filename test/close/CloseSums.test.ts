import { assert, describe, it } from "@effect/vitest"
import { DateTime, Duration, Effect, Option, Schema, Stream } from "effect"
import * as CloseSums from "../../src/close/CloseSums.ts"
import * as CloseTerms from "../../src/close/CloseTerms.ts"
import { Cents, DepartmentId, RoleId, UserId } from "../../src/Ids.ts"
import * as Labor from "../../src/payroll/Labor.ts"
import * as Period from "../../src/payroll/Period.ts"
import { punch } from "../support/arbitraryPunch.ts"
import { berlin, date, east, far, newYork, run, shift, terms } from "./terms.ts"

/** The hours of each person over the thresholds. */
const overs = (sums: CloseSums.CloseSums) =>
  CloseSums.byPerson(sums).map(({ double, over, userId }) => [
    userId,
    hoursOf(over),
    hoursOf(double)
  ])

const hoursOf = Option.match({ onNone: () => null, onSome: Duration.toHours })

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

  it.effect("counts the excess of a cut week on the days on which the sum passes the threshold", () =>
    Effect.gen(function*() {
      // 54 hours from Monday, 9 March to Sunday, 15 March; the half month ends on the 15th, another one may end in the week.
      const week = ["09", "10", "11", "12", "13", "14"].map((day) => shift(`2026-03-${day}T13:00:00Z`, 9))
      const of = (first: string, last: string) =>
        Effect.map(
          run(week, terms({ first: date(first), last: date(last), weeklyThreshold: Duration.hours(40) })),
          overs
        )

      assert.deepStrictEqual(yield* of("2026-03-09", "2026-03-15"), [[7, 14, null]])
      assert.deepStrictEqual(yield* of("2026-03-01", "2026-03-12"), [[7, 0, null]])
      assert.deepStrictEqual(yield* of("2026-03-13", "2026-03-31"), [[7, 14, null]])
      assert.deepStrictEqual(yield* of("2026-03-14", "2026-03-31"), [[7, 9, null]])
    }))

  it.effect("counts the hours over a threshold in the job and at the wage in which they were worked, in the order of time", () =>
    Effect.gen(function*() {
      const [cook, host] = [RoleId.make(11), RoleId.make(12)]
      const wage = (cents: number) => ({ hourlyWage: Cents.make(cents) })
      const bar = { departmentId: Option.some(DepartmentId.make(21)) }
      const none = { departmentId: Option.none() }
      const { rows } = yield* run(
        [
          // Monday: 6 hours as a cook, then 7 as a host, of which 5 are over 8, and 1 of them over 12.
          shift("2026-03-02T21:00:00Z", 7, { roleId: host, ...bar, ...wage(1200) }),
          shift("2026-03-02T14:00:00Z", 6, { roleId: cook, ...none, ...wage(1500) }),
          // 8 on Tuesday to Friday: with the 8 of Monday 40.
          ...["03", "04", "05", "06"].map((day) =>
            shift(`2026-03-${day}T14:00:00Z`, 8, { roleId: cook, ...none, ...wage(1500) })
          ),
          // 9 on Saturday at another wage, all of them over 40 or 8.
          shift("2026-03-07T14:00:00Z", 9, { roleId: cook, ...none, ...wage(1600) }),
          shift("2026-03-08T14:00:00Z", 0, { roleId: host, ...bar, ...wage(1200), clockedOut: Option.none() })
        ],
        terms({
          weeklyThreshold: Duration.hours(40),
          dailyThreshold: Duration.hours(8),
          doubleThreshold: Duration.hours(12)
        })
      )

      assert.deepStrictEqual(
        rows.map(({ double, hourlyWage, incomplete, net, over, roleId }) => [
          roleId,
          hourlyWage,
          incomplete,
          Duration.toHours(net),
          ...[over, double].map((each) => Option.getOrNull(Option.map(each, Duration.toHours)))
        ]),
        [[cook, 1500, 0, 38, 0, 0], [cook, 1600, 0, 9, 9, 0], [host, 1200, 1, 7, 4, 1]]
      )
      assert.deepStrictEqual(overs({ rows }), [[7, 13, 1]])
    }))

  it.effect("counts dates in their order, also where the days of one location begin before those of another", () =>
    Effect.gen(function*() {
      const tokyo = DateTime.zoneMakeNamedUnsafe("Asia/Tokyo")
      const dayRule = new Map([[east, newYork], [far, tokyo]])
      const { rows } = yield* run(
        [
          // Tuesday morning in Tokyo begins before Monday evening in New York.
          shift("2026-03-02T22:00:00Z", 8, { locationId: far }),
          shift("2026-03-02T23:00:00Z", 8)
        ],
        terms({ dayRule, weeklyThreshold: Duration.hours(8) })
      )

      assert.deepStrictEqual(rows.map(({ locationId, over }) => [locationId, Option.map(over, Duration.toHours)]), [
        [east, Option.some(0)],
        [far, Option.some(8)]
      ])
    }))

  it.effect("counts the part of a day that is in an earlier close before its own", () =>
    Effect.gen(function*() {
      const dayRule = new Map([[east, newYork], [far, newYork]])
      const own = terms({ dayRule, dailyThreshold: Duration.hours(8) })
      const noon = DateTime.makeUnsafe("2026-03-02T17:00:00Z")
      const [first, ...others] = own.locations
      if (first === undefined) throw new Error("two locations")
      const moved = { ...own, locations: [{ ...first, begins: Option.some(noon) }, ...others] }
      const { rows } = yield* run(
        // Six hours that the earlier close has, and six that began before them.
        [shift("2026-03-02T12:00:00Z", 6), shift("2026-03-02T10:00:00Z", 6, { locationId: far })],
        moved
      )

      assert.deepStrictEqual(rows.map(({ locationId, over }) => [locationId, Option.map(over, Duration.toHours)]), [
        [far, Option.some(4)]
      ])
    }))

  it.effect("fails for a location without an entry", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(
        run([shift("2026-03-03T14:00:00Z", 8, { locationId: far })], terms({ dayRule: new Map([[east, newYork]]) }))
      )

      assert.strictEqual(error._tag, "MissingDayRule")
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

  it.effect.prop(
    "counts the hours over a threshold of whole weeks as hoursOverThreshold does",
    [Schema.Array(Sample), between(0, 50), between(0, 10)],
    ([samples, weekly, daily]) =>
      Effect.gen(function*() {
        const dayRule = new Map([[east, newYork], [far, berlin]])
        const thresholds = {
          weeklyThreshold: Duration.hours(weekly),
          dailyThreshold: Duration.hours(daily),
          doubleThreshold: Duration.hours(daily + 2)
        }
        const punches = samples.map(({ hour, isFar, minutes, user }) => {
          const start = DateTime.add(DateTime.makeUnsafe("2026-03-02T00:00:00Z"), { hours: hour })
          return shift(DateTime.formatIso(start), minutes / 60, {
            userId: UserId.make(user),
            locationId: isFar ? far : east
          })
        })
        const sums = yield* run(punches, terms({ dayRule, ...thresholds }))
        const inside = punches.filter((each) => {
          const span = CloseTerms.getInterval(terms({ dayRule }), each.locationId)
          const at = each.clockedIn.epochMilliseconds
          return span !== undefined && span.from <= at && at < span.to
        })
        const people = yield* Stream.run(
          Stream.fromArray(inside),
          Labor.hoursOverThreshold({ dayRule: Period.dayRules(dayRule), ...thresholds })
        )

        assert.deepStrictEqual(
          overs(sums),
          [...people].map(([userId, { double, over }]) => [userId, Duration.toHours(over), Duration.toHours(double)])
            .toSorted(([one], [other]) => Number(one) - Number(other))
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
