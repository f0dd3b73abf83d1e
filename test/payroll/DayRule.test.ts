import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, DateTime, Result, Schema } from "effect"
import { BusinessDate, LocationId } from "../../src/Ids.ts"
import * as Period from "../../src/payroll/Period.ts"
import type { TimePunch } from "../../src/TimePunch.ts"
import { punch } from "../support/arbitraryPunch.ts"

const zone = DateTime.zoneMakeNamedUnsafe
const date = (text: string) => BusinessDate.make(text)
const [east, middle, far, unknown] = [301, 302, 303, 309].map((id) => LocationId.make(id))
if (east === undefined || middle === undefined || far === undefined || unknown === undefined) throw new Error("ids")

const three = Period.dayRules(
  new Map([[east, zone("America/New_York")], [middle, zone("America/Chicago")], [far, zone("Pacific/Honolulu")]])
)
const weekOf = (text: string) => (each: Period.DayRule) => Period.week(each, date(text))
const iso = ({ gte, lt }: Period.Interval) => [DateTime.formatIso(gte), DateTime.formatIso(lt)]
const punchAt = (locationId: LocationId, instant: string): TimePunch =>
  punch({ locationId, clockedIn: DateTime.makeUnsafe(instant) })

describe("Period.dayRules", () => {
  it("names the location that has none", () => {
    assert.deepStrictEqual(three.getDayRule(unknown), Result.fail(new Period.MissingDayRule({ locationId: unknown })))
    assert.strictEqual(new Period.MissingDayRule({ locationId: unknown }).message, "location 309 has no zone")
  })

  it("lists each zone once", () => {
    const zones = Period.dayRules(new Map([[east, zone("Europe/Berlin")], [far, zone("Europe/Berlin")]]))

    assert.deepStrictEqual(zones.all, [zone("Europe/Berlin")])
    assert.strictEqual(Result.getOrThrow(zones.getDayRule(east)), Result.getOrThrow(zones.getDayRule(far)))
  })
})

describe("Period.dayRules of clocks", () => {
  it("lists each zone once for each start of its days", () => {
    const berlin = zone("Europe/Berlin")
    const zones = Period.dayRules(
      new Map<LocationId, Period.DayRule>([
        [east, { zone: berlin, dayStarts: "4 hours" }],
        [middle, { zone: zone("Europe/Berlin"), dayStarts: 4 * 3_600_000 }],
        [far, berlin],
        [unknown, { zone: berlin, dayStarts: 0 }]
      ])
    )

    assert.lengthOf(zones.all, 2)
    assert.strictEqual(Result.getOrThrow(zones.getDayRule(east)), Result.getOrThrow(zones.getDayRule(middle)))
    assert.strictEqual(Result.getOrThrow(zones.getDayRule(far)), Result.getOrThrow(zones.getDayRule(unknown)))
  })
})

