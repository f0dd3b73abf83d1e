/** What a plan lists: punches, a filter in the form of the caller and of the wire, and the rows due. */
import { DateTime } from "effect"
import {
  BusinessDate,
  type DateRange,
  DepartmentId,
  type InstantRange,
  LocationId,
  type PunchCriteria,
  type PunchFilter,
  RoleId,
  UserId
} from "../../src/index.ts"
import type { Prng } from "../../src/testing/base/prng.ts"
import { defaultCompany, generatePunches, type StoredPunch } from "../../src/testing/index.ts"
import { otherCompany } from "../../src/testing/service/options.ts"
import { densities, generateSpread } from "../support/densities.ts"
import { expectedIds, type Query } from "../support/oracle.ts"

/** A row that the service sends. The client drops one at an exclusive end, unless it cannot decode it. */
export interface Due {
  readonly punch: StoredPunch
  readonly atEnd: boolean
}

/** A filter as a caller writes it and as the service reads it; no code under test derives one from the other. */
export interface Selection {
  readonly filter: PunchFilter
  readonly query: Query
  readonly isAtEnd: (punch: StoredPunch) => boolean
}

/** Generated once, because generating rows would cost more than a run. */
const pool = Array.from({ length: 16 }, (_, index) =>
  generateSpread({
    seed: 900 + index,
    count: 160,
    companyId: defaultCompany.id,
    days: 1 + index * 3,
    density: densities[index % densities.length],
    openShare: 0.15,
    deletedShare: 0.2,
    users: 6
  }))

/** Rows of another company, which no listing may contain. Their ids are among those of the listed company. */
export const foreignPunches = generatePunches({ seed: 899, count: 12, companyId: otherCompany.id })

/** A slice of punches, mostly a short one, so that a run is cheap and its last page is often partial. */
export const drawPunches = (random: Prng, most: number): ReadonlyArray<StoredPunch> => {
  const set = pool[random.between(0, pool.length - 1)] ?? []
  const count = random.chance(0.9) ? random.between(0, most) : random.between(0, most * 3)
  const from = random.between(0, Math.max(0, set.length - count))
  return set.slice(from, from + count)
}

/** An instant of a punch or one millisecond beside it, so that every border is hit from both sides. */
const near = (random: Prng, text: string): DateTime.Utc =>
  DateTime.makeUnsafe(DateTime.makeUnsafe(text).epochMilliseconds + random.between(-1, 1))

type Sortable = readonly [NonNullable<PunchCriteria["sortBy"]>[number][0], string]
const sortable: readonly [Sortable, ...ReadonlyArray<Sortable>] = [
  ["id", "id"],
  ["clockedIn", "clocked_in"],
  ["clockedOut", "clocked_out"],
  ["modified", "modified"],
  ["tips", "tips"],
  ["notes", "notes"],
  ["approved", "approved"],
  ["departmentId", "department_id"],
  ["posType", "pos_type"]
]

/** A part of a filter in both forms. */
interface Half<F> {
  readonly filter: F
  readonly query: Query
}

const nothing = { filter: {}, query: {} }

const drawCriteria = (random: Prng, punch: StoredPunch): Half<PunchCriteria> => {
  const parts: ReadonlyArray<readonly [share: number, Half<PunchCriteria>]> = [
    [0.06, {
      filter: { locationId: LocationId.make(punch.location_id) },
      query: { location_id: `${punch.location_id}` }
    }],
    [0.08, { filter: { userId: UserId.make(punch.user_id) }, query: { user_id: `${punch.user_id}` } }],
    [0.04, { filter: { roleId: RoleId.make(punch.role_id) }, query: { role_id: `${punch.role_id}` } }],
    [0.04, {
      filter: { departmentId: DepartmentId.make(punch.department_id ?? 0) },
      query: { department_id: `${punch.department_id ?? 0}` }
    }],
    [0.1, { filter: { approved: punch.approved }, query: { approved: `${punch.approved}` } }],
    [0.3, { filter: { deleted: "include" }, query: { deleted: "null" } }],
    [0.05, { filter: { deleted: "only" }, query: { deleted: "true" } }],
    [0.04, { filter: { flags: ["late", "auto_clocked_out"] }, query: { flags: "late,auto_clocked_out" } }],
    [0.04, {
      filter: { employeeApprovalStatuses: ["pending", "disputed"] },
      query: { employee_approval_statuses: "pending,disputed" }
    }],
    ...(punch.modified === null ? [] : [[0.05, modifiedSince(near(random, punch.modified))] as const])
  ]
  const drawn = parts.filter(([share]) => random.chance(share)).map(([, half]) => half)
  return [...drawn, random.chance(0.35) ? drawSort(random) : nothing].reduce<Half<PunchCriteria>>(
    (all, half) => ({ filter: { ...all.filter, ...half.filter }, query: { ...all.query, ...half.query } }),
    nothing
  )
}

