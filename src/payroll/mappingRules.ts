/** What a mapping of a payroll file must keep: its form, columns that do not contradict each other, and what the sums have. */
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { meantWord, unknownKey } from "../internal/text/meant.ts"
import { firstIssue } from "../internal/wire/issue.ts"
import { alignOf, laidOut } from "./fileLayout.ts"
import {
  addUpOf,
  amountForms,
  type CellList,
  cellLists,
  Column,
  type ColumnValue,
  defaults,
  hasHours,
  hourValues,
  idTextOf,
  idValues,
  isAmountValue,
  isDateValue,
  isHourValue,
  isIdValue,
  isNumberValue,
  isOneOf,
  Mapping,
  MappingError,
  payCodeKinds,
  payCodeTexts,
  type RowKey,
  sources
} from "./mapping.ts"

/**
 * Parses and validates a mapping, such as what `JSON.parse` returned. Fails for a key that no mapping has, and for columns that
 * contradict each other.
 */
export const decodeMapping = (input: unknown): Result.Result<Mapping, MappingError> =>
  Result.flatMap(
    Result.mapError(decode(input), (error) => {
      const { at, detail, path } = firstIssue(error)
      return new MappingError({ path, detail: clearDetail(input, at, detail) })
    }),
    (mapping) => {
      const problem = problemOf(mapping)
      return problem === undefined ? Result.succeed(mapping) : Result.fail(problem)
    }
  )

/** What is wrong there in words: a key or a word where it does not belong, or a number in place of a text. */
const clearDetail = (input: unknown, at: ReadonlyArray<PropertyKey>, detail: string): string => {
  let found = input
  for (const key of at) found = Predicate.hasProperty(found, key) ? found[key] : undefined
  const key = `${String(at.at(-1))}`
  const ofColumn = at.length > 1 && at[0] !== "payCodes"
  const ofMapping = at.length > 1 ? payCodeKinds : mappingKeys
  const [own, others] = ofColumn ? [columnKeys, mappingKeys] : [ofMapping, columnKeys]
  if (detail === "Expected no excess property") {
    return others.includes(key)
      ? `${key} belongs to ${ofColumn ? "the mapping itself" : "a column"}`
      : `${key} ${unknownKey(key, own, "a key")}`
  }
  if (detail === "Expected string" && Predicate.isNumber(found)) return `it is a text: write it in quotes, "${found}"`
  if (!Predicate.isString(found) || !detail.startsWith("Expected \"")) return detail
  const meant = columnKeys.includes(found) ? `: ${found} is a key of a column.` : meantWord(found, detail)
  return `${JSON.stringify(found)} is none of the values${meant === "" ? "." : meant} ${detail}`
}

const columnKeys: ReadonlyArray<string> = Object.keys(Column.fields)
const mappingKeys: ReadonlyArray<string> = Object.keys(Mapping.fields)

const decode = Schema.decodeUnknownResult(Mapping, { onExcessProperty: "error" })

/** Of a place, what would be wrong there, and whether it is. */
type Refusal = readonly [path: string, whys: Readonly<Record<string, boolean>>]
type Refusals = ReadonlyArray<Refusal>

const firstOf = (refusals: Refusals): MappingError | undefined => {
  for (const [path, whys] of refusals) {
    const detail = Object.keys(whys).find((why) => whys[why])
    if (detail !== undefined) return new MappingError({ path, detail })
  }
  return undefined
}

/** Whether a decimal sign stands in its cells. */
const hasFraction = (column: Column, { hours }: Mapping): boolean =>
  column.value === "rate" || column.value === "quantity" ||
  (isAmountValue(column.value) && amountForms[column.value] === "money") ||
  (hasHours(column) && hours.startsWith("decimal"))

/** The keys of a column that go with some sources only: with which, in words. */
const layoutRules: ReadonlyArray<
  readonly [key: keyof Column, goesWith: string, fits: (column: Column, mapping: Mapping) => boolean]
