import { assert, describe, it } from "@effect/vitest"
import { DateTime, Duration, Option, Schema } from "effect"
import { BusinessDate } from "../../src/Ids.ts"
import { PayCalendar } from "../../src/payroll/PayCalendar.ts"
import * as Period from "../../src/payroll/Period.ts"

const zone = DateTime.zoneMakeNamedUnsafe
const day = (date: string) => BusinessDate.make(date)
const hours = (interval: Period.Interval) =>
  (interval.lt.epochMilliseconds - interval.gte.epochMilliseconds) / 3_600_000
const iso = (interval: Period.Interval) => [DateTime.formatIso(interval.gte), DateTime.formatIso(interval.lt)]
const length = (name: string, date: string) => hours(Period.localDays(zone(name), day(date), day(date)))

const names = [
  "UTC",
  "America/New_York",
  "America/Havana",
  "America/Sao_Paulo",
  "America/St_Johns",
  "America/Scoresbysund",
  "Asia/Beirut",
  "Asia/Kolkata",
  "Africa/Casablanca",
  "Antarctica/Troll",
  "Australia/Lord_Howe",
  "Europe/Berlin",
  "Pacific/Apia",
  "Pacific/Auckland"
] as const

const formats = new Map(names.map((name) => [
  name,
  new Intl.DateTimeFormat("en-US", { timeZone: name, year: "numeric", month: "2-digit", day: "2-digit" })
]))

/** The date on the wall clock, from the formatter of the platform and not from the code under test. */
const wallDate = (name: typeof names[number], millis: number): string => {
  const parts = formats.get(name)?.formatToParts(millis) ?? []
  const part = (type: string) => parts.find((each) => each.type === type)?.value ?? ""
  return `${part("year")}-${part("month")}-${part("day")}`
}

const addDays = (date: BusinessDate, days: number) => Option.getOrThrow(Period.addDays(date, days))
/** The instants of the period of so many days. */
const cycle = (
  dayRule: Period.DayRule,
  date: BusinessDate,
  { anchor, days }: { anchor: BusinessDate; days: number }
) => {
  const { first, last } = Period.payPeriod({ kind: "days", days, anchor }, date)
  return Period.localDays(dayRule, first, last)
}

