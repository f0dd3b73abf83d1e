/**
 * The files that a mapping makes of the punches of closes, and what the bytes of a file say: a second computation, in whole units and
 * cents. It imports types and the oracle of closes alone, so that it shares no code with `src`.
 */
import type { Column, Form, Line } from "../support/mappings.ts"
import { classesOf, type Part, round } from "./closeOracle.ts"

/** The texts of ids; `undefined` without one. */
export interface Codes {
  readonly codeOf: (kind: string, id: number) => string | undefined
  readonly nameOf: (kind: string, id: number) => string | undefined
  readonly fieldOf: (kind: string, id: number, field: string) => string | undefined
}

/** What all rows of a file share. Days are counted from 1970-01-01. */
export interface Shared {
  readonly revision: string
  readonly first: number
  readonly last: number
  readonly payDate: number
  readonly set: Readonly<Record<string, string>>
}

/** A row: its texts, without those that all rows share, and its numbers. `orders`: where it stands, of each group in it. */
export interface Row {
  readonly kind: string
  readonly texts: ReadonlyArray<string>
  readonly cells: ReadonlyArray<number>
  readonly orders: ReadonlySet<string>
}

export type Rows = ReadonlyMap<string, Row>

/** Milliseconds of a unit of hours. */
export const units = { "decimal:2": 36_000, "decimal:4": 360, "h:mm": 60_000, minutes: 60_000, seconds: 1000 }
const kinds = ["hours", "regular", "over", "double", "tips"]
const classes = ["hoursRegular", "hoursOver", "hoursDouble"]
const shownDates = ["periodStart", "periodEnd", "payDate"]

const isOfHours = (value = "", isMoney = false) => value.startsWith("hours") || (value === "quantity" && !isMoney)
export const isNumber = ({ value = "" }: Column): boolean =>
  isOfHours(value) || ["amount", "quantity", "cost", "tips", "punches", "rows"].includes(value)
const isShared = ({ constant, set, value = "" }: Column) =>
  constant !== undefined || set !== undefined || value === "revisionId" || shownDates.includes(value)

const lengthOf = (text: string) => [...text].length

const composed = ({ encoding }: Form, text: string) => encoding === "windows-1252" ? text.normalize("NFC") : text

/** A text in its width. */
const inWidth = (form: Form, column: Column, given: string): string => {
  const text = composed(form, given)
  const { align = isNumber(column) || column.value === "rate" ? "right" : "left", pad = " ", width = 0 } = column
  const filling = (text === "" ? " " : pad).repeat(Math.max(0, width - lengthOf(text)))
  if (align === "left") return text + filling
  return pad === "0" && isNumber(column) && text.startsWith("-") ? `-${filling}${text.slice(1)}` : filling + text
}

const dateText = (day: number, format = "YYYY-MM-DD"): string => {
  const date = new Date(day * 86_400_000)
  const [year, month, ofMonth] = [`${date.getUTCFullYear()}`, `${date.getUTCMonth() + 1}`, `${date.getUTCDate()}`]
  const parts: Readonly<Record<string, string>> = {
    YYYY: year,
    YY: year.slice(2),
    MM: month.padStart(2, "0"),
    M: month,
    DD: ofMonth.padStart(2, "0"),
    D: ofMonth
  }
  return format.replaceAll(/Y+|M+|D+/g, (part) => parts[part] ?? part)
}

const fraction = (count: number, parts: number, mark: string): string => {
  const size = Math.abs(count)
  return `${count < 0 ? "-" : ""}${Math.floor(size / parts)}${mark}${
    `${size % parts}`.padStart(`${parts - 1}`.length, "0")
  }`
}

const numberText = (form: Form, { digits, value, zero }: Column, count: number, isMoney: boolean): string => {
  if (count === 0 && zero === "") return ""
  const more = digits === 4 ? "00" : ""
  if (!isOfHours(value, isMoney)) {
    return value === "punches" || value === "rows" ? `${count}` : fraction(count, 100, form.decimal) + more
  }
  switch (form.hours) {
    case "decimal:2":
      return fraction(count, 100, form.decimal) + more
    case "decimal:4":
      return fraction(count, 10_000, form.decimal)
    case "h:mm":
      return fraction(count, 60, ":")
    default:
      return `${count}`
  }
}

