/** Sums of a pay period as the file that a payroll program takes, by a mapping of the user: its columns, codes and rounding. */
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Struct from "effect/Struct"
import type { BusinessDate, Cents, DepartmentId, LocationId, RoleId, UserId } from "../Ids.ts"
import { csvCell } from "../internal/wire/csv.ts"
import { firstIssue } from "../internal/wire/issue.ts"
import { divide, Rounding } from "./Rounding.ts"

/** What the rows of a file may be by, and what has a code and a name. */
export const Grouping = Schema.Literals(["user", "location", "department", "role"])

export type Grouping = typeof Grouping.Type

/** What a cell has of an id. */
const idValues = {
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
} as const satisfies Readonly<Record<string, readonly [Grouping, "code" | "name" | "id"]>>

const isIdValue = (value: Value | undefined): value is keyof typeof idValues =>
  value !== undefined && Object.hasOwn(idValues, value)

const isOneOf = <A extends Value>(values: ReadonlyArray<A>) => (value: Value | undefined): value is A =>
  values.some((each) => each === value)

const dateValues = ["periodStart", "periodEnd", "payDate"] as const
const isDateValue = isOneOf(dateValues)

/** Hours of which a threshold takes a part: they are those of a person. */
const partValues = ["hoursBelow", "hoursAbove", "hoursAboveDay"] as const
const isPartValue = isOneOf(partValues)

const hourValues = ["hours", ...partValues] as const
const isHourValue = isOneOf(hourValues)

const numberValues = [...hourValues, "amount", "cost", "tips", "punches"] as const
const isNumberValue = isOneOf(numberValues)
type NumberValue = typeof numberValues[number]

/** What the cells of a column have. */
export const Value = Schema.Literals([
  ...Struct.keys(idValues),
  "payCode",
  "closeId",
  ...dateValues,
  ...numberValues
])

export type Value = typeof Value.Type

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
    /** What its cells have. */
    value: Value,
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

const valueOf = (column: Column): Value | undefined => "value" in column ? column.value : undefined

const Code = Schema.String.check(Schema.isNonEmpty())

/**
 * How sums become the rows and columns of a file.
 *
 * Without `payCodes` a group of `by` is one row. With them it is a row for each code: its hours, or its part `below` and
 * `above` the threshold, and its tips.
 */
