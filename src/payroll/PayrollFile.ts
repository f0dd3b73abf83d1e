/** Sums of a pay period as the file that a payroll program takes, by a mapping of the user: its columns, codes and rounding. */
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { InvalidRequest } from "../ApiError.ts"
import { type BusinessDate, Cents, type DepartmentId, type LocationId, type RoleId, type UserId } from "../Ids.ts"
import { csvCell } from "../internal/wire/csv.ts"
import { exactHours, type HourClasses, roundHours, sumOfHours } from "./hourUnits.ts"
import {
  amountForms,
  CodeKind,
  type Column,
  type ColumnValue,
  type DateFormat,
  defaultFormat,
  defaults,
  hourValues,
  idValues,
  isAmountValue,
  isHourValue,
  isIdValue,
  isNumberValue,
  type Mapping,
  type MappingError,
  payCodeKinds,
  valueOf
} from "./mapping.ts"
import { decodeMapping, refusalOf } from "./mappingRules.ts"
import { type Checks, each, must, optional, refusalOf as optionsRefusalOf, type Wrong, wrong } from "./options.ts"
import { divide } from "./Rounding.ts"

export {
  CodeKind,
  Column,
  ColumnValue,
  DateFormat,
  Mapping,
  MappingError,
  type WholeMapping,
  withDefaults
} from "./mapping.ts"
export { decodeMapping }

/** Ids without a code, although a column has it. The payroll program could not pay a row without it: add the codes. */
export class MissingCodes
  extends Schema.TaggedError<MissingCodes>("effect-time-punches/PayrollFile/MissingCodes")("MissingCodes", {
    /** All that are missing. */
    missing: Schema.Array(Schema.Struct({
      /** What has no code. */
      kind: CodeKind,
      /** Its id. */
      id: Schema.Int
    }))
  })
{
  /** All that are missing. */
  override get message(): string {
    return `no code for ${this.missing.map(({ id, kind }) => `${kind} ${id}`).join(", ")}`
  }

  /** Whether the same call may succeed later with nothing changed: no. */
  get isRetryable(): boolean {
    return false
  }
}

/** A text that a spreadsheet could run as a formula. Change it, or keep it with `formulas`. */
export class FormulaText
  extends Schema.TaggedError<FormulaText>("effect-time-punches/PayrollFile/FormulaText")("FormulaText", {
    /** Where the text comes from: a path of the mapping, or the name or code of an id. */
    path: Schema.String,
    /** The text. */
    text: Schema.String
  })
{
  /** Where the text comes from, and the text. */
  override get message(): string {
    return `${this.path}: a spreadsheet could run ${JSON.stringify(this.text)} as a formula`
  }

  /** Whether the same call may succeed later with nothing changed: no. */
  get isRetryable(): boolean {
    return false
  }
}

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

