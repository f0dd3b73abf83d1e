/** The orders of a listing: `sort_by` (spec 4.1) and the comparison of keys. */
import { parseInstant, type Zones } from "../base/wireDate.ts"
import {
  type ApprovalStatus,
  type StoredPunch,
  toStored,
  toWire,
  type WireFlag,
  type WirePunch
} from "../base/WirePunch.ts"

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

// MERGED row.ts: A stored punch with the values that filters and orders read.

/** A row of the table. Instants are milliseconds since 1970, `undefined` where the punch has none. */
export interface Row {
  readonly id: number
  readonly companyId: number
  readonly wire: WirePunch
  /** The punch that the row was made of. */
  readonly stored: StoredPunch
  readonly deleted: boolean
  readonly employeeApprovalStatus: ApprovalStatus
  readonly flags: ReadonlyArray<WireFlag>
  readonly clockedIn: number | undefined
  readonly clockedOut: number | undefined
  readonly modified: number | undefined
  readonly created: number | undefined
  /** The local time of the location, in milliseconds as if it were UTC. */
  readonly localClockedIn: number | undefined
  readonly localClockedOut: number | undefined
  /** The JSON text of the wire punch. */
  readonly text: string
}

const instantOf = (text: string | null): number | undefined => text === null ? undefined : parseInstant(text)?.epoch

/** The row of a punch. A text that is not an instant reads as absent: no date filter matches it. */
export const makeRow = (punch: StoredPunch | WirePunch, zones: Zones): Row => new LazyRow(toStored(punch), zones)

/** Computes `stored`, `created`, local times and text on demand, because they cost more than the other fields. */
class LazyRow implements Row {
  readonly id: number
  readonly companyId: number
  readonly wire: WirePunch
  readonly deleted: boolean
  readonly employeeApprovalStatus: ApprovalStatus
  readonly flags: ReadonlyArray<WireFlag>
  readonly clockedIn: number | undefined
  readonly clockedOut: number | undefined
  readonly modified: number | undefined
  private readonly zones: Zones
  private readonly timeZone: string
  private cachedText: string | undefined = undefined

  constructor(punch: StoredPunch, zones: Zones) {
    this.id = punch.id
    this.companyId = punch.company_id
    this.wire = toWire(punch)
    this.deleted = punch.deleted ?? false
    this.employeeApprovalStatus = punch.employeeApprovalStatus
    this.flags = punch.flags
    this.clockedIn = instantOf(punch.clocked_in)
    this.clockedOut = instantOf(punch.clocked_out)
    this.modified = instantOf(punch.modified)
    this.zones = zones
    this.timeZone = punch.timeZone
  }

  get stored(): StoredPunch {
    const { employeeApprovalStatus, flags, timeZone, wire } = this
    return { ...wire, employeeApprovalStatus, flags, timeZone }
  }

  get created(): number | undefined {
    return instantOf(this.wire.created)
  }

  get localClockedIn(): number | undefined {
    return this.clockedIn === undefined ? undefined : this.zones.wallAt(this.clockedIn, this.timeZone)
  }

  get localClockedOut(): number | undefined {
    return this.clockedOut === undefined ? undefined : this.zones.wallAt(this.clockedOut, this.timeZone)
  }

  get text(): string {
    return this.cachedText ??= JSON.stringify(this.wire)
  }
}
