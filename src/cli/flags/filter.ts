/** Which punches a command reads: every key of a filter as a flag in the terms of the interface, and the filter that the flags make. */
import type * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Record from "effect/Record"
import * as Stream from "effect/Stream"
import * as Struct from "effect/Struct"
import { type BusinessDate, DepartmentId, LocationId, RoleId, type TimePunchId, UserId } from "../../Ids.ts"
import { formatInstant } from "../../internal/wire/instant.ts"
import { approvalStatuses, isSortField, punchFlags } from "../../internal/wire/names.ts"
import type { Interval } from "../../payroll/DayRule.ts"
import type { DateRange, InstantRange, PunchCriteria, PunchFilter } from "../../PunchFilter.ts"
import type { TimePunch } from "../../TimePunch.ts"
import { type CommandFailure, usage } from "../failure.ts"
import { choice, date, id, instant, text, words } from "./values.ts"

type SortKey = NonNullable<PunchCriteria["sortBy"]>[number]

const readSortKey = (text: string): Option.Option<SortKey> => {
  const [name = "", direction = "asc", ...more] = text.split(".")
  const field = name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
  const known = /^[a-z_]+$/.test(name) && isSortField(field)
  return more.length === 0 && known && (direction === "asc" || direction === "desc")
    ? Option.some<SortKey>([field, direction])
    : Option.none()
}

export const sortBy = text(
  "sort-by",
  "FIELD.asc|desc,…",
  "Order, such as clocked_in.desc,id.asc; some services ignore it and order by id",
  "fields of a punch with .asc or .desc, joined by commas, such as clocked_in.desc,id.asc",
  (text) => Option.all(text.split(",").map(readSortKey))
)

type OptionalFlag<A> = Flag.Flag<Option.Option<A>>

/** A filter has a flag for each key, and a window one for each end; a key without a flag does not compile. */
type FlagsByKey =
  & { readonly [K in keyof PunchCriteria]-?: (name: string) => OptionalFlag<NonNullable<PunchCriteria[K]>> }
  & { readonly [K in "clockedIn" | "clockedOut"]: (name: string) => Ends<InstantRange, DateTime.Utc> }
  & { readonly businessDate: (name: string) => Ends<DateRange, BusinessDate> }

type Ends<Range, A> = { readonly [K in keyof Range]-?: OptionalFlag<A> }

const ends = (what: string, ofDates?: string) => (name: string) => ({
  gte: instant(`${name}-gte`, `${what} at this instant or later`, ofDates),
  lte: instant(`${name}-lte`, `${what} at this instant or earlier`, ofDates),
  lt: instant(`${name}-lt`, `${what} before this instant`, ofDates)
})

const flagsByKey = {
  locationId: (name) => id(name, LocationId.makeOption, "Punches of this location"),
  departmentId: (name) => id(name, DepartmentId.makeOption, "Punches of this department; 0: without one"),
  roleId: (name) => id(name, RoleId.makeOption, "Punches of this role"),
  userId: (name) => id(name, UserId.makeOption, "Punches of this user"),
  approved: (name) =>
    Flag.map(
      choice(name, ["true", "false"], "Only approved, or only unapproved punches"),
      Option.map((word) => word === "true")
    ),
  deleted: (name) => choice(name, ["exclude", "only", "include"], "Which of the deleted punches (default: exclude)"),
  modifiedSince: (name) => instant(name, "Punches modified after this instant; deleted ones go with --deleted include"),
  clockedIn: ends("Clocked in", "a local date with --from and --to"),
  clockedOut: ends("Clocked out"),
  businessDate: (name) => ({
    first: date(`${name}-start`, "Business date on or after this date; not with --clocked-…"),
    last: date(`${name}-end`, "Business date on or before this date; not with --clocked-…")
  }),
  flags: (name) => words(name, punchFlags, "Punches with any of these flags"),
  employeeApprovalStatuses: (name) => words(name, approvalStatuses, "Punches with any of these statuses"),
  localizeSearchTime: (name) =>
    Flag.Boolean(name).pipe(
      Flag.withDescription("Read windows as wall-clock time at the location of the punch, instead of UTC"),
      Flag.withoutNegation,
      Flag.withDefault(false),
      Flag.map((isGiven) => isGiven ? Option.some(true) : Option.none())
    ),
  sortBy: () => sortBy
} satisfies FlagsByKey

/** The name of a flag is the one on the wire, with dashes: `clockedIn` is `clocked-in`, and `gte` of it `clocked-in-gte`. */
export const flagNameOf = (key: string): string => key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)

/** The first of these flags that is given, such as `--page-size`. `keys` are those of the parsed flags. */
export const firstGiven = (input: object, keys: ReadonlyArray<string>): string | undefined => {
  const given = keys.find((key) => {
    const value: unknown = Reflect.get(input, key)
    return Option.isOption(value) && Option.isSome(value)
  })
  return given && `--${flagNameOf(given)}`
}

function named<F extends Readonly<Record<string, (name: string) => unknown>>>(
  flags: F
): { readonly [K in keyof F]: ReturnType<F[K]> }
function named(flags: Readonly<Record<string, (name: string) => unknown>>) {
  return Record.map(flags, (flag, key) => flag(flagNameOf(key)))
}

