/** What a listing asks for: its query string, read strictly, and the filters and the order of rows that follow. */
import { day, parseDate, parseInstant, type WrittenInstant, type Zones } from "../base/wireDate.ts"
import {
  type ApprovalStatus,
  approvalStatuses,
  punchFlags,
  type StoredPunch,
  toWire,
  type WireFlag,
  type WirePunch
} from "../base/WirePunch.ts"

/** Why a query is refused. */
export interface Refusal {
  readonly param: string
  readonly detail: string
}

/** A decoded query string: names and values in their order. */
export type QueryPairs = ReadonlyArray<readonly [name: string, value: string]>

/** A range with inclusive ends. */
interface Between<A> {
  gte?: A
  lte?: A
}

/** The parameters that select an id, each named as the field of the punch that has it. */
const idNames = ["location_id", "department_id", "role_id", "user_id"] as const

/** A parsed query. `undefined` does not filter. */
export interface ListQuery {
  readonly ids: ReadonlyMap<typeof idNames[number], number>
  readonly approved: boolean | undefined
  /** `false` lists undeleted punches, `true` deleted ones, `null` both. */
  readonly deleted: boolean | null
  readonly modifiedSince: WrittenInstant | undefined
  readonly clockedIn: Readonly<Between<WrittenInstant>>
  readonly clockedOut: Readonly<Between<WrittenInstant>>
  /** Days since 1970. */
  readonly businessDate: Readonly<Between<number>>
  readonly localized: boolean
  readonly flags: ReadonlyArray<WireFlag> | undefined
  readonly statuses: ReadonlyArray<ApprovalStatus> | undefined
  readonly sortBy: ReadonlyArray<SortKey>
  readonly limit: number | undefined
  readonly cursor: string | undefined
}

type Mutable<A> = { -readonly [K in keyof A]: A[K] }

interface Draft extends Mutable<ListQuery> {
  ids: Map<typeof idNames[number], number>
  clockedIn: Between<WrittenInstant>
  clockedOut: Between<WrittenInstant>
  businessDate: Between<number>
  deletedGiven: boolean
  includeDeleted: boolean
}

/** Writes a value into the draft; `false` for an invalid one. */
type Reader = (value: string, draft: Draft) => boolean

/** A reader from a parser, which returns `undefined` for an invalid value. */
const reader =
  <A>(parse: (text: string) => A | undefined, set: (draft: Draft, value: A) => void): Reader => (text, draft) => {
    const value = parse(text)
    if (value === undefined) return false
    set(draft, value)
    return true
  }

const parseInteger = (text: string) => {
  const value = /^-?\d{1,16}$/.test(text) ? Number(text) : Number.NaN
  return Number.isSafeInteger(value) ? value : undefined
}

const parseBoolean = (text: string) => text === "true" ? true : text === "false" ? false : undefined

const parseNullableBoolean = (text: string) => text === "null" ? null : parseBoolean(text)

const parseText = (text: string) => text === "" ? undefined : text

/** A comma-separated list of known words, or the literal `null` for no filter. */
const parseWords =
  <A extends string>(known: ReadonlyArray<A>) => (text: string): ReadonlyArray<A> | null | undefined => {
    if (text === "null") return null
    const words: Array<A> = []
    for (const item of text.split(",")) {
      const word = known.find((candidate) => candidate === item)
      if (word === undefined) return undefined
      words.push(word)
    }
    return words
  }

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
 * also admits an empty text, an empty name and two parts without a comma. Those name no field and are refused.
 */
const parseSort = (text: string): ReadonlyArray<SortKey> | undefined => {
  const keys: Array<SortKey> = []
  for (const part of text.split(",")) {
    const [field = "", direction = "asc", ...rest] = part.split(".")
    if (!fields.has(field) || (direction !== "asc" && direction !== "desc") || rest.length > 0) return undefined
    keys.push({ field, descending: direction === "desc" })
  }
  return keys
}

