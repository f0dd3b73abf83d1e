/** Pay periods of three locations in three zones, two of which do not begin their days at midnight: sums equal a second computation. */
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Duration, Effect, HashMap, Schema, Stream } from "effect"
import { BusinessDate, LocationId, TimePunch } from "../../src/index.ts"
import { Labor, PayCalendar, Period } from "../../src/payroll/index.ts"
import { defaultCompany, generateWeeks, type StoredPunch, toWire } from "../../src/testing/index.ts"

/** A bar that closes at four in New York, an office in Los Angeles, and a factory whose day begins at ten in the evening. */
const places = [
  { id: 301, zone: "America/New_York", startMinutes: 4 * 60 },
  { id: 302, zone: "America/Los_Angeles", startMinutes: 0 },
  { id: 303, zone: "Europe/Berlin", startMinutes: -2 * 60 }
] as const

const clocks = Period.zones(
  new Map(places.map(({ id, startMinutes, zone }): [LocationId, Period.DayRule] => [
    LocationId.make(id),
    { zone: DateTime.zoneMakeNamedUnsafe(zone), dayStarts: Duration.minutes(startMinutes) }
  ]))
)

const decode = Schema.decodeUnknownSync(Schema.Array(TimePunch.Wire))

const sum = (values: ReadonlyArray<number>) => values.reduce((total, value) => total + value, 0)

/** The second computation: minutes counted one by one, dates read off the wall clock, fractions of a cent as integers. */
const minutesOf = (from: string, to: string) =>
  Array.from({ length: (Date.parse(to) - Date.parse(from)) / 60_000 }, (_, at) => Date.parse(from) + at * 60_000)

const netMinutes = ({ breaks, clocked_in, clocked_out }: StoredPunch): number => {
  if (typeof clocked_out !== "string") return 0
  const unpaid = (breaks ?? []).filter((each) => each.deleted !== true && !each.paid)
  return minutesOf(clocked_in, clocked_out).filter((now) =>
    !unpaid.some((each) => Date.parse(each.in) <= now && now < Date.parse(each.out ?? clocked_out))
  ).length
}

const walls = new Map(places.map(({ zone }) => [
  zone,
  new Intl.DateTimeFormat("sv-SE", { timeZone: zone, dateStyle: "short", timeStyle: "short" })
]))

const shiftDate = (date: string, days: number) =>
  new Date(Date.parse(date) + days * 86_400_000).toISOString().slice(0, 10)

const dateOf = ({ clocked_in, location_id }: StoredPunch): string => {
  const place = places.find(({ id }) => id === location_id) ?? places[0]
  const [date = "", time = ""] = walls.get(place.zone)?.format(Date.parse(clocked_in)).split(" ") ?? []
  const minute = Number(time.slice(0, 2)) * 60 + Number(time.slice(3))
  if (place.startMinutes >= 0) return minute < place.startMinutes ? shiftDate(date, -1) : date
  return minute >= 24 * 60 + place.startMinutes ? shiftDate(date, 1) : date
}

/** Half up, in integers: 60 minutes are an hour. */
const cents = (punch: StoredPunch) => Math.floor((netMinutes(punch) * punch.hourly_wage * 2 + 60) / 120)

const sundayOf = (date: string) => shiftDate(date, -new Date(Date.parse(date)).getUTCDay())

/** What each person is paid for in the dates, `id: [minutes, cents, minutes over 30 h a week, minutes over 8 h a day]`. */
const expectedOf = (punches: ReadonlyArray<StoredPunch>, first: string, last: string) => {
  const counted = punches.filter(({ deleted }) => deleted !== true).map((punch) => ({
    user: punch.user_id,
    date: dateOf(punch),
    net: netMinutes(punch),
    cost: cents(punch)
  }))
  const found = new Map<number, ReadonlyArray<number>>()
  for (const user of new Set(counted.map((each) => each.user))) {
    const all = counted.filter((each) => each.user === user)
    const own = all.filter(({ date }) => first <= date && date <= last)
    if (own.length === 0) continue
    const ofDay = (date: string) => sum(all.filter((each) => each.date === date).map(({ net }) => net))
    // 8 hours of a day count in its week, what is over 8 is over already, and what is over 10 is double.
    const excess = (upTo: (date: string) => boolean, week: string) => {
      const days = new Set(all.map(({ date }) => date).filter((date) => sundayOf(date) === week && upTo(date)))
      return Math.max(0, sum([...days].map((date) => Math.min(480, ofDay(date)))) - 1800)
    }
    const weeks = [...new Set(own.map(({ date }) => sundayOf(date)))]
    const days = [...new Set(own.map(({ date }) => date))]
    found.set(user, [
      sum(own.map(({ net }) => net)),
      sum(own.map(({ cost }) => cost)),
      sum(weeks.map((week) => excess((date) => date <= last, week) - excess((date) => date < first, week))) +
      sum(days.map((day) => Math.max(0, Math.min(600, ofDay(day)) - 480))),
      sum(days.map((day) => Math.max(0, ofDay(day) - 600)))
    ])
  }
  return found
}

