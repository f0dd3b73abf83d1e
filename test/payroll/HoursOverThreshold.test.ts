import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, DateTime, Duration, Effect, HashMap, Option, Schema, Stream } from "effect"
import { BusinessDate, LocationId, TimePunchId, UserId } from "../../src/Ids.ts"
import { makeClasses } from "../../src/payroll/hourClasses.ts"
import * as Labor from "../../src/payroll/Labor.ts"
import * as Period from "../../src/payroll/Period.ts"
import * as WorkedTime from "../../src/payroll/WorkedTime.ts"
import type { TimePunch } from "../../src/TimePunch.ts"
import { at, punch, Sample, shift } from "../support/arbitraryPunch.ts"
import { countUnits } from "../support/countUnits.ts"

const newYork = DateTime.zoneMakeNamedUnsafe("America/New_York")
const honolulu = DateTime.zoneMakeNamedUnsafe("Pacific/Honolulu")
const [east, far, unknown] = [LocationId.make(301), LocationId.make(303), LocationId.make(309)]
const zones = Period.zones(new Map([[east, newYork], [far, honolulu]]))
const user = UserId.make(7)

const run = <E = never>(punches: ReadonlyArray<TimePunch>, options: Labor.HoursOverThresholdOptions<E>) =>
  Stream.run(Stream.fromArray(punches), Labor.hoursOverThreshold(options))

const hours = (
  times: ReadonlyArray<Labor.DayOverThreshold | Labor.WeekOverThreshold>,
  field: "over" | "double" = "over"
) => times.map((each) => [`${each.date}`, Duration.toHours(each.net), Duration.toHours(each[field])])

const week = ["09", "10", "11", "12", "13"].map((day) => shift(`2026-03-${day}T13:00:00Z`, 9))

