import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, DateTime, Duration, Effect, HashMap, Option, Schema, Stream } from "effect"
import { BusinessDate, LocationId, TimePunchId, UserId } from "../../src/Ids.ts"
import * as Labor from "../../src/payroll/Labor.ts"
import * as Period from "../../src/payroll/Period.ts"
import * as WorkedTime from "../../src/payroll/WorkedTime.ts"
import type { TimePunch } from "../../src/TimePunch.ts"
import { at, punch, Sample } from "../support/arbitraryPunch.ts"

const newYork = DateTime.zoneMakeNamedUnsafe("America/New_York")
const honolulu = DateTime.zoneMakeNamedUnsafe("Pacific/Honolulu")
const [east, far, unknown] = [LocationId.make(301), LocationId.make(303), LocationId.make(309)]
const zones = Period.zones(new Map([[east, newYork], [far, honolulu]]))
const user = UserId.make(7)

const shift = (clockedIn: string, hours: number, changes: Partial<TimePunch> = {}): TimePunch => {
  const start = DateTime.makeUnsafe(clockedIn)
  return punch({
    locationId: east,
    clockedIn: start,
    clockedOut: Option.some(DateTime.add(start, { hours })),
    ...changes
  })
}

const run = <E = never>(punches: ReadonlyArray<TimePunch>, options: Labor.HoursAboveOptions<E>) =>
  Stream.run(Stream.fromArray(punches), Labor.hoursAbove(options))

const hours = (times: ReadonlyArray<Labor.TimeOverThreshold>) =>
  times.map(({ above, date, net }) => [`${date}`, Duration.toHours(net), Duration.toHours(above)])

const week = ["09", "10", "11", "12", "13"].map((day) => shift(`2026-03-${day}T13:00:00Z`, 9))

describe("Labor.hoursAbove", () => {
  it.effect("sums the time of a person above a threshold, for each local week and each local day", () =>
    Effect.gen(function*() {
      // 45 hours from Monday to Friday, 12 on Sunday evening: the Sunday of New York, the Monday of UTC.
      const punches = [...week, shift("2026-03-16T02:00:00Z", 12), shift("2026-03-16T14:00:00Z", 3)]
      const person = HashMap.getUnsafe(
        yield* run(punches, { zone: newYork, weeklyThreshold: "40 hours", dailyThreshold: "8 hours" }),
        user
      )

      assert.deepStrictEqual(hours(person.weeks), [["2026-03-09", 57, 17], ["2026-03-16", 3, 0]])
      assert.deepStrictEqual(hours(person.days), [
        ["2026-03-09", 9, 1],
        ["2026-03-10", 9, 1],
        ["2026-03-11", 9, 1],
        ["2026-03-12", 9, 1],
        ["2026-03-13", 9, 1],
        ["2026-03-15", 12, 4],
        ["2026-03-16", 3, 0]
      ])
      assert.deepStrictEqual([person.net, person.above, person.aboveDay].map(Duration.toHours), [60, 17, 9])
    }))

  it.effect("counts each location by its own clock, and a person once for a date", () =>
    Effect.gen(function*() {
      // Noon of Monday in New York, and the evening of Monday in Honolulu: Tuesday in New York.
      const punches = [shift("2026-03-09T16:00:00Z", 6), shift("2026-03-10T07:00:00Z", 5, { locationId: far })]
      const both = HashMap.getUnsafe(yield* run(punches, { zone: zones, dailyThreshold: "8 hours" }), user)
      const one = HashMap.getUnsafe(yield* run(punches, { zone: newYork, dailyThreshold: "8 hours" }), user)

      assert.deepStrictEqual(hours(both.days), [["2026-03-09", 11, 3]])
      assert.deepStrictEqual(hours(one.days), [["2026-03-09", 6, 0], ["2026-03-10", 5, 0]])
    }))

  it.effect("begins the week on the day that is named", () =>
    Effect.gen(function*() {
      const punches = [shift("2026-03-14T15:00:00Z", 5), shift("2026-03-15T15:00:00Z", 5)]
      const options = { zone: newYork, weeklyThreshold: "8 hours" } as const
      const monday = HashMap.getUnsafe(yield* run(punches, options), user)
      const sunday = HashMap.getUnsafe(yield* run(punches, { ...options, firstDay: "sunday" }), user)

      assert.deepStrictEqual(hours(monday.weeks), [["2026-03-09", 10, 2]])
      assert.deepStrictEqual(hours(sunday.weeks), [["2026-03-08", 5, 0], ["2026-03-15", 5, 0]])
    }))

  it.effect("counts a punch of unknown time, and an open one up to asOf", () =>
    Effect.gen(function*() {
      const open = shift("2026-03-09T13:00:00Z", 0, { clockedOut: Option.none() })
      const options = { zone: newYork, weeklyThreshold: 0 }
      const unknown = HashMap.getUnsafe(yield* run([open], options), user)
      const asOf = DateTime.makeUnsafe("2026-03-09T15:00:00Z")
      const known = HashMap.getUnsafe(yield* run([open], { ...options, asOf }), user)

      assert.deepStrictEqual([unknown.incomplete, unknown.days, unknown.weeks], [1, [], []])
      assert.deepStrictEqual([known.incomplete, Duration.toHours(known.above)], [0, 2])
    }))

  it.effect("fails with the location that has no zone", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(run([...week, shift("2026-03-09T13:00:00Z", 1, { locationId: unknown })], {
        zone: zones
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
      const error = yield* Effect.flip(run(eternal, { zone: newYork }))

      assert.strictEqual(error.message, "adding punch 2 makes the sum of net exceed 2^53")
    }))
})

const sum = (values: ReadonlyArray<number>) => values.reduce((total, value) => total + value, 0)
const millis = (times: ReadonlyArray<Labor.TimeOverThreshold>, field: "net" | "above") =>
  sum(times.map((each) => Duration.toMillis(each[field])))

/** Punches of four persons at two locations over three weeks around a change of clocks. */
const Shifts = Arbitrary.array(
  Arbitrary.all([
    Sample,
    Arbitrary.schema(Schema.Struct({
      hours: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 504 })),
      length: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 14 * 3600 })),
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
      clockedOut: Option.map(sample.punch.clockedOut, () => DateTime.add(clockedIn, { seconds: place.length })),
      breaks: []
    }
  })
))

