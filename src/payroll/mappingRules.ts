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
  type Cell,
  type CellList,
  cellLists,
  Column,
  type ColumnValue,
  defaults,
  formOf,
  hourValues,
  idSourceOf,
  isDateValue,
  isHourValue,
  isNumberValue,
  isOneOf,
  keyOf,
  Mapping,
  MappingError,
  payCodeKinds,
  payCodesOf,
  sources
} from "./mapping.ts"
import type { EncodeOptions, StatePair } from "./PayrollSums.ts"

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
      const problem = problemsOf(mapping).next().value
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

/** What is wrong, one after the other: the first is reported. */
type Problems = Generator<MappingError, undefined>

const wrong = (path: string, detail: string) => new MappingError({ path, detail })

/** Whether a decimal sign stands in its cells. */
const hasFraction = (column: Column, { hours }: Mapping): boolean =>
  formOf(column, true) === "money" || (formOf(column) === "hours" && hours.startsWith("decimal"))

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
      hasFraction(column, mapping) &&
      !(column.digits === 2 && mapping.hours === "decimal:4" && formOf(column) === "hours")
  ],
  ["zero", "a number", ({ value }) => isNumberValue(value) || value === "rows"],
  ["align", "width", ({ width }) => width !== undefined],
  ["pad", "width", ({ width }) => width !== undefined],
  ["required", "a name or a field", (column) => isOneOf(["name", "field"])(idSourceOf(column)?.form)]
]

/** What is wrong with a column alone, or with a cell of a line. */
function* cellProblems(cell: Cell, mapping: Mapping): Problems {
  const { field, of, pad, path, width } = cell
  const [source, other] = sources.filter((key) => cell[key] !== undefined)
  if (source === undefined) yield wrong(path, `it has no source: ${sources.join(", ")}`)
  if (other !== undefined) yield wrong(`${path}.${other}`, `a column has one source, and this one has ${source} too`)
  if (of !== undefined && field === undefined) yield wrong(`${path}.of`, "it needs field: which further text")
  for (const [key, goesWith, fits] of layoutRules) {
    if (cell[key] !== undefined && !fits(cell, mapping)) yield wrong(`${path}.${key}`, `${key} goes with ${goesWith}`)
  }
  if (pad === "0" && alignOf(cell) === "left") {
    yield wrong(`${path}.pad`, "zeros behind a text change what it says: write \"align\": \"right\"")
  }
  if (mapping.decimal === "" && hasFraction(cell, mapping) && width === undefined) {
    yield wrong(`${path}.width`, "without a decimal sign, a number with a fraction needs a width")
  }
}

/** What is wrong with cells beside each other: two values without a width and a separator are one text. */
function* sideBySide({ cells }: CellList): Problems {
  let isOpen = false
  for (const { constant, path, width } of cells.filter((cell) => cell.constant !== "")) {
    const wasOpen = isOpen
    isOpen = constant === undefined && width === undefined
    if (isOpen && wasOpen) {
      yield wrong(`${path}.width`, "without a separator, one of two values side by side needs a width")
    }
  }
}

/** What is wrong with a column of rows. */
function* columnProblems(column: Cell, mapping: Mapping): Problems {
  const { by, header = defaults.header, payCodes } = mapping
  const { field, kind, of, path, value } = column
  const place = `${path}.${of === undefined ? "value" : "of"}`
  const key = keyOf(column)
  const isOfCode = of === "payCode" || isOneOf(["payCode", "amount", "quantity"])(value)
  if (column.header === undefined && header) yield wrong(`${path}.header`, "it has no title, and header is not false")
  if (kind !== undefined) yield wrong(`${path}.kind`, "kind is for a sum in a line before or behind the rows")
  if (value === "rows") yield wrong(place, "rows is for a line before or behind the rows")
  if (key !== undefined && !by.includes(key)) yield wrong(place, `${value ?? field} needs ${key} in by`)
  if (payCodes === undefined && isOfCode) yield wrong(place, `${value ?? field} needs payCodes`)
  if (payCodes !== undefined && isNumberValue(value) && !isOfCode && value !== "hours") {
    yield wrong(place, `${value} is not for a file with payCodes: it would stand in each of the rows of a person`)
  }
  for (const [code, texts] of payCodesOf(mapping)) {
    if (of === "payCode" && field !== undefined && !texts.has(field)) {
      yield wrong(`payCodes.${code}`, `it has no ${field}, which ${path} prints: add it, "" if it is empty on purpose`)
    }
  }
}