describe("Labor.hoursOverThreshold", () => {
  it.effect("sums the time of a person above a threshold, for each local week and each local day", () =>
    Effect.gen(function*() {
      // 45 hours from Monday to Friday, 12 on Sunday evening: the Sunday of New York, the Monday of UTC.
      const punches = [...week, shift("2026-03-16T02:00:00Z", 12), shift("2026-03-16T14:00:00Z", 3)]
      const person = HashMap.getUnsafe(
        yield* run(punches, { dayRule: newYork, weeklyThreshold: "40 hours", dailyThreshold: "8 hours" }),
        user
      )

      assert.deepStrictEqual(hours(person.weeks), [["2026-03-09", 57, 17], ["2026-03-16", 3, 0]])
      // An hour of each day and four of Sunday are over 8; the other 40 by Friday are not over 40, the 8 of Sunday are.
      assert.deepStrictEqual(hours(person.days), [
        ["2026-03-09", 9, 1],
        ["2026-03-10", 9, 1],
        ["2026-03-11", 9, 1],
        ["2026-03-12", 9, 1],
        ["2026-03-13", 9, 1],
        ["2026-03-15", 12, 12],
        ["2026-03-16", 3, 0]
      ])
      assert.deepStrictEqual([person.net, person.regular, person.over].map(Duration.toHours), [60, 43, 17])
    }))

  it.effect("counts an hour once: over the second threshold of a day, over the first one, then over that of the week", () =>
    Effect.gen(function*() {
      const punches = [...week, shift("2026-03-14T13:00:00Z", 14)]
      const of = (thresholds: Labor.Thresholds) =>
        Effect.map(run(punches, { dayRule: newYork, ...thresholds }), (people) => {
          const { double, over, regular } = HashMap.getUnsafe(people, user)
          return [regular, over, double].map(Duration.toHours)
        })
      const [weeklyThreshold, dailyThreshold, doubleThreshold] = ["40 hours", "8 hours", "12 hours"] as const

      // 45 hours by Friday, 14 on Saturday.
      assert.deepStrictEqual(yield* of({ weeklyThreshold }), [40, 19, 0])
      assert.deepStrictEqual(yield* of({ dailyThreshold }), [48, 11, 0])
      assert.deepStrictEqual(yield* of({ weeklyThreshold, dailyThreshold }), [40, 19, 0])
      assert.deepStrictEqual(yield* of({ weeklyThreshold, dailyThreshold, doubleThreshold }), [40, 17, 2])
      assert.deepStrictEqual(yield* of({ weeklyThreshold: "44 hours", dailyThreshold, doubleThreshold }), [44, 13, 2])
      assert.deepStrictEqual(yield* of({ weeklyThreshold, doubleThreshold }), [40, 17, 2])
      assert.deepStrictEqual(yield* of({ doubleThreshold }), [57, 0, 2])
      // What a higher first threshold leaves is over the second one.
      assert.deepStrictEqual(yield* of({ dailyThreshold: "13 hours", doubleThreshold }), [57, 0, 2])
    }))

  it.effect("counts each location by its own day rule, and a person once for a date", () =>
    Effect.gen(function*() {
      // Noon of Monday in New York, and the evening of Monday in Honolulu: Tuesday in New York.
      const punches = [shift("2026-03-09T16:00:00Z", 6), shift("2026-03-10T07:00:00Z", 5, { locationId: far })]
      const both = HashMap.getUnsafe(yield* run(punches, { dayRule: zones, dailyThreshold: "8 hours" }), user)
      const one = HashMap.getUnsafe(yield* run(punches, { dayRule: newYork, dailyThreshold: "8 hours" }), user)

      assert.deepStrictEqual(hours(both.days), [["2026-03-09", 11, 3]])
      assert.deepStrictEqual(hours(one.days), [["2026-03-09", 6, 0], ["2026-03-10", 5, 0]])
    }))

  it.effect("begins the week on the day that is named", () =>
    Effect.gen(function*() {
      const punches = [shift("2026-03-14T15:00:00Z", 5), shift("2026-03-15T15:00:00Z", 5)]
      const options = { dayRule: newYork, weeklyThreshold: "8 hours" } as const
      const monday = HashMap.getUnsafe(yield* run(punches, options), user)
      const sunday = HashMap.getUnsafe(yield* run(punches, { ...options, firstDay: "sunday" }), user)

      assert.deepStrictEqual(hours(monday.weeks), [["2026-03-09", 10, 2]])
      assert.deepStrictEqual(hours(sunday.weeks), [["2026-03-08", 5, 0], ["2026-03-15", 5, 0]])
    }))

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

  it.effect("fails with the location that has no zone", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(run([...week, shift("2026-03-09T13:00:00Z", 1, { locationId: unknown })], {
        dayRule: zones
      }))

      assert.deepStrictEqual(error, new Period.MissingZone({ locationId: unknown }))
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

describe("makeClasses", () => {
  it("continues a day and a week with each part of them, and begins both again", () => {
    const thresholds = { weeklyThreshold: "40 hours", dailyThreshold: "8 hours", doubleThreshold: "12 hours" } as const
    const classesOf = makeClasses(thresholds, Period.makeFirstDateOfWeek())
    const hoursAt = (date: string, ...parts: ReadonlyArray<number>) =>
      parts.map((part) => {
        const { double, over, regular } = classesOf(BusinessDate.make(date), part * 3_600_000)
        return [regular, over, double].map((millis) => millis / 3_600_000)
      })

    assert.deepStrictEqual(hoursAt("2026-03-09", 6, 5, 3), [[6, 0, 0], [2, 3, 0], [0, 1, 2]])
    for (const day of ["10", "11", "12"]) assert.deepStrictEqual(hoursAt(`2026-03-${day}`, 8), [[8, 0, 0]])
    assert.deepStrictEqual(hoursAt("2026-03-13", 5, 2), [[5, 0, 0], [2, 0, 0]])
    assert.deepStrictEqual(hoursAt("2026-03-14", 4), [[1, 3, 0]])
    assert.deepStrictEqual(hoursAt("2026-03-16", 7, 2), [[7, 0, 0], [1, 1, 0]])
  })
})

type Field = "net" | "regular" | "over" | "double"
const fields: ReadonlyArray<Field> = ["net", "regular", "over", "double"]

const sum = (values: ReadonlyArray<number>) => values.reduce((total, value) => total + value, 0)
const millis = (
  times: ReadonlyArray<Labor.DayOverThreshold | Labor.WeekOverThreshold>,
  field: Field
) => sum(times.map((each) => Duration.toMillis(each[field])))

/** Punches of four persons at two locations over three weeks around a change of clocks. */
const Shifts = Arbitrary.array(
  Arbitrary.all([
    Sample,
    Arbitrary.schema(Schema.Struct({
      hours: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 504 })),
      minutes: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 14 * 60 })),
      far: Schema.Boolean
    }))
  ]),
  { maxLength: 25 }
).pipe(Arbitrary.map((parts) =>
  parts.map(([sample, place]): TimePunch => {
    const clockedIn = at(sample.start + place.hours * 3600)
    return {
      ...sample.punch,
      locationId: place.far ? far : east,
      clockedIn,
      clockedOut: Option.map(sample.punch.clockedOut, () => DateTime.add(clockedIn, { minutes: place.minutes })),
      breaks: []
    }
  })
))

const Threshold = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 60 * 3600 }))

