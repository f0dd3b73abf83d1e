import { assert, describe, it } from "@effect/vitest"
import { DateTime, Duration, Effect, Option, Result, Schema } from "effect"
import * as CloseTerms from "../../src/close/CloseTerms.ts"
import { openHoles } from "../../src/close/holes.ts"
import { CloseNumber } from "../../src/close/ids.ts"
import type { LocationId } from "../../src/Ids.ts"
import type * as Period from "../../src/payroll/Period.ts"
import { berlin, date, east, far, newYork, run, shift, terms, termsOptions } from "./terms.ts"

/** Options as untyped code passes them. */
const untyped = (changes: object): Partial<CloseTerms.CloseTermsOptions> => changes

describe("CloseTerms.make", () => {
  it("takes a threshold in every form of a duration, as the check and the hours over a threshold do", () => {
    const ofTexts = terms({ weeklyThreshold: "40 hours", dailyThreshold: "8 hours" })

    assert.deepStrictEqual(ofTexts, terms({ weeklyThreshold: Duration.hours(40), dailyThreshold: Duration.hours(8) }))
  })

  it("keeps the first instant of each day, across a change of clocks", () => {
    const { clocks, daysFrom, locations } = terms({ weeklyThreshold: Duration.hours(40) })
    const starts = clocks[0]?.starts.map(DateTime.formatIso) ?? []

    // The week that the three days before the period lie in.
    assert.strictEqual(daysFrom, "2026-02-23")
    assert.lengthOf(starts, 22)
    assert.deepStrictEqual(starts.slice(13, 15), ["2026-03-08T05:00:00.000Z", "2026-03-09T04:00:00.000Z"])
    assert.deepStrictEqual(locations, [{ locationId: Option.none(), clock: 0, begins: Option.none() }])
  })

  const night = { zone: newYork, dayStarts: "20 hours" } as const
  const threshold =
    "must be at least a minute, or zero, and finite, such as \"8 hours\"; a number alone is milliseconds"
  const start = "must be a duration from -12 to 12 hours, such as \"4 hours\"; a number alone is milliseconds"
  const offset = "must be a time zone less than a day away from UTC"
  const calendar = "must be from 0001-02-01 to 9999-11-30"

  it.each<readonly [changes: object, text: string]>([
    [{ weeklyThreshold: 40 }, `weeklyThreshold: ${threshold}`],
    [{ dailyThreshold: Duration.infinity }, `dailyThreshold: ${threshold}`],
    [{ doubleThreshold: NaN }, `doubleThreshold: ${threshold}`],
    [{ seventhDay: Duration.infinity }, `seventhDay: ${threshold}`],
    // A setting that is no number, and one that is not there.
    ...[{ hours: NaN }, { hours: undefined }, {}, { hour: 8 }, { hours: "x" }, [8, NaN], new Map()].map((seventhDay) =>
      [{ seventhDay }, `seventhDay: ${threshold}`] as const
    ),
    [{ weeklyTreshold: "40 hours" }, "weeklyTreshold: is not an option; did you mean weeklyThreshold?"],
    [
      { rounding: "HalfUp" },
      "rounding: must be one of \"halfUp\", \"halfEven\", \"down\", \"up\"; did you mean halfUp?"
    ],
    [{ dayRule: night }, `dayRule.dayStarts: ${start}`],
    [
      { dayRule: new Map<LocationId, Period.DayRule>([[east, newYork], [far, night]]) },
      `dayRule[303].dayStarts: ${start}`
    ],
    [{ dayRule: DateTime.zoneMakeOffset(NaN) }, `dayRule: ${offset}`],
    [{ dayRule: { zone: DateTime.zoneMakeOffset(86_400_000), dayStarts: 0 } }, `dayRule.zone: ${offset}`],
    [{ dayRule: new Map([["301", newYork]]) }, "dayRule[301]: must be of a location id"],
    [{ first: "2026-03-16" }, "last: must be the first date or a later one"],
    [{ first: "2026-3-2" }, "first: must be a date of the calendar, such as 2026-03-02"],
    [{ first: "0001-01-01" }, `first: ${calendar}`],
    [{ last: "9999-12-31" }, `last: ${calendar}`]
  ])("refuses by its name what it would record otherwise: %o", (changes, text) => {
    const result = CloseTerms.make({ ...termsOptions, ...untyped(changes) })

    assert.deepStrictEqual(
      Result.match(result, {
        onFailure: ({ companyId, detail, field }) => [companyId, `${field}: ${detail}`],
        onSuccess: () => []
      }),
      [termsOptions.companyId, text]
    )
  })

  it("takes the first and the last dates of the calendar that it can count", () => {
    for (const day of ["0001-02-01", "9999-11-30"].map(date)) {
      const own = terms({ first: day, last: day, weeklyThreshold: "40 hours" })
      const text = JSON.stringify(Schema.encodeSync(CloseTerms.CloseTerms)(own))

      assert.deepStrictEqual(Schema.decodeSync(CloseTerms.CloseTerms)(JSON.parse(text)), own)
    }
  })

  it("reads back from its JSON", () => {
    const own = terms({ dayRule: new Map([[far, berlin], [east, newYork]]), dailyThreshold: Duration.minutes(450) })
    const text = JSON.stringify(Schema.encodeSync(CloseTerms.CloseTerms)(own))

    assert.deepStrictEqual(Schema.decodeSync(CloseTerms.CloseTerms)(JSON.parse(text)), own)
  })
})