const readers = new Map<string, Reader>([
  ...idNames.map((name): [string, Reader] => [
    name,
    reader(parseInteger, (draft, value) => draft.ids.set(name, value))
  ]),
  ["approved", reader(parseNullableBoolean, (draft, value) => (draft.approved = value ?? undefined))],
  ["limit", reader(parseInteger, (draft, value) => (draft.limit = value))],
  ["cursor", reader(parseText, (draft, value) => (draft.cursor = value))],
  ["modified_since", reader(parseInstant, (draft, value) => (draft.modifiedSince = value))],
  ["clocked_in[gte]", reader(parseInstant, (draft, value) => (draft.clockedIn.gte = value))],
  ["clocked_in[lte]", reader(parseInstant, (draft, value) => (draft.clockedIn.lte = value))],
  ["clocked_out[gte]", reader(parseInstant, (draft, value) => (draft.clockedOut.gte = value))],
  ["clocked_out[lte]", reader(parseInstant, (draft, value) => (draft.clockedOut.lte = value))],
  ["include_deleted", reader(parseBoolean, (draft, value) => (draft.includeDeleted = value))],
  [
    "deleted",
    reader(parseNullableBoolean, (draft, value) => {
      draft.deleted = value
      draft.deletedGiven = true
    })
  ],
  ["localize_search_time", reader(parseBoolean, (draft, value) => (draft.localized = value))],
  ["flags", reader(parseWords(punchFlags), (draft, value) => (draft.flags = value ?? undefined))],
  [
    "employee_approval_statuses",
    reader(parseWords(approvalStatuses), (draft, value) => (draft.statuses = value ?? undefined))
  ],
  ["sort_by", reader(parseSort, (draft, value) => (draft.sortBy = value))],
  ["business_date_start", reader(parseDate, (draft, value) => (draft.businessDate.gte = value))],
  ["business_date_end", reader(parseDate, (draft, value) => (draft.businessDate.lte = value))]
])

const decodePart = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text.replaceAll("+", " "))
  } catch {
    return undefined
  }
}

/** Splits and decodes a raw query string. It refuses a broken escape and a repeated name. */
export const decodeQuery = (raw: string): QueryPairs | Refusal => {
  if (raw === "") return []
  const pairs: Array<readonly [string, string]> = []
  const names = new Set<string>()
  for (const part of raw.split("&")) {
    const equals = part.indexOf("=")
    const [rawName, rawValue] = equals < 0 ? [part, ""] : [part.slice(0, equals), part.slice(equals + 1)]
    const name = decodePart(rawName)
    const value = decodePart(rawValue)
    if (name === undefined || value === undefined) {
      return { param: name ?? rawName, detail: "The query string contains a broken percent escape." }
    }
    if (names.has(name)) return { param: name, detail: `The parameter ${name} was sent more than once.` }
    names.add(name)
    pairs.push([name, value])
  }
  return pairs
}

/** Whether a boolean is given as the text `null`. */
export const isNullBoolean = (name: string, value: string): boolean =>
  value === "null" && (name === "deleted" || name === "approved")

/** Whether `decodeQuery` or `parseListQuery` refused. */
export const isRefusal = (value: QueryPairs | ListQuery | Refusal): value is Refusal => "detail" in value

/** Parses decoded pairs. It refuses an unknown name, so that a misspelt filter is not ignored in silence. */
export const parseListQuery = (pairs: QueryPairs, maxLimit: number): ListQuery | Refusal => {
  const draft: Draft = {
    ids: new Map(),
    approved: undefined,
    deleted: false,
    deletedGiven: false,
    includeDeleted: false,
    modifiedSince: undefined,
    clockedIn: {},
    clockedOut: {},
    businessDate: {},
    localized: false,
    flags: undefined,
    statuses: undefined,
    sortBy: [],
    limit: undefined,
    cursor: undefined
  }
  for (const [name, value] of pairs) {
    const read = readers.get(name)
    if (read === undefined) return { param: name, detail: `Unknown parameter ${name}.` }
    if (!read(value, draft)) return { param: name, detail: `Invalid value of ${name}.` }
  }
  if (draft.limit !== undefined && (draft.limit < 1 || draft.limit > maxLimit)) {
    return { param: "limit", detail: `The limit must be between 1 and ${maxLimit}.` }
  }
  if (!draft.deletedGiven && draft.includeDeleted) draft.deleted = null
  return draft
}

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
  // Business dates disable the clock filters; they do not narrow them.
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

const instantOf = (text: string | null): number | undefined => text === null ? undefined : parseInstant(text)?.epoch

/**
 * A row of the table. Instants are milliseconds since 1970, `undefined` if the punch has none; a text that is not an instant
 * reads as absent: no date filter matches it. What costs more than the other fields is computed on demand.
 */
export class Row {
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

  /** The punch that the row was made of. */
  get stored(): StoredPunch {
    const { employeeApprovalStatus, flags, timeZone, wire } = this
    return { ...wire, employeeApprovalStatus, flags, timeZone }
  }

  get created(): number | undefined {
    return instantOf(this.wire.created)
  }

  /** The local time of the location, in milliseconds as if it were UTC. */
  get localClockedIn(): number | undefined {
    return this.clockedIn === undefined ? undefined : this.zones.wallAt(this.clockedIn, this.timeZone)
  }

  get localClockedOut(): number | undefined {
    return this.clockedOut === undefined ? undefined : this.zones.wallAt(this.clockedOut, this.timeZone)
  }

  /** The JSON text of the wire punch. */
  get text(): string {
    return this.cachedText ??= JSON.stringify(this.wire)
  }
}

/** A 32-bit FNV-1a fingerprint. */
export const fingerprint = (text: string): number => {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  return hash >>> 0
}