/** A printed number in its units. What it is printed by is compared afterwards. */
const numberOf = (form: Form, { digits, value }: Column, text: string, isMoney: boolean): number => {
  const figures = text.replaceAll(/[^\d:]/g, "")
  const [wholes = "0", minutes] = figures.split(":")
  const read = minutes === undefined ? Number(figures) : Number(wholes) * 60 + Number(minutes)
  const hasMore = digits === 4 && !(isOfHours(value, isMoney) && form.hours !== "decimal:2")
  const size = hasMore ? read / 100 : read
  return text.includes("-") && size !== 0 ? -size : size
}

const codeTexts = (form: Form, kind: string) => {
  const code = form.payCodes?.[kind] ?? ""
  return typeof code === "string" ? { code, key: "" } : code
}

/** A text of a row that others need not have. */
const ownText = (form: Form, codes: Codes, column: Column, part: Part, kind: string): string => {
  const { field, format, of, value = "" } = column
  if (value === "payCode" || of === "payCode") return codeTexts(form, kind)[field === "key" ? "key" : "code"]
  if (value === "date") return dateText(part.date, format)
  if (value === "rate") return kind === "tips" ? "" : numberText(form, { ...column, value: "cost" }, part.wage, true)
  const [key, what] = of === undefined ? [value.replace(/(?:Code|Name|Id)$/, ""), value.slice(-4)] : [of, "field"]
  const id = idOf(part, key)
  if (id === undefined) return ""
  if (what === "field") return codes.fieldOf(key, id, field ?? "") ?? ""
  return (what === "Code" ? codes.codeOf(key, id) : what === "Name" ? codes.nameOf(key, id) : `${id}`) ?? ""
}

export const idOf = ({ date, department, person, place, role }: Part, key: string): number | undefined =>
  ({ user: person, location: place, department, role, day: date })[key]

/** Whole units that add up: each cut, and one more for the largest remainders, the first of equal ones. */
const apportion = (times: ReadonlyArray<number>, whole: number, unit: number): ReadonlyArray<number> => {
  const cut = times.map((time) => Math.floor(time / unit))
  const turn = times.map((time, at) => [time % unit, at] as const).toSorted(([a, i], [b, j]) => b - a || i - j)
  const more = turn.slice(0, whole - cut.reduce((sum, each) => sum + each, 0)).map(([, at]) => at)
  return cut.map((each, at) => more.includes(at) ? each + 1 : each)
}

const compareOrders = (one: string, other: string): number => {
  const [a, b] = [one, other].map((order) => order.split(" ").map(Number))
  const at = a?.findIndex((each, turn) => each !== b?.[turn]) ?? -1
  return at < 0 ? 0 : (a?.[at] ?? 0) < (b?.[at] ?? 0) ? -1 : 1
}

interface Group {
  readonly kind: string
  readonly texts: ReadonlyArray<string>
  readonly orders: Set<string>
  readonly parts: Array<Part>
}

const sumOf = (parts: ReadonlyArray<Part>, name: "net" | "over" | "double" | "cost" | "tips" | "punches") =>
  parts.reduce((sum, part) => sum + part[name], 0)
const timesOf = (parts: ReadonlyArray<Part>) => ({
  net: sumOf(parts, "net"),
  over: sumOf(parts, "over"),
  double: sumOf(parts, "double")
})

