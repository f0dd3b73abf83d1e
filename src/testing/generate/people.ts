/** The locations of generated punches, and the people of generated weeks: where they work, when, and for which wage. */
import type { Prng } from "../base/prng.ts"

/** A location, with its time zone and the usual offset of that zone in minutes. */
export interface Location {
  readonly id: number
  readonly timeZone: string
  readonly offset: number
}

/** Three in usual zones, then two whose offsets have minutes, and one in UTC. */
export const locations: readonly [Location, ...ReadonlyArray<Location>] = [
  { id: 301, timeZone: "America/New_York", offset: -300 },
  { id: 302, timeZone: "America/Los_Angeles", offset: -480 },
  { id: 303, timeZone: "Europe/Berlin", offset: 60 },
  { id: 304, timeZone: "Asia/Kolkata", offset: 330 },
  { id: 305, timeZone: "Australia/Lord_Howe", offset: 630 },
  { id: 306, timeZone: "UTC", offset: 0 }
]

/** One of the usual shifts of a day. */
export interface PlannedShift {
  /** Minutes from local midnight to its begin. */
  readonly begin: number
  /** From clock-in to clock-out, in minutes. */
  readonly length: number
  /** Length of its unpaid break in minutes; 0 for none. */
  readonly meal: number
}

/** A person who clocks in. */
export interface Person {
  readonly userId: number
  readonly location: Location
  readonly roleId: number
  readonly departmentId: number | null
  /** Hourly wage in cents. */
  readonly wage: number
  readonly tipped: boolean
  /** The shifts of a day of work. */
  readonly shifts: readonly [PlannedShift, ...ReadonlyArray<PlannedShift>]
  /** The first of two consecutive days off: 0 for the first day of the week. */
  readonly dayOff: number
}

const hour = 60

/** Eight hours a day with a break of one: seven hours of pay on five days are 35 a week. */
const inOne = (begin: number): Person["shifts"] => [{ begin, length: 8 * hour, meal: hour }]

const plans: readonly [Person["shifts"], ...ReadonlyArray<Person["shifts"]>] = [
  inOne(7 * hour),
  inOne(9 * hour),
  inOne(15 * hour),
  // Ends after midnight.
  inOne(17.5 * hour),
  [{ begin: 10.5 * hour, length: 3.5 * hour, meal: 0 }, { begin: 17 * hour, length: 3.5 * hour, meal: 0 }],
  [{ begin: 11 * hour, length: 3.5 * hour, meal: 0 }, { begin: 17.5 * hour, length: 3.5 * hour, meal: 0 }]
]

interface Role {
  readonly id: number
  readonly departmentId: number | null
  /** The lowest hourly wage, in cents. */
  readonly wage: number
  readonly tipped: boolean
}

const roles: readonly [Role, ...ReadonlyArray<Role>] = [
  { id: 11, departmentId: 21, wage: 1200, tipped: true },
  { id: 12, departmentId: 21, wage: 1450, tipped: true },
  { id: 13, departmentId: 22, wage: 1550, tipped: false },
  { id: 14, departmentId: 22, wage: 1875, tipped: false },
  { id: 15, departmentId: null, wage: 2400, tipped: false }
]

const homes = locations.slice(0, 3)

/** People 501, 502, …, spread evenly over the first three locations. */
export const makePeople = (random: Prng, count: number): ReadonlyArray<Person> =>
  Array.from({ length: count }, (_, index) => {
    const role = random.pick(roles)
    return {
      userId: 501 + index,
      location: homes[index % homes.length] ?? locations[0],
      roleId: role.id,
      departmentId: role.departmentId,
      wage: role.wage + 25 * random.between(0, 8),
      tipped: role.tipped,
      shifts: random.pick(plans),
      dayOff: random.between(0, 6)
    }
  })
