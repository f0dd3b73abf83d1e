/** The columns of a copy: their names and types, and the value of each for a punch. */
import type * as DateTime from "effect/DateTime"
import * as Option from "effect/Option"
import { tableFields } from "../internal/wire/columnOrder.ts"
import { breakFields, type Cell, type ColumnsOf, type ColumnType, punchFields } from "../internal/wire/schema.ts"
import type { Break, TimePunch } from "../TimePunch.ts"
export type { Cell, ColumnType } from "../internal/wire/schema.ts"

export interface Column {
  readonly name: string
  readonly type: ColumnType
  readonly nullable: boolean
  readonly cell: (punch: TimePunch) => Cell
}

/**
 * A text that both dialects can hold: U+0000 and lone surrogates become U+FFFD. PostgreSQL refuses them, and one such note
 * would stop the sync of its company for ever.
 */
export const storable = (text: string): string => text.replace(unstorable, "\uFFFD")

/** With the flag `u`, the two halves of a pair are one character, and only a lone one is a surrogate. */
const unstorable = /[\0\p{Surrogate}]/gu

const isoOf = (instant: DateTime.Utc): string => new Date(instant.epochMilliseconds).toISOString()

/**
 * Breaks under their wire names, in one order of the keys, so that equal breaks have equal texts. `deleted` is written only
 * where it is true.
 */
const jsonOf = (breaks: ReadonlyArray<Break>): string => `[${breaks.map(jsonOfBreak).join(",")}]`

const jsonOfBreak = ({ customBreakId, deleted, id, in: start, out, paid, userId }: Break): string =>
  `{"id":${id},"user_id":${userId},"custom_break_id":${customBreakId},"paid":${paid},"in":"${isoOf(start)}","out":${
    Option.isSome(out) ? `"${isoOf(out.value)}"` : "null"
  }${deleted ? ",\"deleted\":true" : ""}}`

const fields: {
  readonly [K in keyof typeof punchFields]: Omit<Column, "cell"> & { readonly cell: (value: TimePunch[K]) => Cell }
} = { ...punchFields, breaks: { ...punchFields.breaks, cell: jsonOf } }

const storableCell = (cell: Cell): Cell => typeof cell === "string" ? storable(cell) : cell

const isField = (key: string): key is keyof typeof punchFields => Object.hasOwn(punchFields, key)

const columnOf = <K extends keyof typeof punchFields>(key: K): Column => {
  const { name, nullable, type } = fields[key]
  const cellOf = fields[key].cell
  const cell = (punch: TimePunch) => cellOf(punch[key])
  return { name, type, nullable, cell: type === "text" ? (punch) => storableCell(cell(punch)) : cell }
}

/** The type of each column, and whether it may be null, for the types of rows. */
export type PunchColumns = ColumnsOf<typeof punchFields>

/** The columns of a punch; the table has `pass`, `missing_at` and `valid_from` behind them. The first two are its key. */
export const columns: ReadonlyArray<Column> = [
  columnOf("companyId"),
  ...Object.keys(tableFields).filter(isField).filter((key) => key !== "companyId").map((key) => columnOf(key))
]

const { deleted: _deleted, ...shown } = breakFields

/** The columns of the view of breaks that are not deleted, and the key in the JSON of each: `in` is a keyword of SQL. */
export const breakColumns = Object.values(shown).map(({ name, type }) => ({
  key: name,
  name: type === "timestamptz" ? `break_${name}` : name,
  type
}))

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
