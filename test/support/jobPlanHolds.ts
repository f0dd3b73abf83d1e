/** What holds of the sums of every plan of `jobPlans`. */
import { assert } from "@effect/vitest"
import { Duration, Effect, HashMap, Option, Stream } from "effect"
import * as CloseSums from "../../src/close/CloseSums.ts"
import * as CloseTerms from "../../src/close/CloseTerms.ts"
import type { BusinessDate } from "../../src/Ids.ts"
import * as Labor from "../../src/payroll/Labor.ts"
import * as Period from "../../src/payroll/Period.ts"
import { expectedRows, makePlan, termsOf } from "./jobPlans.ts"

const minutesOf = (time: Option.Option<Duration.Duration>) =>
  Duration.toMinutes(Option.getOrElse(time, () => Duration.zero))

const actualRows = ({ rows }: CloseSums.CloseSums) =>
  rows.map((row) =>
    [
      [
        row.userId,
        row.locationId,
        Option.getOrElse(row.departmentId, () => "-"),
        row.roleId,
        row.hourlyWage
      ].join(" "),
      [
        row.punches,
        row.incomplete,
        Duration.toMinutes(row.net),
        minutesOf(row.over),
        minutesOf(row.double),
        Number(row.cost),
        Number(row.tips)
      ]
    ] as const
  ).toSorted(([one], [other]) => one < other ? -1 : 1)

/** The rows are those of a second count; jobs add up to the person, and two parts of the period to the whole. */
export const assertPlan = Effect.fnUntraced(function*(seed: number) {
  const plan = makePlan(seed)
  const sorted = plan.punches.toSorted((one, other) =>
    one.clockedIn.epochMilliseconds - other.clockedIn.epochMilliseconds || one.id - other.id
  )
  const run = Effect.fnUntraced(function*(first: BusinessDate, last: BusinessDate) {
    const terms = CloseTerms.make(termsOf(plan, first, last))
    const sums = yield* Stream.run(Stream.fromArray(plan.punches), CloseSums.sum(terms))
    const inOrder = yield* Stream.run(Stream.fromArray(sorted), CloseSums.sum(terms, [], { isSorted: true }))
    assert.deepStrictEqual(inOrder, sums, `plan ${seed}: in the order of a copy`)
    return sums
  })
  const after = Option.getOrThrow(Period.addDays(plan.cut, 1))
  const [whole, one, other] = [
    yield* run(plan.first, plan.last),
    yield* run(plan.first, plan.cut),
    yield* run(after, plan.last)
  ]

  assert.deepStrictEqual(actualRows(whole), expectedRows(plan, plan.first, plan.last), `plan ${seed}`)
  assert.deepStrictEqual(actualRows(one), expectedRows(plan, plan.first, plan.cut), `plan ${seed}, first part`)
  assert.deepStrictEqual(actualRows(other), expectedRows(plan, after, plan.last), `plan ${seed}, second part`)
  assert.isTrue(
    CloseSums.equals(CloseSums.difference(whole, one), CloseSums.difference(other, CloseSums.empty)),
    `plan ${seed}: the parts add up`
  )
  const { dayRule, ...terms } = termsOf(plan, plan.first, plan.last)
  const people = yield* Stream.run(
    Stream.fromArray(plan.punches),
    Labor.hoursOverThreshold({
      ...terms,
      dayRule: Period.zones(dayRule),
      period: (dayRule) => Period.localDays(dayRule, plan.first, plan.last)
    })
  )
  for (const { double, over, userId } of CloseSums.byPerson(whole)) {
    const jobs = whole.rows.filter((row) => row.userId === userId)
    const sum = (values: ReadonlyArray<number>) => values.reduce((total, value) => total + value, 0)
    const person = HashMap.getUnsafe(people, userId)
    const own = [minutesOf(over), minutesOf(double)]

    assert.deepStrictEqual(
      [sum(jobs.map((row) => minutesOf(row.over))), sum(jobs.map((row) => minutesOf(row.double)))],
      own
    )
    assert.deepStrictEqual([person.over, person.double].map(Duration.toMinutes), own, `plan ${seed}`)
    assert.strictEqual(
      Duration.toMinutes(person.net),
      sum([person.regular, person.over, person.double].map(Duration.toMinutes))
    )
  }
})
