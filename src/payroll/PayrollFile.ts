/** Sums of a pay period as the file that a payroll program takes, by a mapping of the user: its columns, codes and rounding. */
import * as Arr from "effect/Array"
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type { InvalidRequest } from "../ApiError.ts"
import {
  type BusinessDate,
  Cents,
  type DepartmentId,
  type LocationId,
  type RoleId,
  type TimePunchId,
  type UserId
} from "../Ids.ts"
import { bytesOf, type FileLine, hourForms, laidOut, numberText, textOf, UnfitCell } from "./fileLayout.ts"
import {
  FormulaText,
  type Group,
  type IdText,
  isOfUser,
  type Kind,
  makeTexts,
  MissingCodes,
  type PayrollCodes,
  type UsedCode,
  type UsedText
} from "./fileTexts.ts"
import { addHours, apportionHours, exactHours, type HourClasses, noHours, roundHours, sumOfHours } from "./hourUnits.ts"
import {
  addUpOf,
  cellLists,
  type Column,
  hasHours,
  hourValues,
  isHourValue,
  isNumberValue,
  type Mapping,
  type MappingError,
  payCodeKinds,
  type RowKey
} from "./mapping.ts"
import { decodeMapping, refusalOf } from "./mappingRules.ts"
import { type Checks, each, must, optional, refusalOf as optionsRefusalOf, type Wrong, wrong } from "./options.ts"
import { divide } from "./Rounding.ts"

export { FormulaText, type IdText, MissingCodes, type PayrollCodes, UsedCode, type UsedText } from "./fileTexts.ts"
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
export { decodeMapping, UnfitCell }

/** Why sums have no file by a mapping. */
export type EncodeError = InvalidRequest | MappingError | MissingCodes | FormulaText | UnfitCell

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

const encodeChecks: Checks<EncodeOptions> = {
  ...pairChecks,
  codes: must(Predicate.hasProperty("getCode"), "an object with getCode"),
  set: optional(
    must((set) => Predicate.isObject(set) && Object.values(set).every(Predicate.isString), "texts by their names")
  ),
  also: optional(each(({ previous, state }) => pairChecks.previous(previous) ?? pairChecks.state(state)))
}

/** A file, and what its reader cannot see in it. */
export interface PayrollFile {
  /** The text, with its byte order mark if the mapping has one. */
  readonly text: string
  /** The same in the encoding of the mapping: what is written. */
  readonly bytes: Uint8Array
  /** Number of rows, without titles. */
  readonly rows: number
  /** For each column of hours, the exact sum less the sum of its cells: what rounding left out. */
  readonly remainders: ReadonlyArray<Remainder>
  /** The codes that it uses, by kind and id. */
  readonly codes: ReadonlyArray<UsedCode>
  /** The further texts of ids that it uses, and the names that tell ids apart. */
  readonly texts: ReadonlyArray<UsedText>
  /** The names and further texts that an id lacks: their cells are empty. */
  readonly lacking: ReadonlyArray<IdText>
  /** Users who share a code: one employee in the file. Hours over a threshold are counted for each user alone. */
  readonly sharedCodes: ReadonlyArray<SharedCode>
  /** The hours, the cost and the tips, if a person has some and no column has them. */
  readonly omitted: ReadonlyArray<OmittedAmount>
}