const minutes = (maximum: number) => Schema.Int.check(Schema.isBetween({ minimum: 0, maximum }))
const Thresholds = Schema.Struct({ weekly: minutes(3600), daily: minutes(900), double: minutes(1100) })

/** The promise, punch by punch: the local dates come from the formatter of the platform. */
const dates = new Map(
  [[east, "America/New_York"], [far, "Pacific/Honolulu"]].map(([location, timeZone]) => [
    location,
    new Intl.DateTimeFormat("sv-SE", { timeZone: `${timeZone}`, dateStyle: "short" })
  ])
)
const dateOf = (each: TimePunch) => dates.get(each.locationId)?.format(each.clockedIn.epochMilliseconds) ?? ""
const mondayOf = (each: TimePunch) => {
  const day = Date.parse(dateOf(each))
  return new Date(day - ((new Date(day).getUTCDay() + 6) % 7) * 86_400_000).toISOString().slice(0, 10)
}
const netOf = (each: TimePunch) =>
  Option.match(WorkedTime.measure(each).durations, { onNone: () => 0, onSome: ({ net }) => Duration.toMillis(net) })

const expectedOver = (punches: ReadonlyArray<TimePunch>, key: (punch: TimePunch) => string, seconds: number) => {
  const keys = new Set(punches.map(key))
  return sum(
    [...keys].map((each) =>
      Math.max(0, sum(punches.filter((punch) => key(punch) === each).map(netOf)) - seconds * 1000)
    )
  )
}

