/** Sums of a pay period as the file that a payroll program takes, by a mapping of the user: its columns, codes and rounding. */
import * as Arr from "effect/Array"
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
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
  type TextRow,
  type UsedCode,
  type UsedText
} from "./fileTexts.ts"
import { addHours, apportionHours, type HourClasses, roundHours, sumOfHours, total } from "./hourUnits.ts"
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
import { refusalOf } from "./options.ts"
import { encodeChecks, type EncodeOptions, idsOf, type PayrollRow, type PayrollSums } from "./PayrollSums.ts"
import { divide } from "./Rounding.ts"

export { UnfitCell } from "./fileLayout.ts"
export { FormulaText, type IdText, MissingCodes, UsedCode, type UsedText } from "./fileTexts.ts"
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
export {
  type EncodeOptions,
  type PayrollCodes,
  type PayrollRow,
  type PayrollSums,
  type StatePair
} from "./PayrollSums.ts"

/** Why sums have no file by a mapping. */
export type EncodeError = InvalidRequest | MappingError | MissingCodes | FormulaText | UnfitCell

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
    const { also = [] } = options
    yield* failedWith(refusalOf(options, encodeChecks))
    // Untyped code may pass a mapping that was not decoded: a word that is none would round down.
    yield* decodeMapping(mapping)
    yield* failedWith(misfitsOf(mapping, options).next().value)
    const texts = makeTexts(mapping, options)
    const states = [options, ...also].flatMap(({ previous, state }) =>
      Arr.prepend(Option.toArray(previous), state).map(({ rows }, at): Signed => ({ rows, sign: at === 0 ? 1n : -1n }))
    )
    const lines = states.flatMap((state) => linesOf(mapping, texts.of, state))
    yield* failedWith(texts.missing() ?? mergedIds(mapping, lines) ?? texts.formula())
    const rows = rowsOf(mapping, lines)
    return {
      ...yield* textOf(mapping, fileLines(mapping, rows, texts.cellText)),
      rows: rows.length,
      remainders: remaindersOf(mapping, lines),
      codes: texts.codes(),
      texts: texts.texts(),
      lacking: texts.lacking(),
      sharedCodes: sharedCodesOf(mapping, lines, rows),
      omitted: omittedOf(mapping, states)
    }
  })

const failedWith = <E>(error: E | undefined): Result.Result<void, E> =>
  error === undefined ? Result.succeed(undefined) : Result.fail(error)

/** Sums, and whether they are added or taken off. */
interface Signed extends Pick<PayrollSums, "rows"> {
  readonly sign: bigint
}

/** What some sums have of a row of the file: those with its texts. */
interface Line extends TextRow, Signed {
  readonly kind: Kind
  /** Ids, wage and the place of the pay code: the least of them decides the place of the row. */
  readonly order: ReadonlyArray<number>
  readonly exact: HourClasses
  /** The same in units. */
  readonly hours: HourClasses
}

/** A row of the file; a cell of a text has no number. */
interface FileRow extends Pick<Line, "kind" | "order" | "texts"> {
  readonly cells: ReadonlyArray<bigint | undefined>
}

/** The lines of some sums. */
const linesOf = (
  mapping: Mapping,
  textsOf: (row: PayrollRow, kind: Kind) => ReadonlyArray<string>,
  { rows, sign }: Signed
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
  return withHours(
    mapping,
    groupsOf(all, ({ texts }) => texts).map((own) => {
      const rows = own.map(({ row }) => row)
      const order = own.map((each): Line["order"] => each.order).reduce(least)
      return { kind: own[0].kind, texts: own[0].texts, order, rows, sign, exact: addHours(rows.map(exactHours)) }
    })
  )
}

/** Hours are rounded by themselves, punch by punch, or so that those of a person add up. */
const withHours = (mapping: Mapping, lines: ReadonlyArray<Omit<Line, "hours">>): ReadonlyArray<Line> => {
  const { columns, hours, hoursOf, rounding } = mapping
  const { unit } = hourForms[hours]
  const round = (time: bigint) => divide(time, unit, rounding)
  if (addUpOf(mapping) === "row") {
    return lines.map((line) => {
      const parts = hoursOf === "punch" ? line.rows.map(exactHours) : [line.exact]
      return { ...line, hours: addHours(parts.map((each) => roundHours(each, round))) }
    })
  }
  const hasClasses = payCodesOf(mapping).has("regular") ||
    columns.some(({ value }) => isHourValue(value) && hourValues[value] !== "hours")
  const ofUser = (texts: ReadonlyArray<string>) => texts.filter((_, at) => keyOf(columns[at] ?? {}) === "user")
  return groupsOf(lines, ({ kind, texts }) => [kind, ofUser(texts)]).flatMap((own) => {
    const inOrder = own.toSorted(byOrder)
    const all = apportionHours(inOrder.map(({ exact }) => exact), unit, round, hasClasses)
    return Arr.zipWith(inOrder, all, (line, hours) => ({ ...line, hours }))
  })
}

