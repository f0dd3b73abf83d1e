/** Hours over thresholds at their edges; `close/CloseSums.test.ts` compares them with a second computation. */
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Duration, Effect, HashMap, Option, Schema, Stream } from "effect"
import { BusinessDate, LocationId, TimePunchId, UserId } from "../../src/Ids.ts"
import * as Labor from "../../src/payroll/Labor.ts"
import * as Period from "../../src/payroll/Period.ts"
import type { TimePunch } from "../../src/TimePunch.ts"
import { punch, shift } from "../support/arbitraryPunch.ts"

const newYork = DateTime.zoneMakeNamedUnsafe("America/New_York")
const honolulu = DateTime.zoneMakeNamedUnsafe("Pacific/Honolulu")
const [east, far, unknown] = [LocationId.make(301), LocationId.make(303), LocationId.make(309)]
const zones = Period.dayRules(new Map([[east, newYork], [far, honolulu]]))
const user = UserId.make(7)

const run = <E = never>(punches: ReadonlyArray<TimePunch>, options: Labor.HoursOverThresholdOptions<E>) =>
  Stream.run(Stream.fromArray(punches), Labor.hoursOverThreshold(options))

const hours = (
  times: ReadonlyArray<Labor.DayOverThreshold | Labor.WeekOverThreshold>,
  field: "over" | "double" = "over"
) => times.map((each) => [`${each.date}`, Duration.toHours(each.net), Duration.toHours(each[field])])

const week = ["09", "10", "11", "12", "13"].map((day) => shift(`2026-03-${day}T13:00:00Z`, 9))

describe("Labor.hoursOverThreshold", () => {
  it.effect("counts a punch of unknown time, and an open one up to asOf", () =>
    Effect.gen(function*() {
      const open = shift("2026-03-09T13:00:00Z", 0, { clockedOut: Option.none() })
      const options = { dayRule: newYork, weeklyThreshold: 0 }
      const unknown = HashMap.getUnsafe(yield* run([open], options), user)
      const asOf = DateTime.makeUnsafe("2026-03-09T15:00:00Z")
      const known = HashMap.getUnsafe(yield* run([open], { ...options, asOf }), user)

      assert.deepStrictEqual([unknown.incomplete, unknown.days, unknown.weeks], [1, [], []])
      assert.deepStrictEqual([known.incomplete, Duration.toHours(known.over)], [0, 2])
    }))

  it.effect("has all of the time at zero, none of it at infinity and by default", () =>
    Effect.gen(function*() {
      const [of, none] = [{ dayRule: newYork }, Duration.infinity]
      const thresholds = [
        { weeklyThreshold: 0, dailyThreshold: 0 },
        { weeklyThreshold: none, dailyThreshold: none, doubleThreshold: none },
        {}
      ]
      const people = yield* Effect.forEach(thresholds, (each) => run(week, { ...of, ...each }))
      const sums = people.map((each) => HashMap.getUnsafe(each, user)).map(({ double, over, regular }) =>
        [regular, over, double].map(Duration.toHours)
      )

      assert.deepStrictEqual(sums, [[0, 45, 0], [45, 0, 0], [45, 0, 0]])
    }))

  it.effect("fails with the location that has no zone", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(run([...week, shift("2026-03-09T13:00:00Z", 1, { locationId: unknown })], {
        dayRule: zones
      }))

      assert.deepStrictEqual(error, new Period.MissingDayRule({ locationId: unknown }))
    }))

  it.effect("fails with the punch at which the net time exceeds the safe integers", () =>
    Effect.gen(function*() {
      const eternal = [1, 2].map((id) =>
        punch({
          id: TimePunchId.make(id),
          clockedIn: DateTime.makeUnsafe(0),
          clockedOut: Option.some(DateTime.makeUnsafe(8.64e15))
        })
      )
      const error = yield* Effect.flip(run(eternal, { dayRule: newYork }))

      assert.strictEqual(error.message, "adding punch 2 makes the sum of net exceed 2^53")
    }))
})

