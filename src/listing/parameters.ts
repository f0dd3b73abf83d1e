/** The query parameters of the listing: one row for each key of a filter, with its names on the wire and its text. */
import * as DateTime from "effect/DateTime"
import * as Option from "effect/Option"
import { formatInstant } from "../internal/wire/instant.ts"
import { timePunchNames } from "../internal/wire/names.ts"
import type { InstantRange, PunchFilter } from "../PunchFilter.ts"
import type { TimePunch } from "../TimePunch.ts"

/** The most rows that a page may have, and the default. */
export const maxPageSize = 200

/** The value of a parameter; `undefined` is not sent. */
type Value = string | number | boolean | undefined

/** How a key of the filter is sent. Its schema stands in `PunchFilter`. */
interface Parameter<A> {
  /** The name of each parameter that the key becomes. */
  readonly wire: ReadonlyArray<string>
  /** Whether the value says something of people or places; it is then redacted when a URL is printed. */
  readonly isPrivate: boolean
  /** The value of each name in `wire`. Instants are known to be writable. */
  readonly write: (value: A) => ReadonlyArray<Value>
}

type Key = keyof PunchFilter

type Values = { readonly [K in Key]: NonNullable<PunchFilter[K]> }

type Parameters = { readonly [K in Key]: Parameter<Values[K]> }

/** The keys that select an id, each named as the field of the punch that has it; 0 selects the punches without one. */
export const idKeys = ["locationId", "roleId", "userId", "departmentId"] as const satisfies ReadonlyArray<Key>

/** The id that a punch has under a key; 0, as on the wire, for none. */
export const idOf = (punch: TimePunch, key: typeof idKeys[number]): number => {
  const id: number | Option.Option<number> = punch[key]
  return Option.isOption(id) ? Option.getOrElse(id, () => 0) : id
}

const asIs = (value: Value) => [value]

const instant = (at: DateTime.DateTime | undefined) =>
  at === undefined ? undefined : formatInstant(at.epochMilliseconds)

/** The last instant of a window, which the service includes: the earlier one of both ends. */
export const lastInstant = ({ lt, lte }: InstantRange): DateTime.DateTime | undefined =>
  lte === undefined ? lt : lt === undefined ? lte : DateTime.min(lte, lt)

const window = (range: InstantRange) => [instant(range.gte), instant(lastInstant(range))]

/** In the order in which they are sent: one query has one text. */
export const parameters: Parameters = {
  locationId: { wire: ["location_id"], isPrivate: true, write: asIs },
  departmentId: { wire: ["department_id"], isPrivate: true, write: asIs },
  roleId: { wire: ["role_id"], isPrivate: true, write: asIs },
  userId: { wire: ["user_id"], isPrivate: true, write: asIs },
  approved: { wire: ["approved"], isPrivate: false, write: asIs },
  modifiedSince: { wire: ["modified_since"], isPrivate: true, write: (at) => [instant(at)] },
  clockedIn: { wire: ["clocked_in[gte]", "clocked_in[lte]"], isPrivate: true, write: window },
  clockedOut: { wire: ["clocked_out[gte]", "clocked_out[lte]"], isPrivate: true, write: window },
  deleted: {
    wire: ["deleted"],
    isPrivate: false,
    write: (which) => [{ exclude: undefined, only: "true", include: "null" }[which]]
  },
  localizeSearchTime: { wire: ["localize_search_time"], isPrivate: false, write: (on) => [on ? true : undefined] },
  flags: { wire: ["flags"], isPrivate: false, write: (flags) => [flags.join(",")] },
  employeeApprovalStatuses: {
    wire: ["employee_approval_statuses"],
    isPrivate: false,
    write: (statuses) => [statuses.join(",")]
  },
  sortBy: {
    wire: ["sort_by"],
    isPrivate: false,
    write: (keys) => [keys.map(([field, direction]) => `${timePunchNames[field]}.${direction}`).join(",")]
  },
  businessDate: {
    wire: ["business_date_start", "business_date_end"],
    isPrivate: true,
    write: ({ first, last }) => [first, last]
  }
}

/** Whether a filter can have this key. */
export const isKey = (key: string): key is Key => Object.hasOwn(parameters, key)

/** The keys of a filter. */
export const keys = Object.keys(parameters).filter(isKey)

/** The parameters of a query whose values are redacted when a URL is printed. */
export const privateParameters: ReadonlyArray<string> = [
  "cursor",
  ...keys.flatMap((key) => parameters[key].isPrivate ? parameters[key].wire : [])
]

const write = <K extends Key>(key: K, values: { readonly [K in Key]?: Values[K] | undefined }) => {
  const value = values[key]
  return value === undefined ? [] : parameters[key].write(value)
}

/** Name and value of each parameter that a filter becomes. */
export const writeParameters = (filter: PunchFilter): ReadonlyArray<readonly [name: string, value: Value]> =>
  keys.flatMap((key) => {
    const values = write(key, filter)
    return parameters[key].wire.map((name, index) => [name, values[index]] as const)
  })
