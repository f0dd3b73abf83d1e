/** The mapping of a payroll file, as its user writes it: what each column has, its codes and rounding. */
import * as Arr from "effect/Array"
import * as Schema from "effect/Schema"
import * as Struct from "effect/Struct"
import { Rounding } from "./Rounding.ts"

/** What the rows of a file may be by. Each has a code and a name. */
export const CodeKind = Schema.Literals(["user", "location", "department", "role"])

export type CodeKind = typeof CodeKind.Type

/** What a cell has of an id. */
export const idValues = {
  userCode: ["user", "code"],
  userName: ["user", "name"],
  userId: ["user", "id"],
  locationCode: ["location", "code"],
  locationName: ["location", "name"],
  locationId: ["location", "id"],
  departmentCode: ["department", "code"],
  departmentName: ["department", "name"],
  departmentId: ["department", "id"],
  roleCode: ["role", "code"],
  roleName: ["role", "name"],
  roleId: ["role", "id"]
} as const satisfies Readonly<Record<string, readonly [CodeKind, "code" | "name" | "id"]>>

const isOneOf = <A extends string>(values: ReadonlyArray<A>) => (value: string | undefined): value is A =>
  values.some((each) => each === value)

export const isIdValue = isOneOf(Struct.keys(idValues))

const dateValues = ["periodStart", "periodEnd", "payDate"] as const
export const isDateValue = isOneOf(dateValues)

/** Which part of the hours a value has. */
export const hourValues = { hours: "hours", hoursRegular: "regular", hoursOver: "over", hoursDouble: "double" } as const
export const isHourValue = isOneOf(Struct.keys(hourValues))

/** How the other numbers are written. */
export const amountForms = { amount: "money", cost: "money", tips: "money", punches: "count" } as const
export const isAmountValue = isOneOf(Struct.keys(amountForms))

const numberValues = [...Struct.keys(hourValues), ...Struct.keys(amountForms)] as const
export const isNumberValue = isOneOf(numberValues)

/** What the cells of a column hold. */
export const ColumnValue = Schema.Literals([
  ...Struct.keys(idValues),
  "payCode",
  "rate",
  "revisionId",
  ...dateValues,
  ...numberValues
])

export type ColumnValue = typeof ColumnValue.Type

/** How a date is written. */
export const DateFormat = Schema.Literals([
  "YYYY-MM-DD",
  "MM/DD/YYYY",
  "M/D/YYYY",
  "DD/MM/YYYY",
  "DD.MM.YYYY",
  "YYYYMMDD",
  "MMDDYYYY",
  "MM/DD/YY"
])

export type DateFormat = typeof DateFormat.Type

/** A column of the file: a value, or the same text in every row. */
export const Column = Schema.Union([
  Schema.Struct({
    /** The title of the column. */
    header: Schema.String,
    /** What its cells hold. */
    value: ColumnValue,
    /** How a date is written. Default: `YYYY-MM-DD`. */
    format: Schema.optionalKey(DateFormat)
  }),
  Schema.Struct({
    /** The title of the column. */
    header: Schema.String,
    /** The text in every row. */
    constant: Schema.String
  })
])

export type Column = typeof Column.Type

export const valueOf = (column: Column): ColumnValue | undefined => "value" in column ? column.value : undefined

const Code = Schema.String.check(Schema.isNonEmpty())

/**
 * How sums become the rows and columns of a file.
 *
 * Without `payCodes` a group of `by` is one row. With them it is a row for each code: its hours, or each class of them, and
 * its tips. With a column `rate` each wage is a group.
 */