/** The days from one date to another, by any clock. */
const days = (first: string, last: string) => (dayRule: Period.DayRule) =>
  Period.localDays(dayRule, BusinessDate.make(first), BusinessDate.make(last))

describe("The excess of a week that a period cuts", () => {
  /** 54 hours from Thursday, 26 February to Wednesday, 4 March 2026: the week from Thursday. */
  const cut = ["02-26", "02-27", "02-28", "03-01", "03-02", "03-04"].map((day) => shift(`2026-${day}T15:00:00Z`, 9))
  const options = { dayRule: newYork, firstDay: "thursday", weeklyThreshold: "40 hours" } as const

  it.effect("stands on the days on which the sum of the week passes the threshold", () =>
    Effect.gen(function*() {
      const whole = HashMap.getUnsafe(yield* run(cut, options), user)
      const february = { ...options, period: days("2026-02-16", "2026-02-28") }
      const march = { ...options, period: days("2026-03-01", "2026-03-15") }
      const first = HashMap.getUnsafe(yield* run(cut, february), user)
      const second = HashMap.getUnsafe(yield* run(cut, march), user)

      assert.deepStrictEqual(hours(whole.days), [
        ["2026-02-26", 9, 0],
        ["2026-02-27", 9, 0],
        ["2026-02-28", 9, 0],
        ["2026-03-01", 9, 0],
        ["2026-03-02", 9, 5],
        ["2026-03-04", 9, 9]
      ])
      assert.deepStrictEqual([whole, first, second].map(({ over }) => Duration.toHours(over)), [14, 0, 14])
      assert.deepStrictEqual([first, second].map(({ net }) => Duration.toHours(net)), [27, 27])
      assert.deepStrictEqual([first.days.length, second.days.length], [3, 3])
      assert.deepStrictEqual(hours(second.weeks), [["2026-02-26", 27, 14]])
    }))

  it.effect("needs the days of the week before the period, which the window has", () =>
    Effect.gen(function*() {
      const march = { ...options, period: days("2026-03-01", "2026-03-15") }
      const iso = ({ gte, lt }: Period.Interval) => [DateTime.formatIso(gte), DateTime.formatIso(lt)]
      const { weeklyThreshold: _, ...daily } = { ...march, dailyThreshold: "8 hours" as const }

      assert.deepStrictEqual(iso(Labor.queryWindow(march)), ["2026-02-26T05:00:00.000Z", "2026-03-16T04:00:00.000Z"])
      assert.deepStrictEqual(iso(Labor.queryWindow(daily)), ["2026-03-01T05:00:00.000Z", "2026-03-16T04:00:00.000Z"])
      assert.deepStrictEqual(iso(Labor.queryWindow({ ...march, dayRule: zones })), [
        "2026-02-26T05:00:00.000Z",
        "2026-03-16T10:00:00.000Z"
      ])
    }))
})

describe("Period.firstDateOfWeek", () => {
  it("is the first date of the week, from Monday unless another day is named", () => {
    const date = BusinessDate.make("2026-03-11")

    assert.strictEqual(Period.firstDateOfWeek(date), "2026-03-09")
    assert.strictEqual(Period.firstDateOfWeek(date, { firstDay: "wednesday" }), "2026-03-11")
    assert.strictEqual(Period.firstDateOfWeek(BusinessDate.make("0001-01-01"), { firstDay: "sunday" }), "0001-01-01")
  })
  it.prop("is found again from a cache", [
    Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: -400, maximum: 400 }))),
    Period.Weekday
  ], ([days, firstDay]) => {
    const weekOf = Period.makeFirstDateOfWeek({ firstDay })
    for (const each of [...days, ...days]) {
      const date = Option.getOrThrow(Period.addDays(BusinessDate.make("2026-03-11"), each))
      assert.strictEqual(weekOf(date), Period.firstDateOfWeek(date, { firstDay }))
    }
  })
})