describe("Period.localDays", () => {
  it.each([
    ["a plain day", "America/New_York", "2026-03-07", 24],
    ["a spring day", "America/New_York", "2026-03-08", 23],
    ["an autumn day", "America/New_York", "2026-11-01", 25],
    ["a spring day", "Europe/Berlin", "2026-03-29", 23],
    ["an autumn day", "Europe/Berlin", "2026-10-25", 25],
    ["a spring day of a half hour's change", "Australia/Lord_Howe", "2026-10-04", 23.5],
    ["an autumn day of a half hour's change", "Australia/Lord_Howe", "2026-04-05", 24.5],
    ["a spring day of two hours' change", "Antarctica/Troll", "2026-03-29", 22],
    ["a day whose midnight is skipped", "Asia/Beirut", "2022-03-27", 23],
    ["a day that ends an hour twice", "Asia/Beirut", "2022-10-29", 25],
    ["a day whose midnight is skipped", "America/Havana", "2024-03-10", 23],
    ["a day whose midnight comes twice", "America/Havana", "2024-11-03", 25],
    ["a day whose midnight is skipped", "America/Sao_Paulo", "2018-11-04", 23],
    ["a day that ends an hour twice", "America/Sao_Paulo", "2018-02-17", 25],
    ["a day that the zone skipped", "Pacific/Apia", "2011-12-30", 0],
    ["the day before a skipped one", "Pacific/Apia", "2011-12-29", 24],
    ["a day without any change", "Asia/Kolkata", "2026-03-29", 24]
  ])("gives %s its length: %s on %s is %d hours", (_, name, date, expected) => {
    assert.strictEqual(length(name, date), expected)
  })

  it("begins at midnight, or at the end of the gap that skips it", () => {
    const havana = Period.localDays(zone("America/Havana"), day("2024-03-10"), day("2024-03-10"))
    const kolkata = Period.localDays(zone("Asia/Kolkata"), day("2026-03-01"), day("2026-03-02"))

    assert.deepStrictEqual(iso(havana), ["2024-03-10T05:00:00.000Z", "2024-03-11T04:00:00.000Z"])
    assert.deepStrictEqual(iso(kolkata), ["2026-02-28T18:30:00.000Z", "2026-03-02T18:30:00.000Z"])
  })

  it("begins at the first of two midnights", () => {
    const havana = Period.localDays(zone("America/Havana"), day("2024-11-03"), day("2024-11-03"))

    assert.deepStrictEqual(iso(havana), ["2024-11-03T04:00:00.000Z", "2024-11-04T05:00:00.000Z"])
  })

  it("accepts fixed offsets", () => {
    const interval = Period.localDays(DateTime.zoneMakeOffset(-3.5 * 3_600_000), day("2026-03-01"), day("2026-03-01"))

    assert.deepStrictEqual(iso(interval), ["2026-03-01T03:30:00.000Z", "2026-03-02T03:30:00.000Z"])
  })

  it("reaches from the first date of the calendar to the last", () => {
    const interval = Period.localDays(zone("UTC"), day("0001-01-01"), day("9999-12-31"))

    assert.deepStrictEqual(iso(interval), ["0001-01-01T00:00:00.000Z", "+010000-01-01T00:00:00.000Z"])
  })

  it.each(names)("tiles three years of %s, and contains exactly the instants of its dates", (name) => {
    const end = day("2013-01-01")
    let date = day("2010-01-01")
    let { gte } = Period.localDays(zone(name), date, date)
    while (date < end) {
      const interval = Period.localDays(zone(name), date, date)

      assert.strictEqual(interval.gte.epochMilliseconds, gte.epochMilliseconds)
      if (hours(interval) !== 0) {
        assert.strictEqual(wallDate(name, interval.gte.epochMilliseconds), date)
        assert.isTrue(wallDate(name, interval.gte.epochMilliseconds - 1) < date)
      }
      gte = interval.lt
      date = addDays(date, 1)
    }
  })
})

describe("Period.week", () => {
  it("begins on Monday unless another day is named", () => {
    const berlin = zone("Europe/Berlin")

    assert.deepStrictEqual(iso(Period.week(berlin, day("2026-03-29"))), [
      "2026-03-22T23:00:00.000Z",
      "2026-03-29T22:00:00.000Z"
    ])
    assert.deepStrictEqual(iso(Period.week(berlin, day("2026-03-29"), { firstDay: "sunday" })), [
      "2026-03-28T23:00:00.000Z",
      "2026-04-04T22:00:00.000Z"
    ])
    assert.deepStrictEqual(
      iso(Period.week(zone("UTC"), day("1969-12-31"), { firstDay: "thursday" })),
      ["1969-12-25T00:00:00.000Z", "1970-01-01T00:00:00.000Z"]
    )
  })
})

describe("Period.month", () => {
  it("is as long as its days, with their clock changes", () => {
    const newYork = zone("America/New_York")

    assert.strictEqual(hours(Period.month(newYork, day("2026-03-31"))), 31 * 24 - 1)
    assert.strictEqual(hours(Period.month(newYork, day("2024-02-29"))), 29 * 24)
    assert.strictEqual(hours(Period.month(newYork, day("2026-12-01"))), 31 * 24)
  })
})

describe("Period.payPeriod of a number of days", () => {
  const options = { anchor: day("2026-01-05"), days: 14 }
  const of = (date: string) => iso(cycle(zone("UTC"), day(date), options))

  it("contains the date, before the anchor and after it", () => {
    assert.deepStrictEqual(of("2026-01-05"), ["2026-01-05T00:00:00.000Z", "2026-01-19T00:00:00.000Z"])
    assert.deepStrictEqual(of("2026-01-18"), of("2026-01-05"))
    assert.deepStrictEqual(of("2026-01-04"), ["2025-12-22T00:00:00.000Z", "2026-01-05T00:00:00.000Z"])
  })
})

const months = (...firstDays: readonly [number] | readonly [number, number]): PayCalendar =>
  PayCalendar.make({ kind: "months", firstDays })

