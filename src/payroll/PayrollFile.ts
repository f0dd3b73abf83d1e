/** Sums of a pay period as the file that a payroll program takes, by a mapping of the user: its columns, codes and rounding. */
import * as Arr from "effect/Array"
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type { InvalidRequest } from "../ApiError.ts"
import { Cents, type UserId } from "../Ids.ts"
import { type FileLine, hourForms, numberText, textOf, type UnfitCell } from "./fileLayout.ts"
import {
  type FormulaText,
  groupsOf,
  type IdText,
  makeTexts,
  mergedIds,
  type MissingCodes,
  type PayrollCodes,
  type TextRow,
  type UsedCode,
  type UsedText
} from "./fileTexts.ts"
import { addHours, apportionHours, type HourClasses, roundHours, sumOfHours } from "./hourUnits.ts"
import {
  addUpOf,
  cellLists,
  type Column,
  formOf,
  hourValues,
  isHourValue,
  isNumberValue,
  keyOf,
  type Kind,
  type Mapping,
  type MappingError,
  payCodesOf
} from "./mapping.ts"
import { decodeMapping, misfitsOf } from "./mappingRules.ts"
import { type Checks, each, must, optional, refusalOf, type Wrong, wrong } from "./options.ts"
import { idsOf, type PayrollRow, type PayrollSums } from "./PayrollSums.ts"
import { divide } from "./Rounding.ts"

export { UnfitCell } from "./fileLayout.ts"
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
export { decodeMapping } from "./mappingRules.ts"
export { type PayrollRow, type PayrollSums } from "./PayrollSums.ts"

/** Why sums have no file by a mapping. */
export type EncodeError = InvalidRequest | MappingError | MissingCodes | FormulaText | UnfitCell

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
): Result.Result<PayrollFile, EncodeError> =>
  Result.gen(function*() {
    const { also = [], codes, set = {}, state: shown } = options
    yield* failedWith(refusalOf(options, encodeChecks))
    // Untyped code may pass a mapping that was not decoded: a word that is none would round down.
    yield* decodeMapping(mapping)
    const pairs = [options, ...also].map(({ previous, state }) => Arr.prepend(Option.toArray(previous), state))
    for (const pair of pairs) {
      const given = { payDate: shown.payDate, fields: codes.fields ?? [], set: Object.keys(set) }
      yield* failedWith(misfitsOf(mapping, pair, given).next().value)
    }
    // The texts of all sums are those of the first: only numbers differ.
    const texts = makeTexts(mapping, codes, set, shown)
    const states = pairs.flatMap((pair) =>
      pair.map(({ rows }, at): Signed => ({ sign: at === 0 ? 1n : -1n, rows, lines: linesOf(mapping, texts.of, rows) }))
    )
    const lines = states.flatMap((each) => each.lines)
    yield* failedWith(texts.missing() ?? mergedIds(mapping, lines) ?? texts.formula())
    const { records, remainders } = recordsOf(mapping, states)
    const rows = records.filter(({ cells }) => cells.some((cell) => cell !== undefined && cell !== 0n))
      .toSorted((one, other) => compare(one.order, other.order))
    return {
      ...yield* textOf(mapping, fileLines(mapping, rows, texts.cellText)),
      rows: rows.length,
      remainders,
      codes: texts.codes(),
      texts: texts.texts(),
      lacking: texts.lacking(),
      sharedCodes: sharedCodesOf(mapping, lines, rows),
      omitted: omittedOf(mapping, states)
    }
  })

const failedWith = <E>(error: E | undefined): Result.Result<void, E> =>
  error === undefined ? Result.succeed(undefined) : Result.fail(error)

/** A row before it is rounded: all sums with its texts. */
interface Line extends TextRow {
  readonly kind: Kind
  /** Ids, wage and the place of the pay code: the least of them decides the place of the row. */
  readonly order: ReadonlyArray<number>
  readonly exact: HourClasses
}

/** A row of the file; a cell of a text has no number. */
interface FileRow extends Line {
  readonly cells: ReadonlyArray<bigint | undefined>
}

/** Sums, and whether they are added or taken off. */
interface Signed extends Pick<PayrollSums, "rows"> {
  readonly sign: bigint
  readonly lines: ReadonlyArray<Line>
}