describe("The hours over a threshold", () => {
  it.effect.prop(
    "equal a sum punch by punch, however the punches are chunked and ordered",
    [Shifts, Thresholds],
    ([punches, { daily, double, weekly }]) =>
      Effect.gen(function*() {
        const options = {
          dayRule: zones,
          weeklyThreshold: Duration.minutes(weekly),
          dailyThreshold: Duration.minutes(daily),
          doubleThreshold: Duration.minutes(double)
        }
        const people = yield* run(punches, options)
        const turned = yield* Stream.fromArray(punches.toReversed()).pipe(
          Stream.rechunk(3),
          Stream.run(Labor.hoursOverThreshold(options))
        )

        assert.deepStrictEqual(new Map(HashMap.entries(turned)), new Map(HashMap.entries(people)))
        assert.deepStrictEqual(new Set(HashMap.keys(people)), new Set(punches.map(({ userId }) => userId)))
        for (const [userId, person] of HashMap.entries(people)) {
          const own = punches.filter((each) => each.userId === userId)
          const counted = countUnits(
            own.map((each) => ({ day: dateOf(each), week: mondayOf(each), at: 0, units: netOf(each) / 60_000 })),
            { weekly, daily, double }
          )
          assert.strictEqual(person.incomplete, own.filter((each) => WorkedTime.measure(each).open).length)
          assert.deepStrictEqual(
            [person.regular, person.over, person.double].map(Duration.toMinutes),
            [
              sum(counted.map(({ regular }) => regular)),
              sum(counted.map(({ over }) => over)),
              sum(
                counted.map(({ double }) => double)
              )
            ]
          )
          assert.strictEqual(Duration.toMillis(person.net), sum(own.map(netOf)))
        }
      })
  )

  it.effect.prop(
    "are the sums of their weeks and days, whose net time is all of it",
    [Shifts, Threshold],
    ([punches, at]) =>
      Effect.gen(function*() {
        const options = {
          dayRule: zones,
          weeklyThreshold: Duration.seconds(at),
          dailyThreshold: Duration.seconds(at / 4),
          doubleThreshold: Duration.seconds(at / 3)
        }
        for (const person of HashMap.values(yield* run(punches, options))) {
          for (const field of fields) {
            const all = Duration.toMillis(person[field])
            assert.deepStrictEqual([millis(person.weeks, field), millis(person.days, field)], [all, all])
          }
          assert.deepStrictEqual(person.days.map(({ date }) => date), person.days.map(({ date }) => date).toSorted())
        }
      })
  )

  it.effect.prop(
    "are all of the time at zero, none of it at infinity and by default",
    [Shifts],
    ([punches]) =>
      Effect.gen(function*() {
        const [all, none, unset] = yield* Effect.forEach(
          [{ weeklyThreshold: 0, dailyThreshold: 0 }, {
            weeklyThreshold: Duration.infinity,
            dailyThreshold: Duration.infinity
          }, {}],
          (thresholds) => run(punches, { dayRule: zones, ...thresholds })
        )
        if (all === undefined || none === undefined || unset === undefined) throw new Error("three runs")

        for (const person of HashMap.values(all)) {
          assert.deepStrictEqual([person.regular, person.over], [Duration.zero, person.net])
        }
        for (const person of [...HashMap.values(none), ...HashMap.values(unset)]) {
          assert.deepStrictEqual([person.regular, person.over, person.double], [
            person.net,
            Duration.zero,
            Duration.zero
          ])
        }
      })
  )
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

  it.effect("has no person who only worked before the period or after it, and no incomplete punch of there", () =>
    Effect.gen(function*() {
      const open = { clockedOut: Option.none() }
      const others = [
        shift("2026-02-27T15:00:00Z", 9, { userId: UserId.make(8) }),
        shift("2026-03-16T15:00:00Z", 9, { userId: UserId.make(9) }),
        shift("2026-02-27T15:00:00Z", 9, open),
        shift("2026-03-16T15:00:00Z", 9, open),
        shift("2026-03-05T15:00:00Z", 9, open)
      ]
      const people = yield* run([...others, ...cut], { ...options, period: days("2026-03-01", "2026-03-15") })

      assert.deepStrictEqual([...HashMap.keys(people)], [user])
      assert.strictEqual(HashMap.getUnsafe(people, user).incomplete, 1)
    }))

  it.effect.prop(
    "tiles: periods that meet have the days of the whole, and no more than their net time is over a threshold",
    {
      shifts: Shifts,
      weekly: Threshold,
      daily: Threshold,
      dayStarts: Schema.Int.check(Schema.isBetween({ minimum: -12, maximum: 12 })),
      cuts: Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 22 }))),
      firstDay: Period.Weekday
    },
    ({ cuts, daily, dayStarts, firstDay, shifts, weekly }) =>
      Effect.gen(function*() {
        const dayRule = Period.zones(
          new Map<LocationId, Period.DayRule>([
            [east, { zone: newYork, dayStarts: Duration.hours(dayStarts) }],
            [far, honolulu]
          ])
        )
        const options = {
          dayRule,
          firstDay,
          weeklyThreshold: Duration.seconds(weekly),
          dailyThreshold: Duration.seconds(daily)
        }
        const dateAt = (index: number) => Option.getOrThrow(Period.addDays(BusinessDate.make("2026-02-28"), index))
        const edges = [...new Set([-5, ...cuts, 30])].toSorted((a, b) => a - b).map(dateAt)
        const whole = yield* run(shifts, { ...options, period: days(edges[0] ?? "", edges.at(-1) ?? "") })
        const parts = yield* Effect.forEach(edges.slice(1), (last, index) => {
          const first = index === 0 ? edges[0] : Option.getOrThrow(Period.addDays(edges[index] ?? last, 1))
          const period = { ...options, period: days(first ?? last, last) }
          const { gte, lt } = Labor.queryWindow(period)
          const listed = shifts.filter(({ clockedIn }) =>
            DateTime.isGreaterThanOrEqualTo(clockedIn, gte) && DateTime.isLessThan(clockedIn, lt)
          )
          // What the window lists is enough: the other punches change nothing.
          return Effect.tap(run(listed, period), (people) =>
            Effect.map(run(shifts, period), (all) =>
              assert.deepStrictEqual(new Map(HashMap.entries(people)), new Map(HashMap.entries(all)))))
        })

        for (const [userId, person] of HashMap.entries(whole)) {
          const own = parts.flatMap((people) =>
            Option.toArray(HashMap.get(people, userId))
          )
          const sumOf = (field: Field) => sum(own.map((each) => Duration.toMillis(each[field])))

          assert.deepStrictEqual(own.flatMap((each) => each.days), person.days)
          assert.deepStrictEqual(
            fields.map(sumOf),
            fields.map((field) => Duration.toMillis(person[field]))
          )
          for (const each of own) {
            assert.strictEqual(
              sum([each.regular, each.over, each.double].map(Duration.toMillis)),
              Duration.toMillis(each.net)
            )
          }
        }
      })
  )

  it.effect.prop(
    "of a day is what the week loses with that day and the later ones",
    [Shifts, Threshold],
    ([punches, threshold]) =>
      Effect.gen(function*() {
        const people = yield* run(punches, { dayRule: zones, weeklyThreshold: Duration.seconds(threshold) })
        for (const [userId, person] of HashMap.entries(people)) {
          const own = punches.filter((each) => each.userId === userId)
          for (const { date, over } of person.days) {
            const upTo = expectedOver(own.filter((each) => dateOf(each) <= date), mondayOf, threshold)
            const before = expectedOver(own.filter((each) => dateOf(each) < date), mondayOf, threshold)
            assert.strictEqual(Duration.toMillis(over), upTo - before)
          }
        }
      })
  )
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