/** What rounding left out of a column of hours. */
export interface Remainder {
  /** The title of the column, or `column 2` without one. */
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
): Result.Result<PayrollFile, EncodeError> => {
  const { also = [], codes, set = {}, state: shown } = options
  const invalid = optionsRefusalOf(options, encodeChecks)
  if (invalid !== undefined) return Result.fail(invalid)
  const pairs = [options, ...also].map(({ previous, state }) => Arr.prepend(Option.toArray(previous), state))
  // Untyped code may pass a mapping that was not decoded: a word that is none would round down.
  const decoded = decodeMapping(mapping)
  if (Result.isFailure(decoded)) return Result.fail(decoded.failure)
  for (const pair of pairs) {
    const refused = refusalOf(mapping, pair, {
      payDate: shown.payDate,
      fields: codes.fields ?? [],
      set: Object.keys(set)
    })
    if (refused !== undefined) return Result.fail(refused)
  }
  const cellTexts = makeTexts(mapping, codes, set, shown)
  const { unit } = hourForms[mapping.hours]
  const units = { unit, round: (time: bigint) => divide(time, unit, mapping.rounding) }
  const remainders = mapping.columns.map(() => 0n)
  const records = new Map<string, FileRow>()
  const states = pairs.flatMap((pair) => pair.map((state, at): Signed => ({ state, sign: at === 0 ? 1n : -1n })))
  // The texts of all sums are those of the first: only numbers differ.
  for (const { sign, state } of states) {
    const lines = linesOf(mapping, cellTexts.of, state, units)
    const hours = hoursOf(mapping, lines, units)
    for (const [key, line] of lines) {
      const known = records.get(key)
      const cells = mapping.columns.map((column, at) => {
        const cell = numberOf(column, line, hours.get(key) ?? noHours)
        if (cell === undefined) return undefined
        if (hasHours(column, line.kind === "tips")) {
          const exact = numberOf(column, line, exactHours(line.sums)) ?? 0n
          remainders[at] = (remainders[at] ?? 0n) + sign * (exact - cell * unit)
        }
        return sign * cell + (known?.cells[at] ?? 0n)
      })
      // Sums before place only what no other sums have.
      const order = sign < 0n && known !== undefined ? known.order : least(known, line.order)
      records.set(key, { ...line, order, cells })
    }
  }
  const rows = [...records.values()].filter(({ cells }) => cells.some((cell) => cell !== undefined && cell !== 0n))
    .toSorted((one, other) => compare(one.order, other.order))
  const fileText = fileLines(mapping, rows, cellTexts.sharedText)
  // Behind all texts, those of the lines before and behind the rows too.
  const failed = cellTexts.failure()
  if (failed !== undefined) return Result.fail(failed)
  const text = textOf(mapping, fileText)
  if (!Predicate.isString(text)) return Result.fail(text)
  return Result.succeed({
    text,
    bytes: bytesOf(mapping, text),
    rows: rows.length,
    remainders: mapping.columns.flatMap((column, at) =>
      hasHours(column)
        ? [{ header: column.header ?? `column ${at + 1}`, remainder: Duration.millis(Number(remainders[at])) }]
        : []
    ),
    codes: cellTexts.usedCodes(),
    texts: cellTexts.usedTexts(),
    lacking: cellTexts.lackingTexts(),
    sharedCodes: cellTexts.sharedCodes().map(({ code, userIds }) => ({
      code,
      userIds,
      rows: rows.flatMap((row, at) => row.code === code ? [at + 1] : [])
    })),
    omitted: omittedOf(mapping, states)
  })
}

/** Sums, and whether they are added or taken off. */
interface Signed {
  readonly state: PayrollSums
  readonly sign: bigint
}

