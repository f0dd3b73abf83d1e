/** Random companies, their punches and edits, for the oracle of closes: plain numbers, drawn from a seed. */
import type { Prng } from "../../src/testing/base/prng.ts"
import { periodOf, startOf, type Terms, type Work } from "./closeOracle.ts"

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

/** Zones, each with dates near which its clocks change, if they do. */
const zones: readonly [Zone, ...ReadonlyArray<Zone>] = [
  ["Australia/Lord_Howe", "2026-04-05", "2026-10-04"],
  ["Australia/Adelaide", "2026-04-05", "2026-10-04"],
  ["America/St_Johns", "2026-03-08", "2026-11-01"],
  ["Pacific/Chatham", "2026-04-05", "2026-09-27"],
  ["America/Santiago", "2026-04-05", "2026-09-06"],
  ["America/Havana", "2026-03-08", "2026-11-01"],
  ["Asia/Beirut", "2026-03-29", "2026-10-25"],
  ["Africa/Casablanca", "2026-02-15", "2026-03-22"],
  ["Pacific/Pago_Pago", "2026-03-01", "2026-12-30"],
  ["Pacific/Kiritimati", "2026-03-01", "2026-12-30"],
  ["America/New_York", "2026-03-08", "2026-11-01"],
  ["Europe/Berlin", "2026-03-29", "2026-10-25"],
  ["Asia/Kolkata", "2026-06-01", "2026-12-30"]
]

type Zone = readonly [zone: string, one: string, other: string]

const some = <A>(random: Prng, values: ReadonlyArray<A>): A => {
  const value = values[random.between(0, values.length - 1)]
  if (value === undefined) throw new Error("nothing to pick from")
  return value
}

type Shared = Omit<Terms, "first" | "last">

export type Calendar = { readonly days: number; readonly anchor: number } | { readonly firsts: ReadonlyArray<number> }

/** A company: its terms, its calendar, the periods that it closes and the punches that it has at first. */
export interface Company {
  readonly terms: Shared
  readonly calendar: Calendar
  readonly periods: ReadonlyArray<{ readonly first: number; readonly last: number }>
  /** The dates of its punches: more often those of edges and of a change of clocks. */
  readonly dates: ReadonlyArray<number>
  readonly punches: ReadonlyArray<Work>
  /** People who share an employee number. */
  readonly areShared: boolean
}

/** Weekly, daily and double thresholds, and a seventh day, alone and together, or none. One below a minute is refused, unless it is zero. */
export const thresholdsOf = (random: Prng) => {
  const maybe = (low: number, high: number, share: number) => {
    if (!random.chance(share)) return undefined
    const millis = random.between(low, high) * random.pick([1000, 60_000])
    return millis < 60_000 ? 0 : millis
  }
  return {
    weekly: maybe(0, 1200, 0.6),
    daily: maybe(0, 600, 0.6),
    double: maybe(0, 700, 0.45),
    seventh: maybe(0, 600, 0.5)
  }
}

const dayRuleOf = (random: Prng, [zone]: Zone) => ({
  zone,
  dayStarts: random.pick([0, 0, 4 * hour, -2 * hour, 5.5 * hour, -12 * hour, 12 * hour])
})

/** The day rules after one of them was corrected: another zone, or another beginning of the day. */
export const corrected = (random: Prng, places: Terms["places"]): Terms["places"] =>
  new Map([...places, [some(random, [...places.keys()]), dayRuleOf(random, random.pick(zones))]])