const modifiedSince = (at: DateTime.Utc): Half<PunchCriteria> => ({
  filter: { modifiedSince: at },
  query: { modified_since: DateTime.formatIso(at) }
})

const drawSort = (random: Prng): Half<PunchCriteria> => {
  const keys = Array.from(
    { length: random.between(1, 2) },
    () => [random.pick(sortable), random.pick(["asc", "desc"] as const)] as const
  )
  return {
    filter: { sortBy: keys.map(([[field], direction]) => [field, direction] as const) },
    query: { sort_by: keys.map(([[, name], direction]) => `${name}.${direction}`).join(",") }
  }
}

const instantOf = (text: string | null): number | undefined =>
  text === null ? undefined : DateTime.makeUnsafe(text).epochMilliseconds

const never = () => false

/** A window around two punches, closed or half-open, on the field `name` of the wire. */
const drawWindow = (random: Prng, name: "clocked_in" | "clocked_out", one: string, other: string) => {
  const ends = [near(random, one), near(random, other)] as const
  const [first, last] = ends[0].epochMilliseconds <= ends[1].epochMilliseconds ? ends : [ends[1], ends[0]]
  const start = random.chance(0.7) ? { gte: first } : {}
  const open = random.chance(0.5)
  const range: InstantRange = open ? { ...start, lt: last } : { ...start, lte: last }
  const query: Query = {
    ...(range.gte && { [`${name}[gte]`]: DateTime.formatIso(range.gte) }),
    [`${name}[lte]`]: DateTime.formatIso(last)
  }
  return {
    range,
    query,
    isAtEnd: open ? (punch: StoredPunch) => instantOf(punch[name]) === last.epochMilliseconds : never
  }
}

/** Days from or up to that of a punch, in local time or in UTC. */
const drawDates = (random: Prng, punch: StoredPunch): Half<PunchCriteria & { readonly businessDate: DateRange }> => {
  const day = DateTime.formatIso(near(random, punch.clocked_in)).slice(0, 10)
  const localized = random.chance(0.3)
  const start = random.chance(0.5)
  return {
    filter: {
      ...(localized && { localizeSearchTime: true }),
      businessDate: start ? { first: BusinessDate.make(day) } : { last: BusinessDate.make(day) }
    },
    query: {
      ...(localized && { localize_search_time: "true" }),
      [start ? "business_date_start" : "business_date_end"]: day
    }
  }
}

/** A filter that matches some of the punches, or all of them. */
export const drawSelection = (random: Prng, punches: ReadonlyArray<StoredPunch>): Selection => {
  const [one, other] = [0, 1].map(() => punches[random.between(0, punches.length - 1)])
  if (one === undefined || other === undefined) return { filter: {}, query: {}, isAtEnd: never }
  const criteria = drawCriteria(random, one)
  const kind = random.next()
  if (kind < 0.3) {
    const { isAtEnd, query, range } = drawWindow(random, "clocked_in", one.clocked_in, other.clocked_in)
    return { filter: { ...criteria.filter, clockedIn: range }, query: { ...criteria.query, ...query }, isAtEnd }
  }
  if (kind < 0.37 && one.clocked_out !== null && other.clocked_out !== null) {
    const { isAtEnd, query, range } = drawWindow(random, "clocked_out", one.clocked_out, other.clocked_out)
    return { filter: { ...criteria.filter, clockedOut: range }, query: { ...criteria.query, ...query }, isAtEnd }
  }
  if (kind < 0.43) {
    const { filter, query } = drawDates(random, one)
    return { filter: { ...criteria.filter, ...filter }, query: { ...criteria.query, ...query }, isAtEnd: never }
  }
  return { ...criteria, isAtEnd: never }
}

/** The rows of a selection, in the order of the service. With `sortable: false` it ignores `sort_by`. */
export const dueRows = (
  punches: ReadonlyArray<StoredPunch>,
  { isAtEnd, query }: Selection,
  sortable: boolean
): ReadonlyArray<Due> => {
  const byId = new Map(punches.map((punch) => [punch.id, punch]))
  const { sort_by: sortBy, ...rest } = query
  const ids = expectedIds(punches, sortable && sortBy !== undefined ? { ...rest, sort_by: sortBy } : rest)
  return ids.flatMap((id) => {
    const punch = byId.get(id)
    return punch === undefined ? [] : [{ punch, atEnd: isAtEnd(punch) }]
  })
}