/** The hours of each group: regular, over and double ones. */
const hoursOf = (form: Form, groups: ReadonlyArray<Group>): ReadonlyMap<Group, ReadonlyArray<number>> => {
  const unit = units[form.hours]
  const ofUser = form.addUp === "user" ||
    (form.addUp === undefined && form.by.includes("day") && form.by.includes("user"))
  if (!ofUser) {
    return new Map(groups.map((group) => {
      const alone = form.hoursOf === "punch" ? group.parts.map((part) => [part]) : [group.parts]
      const cells = alone.map((parts) => classesOf(timesOf(parts), unit, form.rounding))
      return [group, [0, 1, 2].map((at) => cells.reduce((sum, cell) => sum + (cell[at] ?? 0), 0))]
    }))
  }
  const hasClasses = form.payCodes?.["regular"] !== undefined ||
    form.columns.some(({ value = "" }) => classes.includes(value))
  const isOfUser = form.columns.map(({ of, value = "" }) => of === "user" || value.startsWith("user"))
  const people = new Map<string, Array<Group>>()
  for (const group of groups) {
    const person = JSON.stringify(group.texts.filter((_, at) => isOfUser[at]))
    people.set(person, [...people.get(person) ?? [], group])
  }
  return new Map([...people.values()].flatMap((own) => {
    const rows = own.toSorted((one, other) => compareOrders(leastOf(one), leastOf(other)))
    const exact = rows.map(({ parts }) => {
      const { double, net, over } = timesOf(parts)
      return hasClasses ? [net - over - double, over, double] : [net, 0, 0]
    })
    const sums = [0, 1, 2].map((at) => exact.reduce((sum, each) => sum + (each[at] ?? 0), 0))
    const whole = apportion(sums, round(sums.reduce((sum, each) => sum + each, 0), unit, form.rounding), unit)
    const cells = whole.map((count, at) => apportion(exact.map((each) => each[at] ?? 0), count, unit))
    return rows.map((row, at) => [row, cells.map((each) => each[at] ?? 0)] as const)
  }))
}

const leastOf = ({ orders }: Group): string => [...orders].toSorted(compareOrders)[0] ?? ""

/** The whole file of some punches. */
export const rowsOf = (form: Form, codes: Codes, parts: ReadonlyArray<Part>): Rows => {
  const { by, columns, payCodes } = form
  const hasRate = columns.some(({ value }) => value === "rate")
  const rows = new Map<string, Row>()
  const own = payCodes === undefined ? ["all"] : kinds.filter((kind) => payCodes[kind] !== undefined)
  for (const [place, kind] of own.entries()) {
    const groups = new Map<string, Group>()
    for (const part of parts) {
      const texts = columns.map((column) =>
        isNumber(column) || isShared(column) ? "" : inWidth(form, column, ownText(form, codes, column, part, kind))
      )
      const key = JSON.stringify(texts)
      const group = groups.get(key) ?? { kind, texts, orders: new Set(), parts: [] }
      const ids = by.map((each) => idOf(part, each) ?? Infinity)
      group.orders.add([...ids, hasRate && kind !== "tips" ? part.wage : Infinity, place].join(" "))
      group.parts.push(part)
      groups.set(key, group)
    }
    const hours = hoursOf(form, [...groups.values()])
    for (const [key, group] of groups) {
      const [regular = 0, over = 0, double = 0] = hours.get(group) ?? []
      const all = regular + over + double
      const ofKind = { regular, over, double, hours: all }[kind] ?? 0
      const cells = columns.map(({ value = "" }) => {
        if (payCodes !== undefined) {
          return kind === "tips"
            ? value === "amount" || value === "quantity" ? sumOf(group.parts, "tips") : 0
            : isOfHours(value)
            ? ofKind
            : 0
        }
        switch (value) {
          case "cost":
          case "tips":
          case "punches":
            return sumOf(group.parts, value)
          default:
            return { hours: all, hoursRegular: regular, hoursOver: over, hoursDouble: double }[value] ?? 0
        }
      })
      rows.set(key, { kind, texts: group.texts, orders: group.orders, cells })
    }
  }
  return rows
}

/** Rows of equal texts added, or taken off. */
export const plus = (one: Rows, other: Rows, sign: 1 | -1): Rows => {
  const sums = new Map(one)
  for (const [key, row] of other) {
    const known = sums.get(key)
    const cells = row.cells.map((cell, at) => (known?.cells[at] ?? 0) + sign * cell)
    sums.set(key, { ...row, cells, orders: new Set([...known?.orders ?? [], ...row.orders]) })
  }
  return sums
}

/** The rows that are not zero in every number. */
export const shownOf = (rows: Rows): Rows =>
  new Map([...rows].filter(([, { cells }]) => cells.some((cell) => cell !== 0)))