const Threshold = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 60 * 3600 }))

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

const expectedAbove = (punches: ReadonlyArray<TimePunch>, key: (punch: TimePunch) => string, seconds: number) => {
  const keys = new Set(punches.map(key))
  return sum(
    [...keys].map((each) =>
      Math.max(0, sum(punches.filter((punch) => key(punch) === each).map(netOf)) - seconds * 1000)
    )
  )
}

describe("The hours above a threshold", () => {
  it.effect.prop(
    "equal a sum punch by punch, however the punches are chunked and ordered",
    [Shifts, Threshold, Threshold],
    ([punches, above, aboveDay]) =>
      Effect.gen(function*() {
        const options = {
          zone: zones,
          weeklyThreshold: Duration.seconds(above),
          dailyThreshold: Duration.seconds(aboveDay)
        }
        const people = yield* run(punches, options)
        const turned = yield* Stream.fromArray(punches.toReversed()).pipe(
          Stream.rechunk(3),
          Stream.run(Labor.hoursAbove(options))
        )

        assert.deepStrictEqual(new Map(HashMap.entries(turned)), new Map(HashMap.entries(people)))
        assert.deepStrictEqual(new Set(HashMap.keys(people)), new Set(punches.map(({ userId }) => userId)))
        for (const [userId, person] of HashMap.entries(people)) {
          const own = punches.filter((each) => each.userId === userId)
          assert.strictEqual(Duration.toMillis(person.net), sum(own.map(netOf)))
          assert.strictEqual(person.incomplete, own.filter((each) => WorkedTime.measure(each).open).length)
          assert.strictEqual(Duration.toMillis(person.above), expectedAbove(own, mondayOf, above))
          assert.strictEqual(Duration.toMillis(person.aboveDay), expectedAbove(own, dateOf, aboveDay))
        }
      })
  )

  it.effect.prop(
    "are the sums of their weeks and days, whose net time is all of it",
    [Shifts, Threshold],
    ([punches, at]) =>
      Effect.gen(function*() {
        const options = { zone: zones, weeklyThreshold: Duration.seconds(at), dailyThreshold: Duration.seconds(at) }
        for (const person of HashMap.values(yield* run(punches, options))) {
          const net = Duration.toMillis(person.net)

          assert.deepStrictEqual([millis(person.weeks, "net"), millis(person.days, "net")], [net, net])
          assert.strictEqual(millis(person.weeks, "above"), Duration.toMillis(person.above))
          assert.strictEqual(millis(person.days, "above"), Duration.toMillis(person.aboveDay))
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
          (thresholds) => run(punches, { zone: zones, ...thresholds })
        )
        if (all === undefined || none === undefined || unset === undefined) throw new Error("three runs")

        for (const person of HashMap.values(all)) {
          assert.deepStrictEqual([person.above, person.aboveDay], [person.net, person.net])
        }
        for (const person of [...HashMap.values(none), ...HashMap.values(unset)]) {
          assert.deepStrictEqual([person.above, person.aboveDay], [Duration.zero, Duration.zero])
        }
      })
  )

  it.effect.prop(
    "never grow with the threshold",
    [Shifts, Threshold, Threshold],
    ([punches, one, other]) =>
      Effect.gen(function*() {
        const at = (seconds: number) =>
          run(punches, {
            zone: zones,
            weeklyThreshold: Duration.seconds(seconds),
            dailyThreshold: Duration.seconds(seconds)
          })
        const low = yield* at(Math.min(one, other))
        const high = yield* at(Math.max(one, other))

        for (const [userId, person] of HashMap.entries(high)) {
          const more = HashMap.getUnsafe(low, userId)
          assert.isTrue(Duration.isLessThanOrEqualTo(person.above, more.above))
          assert.isTrue(Duration.isLessThanOrEqualTo(person.aboveDay, more.aboveDay))
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
})
