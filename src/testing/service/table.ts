/** The punches of the service: the listings of each query, and changes, which listings show after a lag. */
import { prng } from "../base/prng.ts"
import { formatInstant, makeZones, sampleForm } from "../base/wireDate.ts"
import { type StoredPunch, toStored, type WirePunch } from "../base/WirePunch.ts"
import type { LagRange, Settings } from "./options.ts"
import {
  fingerprint,
  type ListQuery,
  makeMatcher,
  makeOrder,
  type Order,
  type Position,
  type QueryPairs,
  Row,
  type SortKey
} from "./query.ts"

/** The rows of a query, in its order. Pages are slices of it. */
export interface Listing {
  readonly fingerprint: number
  readonly rows: ReadonlyArray<Row>
  /** Whether a row is shown on its page: always, unless pages are filtered after they are cut. */
  readonly isShown: (row: Row) => boolean
  readonly order: Order
  /** Where a record is in the order now, also one that the query does not match; `undefined` if it is needed and gone. */
  readonly locate: (id: number) => Position | undefined
}

/** What identifies a punch. */
interface PunchKey {
  readonly companyId: number
  readonly id: number
}

// A walk repeats one query, a backfill some dozens. Beyond this number, the oldest listing of a company is evicted.
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

/** How a listing is ordered and filtered. */
type TableOptions = Pick<Settings, "order" | "defaultOrder" | "filters">

const sortOf = ({ defaultOrder, order }: TableOptions, { cursor, sortBy }: ListQuery): ReadonlyArray<SortKey> => {
  if (order === "id") return []
  if (sortBy.length > 0 && (order === "asked" || cursor === undefined)) return sortBy
  return defaultOrder === "id" ? [] : [{ field: defaultOrder, descending: false }]
}

/** The service's table of punches. */
export type Table = ReturnType<typeof makeTable>

/** An empty table. */
export const makeTable = (options: TableOptions) => {
  const zones = makeZones()
  const companies = new Map<number, Map<number, Row>>()
  // By company: an edit of one makes no listing of another again.
  const sorted = new Map<number, ReadonlyArray<Row>>()
  const listings = new Map<number, Map<string, Listing>>()

  const invalidate = (companyId: number) => {
    sorted.delete(companyId)
    listings.delete(companyId)
  }

  const byId = (companyId: number) => {
    const known = sorted.get(companyId)
    if (known !== undefined) return known
    const rows = [...companies.get(companyId)?.values() ?? []].toSorted((a, b) => a.id - b.id)
    sorted.set(companyId, rows)
    return rows
  }

  const build = (companyId: number, identity: string, query: ListQuery, sortBy: ReadonlyArray<SortKey>): Listing => {
    const order = makeOrder(sortBy)
    const matches = makeMatcher(query)
    const isFilteredFirst = options.filters === "beforePaging"
    const paged = isFilteredFirst ? byId(companyId).filter(matches) : byId(companyId)
    // The rows are in the order of their ids, which is the order of every tie; only another order needs sorting.
    const rows = sortBy.length === 0 ? paged : paged
      .map((row) => ({ row, id: row.id, keys: order.keysOf(row) }))
      .toSorted(order.compare)
      .map(({ row }) => row)
    // In the order of ids, an id is a position, whether its record is still there or not.
    const locate = (id: number) => {
      if (sortBy.length === 0) return { id, keys: [] }
      const row = companies.get(companyId)?.get(id)
      return row && { id, keys: order.keysOf(row) }
    }
    return { fingerprint: fingerprint(identity), rows, isShown: isFilteredFirst ? () => true : matches, order, locate }
  }

  return {
    /** Adds punches. A punch replaces an earlier one with the same company and id. */
    put: (punches: ReadonlyArray<StoredPunch | WirePunch>): void => {
      for (const punch of punches) {
        const row = new Row(toStored(punch), zones)
        const rows = companies.get(row.companyId) ?? new Map<number, Row>()
        companies.set(row.companyId, rows.set(row.id, row))
        invalidate(row.companyId)
      }
    },
    /** Removes punches altogether; a deleted punch is one with `deleted: true`. */
    remove: (keys: ReadonlyArray<PunchKey>): void => {
      for (const { companyId, id } of keys) {
        companies.get(companyId)?.delete(id)
        invalidate(companyId)
      }
    },
    clear: () => {
      companies.clear()
      sorted.clear()
      listings.clear()
    },
    /** The rows with this id: at most one for each company. */
    withId: (id: number): ReadonlyArray<Row> => [...companies.values()].flatMap((rows) => rows.get(id) ?? []),
    list: (companyId: number, pairs: QueryPairs, query: ListQuery): Listing => {
      const identity = identityOf(companyId, pairs)
      const sortBy = sortOf(options, query)
      // One query has two orders if a cursor makes the service forget `sort_by`.
      const key = JSON.stringify([identity, sortBy])
      const ofCompany = listings.get(companyId) ?? new Map<string, Listing>()
      listings.set(companyId, ofCompany)
      const known = ofCompany.get(key)
      if (known !== undefined) return known
      const listing = build(companyId, identity, query, sortBy)
      const oldest = ofCompany.size >= cachedListings ? ofCompany.keys().next().value : undefined
      if (oldest !== undefined) ofCompany.delete(oldest)
      ofCompany.set(key, listing)
      return listing
    }
  }
}