/** The rows that are not zero in every number, in their order: all lines less those that are taken off. */
const rowsOf = ({ columns }: Mapping, lines: ReadonlyArray<Line>): ReadonlyArray<FileRow> =>
  groupsOf(lines, ({ texts }) => texts).map((own) => ({
    kind: own[0].kind,
    texts: own[0].texts,
    // Sums before place only what no other sums have.
    order: own.slice(1).reduce((known, { order, sign }) => sign < 0n ? known : least(known, order), own[0].order),
    cells: columns.map((column) => {
      const counts = own.flatMap((line) => {
        const count = numberOf(column, line, line.hours)
        return count === undefined ? [] : [line.sign * count]
      })
      return counts.length === 0 ? undefined : total(counts)
    })
  })).filter(({ cells }) => cells.some((cell) => cell !== undefined && cell !== 0n)).toSorted(byOrder)

const remaindersOf = ({ columns, hours }: Mapping, lines: ReadonlyArray<Line>): ReadonlyArray<Remainder> =>
  columns.flatMap((column, at) => {
    if (formOf(column) !== "hours") return []
    const countOf = (line: Line, own: HourClasses) => numberOf(column, line, own) ?? 0n
    const left = lines.filter(({ kind }) => kind !== "tips").map((line) =>
      line.sign * (countOf(line, line.exact) - countOf(line, line.hours) * hourForms[hours].unit)
    )
    return [{ header: column.header ?? `column ${at + 1}`, remainder: Duration.millis(Number(total(left))) }]
  })

/** A number of a row; `undefined` for a text, and for a number that only another row of the group has. */
const numberOf = ({ value }: Column, { kind, rows }: Line, hours: HourClasses): bigint | undefined => {
  const sumOf = (name: "cost" | "punches" | "tips") => total(rows.map((row) => BigInt(row[name])))
  if (kind === "tips") return value === "amount" || value === "quantity" ? sumOf("tips") : undefined
  if (isHourValue(value)) return { hours: sumOfHours(hours), ...hours }[kind === "all" ? hourValues[value] : kind]
  return isNumberValue(value) && value !== "amount" ? sumOf(value) : undefined
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

const byOrder = (one: Pick<Line, "order">, other: Pick<Line, "order">): number => compare(one.order, other.order)

/** The lines of a file: those before the titles, the titles, the rows, and those behind them. */
const fileLines = (
  mapping: Mapping,
  rows: ReadonlyArray<FileRow>,
  cellText: (column: Column) => string | undefined
): ReadonlyArray<FileLine> => {
  const { by, columns, header = true } = mapping
  /** A number of a line is the sum of the cells of all columns with its value. */
  const sumText = (column: Column): string => {
    const { kind, value } = column
    const cells = rows.filter((row) => value !== "quantity" || (row.kind === "tips") === (kind === "amount"))
      .flatMap((row) => row.cells.flatMap((cell, at) => columns[at]?.value === value ? [cell ?? 0n] : []))
    return numberText(mapping, column, value === "rows" ? BigInt(rows.length) : total(cells), kind === "amount")
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
    ...rows.map(({ cells, kind, order, texts }, row): FileLine => ({
      place: `row ${row + 1}`,
      ids: by.flatMap((key, at) => key !== "day" && order[at] !== Infinity ? [`${key} ${order[at]}`] : []).join(", "),
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
  const codeOf = ({ texts }: Pick<TextRow, "texts">) => texts[at]
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
  const has = (value: Column["value"]) => mapping.columns.some((column) => column.value === value)
  const codes = payCodesOf(mapping)
  const isIn = {
    hours: codes.size === 0 ? has("hours") || has("hoursRegular") : codes.has("hours") || codes.has("regular"),
    cost: has("cost"),
    tips: has("tips") || codes.has("tips")
  }
  return (["hours", "cost", "tips"] as const).flatMap((amount): ReadonlyArray<OmittedAmount> => {
    const all = new Map<UserId, number>()
    for (const { rows, sign } of states) {
      for (const { userId, net, ...row } of rows) {
        const own = amount === "hours" ? Duration.toMillis(net) : row[amount]
        all.set(userId, (all.get(userId) ?? 0) + Number(sign) * own)
      }
    }
    const amounts = [...all.values()].filter((own) => own !== 0)
    const people = amounts.length
    const sum = amounts.reduce((one, other) => one + other, 0)
    if (isIn[amount] || people === 0 || mapping.leaves?.includes(amount) === true) return []
    return [
      amount === "hours" ? { amount, people, sum: Duration.millis(sum) } : { amount, people, sum: Cents.make(sum) }
    ]
  })
}