export class Mapping extends Schema.Opaque<Mapping>()(Schema.Struct({
  /** The version of this form. */
  v: Schema.Literal(1),
  /** What a row is by, such as `["user"]`. No word twice. */
  by: Schema.NonEmptyArray(CodeKind),
  /** The codes of hours and tips: `hours`, or `regular` and `over` with `double`, and `tips`. No two are equal. */
  payCodes: Schema.optionalKey(Schema.Struct({
    /** All hours. */
    hours: Schema.optionalKey(Code),
    /** The hours up to the thresholds. */
    regular: Schema.optionalKey(Code),
    /** The hours over the first threshold of a day, or over that of a week. */
    over: Schema.optionalKey(Code),
    /** The hours over the second threshold of a day. */
    double: Schema.optionalKey(Code),
    /** The tips. */
    tips: Schema.optionalKey(Code)
  })),
  /** How hours are written: `8.25`, `8.2500`, `8:15`, whole minutes or whole seconds. */
  hours: Schema.Literals(["decimal:2", "decimal:4", "h:mm", "minutes", "seconds"]),
  /** How the hours of a row are rounded to that form. */
  rounding: Rounding,
  /** The columns, from left to right. */
  columns: Schema.NonEmptyArray(Column),
  /** What stands between two cells. Default: `,`. */
  separator: Schema.optionalKey(Schema.Literals([",", ";", "\t", "|"])),
  /** What stands before the digits of a fraction. Default: `.`. */
  decimal: Schema.optionalKey(Schema.Literals([".", ","])),
  /** Whether the titles of the columns are the first record. Default: `true`. */
  header: Schema.optionalKey(Schema.Boolean),
  /** Lines before the titles, as they are. Default: none. */
  preamble: Schema.optionalKey(Schema.Array(Schema.String.check(Schema.isPattern(/^[^\r\n]*$/)))),
  /** Whether the file begins with a byte order mark. Default: `utf-8`, without one. */
  encoding: Schema.optionalKey(Schema.Literals(["utf-8", "utf-8-bom"])),
  /** What ends each line, the last one too. Default: `\r\n`. */
  lineEnd: Schema.optionalKey(Schema.Literals(["\r\n", "\n"])),
  /** Which cells are in quotes. Default: `whenNeeded`, by RFC 4180. */
  quote: Schema.optionalKey(Schema.Literals(["whenNeeded", "always"])),
  /** `keep`: names, codes, titles and constants may begin as a formula of a spreadsheet does. Default: that is an error. */
  formulas: Schema.optionalKey(Schema.Literals(["refuse", "keep"]))
})) {}

/** What a mapping has that does not say. */
export const defaults = {
  separator: ",",
  decimal: ".",
  header: true,
  preamble: [],
  encoding: "utf-8",
  lineEnd: "\r\n",
  quote: "whenNeeded",
  formulas: "refuse"
} as const satisfies Partial<Mapping>

export const defaultFormat: DateFormat = "YYYY-MM-DD"

/** A mapping with every default written out. */
export interface WholeMapping
  extends Omit<Mapping, keyof typeof defaults>, Required<Pick<Mapping, keyof typeof defaults>>
{}

/** The same mapping with every default written out: mappings that write the same files are then equal. */
export const withDefaults = (mapping: Mapping): WholeMapping => ({
  ...defaults,
  ...mapping,
  columns: Arr.map(
    mapping.columns,
    (column) => "value" in column && isDateValue(column.value) ? { format: defaultFormat, ...column } : column
  )
})

/** The mapping is wrong, or does not fit the sums. Change what is at the path. */
export class MappingError
  extends Schema.TaggedError<MappingError>("effect-time-punches/PayrollFile/MappingError")("MappingError", {
    /** Where in the mapping, such as `columns[2].value`. */
    path: Schema.String,
    /** What is wrong there. */
    detail: Schema.String
  })
{
  /** The path and what is wrong there. */
  override get message(): string {
    return `${this.path === "" ? "the mapping" : this.path}: ${this.detail}`
  }

  /** Whether the same call may succeed later with nothing changed: no. */
  get isRetryable(): boolean {
    return false
  }
}

/** The pay codes in the order of their rows. */
export const payCodeKinds = ["hours", "regular", "over", "double", "tips"] as const
