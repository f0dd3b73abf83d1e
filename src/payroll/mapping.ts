/** The mapping of a payroll file, as its user writes it: what each column has, its codes and rounding. */
import * as Arr from "effect/Array"
import * as Schema from "effect/Schema"
import * as Struct from "effect/Struct"
import { Rounding } from "./Rounding.ts"

/** What the rows of a file may be by. Each has a code and a name. */
export const CodeKind = Schema.Literals(["user", "location", "department", "role"])

export type CodeKind = typeof CodeKind.Type

/** What a row may be by: an id, or the date of its punches. */
const RowKey = Schema.Literals([...CodeKind.literals, "day"])

export type RowKey = typeof RowKey.Type

/** What a column may have of an id, by its `value`. */
const idForms = { Code: "code", Name: "name", Id: "id" } as const
const idSources = CodeKind.literals.flatMap((kind) =>
  Struct.keys(idForms).map((form) => ({
    value: `${kind}${form}` as const,
    kind,
    form: idForms[form],
    field: idForms[form]
  }))
)

export const isOneOf = <A extends string>(values: ReadonlyArray<A>) => (value: string | undefined): value is A =>
  values.some((each) => each === value)

const dateValues = ["periodStart", "periodEnd", "payDate", "date"] as const
export const isDateValue = isOneOf(dateValues)

/** Which part of the hours a value has. `quantity` is of hours in a row of hours, and of money in a row of tips. */
export const hourValues = {
  hours: "hours",
  hoursRegular: "regular",
  hoursOver: "over",
  hoursDouble: "double",
  quantity: "hours"
} as const
export const isHourValue = isOneOf(Struct.keys(hourValues))

const moneyValues = ["amount", "cost", "tips"] as const
const numberValues = [...Struct.keys(hourValues), ...moneyValues, "punches"] as const
export const isNumberValue = isOneOf(numberValues)

/** What the cells of a column hold. */
export const ColumnValue = Schema.Literals([
  ...idSources.map(({ value }) => value),
  "payCode",
  "rate",
  "revisionId",
  ...dateValues,
  ...numberValues,
  "rows"
])

export type ColumnValue = typeof ColumnValue.Type

/** How a date is written: `YYYY` or `YY`, `MM` or `M`, `DD` or `D`, with any signs between, such as `DD.MM.YYYY`. */
export const DateFormat = Schema.String.check(Schema.isPattern(
  /^(?=.*[YMD])(?:(?<!Y)YY(?:YY)?(?!Y)|(?<!M)MM?(?!M)|(?<!D)DD?(?!D)|[^\p{L}\p{N}\p{C}])+$/u,
  { expected: "YYYY or YY, MM or M, DD or D, and signs between them" }
))

export type DateFormat = typeof DateFormat.Type

/** A key of a column that says where its text or number comes from. A column has one of them. */
export const sources = ["value", "of", "constant", "set"] as const

/** A column of the file: one source, and how it is laid out. A cell of a line before or behind the rows is one too. */
export const Column = Schema.Struct({
  /** The title of the column. */
  header: Schema.optionalKey(Schema.String),
  /** What its cells hold. */
  value: Schema.optionalKey(ColumnValue),
  /** Of what its cells hold a further text: of an id by the file of the codes, or of the pay code. */
  of: Schema.optionalKey(Schema.Literals([...CodeKind.literals, "payCode"])),
  /** Which further text: a title of the file of the codes, or a key of the pay codes. */
  field: Schema.optionalKey(Schema.String.check(Schema.isNonEmpty())),
  /** The text in every row. */
  constant: Schema.optionalKey(Schema.String),
  /** The name of a text that is given when the file is written. */
  set: Schema.optionalKey(Schema.String.check(Schema.isNonEmpty())),
  /** Of `quantity` in a line behind the rows: which sum. */
  kind: Schema.optionalKey(Schema.Literals(["hours", "amount"])),
  /** How a date is written. Default: `YYYY-MM-DD`. */
  format: Schema.optionalKey(DateFormat),
  /** The number of characters of each cell; a longer text is an error. Default: each as long as it is. */
  width: Schema.optionalKey(Schema.Natural.check(Schema.isGreaterThan(0))),
  /** At which end a cell stands in its width. Default: numbers `right`, texts `left`. */
  align: Schema.optionalKey(Schema.Literals(["left", "right"])),
  /** What fills the width. Default: a blank. An empty cell is filled with blanks. */
  pad: Schema.optionalKey(Schema.Literals([" ", "0"])),
  /** How many digits a fraction has: zeros are added, nothing is rounded. Default: two, and four of `decimal:4`. */
  digits: Schema.optionalKey(Schema.Literals([2, 4])),
  /** `""`: a number that is zero is an empty cell. Default: it is written. */
  zero: Schema.optionalKey(Schema.Literal("")),
  /** Whether an id without this name or field refuses the file. Default: `false`. */
  required: Schema.optionalKey(Schema.Boolean)
})

