/** The query string of a listing (spec 4.1), parsed strictly: an unknown name or an invalid value is refused. */
import { parseDate, parseInstant, type WrittenInstant } from "../base/wireDate.ts"
import { type ApprovalStatus, approvalStatuses, punchFlags, type WireFlag } from "../base/WirePunch.ts"
import { parseSort, type SortKey } from "./sorting.ts"

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
