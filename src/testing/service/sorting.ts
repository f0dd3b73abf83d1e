/** The orders of a listing: `sort_by` (spec 4.1) and the comparison of keys. */
import type { Row } from "./row.ts"

/** A value that rows are ordered by. Null is an absent one: last in ascending order, first in descending order. */
export type KeyValue = number | string | boolean | null

/** One part of a `sort_by`. */
export interface SortKey {
  readonly field: string
  readonly descending: boolean
}

/** A total order of rows: by keys, then by ascending id. */
export interface Order {
  readonly keysOf: (row: Row) => ReadonlyArray<KeyValue>
  readonly compare: (a: Position, b: Position) => number
}

/** The position of a row in an order. */
export interface Position {
  readonly id: number
  readonly keys: ReadonlyArray<KeyValue>
}

// Instants are compared as instants, because the wire writes one instant in many ways.
const fields = new Map<string, (row: Row) => KeyValue>([
  ["id", (row) => row.id],
  ["shift_id", (row) => row.wire.shift_id],
  ["user_id", (row) => row.wire.user_id],
  ["editable_punch", (row) => row.wire.editable_punch],
  ["role_id", (row) => row.wire.role_id],
  ["company_id", (row) => row.companyId],
  ["location_id", (row) => row.wire.location_id],
  ["department_id", (row) => row.wire.department_id ?? null],
  ["hourly_wage", (row) => row.wire.hourly_wage],
  ["approved", (row) => row.wire.approved],
  ["clocked_in", (row) => row.clockedIn ?? null],
  ["clocked_out", (row) => row.clockedOut ?? null],
  ["notes", (row) => row.wire.notes],
  ["auto_clocked_out", (row) => row.wire.auto_clocked_out],
  ["clocked_in_offline", (row) => row.wire.clocked_in_offline],
  ["clocked_out_offline", (row) => row.wire.clocked_out_offline],
  ["tips", (row) => row.wire.tips],
  ["pos_type", (row) => row.wire.pos_type ?? null],
  ["created", (row) => row.created ?? null],
  ["modified", (row) => row.modified ?? null],
  ["deleted", (row) => row.deleted]
])

/**
 * Parses a `sort_by`: field names separated by commas, each with `.asc`, `.desc` or neither. The pattern of the spec
 * also admits an empty text, an empty name and two parts without a comma; none of them names a field: all are refused.
 */
export const parseSort = (text: string): ReadonlyArray<SortKey> | undefined => {
  const keys: Array<SortKey> = []
  for (const part of text.split(",")) {
    const [field = "", direction = "asc", ...rest] = part.split(".")
    if (!fields.has(field) || (direction !== "asc" && direction !== "desc") || rest.length > 0) return undefined
    keys.push({ field, descending: direction === "desc" })
  }
  return keys
}

const compareValues = (a: KeyValue, b: KeyValue): number => {
  if (a === b) return 0
  if (a === null) return 1
  if (b === null) return -1
  return a < b ? -1 : 1
}

/** The order of a `sort_by`. An empty one, and ties, order by ascending id. */
export const makeOrder = (sortBy: ReadonlyArray<SortKey>): Order => {
  const readers = sortBy.map(({ field }) => fields.get(field) ?? ((row: Row) => row.id))
  const signs = sortBy.map(({ descending }) => descending ? -1 : 1)
  return {
    keysOf: (row) => readers.map((read) => read(row)),
    compare: (a, b) => {
      for (const [index, sign] of signs.entries()) {
        const compared = compareValues(a.keys[index] ?? null, b.keys[index] ?? null)
        if (compared !== 0) return compared * sign
      }
      return a.id - b.id
    }
  }
}