export type Column = typeof Column.Type

/** A line before or behind the rows: as it is, or its cells. */
const Line = Schema.Union([
  Schema.String.check(Schema.isPattern(/^[^\r\n]*$/)),
  Schema.NonEmptyArray(Column)
])

const CodeText = Schema.String.check(Schema.isNonEmpty())

/** A pay code, alone or with further texts. */
const Code = Schema.Union([
  CodeText,
  Schema.StructWithRest(Schema.Struct({ code: CodeText }), [Schema.Record(Schema.String, Schema.String)])
])

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
  by: Schema.NonEmptyArray(RowKey),
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
  /** What adds up to the rounded hours of its exact time: a `row`, or all rows of a `user`. Default: `row`; by day, `user`. */
  addUp: Schema.optionalKey(Schema.Literals(["row", "user"])),
  /** `punch`: the hours of each punch are rounded, then added. Default: `sum`, they are added, then rounded. */
  hoursOf: Schema.optionalKey(Schema.Literals(["sum", "punch"])),
  /** The columns, from left to right. */
  columns: Schema.NonEmptyArray(Column),
  /** What stands between two cells. Default: `,`. */
  separator: Schema.optionalKey(Schema.Literals([",", ";", "\t", "|", ""])),
  /** What stands before the digits of a fraction. Default: `.`. */
  decimal: Schema.optionalKey(Schema.Literals([".", ",", ""])),
  /** Whether the titles of the columns are the first record. Default: `true`. */
  header: Schema.optionalKey(Schema.Boolean),
  /** Lines before the titles. Default: none. */
  preamble: Schema.optionalKey(Schema.Array(Line)),
  /** Lines behind the rows. A number in them is the sum of all cells with its value, and `rows` is their number. Default: none. */
  trailer: Schema.optionalKey(Schema.Array(Line)),
  /** How characters become bytes. Default: `utf-8`, without a byte order mark. */
  encoding: Schema.optionalKey(Schema.Literals(["utf-8", "utf-8-bom", "windows-1252"])),
  /** What ends each line, the last one too. Default: `\r\n`. */
  lineEnd: Schema.optionalKey(Schema.Literals(["\r\n", "\n", "\r"])),
  /** Which cells are in quotes. `texts`: all but numbers and rates. Default: `whenNeeded`, by RFC 4180. */
  quote: Schema.optionalKey(Schema.Literals(["whenNeeded", "always", "texts", "never"])),
  /** What is in no column on purpose, so that nothing is said of it. Default: nothing. */
  leaves: Schema.optionalKey(Schema.Array(Schema.Literals(["hours", "cost", "tips"]))),
  /** `keep`: names, codes, titles and constants may begin as a formula of a spreadsheet does. Default: that is an error. */
  formulas: Schema.optionalKey(Schema.Literals(["refuse", "keep"]))
})) {}