/** The periods of a year, as their first and last dates. */
const periodsOf = (calendar: PayCalendar, from: string, to: string) => {
  const found: Array<string> = []
  let date = day(from)
  while (date <= day(to)) {
    const { first, last } = Period.payPeriod(calendar, date)
    found.push(`${first} ${last}`)
    date = addDays(last, 1)
  }
  return found
}

describe("Period.payPeriod of days of the month", () => {
  it("is half a month, with its 28 to 31 days", () => {
    assert.deepStrictEqual(periodsOf(months(1, 16), "2024-02-01", "2024-04-01"), [
      "2024-02-01 2024-02-15",
      "2024-02-16 2024-02-29",
      "2024-03-01 2024-03-15",
      "2024-03-16 2024-03-31",
      "2024-04-01 2024-04-15"
    ])
    assert.deepStrictEqual(periodsOf(months(1, 16), "2026-02-20", "2026-03-01"), [
      "2026-02-16 2026-02-28",
      "2026-03-01 2026-03-15"
    ])
  })

  it("reaches from one day of a month to the day before it in the next", () => {
    assert.deepStrictEqual(periodsOf(months(26), "2025-12-28", "2026-02-01"), [
      "2025-12-26 2026-01-25",
      "2026-01-26 2026-02-25"
    ])
    assert.deepStrictEqual(Period.payPeriod(months(26), day("2026-01-25")).first, "2025-12-26")
  })

  it("begins on the last day of a month that does not have the day", () => {
    assert.deepStrictEqual(periodsOf(months(31), "2026-01-31", "2026-04-30"), [
      "2026-01-31 2026-02-27",
      "2026-02-28 2026-03-30",
      "2026-03-31 2026-04-29",
      "2026-04-30 2026-05-30"
    ])
    assert.deepStrictEqual(periodsOf(months(27, 31), "2026-02-27", "2026-03-31"), [
      "2026-02-27 2026-02-27",
      "2026-02-28 2026-03-26",
      "2026-03-27 2026-03-30",
      "2026-03-31 2026-04-26"
    ])
  })

  it("has at the ends of the calendar only its dates", () => {
    const long = { kind: "days", days: 10_000_000, anchor: day("2026-01-05") } as const

    assert.deepStrictEqual(Period.payPeriod(months(26), day("0001-01-01")), {
      first: day("0001-01-01"),
      last: day("0001-01-25")
    })
    assert.deepStrictEqual(Period.payPeriod(months(26), day("9999-12-31")), {
      first: day("9999-12-26"),
      last: day("9999-12-31")
    })
    assert.deepStrictEqual(Period.payPeriod(long, day("2026-01-05")), {
      first: day("2026-01-05"),
      last: day("9999-12-31")
    })
    assert.deepStrictEqual(Period.payPeriod(long, day("2026-01-04")).first, "0001-01-01")
  })
})

describe("A pay calendar", () => {
  const decode = Schema.decodeUnknownOption(PayCalendar)

  it.each([
    { kind: "days", days: 14, anchor: "2026-01-05" },
    { kind: "days", days: 10_000_000, anchor: "0001-01-01" },
    { kind: "months", firstDays: [1] },
    { kind: "months", firstDays: [31] },
    { kind: "months", firstDays: [27, 31] }
  ])("is stored as it is written: %j", (calendar) => {
    assert.deepStrictEqual<unknown>(Option.map(decode(calendar), Schema.encodeSync(PayCalendar)), Option.some(calendar))
  })

  it.each([
    { kind: "days", days: 0, anchor: "2026-01-05" },
    { kind: "days", days: 1.5, anchor: "2026-01-05" },
    { kind: "days", days: 10_000_001, anchor: "2026-01-05" },
    { kind: "days", days: 14, anchor: "2026-02-30" },
    { kind: "months", firstDays: [] },
    { kind: "months", firstDays: [0] },
    { kind: "months", firstDays: [32] },
    { kind: "months", firstDays: [16, 1] },
    { kind: "months", firstDays: [16, 16] },
    { kind: "months", firstDays: [28, 31] },
    { kind: "months", firstDays: [1, 11, 21] }
  ])("is refused where a period would have no day, or the days no order: %j", (calendar) => {
    assert.isTrue(Option.isNone(decode(calendar)))
  })

  it("says why it cannot be made, and of which field", () => {
    assert.throws(
      () => PayCalendar.make({ kind: "days", days: 0, anchor: day("2026-01-05") }),
      "PayCalendar.make: Expected a value between 1 and 10000000 at days"
    )
    assert.throws(() => months(16, 1), "Expected two days of a month, the earlier one first at firstDays")
    assert.throws(
      () => months(32),
      /^PayCalendar\.make: Expected a value between 1 and 31 at firstDays\[0\]; Expected a value between 1 and 27 at firstDays\[0\]$/
    )
  })
})