const actualOf = Effect.fnUntraced(function*(
  punches: ReadonlyArray<StoredPunch>,
  { first, last }: { readonly first: BusinessDate; readonly last: BusinessDate }
) {
  const period = (dayRule: Period.DayRule) => Period.localDays(dayRule, first, last)
  const options: Labor.PeriodHoursOptions<Period.MissingZone> = {
    dayRule: clocks,
    period,
    weeklyThreshold: "30 hours",
    dailyThreshold: "8 hours",
    doubleThreshold: "10 hours",
    firstDay: "sunday"
  }
  const { gte, lt } = Labor.queryWindow(options)
  const listed = decode(punches.filter(({ deleted }) => deleted !== true).map(toWire)).filter(({ clockedIn }) =>
    DateTime.isGreaterThanOrEqualTo(clockedIn, gte) && DateTime.isLessThan(clockedIn, lt)
  )
  const { contains } = Period.byLocation(clocks, period)
  const totals = yield* Stream.fromIterable(listed).pipe(
    Stream.filterEffect((punch) => Effect.fromResult(contains(punch))),
    Stream.run(Labor.rollup((punch) => punch.userId, { rounding: "halfUp" }))
  )
  const hours = yield* Stream.run(Stream.fromIterable(listed), Labor.hoursOverThreshold(options))
  return new Map(
    Array.from(totals, ([userId, { cost, net }]) => {
      const { double, net: same, over } = HashMap.getUnsafe(hours, userId)
      assert.deepStrictEqual(same, net)
      return [
        Number(userId),
        [Duration.toMinutes(net), Number(cost), Duration.toMinutes(over), Duration.toMinutes(double)]
      ] as const
    })
  )
})

const fortnights = PayCalendar.make({ kind: "days", days: 14, anchor: BusinessDate.make("2026-01-05") })
const halves = PayCalendar.make({ kind: "months", firstDays: [1, 16] })
const fourWeeks = PayCalendar.make({ kind: "days", days: 28, anchor: BusinessDate.make("2026-01-04") })

describe("The sums of a pay period", () => {
  it.effect.each(
    [
      // The clocks change on 8 March in America and on 29 March in Berlin; a cycle of four weeks can have both.
      ["a fortnight with a change of clocks", fortnights, "2026-02-16", ["2026-03-08"]],
      ["half months of 28 days", halves, "2026-01-26", ["2026-02-02", "2026-02-20"]],
      ["half months of 29 days", halves, "2024-01-29", ["2024-02-02", "2024-02-20"]],
      ["half months of 30 days", halves, "2026-03-30", ["2026-04-02", "2026-04-20"]],
      ["half months of 31 days", halves, "2026-02-23", ["2026-03-02", "2026-03-20"]],
      ["a cycle with the changes of clocks in spring", fourWeeks, "2026-02-23", ["2026-03-10", "2026-03-29"]],
      // 25 October in Berlin, 1 November in America.
      ["a cycle with both changes of clocks", fourWeeks, "2026-10-05", ["2026-10-20"]]
    ] as const
  )("equal those counted minute by minute: %s", ([, calendar, from, dates]) =>
    Effect.gen(function*() {
      const punches = generateWeeks({
        companyId: defaultCompany.id,
        seed: 7,
        from,
        weeks: 7,
        people: 10,
        problems: 0.05
      })
      // A second counts for nothing in the second computation.
      assert.isTrue(punches.every(({ clocked_in }) => Date.parse(clocked_in) % 60_000 === 0))
      let cut = 0
      for (const date of dates) {
        const period = Period.payPeriod(calendar, BusinessDate.make(date))
        const actual = yield* actualOf(punches, period)

        assert.isAtLeast(actual.size, 4)
        assert.deepStrictEqual(
          [...actual].toSorted(([a], [b]) => a - b),
          [
            ...expectedOf(punches, period.first, period.last)
          ].toSorted(([a], [b]) => a - b)
        )
        cut += sum([...actual.values()].map(([, , over = 0]) => over))
      }
      assert.isAbove(cut, 0)
    }), 60_000)

  it.effect("add up: two half months have each hour, cent and excess of their month once", () =>
    Effect.gen(function*() {
      const punches = generateWeeks({
        companyId: defaultCompany.id,
        seed: 3,
        from: "2026-02-16",
        weeks: 8,
        people: 8,
        problems: 0
      })
      const march = { first: BusinessDate.make("2026-03-01"), last: BusinessDate.make("2026-03-31") }
      const [first, second] = yield* Effect.all(
        ["2026-03-01", "2026-03-31"].map((date) => actualOf(punches, Period.payPeriod(halves, BusinessDate.make(date))))
      )
      const whole = yield* actualOf(punches, march)

      for (const [user, sums] of whole) {
        const parts = [first?.get(user) ?? [0, 0, 0, 0], second?.get(user) ?? [0, 0, 0, 0]]
        assert.deepStrictEqual(sums.map((_, at) => sum(parts.map((part) => part[at] ?? 0))), [...sums])
      }
      assert.isAbove(whole.size, 4)
    }))
})
