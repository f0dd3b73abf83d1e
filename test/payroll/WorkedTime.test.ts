import { assert, describe, it } from "@effect/vitest"
import { DateTime, Duration, Option, Schema } from "effect"
import * as WorkedTime from "../../src/payroll/WorkedTime.ts"
import { at, punch, rest, type RestParts, Sample, tick } from "../support/arbitraryPunch.ts"

const open = { clockedOut: Option.none<DateTime.Utc>() }
const shift = (instant: DateTime.Utc, ticks: number) => DateTime.addDuration(instant, Duration.millis(ticks * tick))

describe("WorkedTime.of", () => {
  it("subtracts unpaid breaks and keeps paid ones", () => {
    const breaks = [{ in: 3600, out: 5400, paid: false }, { in: 10_000, out: 10_600, paid: true }].map(rest)
    const { anomalies, durations } = WorkedTime.measure(punch({ breaks }))
    const { net, paidBreaks, unpaidBreaks } = Option.getOrThrow(durations)

    assert.deepStrictEqual([net, unpaidBreaks, paidBreaks].map(Duration.toSeconds), [27_000, 1800, 600])
    assert.deepStrictEqual(anomalies, [])
  })

  it("has neither an overlap of breaks that touch, nor one outside that begins as the punch ends", () => {
    const touching = [{ in: 100, out: 200 }, { in: 200, out: 300 }, { in: 8 * 3600, out: 8 * 3600 }]
    const breaks = touching.map((each) => rest({ ...each, paid: false }))

    assert.deepStrictEqual(WorkedTime.measure(punch({ breaks })).anomalies, [])
  })

  it("has no durations, rather than zero ones, for an open punch without asOf", () => {
    assert.deepStrictEqual(WorkedTime.measure(punch(open)), {
      durations: Option.none(),
      open: true,
      anomalies: ["OpenPunch"]
    })
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
