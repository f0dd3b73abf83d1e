import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, HashMap, Option, Result, Stream } from "effect"
import * as CloseSums from "../../src/close/CloseSums.ts"
import * as CloseTerms from "../../src/close/CloseTerms.ts"
import { Cents, RoleId } from "../../src/Ids.ts"
import * as Labor from "../../src/payroll/Labor.ts"
import * as Period from "../../src/payroll/Period.ts"
import { prng } from "../../src/testing/base/prng.ts"
import type { TimePunch } from "../../src/TimePunch.ts"
import * as Oracle from "../full/closeOracle.ts"
import * as Plans from "../full/closePlans.ts"
import * as CloseRuns from "../full/closeRuns.ts"
import { punch } from "../support/arbitraryPunch.ts"
import { date, east, far, newYork, run, shift, terms } from "./terms.ts"

describe("CloseSums.sum", () => {
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
  const ofWeek = terms({ first: dayOf(0), last: dayOf(6), ...all })

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
      const { rows } = yield* run(punches(), ofWeek)
      const given = rows.map(({ double, net, over }) =>
        [net, Option.getOrThrow(over), Option.getOrThrow(double)].map(Duration.toHours)
      )

      assert.deepStrictEqual(given, [[expected.reduce((sum, hours) => sum + hours, 0), ...expected.slice(1)]])
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

describe("The sums of random companies", () => {
  /** The time of a person by day or by week, as texts: net, over a threshold and double. */
  const timesBy = (parts: ReadonlyArray<Oracle.Part>, dayOf: (part: Oracle.Part) => number) => {
    const times = new Map<number, ReadonlyArray<number>>()
    for (const part of parts) {
      if (part.incomplete > 0) continue
      const [net = 0, over = 0, double = 0] = times.get(dayOf(part)) ?? []
      times.set(dayOf(part), [net + part.net, over + part.over, double + part.double])
    }
    return [...times].toSorted(([one], [other]) => one - other)
      .map(([day, time]) => `${CloseRuns.dateOf(day)}: ${time.join(" ")}`)
  }
  const timeText = ({ date, double, net, over }: Labor.DayOverThreshold | Labor.WeekOverThreshold) =>
    `${date}: ${[net, over, double].map(Duration.toMillis).join(" ")}`

  /** Hours over thresholds of people and of their jobs, in any order, also of what their window lists. */
  const comparePeople = Effect.fnUntraced(function*(
    of: Oracle.Terms,
    works: ReadonlyArray<Oracle.Work>,
    { dayRule, first, last, ...others }: Omit<ReturnType<typeof CloseRuns.periodOf>, "rounding">
  ) {
    const options = {
      ...others,
      dayRule: CloseTerms.isByLocation(dayRule) ? Period.dayRules(dayRule) : dayRule,
      period: (dayRule: Period.DayRule) => Period.localDays(dayRule, first, last)
    }
    // Day 0 was a Thursday.
    const weekOf = (day: number) => day - (day + 4 - of.firstDay) % 7
    const parts = Oracle.partsOf(of, works)
    for (const given of [works, listedIn(works, Labor.queryWindow(options)).toReversed()]) {
      const people = yield* Stream.fromArray(given.map(CloseRuns.punchOf)).pipe(
        Stream.rechunk(3),
        Stream.run(Labor.hoursOverThreshold(options))
      )
      assert.deepStrictEqual(new Set<number>(HashMap.keys(people)), new Set(parts.map(({ person }) => person)))
      for (const [userId, { days, incomplete, weeks, ...sums }] of HashMap.entries(people)) {
        const own = parts.filter(({ person }) => person === userId)
        assert.deepStrictEqual(days.map(timeText), timesBy(own, ({ date }) => date))
        assert.deepStrictEqual(weeks.map(timeText), timesBy(own, ({ date }) => weekOf(date)))
        const [whole = `${first}: 0 0 0`] = timesBy(own, () => of.first)
        assert.strictEqual(timeText({ ...sums, date: first }), whole)
        assert.strictEqual(incomplete, own.filter((part) => part.incomplete > 0).length)
      }
    }
    const byJob = Labor.makeClassesBy(options, ({ roleId, userId }) => `${userId} ${roleId}`)
    for (const work of works) assert.isTrue(Result.isSuccess(byJob.add(CloseRuns.punchOf(work))))
    const [given, expected] = [new Map<string, number>(), new Map<string, number>()]
    const add = (to: Map<string, number>, job: string, { double, over }: Pick<Oracle.Part, "double" | "over">) => {
      for (const [key, time] of [[`${job} over`, over], [`${job} double`, double]] as const) {
        if (time > 0) to.set(key, (to.get(key) ?? 0) + time)
      }
    }
    byJob.each((_, job, classes) => add(given, job, classes))
    for (const part of parts) add(expected, `${part.person} ${part.role}`, part)
    assert.deepStrictEqual(given, expected)
  })

  const listedIn = (works: ReadonlyArray<Oracle.Work>, { gte, lt }: Period.Interval) =>
    works.filter(({ from }) => gte.epochMilliseconds <= from && from < lt.epochMilliseconds)

  it.effect("have the rows, the days and the weeks of a second computation, which finds planted defects", () =>
    Effect.gen(function*() {
      const found = new Set<string>()
      for (let seed = 0; seed < 24; seed++) {
        const company = Plans.makeCompany(prng(seed))
        // A copy gives no deleted ones.
        const works = company.punches.filter(({ isDeleted }) => !isDeleted)
        const [{ first } = assert.fail("no period")] = company.periods
        for (const period of [...company.periods, { first, last: first }, { first: first + 6, last: first + 6 }]) {
          const of = { ...company.terms, ...period }
          const { rounding, ...options } = CloseRuns.periodOf(of)
          const own = terms({ ...options, rounding })
          const sums = yield* run(listedIn(works, CloseTerms.queryWindow(own)).map(CloseRuns.punchOf), own)
          const text = Oracle.textOf(CloseRuns.rowsOf(of, sums))
          assert.strictEqual(text, Oracle.textOf(Oracle.rowsOf(of, works)), `company ${seed}`)
          for (const [defect, changes] of Object.entries(Oracle.defects)) {
            const rules = { ...Oracle.trueRules, ...changes }
            if (!found.has(defect) && Oracle.textOf(Oracle.rowsOf(of, works, rules)) !== text) found.add(defect)
          }
          yield* comparePeople(of, works, options)
        }
      }
      // What the service removed is in no sum that is given punches.
      assert.deepStrictEqual(Object.keys(Oracle.defects).filter((defect) => !found.has(defect)), [
        "a punch that the service removed counts"
      ])
    }))
})