> = [
  ["field", "of", ({ of }) => of !== undefined],
  ["format", "a date", ({ value }) => isDateValue(value)],
  [
    "digits",
    "an amount, a rate or decimal hours",
    (column, mapping) =>
      hasFraction(column, mapping) && !(column.digits === 2 && mapping.hours === "decimal:4" && hasHours(column))
  ],
  ["zero", "a number", ({ value }) => isNumberValue(value) || value === "rows"],
  ["align", "width", ({ width }) => width !== undefined],
  ["pad", "width", ({ width }) => width !== undefined],
  [
    "required",
    "a name or a field",
    ({ of, value }) => (of !== undefined && of !== "payCode") || (isIdValue(value) && idValues[value][1] === "name")
  ]
]

/** What is wrong with a column alone, or with a cell of a line. */
const columnRefusals = (column: Column, path: string, mapping: Mapping): Refusals => {
  const { field, of, pad, value, width } = column
  const given = sources.filter((key) => column[key] !== undefined)
  const isOpen = mapping.decimal === "" && hasFraction(column, mapping) && width === undefined
  return [
    [path, { [`it has no source: ${sources.join(", ")}`]: given.length === 0 }],
    [`${path}.${given[1]}`, { [`a column has one source, and this one has ${given[0]} too`]: given.length > 1 }],
    [`${path}.of`, { "it needs field: which further text": of !== undefined && field === undefined }],
    ...layoutRules.map(([key, goesWith, fits]): Refusal => {
      const why = key === "format"
        ? `only dates have a format, and ${value ?? given[0]} is none`
        : `${key} goes with ${goesWith}`
      return [`${path}.${key}`, { [why]: column[key] !== undefined && !fits(column, mapping) }]
    }),
    [`${path}.pad`, {
      "zeros behind a text change what it says: write \"align\": \"right\"": pad === "0" && alignOf(column) === "left"
    }],
    [`${path}.width`, { "without a decimal sign, a number with a fraction needs a width": isOpen }]
  ]
}

/** What is wrong with cells beside each other: two values without a width and a separator are one text. */
const sideBySide = ({ cells, path }: CellList): Refusals => {
  const shown = [...cells.entries()].filter(([, { constant }]) => constant !== "")
  const isOpen = (turn: number) => {
    const column = shown[turn]?.[1]
    return column !== undefined && column.constant === undefined && column.width === undefined
  }
  const why = "without a separator, one of two values side by side needs a width"
  return shown.map(([at], turn) => [`${path}[${at}].width`, { [why]: isOpen(turn) && isOpen(turn - 1) }])
}

/** Numbers that a row of a pay code may have. */
const isOfPayCode = isOneOf(["hours", "amount", "quantity"])

