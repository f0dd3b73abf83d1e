import { assert, describe, it } from "@effect/vitest"
import { DateTime, Duration, Effect, HashMap, Option, Schema, Stream } from "effect"
import * as CloseSums from "../../src/close/CloseSums.ts"
import * as CloseTerms from "../../src/close/CloseTerms.ts"
import { Cents, type LocationId, RoleId, UserId } from "../../src/Ids.ts"
import * as Labor from "../../src/payroll/Labor.ts"
import * as Period from "../../src/payroll/Period.ts"
import type { TimePunch } from "../../src/TimePunch.ts"
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
          doubleThreshold: Duration.hours(daily + 2),
          seventhDay: Duration.hours(4)
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

describe("a seventh day", () => {
  const all = {
    weeklyThreshold: "40 hours",
    dailyThreshold: "8 hours",
    doubleThreshold: "12 hours",
    seventhDay: "8 hours"
  } as const
  /** Day 0 is a Monday, the first day of a week; day 6 is the Sunday on which the clocks of New York change. */
  const dayOf = (day: number) => Option.getOrThrow(Period.addDays(date("2026-03-02"), day))
  const on = (day: number, hours: number, changes: Partial<TimePunch> = {}, time = "15:00:00Z") =>
    shift(`${dayOf(day)}T${time}`, hours, changes)
  const days = (count: number, hours: number, from = 0) =>
    Array.from({ length: count }, (_, at) => on(from + at, hours))
  const ofDays = (first: number, last: number, options: Partial<CloseTerms.CloseTermsOptions> = all) =>
    terms({ first: dayOf(first), last: dayOf(last), ...options })
  /** Regular, over and double hours by wage; the hours of a person over thresholds are the same. */
  const classes = (
    punches: ReadonlyArray<TimePunch>,
    of: ReturnType<typeof ofDays>,
    dayRule: Period.DayRule = newYork
  ) =>
    Effect.gen(function*() {
      const { rows } = yield* run(punches, of)
      const given = rows.map(({ double, hourlyWage, net, over }) => {
        const [all = 0, high = 0, twice = 0] = [net, Option.getOrThrow(over), Option.getOrThrow(double)]
          .map(Duration.toHours)
        return [hourlyWage, all - high - twice, high, twice] as const
      })
      if (of.clocks.length === 1) {
        const people = yield* Stream.run(
          Stream.fromArray(punches),
          Labor.hoursOverThreshold({
            ...CloseTerms.thresholdsOf(of),
            dayRule,
            firstDay: of.firstDay,
            period: (dayRule) => Period.localDays(dayRule, of.first, of.last)
          })
        )
        const sum = (at: 1 | 2 | 3) => given.reduce((total, row) => total + row[at], 0)
        assert.deepStrictEqual(
          HashMap.toValues(people).map((each) => [each.regular, each.over, each.double].map(Duration.toHours)),
          [[sum(1), sum(2), sum(3)]]
        )
      }
      return given.map((row): ReadonlyArray<number> => row[0] === 0 ? row.slice(1) : row)
    })
  const free = (punches: ReadonlyArray<TimePunch>) => punches.map((each) => ({ ...each, hourlyWage: Cents.make(0) }))

  it.effect.each<readonly [what: string, punches: () => ReadonlyArray<TimePunch>, expected: ReadonlyArray<number>]>([
    ["seven days of 5 hours", () => days(7, 5), [30, 5, 0]],
    ["seven days of 10 hours", () => days(7, 10), [40, 28, 2]],
    ["seven days of 8 hours", () => days(7, 8), [40, 16, 0]],
    ["six days", () => days(6, 5), [30, 0, 0]],
    ["the last six days and the first of the next week", () => days(7, 5, 1), [30, 0, 0]],
    ["a night that reaches into the last day", () => [...days(5, 6), on(5, 8, {}, "23:00:00Z")], [38, 0, 0]],
    ["the same, and an hour on the last day", () => [...days(5, 6), on(5, 8, {}, "23:00:00Z"), on(6, 1)], [38, 1, 0]],
    ["a day without length", () => [on(2, 0), ...[0, 1, 3, 4, 5, 6].map((day) => on(day, 5))], [30, 0, 0]],
    ["a day of tips alone", () => [
      on(2, 0, { tips: Cents.make(500) }),
      ...[0, 1, 3, 4, 5, 6].map((day) => on(day, 5))
    ], [30, 0, 0]],
    ["an open day", () => [
      on(2, 0, { clockedOut: Option.none() }),
      ...[0, 1, 3, 4, 5, 6].map((day) => on(day, 5))
    ], [30, 0, 0]],
    ["a last day that begins without length", () => [...days(6, 5), on(6, 0), on(6, 3, {}, "18:00:00Z")], [30, 3, 0]],
    ["a little of each day before", () => [...days(6, 0.25), on(6, 9)], [1.5, 8, 1]]
  ])("%s", ([, punches, expected]) =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* classes(free(punches()), ofDays(0, 6)), [expected])
    }))

  it.effect("counts alone, above a lower double threshold, and not at all without the term", () =>
    Effect.gen(function*() {
      const of = (punches: ReadonlyArray<TimePunch>, options: Partial<CloseTerms.CloseTermsOptions>) =>
        classes(free(punches), ofDays(0, 6, options))

      assert.deepStrictEqual(yield* of(days(7, 5), { seventhDay: "8 hours" }), [[30, 5, 0]])
      assert.deepStrictEqual(yield* of(days(7, 10), { seventhDay: "8 hours" }), [[60, 8, 2]])
      assert.deepStrictEqual(yield* of(days(7, 5), { ...all, seventhDay: 0 }), [[30, 0, 5]])
      assert.deepStrictEqual(yield* of(days(7, 7), { ...all, doubleThreshold: "6 hours" }), [[36, 6, 7]])
      assert.deepStrictEqual(yield* of(days(7, 5), { ...all, seventhDay: undefined }), [[35, 0, 0]])
    }))

  it.effect("keeps the job and the wage of each hour, in the order of work", () =>
    Effect.gen(function*() {
      const [low, high] = [{ hourlyWage: Cents.make(1500) }, { hourlyWage: Cents.make(2000) }]
      const punches = [
        on(6, 6, high, "20:00:00Z"),
        ...Array.from({ length: 6 }, (_, day) => on(day, 6, low)),
        on(6, 5, low)
      ]

      assert.deepStrictEqual(yield* classes(punches, ofDays(0, 6)), [[1500, 36, 5, 0], [2000, 0, 3, 3]])
    }))

  it.effect("belongs to the close that has its date, and counts the days of any other", () =>
    Effect.gen(function*() {
      const punches = free(days(10, 6))
      const fewer = punches.filter((_, day) => day !== 1)

      assert.deepStrictEqual(yield* classes(punches, ofDays(0, 2)), [[18, 0, 0]])
      assert.deepStrictEqual(yield* classes(punches, ofDays(3, 9)), [[36, 6, 0]])
      assert.deepStrictEqual(yield* classes(punches, ofDays(6, 6)), [[0, 6, 0]])
      assert.deepStrictEqual(yield* classes(fewer, ofDays(0, 2)), [[12, 0, 0]])
      assert.deepStrictEqual(yield* classes(fewer, ofDays(3, 9)), [[42, 0, 0]])
      // The first day of the week is in no close of three days before.
      assert.deepStrictEqual(yield* classes(punches, ofDays(3, 9, { seventhDay: "8 hours" })), [[36, 6, 0]])
      const counted = CloseTerms.getCountedInterval(ofDays(6, 6, { seventhDay: "8 hours" }), east)
      assert.strictEqual(counted?.countedFrom, DateTime.makeUnsafe("2026-03-02T05:00:00Z").epochMilliseconds)
    }))

  it.effect("is by the workweek of the terms, and by the day rule of each location", () =>
    Effect.gen(function*() {
      // Sunday to Saturday; day 6 is the Sunday that begins the next week.
      assert.deepStrictEqual(
        yield* classes(free(days(7, 5)), ofDays(0, 6, { ...all, firstDay: "sunday" })),
        [[35, 0, 0]]
      )
      assert.deepStrictEqual(
        yield* classes(free(days(7, 5, -1)), ofDays(-1, 5, { ...all, firstDay: "sunday" })),
        [[30, 5, 0]]
      )
      // 03:00 of Tuesday is Monday at a place whose day begins at 04:00, and Tuesday at the other one.
      const dayRule = new Map<LocationId, Period.DayRule>([[east, newYork], [far, {
        zone: newYork,
        dayStarts: "4 hours"
      }]])
      const night = (locationId: LocationId) =>
        free([on(0, 5), on(1, 2, { locationId }, "08:00:00Z"), ...days(5, 5, 2)])
      const sums = (locationId: LocationId) =>
        Effect.map(
          classes(night(locationId), ofDays(0, 6, { ...all, dayRule })),
          (rows) => rows.map((row) => row.join(" ")).toSorted()
        )
      assert.deepStrictEqual(yield* sums(east), ["27 5 0"])
      assert.deepStrictEqual(yield* sums(far), ["2 0 0", "30 0 0"])
    }))
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
