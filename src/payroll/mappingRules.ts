/** What a mapping of a payroll file must keep: its form, columns that do not contradict each other, and what the sums have. */
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { meantWord, unknownKey } from "../internal/text/meant.ts"
import { firstIssue } from "../internal/wire/issue.ts"
import { laidOut } from "./fileLayout.ts"
import {
  addUpOf,
  amountForms,
  Column,
  type ColumnValue,
  defaults,
  hourValues,
  idValues,
  isAmountValue,
  isDateValue,
  isHourValue,
  isIdValue,
  isNumberValue,
  Mapping,
  MappingError,
  payCodeKinds,
  payCodeTexts,
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

/** What is wrong if it holds: where, and why. */
type Refusal = readonly [holds: boolean, path: string, why: string]

const firstOf = (refusals: Iterable<Refusal>): MappingError | undefined => {
  for (const [holds, path, detail] of refusals) if (holds) return new MappingError({ path, detail })
  return undefined
}

type Refusals = ReadonlyArray<Refusal>

const isOfHours = ({ value }: Column): boolean => isHourValue(value) || value === "quantity"

/** Whether a decimal sign stands in its cells. */
const hasFraction = (column: Column, { hours }: Mapping): boolean =>
  column.value === "rate" || column.value === "quantity" ||
  (isAmountValue(column.value) && amountForms[column.value] === "money") ||
  (isOfHours(column) && hours.startsWith("decimal"))

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
      hasFraction(column, mapping) && !(column.digits === 2 && mapping.hours === "decimal:4" && isOfHours(column))
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
  const given = sources.filter((key) => column[key] !== undefined)
  return [
    [given.length === 0, path, `it has no source: ${sources.join(", ")}`],
    [given.length > 1, `${path}.${given[1]}`, `a column has one source, and this one has ${given[0]} too`],
    [column.of !== undefined && column.field === undefined, `${path}.of`, "it needs field: which further text"],
    ...layoutRules.map(([key, goesWith, fits]): Refusal => [
      column[key] !== undefined && !fits(column, mapping),
      `${path}.${key}`,
      key === "format"
        ? `only dates have a format, and ${column.value ?? given[0]} is none`
        : `${key} goes with ${goesWith}`
    ]),
    [column.pad === "0" && column.align === "left", `${path}.pad`, "zeros behind a text change what it says"],
    [
      mapping.decimal === "" && hasFraction(column, mapping) && column.width === undefined,
      `${path}.width`,
      "without a decimal sign, a number with a fraction needs a width"
    ]
  ]
}

/** What is wrong with cells beside each other: two values without a width and a separator are one text. */
const sideBySide = (cells: ReadonlyArray<Column>, place: (at: number) => string): Refusals => {
  const shown = [...cells.entries()].filter(([, { constant }]) => constant !== "")
  return shown.map(([at, column], turn): Refusal => {
    const [, before] = shown[turn - 1] ?? []
    const isOpen = (each: Column | undefined) =>
      each !== undefined && each.constant === undefined && each.width === undefined
    return [
      isOpen(column) && isOpen(before),
      `${place(at)}.width`,
      "without a separator, one of two values side by side needs a width"
    ]
  })
}