describe("two closes", () => {
  const named = (of: CloseTerms.CloseTerms, close = 1) => ({ close: CloseNumber.make(close), terms: of })
  const first = terms()
  const next = terms({ first: date("2026-03-16"), last: date("2026-03-29") })
  const hours = (found: ReadonlyArray<Pick<CloseTerms.Neighbour<unknown>, "locationId" | "interval">>) =>
    found.map(({ interval, locationId }) => [locationId, (interval.to - interval.from) / 3_600_000])

  it("meet without an overlap or a gap under one day rule", () => {
    assert.deepStrictEqual(hours(CloseTerms.overlaps(next, [named(first)])), [])
    assert.deepStrictEqual(hours(openHoles([], [named(next), named(first)])), [])
  })

  it("overlap by instants, location by location, where one has another zone", () => {
    const moved = terms({ first: next.first, last: next.last, dayRule: new Map([[far, berlin]]) })

    // Berlin begins its day five hours earlier than New York after the change of its clocks.
    assert.deepStrictEqual(hours(CloseTerms.overlaps(moved, [named(first)])), [[far, 5]])
    assert.deepStrictEqual(
      hours(openHoles([], [named(terms({ dayRule: new Map([[far, berlin]]) })), named(next)])),
      [[
        far,
        5
      ]]
    )
  })

  it("meet again where the beginning is aligned with the end of the one before", () => {
    const moved = terms({ first: next.first, last: next.last, dayRule: new Map([[far, berlin], [east, newYork]]) })
    const aligned = CloseTerms.alignEdges(moved, [first])

    assert.deepStrictEqual(hours(CloseTerms.overlaps(aligned, [named(first)])), [])
    assert.deepStrictEqual(hours(openHoles([], [named(aligned), named(first)])), [])
    assert.strictEqual(CloseTerms.getInterval(aligned, far)?.from, CloseTerms.getInterval(first, far)?.to)
    // A later close, as after a void in the middle, says nothing of the beginning.
    const after = terms({ first: date("2026-03-30"), last: date("2026-04-12") })
    assert.deepStrictEqual(CloseTerms.alignEdges(moved, [first, after]), aligned)
  })

  it("are not aligned over two days and more, nor where the period is the same", () => {
    const later = terms({ first: date("2026-03-19"), last: date("2026-03-29") })

    assert.deepStrictEqual(CloseTerms.alignEdges(later, [first]), later)
    assert.deepStrictEqual(CloseTerms.alignEdges(first, [first]), first)
    assert.lengthOf(CloseTerms.overlaps(first, [named(first)]), 1)
  })

  it("are not aligned if the one before reaches to their end, since no instant would be left", () => {
    const day = terms({ first: first.last, last: first.last })

    assert.deepStrictEqual(CloseTerms.alignEdges(day, [first]), day)
    assert.isNotEmpty(CloseTerms.overlaps(day, [named(first)]))
  })

  it.effect("count a punch of the moved beginning once", () =>
    Effect.gen(function*() {
      // New York closed up to Monday 04:00Z; Berlin would begin on Sunday 23:00Z.
      const moved = terms({ first: next.first, last: next.last, dayRule: new Map([[far, berlin], [east, newYork]]) })
      const aligned = CloseTerms.alignEdges(moved, [first])
      const night = shift("2026-03-16T01:00:00Z", 2, { locationId: far })
      const one = yield* run([night], first)
      const other = yield* run([night], aligned)

      assert.deepStrictEqual([one.rows.length, other.rows.length], [1, 0])
    }))
})