/** What a mapping has that does not say. */
export const defaults = {
  hoursOf: "sum",
  separator: ",",
  decimal: ".",
  header: true,
  preamble: [],
  trailer: [],
  encoding: "utf-8",
  lineEnd: "\r\n",
  quote: "whenNeeded",
  leaves: [],
  formulas: "refuse"
} as const satisfies Partial<Mapping>

export const defaultFormat: DateFormat = "YYYY-MM-DD"

/** A row of a day alone would add up to nothing that a week has. */
export const addUpOf = ({ addUp, by }: Mapping): "row" | "user" =>
  addUp ?? (by.includes("day") && by.includes("user") ? "user" : "row")

/** A mapping with every default written out. */
export interface WholeMapping
  extends Omit<Mapping, keyof typeof defaults | "addUp">, Required<Pick<Mapping, keyof typeof defaults | "addUp">>
{}

/** The same mapping with every default written out: mappings that write the same files are then equal. */
export const withDefaults = (mapping: Mapping): WholeMapping => ({
  ...defaults,
  ...mapping,
  addUp: addUpOf(mapping),
  columns: Arr.map(
    mapping.columns,
    (column) => isDateValue(column.value) ? { format: defaultFormat, ...column } : column
  )
})

/** A column, or a cell of a line, and where it stands in the mapping. */
export type Cell = Column & { readonly path: string }

/** Cells beside each other: the columns, or a line before or behind the rows. A line as it is has its text and no cells. */
export interface CellList {
  readonly name: "columns" | "preamble" | "trailer"
  readonly path: string
  readonly cells: ReadonlyArray<Cell>
  readonly text?: string
}

/** The columns first, then the lines before the rows and those behind them. */
export const cellLists = ({ columns, preamble = [], trailer = [] }: Mapping): ReadonlyArray<CellList> => {
  const listAt = (name: CellList["name"], path: string, line: string | ReadonlyArray<Column>): CellList =>
    typeof line === "string"
      ? { name, path, text: line, cells: [] }
      : { name, path, cells: line.map((cell, at) => ({ ...cell, path: `${path}[${at}]` })) }
  return [
    listAt("columns", "columns", columns),
    ...preamble.map((line, at) => listAt("preamble", `preamble[${at}]`, line)),
    ...trailer.map((line, at) => listAt("trailer", `trailer[${at}]`, line))
  ]
}

/** The source of a column that has a text of an id. */
export interface IdSource {
  readonly kind: CodeKind
  /** `field`: a further text of the codes. */
  readonly form: "code" | "name" | "id" | "field"
  /** The name of the text: its form, or the title of a further one. */
  readonly field: string
}

export const idSourceOf = ({ field, of, value }: Column): IdSource | undefined =>
  of === undefined || of === "payCode" || field === undefined
    ? idSources.find((source) => source.value === value)
    : { kind: of, form: "field", field }

/** Of which key of `by` a column has a text. */
export const keyOf = (column: Column): RowKey | undefined => column.value === "date" ? "day" : idSourceOf(column)?.kind

/** How a number is written: as hours are, with two digits, or whole. `isMoney`: whether a `quantity` is of money. */
export const formOf = ({ value }: Column, isMoney = false): "hours" | "money" | "count" | undefined => {
  if (isHourValue(value)) return isMoney && value === "quantity" ? "money" : "hours"
  if (value === "rate" || isOneOf(moneyValues)(value)) return "money"
  return isNumberValue(value) || value === "rows" ? "count" : undefined
}

/** The pay codes in the order of their rows. */
export const payCodeKinds = ["hours", "regular", "over", "double", "tips"] as const

/** What a row has of the sums: all, or what one pay code has. */
export type Kind = "all" | typeof payCodeKinds[number]

/** The texts of each pay code by their names, such as `code`. */
export const payCodesOf = ({ payCodes = {} }: Mapping): ReadonlyMap<Kind, ReadonlyMap<string, string>> =>
  new Map(payCodeKinds.flatMap((kind) => {
    const { [kind]: code } = payCodes
    return code === undefined ? [] : [[kind, new Map(Object.entries(typeof code === "string" ? { code } : code))]]
  }))

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
