/** Cursors of the fake service (spec 4.3): a place in an order, a direction, and the query that they belong to. */
import type { KeyValue, Position } from "./sorting.ts"

/** Which rows a cursor asks for, seen from its place: those after it, from it on, before it, up to it, or all from the first. */
export type CursorFlag = "after" | "from" | "before" | "upTo" | "start"

/** What a cursor says. Clients must treat the text as opaque; tests may read it. */
export interface CursorContent {
  readonly flag: CursorFlag
  /** Fingerprint of company and query; a cursor of another query is refused. */
  readonly query: number
  /** Makes a second cursor for the same place another text. Zero but for injected faults. */
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

/** ASCII only, because `btoa` takes no more. */
const escape = (json: string) =>
  json.replace(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)

/** Base64 that always ends in `=`, so that a client that forgets to percent-encode it is found out. */
export const encodeCursor = (content: CursorContent): string => {
  const { flag, nonce, position, query } = content
  const json = escape(JSON.stringify([letters.get(flag), query, nonce, position.id, ...position.keys]))
  return btoa(json.length % 3 === 0 ? `${json} ` : json)
}

const isKey = (value: unknown): value is KeyValue =>
  value === null || typeof value === "number" || typeof value === "string" || typeof value === "boolean"

/** Reads a cursor back, or nothing when the service did not write it. */
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