export const makeCompany = (random: Prng): Company => {
  const near = random.pick(zones)
  const others = Array.from({ length: random.between(1, 2) }, () => random.pick(zones))
  const ruleOf = (zone: Zone) => dayRuleOf(random, zone)
  const rule = ruleOf(near)
  const isOneRule = random.chance(0.15)
  const places = new Map(
    [rule, ...others.map((other) => isOneRule ? rule : ruleOf(other))].map((each, at) => [301 + at, each])
  )
  const change = Date.parse(random.pick([near[1], near[2]])) / day
  const calendar: Calendar = random.between(0, 4) < 2
    ? { days: random.pick([7, 7, 14]), anchor: change - random.between(30, 60) }
    : { firsts: random.pick([[1, 16], [26], [1]]) }
  const begin = change - random.between(0, 8)
  const periods = [periodOf(calendar, begin)]
  const length = (periods[0]?.last ?? 0) - (periods[0]?.first ?? 0)
  for (const more of length > 20 ? [1] : [1, 2]) {
    const before = periods[more - 1]
    if (before !== undefined) periods.push(periodOf(calendar, before.last + 1))
  }
  const terms: Shared = {
    places,
    begins: new Map(),
    firstDay: random.between(0, 6),
    cents: random.pick(["halfUp", "halfUp", "halfEven", "down", "up"]),
    ...thresholdsOf(random)
  }
  const [from, to] = [(periods[0]?.first ?? 0) - 7, (periods.at(-1)?.last ?? 0) + 2]
  const edges = periods.flatMap(({ first, last }) => {
    // Day 0 was a Thursday.
    const ofWeek = (first + 4 - terms.firstDay) % 7
    return [first - ofWeek, first - 1, first, last, last + 1]
  })
  const dates = [
    ...Array.from({ length: to - from + 1 }, (_, at) => from + at),
    ...Array.from({ length: 3 }, () => [change - 1, change, change, ...edges]).flat()
  ]
  // A week without a day off, often in two periods.
  const full = some(random, edges)
  const begun = full - (full + 4 - terms.firstDay) % 7
  const punches = Array.from({ length: random.between(20, 50) }, (_, at) => makeWork(random, terms, at + 1, dates))
  for (let date = begun; terms.seventh !== undefined && date < begun + 7; date++) {
    const isIdle = random.chance(0.08)
    for (let count = isIdle ? 1 : 2; count > 0; count--) {
      const work = makeWork(random, terms, punches.length + 1, [date])
      punches.push({ ...work, person: 501, to: isIdle ? work.from : work.to })
    }
  }
  return { terms, calendar, periods, dates, punches, areShared: random.chance(0.3) }
}

/** An instant in some days: on the second of an edge, near it, or anywhere. */
const instantOf = (random: Prng, terms: Shared, place: number, dates: ReadonlyArray<number>): number => {
  const date = some(random, dates)
  const rule = terms.places.get(place)
  if (rule === undefined) throw new Error("no place")
  const start = startOf(rule.zone, rule.dayStarts, date)
  switch (random.between(0, 5)) {
    case 0:
      return start
    case 1:
      return start + random.pick([-1000, 1000, -1, 1, -hour, hour])
    case 2:
      return start + random.between(0, 24 * 3600) * 1000
    default:
      return start + random.between(0, 48) * 30 * minute
  }
}

const lengthOf = (random: Prng): number =>
  random.pick([
    random.between(0, 30) * 30 * minute,
    random.between(0, 600) * minute,
    random.between(0, 2000) * 18_000,
    random.between(0, 40_000) * 1000
  ])

const breaksOf = (random: Prng, from: number, length: number): Work["breaks"] =>
  random.between(0, 2) > 0 ? [] : Array.from({ length: random.between(1, 2) }, () => {
    const begin = from + random.between(-10, Math.floor(length / minute)) * minute
    return {
      from: begin,
      to: random.chance(0.1) ? undefined : begin + random.between(-2, 60) * 30_000,
      paid: random.chance(0.3),
      isDeleted: random.chance(0.3)
    }
  })

const wages: readonly [number, ...ReadonlyArray<number>] = [0, 612, 725, 1225, 1500, 1625]

