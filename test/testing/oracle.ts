/**
 * What a listing should hold, worked out in the plainest way: filter an array, sort it. Dates go through `Date` and `Intl`,
 * which the service does not use for them, so that one mistake cannot stand on both sides.
 */
import type { StoredPunch, WirePunch } from "../../src/testing/index.ts"

export type Query = Readonly<Record<string, string>>

const millis = (text: string) => Date.parse(text)

const millisOrNull = (text: string | null) => text === null ? null : millis(text)

/** `2026-03-18 07:23:00.000` on the wall of the punch's place. */
const wall = (text: string, timeZone: string) => {
  const at = new Date(millis(text))
  return `${at.toLocaleString("sv-SE", { timeZone })}.${String(at.getUTCMilliseconds()).padStart(3, "0")}`
}

/** The digits of a filter, in the shape of `wall`. */
const digits = (text: string) => {
  const [, date = "", time = "", fraction = ""] = /^(.{10})T(.{8})(?:\.(\d+))?/.exec(text) ?? []
  return `${date} ${time}.${fraction.slice(0, 3).padEnd(3, "0")}`
}

/** Is `value` within a range of the query, where both are comparable texts or numbers. */
const within = <A extends string | number>(value: A, gte: A | undefined, lte: A | undefined) =>
  (gte === undefined || value >= gte) && (lte === undefined || value <= lte)

const mapped = <A>(text: string | undefined, f: (text: string) => A) => text === undefined ? undefined : f(text)

const inClockRange = (text: string | null, punch: StoredPunch, query: Query, name: string) => {
  const gte = query[`${name}[gte]`]
  const lte = query[`${name}[lte]`]
  if (gte === undefined && lte === undefined) return true
  if (text === null) return false
  return query["localize_search_time"] === "true"
    ? within(wall(text, punch.timeZone), mapped(gte, digits), mapped(lte, digits))
    : within(millis(text), mapped(gte, millis), mapped(lte, millis))
}

const inDates = (punch: StoredPunch, query: Query) => {
  const start = query["business_date_start"]
  const end = query["business_date_end"]
  if (start !== undefined || end !== undefined) {
    const zone = query["localize_search_time"] === "true" ? punch.timeZone : "UTC"
    return within(wall(punch.clocked_in, zone).slice(0, 10), start, end)
  }
  return inClockRange(punch.clocked_in, punch, query, "clocked_in") &&
    inClockRange(punch.clocked_out, punch, query, "clocked_out")
}

const isOneOf = (list: string | undefined, values: ReadonlyArray<string>) =>
  list === undefined || list === "null" || values.some((value) => list.split(",").includes(value))

const isDeletedAsAsked = (punch: StoredPunch, query: Query) => {
  const asked = query["deleted"] ?? (query["include_deleted"] === "true" ? "null" : "false")
  return asked === "null" || String(punch.deleted === true) === asked
}

const matches = (punch: StoredPunch, query: Query) => {
  const since = query["modified_since"]
  const same = (name: string, value: number) => query[name] === undefined || Number(query[name]) === value
  return isDeletedAsAsked(punch, query) &&
    same("location_id", punch.location_id) &&
    same("user_id", punch.user_id) &&
    same("role_id", punch.role_id) &&
    same("department_id", punch.department_id ?? 0) &&
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
  return instants.has(field) ? millisOrNull(value === null ? null : String(value)) : value
}

const compareKeys = (a: unknown, b: unknown): number => {
  if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1
  if (typeof a === "string" && typeof b === "string") return a < b ? -1 : a > b ? 1 : 0
  return Number(a) - Number(b)
}

/** The ids that a query should list, in its order. */
export const expectedIds = (punches: ReadonlyArray<StoredPunch>, query: Query): ReadonlyArray<number> => {
  const parts = (query["sort_by"] ?? "id").split(",").map((part) => part.split("."))
  return punches.filter((punch) => matches(punch, query)).toSorted((a, b) => {
    for (const [field = "", direction] of parts) {
      const compared = compareKeys(keyOf(a, field), keyOf(b, field))
      if (compared !== 0) return direction === "desc" ? -compared : compared
    }
    return a.id - b.id
  }).map((punch) => punch.id)
}

export const idsOf = (punches: ReadonlyArray<WirePunch>) => punches.map((punch) => punch.id)