/** What is wrong with a cell of a line before or behind the rows. */
function* lineProblems(cell: Cell, name: string, { columns }: Mapping): Problems {
  const { kind, of, path, value } = cell
  if (of !== undefined || keyOf(cell) !== undefined || value === "rate" || value === "payCode") {
    yield wrong(path, `${of ?? value} is of one row, and ${name} has no row`)
  }
  if (isNumberValue(value) && !columns.some((column) => column.value === value)) {
    yield wrong(`${path}.value`, `no column has ${value}, so it has no sum`)
  }
  if (value === "quantity" && kind === undefined) {
    yield wrong(`${path}.value`, "hours and money have no sum: add \"kind\": \"hours\" or \"amount\"")
  }
  if (kind !== undefined && value !== "quantity") yield wrong(`${path}.kind`, "kind goes with quantity")
}

/** What contradicts itself in the pay codes, and in the columns that they need. */
function* payCodeProblems(mapping: Mapping): Problems {
  const { columns } = mapping
  const codes = payCodesOf(mapping)
  const [double, hours, over, regular, tips] = (["double", "hours", "over", "regular", "tips"] as const)
    .map((kind) => codes.has(kind))
  const has = (...values: ReadonlyArray<ColumnValue>) => columns.some(({ value }) => isOneOf(values)(value))
  const shown = columns.filter(({ of, value }) => of === "payCode" || value === "payCode")
  if (codes.size === 0) yield wrong("payCodes", "it has no code")
  if (regular !== over) {
    yield wrong("payCodes", "regular and over go together: the hours of one alone are not all hours")
  }
  if (double && !over) yield wrong("payCodes", "double goes with regular and over")
  if (hours && regular) {
    yield wrong("payCodes", "hours are all hours, so that regular and over would pay them twice")
  }
  if (shown.length === 0) yield wrong("columns", "none has the payCode")
  const kinds = new Map<string, string>()
  for (const [kind, texts] of codes) {
    const text = JSON.stringify(
      shown.map((column) => laidOut(mapping, column, texts.get(column.field ?? "code") ?? ""))
    )
    const same = kinds.get(text)
    if (same !== undefined) yield wrong(`payCodes.${kind}`, `no column tells it from ${same}`)
    kinds.set(text, kind)
  }
  if ((hours || regular) && !has("hours", "quantity")) {
    yield wrong("columns", "payCodes has hours, and no column has them")
  }
  if (tips && !has("amount", "quantity")) yield wrong("columns", "payCodes has tips, and no column has the amount")
}

