/** The punches of the service, and the matched and sorted rows of each query. */
import { day, makeZones } from "../base/wireDate.ts"
import type { StoredPunch, WirePunch } from "../base/WirePunch.ts"
import { fingerprint } from "./cursor.ts"
import type { ListQuery, QueryPairs } from "./listQuery.ts"
import { makeOrder, makeRow, type Order, type Position, type Row } from "./sorting.ts"

// MERGED matching.ts: The filters of a listing (spec 4.1); order and pages are elsewhere.

type Test = (row: Row) => boolean

/** A range with inclusive ends. A row without the value is outside every range, also one with a single end. */
const within = (
  range: { readonly gte?: number | undefined; readonly lte?: number | undefined },
  valueOf: (row: Row) => number | undefined
): Test | undefined => {
  const { gte, lte } = range
  if (gte === undefined && lte === undefined) return undefined
  return (row) => {
    const value = valueOf(row)
    return value !== undefined && (gte === undefined || value >= gte) && (lte === undefined || value <= lte)
  }
}

const dateTests = (query: ListQuery): ReadonlyArray<Test | undefined> => {
  const { businessDate, clockedIn, clockedOut, localized } = query
  const inOf = localized ? (row: Row) => row.localClockedIn : (row: Row) => row.clockedIn
  const outOf = localized ? (row: Row) => row.localClockedOut : (row: Row) => row.clockedOut
  const businessDayOf = (row: Row) => {
    const instant = inOf(row)
    return instant === undefined ? undefined : Math.floor(instant / day)
  }
  // Business dates disable the clock filters (spec 4.1, rule 1); they do not narrow them.
  const byBusinessDate = within(businessDate, businessDayOf)
  if (byBusinessDate !== undefined) return [byBusinessDate]
  const read = localized ? "wall" : "epoch"
  return [
    within({ gte: clockedIn.gte?.[read], lte: clockedIn.lte?.[read] }, inOf),
    within({ gte: clockedOut.gte?.[read], lte: clockedOut.lte?.[read] }, outOf)
  ]
}

const equal = <A>(wanted: A | undefined, valueOf: (row: Row) => A): Test | undefined =>
  wanted === undefined ? undefined : (row) => valueOf(row) === wanted

/** The test of every filter at once. */
export const makeMatcher = (query: ListQuery): Test => {
  const { deleted, flags, modifiedSince, statuses } = query
  const tests = [
    equal(deleted ?? undefined, (row) => row.deleted),
    // 0 selects the punches without such an id, in every form of the wire.
    ...[...query.ids].map(([name, id]) => (row: Row) => (row.wire[name] ?? 0) === id),
    equal(query.approved, (row) => row.wire.approved),
    ...dateTests(query),
    modifiedSince && ((row: Row) => row.modified !== undefined && row.modified > modifiedSince.epoch),
    flags && ((row: Row) => row.flags.some((flag) => flags.includes(flag))),
    statuses && ((row: Row) => statuses.includes(row.employeeApprovalStatus))
  ].filter((test) => test !== undefined)
  return (row) => tests.every((test) => test(row))
}

/** All rows that a query matches, in its order. Pages are slices of it. */
export interface Listing {
  readonly fingerprint: number
  readonly rows: ReadonlyArray<Row>
  readonly order: Order
  /** Where a record is in the order now, also one that the query does not match; `undefined` if it is needed and gone. */
  readonly locate: (id: number) => Position | undefined
}

/** What identifies a punch. */
export interface PunchKey {
  readonly companyId: number
  readonly id: number
}

/** The service's table of punches. */
export interface Table {
  /** Adds punches. A punch replaces an earlier one with the same company and id. */
  readonly put: (punches: ReadonlyArray<StoredPunch | WirePunch>) => void
  /** Removes punches altogether; a deleted punch is one with `deleted: true`. */
  readonly remove: (keys: ReadonlyArray<PunchKey>) => void
  readonly clear: () => void
  /** The rows with this id: at most one for each company. */
  readonly withId: (id: number) => ReadonlyArray<Row>
  readonly list: (companyId: number, pairs: QueryPairs, query: ListQuery) => Listing
}

// A walk repeats one query, a backfill some dozens. Beyond this number, the oldest listing is evicted.
const cachedListings = 128

/** Company and query without cursor, limit and order of parameters. A cursor is valid for one identity. */
const identityOf = (companyId: number, pairs: QueryPairs) =>
  JSON.stringify([
    companyId,
    ...pairs
      .filter(([name]) => name !== "cursor" && name !== "limit")
      .map((pair) => JSON.stringify(pair))
      .toSorted()
  ])

/** An empty table. With `sortable: false` it ignores `sort_by`, as some services do. */
export const makeTable = (options: { readonly sortable: boolean }): Table => {
  const zones = makeZones()
  const companies = new Map<number, Map<number, Row>>()
  const sorted = new Map<number, ReadonlyArray<Row>>()
  const listings = new Map<string, Listing>()

  const invalidate = () => {
    sorted.clear()
    listings.clear()
  }

  const byId = (companyId: number) => {
    const known = sorted.get(companyId)
    if (known !== undefined) return known
    const rows = [...companies.get(companyId)?.values() ?? []].toSorted((a, b) => a.id - b.id)
    sorted.set(companyId, rows)
    return rows
  }

  const build = (companyId: number, identity: string, query: ListQuery): Listing => {
    const sortBy = options.sortable ? query.sortBy : []
    const order = makeOrder(sortBy)
    const matched = byId(companyId).filter(makeMatcher(query))
    // The rows are in the order of their ids, which is the order of every tie; only `sort_by` needs sorting.
    const rows = sortBy.length === 0 ? matched : matched
      .map((row) => ({ row, id: row.id, keys: order.keysOf(row) }))
      .toSorted(order.compare)
      .map(({ row }) => row)
    // In the order of ids, an id is a position, whether its record is still there or not.
    const locate = (id: number) => {
      if (sortBy.length === 0) return { id, keys: [] }
      const row = companies.get(companyId)?.get(id)
      return row && { id, keys: order.keysOf(row) }
    }
    return { fingerprint: fingerprint(identity), rows, order, locate }
  }

  return {
    put: (punches) => {
      if (punches.length === 0) return
      for (const punch of punches) {
        const row = makeRow(punch, zones)
        const rows = companies.get(row.companyId) ?? new Map<number, Row>()
        companies.set(row.companyId, rows.set(row.id, row))
      }
      invalidate()
    },
    remove: (keys) => {
      if (keys.length === 0) return
      for (const { companyId, id } of keys) companies.get(companyId)?.delete(id)
      invalidate()
    },
    clear: () => {
      companies.clear()
      invalidate()
    },
    withId: (id) => [...companies.values()].flatMap((rows) => rows.get(id) ?? []),
    list: (companyId, pairs, query) => {
      const identity = identityOf(companyId, pairs)
      const known = listings.get(identity)
      if (known !== undefined) return known
      const listing = build(companyId, identity, query)
      const oldest = listings.size >= cachedListings ? listings.keys().next().value : undefined
      if (oldest !== undefined) listings.delete(oldest)
      listings.set(identity, listing)
      return listing
    }
  }
}
