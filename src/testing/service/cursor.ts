/** Cursors of the fake service (spec 4.3): a position in an order, a direction, and the query that they belong to. */
import type { KeyValue, Position } from "./sorting.ts"

/** The rows that a cursor selects: after its position, from it on, before it, up to it, or from the first row. */
export type CursorFlag = "after" | "from" | "before" | "upTo" | "start"

/** The content of a cursor. Clients must treat its text as opaque; tests may decode it. */
export interface CursorContent {
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

/** A 32-bit FNV-1a fingerprint. */
export const fingerprint = (text: string): number => {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  return hash >>> 0
}

/** Escapes to ASCII, which is all that `btoa` accepts. */
const escape = (json: string) =>
  json.replace(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)

/** Base64 that always ends in `=`, which exposes a client that does not percent-encode it. */
export const encodeCursor = (content: CursorContent): string => {
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
export interface CursorAges {
  /** Records the cursors of a page; one that was issued before is new again. */
  readonly issue: (cursors: ReadonlyArray<unknown>, now: number) => void
  readonly isExpired: (cursor: string, now: number) => boolean
}

/** Ages for cursors with this lifetime in milliseconds. An infinite one keeps no record, and no cursor expires. */
export const makeCursorAges = (lifetime: number): CursorAges => {
  const issuedAt = new Map<string, number>()
  const isLimited = lifetime < Infinity
  return {
    issue: (cursors, now) => {
      for (const cursor of isLimited ? cursors : []) if (typeof cursor === "string") issuedAt.set(cursor, now)
    },
    isExpired: (cursor, now) => isLimited && now - (issuedAt.get(cursor) ?? -Infinity) > lifetime
  }
}