describe("Period.byLocation", () => {
  // The clocks of New York and Chicago change on 8 March 2026, those of Honolulu never.
  const week = Period.byLocation(three, weekOf("2026-03-08"))

  it("has the period of each location by its own day rule", () => {
    assert.deepStrictEqual([east, middle, far].map((each) => iso(Result.getOrThrow(week.getPeriod(each)))), [
      ["2026-03-02T05:00:00.000Z", "2026-03-09T04:00:00.000Z"],
      ["2026-03-02T06:00:00.000Z", "2026-03-09T05:00:00.000Z"],
      ["2026-03-02T10:00:00.000Z", "2026-03-09T10:00:00.000Z"]
    ])
  })

  it("lists from the first instant in any zone to the last", () => {
    assert.deepStrictEqual(iso(week.queryWindow), ["2026-03-02T05:00:00.000Z", "2026-03-09T10:00:00.000Z"])
    assert.deepStrictEqual(iso(week.widest), ["2026-03-01T07:00:00.000Z", "2026-03-09T15:00:00.000Z"])
  })

  it("has a zone beyond those of the world in the widest window", () => {
    const beyond = Period.byLocation(
      Period.dayRules(new Map([[east, DateTime.zoneMakeOffset(-20 * 3_600_000)]])),
      weekOf("2026-03-08")
    )

    assert.deepStrictEqual(iso(beyond.widest), ["2026-03-01T07:00:00.000Z", "2026-03-09T20:00:00.000Z"])
  })

  it("contains a punch in the period of its own location", () => {
    // 23:30 of Sunday in Honolulu is Monday morning in New York.
    const instant = "2026-03-09T09:30:00Z"

    assert.deepStrictEqual(week.contains(punchAt(far, instant)), Result.succeed(true))
    assert.deepStrictEqual(week.contains(punchAt(east, instant)), Result.succeed(false))
    assert.deepStrictEqual(
      week.contains(punchAt(unknown, instant)),
      Result.fail(new Period.MissingDayRule({ locationId: unknown }))
    )
  })

  it("lists the periods of all zones of the world if no location has one, so that the first punch names its own", () => {
    const none = Period.byLocation(Period.dayRules(new Map()), weekOf("2026-03-08"))

    assert.deepStrictEqual(none.queryWindow, none.widest)
    assert.isTrue(Result.isFailure(none.getPeriod(east)))
  })

  it("is the plain period, and never fails, if one zone stands for all", () => {
    const everywhere: Period.LocalPeriods = Period.byLocation(zone("Europe/Berlin"), weekOf("2026-03-29"))

    assert.deepStrictEqual(everywhere.queryWindow, Period.week(zone("Europe/Berlin"), date("2026-03-29")))
    assert.deepStrictEqual(everywhere.getPeriod(unknown), Result.succeed(everywhere.queryWindow))
  })

  it("has in the widest window each start of a day that a location has", () => {
    const clocks = new Map<LocationId, Period.DayRule>([
      [east, { zone: zone("America/New_York"), dayStarts: "4 hours" }],
      [far, { zone: zone("Pacific/Honolulu"), dayStarts: "-2 hours" }]
    ])
    const { queryWindow, widest } = Period.byLocation(Period.dayRules(clocks), weekOf("2026-03-08"))

    assert.deepStrictEqual(iso(queryWindow), ["2026-03-02T08:00:00.000Z", "2026-03-09T08:00:00.000Z"])
    assert.deepStrictEqual(iso(widest), ["2026-03-01T05:00:00.000Z", "2026-03-09T19:00:00.000Z"])
  })

  it("has in the widest window a day on which clocks were set back, also if it is today", () => {
    // 8 November 2010, 03:00 UTC is still the 7th in St. John's, which lasted from 02:30 UTC to 03:30 UTC.
    const now = DateTime.makeUnsafe("2010-11-08T03:00:00Z")
    const today = (dayRule: Period.DayRule) => {
      const date = Period.businessDate(dayRule, now)
      return Period.localDays(dayRule, date, date)
    }
    const { widest } = Period.byLocation(Period.dayRules(new Map()), today)

    assert.strictEqual(DateTime.formatIso(today(zone("America/St_Johns")).gte), "2010-11-07T02:30:00.000Z")
    assert.isAtMost(widest.gte.epochMilliseconds, today(zone("America/St_Johns")).gte.epochMilliseconds)
  })

  it("accepts zones that a program makes itself", () => {
    const own: Period.DayRules = { all: [], getDayRule: () => Result.succeed(zone("Asia/Kolkata")) }
    const day = Period.byLocation(own, (each) => Period.localDays(each, date("2026-03-02"), date("2026-03-02")))

    assert.deepStrictEqual(iso(Result.getOrThrow(day.getPeriod(east))), [
      "2026-03-01T18:30:00.000Z",
      "2026-03-02T18:30:00.000Z"
    ])
  })
})

