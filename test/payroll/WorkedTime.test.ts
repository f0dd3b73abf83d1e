import { assert, describe, it } from "@effect/vitest"
import { DateTime, Duration, Option, Schema } from "effect"
import * as WorkedTime from "../../src/payroll/WorkedTime.ts"
import type { TimePunch } from "../../src/TimePunch.ts"
import { at, punch, rest, type RestParts, Sample, tick } from "../support/arbitraryPunch.ts"

/** Net, unpaid and paid seconds of a day of eight hours with these breaks, or undefined. */
const measured = (breaks: ReadonlyArray<RestParts>, changes: Partial<TimePunch> = {}) => {
  const worked = WorkedTime.measure(punch({ breaks: breaks.map(rest), ...changes }))
  const { net, paidBreaks, unpaidBreaks } = Option.getOrThrow(worked.durations)
  return {
    net: Duration.toSeconds(net),
    unpaid: Duration.toSeconds(unpaidBreaks),
    paid: Duration.toSeconds(paidBreaks),
    anomalies: worked.anomalies
  }
}

const open = { clockedOut: Option.none<DateTime.Utc>() }
const shift = (instant: DateTime.Utc, ticks: number) => DateTime.addDuration(instant, Duration.millis(ticks * tick))

describe("WorkedTime.of", () => {
  it("subtracts unpaid breaks and keeps paid ones", () => {
    const breaks = [{ in: 3600, out: 5400, paid: false }, { in: 10_000, out: 10_600, paid: true }]

    assert.deepStrictEqual(measured(breaks), { net: 27_000, unpaid: 1800, paid: 600, anomalies: [] })
  })

  it("counts an instant in a paid and an unpaid break as unpaid, once", () => {
    const breaks = [{ in: 100, out: 300, paid: true }, { in: 200, out: 400, paid: false }]

    assert.deepStrictEqual(measured(breaks), { net: 28_600, unpaid: 200, paid: 100, anomalies: ["BreaksOverlap"] })
  })

  it("unites breaks that overlap; touching breaks do not overlap", () => {
    const nested = [{ in: 100, out: 400, paid: false }, { in: 200, out: 300, paid: false }]
    const touching = [{ in: 100, out: 200, paid: false }, { in: 200, out: 300, paid: false }]

    assert.deepStrictEqual(measured(nested), { net: 28_500, unpaid: 300, paid: 0, anomalies: ["BreaksOverlap"] })
    assert.deepStrictEqual(measured(touching), { net: 28_600, unpaid: 200, paid: 0, anomalies: [] })
  })

  it("leaves deleted breaks out of the time and of the anomalies", () => {
    const live = { in: 3600, out: 5400, paid: false }
    const paid = { in: 10_000, out: 10_600, paid: true }
    const alone = measured([live, paid])
    const beside: ReadonlyArray<RestParts> = [
      // Open, a twin of the paid one, one that shares time with the other, outside, at both edges, negative.
      { in: 20_000, out: null, paid: false },
      { ...paid, paid: false },
      { in: 5000, out: 6000, paid: false },
      { in: -600, out: 40_000, paid: false },
      { in: 0, out: 900, paid: false },
      { in: 27_900, out: 28_800, paid: false },
      { in: 700, out: 600, paid: true }
    ]

    assert.deepStrictEqual(alone, { net: 27_000, unpaid: 1800, paid: 600, anomalies: [] })
    for (const each of [...beside.map((one) => [one]), beside]) {
      const deleted = each.map((one) => Object.assign({}, one, { deleted: true }))
      assert.deepStrictEqual(measured([...deleted, live, paid]), alone)
      assert.deepStrictEqual(measured([live, paid, ...deleted]), alone)
      assert.deepStrictEqual(measured(deleted), { net: 28_800, unpaid: 0, paid: 0, anomalies: [] })
    }
    const nothing = WorkedTime.measure(punch({ ...open, breaks: beside.map((one) => rest({ ...one, deleted: true })) }))
    assert.deepStrictEqual(nothing.anomalies, ["OpenPunch"])
  })

  it("clips a break to the punch, as an anomaly", () => {
    const breaks = [{ in: -600, out: 600, paid: false }, { in: 28_000, out: 30_000, paid: false }]

    assert.deepStrictEqual(measured(breaks), { net: 27_400, unpaid: 1400, paid: 0, anomalies: ["BreakOutsidePunch"] })
  })

  it("ignores a break that ends before it begins, as an anomaly", () => {
    assert.deepStrictEqual(
      measured([{ in: 300, out: 100, paid: false }]),
      { net: 28_800, unpaid: 0, paid: 0, anomalies: ["NegativeBreak"] }
    )
  })

  it("ends an open break of a closed punch with the punch, as an anomaly", () => {
    assert.deepStrictEqual(
      measured([{ in: 27_000, out: null, paid: false }]),
      { net: 27_000, unpaid: 1800, paid: 0, anomalies: ["OpenBreakInClosedPunch"] }
    )
  })

  it("has no durations, rather than zero ones, for an open punch without asOf", () => {
    assert.deepStrictEqual(WorkedTime.measure(punch(open)), {
      durations: Option.none(),
      open: true,
      anomalies: ["OpenPunch"]
    })
  })

  it("measures an open punch and its open break up to asOf", () => {
    const worked = WorkedTime.measure(punch({ ...open, breaks: [rest({ in: 3000, out: null, paid: false })] }), {
      asOf: at(3600)
    })

    assert.deepStrictEqual(worked.anomalies, ["OpenPunch"])
    assert.deepStrictEqual(Option.map(worked.durations, ({ net }) => Duration.toSeconds(net)), Option.some(3000))
  })

  it("has no durations if asOf lies before the clock-in", () => {
    assert.deepStrictEqual(WorkedTime.measure(punch(open), { asOf: at(-1) }), {
      durations: Option.none(),
      open: true,
      anomalies: ["OpenPunch", "AsOfBeforeClockIn"]
    })
  })

  it("has no durations for a punch that ends before it begins", () => {
    assert.deepStrictEqual(WorkedTime.measure(punch({ clockedOut: Option.some(at(-1)) }), { asOf: at(100) }), {
      durations: Option.none(),
      open: false,
      anomalies: ["NegativeSpan"]
    })
  })

  it("measures a punch of no length as zero, as an anomaly", () => {
    assert.deepStrictEqual(
      measured([], { clockedOut: Option.some(at(0)) }),
      { net: 0, unpaid: 0, paid: 0, anomalies: ["ZeroLength"] }
    )
  })

  it("reads an asOf of any zone as the instant that it is", () => {
    const asOf = DateTime.setZoneOffset(at(60), 2 * 3_600_000)

    assert.deepStrictEqual(WorkedTime.measure(punch(open), { asOf }), WorkedTime.measure(punch(open), { asOf: at(60) }))
  })

  it.prop("agrees with counting second by second", [Sample], ([sample]) => {
    const end = sample.end ?? sample.asOf
    const worked = WorkedTime.measure(sample.punch, { asOf: at(sample.asOf) })

    if (end < sample.start) return assert.isTrue(Option.isNone(worked.durations))
    const seconds = Array.from({ length: end - sample.start }, (_, index) => sample.start + index)
    const within = (second: number, paid: boolean) =>
      sample.breaks.some((each) => each.paid === paid && each.in <= second && second < (each.out ?? Infinity))
    const unpaid = seconds.filter((second) => within(second, false)).length
    const paid = seconds.filter((second) => within(second, true) && !within(second, false)).length
    const { gross, net, paidBreaks, unpaidBreaks } = Option.getOrThrow(worked.durations)
    assert.deepStrictEqual([gross, paidBreaks, unpaidBreaks, net].map((each) => Duration.toSeconds(each)), [
      seconds.length,
      paid,
      unpaid,
      seconds.length - unpaid
    ])
  })

  it.prop("names every anomaly that its definition finds, in their order", [Sample], ([sample]) => {
    const { breaks, end, start } = sample
    const endOf = (each: RestParts) => each.out ?? end ?? Infinity
    const seconds = (each: RestParts) =>
      Array.from({ length: 120 }, (_, index) => index - 40).filter((now) => each.in <= now && now < endOf(each))
    const found: Record<WorkedTime.Anomaly, boolean> = {
      OpenPunch: end === null,
      AsOfBeforeClockIn: end === null && sample.asOf < start,
      NegativeSpan: end !== null && end < start,
      ZeroLength: end === start,
      BreakOutsidePunch: (end === null || end >= start) &&
        breaks.some((each) => each.in < start || (end !== null && (each.in > end || (each.out ?? end) > end))),
      BreaksOverlap: breaks.some((each, index) =>
        breaks.slice(index + 1).some((other) => seconds(each).some((now) => seconds(other).includes(now)))
      ),
      NegativeBreak: breaks.some((each) => each.out !== null && each.out < each.in),
      OpenBreakInClosedPunch: end !== null && breaks.some((each) => each.out === null),
      NothingPaid: end !== null && end > start && Array.from({ length: end - start }, (_, second) => start + second)
        .every((second) => breaks.some((each) => !each.paid && seconds(each).includes(second)))
    }

    assert.deepStrictEqual(
      WorkedTime.measure(sample.punch, { asOf: at(sample.asOf) }).anomalies,
      WorkedTime.Anomaly.literals.filter((anomaly) => found[anomaly])
    )
  }, { arbitrary: { runs: 500 } })

  const Move = Schema.Int.check(Schema.isBetween({ minimum: -1_000_000, maximum: 1_000_000 }))

  it.prop("does not change when everything moves in time", [Sample, Move], ([sample, by]) => {
    const moved = {
      ...sample.punch,
      clockedIn: shift(sample.punch.clockedIn, by),
      clockedOut: Option.map(sample.punch.clockedOut, (out) => shift(out, by)),
      breaks: sample.punch.breaks.map((each) => ({
        ...each,
        in: shift(each.in, by),
        out: Option.map(each.out, (out) => shift(out, by))
      }))
    }

    assert.deepStrictEqual(
      WorkedTime.measure(moved, { asOf: at(sample.asOf + by) }),
      WorkedTime.measure(sample.punch, { asOf: at(sample.asOf) })
    )
  })

  it.prop(
    "is not affected by asOf if the punch is closed, and otherwise gains only its anomaly",
    [Sample],
    ([sample]) => {
      const without = WorkedTime.measure(sample.punch)
      const withIt = WorkedTime.measure(sample.punch, { asOf: at(sample.asOf) })

      if (!without.open) return assert.deepStrictEqual(withIt, without)
      assert.deepStrictEqual(withIt.anomalies.filter((anomaly) => anomaly !== "AsOfBeforeClockIn"), without.anomalies)
    }
  )
})