/** What contradicts itself in a mapping. */
const problemOf = (mapping: Mapping): MappingError | undefined => {
  const { by, columns, decimal, header, payCodes, preamble, quote, separator, trailer } = { ...defaults, ...mapping }
  const values = columns.map(({ value }) => value)
  const has = (value: ColumnValue) => values.includes(value)
  const { double, hours, over, regular, tips } = payCodes ?? {}
  const codes = payCodeKinds.flatMap((kind) => {
    const code = payCodes?.[kind]
    return code === undefined ? [] : [{ kind, texts: payCodeTexts(code) }]
  })
  const payCodeColumns = columns.filter(({ of, value }) => of === "payCode" || value === "payCode")
  /** What the columns print of a pay code. */
  const printedOf = (texts: Readonly<Record<string, string>>) =>
    JSON.stringify(payCodeColumns.map((column) => laidOut(mapping, column, texts[column.field ?? "code"] ?? "")))
  // A key that no column shows would merge its ids. Names and fields that are equal are found with the ids.
  const isShown = (key: typeof by[number]) =>
    key === "day"
      ? has("date")
      : columns.some(({ of, value }) => of === key || (isIdValue(value) && idValues[value][0] === key))
  const lines = ([["preamble", preamble], ["trailer", trailer]] as const).flatMap(([name, lines]) =>
    lines.flatMap((cells, at) => Predicate.isString(cells) ? [] : [{ name, path: `${name}[${at}]`, cells }])
  )
  return firstOf([
    ...by.map((each, at): Refusal => [by.indexOf(each) !== at, `by[${at}]`, `${each} is there twice`]),
    ...columns.flatMap((column, at): Refusals => {
      const { field, kind: sum, of, value } = column
      const path = `columns[${at}].value`
      const kind = isIdValue(value) ? idValues[value][0] : of === "payCode" ? undefined : of
      const place = of === undefined ? path : `columns[${at}].of`
      return [
        ...columnRefusals(column, `columns[${at}]`, mapping),
        [column.header === undefined && header, `columns[${at}].header`, "it has no title, and header is not false"],
        [sum !== undefined, `columns[${at}].kind`, "kind is for a sum in a line before or behind the rows"],
        [value === "rows", path, "rows is for a line before or behind the rows"],
        [kind !== undefined && !by.includes(kind), place, `${of === undefined ? value : field} needs ${kind} in by`],
        [value === "date" && !by.includes("day"), path, "date needs day in by"],
        [
          payCodes === undefined &&
          (value === "payCode" || value === "amount" || value === "quantity" || of === "payCode"),
          place,
          `${value ?? field} needs payCodes`
        ],
        [
          payCodes !== undefined && isNumberValue(value) && !["hours", "amount", "quantity"].includes(value),
          path,
          `${value} is not for a file with payCodes: it would stand in each of the rows of a person`
        ],
        ...of === "payCode" && field !== undefined
          ? codes.map(({ kind, texts }): Refusal => [
            texts[field] === undefined,
            `payCodes.${kind}`,
            `it has no ${field}, which columns[${at}] prints: add it, "" if it is empty on purpose`
          ])
          : []
      ]
    }),
    ...lines.flatMap(({ cells, name, path: line }) =>
      cells.flatMap((cell, at): Refusals => {
        const path = `${line}[${at}]`
        const { kind, of, value } = cell
        const isSum = isNumberValue(value)
        return [
          ...columnRefusals(cell, path, mapping),
          [
            of !== undefined || isIdValue(value) || value === "rate" || value === "payCode" || value === "date",
            path,
            `${of ?? value} is of one row, and ${name} has no row`
          ],
          [isSum && !has(value), `${path}.value`, `no column has ${value}, so it has no sum`],
          [
            value === "quantity" && kind === undefined,
            `${path}.value`,
            "hours and money have no sum: add \"kind\": \"hours\" or \"amount\""
          ],
          [kind !== undefined && value !== "quantity", `${path}.kind`, "kind goes with quantity"]
        ]
      })
    ),
    ...separator === "" ?
      [
        ...sideBySide(columns, (at) => `columns[${at}]`),
        ...lines.flatMap(({ cells, path }) => sideBySide(cells, (at) => `${path}[${at}]`))
      ] :
      [],
    ...by.map((each, at): Refusal => [
      !isShown(each),
      `by[${at}]`,
      each === "day" ? "no column has the date" : `no column has a code, an id, a name or a field of the ${each}`
    ]),
    [!values.some(isNumberValue), "columns", "none has a number"],
    [mapping.addUp === "user" && !by.includes("user"), "addUp", "user needs user in by"],
    [
      mapping.hoursOf === "punch" && addUpOf(mapping) === "user",
      "hoursOf",
      "punches add up to no rounded sum of a person: write \"addUp\": \"row\""
    ],
    [
      has("hoursRegular") && !has("hoursOver"),
      "columns",
      "hoursRegular needs hoursOver: the hours over the threshold would be in no column"
    ],
    [
      separator === decimal && separator !== "" && quote !== "always",
      "separator",
      "it is the decimal sign too: the numbers need \"quote\": \"always\""
    ],
    ...(payCodes === undefined ? [] : [
      [codes.length === 0, "payCodes", "it has no code"],
      [
        (regular === undefined) !== (over === undefined),
        "payCodes",
        "regular and over go together: the hours of one alone are not all hours"
      ],
      [double !== undefined && over === undefined, "payCodes", "double goes with regular and over"],
      [
        hours !== undefined && regular !== undefined,
        "payCodes",
        "hours are all hours, so that regular and over would pay them twice"
      ],
      [payCodeColumns.length === 0, "columns", "none has the payCode"],
      ...codes.flatMap(({ kind, texts }, at): Refusals => {
        const same = codes.slice(0, at).find((other) => printedOf(other.texts) === printedOf(texts))
        return [[same !== undefined, `payCodes.${kind}`, `no column tells it from ${same?.kind}`]]
      }),
      [
        (hours ?? regular) !== undefined && !has("hours") && !has("quantity"),
        "columns",
        "payCodes has hours, and no column has them"
      ],
      [
        tips !== undefined && !has("amount") && !has("quantity"),
        "columns",
        "payCodes has tips, and no column has the amount"
      ]
    ] satisfies Refusals)
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

/** Every column and cell of a line, with its path. */
const cellsOf = ({ columns, preamble = [], trailer = [] }: Mapping): ReadonlyArray<readonly [path: string, Column]> => [
  ...columns.map((column, at) => [`columns[${at}]`, column] as const),
  ...([["preamble", preamble], ["trailer", trailer]] as const).flatMap(([name, lines]) =>
    lines.flatMap((line, at) =>
      Predicate.isString(line) ? [] : line.map((cell, place) => [`${name}[${at}][${place}]`, cell] as const)
    )
  )
]

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
  const places: ReadonlyArray<readonly [path: string, name: string, part: string]> = [
    ...payCodeKinds.filter((kind) => payCodes?.[kind] !== undefined && kind !== "tips").map((kind) =>
      [`payCodes.${kind}`, kind, kind] as const
    ),
    ...columns.flatMap(({ value }, at) => {
      return isHourValue(value) && value !== "hours"
        ? [[`columns[${at}].value`, value, hourValues[value]] as const]
        : []
    })
  ]
  const hasDoublePlace = places.some(([, , part]) => part === "double")
  return problemOf(mapping) ?? firstOf([
    ...cellsOf(mapping).flatMap(([path, { field, of, set: name, value }]): Refusals => [
      [value === "payDate" && payDate === undefined, `${path}.value`, "no pay date is given"],
      [name !== undefined && !set.includes(name), `${path}.set`, `no text ${name} is given`],
      [
        of !== undefined && of !== "payCode" && field !== undefined && !fields.includes(field),
        `${path}.field`,
        `the codes have no ${field}: ${
          fields.length === 0 ? "they have no further texts" : `they have ${fields.join(", ")}`
        }`
      ]
    ]),
    ...set.map((name): Refusal => [
      !cellsOf(mapping).some(([, each]) => each.set === name),
      "columns",
      `the text ${name} is given, and none asks for it`
    ]),
    [by.includes("day") && rows.some(({ date }) => date === undefined), "by", `${sums} have no dates`],
    [
      mapping.hoursOf === "punch" && rows.some(({ punchId }) => punchId === undefined),
      "hoursOf",
      `${sums} have no punches`
    ],
    ...places.filter(([, , part]) => part !== "hours" && rows.length > 0).flatMap((
      [path, name, part]
    ): ReadonlyArray<Refusal> => [
      [!hasOver, path, `${name} needs a threshold, and ${sums} have none`],
      [
        part === "double" && !hasDouble,
        path,
        `${name} needs a second daily threshold or a seventh day, and ${sums} have neither`
      ],
      [
        part === "regular" && hasDouble && !hasDoublePlace,
        path,
        `${sums} may have double hours, and nothing shows them: add the class double`
      ]
    ])
  ])
}