/** One text of some rows, to compare. */
export const textOf = (rows: Rows): string =>
  [...shownOf(rows)].map(([key, { cells }]) => `${key}: ${cells.map((cell) => cell === 0 ? 0 : cell).join(" ")}`)
    .toSorted().join("\n")

const sharedText = ({ constant, format, set, value }: Column, shared: Shared | undefined): string | undefined => {
  if (shared === undefined) return constant
  if (set !== undefined) return shared.set[set]
  switch (value) {
    case "revisionId":
      return shared.revision
    case "periodStart":
      return dateText(shared.first, format)
    case "periodEnd":
      return dateText(shared.last, format)
    case "payDate":
      return dateText(shared.payDate, format)
    default:
      return constant
  }
}

const fail = (why: string): never => {
  throw new Error(why)
}

const decoded = ({ encoding }: Form, bytes: Uint8Array): string => {
  const buffer = Buffer.from(bytes)
  if (encoding === "windows-1252") {
    return buffer.toString("latin1").replaceAll("\x80", "€").replaceAll("\x8a", "Š").replaceAll("\x9a", "š")
  }
  if (encoding === "utf-8") return buffer.toString("utf8")
  return buffer.subarray(0, 3).toString("hex") === "efbbbf"
    ? buffer.subarray(3).toString("utf8")
    : fail("no byte order mark")
}

/** The cells of a line as they stand in it, out of their quotes. */
const cellsOf = ({ quote, separator }: Form, columns: ReadonlyArray<Column>, line: string): ReadonlyArray<string> => {
  const hasQuotes = quote === "always" || quote === "texts" || (quote === "whenNeeded" && separator !== "")
  let rest = line
  const cells = columns.map(({ constant, width }, at) => {
    if (at > 0) {
      if (!rest.startsWith(separator)) fail(`no separator before column ${at + 1} of ${line}`)
      rest = rest.slice(separator.length)
    }
    // Without a separator, the quotes of two cells stand side by side: the width says where the first one ends.
    const length = separator === "" && width !== undefined ? `{${width}}` : "*"
    const quoted = hasQuotes ? new RegExp(`^"((?:[^"]|"")${length})"`, "u").exec(rest) : null
    if (quoted !== null) {
      rest = rest.slice(quoted[0].length)
      return (quoted[1] ?? "").replaceAll("\"\"", "\"")
    }
    const next = separator === "" ? columns[at + 1]?.constant ?? "\n" : separator
    const end = rest.indexOf(next)
    const cell = width !== undefined
      ? [...rest].slice(0, width).join("")
      : separator === "" && constant !== undefined
      ? constant
      : end < 0
      ? rest
      : rest.slice(0, end)
    rest = rest.slice(cell.length)
    return cell
  })
  return rest === "" ? cells : fail(`${rest} is behind the last column of ${line}`)
}

/** A line of cells that are laid out. */
const lineOf = ({ quote, separator }: Form, columns: ReadonlyArray<Column>, cells: ReadonlyArray<string>): string =>
  cells.map((cell, at) => {
    const column = columns[at] ?? {}
    const isText = !isNumber(column) && column.value !== "rate"
    const isSpecial = quote !== "never" && separator !== "" && (cell.includes("\"") || cell.includes(separator))
    const isQuoted = quote === "always" || (quote === "texts" && isText && cell.trim() !== "") || isSpecial
    return isQuoted ? `"${cell.replaceAll("\"", "\"\"")}"` : cell
  }).join(separator)