export class Mapping extends Schema.Opaque<Mapping>()(Schema.Struct({
  /** The version of this form. */
  v: Schema.Literal(1),
  /** What a row is by: each once. */
  by: Schema.NonEmptyArray(Grouping),
  /**
   * The codes of hours and tips: `hours`, or `below` and `above` together, and `tips`. Each is another text.
   */
  payCodes: Schema.optionalKey(Schema.Struct({
    /** All hours. */
    hours: Schema.optionalKey(Code),
    /** The hours up to the threshold. */
    below: Schema.optionalKey(Code),
    /** The hours over the threshold. */
    above: Schema.optionalKey(Code),
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
  /** `keep`: names, titles and constants may begin as a formula of a spreadsheet does. Default: they are an error. */
  formulas: Schema.optionalKey(Schema.Literals(["refuse", "keep"]))
})) {}

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
}

/** Ids without a code, although a column has it. The payroll program could not pay a row without it: add the codes. */
export class MissingCodes
  extends Schema.TaggedError<MissingCodes>("effect-time-punches/PayrollFile/MissingCodes")("MissingCodes", {
    /** All that are missing. */
    missing: Schema.Array(Schema.Struct({
      /** What has no code. */
      kind: Grouping,
      /** Its id. */
      id: Schema.Int
    }))
  })
{
  /** All that are missing. */
  override get message(): string {
    return `no code for ${this.missing.map(({ id, kind }) => `${kind} ${id}`).join(", ")}`
  }
}

/** A text that a spreadsheet could run as a formula. Change it, or keep it with `formulas`. */
export class FormulaText
  extends Schema.TaggedError<FormulaText>("effect-time-punches/PayrollFile/FormulaText")("FormulaText", {
    /** Where the text comes from: a path of the mapping, or an id with a name. */
    path: Schema.String,
    /** The text. */
    text: Schema.String
  })
{
  /** Where the text comes from, and the text. */
  override get message(): string {
    return `${this.path}: a spreadsheet could run ${JSON.stringify(this.text)} as a formula`
  }
}

/** Reads a mapping, such as parsed JSON. Fails for a key that no mapping has, and for columns that contradict each other. */
export const decodeMapping = (input: unknown): Result.Result<Mapping, MappingError> =>
  Result.flatMap(
    Result.mapError(decode(input), (error) => {
      const { detail, path } = firstIssue(error)
      return new MappingError({ path, detail })
    }),
    (mapping) => {
      const problem = problemOf(mapping)
      return problem === undefined ? Result.succeed(mapping) : Result.fail(problem)
    }
  )

const decode = Schema.decodeUnknownResult(Mapping, { onExcessProperty: "error" })

/** The sums of a person at a location, in a department and a role. */
export interface PayrollRow {
  /** The person. */
  readonly userId: UserId
  /** The location. */
  readonly locationId: LocationId
  /** The department; `None` without one. */
  readonly departmentId: Option.Option<DepartmentId>
  /** The role. */
  readonly roleId: RoleId
  /** Number of punches. */
  readonly punches: number
  /** Paid time. */
  readonly net: Duration.Duration
  /** Wages in cents. */
  readonly cost: Cents
  /** Tips in cents. */
  readonly tips: Cents
}

/** The time of a person over the thresholds. */
export interface PayrollPerson {
  /** The person. */
  readonly userId: UserId
  /** Time over the weekly threshold; `None` if the sums have none. */
  readonly overWeekly: Option.Option<Duration.Duration>
  /** Time over the daily threshold; `None` if the sums have none. */
  readonly overDaily: Option.Option<Duration.Duration>
}

/** The sums of a pay period: whole sums, never differences. A revision of a close is one. */
export interface PayrollState {
  /** The first date of the period. */
  readonly first: BusinessDate
  /** The last date of the period. */
  readonly last: BusinessDate
  /** The number of the close; without one, `closeId` is empty. */
  readonly close?: number | undefined
  /** The date on which it is paid, for `payDate`. */
  readonly payDate?: BusinessDate | undefined
  /** The sums of each person, location, department and role. */
  readonly rows: ReadonlyArray<PayrollRow>
  /** The time of each person in `rows` above the thresholds. */
  readonly people: ReadonlyArray<PayrollPerson>
}

/** The codes by which the payroll program knows users, locations, departments and roles, and their names. */
export interface PayrollCodes {
  /** The code of an id; `undefined` without one. */
  readonly getCode: (kind: Grouping, id: number) => string | undefined
  /** Default: no id has a name. A cell without a name is empty. */
  readonly getName?: ((kind: Grouping, id: number) => string | undefined) | undefined
}

/** A file, and what its reader cannot see in it. */
export interface PayrollFile {
  /** The text to write as UTF-8, with its byte order mark if the mapping has one. */
  readonly text: string
  /** Number of rows, without titles. */
  readonly rows: number
  /** Of each column of hours, how much the exact sum has more than the cells: what rounding has left out. */
  readonly remainders: ReadonlyArray<{ readonly header: string; readonly remainder: Duration.Duration }>
  /** Users of one code who both have hours, if the file has hours over a threshold: these are of each user alone. */
  readonly sharedCodes: ReadonlyArray<{ readonly code: string; readonly userIds: ReadonlyArray<UserId> }>
}

/**
 * Writes the sums as the file of a mapping; with `previous`, the difference to the file of `previous`: what is still to pay.
 * Rows with the same texts are one row, which is summed before it is rounded. Rows that are zero in every number are left
 * out.
 *
 * Laws: equal arguments are equal bytes. The file of `previous` and the difference add up, cell by cell, to the file of the
 * sums: time that rounding left out of one is in the next. The hours below and over a threshold add up to the
 * hours of the row.
 *
 * **Example** (Hours of each employee as a row for each code)
 *
 * ```ts
 * import { Result } from "effect"
 * import { PayrollFile } from "effect-time-punches/payroll"
 *
 * const mapping = PayrollFile.decodeMapping({
 *   v: 1,
 *   by: ["user"],
 *   payCodes: { below: "REG", above: "OT", tips: "TIPS" },
 *   hours: "decimal:2",
 *   rounding: "halfUp",
 *   columns: [
 *     { header: "Employee", value: "userCode" },
 *     { header: "Code", value: "payCode" },
 *     { header: "Hours", value: "hours" },
 *     { header: "Amount", value: "amount" },
 *     { header: "End", value: "periodEnd", format: "MM/DD/YYYY" }
 *   ]
 * })
 *
 * const codes = new Map([[501, "0017"], [502, "0018"]])
 *
 * export const fileOf = (state: PayrollFile.PayrollState) =>
 *   Result.flatMap(mapping, (mapping) =>
 *     PayrollFile.encode(mapping, { getCode: (kind, id) => kind === "user" ? codes.get(id) : undefined }, state))
 * ```
 */
export const encode = (
  mapping: Mapping,
  codes: PayrollCodes,
  state: PayrollState,
  previous?: PayrollState
): Result.Result<PayrollFile, MappingError | MissingCodes | FormulaText> => {
  const states = previous === undefined ? [state] : [state, previous]
  const problem = problemOf(mapping) ?? problemOfStates(mapping, states) ?? missingOf(mapping, codes, states) ??
    formulaOf(mapping, codes, states)
  if (problem !== undefined) return Result.fail(problem)
  const now = rowsOf(mapping, codes, state, state)
  // The texts of both files are those of the newer one: only numbers differ.
  const then = previous === undefined ? new Map<string, FileRow>() : rowsOf(mapping, codes, previous, state)
  const unit = BigInt(hourUnits[mapping.hours])
  const remainders = mapping.columns.map(() => 0n)
  const rows: Array<Pick<FileRow, "order" | "texts"> & { readonly cells: ReadonlyArray<bigint | undefined> }> = []
  for (const key of new Set([...now.keys(), ...then.keys()])) {
    const [one, other] = [now.get(key), then.get(key)]
    const { order, texts } = one ?? other ?? { order: [], texts: [] }
    const cells = mapping.columns.map((column, at) => {
      const [plus, minus] = [one?.cells[at], other?.cells[at]]
      if (plus === undefined && minus === undefined) return undefined
      const isHour = isHourValue(valueOf(column))
      const round = ([more, less]: Quantity = [0n, 0n]) =>
        isHour ? divide(more, unit, mapping.rounding) - divide(less, unit, mapping.rounding) : more - less
      const cell = round(plus) - round(minus)
      if (isHour) remainders[at] = (remainders[at] ?? 0n) + exact(plus) - exact(minus) - cell * unit
      return cell
    })
    if (cells.some((cell) => cell !== undefined && cell !== 0n)) rows.push({ order, texts, cells })
  }
  const records = rows.toSorted((a, b) => compare(a.order, b.order)).map(({ cells, texts }) =>
    mapping.columns.map((column, at) => {
      const cell = cells[at]
      return cell === undefined ? texts[at] ?? "" : numberText(mapping, column, cell)
    })
  )
  return Result.succeed({
    text: textOf(mapping, records),
    rows: records.length,
    remainders: mapping.columns.flatMap((column, at) =>
      isHourValue(valueOf(column))
        ? [{ header: column.header, remainder: Duration.millis(Number(remainders[at])) }]
        : []
    ),
    sharedCodes: sharedCodesOf(mapping, codes, states)
  })
}

/** Two exact numbers, which are rounded one by one; the cell is their difference. */
type Quantity = readonly [more: bigint, less: bigint]

const exact = ([more, less]: Quantity = [0n, 0n]): bigint => more - less

/** A row before it is rounded. */
interface FileRow {
  /** The texts of its cells, empty for numbers: rows with equal texts are one row. */
  readonly texts: ReadonlyArray<string>
  /** Ids and the place of the pay code: the least of them decides the place of the row. */
  readonly order: ReadonlyArray<number>
  /** The numbers of its cells; `undefined` for a text, and for a number that only another row of the group has. */
  readonly cells: ReadonlyArray<Quantity | undefined>
}

/** The exact sums of a group: time in milliseconds, amounts in cents. */
interface GroupSums {
  readonly ids: { readonly [K in Grouping]?: number | undefined }
  net: bigint
  /** Over the weekly threshold, or over the daily one if it is the only one. */
  overWeekly: bigint
  overDaily: bigint
  cost: bigint
  tips: bigint
  punches: bigint
}

/** A row of a group, or of one of its pay codes. */
interface Item {
  readonly sums: GroupSums
  readonly payCode: string
  readonly place: number
  readonly numbers: { readonly [V in NumberValue]?: Quantity }
}

const rowsOf = (
  mapping: Mapping,
  codes: PayrollCodes,
  sums: PayrollState,
  context: PayrollState
): ReadonlyMap<string, FileRow> => {
  const rows = new Map<string, FileRow>()
  for (const item of groupsOf(mapping, sums).flatMap((group) => itemsOf(mapping, group))) {
    const texts = mapping.columns.map((column) => cellText(column, codes, item, context))
    const key = JSON.stringify(texts)
    const known = rows.get(key)
    const order = [...mapping.by.map((by) => item.sums.ids[by] ?? Infinity), item.place]
    const cells = mapping.columns.map((column, at) => {
      const value = valueOf(column)
      const own = isNumberValue(value) ? item.numbers[value] : undefined
      const other = known?.cells[at]
      return own === undefined || other === undefined
        ? own ?? other
        : [own[0] + other[0], own[1] + other[1]] as const
    })
    rows.set(key, { texts, cells, order: known !== undefined && compare(known.order, order) < 0 ? known.order : order })
  }
  return rows
}

const compare = (one: ReadonlyArray<number>, other: ReadonlyArray<number>): number => {
  const at = one.findIndex((value, index) => value !== other[index])
  return at < 0 ? 0 : (one[at] ?? 0) < (other[at] ?? 0) ? -1 : 1
}

const groupsOf = ({ by }: Mapping, { people, rows }: PayrollState): ReadonlyArray<GroupSums> => {
  const groups = new Map<string, GroupSums>()
  for (const row of rows) {
    const all: Required<GroupSums["ids"]> = {
      user: row.userId,
      location: row.locationId,
      department: Option.getOrUndefined(row.departmentId),
      role: row.roleId
    }
    const key = by.map((each) => all[each] ?? "").join(" ")
    const sums = groups.get(key) ??
      {
        ids: Object.fromEntries(by.map((each) => [each, all[each]])),
        net: 0n,
        overWeekly: 0n,
        overDaily: 0n,
        cost: 0n,
        tips: 0n,
        punches: 0n
      }
    groups.set(key, sums)
    sums.net += millisOf(row.net)
    sums.cost += BigInt(row.cost)
    sums.tips += BigInt(row.tips)
    sums.punches += BigInt(row.punches)
  }
  const persons = new Map(people.map((person) => [Number(person.userId), person]))
  for (const sums of groups.values()) {
    const person = sums.ids.user === undefined ? undefined : persons.get(sums.ids.user)
    if (person === undefined) continue
    sums.overWeekly += excessOf(Option.orElse(person.overWeekly, () => person.overDaily))
    sums.overDaily += excessOf(person.overDaily)
  }
  return [...groups.values()]
}

const millisOf = (duration: Duration.Duration): bigint => BigInt(Duration.toMillis(duration))

const excessOf = (excess: Option.Option<Duration.Duration>): bigint =>
  millisOf(Option.getOrElse(excess, () => Duration.zero))

/** The rows of a group. */
const itemsOf = ({ payCodes }: Mapping, sums: GroupSums): ReadonlyArray<Item> => {
  const { overWeekly, overDaily, cost, net, punches, tips } = sums
  if (payCodes === undefined) {
    const numbers: Item["numbers"] = {
      hours: [net, 0n],
      hoursBelow: [net, overWeekly],
      hoursAbove: [overWeekly, 0n],
      hoursAboveDay: [overDaily, 0n],
      cost: [cost, 0n],
      tips: [tips, 0n],
      punches: [punches, 0n]
    }
    return [{ sums, payCode: "", place: 0, numbers }]
  }
  const numbersOf: { readonly [K in PayCodeKind]: Item["numbers"] } = {
    hours: { hours: [net, 0n] },
    below: { hours: [net, overWeekly] },
    above: { hours: [overWeekly, 0n] },
    tips: { amount: [tips, 0n] }
  }
  return payCodeKinds.flatMap((kind, place) => {
    const payCode = payCodes[kind]
    return payCode === undefined ? [] : [{ sums, payCode, place, numbers: numbersOf[kind] }]
  })
}

const payCodeKinds = ["hours", "below", "above", "tips"] as const

type PayCodeKind = typeof payCodeKinds[number]

/** The text of a cell; empty for a number. */
const cellText = (column: Column, codes: PayrollCodes, { payCode, sums }: Item, state: PayrollState): string => {
  if ("constant" in column) return column.constant
  const { value } = column
  if (isIdValue(value)) {
    const [kind, form] = idValues[value]
    const id = sums.ids[kind]
    if (id === undefined) return ""
    return (form === "id" ? `${id}` : form === "code" ? codes.getCode(kind, id) : codes.getName?.(kind, id)) ?? ""
  }
  if (isNumberValue(value)) return ""
  switch (value) {
    case "payCode":
      return payCode
    case "closeId":
      return state.close === undefined ? "" : `${state.close}`
    case "periodStart":
      return dateText(state.first, column.format)
    case "periodEnd":
      return dateText(state.last, column.format)
    case "payDate":
      return state.payDate === undefined ? "" : dateText(state.payDate, column.format)
  }
}

const dateText = (date: BusinessDate, format: DateFormat = "YYYY-MM-DD"): string => {
  const [year = "", month = "", day = ""] = date.split("-")
  const parts = { YYYY: year, YY: year.slice(2), MM: month, DD: day, M: `${Number(month)}`, D: `${Number(day)}` }
  return format.replace(
    /YYYY|YY|MM|DD|M|D/g,
    (part) => Object.entries(parts).find(([name]) => name === part)?.[1] ?? ""
  )
}

/** The milliseconds of one unit in which hours are counted. */
const hourUnits = { "decimal:2": 36_000, "decimal:4": 360, "h:mm": 60_000, minutes: 60_000, seconds: 1000 } as const

const numberText = ({ decimal, hours }: Mapping, column: Column, cell: bigint): string => {
  const value = valueOf(column)
  if (value === "punches") return `${cell}`
  if (!isHourValue(value)) return fraction(cell, 100n, decimal ?? ".")
  switch (hours) {
    case "decimal:2":
      return fraction(cell, 100n, decimal ?? ".")
    case "decimal:4":
      return fraction(cell, 10_000n, decimal ?? ".")
    case "h:mm":
      return fraction(cell, 60n, ":")
    case "minutes":
    case "seconds":
      return `${cell}`
  }
}

/** A number of parts as wholes and the parts that are left: `-1.05`, `8:05`. */
const fraction = (count: bigint, parts: bigint, mark: string): string => {
  const size = count < 0n ? -count : count
  const digits = `${parts - 1n}`.length
  return `${count < 0n ? "-" : ""}${size / parts}${mark}${`${size % parts}`.padStart(digits, "0")}`
}

const textOf = (mapping: Mapping, records: ReadonlyArray<ReadonlyArray<string>>): string => {
  const { columns, encoding, header, lineEnd, preamble, quote, separator } = mapping
  const mark = separator ?? ","
  const quoted = (text: string): string =>
    quote === "always" || text.includes(mark) || /["\r\n]/.test(text) ? `"${text.replaceAll("\"", "\"\"")}"` : text
  const titles = header === false ? [] : [columns.map((column) => column.header)]
  const lines = [...preamble ?? [], ...[...titles, ...records].map((cells) => cells.map(quoted).join(mark))]
  const end = lineEnd ?? "\r\n"
  return `${encoding === "utf-8-bom" ? "\uFEFF" : ""}${lines.map((line) => `${line}${end}`).join("")}`
}

const error = (path: string, detail: string) => new MappingError({ path, detail })

/** What contradicts itself in a mapping. */
const problemOf = ({ by, columns, decimal, payCodes, quote, separator }: Mapping): MappingError | undefined => {
  const twice = by.findIndex((each, at) => by.indexOf(each) !== at)
  if (twice >= 0) return error(`by[${twice}]`, `${by[twice]} is there twice`)
  const values = columns.map(valueOf)
  const has = (value: Value) => values.includes(value)
  const ofPerson = by.length === 1 && by[0] === "user"
  for (const [at, column] of columns.entries()) {
    if ("constant" in column) continue
    const { format, value } = column
    const path = `columns[${at}].value`
    const kind = isIdValue(value) ? idValues[value][0] : undefined
    if (kind !== undefined && !by.includes(kind)) return error(path, `${value} needs ${kind} in by`)
    if (format !== undefined && !isDateValue(value)) {
      return error(`columns[${at}].format`, `only dates have a format, and ${value} is none`)
    }
    if (isPartValue(value) && !ofPerson) {
      return error(path, `${value} needs by to be user alone: hours over a threshold have no ${others(by)}`)
    }
    if (payCodes === undefined) {
      if (value === "payCode" || value === "amount") return error(path, `${value} needs payCodes`)
    } else if (isNumberValue(value) && value !== "hours" && value !== "amount") {
      return error(path, `${value} is not for a file with payCodes: it would stand in each of the rows of a person`)
    }
  }
  for (const [at, each] of by.entries()) {
    // Two people of one name would be one row.
    const isShown = values.some((value) => {
      if (!isIdValue(value)) return false
      const [kind, form] = idValues[value]
      return kind === each && form !== "name"
    })
    if (!isShown) return error(`by[${at}]`, `no column has the code or the id of the ${each}`)
  }
  if (!values.some(isNumberValue)) return error("columns", "none has a number")
  if (has("hoursBelow") && !has("hoursAbove")) {
    return error("columns", "hoursBelow needs hoursAbove: the hours over the threshold would be in no column")
  }
  if ((separator ?? ",") === (decimal ?? ".") && quote !== "always") {
    return error("separator", "it is the decimal sign too: the numbers need \"quote\": \"always\"")
  }
  return payCodes === undefined ? undefined : problemOfCodes(payCodes, has, ofPerson)
}

const others = (by: ReadonlyArray<Grouping>): string => by.find((each) => each !== "user") ?? "user"

const problemOfCodes = (
  payCodes: NonNullable<Mapping["payCodes"]>,
  has: (value: Value) => boolean,
  ofPerson: boolean
): MappingError | undefined => {
  const { above, below, hours, tips } = payCodes
  const given = [hours, below, above, tips].filter((code) => code !== undefined)
  if (given.length === 0) return error("payCodes", "it has no code")
  if (new Set(given).size < given.length) return error("payCodes", "two of its codes are equal")
  if ((below === undefined) !== (above === undefined)) {
    return error("payCodes", "below and above go together: the hours of one alone are not all hours")
  }
  if (hours !== undefined && below !== undefined) {
    return error("payCodes", "hours are all hours, so that below and above would pay them twice")
  }
  if (below !== undefined && !ofPerson) {
    return error("payCodes", "below and above need by to be user alone: hours over a threshold are those of a person")
  }
  if (!has("payCode")) return error("columns", "none has the payCode")
  if ((hours ?? below) !== undefined && !has("hours"))
    return error("columns", "payCodes has hours, and no column has them")
  if (tips !== undefined && !has("amount")) return error("columns", "payCodes has tips, and no column has the amount")
  return undefined
}

/** What does not fit the sums. Without people there is nothing to fit. */
const problemOfStates = (mapping: Mapping, states: ReadonlyArray<PayrollState>): MappingError | undefined => {
  const people = states.flatMap((state) => state.people)
  const weekly = people.some(({ overWeekly }) => Option.isSome(overWeekly))
  const daily = people.some(({ overDaily }) => Option.isSome(overDaily))
  const counted = weekly && daily ? "two thresholds" : weekly || daily ? "one threshold" : "no threshold"
  if (mapping.payCodes?.below !== undefined && people.length > 0 && counted !== "one threshold") {
    return error("payCodes.below", `it needs one threshold, and the sums have ${counted}`)
  }
  for (const [at, column] of mapping.columns.entries()) {
    if ("constant" in column) continue
    const path = `columns[${at}].value`
    if (column.value === "payDate" && states[0]?.payDate === undefined) return error(path, "no pay date is given")
    if (people.length === 0) continue
    if (column.value === "hoursBelow" && counted !== "one threshold") {
      return error(path, `hoursBelow needs one threshold, and the sums have ${counted}`)
    }
    if (column.value === "hoursAbove" && counted === "no threshold") {
      return error(path, "hoursAbove needs a threshold, and the sums have none")
    }
    if (column.value === "hoursAboveDay" && !daily) {
      return error(path, "hoursAboveDay needs a daily threshold, and the sums have none")
    }
  }
  return undefined
}

/** The ids of the sums, each once, by kind and number. */
const idsOf = (states: ReadonlyArray<PayrollState>, kind: Grouping): ReadonlyArray<number> => {
  const ids = states.flatMap(({ rows }) =>
    rows.flatMap(({ departmentId, locationId, roleId, userId }): ReadonlyArray<number> => {
      switch (kind) {
        case "user":
          return [userId]
        case "location":
          return [locationId]
        case "department":
          return Option.toArray(departmentId)
        case "role":
          return [roleId]
      }
    })
  )
  return [...new Set(ids)].toSorted((a, b) => a - b)
}

/** The kinds of id of which a column has this. */
const kindsOf = ({ columns }: Mapping, wanted: "code" | "name"): ReadonlyArray<Grouping> =>
  Grouping.literals.filter((each) =>
    columns.map(valueOf).some((value) => {
      if (!isIdValue(value)) return false
      const [kind, form] = idValues[value]
      return kind === each && form === wanted
    })
  )

const missingOf = (
  mapping: Mapping,
  { getCode }: PayrollCodes,
  states: ReadonlyArray<PayrollState>
): MissingCodes | undefined => {
  const missing = kindsOf(mapping, "code").flatMap((kind) =>
    idsOf(states, kind).filter((id) => (getCode(kind, id) ?? "") === "").map((id) => ({ kind, id }))
  )
  return missing.length === 0 ? undefined : new MissingCodes({ missing })
}

const formulaOf = (
  mapping: Mapping,
  { getName }: PayrollCodes,
  states: ReadonlyArray<PayrollState>
): FormulaText | undefined => {
  if (mapping.formulas === "keep") return undefined
  const texts: ReadonlyArray<readonly [path: string, text: string]> = [
    ...(mapping.preamble ?? []).map((line, at) => [`preamble[${at}]`, line] as const),
    ...mapping.columns.flatMap((column, at) => [
      [`columns[${at}].header`, column.header] as const,
      ...("constant" in column ? [[`columns[${at}].constant`, column.constant] as const] : [])
    ]),
    ...kindsOf(mapping, "name").flatMap((kind) =>
      idsOf(states, kind).map((id) => [`the name of ${kind} ${id}`, getName?.(kind, id) ?? ""] as const)
    )
  ]
  const found = texts.find(([, text]) => csvCell(text) !== text)
  return found === undefined ? undefined : new FormulaText({ path: found[0], text: found[1] })
}

const sharedCodesOf = (
  mapping: Mapping,
  { getCode }: PayrollCodes,
  states: ReadonlyArray<PayrollState>
): PayrollFile["sharedCodes"] => {
  const hasExcess = mapping.payCodes?.above !== undefined ||
    mapping.columns.map(valueOf).some(isPartValue)
  if (!hasExcess || !kindsOf(mapping, "code").includes("user")) return []
  const byCode = new Map<string, Set<UserId>>()
  for (const { net, userId } of states.flatMap(({ rows }) => rows)) {
    if (Duration.toMillis(net) === 0) continue
    const code = getCode("user", userId) ?? ""
    byCode.set(code, (byCode.get(code) ?? new Set()).add(userId))
  }
  return Array.from(byCode, ([code, userIds]) => ({ code, userIds: [...userIds].toSorted((a, b) => a - b) }))
    .filter(({ userIds }) => userIds.length > 1)
}
