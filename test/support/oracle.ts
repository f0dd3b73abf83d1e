/**
 * The rows that a listing must have, by the plainest means: filter an array, sort it. Instants and local times come
 * from `Date` and `Intl`; the fake service does its own arithmetic, so that one mistake cannot stand on both sides.
 */
import { DateTime, Schema, Struct } from "effect"
import { type InstantRange, type PunchCriteria, PunchFilter, TimePunch } from "../../src/index.ts"
import type { StoredPunch } from "../../src/testing/index.ts"

/** Parameters of a listing by their names on the wire. */
export type Query = Readonly<Record<string, string>>

const millis = (text: string) => Date.parse(text)

const formats = new Map<string, Intl.DateTimeFormat>()

/** Local time of an instant, such as `2026-03-18 07:23:00.000`. */
const localTime = (text: string, timeZone: string) => {
  const format = formats.get(timeZone) ?? new Intl.DateTimeFormat("sv-SE", {
    timeZone,
    dateStyle: "short",
    timeStyle: "medium"
  })
  formats.set(timeZone, format)
  const at = new Date(millis(text))
  return `${format.format(at)}.${String(at.getUTCMilliseconds()).padStart(3, "0")}`
}

/** The digits of an instant, without its zone, in the form of `localTime`. */
const digits = (text: string) => {
  const [, date = "", time = "", fraction = ""] = /^(.{10})T(.{8})(?:\.(\d+))?/.exec(text) ?? []
  return `${date} ${time}.${fraction.slice(0, 3).padEnd(3, "0")}`
}

/** Whether a value is in a range with inclusive ends. */
const within = <A extends string | number>(value: A, gte: A | undefined, lte: A | undefined) =>
  (gte === undefined || value >= gte) && (lte === undefined || value <= lte)

const mapped = <A>(text: string | undefined, f: (text: string) => A) => text === undefined ? undefined : f(text)

const inClockRange = (text: string | null, punch: StoredPunch, query: Query, name: string) => {
  const gte = query[`${name}[gte]`]
  const lte = query[`${name}[lte]`]
  if (gte === undefined && lte === undefined) return true
  if (text === null) return false
  return query["localize_search_time"] === "true"
    ? within(localTime(text, punch.timeZone), mapped(gte, digits), mapped(lte, digits))
    : within(millis(text), mapped(gte, millis), mapped(lte, millis))
}

const inDates = (punch: StoredPunch, query: Query) => {
  const start = query["business_date_start"]
  const end = query["business_date_end"]
  if (start !== undefined || end !== undefined) {
    const zone = query["localize_search_time"] === "true" ? punch.timeZone : "UTC"
    return within(localTime(punch.clocked_in, zone).slice(0, 10), start, end)
  }
  return inClockRange(punch.clocked_in, punch, query, "clocked_in") &&
    inClockRange(punch.clocked_out, punch, query, "clocked_out")
}

const isOneOf = (list: string | undefined, values: ReadonlyArray<string>) =>
  list === undefined || list === "null" || values.some((value) => list.split(",").includes(value))

const matchesDeleted = (punch: StoredPunch, query: Query) => {
  const wanted = query["deleted"] ?? (query["include_deleted"] === "true" ? "null" : "false")
  return wanted === "null" || String(punch.deleted === true) === wanted
}

/** The parameters that select an id, by their keys in a filter. Each is named as the field of the punch that has it. */
const ids = {
  locationId: "location_id",
  departmentId: "department_id",
  roleId: "role_id",
  userId: "user_id"
} as const

/** The ids of a punch under the names of the parameters that select it; 0 for none. */
export const namedIds = (punch: StoredPunch): ReadonlyArray<readonly [name: string, id: number]> =>
  Object.values(ids).map((name) => [name, punch[name] ?? 0])

/** A filter of some keys, each with the id of a punch. */
export const idFilter = (punch: StoredPunch, isPart: (key: string) => boolean): PunchCriteria =>
  Schema.decodeUnknownSync(PunchFilter)(
    Object.fromEntries(Struct.keys(ids).filter(isPart).map((key) => [key, punch[ids[key]] ?? 0]))
  )