/** What contradicts itself in a mapping. */
const problemOf = (mapping: Mapping): MappingError | undefined => {
  const { by, columns, decimal, header, payCodes, quote, separator } = { ...defaults, ...mapping }
  const values = columns.map(({ value }) => value)
  const has = (value: ColumnValue) => values.includes(value)
  const { double, hours, over, regular, tips } = payCodes ?? {}
  const codes = payCodeKinds.flatMap((kind) => {
    const code = payCodes?.[kind]
    return code === undefined ? [] : [{ kind, texts: payCodeTexts(code) }]
  })
  const payCodeColumns = columns.filter(({ of, value }) => of === "payCode" || value === "payCode")
  /** What the columns print of a pay code. */
  const printedOf = (texts: ReadonlyMap<string, string>) =>
    JSON.stringify(payCodeColumns.map((column) => laidOut(mapping, column, texts.get(column.field ?? "code") ?? "")))
  // A key that no column shows would merge its ids. Names and fields that are equal are found with the ids.
  const isShown = (key: RowKey) => key === "day" ? has("date") : columns.some((column) => idTextOf(column)?.[0] === key)
  const [, ...lines] = cellLists(mapping)
  return firstOf([
    ...by.map((each, at): Refusal => [`by[${at}]`, { [`${each} is there twice`]: by.indexOf(each) !== at }]),
    ...columns.flatMap((column, at): Refusals => {
      const { field, kind: sum, of, value } = column
      const path = `columns[${at}].value`
      const kind = isIdValue(value) ? idValues[value][0] : of === "payCode" ? undefined : of
      const place = of === undefined ? path : `columns[${at}].of`
      const isOfCode = value === "payCode" || value === "amount" || value === "quantity" || of === "payCode"
      const isTwice = payCodes !== undefined && isNumberValue(value) && !isOfPayCode(value)
      return columnRefusals(column, `columns[${at}]`, mapping).concat([
        [`columns[${at}].header`, {
          "it has no title, and header is not false": column.header === undefined && header
        }],
        [`columns[${at}].kind`, { "kind is for a sum in a line before or behind the rows": sum !== undefined }],
        [path, { "rows is for a line before or behind the rows": value === "rows" }],
        [place, { [`${value ?? field} needs ${kind} in by`]: kind !== undefined && !by.includes(kind) }],
        [path, { "date needs day in by": value === "date" && !by.includes("day") }],
        [place, { [`${value ?? field} needs payCodes`]: payCodes === undefined && isOfCode }],
        [path, {
          [`${value} is not for a file with payCodes: it would stand in each of the rows of a person`]: isTwice
        }],
        ...of === "payCode" && field !== undefined
          ? codes.map(({ kind, texts }): Refusal => [`payCodes.${kind}`, {
            [`it has no ${field}, which columns[${at}] prints: add it, "" if it is empty on purpose`]: !texts.has(field)
          }])
          : []
      ])
    }),
    ...lines.flatMap(({ cells, name, path: line }) =>
      cells.flatMap((cell, at): Refusals => {
        const path = `${line}[${at}]`
        const { kind, of, value } = cell
        const isOfRow = of !== undefined || isIdValue(value) || value === "rate" || value === "payCode" ||
          value === "date"
        const isMixed = value === "quantity" && kind === undefined
        return [
          ...columnRefusals(cell, path, mapping),
          [path, { [`${of ?? value} is of one row, and ${name} has no row`]: isOfRow }],
          [`${path}.value`, {
            [`no column has ${value}, so it has no sum`]: isNumberValue(value) && !has(value),
            "hours and money have no sum: add \"kind\": \"hours\" or \"amount\"": isMixed
          }],
          [`${path}.kind`, { "kind goes with quantity": kind !== undefined && value !== "quantity" }]
        ]
      })
    ),
    ...separator === "" ? cellLists(mapping).flatMap(sideBySide) : [],
    ...by.map((each, at): Refusal => {
      const why = each === "day"
        ? "no column has the date"
        : `no column has a code, an id, a name or a field of the ${each}`
      return [`by[${at}]`, { [why]: !isShown(each) }]
    }),
    ["columns", { "none has a number": !values.some(isNumberValue) }],
    ["addUp", { "user needs user in by": mapping.addUp === "user" && !by.includes("user") }],
    ["hoursOf", {
      "punches add up to no rounded sum of a person: write \"addUp\": \"row\"": mapping.hoursOf === "punch" &&
        addUpOf(mapping) === "user"
    }],
    ["columns", {
      "hoursRegular needs hoursOver: the hours over the threshold would be in no column": has("hoursRegular") &&
        !has("hoursOver")
    }],
    ["separator", {
      "it is the decimal sign too: the numbers need \"quote\": \"always\"": separator === decimal && separator !== "" &&
        quote !== "always"
    }],
    ...payCodes === undefined ? [] : [
      ["payCodes", {
        "it has no code": codes.length === 0,
        "regular and over go together: the hours of one alone are not all hours":
          (regular === undefined) !== (over === undefined),
        "double goes with regular and over": double !== undefined && over === undefined,
        "hours are all hours, so that regular and over would pay them twice": hours !== undefined &&
          regular !== undefined
      }],
      ["columns", { "none has the payCode": payCodeColumns.length === 0 }],
      ...codes.map(({ kind, texts }, at): Refusal => {
        const same = codes.slice(0, at).find((other) => printedOf(other.texts) === printedOf(texts))
        return [`payCodes.${kind}`, { [`no column tells it from ${same?.kind}`]: same !== undefined }]
      }),
      ["columns", {
        "payCodes has hours, and no column has them": (hours ?? regular) !== undefined && !has("hours") &&
          !has("quantity"),
        "payCodes has tips, and no column has the amount": tips !== undefined && !has("amount") && !has("quantity")
      }]
    ] satisfies Refusals
  ])
}