/** The sums of equal texts. */
const linesOf = (
  mapping: Mapping,
  textsOf: (row: PayrollRow, kind: Kind) => ReadonlyArray<string>,
  rows: ReadonlyArray<PayrollRow>
): ReadonlyArray<Line> => {
  const { by, columns, payCodes } = mapping
  const kinds = payCodes === undefined ? ["all" as const] : [...payCodesOf(mapping).keys()]
  const hasRate = columns.some(({ value }) => value === "rate")
  const all = rows.flatMap((row) =>
    kinds.map((kind, place) => {
      const { day = "", ...ids } = idsOf(row)
      const order = by.map((key) => key === "day" ? Date.parse(day) : ids[key] ?? Infinity)
      const wage = hasRate && kind !== "tips" ? row.hourlyWage : Infinity
      return { kind, row, texts: textsOf(row, kind), order: [...order, wage, place] }
    })
  )
  return groupsOf(all, ({ texts }) => texts).map((own) => {
    const ofTexts = own.map(({ row }) => row)
    const { kind, texts } = own[0]
    const order = own.map((each): Line["order"] => each.order).reduce(least)
    return { kind, texts, order, rows: ofTexts, exact: addHours(ofTexts.map(exactHours)) }
  })
}

/** The rows of all lines less those that are taken off, and what rounding left out of each column of hours. */
const recordsOf = (mapping: Mapping, states: ReadonlyArray<Signed>) => {
  const { unit } = hourForms[mapping.hours]
  const records = new Map<string, FileRow>()
  const remainders = mapping.columns.map(() => 0n)
  for (const { lines, sign } of states) {
    for (const [line, hours] of withHours(mapping, lines, unit)) {
      const key = JSON.stringify(line.texts)
      const known = records.get(key)
      const cells = mapping.columns.map((column, at) => {
        const cell = numberOf(column, line, hours)
        if (cell === undefined) return undefined
        if (formOf(column, line.kind === "tips") === "hours") {
          remainders[at] = (remainders[at] ?? 0n) + sign * ((numberOf(column, line, line.exact) ?? 0n) - cell * unit)
        }
        return sign * cell + (known?.cells[at] ?? 0n)
      })
      // Sums before place only what no other sums have.
      const order = known === undefined ? line.order : sign < 0n ? known.order : least(known.order, line.order)
      records.set(key, { ...line, order, cells })
    }
  }
  return {
    records: [...records.values()],
    remainders: mapping.columns.flatMap((column, at): ReadonlyArray<Remainder> =>
      formOf(column) === "hours"
        ? [{ header: column.header ?? `column ${at + 1}`, remainder: Duration.millis(Number(remainders[at])) }]
        : []
    )
  }
}

/** Lines with their hours in units: rounded by themselves, punch by punch, or so that those of a person add up. */
const withHours = (
  mapping: Mapping,
  lines: ReadonlyArray<Line>,
  unit: bigint
): ReadonlyArray<readonly [Line, HourClasses]> => {
  const round = (time: bigint) => divide(time, unit, mapping.rounding)
  if (addUpOf(mapping) === "row") {
    return lines.map((line) => {
      const parts = mapping.hoursOf === "punch" ? line.rows.map(exactHours) : [line.exact]
      return [line, addHours(parts.map((each) => roundHours(each, round)))]
    })
  }
  const { columns } = mapping
  const hasClasses = payCodesOf(mapping).has("regular") ||
    columns.some(({ value }) => isHourValue(value) && hourValues[value] !== "hours")
  const ofUser = (line: Line) => [line.kind, line.texts.filter((_, at) => keyOf(columns[at] ?? {}) === "user")]
  return groupsOf(lines, ofUser).flatMap((own) => {
    const rows = own.toSorted((one, other) => compare(one.order, other.order))
    return Arr.zip(rows, apportionHours(rows.map(({ exact }) => exact), unit, round, hasClasses))
  })
}

/** A number of a row; `undefined` for a text, and for a number that only another row of the group has. */
const numberOf = ({ value }: Column, { kind, rows }: Line, hours: HourClasses): bigint | undefined => {
  const sumOf = (name: "cost" | "punches" | "tips") => rows.reduce((sum, row) => sum + BigInt(row[name]), 0n)
  if (kind === "tips") return value === "amount" || value === "quantity" ? sumOf("tips") : undefined
  if (isHourValue(value)) return { hours: sumOfHours(hours), ...hours }[kind === "all" ? hourValues[value] : kind]
  return value === "cost" || value === "punches" || value === "tips" ? sumOf(value) : undefined
}

const exactHours = (row: PayrollRow): HourClasses => {
  const over = excessOf(row.over)
  const double = excessOf(row.double)
  return { regular: millisOf(row.net) - over - double, over, double }
}

const millisOf = (duration: Duration.Duration): bigint => BigInt(Duration.toMillis(duration))

const excessOf = (excess: Option.Option<Duration.Duration>): bigint =>
  millisOf(Option.getOrElse(excess, () => Duration.zero))

/** The lesser order. */
const least = (one: Line["order"], other: Line["order"]): Line["order"] => compare(one, other) < 0 ? one : other