const matches = (punch: StoredPunch, query: Query) => {
  const since = query["modified_since"]
  return matchesDeleted(punch, query) &&
    namedIds(punch).every(([name, id]) => query[name] === undefined || Number(query[name]) === id) &&
    (query["approved"] === undefined || query["approved"] === "null" || query["approved"] === String(punch.approved)) &&
    (since === undefined || (punch.modified !== null && millis(punch.modified) > millis(since))) &&
    isOneOf(query["flags"], punch.flags) &&
    isOneOf(query["employee_approval_statuses"], [punch.employeeApprovalStatus]) &&
    inDates(punch, query)
}

const instants = new Set(["clocked_in", "clocked_out", "created", "modified"])

const keyOf = (punch: StoredPunch, field: string) => {
  if (field === "deleted") return punch.deleted === true
  const value: unknown = new Map<string, unknown>(Object.entries(punch)).get(field) ?? null
  return instants.has(field) && value !== null ? millis(String(value)) : value
}

const compareKeys = (a: unknown, b: unknown): number => {
  if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1
  if (typeof a === "string" && typeof b === "string") return a < b ? -1 : a > b ? 1 : 0
  return Number(a) - Number(b)
}

const expectedRows = (punches: ReadonlyArray<StoredPunch>, query: Query): ReadonlyArray<StoredPunch> => {
  const parts = (query["sort_by"] ?? "id").split(",").map((part) => part.split("."))
  return punches.filter((punch) => matches(punch, query)).toSorted((a, b) => {
    for (const [field = "", direction] of parts) {
      const compared = compareKeys(keyOf(a, field), keyOf(b, field))
      if (compared !== 0) return direction === "desc" ? -compared : compared
    }
    return a.id - b.id
  })
}

/** The ids that the service must list for a query, in its order. */
export const expectedIds = (punches: ReadonlyArray<StoredPunch>, query: Query): ReadonlyArray<number> =>
  expectedRows(punches, query).map((punch) => punch.id)

const iso = (at: DateTime.DateTime) => new Date(at.epochMilliseconds).toISOString()

const deletedOf = { exclude: "false", only: "true", include: "null" } as const

/** The query of a filter, as a caller of the service would write it. `lt` is not part of the wire. */
const queryOf = (filter: PunchFilter): Query => {
  const { businessDate, clockedIn, clockedOut, deleted, modifiedSince, sortBy } = filter
  const parameters: Readonly<Record<string, string | number | boolean | undefined>> = {
    ...Object.fromEntries(Struct.keys(ids).map((key) => [ids[key], filter[key]])),
    approved: filter.approved,
    deleted: deleted && deletedOf[deleted],
    modified_since: modifiedSince && iso(modifiedSince),
    "clocked_in[gte]": clockedIn?.gte && iso(clockedIn.gte),
    "clocked_in[lte]": clockedIn?.lte && iso(clockedIn.lte),
    "clocked_out[gte]": clockedOut?.gte && iso(clockedOut.gte),
    "clocked_out[lte]": clockedOut?.lte && iso(clockedOut.lte),
    business_date_start: businessDate?.first,
    business_date_end: businessDate?.last,
    localize_search_time: filter.localizeSearchTime,
    flags: filter.flags?.join(),
    employee_approval_statuses: filter.employeeApprovalStatuses?.join(),
    sort_by: sortBy?.map(([field, direction]) =>
      `${field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}.${direction}`
    ).join()
  }
  return Object.fromEntries(
    Object.entries(parameters).flatMap(([name, value]) => value === undefined ? [] : [[name, String(value)]])
  )
}

const isBefore = (text: string | null, { lt }: InstantRange) =>
  lt === undefined || (text !== null && millis(text) < lt.epochMilliseconds)

/** The punches that the client must list for a filter, in the order of the service. */
export const expected = (punches: ReadonlyArray<StoredPunch>, filter: PunchFilter = {}): ReadonlyArray<TimePunch> =>
  expectedRows(punches, queryOf(filter))
    .filter((punch) => isBefore(punch.clocked_in, filter.clockedIn ?? {}))
    .filter((punch) => isBefore(punch.clocked_out, filter.clockedOut ?? {}))
    .map((punch) => Schema.decodeUnknownSync(TimePunch.Wire)(punch))
