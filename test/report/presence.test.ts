/** People on the clock: the hours of a week have the net time of the punches, by the clock of their location. */
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Duration, Option } from "effect"
import { BusinessDate } from "../../src/Ids.ts"
import { WorkedTime } from "../../src/payroll/index.ts"
import { makePresence, type Presence } from "../../src/report/presence.ts"
import type { TimePunch } from "../../src/TimePunch.ts"
import { at, punch, rest, Sample } from "../support/arbitraryPunch.ts"

const newYork = DateTime.zoneMakeNamedUnsafe("America/New_York")

const week = { first: BusinessDate.make("2026-03-02"), last: BusinessDate.make("2026-03-08") }

const presenceOf = (
  punches: ReadonlyArray<TimePunch>,
  { asOf, dates = week, zone = newYork }: {
    readonly asOf?: DateTime.Utc
    readonly dates?: typeof week
    readonly zone?: DateTime.TimeZone
  } = {}
): Presence => {
  const presence = makePresence(asOf)
  for (const each of punches) presence.add(each, zone)
  return presence.result(() => dates)
}

/** The hours with anybody, as `weekday hour people`; 0 is Sunday. */
const present = (presence: Presence): ReadonlyArray<string> =>
  presence.flatMap((people, hour) => people === 0 ? [] : [`${Math.floor(hour / 24)} ${hour % 24} ${people}`])

const shift = (from: string, to: string, breaks: TimePunch["breaks"] = []) =>
  punch({ clockedIn: DateTime.makeUnsafe(from), clockedOut: Option.some(DateTime.makeUnsafe(to)), breaks })

describe("people on the clock", () => {
  it.prop("have the net time of every punch, whatever its breaks", [Sample], ([{ asOf, punch }]) => {
    const options = { asOf: at(asOf) }
    const net = Option.match(WorkedTime.measure(punch, options).durations, {
      onNone: () => 0,
      onSome: ({ net }) => Duration.toHours(net)
    })
    // Every weekday is there once, so that no hour is divided.
    const hours = presenceOf([punch], options).reduce((sum, each) => sum + each, 0)

    assert.closeTo(hours, net, 1e-9)
  })

  it("are in the hours of the wall clock, a night after midnight in those of the next weekday", () => {
    // Monday 22:30 to Tuesday 01:00 in New York.
    assert.deepStrictEqual(present(presenceOf([shift("2026-03-03T03:30:00Z", "2026-03-03T06:00:00Z")])), [
      "1 22 0.5",
      "1 23 1",
      "2 0 1"
    ])
    // The night from the last Sunday of the period continues in its Monday.
    assert.deepStrictEqual(present(presenceOf([shift("2026-03-09T03:00:00Z", "2026-03-09T05:00:00Z")])), [
      "0 23 1",
      "1 0 1"
    ])
  })

  it("leave out unpaid breaks only, unless they are deleted", () => {
    const breaks = [
      rest({ in: 0, out: 1800, paid: false }),
      rest({ in: 3600, out: 5400, paid: true }),
      rest({ in: 1800, out: null, paid: false, deleted: true })
    ]

    assert.deepStrictEqual(present(presenceOf([shift("2026-03-02T08:00:00Z", "2026-03-02T10:00:00Z", breaks)])), [
      "1 3 0.5",
      "1 4 1"
    ])
  })

  it("have nothing in an hour that the clocks skip, and both in one that they repeat", () => {
    const spring = shift("2026-03-08T06:00:00Z", "2026-03-08T08:00:00Z")
    const autumn = shift("2026-11-01T04:30:00Z", "2026-11-01T07:00:00Z")

    assert.deepStrictEqual(present(presenceOf([spring])), ["0 1 1", "0 3 1"])
    const change = DateTime.makeUnsafe("2026-03-08T07:00:00Z")
    const deleted = { ...rest({ in: 0, out: null, paid: false, deleted: true }), in: change }
    assert.deepStrictEqual(present(presenceOf([{ ...spring, breaks: [deleted] }])), ["0 1 1", "0 3 1"])
    assert.deepStrictEqual(present(presenceOf([autumn])), ["0 0 0.5", "0 1 2"])
  })

  it("change the hour in the middle of it where the clocks do, in a zone of quarters too", () => {
    const zone = DateTime.zoneMakeNamedUnsafe("Australia/Lord_Howe")
    // Clocks go from 02:00 +11:00 to 01:30 +10:30.
    const night = shift("2026-04-04T14:00:00Z", "2026-04-04T16:00:00Z")

    assert.deepStrictEqual(present(presenceOf([night], { zone })), ["0 1 1.5", "0 2 0.5"])
  })

  it("are the average over the weekdays of the period", () => {
    const dates = { first: BusinessDate.make("2026-03-01"), last: BusinessDate.make("2026-03-31") }
    const mondays = [2, 9].map((day) =>
      shift(`2026-03-${`${day}`.padStart(2, "0")}T17:00:00Z`, `2026-03-${`${day}`.padStart(2, "0")}T18:00:00Z`)
    )

    // Five Mondays: at 12:00 before the change of clocks, at 13:00 after it.
    assert.deepStrictEqual(present(presenceOf(mondays, { dates })), ["1 12 0.2", "1 13 0.2"])
  })

  it("count a punch of years at once", () => {
    const hours = presenceOf([shift("2026-03-02T05:00:00Z", "9999-12-27T05:00:00Z")])
    const weeks = (DateTime.makeUnsafe("9999-12-27T05:00:00Z").epochMilliseconds -
      DateTime.makeUnsafe("2026-03-02T05:00:00Z").epochMilliseconds) / 3_600_000

    assert.strictEqual(hours.reduce((sum, each) => sum + each, 0), weeks)
  })
})