/** The lines of a file: those before the titles, the titles, the rows, and those behind them. */
const fileLines = (
  mapping: Mapping,
  rows: ReadonlyArray<FileRow>,
  sharedText: (column: Column) => string | undefined
): ReadonlyArray<FileLine> => {
  const { columns, header = true } = mapping
  const printed = (column: Column, cell: bigint, isAmount: boolean) =>
    laidOut(mapping, column, numberText(mapping, column, cell, isAmount))
  /** A number of a line is the sum of the cells of all columns with its value. */
  const sumText = (column: Column): string => {
    const { kind, value } = column
    if (value === "rows") return printed(column, BigInt(rows.length), false)
    if (!isNumberValue(value)) return ""
    const cells = rows.filter((row) => value !== "quantity" || (row.kind === "tips") === (kind === "amount"))
      .flatMap((row) => row.cells.filter((_, at) => columns[at]?.value === value))
    return printed(column, cells.reduce<bigint>((sum, cell) => sum + (cell ?? 0n), 0n), kind === "amount")
  }
  const around = (name: "preamble" | "trailer") =>
    cellLists(mapping).filter((list) => list.name === name).map(({ cells, path, text }): FileLine =>
      text ?? { place: path, columns: cells, cells: cells.map((cell) => sharedText(cell) ?? sumText(cell)) }
    )
  // A title is a text, whatever its column has.
  const titles = columns.map(({ header = "", value, width }) => ({
    constant: header,
    ...width !== undefined && { width },
    ...isNumberValue(value) && { align: "right" as const }
  }))
  return [
    ...around("preamble"),
    ...header ? [{ place: "the titles", columns: titles, cells: titles.map(({ constant }) => constant) }] : [],
    ...rows.map(({ cells, kind, texts }, row) => ({
      place: `row ${row + 1}`,
      columns,
      cells: columns.map((column, at) => {
        const cell = cells[at]
        return cell === undefined ? texts[at] ?? "" : printed(column, cell, kind === "tips")
      })
    })),
    ...around("trailer")
  ]
}

/** Whether a column has the hours, the cost or the tips: `problemOf` has refused pay codes without their column. */
const amountsIn = ({ columns, payCodes }: Mapping) => {
  const values = columns.map(({ value }) => value)
  return {
    hours: payCodes === undefined
      ? values.some((value) => value === "hours" || value === "hoursRegular")
      : (payCodes.hours ?? payCodes.regular) !== undefined,
    cost: values.includes("cost"),
    tips: values.includes("tips") || payCodes?.tips !== undefined
  }
}

const omittedOf = (mapping: Mapping, states: ReadonlyArray<Signed>): ReadonlyArray<OmittedAmount> => {
  const of = (amountOf: (row: PayrollRow) => bigint) => {
    const all = new Map<UserId, bigint>()
    for (const { sign, state } of states) {
      for (const row of state.rows) all.set(row.userId, (all.get(row.userId) ?? 0n) + sign * amountOf(row))
    }
    const amounts = [...all.values()].filter((amount) => amount !== 0n)
    return { people: amounts.length, sum: Number(amounts.reduce((sum, amount) => sum + amount, 0n)) }
  }
  const isIn = amountsIn(mapping)
  const [hours, cost, tips] = [
    of(({ net }) => millisOf(net)),
    of(({ cost }) => BigInt(cost)),
    of(({ tips }) => BigInt(tips))
  ]
  const all: ReadonlyArray<OmittedAmount> = [
    { ...hours, amount: "hours", sum: Duration.millis(hours.sum) },
    { ...cost, amount: "cost", sum: Cents.make(cost.sum) },
    { ...tips, amount: "tips", sum: Cents.make(tips.sum) }
  ]
  return all.filter(({ amount, people }) => !isIn[amount] && people > 0 && mapping.leaves?.includes(amount) !== true)
}

/** Exact sums: time in milliseconds, amounts in cents. */
interface GroupSums {
  readonly net: bigint
  readonly over: bigint
  readonly double: bigint
  readonly cost: bigint
  readonly tips: bigint
  readonly punches: bigint
  /** The hours of each row, rounded alone. */
  readonly units: HourClasses
}

const add = (one: GroupSums, other: GroupSums): GroupSums => ({
  net: one.net + other.net,
  over: one.over + other.over,
  double: one.double + other.double,
  cost: one.cost + other.cost,
  tips: one.tips + other.tips,
  punches: one.punches + other.punches,
  units: addHours(one.units, other.units)
})

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

