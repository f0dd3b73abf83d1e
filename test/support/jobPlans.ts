/**
 * Random plans of people with several jobs, and what a close of them must have: dates by the wall clocks of the platform, hours
 * counted minute by minute, cents in big integers. It shares no code with `src`.
 */
import { DateTime, Duration, Option } from "effect"
import type { CloseTermsOptions } from "../../src/close/CloseTerms.ts"
import {
  BreakId,
  BusinessDate,
  Cents,
  CompanyId,
  CustomBreakId,
  DepartmentId,
  LocationId,
  RoleId,
  TimePunchId,
  UserId
} from "../../src/Ids.ts"
import { prng } from "../../src/testing/base/prng.ts"
import type { TimePunch } from "../../src/TimePunch.ts"
import { punch } from "./arbitraryPunch.ts"
import { countUnits } from "./countUnits.ts"

const minute = 60_000
const day = 86_400_000

type Place = readonly [id: number, zone: string, dayStarts: number]

/** The zone of each location, and when its days begin, in hours. */
const places: readonly [Place, ...ReadonlyArray<Place>] = [
  [301, "America/New_York", 0],
  [302, "America/Los_Angeles", 4],
  [303, "Europe/Berlin", -2],
  [304, "Asia/Kolkata", 0],
  [305, "Australia/Lord_Howe", 5],
  [306, "America/St_Johns", 4]
]

const weekdays = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"] as const

/** The changes of clocks of spring and autumn lie in some of the plans. */
const beginnings = ["2026-02-23", "2026-03-16", "2026-03-30", "2026-06-01", "2026-10-12", "2026-10-26"] as const

/** Three weeks of punches, and the terms of a close in their middle. */
export const makePlan = (seed: number) => {
  const random = prng(seed)
  const maybe = (from: number, to: number) => random.between(0, 3) === 0 ? undefined : random.between(from, to)
  const start = Date.parse(random.pick(beginnings))
  const punches = Array.from({ length: random.between(0, 40) }, (_, at): TimePunch => {
    const clockedIn = start + random.between(0, 24 * 24 * 60) * minute
    const length = random.between(0, 15 * 60)
    const [from, rest] = [random.between(0, length), random.between(0, 60)]
    return punch({
      id: TimePunchId.make(at + 1),
      userId: UserId.make(random.between(1, 3)),
      locationId: LocationId.make(random.pick(places)[0]),
      departmentId: random.pick([Option.none(), Option.some(DepartmentId.make(21))]),
      roleId: RoleId.make(random.pick([11, 12, 13])),
      hourlyWage: Cents.make(random.pick([0, 612, 1500, 1625])),
      tips: Cents.make(random.between(-100, 900)),
      clockedIn: DateTime.makeUnsafe(clockedIn),
      clockedOut: random.between(0, 11) === 0
        ? Option.none()
        : Option.some(DateTime.makeUnsafe(clockedIn + length * minute)),
      breaks: random.between(0, 2) > 0 ? [] : [{
        id: BreakId.make(1),
        userId: UserId.make(1),
        customBreakId: CustomBreakId.make(0),
        paid: random.between(0, 1) === 0,
        in: DateTime.makeUnsafe(clockedIn + from * minute),
        out: Option.some(DateTime.makeUnsafe(clockedIn + Math.min(length, from + rest) * minute)),
        deleted: random.between(0, 3) === 0
      }]
    })
  })
  const dateAt = (days: number) => BusinessDate.make(new Date(start + days * day).toISOString().slice(0, 10))
  const first = random.between(4, 9)
  return {
    punches,
    first: dateAt(first),
    cut: dateAt(first + random.between(0, 6)),
    last: dateAt(first + random.between(7, 13)),
    firstDay: random.pick(weekdays),
    limits: { weekly: maybe(0, 50 * 60), daily: maybe(0, 11 * 60), double: maybe(0, 14 * 60) }
  }
}

export type Plan = ReturnType<typeof makePlan>

