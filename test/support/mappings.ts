/** Mappings of payroll files that more than one test prints: one as it stands, and random ones. */
import type { Prng } from "../../src/testing/base/prng.ts"

/** Regular hours, those over a threshold, and tips, as rows with codes. */
export const byCode = {
  v: 1,
  by: ["user"],
  payCodes: { regular: "REG", over: "OT", tips: "TIPS" },
  hours: "decimal:2",
  rounding: "halfUp",
  columns: [
    { header: "Employee", value: "userCode" },
    { header: "Code", value: "payCode" },
    { header: "Hours", value: "hours" },
    { header: "Amount", value: "amount" },
    { header: "End", value: "periodEnd", format: "MM/DD/YYYY" }
  ]
} as const

/** A column of a mapping, as its user writes it. */
export interface Column {
  readonly header?: string
  readonly value?: string
  readonly of?: string
  readonly field?: string
  readonly constant?: string
  readonly set?: string
  readonly kind?: "hours" | "amount"
  readonly format?: string
  readonly width?: number
  readonly align?: "left" | "right"
  readonly pad?: " " | "0"
  readonly digits?: 2 | 4
  readonly zero?: ""
  readonly required?: boolean
}

export type Line = string | ReadonlyArray<Column>

export type Code = string | { readonly code: string; readonly key: string }

/** A mapping, as its user writes it. */
export interface Form {
  readonly v: 1
  readonly by: ReadonlyArray<string>
  readonly payCodes?: { readonly [kind: string]: Code }
  readonly hours: "decimal:2" | "decimal:4" | "h:mm" | "minutes" | "seconds"
  readonly rounding: "halfUp" | "halfEven" | "down" | "up"
  readonly addUp?: "row" | "user"
  readonly hoursOf?: "sum" | "punch"
  readonly columns: ReadonlyArray<Column>
  readonly separator: "," | ";" | "\t" | "|" | ""
  readonly decimal: "." | "," | ""
  readonly header: boolean
  readonly preamble: ReadonlyArray<Line>
  readonly trailer: ReadonlyArray<Line>
  readonly encoding: "utf-8" | "utf-8-bom" | "windows-1252"
  readonly lineEnd: "\r\n" | "\n" | "\r"
  readonly formulas?: "keep"
  readonly quote: "whenNeeded" | "always" | "texts" | "never"
}

/** The classes that the sums have. */
export interface Classes {
  readonly hasOver: boolean
  readonly hasDouble: boolean
}

const widthOf = (random: Prng, isNumber: boolean): Column => {
  const width = { width: random.between(24, 28) }
  const isPadded = random.chance(0.4)
  if (isPadded) return { ...width, pad: "0", ...!isNumber && { align: "right" } }
  return random.chance(0.3) ? { ...width, align: random.pick(["left", "right"]) } : width
}

/** What tells the ids of a key apart. The names and fields of users are those of `Codes`. */
const keyColumns = (random: Prng, key: string): ReadonlyArray<Column> => {
  switch (key) {
    case "day":
      return random.pick<ReadonlyArray<Column>>([
        [{ value: "date" }],
        [{ value: "date", format: random.pick(["DD.MM.YYYY", "D.M.YY", "YYYYMMDD", "YY/MM/DD"]) }],
        [{ value: "date", format: "DD" }, { value: "date", format: "YYYY-M" }]
      ])
    case "user":
      return random.pick<ReadonlyArray<Column>>([
        [{ value: "userCode" }],
        [{ value: "userId" }],
        [{ value: "userName" }],
        [{ of: "user", field: "first" }, { of: "user", field: "last" }],
        [{ value: "userCode" }, { value: "userName", required: random.chance(0.5) }, { of: "user", field: "first" }]
      ])
    default:
      return [{ value: `${key}${random.pick(["Code", "Id", "Name"])}` }]
  }
}

/**
 * A random mapping that is valid for sums with these classes: each source with each layout, by each key. Its texts of the run are
 * `textsOfRun`; it asks for a pay date.
 */