const names = [
  "UTC",
  "America/Los_Angeles",
  "America/Havana",
  "America/St_Johns",
  "Asia/Beirut",
  "Asia/Kolkata",
  "Australia/Lord_Howe",
  "Europe/Berlin",
  "Pacific/Apia",
  "Pacific/Kiritimati",
  "Pacific/Pago_Pago"
] as const

/** A zone for each of some locations, an instant of 1995 to 2035 in seconds, and a location of them. */
const Case = Arbitrary.schema(Schema.Struct({
  zones: Schema.NonEmptyArray(Schema.Literals(names)),
  instant: Schema.Int.check(Schema.isBetween({ minimum: 788_918_400, maximum: 2_051_222_400 })),
  at: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 100 }))
})).pipe(Arbitrary.map(({ at, instant, zones }) => {
  const byLocation = new Map(zones.map((name, index) => [LocationId.make(index), zone(name)]))
  const locationId = LocationId.make(at % zones.length)
  const clockedIn = DateTime.makeUnsafe(instant * 1000)
  return { byLocation, punch: punch({ locationId, clockedIn }), zone: byLocation.get(locationId) ?? zone("UTC") }
}))

const kinds = [
  (each: BusinessDate) => (zone: Period.DayRule) => Period.localDays(zone, each, each),
  (each: BusinessDate) => (zone: Period.DayRule) => Period.week(zone, each, { firstDay: "sunday" }),
  (each: BusinessDate) => (zone: Period.DayRule) => Period.month(zone, each)
]

describe("Every period by location", () => {
  it.prop("is one of those that tile the time of a location", [Case], ([each]) => {
    const zones = Period.dayRules(each.byLocation)
    const today = Period.businessDate(each.zone, each.punch.clockedIn)
    // A day, a week and a month before, now, and after: only the middle one has the punch.
    for (const [index, kind] of kinds.entries()) {
      const own = kind(today)(each.zone)
      const before = Period.businessDate(each.zone, DateTime.subtract(own.gte, { milliseconds: 1 }))
      const after = Period.businessDate(each.zone, own.lt)
      const holds = [before, today, after].map((date) =>
        Result.getOrThrow(Period.byLocation(zones, kind(date)).contains(each.punch))
      )
      assert.deepStrictEqual(holds, [false, true, false], `kind ${index}`)
    }
  })

  it.prop("lies in the window, which no zone exceeds, and that in the widest one", [Case], ([each]) => {
    const date = Period.businessDate(each.zone, each.punch.clockedIn)
    for (const kind of kinds) {
      const { getPeriod, queryWindow, widest } = Period.byLocation(Period.dayRules(each.byLocation), kind(date))
      const own = [...each.byLocation.keys()].map((locationId) => Result.getOrThrow(getPeriod(locationId)))

      assert.strictEqual(queryWindow.gte.epochMilliseconds, Math.min(...own.map(({ gte }) => gte.epochMilliseconds)))
      assert.strictEqual(queryWindow.lt.epochMilliseconds, Math.max(...own.map(({ lt }) => lt.epochMilliseconds)))
      for (const name of names) {
        const { gte, lt } = kind(date)(zone(name))
        assert.isTrue(widest.gte.epochMilliseconds <= gte.epochMilliseconds)
        assert.isTrue(lt.epochMilliseconds <= widest.lt.epochMilliseconds)
      }
    }
  })

  it.prop("lies in the widest one, also where its date is that of today", [Case], ([each]) => {
    const today = (zone: Period.DayRule) => {
      const date = Period.businessDate(zone, each.punch.clockedIn)
      return Period.localDays(zone, date, date)
    }
    const { widest } = Period.byLocation(Period.dayRules(new Map()), today)
    for (const name of names) {
      const { gte, lt } = today(zone(name))
      assert.isAtMost(widest.gte.epochMilliseconds, gte.epochMilliseconds)
      assert.isAtLeast(widest.lt.epochMilliseconds, lt.epochMilliseconds)
    }
  })
})