/** A few people, places and days, so that a person has several jobs on a day. */
const makeWork = (random: Prng, terms: Shared, id: number, dates: ReadonlyArray<number>): Work => {
  const place = some(random, [...terms.places.keys()])
  const from = instantOf(random, terms, place, dates)
  const length = lengthOf(random)
  return {
    id,
    person: random.between(501, 503),
    place,
    department: random.pick([undefined, 21, 22]),
    role: random.pick([11, 12]),
    wage: random.pick(wages),
    tips: random.pick([0, 0, random.between(-100, 2500)]),
    from,
    to: random.chance(0.06) ? undefined : from + (random.chance(0.02) ? -length : length),
    breaks: breaksOf(random, from, length),
    isDeleted: random.chance(0.04),
    isMissing: false
  }
}

/** A punch of the same id with something else. */
const edited = (random: Prng, { dates, terms }: Company, work: Work): Work => {
  const length = Math.max(0, (work.to ?? work.from) - work.from)
  switch (random.between(0, 12)) {
    case 0:
    case 1: {
      const from = instantOf(random, terms, work.place, dates)
      const moved = from - work.from
      return {
        ...work,
        from,
        to: work.to === undefined ? undefined : work.to + moved,
        breaks: work.breaks.map((rest) => ({
          ...rest,
          from: rest.from + moved,
          to: rest.to === undefined ? undefined : rest.to + moved
        }))
      }
    }
    case 2:
      return { ...work, place: some(random, [...terms.places.keys()]) }
    case 3:
      return { ...work, role: 23 - work.role }
    case 4:
      return { ...work, person: random.between(501, 503) }
    case 5:
      return { ...work, wage: random.pick(wages) }
    case 6:
      return { ...work, tips: random.between(0, 900) }
    case 7:
      return { ...work, isDeleted: !work.isDeleted }
    case 8:
      return { ...work, breaks: breaksOf(random, work.from, length) }
    case 12:
      // A manager removes breaks, or puts them back.
      return { ...work, breaks: work.breaks.map((rest) => ({ ...rest, isDeleted: !rest.isDeleted })) }
    case 9:
      return { ...work, department: random.pick([undefined, 21, 22]) }
    case 10:
      return { ...work, to: work.to === undefined || random.chance(0.8) ? work.from + lengthOf(random) : undefined }
    default:
      return {
        ...work,
        to: work.to === undefined ? undefined : work.to + random.pick([1000, -1000, 18_000, 30 * minute])
      }
  }
}

/** A page of a pass. With `isWhole` it is all that the service has: any other punch is missing then. */
export interface Edit {
  readonly page: ReadonlyArray<Work>
  readonly isWhole: boolean
}

/** Edits of some punches, a new one, some that are as they were at first, or a sweep that finds some no more. */
export const makeEdit = (random: Prng, company: Company, now: ReadonlyMap<number, Work>): Edit => {
  const present = [...now.values()].filter(({ isMissing }) => !isMissing)
  const chosen = (most: number) => {
    const ids = new Set(Array.from({ length: random.between(1, most) }, () => some(random, [...now.keys()])))
    return [...ids].flatMap((id) => now.get(id) ?? [])
  }
  switch (random.between(0, 6)) {
    case 0: {
      const gone = new Set(chosen(2).map(({ id }) => id))
      return { page: present.filter(({ id }) => !gone.has(id)), isWhole: true }
    }
    case 1: {
      const ids = new Set(chosen(4).map(({ id }) => id))
      return { page: company.punches.filter(({ id }) => ids.has(id)), isWhole: false }
    }
    case 2:
      return { page: [makeWork(random, company.terms, now.size + 1, company.dates)], isWhole: false }
    default:
      return {
        page: chosen(4).map((work) => edited(random, company, work)),
        isWhole: false
      }
  }
}

/** The punches after an edit. */
export const apply = (now: ReadonlyMap<number, Work>, { isWhole, page }: Edit): ReadonlyMap<number, Work> => {
  const ids = new Set(page.map(({ id }) => id))
  return new Map([
    ...[...now].map(([id, work]) => [id, isWhole && !ids.has(id) ? { ...work, isMissing: true } : work] as const),
    ...page.map((work) => [work.id, { ...work, isMissing: false }] as const)
  ])
}