describe("Period.addDays", () => {
  it.each([
    ["2024-02-28", 2, "2024-03-01"],
    ["2026-01-01", -1, "2025-12-31"],
    ["9999-12-31", 1, "9999-12-31"],
    ["0001-01-01", -1, "0001-01-01"]
  ])("crosses months and leap days, and stops at the ends of the calendar: %s, %d", (date, days, expected) => {
    assert.deepStrictEqual(Period.addDays(day(date), days), Option.some(day(expected)))
  })

  it.each([0.5, Number.NaN, Infinity])("adds no %d days", (days) => {
    assert.deepStrictEqual(Period.addDays(day("2026-01-01"), days), Option.none())
  })
})

describe("Period.businessDate", () => {
  it("is the date on the wall clock", () => {
    const instant = DateTime.makeUnsafe("2026-03-08T04:59:59.999Z")

    assert.strictEqual(Period.businessDate(zone("America/New_York"), instant), "2026-03-07")
    assert.strictEqual(Period.businessDate(zone("Asia/Kolkata"), instant), "2026-03-08")
  })

  it("gives the minutes that repeat the old date to the new one, if clocks are set back across midnight", () => {
    // At 00:01 of 7 November 2010 the clocks of St. John's were set back to 23:01 of the day before.
    const repeated = DateTime.makeUnsafe("2010-11-07T02:45:00Z")

    assert.strictEqual(wallDate("America/St_Johns", repeated.epochMilliseconds), "2010-11-06")
    assert.strictEqual(Period.businessDate(zone("America/St_Johns"), repeated), "2010-11-07")
  })

  it("stops at the ends of the calendar", () => {
    const read = Period.makeBusinessDate(zone("America/New_York"))

    assert.strictEqual(read(DateTime.makeUnsafe("0001-01-01T00:00:00Z")), "0001-01-01")
    assert.strictEqual(read(DateTime.makeUnsafe("+010000-01-02T00:00:00Z")), "9999-12-31")
    assert.strictEqual(read(DateTime.makeUnsafe(-8.64e15)), "0001-01-01")
    assert.strictEqual(read(DateTime.makeUnsafe(8.64e15)), "9999-12-31")
  })
})

/** Instants of 1995 to 2035, in seconds. */
const Instant = Schema.Int.check(Schema.isBetween({ minimum: 788_918_400, maximum: 2_051_222_400 }))
const Span = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 40 }))
const Name = Schema.Literals(names)
const DayOfMonth = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 31 }))

/** The minute on the wall clock, from the formatter of the platform. */
const wallFormats = new Map<string, Intl.DateTimeFormat>()
const wallMinute = (timeZone: string, millis: number): string => {
  const known = wallFormats.get(timeZone) ?? new Intl.DateTimeFormat("sv-SE", {
    timeZone,
    dateStyle: "short",
    timeStyle: "short"
  })
  wallFormats.set(timeZone, known)
  return known.format(millis)
}

/** The first minute of two days around midnight in UTC at which the wall clock shows the start of the date or later. */
const searchedStart = (timeZone: string, date: BusinessDate, startMinutes: number): number => {
  const wall = Date.parse(date) + startMinutes * 60_000
  const wanted = new Date(wall).toISOString().slice(0, 16).replace("T", " ")
  let at = wall - 86_400_000
  while (wallMinute(timeZone, at) < wanted) at += 60_000
  return at
}

const StartMinutes = Schema.Int.check(Schema.isBetween({ minimum: -12 * 60, maximum: 12 * 60 }))