/** Sums the rows of equal texts. */
const linesOf = (
  { by, columns, payCodes }: Mapping,
  textsOf: ReturnType<typeof makeTexts>["of"],
  state: PayrollSums,
  { round }: Units
): ReadonlyMap<string, Line> => {
  const lines = new Map<string, Line>()
  const kinds = payCodes === undefined ? ["all" as const] : payCodeKinds.filter((kind) => payCodes[kind] !== undefined)
  const hasRate = columns.some(({ value }) => value === "rate")
  for (const row of state.rows) {
    const ids: Group["ids"] = {
      user: row.userId,
      location: row.locationId,
      department: Option.getOrUndefined(row.departmentId),
      role: row.roleId,
      day: row.date
    }
    const times = { net: millisOf(row.net), over: excessOf(row.over), double: excessOf(row.double) }
    const amounts = { cost: BigInt(row.cost), tips: BigInt(row.tips), punches: BigInt(row.punches) }
    const sums = { ...times, ...amounts, units: roundHours(times, round) }
    for (const [place, kind] of kinds.entries()) {
      const made = textsOf({ ids, wage: row.hourlyWage }, kind)
      const key = JSON.stringify(made.texts)
      const known = lines.get(key)
      const placeOf = (each: RowKey) => each === "day" ? Date.parse(ids.day ?? "") : ids[each] ?? Infinity
      const order = [...by.map(placeOf), hasRate && kind !== "tips" ? row.hourlyWage : Infinity, place]
      lines.set(key, {
        ...made,
        kind,
        order: least(known, order),
        sums: known === undefined ? sums : add(known.sums, sums)
      })
    }
  }
  return lines
}

/** The hours of each line in units: rounded by themselves, punch by punch, or so that those of a person add up. */
const hoursOf = (
  mapping: Mapping,
  lines: ReadonlyMap<string, Line>,
  { round, unit }: Units
): ReadonlyMap<string, HourClasses> => {
  if (mapping.hoursOf === "punch") return new Map(Array.from(lines, ([key, { sums }]) => [key, sums.units]))
  if (addUpOf(mapping) === "row") return new Map(Array.from(lines, ([key, { sums }]) => [key, roundHours(sums, round)]))
  const { columns, payCodes } = mapping
  const hasClasses = payCodes?.regular !== undefined ||
    columns.some(({ value }) => isHourValue(value) && value !== "hours")
  const people = Arr.groupBy(
    lines,
    ([, { kind, texts }]) => JSON.stringify([kind, texts.filter((_, at) => isOfUser(columns[at] ?? {}))])
  )
  return new Map(
    Object.values(people).flatMap((own) => {
      const rows = own.toSorted(([, one], [, other]) => compare(one.order, other.order))
      const hours = apportionHours(rows.map(([, { sums }]) => sums), unit, round, hasClasses)
      return rows.map(([key], at) => [key, hours[at] ?? noHours] as const)
    })
  )
}

/** In which unit hours are written, and how a time is rounded to it. */
interface Units {
  readonly unit: bigint
  readonly round: (time: bigint) => bigint
}

const compare = (one: ReadonlyArray<number>, other: ReadonlyArray<number>): number => {
  const at = one.findIndex((value, index) => value !== other[index])
  return at < 0 ? 0 : (one[at] ?? 0) < (other[at] ?? 0) ? -1 : 1
}

/** The lesser order. */
const least = (known: Line | undefined, order: Line["order"]): Line["order"] =>
  known !== undefined && compare(known.order, order) < 0 ? known.order : order

const millisOf = (duration: Duration.Duration): bigint => BigInt(Duration.toMillis(duration))

const excessOf = (excess: Option.Option<Duration.Duration>): bigint =>
  millisOf(Option.getOrElse(excess, () => Duration.zero))

/** A number of a row; `undefined` for a text, and for a number that only another row of the group has. */
const numberOf = (
  { value }: Column,
  { kind, sums: { cost, punches, tips } }: Line,
  classes: HourClasses
): bigint | undefined => {
  if (!isNumberValue(value)) return undefined
  if (kind === "tips") return value === "amount" || value === "quantity" ? tips : undefined
  const hours = { hours: sumOfHours(classes), ...classes }
  if (isHourValue(value)) return hours[kind === "all" ? hourValues[value] : kind]
  return { amount: undefined, quantity: kind === "all" ? undefined : hours[kind], cost, punches, tips }[value]
}
