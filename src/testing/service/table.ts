/** The punches that the service holds, and the matched and sorted rows of each query asked of them. */
import { makeZones } from "../base/wireDate.ts"
import type { StoredPunch, WirePunch } from "../base/WirePunch.ts"
import { fingerprint } from "./cursor.ts"
import type { ListQuery, QueryPairs } from "./listQuery.ts"
import { makeMatcher } from "./matching.ts"
import { makeRow, type Row } from "./row.ts"
import { makeOrder, type Order } from "./sorting.ts"

/** Everything that a query matches, in its order: what pages are cut from. */
export interface Listing {
  readonly fingerprint: number
  readonly rows: ReadonlyArray<Row>
  readonly order: Order
}

/** The service's table of punches. */
export interface Table {
  /** Adds punches; one with the id of another of its company takes its place. */
  readonly put: (punches: ReadonlyArray<StoredPunch | WirePunch>) => void
  /** Takes punches out altogether, as if they had never been; a deleted punch is one with `deleted: true`. */
  readonly remove: (ids: ReadonlyArray<number>) => void
  readonly clear: () => void
  readonly list: (companyId: number, pairs: QueryPairs, query: ListQuery) => Listing
}

// A walk repeats one query, a backfill some dozens; more than these are forgotten, oldest first.
const cachedListings = 128

/** The query without its page: what a cursor must agree with. The order of the parameters says nothing. */
const identityOf = (companyId: number, pairs: QueryPairs) =>
  JSON.stringify([
    companyId,
    ...pairs
      .filter(([name]) => name !== "cursor" && name !== "limit")
      .map((pair) => JSON.stringify(pair))
      .toSorted()
  ])

/** An empty table. `asked: false` makes it deaf to `sort_by`, as such services have been seen to be. */
export const makeTable = (options: { readonly asked: boolean }): Table => {
  const zones = makeZones()
  const companies = new Map<number, Map<number, Row>>()
  const sorted = new Map<number, ReadonlyArray<Row>>()
  const listings = new Map<string, Listing>()

  const forget = () => {
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
    const sortBy = options.asked ? query.sortBy : []
    const order = makeOrder(sortBy)
    const matched = byId(companyId).filter(makeMatcher(query))
    // The rows come by id, which is the order of every tie; only a `sort_by` needs sorting.
    const rows = sortBy.length === 0 ? matched : matched
      .map((row) => ({ row, id: row.id, keys: order.keysOf(row) }))
      .toSorted(order.compare)
      .map(({ row }) => row)
    return { fingerprint: fingerprint(identity), rows, order }
  }

  return {
    put: (punches) => {
      for (const punch of punches) {
        const row = makeRow(punch, zones)
        const rows = companies.get(row.companyId) ?? new Map<number, Row>()
        companies.set(row.companyId, rows.set(row.id, row))
      }
      forget()
    },
    remove: (ids) => {
      for (const rows of companies.values()) for (const id of ids) rows.delete(id)
      forget()
    },
    clear: () => {
      companies.clear()
      forget()
    },
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
