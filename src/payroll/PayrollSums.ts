/** What a payroll file is made of, beside its mapping: the sums of a pay period, the codes of ids and texts of the run. */
import type * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import type { BusinessDate, Cents, DepartmentId, LocationId, RoleId, TimePunchId, UserId } from "../Ids.ts"
import type { CodeKind, RowKey } from "./mapping.ts"
import { type Checks, each, must, optional, type Wrong, wrong } from "./options.ts"

/** The sums of a person at a location, in a department and a role, at a wage: a row of a close. */
export interface PayrollRow {
  /** The person. */
  readonly userId: UserId
  /** The location. */
  readonly locationId: LocationId
  /** The department; `None` without one. */
  readonly departmentId: Option.Option<DepartmentId>
  /** The role. */
  readonly roleId: RoleId
  /** The wage of an hour in cents. */
  readonly hourlyWage: Cents
  /** Number of punches. */
  readonly punches: number
  /** Paid time. */
  readonly net: Duration.Duration
  /** The part of `net` over the first threshold of a day, or over that of a week; `None` if the row does not have it. */
  readonly over: Option.Option<Duration.Duration>
  /** The part of `net` over the second threshold of a day; `None` without one. */
  readonly double: Option.Option<Duration.Duration>
  /** Wages in cents. */
  readonly cost: Cents
  /** Tips in cents. */
  readonly tips: Cents
  /** The date of its punches, if each date has its own rows: a mapping by day needs it. */
  readonly date?: BusinessDate | undefined
  /** The punch, if each has its own row: `hoursOf` of punches needs it. */
  readonly punchId?: TimePunchId | undefined
}

/** The sums of a pay period: whole sums, never differences. A revision of a close is one. */
export interface PayrollSums {
  /** The first date of the period. */
  readonly first: BusinessDate
  /** The last date of the period. */
  readonly last: BusinessDate
  /** The name of the revision, such as `7.2`; without one, `revisionId` is empty. */
  readonly id?: string | undefined
  /** The date on which it is paid, for `payDate`. */
  readonly payDate?: BusinessDate | undefined
  /** The sums of each person, location, department, role and wage. */
  readonly rows: ReadonlyArray<PayrollRow>
}

/** The codes by which the payroll program knows users, locations, departments and roles, their names and further texts. */
export interface PayrollCodes {
  /** The code of an id; `undefined` without one. */
  readonly getCode: (kind: CodeKind, id: number) => string | undefined
  /** Default: no id has a name. A cell without a name is empty. */
  readonly getName?: ((kind: CodeKind, id: number) => string | undefined) | undefined
  /** The further texts that ids may have, by which columns name them. Default: none. */
  readonly fields?: ReadonlyArray<string> | undefined
  /** Such a text of an id. Default: no id has one. */
  readonly getField?: ((kind: CodeKind, id: number, field: string) => string | undefined) | undefined
}

/** Sums to pay, and the sums of the file before. */
export interface StatePair {
  /** The sums to pay. */
  readonly state: PayrollSums
  /**
   * The sums of the file before, as `Close.find` gives them: the file has the difference. Without them a file pays the whole again,
   * so `None` must be given.
   */
  readonly previous: Option.Option<PayrollSums>
}

/** What a file is made of, beside its mapping. */
export interface EncodeOptions extends StatePair {
  /** The codes and names of ids. */
  readonly codes: PayrollCodes
  /**
   * Further sums for the same file, each less its own `previous`: rows of equal texts are added. Every row has the dates and the name of
   * `state`. Default: none.
   */
  readonly also?: ReadonlyArray<StatePair> | undefined
  /** The texts of this file alone that columns ask for with `set`, each of which a column must name. Default: none. */
  readonly set?: Readonly<Record<string, string>> | undefined
}

const isInOrder = ({ first, last }: PayrollSums): Wrong | undefined =>
  first <= last ? undefined : wrong("must be the first date or a later one", ".last")

const pairChecks: Checks<StatePair> = {
  state: isInOrder,
  previous: (previous) =>
    Option.isOption(previous)
      ? Option.getOrUndefined(Option.map(previous, isInOrder))
      : wrong("must be the Option of the sums before")
}

export const encodeChecks: Checks<EncodeOptions> = {
  ...pairChecks,
  codes: must(Predicate.hasProperty("getCode"), "an object with getCode"),
  set: optional(
    must((set) => Predicate.isObject(set) && Object.values(set).every(Predicate.isString), "texts by their names")
  ),
  also: optional(each(({ previous, state }) => pairChecks.previous(previous) ?? pairChecks.state(state)))
}

/** What a row is by; `undefined` for a key that it does not have. */
export const idsOf = ({ date, departmentId, locationId, roleId, userId }: PayrollRow) => ({
  user: userId,
  location: locationId,
  department: Option.getOrUndefined(departmentId),
  role: roleId,
  day: date
} satisfies Readonly<Record<RowKey, number | string | undefined>>)