/** What of the sums a mapping must fit. */
interface MappedSums {
  readonly id?: string | undefined
  readonly rows: ReadonlyArray<{
    readonly over: Option.Option<unknown>
    readonly double: Option.Option<unknown>
    readonly date?: unknown
    readonly punchId?: unknown
  }>
}

/** What is given beside the sums. */
interface Given {
  readonly payDate: string | undefined
  /** The titles of the file of the codes. */
  readonly fields: ReadonlyArray<string>
  /** The names of the texts of the run. */
  readonly set: ReadonlyArray<string>
}

/** What contradicts itself, or does not fit the sums of a revision. Sums without a row fit any mapping. */
export const refusalOf = (
  mapping: Mapping,
  states: ReadonlyArray<MappedSums>,
  { fields, payDate, set }: Given
): MappingError | undefined => {
  const { by, columns, payCodes } = mapping
  const sums = states[0]?.id === undefined ? "the sums" : `the sums of ${states[0].id}`
  const rows = states.flatMap((state) => state.rows)
  const hasOver = rows.some(({ over }) => Option.isSome(over))
  const hasDouble = rows.some(({ double }) => Option.isSome(double))
  /** Each place of a class of hours, and what it is called there. */
  const places = [
    ...payCodeKinds.flatMap((kind) =>
      payCodes?.[kind] === undefined || kind === "tips" ? [] : [[`payCodes.${kind}`, kind, kind] as const]
    ),
    ...columns.flatMap(({ value }, at) =>
      isHourValue(value) ? [[`columns[${at}].value`, value, hourValues[value]] as const] : []
    )
  ].filter(([, , part]) => part !== "hours" && rows.length > 0)
  const hasDoublePlace = places.some(([, , part]) => part === "double")
  const cells = cellLists(mapping).flatMap(({ cells, path }) =>
    cells.map((cell, at) => ({ ...cell, path: `${path}[${at}]` }))
  )
  const known = fields.length === 0 ? "they have no further texts" : `they have ${fields.join(", ")}`
  return problemOf(mapping) ?? firstOf([
    ...cells.flatMap((cell): Refusals => {
      const { field, of, path, set: name, value } = cell
      const isUnknown = of !== undefined && of !== "payCode" && field !== undefined && !fields.includes(field)
      return [
        [`${path}.value`, { "no pay date is given": value === "payDate" && payDate === undefined }],
        [`${path}.set`, { [`no text ${name} is given`]: name !== undefined && !set.includes(name) }],
        [`${path}.field`, { [`the codes have no ${field}: ${known}`]: isUnknown }]
      ]
    }),
    ...set.map((name): Refusal => ["columns", {
      [`the text ${name} is given, and none asks for it`]: !cells.some((each) => each.set === name)
    }]),
    ["by", { [`${sums} have no dates`]: by.includes("day") && rows.some(({ date }) => date === undefined) }],
    ["hoursOf", {
      [`${sums} have no punches`]: mapping.hoursOf === "punch" && rows.some(({ punchId }) => punchId === undefined)
    }],
    ...places.map(([path, name, part]): Refusal => [path, {
      [`${name} needs a threshold, and ${sums} have none`]: !hasOver,
      [`${name} needs a second daily threshold or a seventh day, and ${sums} have neither`]: part === "double" &&
        !hasDouble,
      [`${sums} may have double hours, and nothing shows them: add the class double`]: part === "regular" &&
        hasDouble && !hasDoublePlace
    }])
  ])
}