/** The codes by which the payroll program knows users, locations, departments and roles, and their names. */
export interface PayrollCodes {
  /** The code of an id; `undefined` without one. */
  readonly getCode: (kind: CodeKind, id: number) => string | undefined
  /** Default: no id has a name. A cell without a name is empty. */
  readonly getName?: ((kind: CodeKind, id: number) => string | undefined) | undefined
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

const encodeChecks: Checks<EncodeOptions> = {
  ...pairChecks,
  codes: must(Predicate.hasProperty("getCode"), "an object with getCode"),
  also: optional(each(({ previous, state }) => pairChecks.previous(previous) ?? pairChecks.state(state)))
}

/** The code of an id in a file. */
export const UsedCode = Schema.Struct({
  /** What has the code. */
  kind: CodeKind,
  /** Its id. */
  id: Schema.Int,
  /** The code. */
  code: Schema.String
})

export type UsedCode = typeof UsedCode.Type

/** A file, and what its reader cannot see in it. */
export interface PayrollFile {
  /** The text to write as UTF-8, with its byte order mark if the mapping has one. */
  readonly text: string
  /** Number of rows, without titles. */
  readonly rows: number
  /** For each column of hours, the exact sum less the sum of its cells: what rounding left out. */
  readonly remainders: ReadonlyArray<Remainder>
  /** The codes that it uses, by kind and id. */
  readonly codes: ReadonlyArray<UsedCode>
  /** Users who share a code: one employee in the file. Hours over a threshold are counted for each user alone. */
  readonly sharedCodes: ReadonlyArray<SharedCode>
  /** The hours, the cost and the tips, if a person has some and no column has them. */
  readonly omitted: ReadonlyArray<OmittedAmount>
}

/** What rounding left out of a column of hours. */
export interface Remainder {
  /** The title of the column. */
  readonly header: string
  /** The exact sum less the sum of its cells. */
  readonly remainder: Duration.Duration
}

/** An amount that no column of the file has; with `previous`, the difference. */
export type OmittedAmount =
  & {
    /** Number of people whose amount is not zero. The amounts of several may add up to zero. */
    readonly people: number
  }
  & (
    | {
      /** Paid time. */
      readonly amount: "hours"
      /** Of all people. */
      readonly sum: Duration.Duration
    }
    | {
      /** Wages or tips. */
      readonly amount: "cost" | "tips"
      /** Of all people, in cents. */
      readonly sum: Cents
    }
  )

/** A code of several users. */
export interface SharedCode {
  /** The code. */
  readonly code: string
  /** The users. */
  readonly userIds: ReadonlyArray<UserId>
  /** The rows with the code, counted from 1 without titles. */
  readonly rows: ReadonlyArray<number>
}

/**
 * Writes `state` as the file of a mapping; with `previous`, what is still to pay: the difference to the file of `previous`.
 * Rows with the same texts are one row, which is summed before it is rounded. Rows that are zero in every number are left
 * out.
 *
 * Laws: equal arguments give equal bytes. The file of `previous` and the difference add up, cell by cell, to the file of the
 * sums: time that rounding left out of one is in the next. The classes of a row add up to its hours.
 *
 * **Example** (Hours of each employee as a row for each code)
 *
 * ```ts
 * import { Option, Result } from "effect"
 * import { PayrollFile } from "effect-time-punches/payroll"
 *
 * const mapping = PayrollFile.decodeMapping({
 *   v: 1,
 *   by: ["user"],
 *   payCodes: { regular: "REG", over: "OT", tips: "TIPS" },
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
 * export const fileOf = (state: PayrollFile.PayrollSums) =>
 *   Result.flatMap(mapping, (mapping) =>
 *     PayrollFile.encode(mapping, {
 *       codes: { getCode: (kind, id) => kind === "user" ? codes.get(id) : undefined },
 *       state,
 *       previous: Option.none()
 *     }))
 * ```
 */
export const encode = (
  mapping: Mapping,
  options: EncodeOptions
): Result.Result<PayrollFile, InvalidRequest | MappingError | MissingCodes | FormulaText> => {
  const { also = [], codes, state: shown } = options
  const invalid = optionsRefusalOf(options, encodeChecks)
  if (invalid !== undefined) return Result.fail(invalid)
  const pairs = [options, ...also].map(({ previous, state }) => ({ state, previous: Option.getOrUndefined(previous) }))
  // Untyped code may pass a mapping that was not decoded: a word that is none would round down.
  const decoded = decodeMapping(mapping)
  if (Result.isFailure(decoded)) return Result.fail(decoded.failure)
  for (const { previous, state } of pairs) {
    const refused = refusalOf(mapping, previous === undefined ? [state] : [state, previous], shown.payDate)
    if (refused !== undefined) return Result.fail(refused)
  }
  const cellTexts = makeTexts(mapping, codes)
  const unit = BigInt(hourUnits[mapping.hours])
  const round = (time: bigint) => divide(time, unit, mapping.rounding)
  const remainders = mapping.columns.map(() => 0n)
  const records = new Map<string, FileRow>()
  for (const { previous, state } of pairs) {
    // The texts of all sums are those of the first: only numbers differ.
    const now = linesOf(mapping, cellTexts.of, state, shown)
    const then = previous === undefined ? new Map<string, Line>() : linesOf(mapping, cellTexts.of, previous, shown)
    for (const [key, line] of new Map([...then, ...now])) {
      const [plus, minus] = [now.get(key)?.sums ?? nothing, then.get(key)?.sums ?? nothing]
      const known = records.get(key)
      const cells = mapping.columns.map((column, at) => {
        const value = valueOf(column)
        const one = numberOf(value, line.kind, plus, roundHours(plus, round))
        const other = numberOf(value, line.kind, minus, roundHours(minus, round))
        if (one === undefined || other === undefined) return undefined
        const left = (sums: GroupSums) => numberOf(value, line.kind, sums, exactHours(sums)) ?? 0n
        if (isHourValue(value)) {
          remainders[at] = (remainders[at] ?? 0n) + left(plus) - left(minus) - (one - other) * unit
        }
        return one - other + (known?.cells[at] ?? 0n)
      })
      const order = known !== undefined && compare(known.order, line.order) < 0 ? known.order : line.order
      records.set(key, { ...line, order, cells })
    }
  }
  const failed = cellTexts.failure()
  if (failed !== undefined) return Result.fail(failed)
  const rows = [...records.values()].filter(({ cells }) => cells.some((cell) => cell !== undefined && cell !== 0n))
    .toSorted((one, other) => compare(one.order, other.order))
  return Result.succeed({
    text: textOf(
      mapping,
      rows.map(({ cells, texts }) =>
        mapping.columns.map((column, at) => {
          const cell = cells[at]
          return cell === undefined ? texts[at] ?? "" : numberText(mapping, column, cell)
        })
      )
    ),
    rows: rows.length,
    remainders: mapping.columns.flatMap((column, at) =>
      isHourValue(valueOf(column))
        ? [{ header: column.header, remainder: Duration.millis(Number(remainders[at])) }]
        : []
    ),
    codes: cellTexts.usedCodes(),
    sharedCodes: cellTexts.sharedCodes().map(({ code, userIds }) => ({
      code,
      userIds,
      rows: rows.flatMap((row, at) => row.code === code ? [at + 1] : [])
    })),
    omitted: omittedOf(mapping, pairs)
  })
}

/** Whether a column has the hours, the cost or the tips: `problemOf` has refused pay codes without their column. */
const amountsIn = ({ columns, payCodes }: Mapping) => {
  const values = columns.map(valueOf)
  return {
    hours: payCodes === undefined
      ? values.some((value) => value === "hours" || value === "hoursRegular")
      : (payCodes.hours ?? payCodes.regular) !== undefined,
    cost: values.includes("cost"),
    tips: values.includes("tips") || payCodes?.tips !== undefined
  }
}

const omittedOf = (
  mapping: Mapping,
  pairs: ReadonlyArray<{ readonly state: PayrollSums; readonly previous: PayrollSums | undefined }>
): ReadonlyArray<OmittedAmount> => {
  const people = new Map<UserId, GroupSums>()
  const count = (sign: bigint, { net, ...row }: PayrollRow) => {
    const sums = people.get(row.userId) ?? nothing
    const [cost, tips] = [BigInt(row.cost) * sign, BigInt(row.tips) * sign]
    people.set(row.userId, add(sums, { ...nothing, net: millisOf(net) * sign, cost, tips }))
  }
  for (const { previous, state } of pairs) {
    for (const row of state.rows) count(1n, row)
    for (const row of previous?.rows ?? []) count(-1n, row)
  }
  const of = (part: "net" | "cost" | "tips") => {
    const amounts = Array.from(people.values(), (sums) => sums[part]).filter((amount) => amount !== 0n)
    return { people: amounts.length, sum: Number(amounts.reduce((sum, amount) => sum + amount, 0n)) }
  }
  const isIn = amountsIn(mapping)
  const [hours, cost, tips] = [of("net"), of("cost"), of("tips")]
  const all: ReadonlyArray<OmittedAmount> = [
    { ...hours, amount: "hours", sum: Duration.millis(hours.sum) },
    { ...cost, amount: "cost", sum: Cents.make(cost.sum) },
    { ...tips, amount: "tips", sum: Cents.make(tips.sum) }
  ]
  return all.filter(({ amount, people }) => !isIn[amount] && people > 0)
}

/** Exact sums: time in milliseconds, amounts in cents. */
interface GroupSums {
  readonly net: bigint
  readonly over: bigint
  readonly double: bigint
  readonly cost: bigint
  readonly tips: bigint
  readonly punches: bigint
}

const nothing: GroupSums = { net: 0n, over: 0n, double: 0n, cost: 0n, tips: 0n, punches: 0n }

const add = (one: GroupSums, other: GroupSums): GroupSums => ({
  net: one.net + other.net,
  over: one.over + other.over,
  double: one.double + other.double,
  cost: one.cost + other.cost,
  tips: one.tips + other.tips,
  punches: one.punches + other.punches
})

/** What a row has of its group: all, or what one pay code has. */
type Kind = "all" | keyof NonNullable<Mapping["payCodes"]>

/** The ids and the wage of some sums. */
interface Group {
  readonly ids: {
    readonly user?: UserId | undefined
    readonly location?: LocationId | undefined
    readonly department?: DepartmentId | undefined
    readonly role?: RoleId | undefined
  }
  readonly wage: number
}

/** A row before it is rounded: the sums of all groups with its texts. */
interface Line {
  readonly kind: Kind
  /** The texts of its cells, empty for numbers. */
  readonly texts: ReadonlyArray<string>
  /** The code of the employee, if a column has it. */
  readonly code: string | undefined
  /** Ids, wage and the place of the pay code: the least of them decides the place of the row. */
  readonly order: ReadonlyArray<number>
  readonly sums: GroupSums
}

/** A row of the file; a cell of a text has no number. */
interface FileRow extends Line {
  readonly cells: ReadonlyArray<bigint | undefined>
}

type CellTexts = (group: Group, kind: Kind, shown: PayrollSums) => Pick<Line, "texts" | "code">

/** Sums the groups of equal texts. `shown`: the state whose name and dates the texts have. */
const linesOf = (
  { by, columns, payCodes }: Mapping,
  textsOf: CellTexts,
  state: PayrollSums,
  shown: PayrollSums
): ReadonlyMap<string, Line> => {
  const lines = new Map<string, Line>()
  const kinds = payCodes === undefined ? ["all" as const] : payCodeKinds.filter((kind) => payCodes[kind] !== undefined)
  const hasRate = columns.some((column) => valueOf(column) === "rate")
  for (const { ids, sums, wage } of groupsOf(state)) {
    for (const [place, kind] of kinds.entries()) {
      const made = textsOf({ ids, wage }, kind, shown)
      const key = JSON.stringify(made.texts)
      const known = lines.get(key)
      const rate = hasRate && kind !== "tips" ? wage : undefined
      const order = [...by.map((each) => ids[each] ?? Infinity), rate ?? Infinity, place]
      lines.set(key, {
        ...made,
        kind,
        order: known !== undefined && compare(known.order, order) < 0 ? known.order : order,
        sums: add(known?.sums ?? nothing, sums)
      })
    }
  }
  return lines
}

const compare = (one: ReadonlyArray<number>, other: ReadonlyArray<number>): number => {
  const at = one.findIndex((value, index) => value !== other[index])
  return at < 0 ? 0 : (one[at] ?? 0) < (other[at] ?? 0) ? -1 : 1
}

/** The rows of a state. */
const groupsOf = ({ rows }: PayrollSums): ReadonlyArray<Group & { readonly sums: GroupSums }> =>
  rows.map((row) => ({
    ids: {
      user: row.userId,
      location: row.locationId,
      department: Option.getOrUndefined(row.departmentId),
      role: row.roleId
    },
    wage: row.hourlyWage,
    sums: {
      net: millisOf(row.net),
      over: excessOf(row.over),
      double: excessOf(row.double),
      cost: BigInt(row.cost),
      tips: BigInt(row.tips),
      punches: BigInt(row.punches)
    }
  }))

const millisOf = (duration: Duration.Duration): bigint => BigInt(Duration.toMillis(duration))

const excessOf = (excess: Option.Option<Duration.Duration>): bigint =>
  millisOf(Option.getOrElse(excess, () => Duration.zero))

/** A number of a row; `undefined` for a text, and for a number that only another row of the group has. */
const numberOf = (
  value: ColumnValue | undefined,
  kind: Kind,
  { cost, punches, tips }: GroupSums,
  hours: HourClasses
): bigint | undefined => {
  if (!isNumberValue(value)) return undefined
  if (isHourValue(value)) {
    if (kind === "tips") return undefined
    return { hours: sumOfHours(hours), ...hours }[kind === "all" ? hourValues[value] : kind]
  }
  switch (value) {
    case "amount":
      return kind === "tips" ? tips : undefined
    case "cost":
      return cost
    case "tips":
      return tips
    case "punches":
      return punches
  }
}

/** Makes the texts of rows, and notes what is wrong with them. */
const makeTexts = (mapping: Mapping, { getCode, getName }: PayrollCodes) => {
  const missing = new Map<string, MissingCodes["missing"][number]>()
  const used = new Map<string, UsedCode>()
  const formulas = new Map<string, string>()
  const users = new Map<string, Set<UserId>>()
  const guard = (path: string, text: string): string => {
    if (mapping.formulas !== "keep" && csvCell(text) !== text) formulas.set(path, text)
    return text
  }
  for (const [at, line] of (mapping.preamble ?? []).entries()) guard(`preamble[${at}]`, line)
  for (const [at, column] of mapping.columns.entries()) {
    guard(`columns[${at}].header`, column.header)
    if ("constant" in column) guard(`columns[${at}].constant`, column.constant)
  }

  const idText = (kind: CodeKind, form: "code" | "name" | "id", id: number): string => {
    if (form === "id") return `${id}`
    if (form === "name") return guard(`the name of ${kind} ${id}`, getName?.(kind, id) ?? "")
    const code = getCode(kind, id) ?? ""
    if (code === "") missing.set(`${kind} ${id}`, { kind, id })
    else used.set(`${kind} ${id}`, { kind, id, code })
    return guard(`the code of ${kind} ${id}`, code)
  }

  const of: CellTexts = ({ ids, wage }, kind, shown) => {
    let code: string | undefined
    const texts = mapping.columns.map((column) => {
      if ("constant" in column) return column.constant
      const { format, value } = column
      if (isIdValue(value)) {
        const [of, form] = idValues[value]
        const id = ids[of]
        const text = id === undefined ? "" : idText(of, form, id)
        if (value === "userCode") code = text
        return text
      }
      if (isNumberValue(value)) return ""
      switch (value) {
        case "payCode":
          return kind === "all" ? "" : mapping.payCodes?.[kind] ?? ""
        case "rate":
          return kind === "tips" ? "" : fraction(BigInt(wage), 100n, mapping.decimal ?? defaults.decimal)
        case "revisionId":
          return shown.id ?? ""
        case "periodStart":
          return dateText(shown.first, format)
        case "periodEnd":
          return dateText(shown.last, format)
        case "payDate":
          return shown.payDate === undefined ? "" : dateText(shown.payDate, format)
      }
    })
    if (code !== undefined && ids.user !== undefined) users.set(code, (users.get(code) ?? new Set()).add(ids.user))
    return { texts, code }
  }

  return {
    of,
    failure: (): MissingCodes | FormulaText | undefined => {
      const [formula] = formulas
      return missing.size > 0
        ? new MissingCodes({ missing: [...missing.values()].toSorted(byKindAndId) })
        : formula === undefined
        ? undefined
        : new FormulaText({ path: formula[0], text: formula[1] })
    },
    usedCodes: () => [...used.values()].toSorted(byKindAndId),
    /** Users of one code are one employee in the file. */
    sharedCodes: () =>
      Array.from(users, ([code, userIds]) => ({ code, userIds: [...userIds].toSorted((a, b) => a - b) }))
        .filter(({ userIds }) => userIds.length > 1)
  }
}

const byKindAndId = (one: Omit<UsedCode, "code">, other: Omit<UsedCode, "code">): number =>
  CodeKind.literals.indexOf(one.kind) - CodeKind.literals.indexOf(other.kind) || one.id - other.id

const dateText = (date: BusinessDate, format: DateFormat = defaultFormat): string => {
  const [year = "", month = "", day = ""] = date.split("-")
  const parts = { YYYY: year, YY: year.slice(2), MM: month, DD: day, M: `${Number(month)}`, D: `${Number(day)}` }
  return format.replace(
    /YYYY|YY|MM|DD|M|D/g,
    (part) => Object.entries(parts).find(([name]) => name === part)?.[1] ?? ""
  )
}

/** The milliseconds of one unit in which hours are counted. */
const hourUnits = { "decimal:2": 36_000, "decimal:4": 360, "h:mm": 60_000, minutes: 60_000, seconds: 1000 } as const

const numberText = ({ decimal = defaults.decimal, hours }: Mapping, column: Column, cell: bigint): string => {
  const value = valueOf(column)
  if (isAmountValue(value)) return amountForms[value] === "count" ? `${cell}` : fraction(cell, 100n, decimal)
  switch (hours) {
    case "decimal:2":
      return fraction(cell, 100n, decimal)
    case "decimal:4":
      return fraction(cell, 10_000n, decimal)
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
  const { columns, encoding, header, lineEnd, preamble, quote, separator } = { ...defaults, ...mapping }
  const quoted = (text: string): string =>
    quote === "always" || text.includes(separator) || /["\r\n]/.test(text) ? `"${text.replaceAll("\"", "\"\"")}"` : text
  const titles = header ? [columns.map((column) => column.header)] : []
  const lines = [...preamble, ...[...titles, ...records].map((cells) => cells.map(quoted).join(separator))]
  return `${encoding === "utf-8-bom" ? "\uFEFF" : ""}${lines.map((line) => `${line}${lineEnd}`).join("")}`
}