const compare = (one: Line["order"], other: Line["order"]): number => {
  const at = one.findIndex((value, index) => value !== other[index])
  return at < 0 ? 0 : (one[at] ?? 0) < (other[at] ?? 0) ? -1 : 1
}

/** The lines of a file: those before the titles, the titles, the rows, and those behind them. */
const fileLines = (
  mapping: Mapping,
  rows: ReadonlyArray<FileRow>,
  cellText: (column: Column) => string | undefined
): ReadonlyArray<FileLine> => {
  const { columns, header = true } = mapping
  /** A number of a line is the sum of the cells of all columns with its value. */
  const sumText = (column: Column): string => {
    const { kind, value } = column
    const cells = rows.filter((row) => value !== "quantity" || (row.kind === "tips") === (kind === "amount"))
      .flatMap((row) => row.cells.filter((_, at) => columns[at]?.value === value))
    const sum = cells.reduce<bigint>((all, cell) => all + (cell ?? 0n), 0n)
    return numberText(mapping, column, value === "rows" ? BigInt(rows.length) : sum, kind === "amount")
  }
  const around = (name: "preamble" | "trailer") =>
    cellLists(mapping).filter((list) => list.name === name).map(({ cells, path, text }): FileLine => ({
      place: path,
      cells: text === undefined ? cells.map((cell) => [cell, cellText(cell) ?? sumText(cell)]) : [[undefined, text]]
    }))
  const titles: FileLine = {
    place: "the titles",
    cells: columns.map(({ header = "", value, width }) => {
      // A title is a text, whatever its column has.
      const align = isNumberValue(value) && { align: "right" as const }
      return [{ constant: header, ...width !== undefined && { width }, ...align }, header]
    })
  }
  return [
    ...around("preamble"),
    ...header ? [titles] : [],
    ...rows.map(({ cells, kind, texts }, row): FileLine => ({
      place: `row ${row + 1}`,
      cells: columns.map((column, at) => {
        const cell = cells[at]
        return [column, cell === undefined ? texts[at] ?? "" : numberText(mapping, column, cell, kind === "tips")]
      })
    })),
    ...around("trailer")
  ]
}

/** Users of one code are one employee in the file. */
const sharedCodesOf = (
  { columns }: Mapping,
  lines: ReadonlyArray<Line>,
  rows: ReadonlyArray<FileRow>
): ReadonlyArray<SharedCode> => {
  const at = columns.findIndex(({ value }) => value === "userCode")
  const codeOf = ({ texts }: TextRow) => texts[at]
  return groupsOf(lines, (line) => [codeOf(line)]).flatMap((own) => {
    const code = codeOf(own[0])
    const userIds = [...new Set(own.flatMap((line) => line.rows.map(({ userId }) => userId)))]
    if (code === undefined || userIds.length < 2) return []
    return [{
      code,
      userIds: userIds.toSorted((one, other) => one - other),
      rows: rows.flatMap((row, at) => codeOf(row) === code ? [at + 1] : [])
    }]
  })
}

/** The amounts that no column has: `decodeMapping` has refused pay codes without their column. */
const omittedOf = (mapping: Mapping, states: ReadonlyArray<Signed>): ReadonlyArray<OmittedAmount> => {
  const totalOf = (amountOf: (row: PayrollRow) => number) => {
    const all = new Map<UserId, number>()
    for (const { rows, sign } of states) {
      for (const row of rows) all.set(row.userId, (all.get(row.userId) ?? 0) + Number(sign) * amountOf(row))
    }
    const amounts = [...all.values()].filter((amount) => amount !== 0)
    return { people: amounts.length, sum: amounts.reduce((sum, amount) => sum + amount, 0) }
  }
  const has = (value: Column["value"]) => mapping.columns.some((column) => column.value === value)
  const codes = payCodesOf(mapping)
  const hours = totalOf(({ net }) => Duration.toMillis(net))
  const [cost, tips] = [totalOf((row) => row.cost), totalOf((row) => row.tips)]
  const isIn = {
    hours: codes.size === 0 ? has("hours") || has("hoursRegular") : codes.has("hours") || codes.has("regular"),
    cost: has("cost"),
    tips: has("tips") || codes.has("tips")
  }
  const all: ReadonlyArray<OmittedAmount> = [
    { ...hours, amount: "hours", sum: Duration.millis(hours.sum) },
    { ...cost, amount: "cost", sum: Cents.make(cost.sum) },
    { ...tips, amount: "tips", sum: Cents.make(tips.sum) }
  ]
  return all.filter(({ amount, people }) => !isIn[amount] && people > 0 && mapping.leaves?.includes(amount) !== true)
}
