/** Listings for properties: random filters, and what each should list, worked out in the plainest way. */
import { DateTime, Schema } from "effect"
import { BusinessDate, DepartmentId, LocationId, type PunchFilter, RoleId, TimePunch, UserId } from "../../src/index.ts"
import { defaultCompany, generatePunches, type StoredPunch, toWire } from "../../src/testing/index.ts"
import { type Random, random } from "./random.ts"

type Range = NonNullable<PunchFilter["clockedIn"]>

const millis = (text: string) => Date.parse(text)

/** What a filter's bound says as an instant, and as digits that are read on any wall. */
const boundOf = (at: DateTime.DateTime, localized: boolean) =>
  localized ? new Date(at.epochMilliseconds).toISOString().slice(0, -1) : at.epochMilliseconds

const formats = new Map<string, Intl.DateTimeFormat>()

/** `2026-03-18T07:23:00.000` on the wall of the punch's place. */
const wall = (text: string, timeZone: string): string => {
  const format = formats.get(timeZone) ?? new Intl.DateTimeFormat("sv-SE", {
    timeZone,
    dateStyle: "short",
    timeStyle: "medium"
  })
  formats.set(timeZone, format)
  const at = new Date(millis(text))
  return `${format.format(at).replace(" ", "T")}.${String(at.getUTCMilliseconds()).padStart(3, "0")}`
}

const inRange = (text: string | null, punch: StoredPunch, { gte, lt, lte }: Range, localized: boolean): boolean => {
  if (gte === undefined && lte === undefined && lt === undefined) return true
  if (text === null) return false
  const value = localized ? wall(text, punch.timeZone) : millis(text)
  return (gte === undefined || value >= boundOf(gte, localized)) &&
    (lte === undefined || value <= boundOf(lte, localized)) &&
    (lt === undefined || value < boundOf(lt, localized))
}

const inDates = (punch: StoredPunch, { businessDate = {}, localizeSearchTime }: PunchFilter): boolean => {
  const day = wall(punch.clocked_in, localizeSearchTime === true ? punch.timeZone : "UTC").slice(0, 10)
  return (businessDate.start === undefined || day >= businessDate.start) &&
    (businessDate.end === undefined || day <= businessDate.end)
}

const matches = (punch: StoredPunch, filter: PunchFilter): boolean => {
  const { clockedIn = {}, clockedOut = {}, deleted = "exclude", localizeSearchTime: localized = false } = filter
  const is = (wanted: number | undefined, value: number) => wanted === undefined || wanted === value
  return is(filter.locationId, punch.location_id) &&
    is(filter.departmentId, punch.department_id ?? 0) &&
    is(filter.roleId, punch.role_id) &&
    is(filter.userId, punch.user_id) &&
    (filter.approved === undefined || filter.approved === punch.approved) &&
    (deleted === "include" || (punch.deleted === true) === (deleted === "only")) &&
    (filter.flags === undefined || filter.flags.some((flag) => punch.flags.includes(flag))) &&
    (filter.employeeApprovalStatuses === undefined ||
      filter.employeeApprovalStatuses.includes(punch.employeeApprovalStatus)) &&
    (filter.modifiedSince === undefined ||
      (punch.modified !== null && millis(punch.modified) > filter.modifiedSince.epochMilliseconds)) &&
    inRange(punch.clocked_in, punch, clockedIn, localized) &&
    inRange(punch.clocked_out, punch, clockedOut, localized) &&
    inDates(punch, filter)
}

const instants = new Set<string>(["clockedIn", "clockedOut", "created", "modified"])

/** What a punch is ordered by: absent values come last, or first where the order is descending. */
const keyOf = (punch: StoredPunch, field: string): number | string => {
  const name = field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  const value: unknown = new Map<string, unknown>(Object.entries(punch)).get(name) ??
    (field === "deleted" ? false : null)
  if (value === null) return Infinity
  return instants.has(field) ? millis(String(value)) : typeof value === "string" ? value : Number(value)
}

const compare = (a: number | string, b: number | string) => {
  if (a === b) return 0
  if (a === Infinity || b === Infinity) return a === Infinity ? 1 : -1
  return a < b ? -1 : 1
}

/** The punches that a filter should list, in its order, as the domain has them. */
export const expected = (punches: ReadonlyArray<StoredPunch>, filter: PunchFilter = {}): ReadonlyArray<TimePunch> =>
  punches.filter((punch) => matches(punch, filter)).toSorted((a, b) => {
    for (const [field, direction] of filter.sortBy ?? []) {
      const compared = compare(keyOf(a, field), keyOf(b, field))
      if (compared !== 0) return direction === "asc" ? compared : -compared
    }
    return a.id - b.id
  }).map((punch) => Schema.decodeUnknownSync(TimePunch.fromWire)(toWire(punch)))

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

/** An instant at which something happened to one of the punches, or one next to it: where boundaries are put to the test. */
const instantNear = (random: Random, punches: ReadonlyArray<StoredPunch>): DateTime.Utc => {
  const punch = punches[random.between(0, punches.length - 1)]
  const text = random.pick([punch?.clocked_in, punch?.clocked_out, punch?.modified]) ?? "2026-03-10T12:00:00Z"
  return DateTime.makeUnsafe(millis(text) + random.pick([0, 0, 1, -1]))
}

const windowNear = (random: Random, punches: ReadonlyArray<StoredPunch>, localized: boolean): Range => {
  const [one, other] = [instantNear(random, punches), instantNear(random, punches)]
  const [gte, end] = [DateTime.min(one, other), DateTime.max(one, other)]
  return {
    ...(random.chance(0.7) ? { gte } : {}),
    ...(random.chance(0.5) ? { lte: end } : {}),
    ...(!localized && random.chance(0.5) ? { lt: end } : {})
  }
}

const datesNear = (random: Random) => {
  const [start, end] = [random.between(1, 31), random.between(1, 31)].toSorted((a, b) => a - b)
  const date = (day: number | undefined) => BusinessDate.make(`2026-03-${String(day).padStart(2, "0")}`)
  return {
    ...(random.chance(0.8) ? { start: date(start) } : {}),
    ...(random.chance(0.8) ? { end: date(end) } : {})
  }
}

/** A filter of some of the criteria, so few that something is left to list. */
export const randomFilter = (random: Random, punches: ReadonlyArray<StoredPunch>): PunchFilter => {
  const { between, chance, pick } = random
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
    ...(chance(0.2) ? { locationId: LocationId.make(between(301, 306)) } : {}),
    ...(chance(0.2) ? { departmentId: DepartmentId.make(pick([0, 21, 22, 23, 24])) } : {}),
    ...(chance(0.15) ? { roleId: RoleId.make(between(11, 15)) } : {}),
    ...(chance(0.1) ? { userId: UserId.make(between(501, 504)) } : {}),
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

/** Data, a filter near its boundaries and a page size, from a seed. */
export const scenario = (seed: number) => {
  const chance = random(seed)
  const punches = generatePunches({
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
