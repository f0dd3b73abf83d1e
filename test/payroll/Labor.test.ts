import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, DateTime, Duration, Effect, HashMap, Option, Schema, Stream } from "effect"
import { Cents, DepartmentId, TimePunchId, UserId } from "../../src/Ids.ts"
import * as Labor from "../../src/payroll/Labor.ts"
import * as Period from "../../src/payroll/Period.ts"
import * as WorkedTime from "../../src/payroll/WorkedTime.ts"
import type { TimePunch } from "../../src/TimePunch.ts"
import { at, punch, rest, Sample } from "../support/arbitraryPunch.ts"

const options = { rounding: "halfUp" } as const
const open = { clockedOut: Option.none<DateTime.Utc>() }
const lasting = (seconds: number, hourlyWage: number) =>
  punch({ clockedOut: Option.some(at(seconds)), hourlyWage: Cents.make(hourlyWage) })
const costs = (each: TimePunch) =>
  Labor.Rounding.literals.map((rounding) => Option.getOrUndefined(Labor.cost(each, { rounding })))

describe("Labor.cost", () => {
  it("is the net time times the hourly wage, without the tips", () => {
    const worked = punch({ breaks: [rest({ in: 0, out: 1800, paid: false })], tips: Cents.make(900) })

    assert.deepStrictEqual(Labor.cost(worked, options), Option.some(Cents.make(11_625)))
  })

  it("rounds a fraction of a cent by the named rounding, once", () => {
    assert.deepStrictEqual(Labor.Rounding.literals, ["halfUp", "halfEven", "down", "up"])
    assert.deepStrictEqual(costs(lasting(1800, 1)), [1, 0, 0, 1].map((cents) => Cents.make(cents)))
    assert.deepStrictEqual(costs(lasting(1800, 3)), [2, 2, 1, 2].map((cents) => Cents.make(cents)))
    assert.deepStrictEqual(costs(lasting(1799, 1)), [0, 0, 0, 1].map((cents) => Cents.make(cents)))
    assert.deepStrictEqual(costs(lasting(1801, 1)), [1, 1, 0, 1].map((cents) => Cents.make(cents)))
    assert.deepStrictEqual(costs(lasting(3600, 7)), [7, 7, 7, 7].map((cents) => Cents.make(cents)))
  })

  it("is exact where floating point is not", () => {
    // 8 h 19 min 12 s at 11.65 is 96.92800: in floats, 8.32 * 1165 is 9692.800000000001.
    assert.deepStrictEqual(costs(lasting(29_952, 1165)), [9693, 9693, 9692, 9693].map((cents) => Cents.make(cents)))
    // The product is beyond 2^53 long before the amount is.
    const big = lasting(3600 * 1000 + 1, 9_000_000_000_000)
    assert.deepStrictEqual(Labor.cost(big, options), Option.some(Cents.make(9_000_002_500_000_000)))
  })

  it("is None if the durations are unknown or the amount is not a safe integer", () => {
    assert.deepStrictEqual(Labor.cost(punch(open), options), Option.none())
    assert.deepStrictEqual(Labor.cost(lasting(-1, 1550), options), Option.none())
    assert.deepStrictEqual(Labor.cost(lasting(36_000, Number.MAX_SAFE_INTEGER), options), Option.none())
  })

  it("prices an open punch up to asOf", () => {
    assert.deepStrictEqual(
      Labor.cost(punch(open), { ...options, asOf: at(3600) }),
      Option.some(Cents.make(1550))
    )
  })

  const Money = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1_000_000 }))

  it.prop("orders down <= halfEven <= halfUp <= up <= down + 1", [Money, Money], ([seconds, wage]) => {
    const [halfUp = NaN, halfEven = NaN, down = NaN, up = NaN] = costs(lasting(seconds, wage))

    assert.isTrue(down <= halfEven && halfEven <= halfUp && halfUp <= up && up <= down + 1)
    assert.strictEqual(up === down, (seconds * wage) % 3600 === 0)
  })

  it.prop(
    "is within half a cent of the exact amount if it rounds to the nearest",
    [Money, Money],
    ([seconds, wage]) => {
      const [halfUp = NaN, halfEven = NaN] = costs(lasting(seconds, wage))

      for (const cents of [halfUp, halfEven]) assert.isAtMost(Math.abs(cents * 3600 - seconds * wage), 1800)
      if (Math.abs(halfEven * 3600 - seconds * wage) === 1800) assert.strictEqual(halfEven % 2, 0)
    }
  )
})

const sum = (values: ReadonlyArray<number>) => values.reduce((total, value) => total + value, 0)
const byUser = (each: TimePunch): number => each.userId

