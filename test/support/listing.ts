/** Listings for property tests: random data, and random filters with boundaries near its instants. */
import { DateTime } from "effect"
import { BusinessDate, type InstantRange, type PunchFilter } from "../../src/index.ts"
import { type Prng, prng } from "../../src/testing/base/prng.ts"
import { defaultCompany, type StoredPunch } from "../../src/testing/index.ts"
import { generateSpread } from "./densities.ts"
import { idFilter } from "./oracle.ts"

const sortFields = [
  "id",
  "userId",
  "roleId",
  "locationId",
  "departmentId",
  "clockedIn",
  "clockedOut",
  "hourlyWage",
  "tips",
  "approved",
  "notes",
  "posType",
  "created",
  "modified",
  "deleted"
] as const

/** An instant of one of the punches or one millisecond beside it, so that filters meet their boundaries. */
const instantNear = (random: Prng, punches: ReadonlyArray<StoredPunch>): DateTime.Utc => {
  const punch = punches[random.between(0, punches.length - 1)]
  const text = random.pick([punch?.clocked_in, punch?.clocked_out, punch?.modified]) ?? "2026-03-10T12:00:00Z"
  return DateTime.makeUnsafe(Date.parse(text) + random.pick([0, 0, 1, -1]))
}

const windowNear = (random: Prng, punches: ReadonlyArray<StoredPunch>, localized: boolean): InstantRange => {
  const [one, other] = [instantNear(random, punches), instantNear(random, punches)]
  const [gte, end] = [DateTime.min(one, other), DateTime.max(one, other)]
  return {
    ...(random.chance(0.7) ? { gte } : {}),
    ...(random.chance(0.5) ? { lte: end } : {}),
    ...(!localized && random.chance(0.5) ? { lt: end } : {})
  }
}

const datesNear = (random: Prng) => {
  const [start, end] = [random.between(1, 31), random.between(1, 31)].toSorted((a, b) => a - b)
  const date = (day: number | undefined) => BusinessDate.make(`2026-03-${String(day).padStart(2, "0")}`)
  return {
    ...(random.chance(0.8) ? { first: date(start) } : {}),
    ...(random.chance(0.8) ? { last: date(end) } : {})
  }
}

/** A filter with few enough criteria that some punches match. */
export const randomFilter = (random: Prng, punches: ReadonlyArray<StoredPunch>): PunchFilter => {
  const { between, chance, pick } = random
  const punch = punches[between(0, punches.length - 1)]
  const localizeSearchTime = chance(0.3)
  const dates: PunchFilter = chance(0.3)
    ? { businessDate: datesNear(random) }
    : {
      ...(chance(0.4) ? { clockedIn: windowNear(random, punches, localizeSearchTime) } : {}),
      ...(chance(0.2) ? { clockedOut: windowNear(random, punches, localizeSearchTime) } : {})
    }
  return {
    ...dates,
    localizeSearchTime,
    ...(punch === undefined ? {} : idFilter(punch, () => chance(0.15))),
    ...(chance(0.25) ? { approved: chance(0.5) } : {}),
    ...(chance(0.5) ? { deleted: pick(["exclude", "only", "include", "include"]) } : {}),
    ...(chance(0.2) ? { modifiedSince: instantNear(random, punches) } : {}),
    ...(chance(0.2) ? { flags: pick([["late"], ["late", "missed_break"], ["auto_clocked_out"]]) } : {}),
    ...(chance(0.2) ? { employeeApprovalStatuses: pick([["pending"], ["approved", "disputed"]]) } : {}),
    ...(chance(0.5)
      ? { sortBy: Array.from({ length: between(1, 3) }, () => [pick(sortFields), pick(["asc", "desc"])] as const) }
      : {})
  }
}

/** Data, a filter and paging options from a seed. */
export const scenario = (seed: number) => {
  const chance = prng(seed)
  const punches = generateSpread({
    seed,
    count: chance.pick([1, 7, 60, 150]),
    companyId: defaultCompany.id,
    deletedShare: 0.3,
    openShare: 0.2,
    density: chance.pick(["dayAndNight", "uniform"]),
    users: 8
  })
  return {
    punches,
    filter: randomFilter(chance, punches),
    pageSize: chance.pick([1, 2, 7, 20, 200]),
    prefetchPages: chance.pick([0, 0, 1, 3])
  }
}