export const filterFlags = named(flagsByKey)

export type FilterInput = Command.Command.Config.Infer<typeof filterFlags>

/** The flags of a filter that a command has. */
export type SomeFilters = Partial<FilterInput>

type ValuesOf<F> = {
  readonly [K in keyof F]: F[K] extends Option.Option<infer A> ? A | undefined : ValuesOf<F[K]> | undefined
}

/** The value of each flag of the filter; `undefined` for one that was not given, and for a window without any end. */
function valuesOf(flags: SomeFilters): ValuesOf<FilterInput>
function valuesOf(flags: Readonly<Record<string, unknown>>) {
  return Record.map(flagsByKey, (_, key) => valueOf(flags[key]))
}

const valueOf = (flag: unknown): unknown => {
  if (Option.isOption(flag)) return Option.getOrUndefined(flag)
  const values = Predicate.isReadonlyObject(flag) ? Record.map(flag, valueOf) : {}
  return Object.values(values).every(Predicate.isUndefined) ? undefined : values
}

/** Whether a punch is of a department, as the service means it: 0 selects the punches without one. */
export const isOfDepartment = (punch: TimePunch, departmentId: DepartmentId): boolean =>
  Option.getOrElse(punch.departmentId, () => 0) === departmentId

/** The filter that the flags make. Business dates beside clock windows are refused, as the service would drop those. */
export const toFilter = (flags: SomeFilters): Effect.Effect<PunchFilter, CommandFailure> => {
  const { businessDate, clockedIn, clockedOut, ...criteria } = valuesOf(flags)
  if (businessDate === undefined) return Effect.succeed({ ...criteria, clockedIn, clockedOut })
  return clockedIn === undefined && clockedOut === undefined
    ? Effect.succeed({ ...criteria, businessDate })
    : usage(
      "--business-date-start and -end switch the --clocked-in-… and --clocked-out-… windows off on the service",
      "Give one or the other."
    )
}

/** The flags that were given, by name, as text in one form for one meaning. */
export const describeFilter = (flags: SomeFilters): Record<string, string> => {
  const values = valuesOf(flags)
  return Record.fromEntries(
    describe("-", { ...values, deleted: values.deleted === "exclude" ? undefined : values.deleted })
  )
}

/** The ends of `businessDate` as the wire names them. */
const endNames: Readonly<Record<string, string>> = { first: "start", last: "end" }

const describe = (name: string, value: unknown): ReadonlyArray<readonly [flag: string, text: string]> => {
  if (value === undefined) return []
  if (DateTime.isDateTime(value)) return [[name, formatInstant(value.epochMilliseconds)]]
  if (Array.isArray(value)) return [[name, value.map((each) => Array.isArray(each) ? each.join(".") : each).join(",")]]
  if (!Predicate.isReadonlyObject(value)) return [[name, String(value)]]
  return Object.entries(value).flatMap(([key, each]) => describe(`${name}-${endNames[key] ?? flagNameOf(key)}`, each))
}

const selectionKeys = ["locationId", "departmentId", "roleId", "userId"] as const

/** The filters of a check. Any other would hide what is to be looked at, as `--approved` hides unapproved punches. */
export const selectionFlags = Struct.pick(filterFlags, selectionKeys)

/** Said where the punches come from a copy. */
export const disputesUnknown = "Disputes are not in a copy: only the service knows them."

/** What the flags of a check select. */
export const selectedOf = (flags: Pick<FilterInput, typeof selectionKeys[number]>) =>
  Struct.pick(valuesOf(flags), selectionKeys)

/** The punches to check. */
export type Selected = ReturnType<typeof selectedOf>

/**
 * Whether a punch is selected. Of a location, department and role it is decided here, since the service would leave out
 * the punches of the same person elsewhere, and with them the overlaps.
 */
export const selects = ({ departmentId, locationId, roleId, userId }: Selected) => (punch: TimePunch): boolean =>
  (locationId === undefined || punch.locationId === locationId) &&
  (roleId === undefined || punch.roleId === roleId) &&
  (userId === undefined || punch.userId === userId) &&
  (departmentId === undefined || isOfDepartment(punch, departmentId))

/** The ids of the selected punches of a window that their employees dispute. */
export const disputedIn = <E, R>(
  clockedIn: Interval,
  selected: Selected,
  list: (filter: PunchFilter) => Stream.Stream<TimePunch, E, R>
): Effect.Effect<ReadonlySet<TimePunchId>, E, R> =>
  list({ ...selected, clockedIn, employeeApprovalStatuses: ["disputed"] }).pipe(
    Stream.runFold(() => new Set<TimePunchId>(), (ids, { id }) => ids.add(id))
  )

/**
 * What is listed for a window, and for the window that the flags of the period make. A punch of the same person at another
 * location is read too, for the overlap.
 */
export const widerFilter = (
  { gte, lt }: Interval,
  { userId }: Selected,
  clockedIn: FilterInput["clockedIn"]
): PunchFilter => ({
  userId,
  clockedIn: {
    gte: DateTime.min(gte, Option.getOrElse(clockedIn.gte, () => gte)),
    lt: DateTime.max(lt, Option.getOrElse(clockedIn.lt, () => lt))
  }
})