/** The terms of a close of some dates of a plan. */
export const termsOf = ({ firstDay, limits }: Plan, first: BusinessDate, last: BusinessDate) => {
  const { daily, double, weekly } = limits
  return {
    companyId: CompanyId.make(2),
    first,
    last,
    dayRule: new Map(
      places.map(([id, zone, dayStarts]) => [
        LocationId.make(id),
        { zone: DateTime.zoneMakeNamedUnsafe(zone), dayStarts: Duration.hours(dayStarts) }
      ])
    ),
    firstDay,
    rounding: "halfUp",
    weeklyThreshold: weekly === undefined ? undefined : Duration.minutes(weekly),
    dailyThreshold: daily === undefined ? undefined : Duration.minutes(daily),
    doubleThreshold: double === undefined ? undefined : Duration.minutes(double)
  } satisfies CloseTermsOptions
}

const walls = new Map<number, Intl.DateTimeFormat>(
  places.map(([id, timeZone]) => [
    id,
    new Intl.DateTimeFormat("sv-SE", { timeZone, dateStyle: "short", timeStyle: "medium" })
  ])
)

/** The business date of a clock-in. No clock changes within an hour of the beginnings of these days. */
const dateOf = ({ clockedIn, locationId }: TimePunch): string => {
  const [, , dayStarts = 0] = places.find(([id]) => id === Number(locationId)) ?? []
  const wall = walls.get(locationId)?.format(clockedIn.epochMilliseconds) ?? ""
  return new Date(Date.parse(`${wall.replace(" ", "T")}Z`) - dayStarts * 3_600_000).toISOString().slice(0, 10)
}

/** Minutes without unpaid breaks; `undefined` for an open punch. */
const minutesOf = ({ breaks, clockedIn, clockedOut }: TimePunch): number | undefined => {
  if (Option.isNone(clockedOut)) return undefined
  const unpaid = breaks.map((rest) =>
    rest.paid || rest.deleted || Option.isNone(rest.out)
      ? 0
      : rest.out.value.epochMilliseconds - rest.in.epochMilliseconds
  )
  return (clockedOut.value.epochMilliseconds - clockedIn.epochMilliseconds - (unpaid[0] ?? 0)) / minute
}

/** Half a cent is a whole one. */
const centsOf = (minutes: number, wage: number) => Number((BigInt(minutes) * BigInt(wage) * 2n + 60n) / 120n)

/** The rows of a close: person, location, department, role and wage, then punches, incomplete ones, minutes, cents and tips. */
export const expectedRows = (
  { firstDay, limits, punches }: Plan,
  first: string,
  last: string
): ReadonlyArray<readonly [key: string, numbers: ReadonlyArray<number>]> => {
  const found = new Map<string, Array<number>>()
  for (const user of new Set(punches.map(({ userId }) => userId))) {
    const own = punches.filter(({ userId }) => userId === user)
    const weekOf = (date: string) => {
      const days = (new Date(date).getUTCDay() - weekdays.indexOf(firstDay) + 7) % 7
      return new Date(Date.parse(date) - days * day).toISOString().slice(0, 10)
    }
    const work = own.map((punch) => ({
      punch,
      day: dateOf(punch),
      week: weekOf(dateOf(punch)),
      at: punch.clockedIn.epochMilliseconds + Number(punch.id) / 1000,
      units: minutesOf(punch) ?? 0
    }))
    const { daily = Infinity, double = Infinity, weekly = Infinity } = limits
    for (const each of countUnits(work, { weekly, daily, double })) {
      const { day, punch, units } = each.work
      if (day < first || day > last) continue
      const { departmentId, hourlyWage, locationId, roleId } = punch
      const key = [user, locationId, Option.getOrElse(departmentId, () => "-"), roleId, hourlyWage].join(" ")
      const isOpen = minutesOf(punch) === undefined
      const numbers = [1, isOpen ? 1 : 0, units, each.over, each.double, centsOf(units, hourlyWage), punch.tips]
      const sums = found.get(key) ?? numbers.map(() => 0)
      found.set(key, sums.map((sum, at) => sum + (numbers[at] ?? 0)))
    }
  }
  return [...found].toSorted(([one], [other]) => one < other ? -1 : 1)
}