describe("A business day", () => {
  const bar = { zone: zone("America/New_York"), dayStarts: "4 hours" } as const

  it("begins when its clock shows the start, also on a day whose clocks change", () => {
    const of = (date: string) => iso(Period.localDays(bar, day(date), day(date)))

    assert.deepStrictEqual(of("2026-03-09"), ["2026-03-09T08:00:00.000Z", "2026-03-10T08:00:00.000Z"])
    // The clocks are set forward at two, before the day of the 8th begins: that of the 7th has 23 hours.
    assert.deepStrictEqual(of("2026-03-07"), ["2026-03-07T09:00:00.000Z", "2026-03-08T08:00:00.000Z"])
    assert.deepStrictEqual(of("2026-10-31"), ["2026-10-31T08:00:00.000Z", "2026-11-01T09:00:00.000Z"])
    assert.strictEqual(Period.businessDate(bar, DateTime.makeUnsafe("2026-03-09T07:59:00Z")), "2026-03-08")
    assert.strictEqual(Period.businessDate(bar, DateTime.makeUnsafe("2026-03-09T08:00:00Z")), "2026-03-09")
  })

  it("may begin on the day before", () => {
    const night = { zone: zone("Europe/Berlin"), dayStarts: "-2 hours" } as const

    assert.strictEqual(Period.businessDate(night, DateTime.makeUnsafe("2026-06-30T20:00:00Z")), "2026-07-01")
    assert.deepStrictEqual(iso(Period.month(night, day("2026-07-01"))), [
      "2026-06-30T20:00:00.000Z",
      "2026-07-31T20:00:00.000Z"
    ])
  })

  it("begins at the end of a gap that skips its start, and at the first of two starts", () => {
    const at = (dayStarts: Duration.Input, date: string) =>
      iso(Period.localDays({ ...bar, dayStarts }, day(date), day(date)))[0]

    assert.strictEqual(at("150 minutes", "2026-03-08"), "2026-03-08T07:00:00.000Z")
    assert.strictEqual(at("90 minutes", "2026-11-01"), "2026-11-01T05:30:00.000Z")
  })

  it.prop(
    "begins at the first minute at which the wall clock shows its start, found minute by minute",
    { Name, Instant, StartMinutes },
    ({ Instant, Name, StartMinutes }) => {
      const dayRule = { zone: zone(Name), dayStarts: Duration.minutes(StartMinutes) }
      // A day of the change of clocks is as likely as any other.
      const changes = [0, ...changesOf(Name)]
      const instant = changes[Instant % changes.length] || Instant * 1000
      const date = Period.businessDate(dayRule, DateTime.makeUnsafe(instant))

      assert.strictEqual(
        Period.localDays(dayRule, date, date).gte.epochMilliseconds,
        searchedStart(Name, date, StartMinutes)
      )
    }
  )

  it.prop(
    "tiles: it ends where the next begins, and has exactly the instants of its date",
    { Name, Instant, StartMinutes },
    ({ Instant, Name, StartMinutes }) => {
      const dayRule = { zone: zone(Name), dayStarts: Duration.minutes(StartMinutes) }
      const read = Period.makeBusinessDate(dayRule)
      for (const change of changesOf(Name)) {
        const around = addDays(read(DateTime.makeUnsafe(change)), (Instant % 5) - 2)
        for (const date of [read(DateTime.makeUnsafe(Instant * 1000)), around]) {
          const { gte, lt } = Period.localDays(dayRule, date, date)

          assert.isAtMost(gte.epochMilliseconds, lt.epochMilliseconds)
          assert.deepStrictEqual(Period.localDays(dayRule, addDays(date, 1), addDays(date, 1)).gte, lt)
          if (gte.epochMilliseconds === lt.epochMilliseconds) continue
          assert.strictEqual(read(gte), date)
          assert.strictEqual(read(DateTime.subtract(lt, { milliseconds: 1 })), date)
          assert.isTrue(read(DateTime.subtract(gte, { milliseconds: 1 })) < date)
          assert.isTrue(read(lt) > date)
        }
      }
    }
  )
})