/** The rows of a file. Each line must be what a second writer makes of what it says. */
export const read = (form: Form, shared: Shared | undefined, bytes: Uint8Array): ReadonlyArray<Row> => {
  const { columns, header, lineEnd, payCodes, preamble, trailer } = form
  const lines = decoded(form, bytes).split(lineEnd)
  if (lines.pop() !== "") fail("no line end at the end")
  const before = lines.splice(0, preamble.length)
  const [titles] = header ? lines.splice(0, 1) : []
  const behind = lines.splice(lines.length - trailer.length)
  if (titles !== undefined) {
    const shown = columns.map(({ header = "", width }) => ({ constant: header, ...width !== undefined && { width } }))
    for (const [at, title] of cellsOf(form, shown, titles).entries()) {
      const { header = "", width = 0, ...column } = columns[at] ?? {}
      if (title !== (isNumber(column) ? header.padStart(width) : header.padEnd(width))) fail(`the title ${title}`)
    }
  }
  const rows = lines.map((line): Row => {
    const texts = cellsOf(form, columns, line)
    const kind = payCodes === undefined ?
      "all" :
      kinds.find((each) =>
        payCodes[each] !== undefined &&
        columns.every((column, at) =>
          (column.value !== "payCode" && column.of !== "payCode") ||
          inWidth(form, column, codeTexts(form, each)[column.field === "key" ? "key" : "code"]) === texts[at]
        )
      ) ?? fail(`no pay code in ${line}`)
    const isMoney = kind === "tips"
    /** Whether the row has a number in the column. */
    const isIn = ({ value = "" }: Column) =>
      payCodes === undefined || value === "quantity" || (value === "amount") === isMoney
    const cells = columns.map((column, at) => isNumber(column) ? numberOf(form, column, texts[at] ?? "", isMoney) : 0)
    const again = columns.map((column, at) =>
      isNumber(column)
        ? inWidth(form, column, isIn(column) ? numberText(form, column, cells[at] ?? 0, isMoney) : "")
        : isShared(column)
        ? inWidth(form, column, sharedText(column, shared) ?? "")
        : texts[at] ?? ""
    )
    if (lineOf(form, columns, again) !== line) fail(`${line} is written as ${lineOf(form, columns, again)}`)
    return {
      kind,
      texts: columns.map((column, at) => isNumber(column) || isShared(column) ? "" : texts[at] ?? ""),
      cells,
      orders: new Set()
    }
  })
  const sumText = (column: Column) => {
    const { kind, value } = column
    const isMoney = kind === "amount"
    const own = value === "quantity" ? rows.filter((row) => (row.kind === "tips") === isMoney) : rows
    const count = value === "rows"
      ? rows.length
      : own.flatMap(({ cells }) => cells.filter((_, at) => columns[at]?.value === value))
        .reduce((sum, cell) => sum + cell, 0)
    return numberText(form, column, count, isMoney)
  }
  const written = (line: Line) =>
    typeof line === "string"
      ? line
      : lineOf(form, line, line.map((cell) => inWidth(form, cell, sharedText(cell, shared) ?? sumText(cell))))
  for (const [at, line] of [...preamble, ...trailer].entries()) {
    const given = [...before, ...behind][at]
    if (given !== written(line)) fail(`${given} is written as ${written(line)}`)
  }
  return rows
}

/** The rows of a file by their texts. No two are equal, and none is zero in every number. */
export const byTexts = (rows: ReadonlyArray<Row>): Rows => {
  const all = new Map(rows.map((row) => [JSON.stringify(row.texts), row]))
  if (all.size !== rows.length) fail("two rows of equal texts")
  if (shownOf(all).size !== rows.length) fail("a row without a number")
  return all
}

/** The time that the cells of each column of hours do not have, to the millisecond. */
export const remaindersOf = (form: Form, due: ReadonlyArray<Part>, rows: ReadonlyArray<Row>): ReadonlyArray<number> => {
  const { double, net, over } = timesOf(due)
  const exact: Readonly<Record<string, number>> = {
    hours: net,
    quantity: net,
    hoursRegular: net - over - double,
    hoursOver: over,
    hoursDouble: double
  }
  return form.columns.flatMap(({ value = "" }, at) => {
    const time = exact[value]
    const cells = rows.reduce((sum, { cells, kind }) => sum + (kind === "tips" ? 0 : cells[at] ?? 0), 0)
    return time === undefined ? [] : [time - cells * units[form.hours]]
  })
}

/** Whether rows stand by id, then by wage and pay code, as far as each is of one group. */
export const isInOrder = (rows: ReadonlyArray<Row>, known: Rows): boolean => {
  const orders = rows.flatMap(({ texts }) => {
    const { orders = new Set<string>() } = known.get(JSON.stringify(texts)) ?? {}
    return orders.size === 1 ? [...orders] : []
  })
  return orders.every((order, at) => at === 0 || compareOrders(orders[at - 1] ?? "", order) <= 0)
}