export const randomMapping = (random: Prng, { hasDouble, hasOver }: Classes): Form => {
  const keys = ["user", "location", "department", "role", "day"]
  const by = random.chance(0.1) ? [] : ["user"]
  while (by.length === 0 || (by.length < 4 && random.chance(0.45))) {
    const key = random.pick(["user", "day", ...keys])
    if (!by.includes(key)) by.splice(random.between(0, by.length), 0, key)
  }
  const hours = random.pick<Form["hours"]>(["decimal:2", "decimal:2", "decimal:4", "h:mm", "minutes", "seconds"])
  const separator = random.pick<Form["separator"]>([",", ";", "\t", "|", "", ""])
  const decimal = random.pick<Form["decimal"]>([".", ".", ",", ""])
  const hasWidths = separator === "" ? random.chance(0.7) : random.chance(0.3)
  // Without a separator and widths, constants part the texts, and quotes would move them.
  const isMarkup = separator === "" && !hasWidths
  const quote: Form["quote"] = separator !== "" && separator === decimal
    ? "always"
    : random.pick<Form["quote"]>(
      isMarkup
        ? ["whenNeeded", "never"]
        : ["whenNeeded", "whenNeeded", "always", "texts", separator === "," ? "texts" : "never"]
    )
  const hasCodes = random.chance(0.5)
  const isOpen = ({ value = "" }: Column) =>
    decimal === "" &&
    (["rate", "quantity", "amount", "cost", "tips"].includes(value) ||
      (value.startsWith("hours") && hours.startsWith("decimal")))
  const text = (column: Column): Column =>
    hasWidths || isOpen(column) || random.chance(0.2) ? { ...column, ...widthOf(random, false) } : column
  const number = (value: string): Column => {
    const column: Column = {
      value,
      ...random.chance(0.3) && { zero: "" },
      ...value !== "punches" && value !== "rows" && hours === "decimal:2" && random.chance(0.3) && { digits: 4 }
    }
    return hasWidths || isOpen(column) || random.chance(0.2) ? { ...column, ...widthOf(random, true) } : column
  }
  const classes = hasDouble
    ? random.pick([["hoursRegular", "hoursOver", "hoursDouble"], ["hours", "hoursOver", "hoursDouble"], [
      "hours",
      "hoursOver"
    ], ["hours"]])
    : hasOver
    ? random.pick([["hoursRegular", "hoursOver"], ["hours", "hoursOver"], ["hoursRegular", "hoursOver", "hours"], [
      "hours"
    ]])
    : ["hours"]
  const numbers = hasCodes
    ? random.pick([["quantity"], ["hours", "amount"]])
    : [...classes, ...["tips", "cost", "punches", "tips"].filter(() => random.chance(0.6))]
  const shown = random.pick<NonNullable<Form["payCodes"]>>([
    { hours: "H" },
    !hasOver ? { hours: "H" } : { regular: "REG", over: "OT", ...hasDouble && { double: "DT" } }
  ])
  const isKeyed = hasCodes && random.chance(0.3)
  const plain = { ...shown, ...random.chance(0.7) && { tips: "TIPS" } }
  const payCodes = !isKeyed ? plain : Object.fromEntries(
    Object.keys(plain).map((
      kind,
      at
    ) => [kind, { code: `${kind === "tips" ? 1 : at + 1}`, key: kind === "tips" ? "A" : "H" }])
  )
  const more = [
    { constant: "A" },
    { set: "batch" },
    { value: "revisionId" },
    { value: "periodStart", format: "D.M.YY" },
    { value: "periodEnd", format: "YYYYMM" },
    { value: "payDate" }
  ].filter(() => random.chance(0.15))
  const hasDay = by.includes("day")
  const hoursOf = random.chance(0.2) ? "punch" : "sum"
  const addUp = hoursOf === "punch" || !by.includes("user")
    ? (hasDay ? { addUp: "row" as const } : {})
    : random.pick<Pick<Form, "addUp">>([{}, { addUp: "user" }, { addUp: "user" }, { addUp: "row" }])
  const inOrder: ReadonlyArray<Column> = [
    ...by.flatMap((key) => keyColumns(random, key)).map(text),
    ...hasCodes ? [{ value: "payCode" }, ...isKeyed ? [{ of: "payCode", field: "key" }] : []].map(text) : [],
    ...random.chance(0.25) ? [text({ value: "rate", ...random.chance(0.3) && { digits: 4 } })] : [],
    ...numbers.map(number),
    ...more.map(text)
  ]
  const turn = random.chance(0.3) ? random.between(0, inOrder.length - 1) : 0
  const columns = [...inOrder.slice(turn), ...inOrder.slice(0, turn)]
  const header = random.chance(0.5)
  // Without a separator, two values side by side need a width.
  const apart = (cells: ReadonlyArray<Column>): ReadonlyArray<Column> =>
    isMarkup
      ? cells.flatMap((cell) => [{ constant: "<>", ...header && { header: "<>" } }, cell])
      : cells
  const sum = (value: string): Column => {
    const { width: _, align: _align, pad: _pad, ...column } = number(value)
    return {
      ...column,
      ...value === "quantity" && { kind: random.pick(["hours", "amount"]) },
      ...(hasWidths || separator === "" || isOpen(column)) && widthOf(random, true)
    }
  }
  const lines = (): ReadonlyArray<Line> =>
    Array.from({ length: random.pick([0, 0, 1, 2]) }, () =>
      random.chance(0.3)
        ? "[line]"
        : apart([
          text({ constant: "T" }),
          ...random.chance(0.3) ? [text({ set: "batch" })] : [],
          ...["rows", ...numbers].filter(() => random.chance(0.6)).map(sum)
        ]))
  return {
    v: 1,
    by,
    ...hasCodes && { payCodes },
    hours,
    rounding: random.pick(["halfUp", "halfEven", "down", "up"]),
    ...hoursOf === "punch" && { hoursOf },
    ...addUp,
    columns: apart(header ? columns.map(titled) : columns),
    separator,
    decimal,
    header,
    preamble: lines(),
    trailer: lines(),
    encoding: random.pick(["utf-8", "utf-8-bom", "windows-1252"]),
    lineEnd: random.pick(["\r\n", "\n", "\r"]),
    quote
  }
}

const titled = (column: Column, at: number): Column => ({ header: `c${at}`, ...column })

/** The texts of the run that a mapping asks for. */
export const textsOfRun = ({ columns, preamble, trailer }: Form): Readonly<Record<string, string>> =>
  [columns, ...preamble, ...trailer].some((line) =>
      typeof line !== "string" && line.some(({ set }) => set !== undefined)
    )
    ? { batch: "T04" }
    : {}
