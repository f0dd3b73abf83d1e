/** What a mapping of a payroll file must keep: its form, columns that do not contradict each other, and what the sums have. */
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { meantWord } from "../internal/text/meant.ts"
import { firstIssue } from "../internal/wire/issue.ts"
import {
  type CodeKind,
  type ColumnValue,
  defaults,
  hourValues,
  idValues,
  isDateValue,
  isHourValue,
  isIdValue,
  isNumberValue,
  Mapping,
  MappingError,
  payCodeKinds,
  valueOf
} from "./mapping.ts"

/**
 * Parses and validates a mapping, such as what `JSON.parse` returned. Fails for a key that no mapping has, and for columns that
 * contradict each other.
 */
export const decodeMapping = (input: unknown): Result.Result<Mapping, MappingError> =>
  Result.flatMap(
    Result.mapError(decode(input), (error) => {
      const { at, detail, path } = firstIssue(error)
      return new MappingError({ path, detail: `${wrongWord(input, at, detail)}${detail}` })
    }),
    (mapping) => {
      const problem = problemOf(mapping)
      return problem === undefined ? Result.succeed(mapping) : Result.fail(problem)
    }
  )

/** The text that is none of the words that are expected, and the word that was meant. */
const wrongWord = (input: unknown, at: ReadonlyArray<PropertyKey>, detail: string): string => {
  let found = input
  for (const key of at) found = Predicate.hasProperty(found, key) ? found[key] : undefined
  if (!Predicate.isString(found) || !detail.startsWith("Expected \"")) return ""
  const meant = meantWord(found, detail)
  return `${JSON.stringify(found)} is none of the values${meant === "" ? "." : meant} `
}

const decode = Schema.decodeUnknownResult(Mapping, { onExcessProperty: "error" })

/** What is wrong if it holds: where, and why. */
type Refusal = readonly [holds: boolean, path: string, why: string]

const firstOf = (refusals: Iterable<Refusal>): MappingError | undefined => {
  for (const [holds, path, detail] of refusals) if (holds) return new MappingError({ path, detail })
  return undefined
}

/** What contradicts itself in a mapping. */
const problemOf = (mapping: Mapping): MappingError | undefined => {
  const { by, columns, decimal, payCodes, quote, separator } = { ...defaults, ...mapping }
  const values = columns.map(valueOf)
  const has = (value: ColumnValue) => values.includes(value)
  const { double, hours, over, regular, tips } = payCodes ?? {}
  const codes = Object.values(payCodes ?? {})
  // Two people of one name would be one row.
  const isShown = (by: CodeKind) =>
    values.some((value) => isIdValue(value) && idValues[value][0] === by && idValues[value][1] !== "name")
  return firstOf([
    ...by.map((each, at): Refusal => [by.indexOf(each) !== at, `by[${at}]`, `${each} is there twice`]),
    ...columns.flatMap((column, at): ReadonlyArray<Refusal> => {
      if ("constant" in column) return []
      const { format, value } = column
      const path = `columns[${at}].value`
      const kind = isIdValue(value) ? idValues[value][0] : undefined
      return [
        [kind !== undefined && !by.includes(kind), path, `${value} needs ${kind} in by`],
        [
          format !== undefined && !isDateValue(value),
          `columns[${at}].format`,
          `only dates have a format, and ${value} is none`
        ],
        [payCodes === undefined && (value === "payCode" || value === "amount"), path, `${value} needs payCodes`],
        [
          payCodes !== undefined && isNumberValue(value) && value !== "hours" && value !== "amount",
          path,
          `${value} is not for a file with payCodes: it would stand in each of the rows of a person`
        ]
      ]
    }),
    ...by.map((each, at): Refusal => [!isShown(each), `by[${at}]`, `no column has the code or the id of the ${each}`]),
    [!values.some(isNumberValue), "columns", "none has a number"],
    [
      has("hoursRegular") && !has("hoursOver"),
      "columns",
      "hoursRegular needs hoursOver: the hours over the threshold would be in no column"
    ],
    [
      separator === decimal && quote !== "always",
      "separator",
      "it is the decimal sign too: the numbers need \"quote\": \"always\""
    ],
    ...(payCodes === undefined ? [] : [
      [codes.length === 0, "payCodes", "it has no code"],
      [new Set(codes).size < codes.length, "payCodes", "two of its codes are equal"],
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
      [!has("payCode"), "columns", "none has the payCode"],
      [(hours ?? regular) !== undefined && !has("hours"), "columns", "payCodes has hours, and no column has them"],
      [tips !== undefined && !has("amount"), "columns", "payCodes has tips, and no column has the amount"]
    ] satisfies ReadonlyArray<Refusal>)
  ])
}

/** What of the sums a mapping must fit. */
interface MappedSums {
  readonly id?: string | undefined
  readonly rows: ReadonlyArray<{ readonly over: Option.Option<unknown>; readonly double: Option.Option<unknown> }>
}

/** What contradicts itself, or does not fit the sums of a revision. Sums without a row fit any mapping. */
export const refusalOf = (
  mapping: Mapping,
  states: ReadonlyArray<MappedSums>,
  payDate: string | undefined
): MappingError | undefined => {
  const { columns, payCodes } = mapping
  const sums = states[0]?.id === undefined ? "the sums" : `the sums of ${states[0].id}`
  const rows = states.flatMap((state) => state.rows)
  const hasOver = rows.some(({ over }) => Option.isSome(over))
  const hasDouble = rows.some(({ double }) => Option.isSome(double))
  /** Each place of a class of hours, and what it is called there. */
  const places: ReadonlyArray<readonly [path: string, name: string, part: string]> = [
    ...payCodeKinds.filter((kind) => payCodes?.[kind] !== undefined && kind !== "tips").map((kind) =>
      [`payCodes.${kind}`, kind, kind] as const
    ),
    ...columns.flatMap((column, at) => {
      const value = valueOf(column)
      return isHourValue(value) && value !== "hours"
        ? [[`columns[${at}].value`, value, hourValues[value]] as const]
        : []
    })
  ]
  const hasDoublePlace = places.some(([, , part]) => part === "double")
  return problemOf(mapping) ?? firstOf([
    ...columns.map((column, at): Refusal => [
      valueOf(column) === "payDate" && payDate === undefined,
      `columns[${at}].value`,
      "no pay date is given"
    ]),
    ...places.filter(([, , part]) => part !== "hours" && rows.length > 0).flatMap((
      [path, name, part]
    ): ReadonlyArray<Refusal> => [
      [!hasOver, path, `${name} needs a threshold, and ${sums} have none`],
      [part === "double" && !hasDouble, path, `${name} needs a second daily threshold, and ${sums} have none`],
      [
        part === "regular" && hasDouble && !hasDoublePlace,
        path,
        `${sums} have hours over a second daily threshold, and nothing shows them: add the class double`
      ]
    ])
  ])
}