/** New values of a punch. A value that is absent keeps the old one; `modified` moves unless it is given. */
export type PunchPatch = Partial<Omit<StoredPunch, "id" | "company_id">>

/** When a change is made, in milliseconds since 1970. */
export interface ChangeTime {
  /** By the `Clock`: the lag is counted from here. */
  readonly now: number
  /** By the service's clock: the stamp. */
  readonly stamp: number
}

/** A change of one punch; an absent punch is removed. */
interface Change extends PunchKey {
  readonly serial: number
  readonly showsAt: number
  readonly punch: StoredPunch | undefined
}

const keyOf = ({ companyId, id }: PunchKey) => `${companyId}/${id}`

/** The changes of a service to its table. A later change of a punch hides an earlier one that would show after it. */
export const makeChanges = (table: Table, lag: LagRange) => {
  const random = prng(lag.seed)
  let serial = 0
  let pending: Array<Change> = []
  let nextShowsAt = Infinity
  /** The latest change of each punch, by id and company, while it does not show yet. */
  const hidden = new Map<number, Map<number, Change>>()
  /** Serial of the last change that shows; kept while others are pending. */
  const shown = new Map<string, number>()

  const drawLag = () => lag.from === lag.to ? lag.from : random.between(lag.from, lag.to)

  const hide = (change: Change) => {
    hidden.set(change.id, (hidden.get(change.id) ?? new Map<number, Change>()).set(change.companyId, change))
  }

  const unhide = ({ companyId, id }: PunchKey) => {
    const changes = hidden.get(id)
    changes?.delete(companyId)
    if (changes?.size === 0) hidden.delete(id)
  }

  const show = (due: ReadonlyArray<Change>) => {
    const latest = new Map<string, Change>()
    for (const change of due) {
      const key = keyOf(change)
      if (change.serial < (shown.get(key) ?? 0)) continue
      shown.set(key, change.serial)
      latest.set(key, change)
      if (hidden.get(change.id)?.get(change.companyId) === change) unhide(change)
    }
    const changes = [...latest.values()]
    table.put(changes.flatMap(({ punch }) => punch === undefined ? [] : [punch]))
    table.remove(changes.filter(({ punch }) => punch === undefined))
  }

  const apply = (now: number) => {
    if (now < nextShowsAt) return
    const due = pending.filter(({ showsAt }) => showsAt <= now)
    pending = pending.filter(({ showsAt }) => showsAt > now)
    nextShowsAt = pending.reduce((first, { showsAt }) => Math.min(first, showsAt), Infinity)
    show(due)
    if (pending.length === 0) shown.clear()
  }

  /** Records the change from each punch to what `next` returns; `undefined` removes it. */
  const record = (
    punches: ReadonlyArray<StoredPunch>,
    now: number,
    next: (punch: StoredPunch) => StoredPunch | undefined
  ) => {
    for (const before of punches) {
      const { company_id: companyId, id } = before
      serial += 1
      const change: Change = { companyId, id, serial, showsAt: now + drawLag(), punch: next(before) }
      hide(change)
      pending.push(change)
      nextShowsAt = Math.min(nextShowsAt, change.showsAt)
    }
    apply(now)
  }

  /** The punches with this id as they are, whether their last change shows or not. */
  const current = (id: number): ReadonlyArray<StoredPunch> => {
    const changes = hidden.get(id)
    const unchanged = table.withId(id).filter(({ companyId }) => changes?.has(companyId) !== true)
    const changed = [...changes?.values() ?? []].flatMap(({ punch }) => punch ?? [])
    return [...unchanged.map(({ stored }) => stored), ...changed]
  }

  const written = (stamp: number) => formatInstant(stamp, sampleForm)

  return {
    /** Puts punches as they are, at once. */
    seed: (punches: ReadonlyArray<StoredPunch | WirePunch>): void => {
      serial += 1
      for (const { company_id: companyId, id } of pending.length === 0 ? [] : punches) {
        shown.set(keyOf({ companyId, id }), serial)
        unhide({ companyId, id })
      }
      table.put(punches)
    },
    /** Adds punches and stamps `created` and `modified`; null stays null. */
    add: (punches: ReadonlyArray<StoredPunch | WirePunch>, { now, stamp }: ChangeTime): void => {
      const at = written(stamp)
      record(punches.map(toStored), now, (punch) => ({
        ...punch,
        created: punch.created === null ? null : at,
        modified: punch.modified === null ? null : at
      }))
    },
    /** Changes the punches with these ids, in all companies, and stamps `modified` unless the patch has it. */
    edit: (ids: ReadonlyArray<number>, patch: PunchPatch, { now, stamp }: ChangeTime): number => {
      const modified = written(stamp)
      const found = ids.flatMap(current)
      record(found, now, (punch) => ({ ...punch, modified, ...patch }))
      return found.length
    },
    /** Removes the punches with these ids, in all companies, without a trace. */
    remove: (ids: ReadonlyArray<number>, { now }: ChangeTime): void => {
      record(ids.flatMap(current), now, () => undefined)
    },
    /** Removes all punches and all changes that do not show yet. */
    clear: () => {
      pending = []
      nextShowsAt = Infinity
      hidden.clear()
      shown.clear()
      table.clear()
    },
    /** Shows the changes whose lag is over at `now`. */
    apply
  }
}