/** The sums that `rollup` promises, punch by punch. */
const folded = <K extends string | number>(
  punches: ReadonlyArray<TimePunch>,
  key: (punch: TimePunch) => K,
  rules: Labor.LaborOptions
) =>
  new Map([...new Set(punches.map(key))].map((each) => {
    const own = punches.filter((punch) => key(punch) === each)
    const known = own.flatMap((punch) => Option.toArray(WorkedTime.measure(punch, rules).durations))
    const time = (field: keyof WorkedTime.Durations) =>
      Duration.millis(sum(known.map((durations) => Duration.toMillis(durations[field]))))
    return [each, {
      punches: own.length,
      incomplete: own.length - known.length,
      anomalous: own.filter((punch) => WorkedTime.measure(punch, rules).anomalies.length > 0).length,
      gross: time("gross"),
      paidBreaks: time("paidBreaks"),
      unpaidBreaks: time("unpaidBreaks"),
      net: time("net"),
      cost: Cents.make(sum(own.flatMap((punch) => Option.toArray(Labor.cost(punch, rules))))),
      tips: Cents.make(sum(own.map((punch) => punch.tips)))
    }]
  }))

const ChunkSize = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 9 }))

describe("Labor.rollup", () => {
  it.effect("is empty for no punches", () =>
    Effect.gen(function*() {
      const totals = yield* Stream.run(Stream.empty, Labor.rollup((each) => each.userId, options))

      assert.isTrue(HashMap.isEmpty(totals))
    }))

  it.effect("counts an incomplete punch, and sums its tips", () =>
    Effect.gen(function*() {
      const punches = [punch({ tips: Cents.make(100) }), punch({ ...open, tips: Cents.make(-30) })]
      const totals = yield* Stream.run(Stream.fromArray(punches), Labor.rollup((each) => each.userId, options))

      assert.deepStrictEqual(
        HashMap.get(totals, UserId.make(7)),
        Option.some({
          punches: 2,
          incomplete: 1,
          anomalous: 1,
          gross: Duration.hours(8),
          paidBreaks: Duration.zero,
          unpaidBreaks: Duration.zero,
          net: Duration.hours(8),
          cost: Cents.make(12_400),
          tips: Cents.make(70)
        })
      )
    }))

  it.effect("compares keys by value: an Option of an id, a tuple with the local date", () =>
    Effect.gen(function*() {
      const dateOf = Period.makeBusinessDate(DateTime.zoneMakeNamedUnsafe("America/New_York"))
      const kitchen = { departmentId: Option.some(DepartmentId.make(9)) }
      const punches = Stream.make(punch(kitchen), punch({ ...kitchen, clockedIn: at(60) }), punch())
      const byDepartment = yield* Stream.run(punches, Labor.rollup((each) => each.departmentId, options))
      const byDay = yield* Stream.run(
        punches,
        Labor.rollup((each) => [each.userId, dateOf(each.clockedIn)] as const, options)
      )

      assert.strictEqual(HashMap.size(byDepartment), 2)
      assert.strictEqual(HashMap.getUnsafe(byDepartment, Option.some(DepartmentId.make(9))).punches, 2)
      assert.deepStrictEqual(HashMap.toValues(byDay).map((totals) => totals.punches), [3])
    }))

  it.effect("fails with the punch at which a sum exceeds the safe integers", () =>
    Effect.gen(function*() {
      const tips = Cents.make(Number.MAX_SAFE_INTEGER)
      const punches = [1, 2].map((id) => punch({ id: TimePunchId.make(id), tips }))
      const byTips = yield* Stream.fromArray(punches).pipe(
        Stream.run(Labor.rollup((each) => each.userId, options)),
        Effect.flip
      )
      const dear = punch({ hourlyWage: Cents.make(Number.MAX_SAFE_INTEGER) })
      const byCost = yield* Stream.run(Stream.make(dear), Labor.rollup((each) => each.userId, options)).pipe(
        Effect.flip
      )

      assert.deepStrictEqual(byTips, new Labor.SumOverflow({ field: "tips", punchId: TimePunchId.make(2) }))
      assert.strictEqual(byTips.message, "adding punch 2 makes the sum of tips exceed 2^53")
      assert.strictEqual(byCost.field, "cost")
    }))

  it.effect("starts each run with empty sums", () =>
    Effect.gen(function*() {
      const sink = Labor.rollup((each) => each.userId, options)
      const first = yield* Stream.run(Stream.make(punch()), sink)
      const second = yield* Stream.run(Stream.make(punch()), sink)

      assert.deepStrictEqual(HashMap.toEntries(second), HashMap.toEntries(first))
    }))

  it.effect.prop(
    "equals a fold punch by punch, however the punches are chunked and ordered",
    { samples: Arbitrary.array(Sample, { maxLength: 30 }), chunk: ChunkSize, rounding: Labor.Rounding },
    ({ chunk, rounding, samples }) =>
      Effect.gen(function*() {
        const punches = samples.map((sample) => sample.punch)
        const rules = { rounding, asOf: at(samples[0]?.asOf ?? 0) }
        const run = (input: ReadonlyArray<TimePunch>, size: number) =>
          Stream.fromArray(input).pipe(
            Stream.rechunk(size),
            Stream.run(Labor.rollup(byUser, rules)),
            Effect.map((totals) => new Map(HashMap.toEntries(totals)))
          )

        const expected = folded(punches, byUser, rules)
        assert.deepStrictEqual(yield* run(punches, punches.length + 1), expected)
        assert.deepStrictEqual(yield* run(punches, chunk), expected)
        assert.deepStrictEqual(yield* run(punches.toReversed(), 2), expected)
      })
  )
})