/** What contradicts itself in a mapping. */
function* problemsOf(mapping: Mapping): Problems {
  const { by, columns, decimal, payCodes, quote, separator } = { ...defaults, ...mapping }
  const values = columns.map(({ value }) => value)
  for (const { cells, name } of cellLists(mapping)) {
    for (const cell of cells) {
      yield* cellProblems(cell, mapping)
      yield* name === "columns" ? columnProblems(cell, mapping) : lineProblems(cell, name, mapping)
    }
  }
  for (const list of separator === "" ? cellLists(mapping) : []) yield* sideBySide(list)
  for (const [at, key] of by.entries()) {
    if (by.indexOf(key) !== at) yield wrong(`by[${at}]`, `${key} is there twice`)
    // A key that no column shows would merge its ids. Names and fields that are equal are found with the ids.
    if (columns.some((column) => keyOf(column) === key)) continue
    const what = key === "day" ? "the date" : `a code, an id, a name or a field of the ${key}`
    yield wrong(`by[${at}]`, `no column has ${what}`)
  }
  if (!values.some(isNumberValue)) yield wrong("columns", "none has a number")
  if (mapping.addUp === "user" && !by.includes("user")) yield wrong("addUp", "user needs user in by")
  if (mapping.hoursOf === "punch" && addUpOf(mapping) === "user") {
    yield wrong("hoursOf", "punches add up to no rounded sum of a person: write \"addUp\": \"row\"")
  }
  if (values.includes("hoursRegular") && !values.includes("hoursOver")) {
    yield wrong("columns", "hoursRegular needs hoursOver: the hours over the threshold would be in no column")
  }
  if (separator === decimal && separator !== "" && quote !== "always") {
    yield wrong("separator", "it is the decimal sign too: the numbers need \"quote\": \"always\"")
  }
  if (payCodes !== undefined) yield* payCodeProblems(mapping)
}

/** What does not fit what is given beside the sums, or the sums of a revision. */
export function* misfitsOf(mapping: Mapping, options: EncodeOptions): Problems {
  const { also = [], codes: { fields = [] }, set = {}, state: { payDate } } = options
  const known = fields.length === 0 ? "they have no further texts" : `they have ${fields.join(", ")}`
  const cells = cellLists(mapping).flatMap((list) => list.cells)
  for (const cell of cells) {
    const { field, path, set: name, value } = cell
    if (value === "payDate" && payDate === undefined) yield wrong(`${path}.value`, "no pay date is given")
    if (name !== undefined && !Object.hasOwn(set, name)) yield wrong(`${path}.set`, `no text ${name} is given`)
    if (idSourceOf(cell)?.form === "field" && field !== undefined && !fields.includes(field)) {
      yield wrong(`${path}.field`, `the codes have no ${field}: ${known}`)
    }
  }
  const unasked = Object.keys(set).find((name) => !cells.some((cell) => cell.set === name))
  if (unasked !== undefined) yield wrong("columns", `the text ${unasked} is given, and none asks for it`)
  for (const pair of [options, ...also]) yield* sumProblems(mapping, pair)
}

/** What does not fit the sums of a revision and those before. Sums without a row fit any mapping. */
function* sumProblems(mapping: Mapping, { previous, state }: StatePair): Problems {
  const { by, columns } = mapping
  const sums = state.id === undefined ? "the sums" : `the sums of ${state.id}`
  const rows = [state, ...Option.toArray(previous)].flatMap((each) => each.rows)
  if (by.includes("day") && rows.some(({ date }) => date === undefined)) yield wrong("by", `${sums} have no dates`)
  if (mapping.hoursOf === "punch" && rows.some(({ punchId }) => punchId === undefined)) {
    yield wrong("hoursOf", `${sums} have no punches`)
  }
  /** Each place of a class of hours, and what it is called there. */
  const places = [
    ...[...payCodesOf(mapping).keys()].map((kind) => [`payCodes.${kind}`, kind, kind] as const),
    ...columns.flatMap(({ value }, at) =>
      isHourValue(value) ? [[`columns[${at}].value`, value, hourValues[value]] as const] : []
    )
  ].filter(([, , part]) => isOneOf(["regular", "over", "double"])(part) && rows.length > 0)
  const hasOver = rows.some(({ over }) => Option.isSome(over))
  const hasDouble = rows.some(({ double }) => Option.isSome(double))
  const showsDouble = places.some(([, , part]) => part === "double")
  for (const [path, name, part] of places) {
    if (!hasOver) yield wrong(path, `${name} needs a threshold, and ${sums} have none: use hours, or give one`)
    if (part === "double" && !hasDouble) {
      yield wrong(path, `${name} needs a second daily threshold or a seventh day, and ${sums} have neither`)
    }
    if (part === "regular" && hasDouble && !showsDouble) {
      yield wrong(path, `${sums} may have double hours, and nothing shows them: add the class double`)
    }
  }
}
