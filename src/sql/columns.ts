/** The columns of a copy: their names and types, and the value of each for a punch. */
import type * as DateTime from "effect/DateTime"
import * as Option from "effect/Option"
import type { timePunchNames } from "../internal/wire/names.ts"
import type { Break, TimePunch } from "../TimePunch.ts"

/** A value of a column, before a dialect writes it; an instant is in epoch milliseconds. */
export type Cell = number | string | boolean | null

export type ColumnType = "bigint" | "timestamptz" | "boolean" | "text" | "jsonb"

export interface Column {
  readonly name: string
  readonly type: ColumnType
  readonly nullable: boolean
  readonly cell: (punch: TimePunch) => Cell
}

const column = <Type extends ColumnType, Nullable extends boolean>(
  type: Type,
  nullable: Nullable,
  cell: (punch: TimePunch) => Cell
) => ({ type, nullable, cell })

const millis = (instant: Option.Option<DateTime.Utc>): number | null =>
  Option.isSome(instant) ? instant.value.epochMilliseconds : null

const orNull = <A extends number>(id: Option.Option<A>): number | null => Option.isSome(id) ? id.value : null

/**
 * A text that both dialects can hold: U+0000 and lone surrogates become U+FFFD. PostgreSQL refuses them, and one such note
 * would stop the sync of its company for ever.
 */
export const storable = (text: string): string => text.replace(unstorable, "\uFFFD")

/** With the flag `u`, the two halves of a pair are one character, and only a lone one is a surrogate. */
const unstorable = /[\0\p{Surrogate}]/gu

const isoOf = (instant: DateTime.Utc): string => new Date(instant.epochMilliseconds).toISOString()

/** Breaks under their wire names, in one order of the keys, so that equal breaks have equal texts. */
const jsonOf = (breaks: ReadonlyArray<Break>): string => `[${breaks.map(jsonOfBreak).join(",")}]`

const jsonOfBreak = ({ customBreakId, id, in: start, out, paid, userId }: Break): string =>
  `{"id":${id},"user_id":${userId},"custom_break_id":${customBreakId},"paid":${paid},"in":"${isoOf(start)}","out":${
    Option.isSome(out) ? `"${isoOf(out.value)}"` : "null"
  }}`

type WireName = (typeof timePunchNames)[keyof typeof timePunchNames]

/** In the order of the table. The compiler asks for each field of a punch. */
const cells = {
  company_id: column("bigint", false, ({ companyId }) => companyId),
  id: column("bigint", false, ({ id }) => id),
  user_id: column("bigint", false, ({ userId }) => userId),
  role_id: column("bigint", false, ({ roleId }) => roleId),
  location_id: column("bigint", false, ({ locationId }) => locationId),
  department_id: column("bigint", true, ({ departmentId }) => orNull(departmentId)),
  shift_id: column("bigint", true, ({ shiftId }) => orNull(shiftId)),
  clocked_in: column("timestamptz", false, ({ clockedIn }) => clockedIn.epochMilliseconds),
  clocked_out: column("timestamptz", true, ({ clockedOut }) => millis(clockedOut)),
  hourly_wage: column("bigint", false, ({ hourlyWage }) => hourlyWage),
  tips: column("bigint", false, ({ tips }) => tips),
  approved: column("boolean", false, ({ approved }) => approved),
  editable_punch: column("boolean", false, ({ editablePunch }) => editablePunch),
  auto_clocked_out: column("boolean", false, ({ autoClockedOut }) => autoClockedOut),
  clocked_in_offline: column("boolean", false, ({ clockedInOffline }) => clockedInOffline),
  clocked_out_offline: column("boolean", false, ({ clockedOutOffline }) => clockedOutOffline),
  pos_type: column("text", true, ({ posType }) => Option.isSome(posType) ? storable(posType.value) : null),
  notes: column("text", false, ({ notes }) => storable(notes)),
  created: column("timestamptz", true, ({ created }) => millis(created)),
  modified: column("timestamptz", true, ({ modified }) => millis(modified)),
  deleted: column("boolean", false, ({ deleted }) => deleted),
  breaks: column("jsonb", false, ({ breaks }) => jsonOf(breaks))
} satisfies { readonly [Name in WireName]: Omit<Column, "name"> }

/** The type of each column, and whether it may be null, for the types of rows. */
export type PunchColumns = {
  readonly [Name in keyof typeof cells]: Pick<(typeof cells)[Name], "type" | "nullable">
}

/** The columns of a punch; the table has `pass`, `missing_at` and `valid_from` behind them. The first two are its key. */
export const columns: ReadonlyArray<Column> = Object.entries(cells).map(
  ([name, { cell, nullable, type }]) => ({ name, type, nullable, cell })
)

/** The columns of the content: all but the key. */
export const contentColumns: ReadonlyArray<Column> = columns.slice(2)

/** The names of the columns in which two versions of a punch differ. */
export const differingColumns = (one: TimePunch, other: TimePunch): ReadonlyArray<string> =>
  contentColumns.filter(({ cell }) => cell(one) !== cell(other)).map(({ name }) => name)

/** Whether two versions of a punch differ in `modified` at most: nothing that is paid or printed changed. */
export const isOnlyTouched = (one: TimePunch, other: TimePunch): boolean =>
  differingColumns(one, other).every((name) => name === "modified")

/** The names of the columns that a row and its versions have. A version ends at its `valid_to`. */
export const versionColumns: ReadonlyArray<string> = [
  ...columns.map(({ name }) => name),
  "pass",
  "missing_at",
  "valid_from"
]
