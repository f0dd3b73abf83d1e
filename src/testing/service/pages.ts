/** Keyset pages, forward and backward, and their cursors: a position in an order, a direction, a query. */
import type { KeyValue, Position, Row } from "./query.ts"
import type { Listing } from "./table.ts"

/** `meta.cursor` of the envelope. */
export interface PageCursor {
  readonly current: string | null
  readonly prev: string | null
  readonly next: string | null
  readonly count: number | null
}

/** A page before it becomes JSON. */
export interface Page {
  readonly rows: ReadonlyArray<Row>
  readonly cursor: PageCursor
}

/** What a cursor holds of the row that it stands for: its whole position, or its id alone. */
type CursorKind = "position" | "record"

/**
 * Decodes the cursor of a request; `undefined` when it is invalid, belongs to another query, or names a record whose
 * position is needed and unknown. A cursor by record stands where its record is now.
 */
export const readCursor = (text: string, listing: Listing, kind: CursorKind): CursorContent | undefined => {
  const content = decodeCursor(text)
  if (content?.query !== listing.fingerprint) return undefined
  if (kind === "position" || content.flag === "start") return content
  const position = listing.locate(content.position.id)
  return position && { ...content, position }
}

/** The first index whose row is after `position`, or at it when `orAt`. */
const boundary = ({ order, rows }: Listing, position: Position, orAt: boolean): number => {
  let low = 0
  let high = rows.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const row = rows[middle]
    const compared = row === undefined ? 1 : order.compare({ id: row.id, keys: order.keysOf(row) }, position)
    if (compared > 0 || (orAt && compared === 0)) high = middle
    else low = middle + 1
  }
  return low
}

/** First index, inclusive, and last index, exclusive, of the page at a cursor. */
const span = (listing: Listing, cursor: CursorContent | undefined, limit: number): readonly [number, number] => {
  const forward = (from: number) => [from, Math.min(from + limit, listing.rows.length)] as const
  const backward = (to: number) => [Math.max(to - limit, 0), to] as const
  if (cursor === undefined || cursor.flag === "start") return forward(0)
  const { flag, position } = cursor
  const at = boundary(listing, position, flag === "from" || flag === "before")
  return flag === "after" || flag === "from" ? forward(at) : backward(at)
}

/** Cuts a page. Positions are keys, so a row inserted or removed between two requests shifts no other row. */
export const cutPage = (
  listing: Listing,
  kind: CursorKind,
  sent: string | undefined,
  cursor: CursorContent | undefined,
  limit: number
): Page => {
  const [from, to] = span(listing, cursor, limit)
  const at = (flag: CursorFlag, index: number) => {
    const row = listing.rows[index]
    if (row === undefined) return null
    const position = { id: row.id, keys: kind === "record" ? [] : listing.order.keysOf(row) }
    return encodeCursor({ flag, query: listing.fingerprint, nonce: 0, position })
  }
  // Nothing is cut only if the rows were removed after the cursor was issued; then the neighbours give its cursors.
  const empty = from === to
  const rows = listing.rows.slice(from, to).filter(listing.isShown)
  return {
    rows,
    cursor: {
      current: sent ?? null,
      prev: from === 0 ? null : empty ? at("upTo", from - 1) : at("before", from),
      next: to === listing.rows.length ? null : empty ? at("from", to) : at("after", to - 1),
      count: rows.length
    }
  }
}

/** A cursor with another text that leads to the rows of this page. */
export const cursorAtSamePosition = (listing: Listing, cursor: CursorContent | undefined, nonce: number): string =>
  encodeCursor({
    flag: cursor?.flag ?? "start",
    query: listing.fingerprint,
    nonce,
    position: cursor?.position ?? { id: 0, keys: [] }
  })

/** The rows that a cursor selects: after its position, from it on, before it, up to it, or from the first row. */
type CursorFlag = "after" | "from" | "before" | "upTo" | "start"

/** The content of a cursor. Clients must treat its text as opaque; tests may decode it. */
interface CursorContent {
  readonly flag: CursorFlag
  /** Fingerprint of company and query; the service refuses a cursor of another query. */
  readonly query: number
  /** Gives cursors for the same position different texts. 0 unless a fault needs one. */
  readonly nonce: number
  readonly position: Position
}

const flags = new Map<string, CursorFlag>([
  ["n", "after"],
  ["f", "from"],
  ["p", "before"],
  ["u", "upTo"],
  ["s", "start"]
])

const letters = new Map<CursorFlag, string>([...flags].map(([letter, flag]) => [flag, letter]))

/** Escapes to ASCII, which is all that `btoa` accepts. */
const escape = (json: string) =>
  json.replace(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)

/** Base64 that always ends in `=`, which exposes a client that does not percent-encode it. */
const encodeCursor = (content: CursorContent): string => {
  const { flag, nonce, position, query } = content
  const json = escape(JSON.stringify([letters.get(flag), query, nonce, position.id, ...position.keys]))
  return btoa(json.length % 3 === 0 ? `${json} ` : json)
}

const isKey = (value: unknown): value is KeyValue =>
  value === null || typeof value === "number" || typeof value === "string" || typeof value === "boolean"

/** Decodes a cursor; `undefined` when the service did not write it. */
export const decodeCursor = (text: string): CursorContent | undefined => {
  try {
    const parsed: unknown = JSON.parse(atob(text))
    if (!Array.isArray(parsed)) return undefined
    const parts: ReadonlyArray<unknown> = parsed
    const [letter, query, nonce, id, ...keys] = parts
    const flag = typeof letter === "string" ? flags.get(letter) : undefined
    const numbers = typeof query === "number" && typeof nonce === "number" && typeof id === "number"
    return flag !== undefined && numbers && keys.every(isKey)
      ? { flag, query, nonce, position: { id, keys } }
      : undefined
  } catch {
    return undefined
  }
}

/** The ages of the cursors that a service issued. */
export type CursorAges = ReturnType<typeof makeCursorAges>

/** Ages for cursors with this lifetime in milliseconds. An infinite one keeps no record, and no cursor expires. */
export const makeCursorAges = (lifetime: number) => {
  const issuedAt = new Map<string, number>()
  const isLimited = lifetime < Infinity
  return {
    /** Records the cursors of a page; one that was issued before is new again. */
    issue: (cursors: ReadonlyArray<unknown>, now: number): void => {
      for (const cursor of isLimited ? cursors : []) if (typeof cursor === "string") issuedAt.set(cursor, now)
    },
    isExpired: (cursor: string, now: number): boolean =>
      isLimited && now - (issuedAt.get(cursor) ?? -Infinity) > lifetime
  }
}