/** When the clocks of a zone changed in some years, from the formatter of the platform, to the hour. */
const changes = new Map<string, ReadonlyArray<number>>()
const changesOf = (name: typeof names[number]): ReadonlyArray<number> => {
  const known = changes.get(name)
  if (known !== undefined) return known
  const found: Array<number> = []
  const shift = (at: number) => Date.parse(`${wallMinute(name, at).replace(" ", "T")}Z`) - at
  for (const year of [2010, 2011, 2018, 2026]) {
    for (let at = Date.UTC(year, 0, 1); at < Date.UTC(year + 1, 0, 1); at += 6 * 3_600_000) {
      if (shift(at) !== shift(at + 6 * 3_600_000)) found.push(at)
    }
  }
  changes.set(name, found)
  return found
}

describe("Every period", () => {
  it.prop("contains the instant whose date it was made for", { Name, Instant, Span }, ({ Instant, Name, Span }) => {
    const instant = DateTime.makeUnsafe(Instant * 1000)
    const date = Period.businessDate(zone(Name), instant)
    const periods = [
      Period.localDays(zone(Name), date, date),
      Period.week(zone(Name), date),
      Period.month(zone(Name), date),
      cycle(zone(Name), date, { anchor: day("2001-01-01"), days: Span })
    ]

    for (const { gte, lt } of periods) {
      assert.isTrue(gte.epochMilliseconds <= Instant * 1000 && Instant * 1000 < lt.epochMilliseconds)
    }
  })

  it.prop("begins where the one before it ends", { Name, Instant, Span }, ({ Instant, Name, Span }) => {
    const read = Period.makeBusinessDate(zone(Name))
    const date = read(DateTime.makeUnsafe(Instant * 1000))
    const kinds = [
      (each: BusinessDate) => Period.localDays(zone(Name), each, each),
      (each: BusinessDate) => Period.week(zone(Name), each, { firstDay: "wednesday" }),
      (each: BusinessDate) => Period.month(zone(Name), each),
      (each: BusinessDate) => cycle(zone(Name), each, { anchor: day("2030-01-01"), days: Span })
    ]

    for (const kind of kinds) {
      const interval = kind(date)
      assert.deepStrictEqual(kind(read(interval.lt)).gte, interval.lt)
      assert.deepStrictEqual(kind(read(interval.gte)), interval)
    }
  })

  it.prop("splits at any date without gap or overlap", { Name, Instant, Span }, ({ Instant, Name, Span }) => {
    const first = Period.businessDate(zone(Name), DateTime.makeUnsafe(Instant * 1000))
    const middle = addDays(first, Span)
    const last = addDays(middle, Span)

    const left = Period.localDays(zone(Name), first, middle)
    const right = Period.localDays(zone(Name), addDays(middle, 1), last)
    assert.deepStrictEqual(left.lt, right.gte)
    assert.deepStrictEqual(Period.localDays(zone(Name), first, last), { gte: left.gte, lt: right.lt })
  })
  it.prop(
    "of pay is the same for each of its dates, and the next one begins a day after it",
    { Instant, Span, Days: Schema.Union([Schema.Tuple([DayOfMonth]), Schema.Tuple([DayOfMonth, DayOfMonth])]) },
    ({ Days, Instant, Span }) => {
      const date = Period.businessDate(zone("UTC"), DateTime.makeUnsafe(Instant * 1000))
      const byMonth = Schema.decodeUnknownOption(PayCalendar)({ kind: "months", firstDays: Days })
      const calendars = [
        Option.getOrElse(byMonth, () => months(1, 16)),
        PayCalendar.make({ kind: "days", days: Span, anchor: day("2026-01-05") })
      ]
      for (const calendar of calendars) {
        const { first, last } = Period.payPeriod(calendar, date)

        assert.isTrue(first <= date && date <= last)
        for (const each of [first, last]) assert.deepStrictEqual(Period.payPeriod(calendar, each), { first, last })
        assert.strictEqual(Period.payPeriod(calendar, addDays(last, 1)).first, addDays(last, 1))
        assert.strictEqual(Period.payPeriod(calendar, addDays(first, -1)).last, addDays(first, -1))
      }
    }
  )
})
