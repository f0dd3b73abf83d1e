/** How a payroll file is laid out: its numbers and dates, widths, quotes, lines and bytes. */
import * as Schema from "effect/Schema"
import * as Struct from "effect/Struct"
import { type BusinessDate } from "../Ids.ts"
import {
  amountForms,
  cellLists,
  type Column,
  type DateFormat,
  defaultFormat,
  defaults,
  hasHours,
  isAmountValue,
  isNumberValue,
  isOneOf,
  type Mapping
} from "./mapping.ts"

/** How hours are counted and written: the milliseconds of one unit, how many units an hour shows, and what stands before them. */
export const hourForms = {
  "decimal:2": { unit: 36_000n, parts: 100n },
  "decimal:4": { unit: 360n, parts: 10_000n },
  "h:mm": { unit: 60_000n, parts: 60n, mark: ":" },
  minutes: { unit: 60_000n, parts: 1n },
  seconds: { unit: 1000n, parts: 1n }
} as const satisfies Record<Mapping["hours"], HourForm & { readonly unit: bigint }>

interface HourForm {
  readonly parts: bigint
  readonly mark?: string
}

/** Empty without a date. */
export const dateText = (date: BusinessDate | undefined, format: DateFormat = defaultFormat): string => {
  const [year = "", month = "", day = ""] = date?.split("-") ?? []
  const parts = { YYYY: year, YY: year.slice(2), MM: month, DD: day, M: `${Number(month)}`, D: `${Number(day)}` }
  const isPart = isOneOf(Struct.keys(parts))
  return date === undefined ? "" : format.replace(/YYYY|YY|MM|DD|M|D/g, (part) => isPart(part) ? parts[part] : "")
}

/** `isAmount`: whether a `quantity` is of money. */
export const numberText = (mapping: Mapping, column: Column, cell: bigint, isAmount: boolean): string => {
  const { value, zero } = column
  if (cell === 0n && zero !== undefined) return ""
  const isCount = value === "rows" || (isAmountValue(value) && amountForms[value] === "count")
  const form: HourForm = hasHours(column, isAmount) ? hourForms[mapping.hours] : { parts: isCount ? 1n : 100n }
  if (form.parts === 1n) return `${cell}`
  return form.parts === 100n
    ? moneyText(mapping, column, cell)
    : fraction(cell, form.parts, form.mark ?? mapping.decimal ?? defaults.decimal)
}

/** Hundredths, with zeros behind them if the column has more digits. */
export const moneyText = ({ decimal = defaults.decimal }: Mapping, { digits = 2 }: Column, cents: bigint): string =>
  fraction(cents, 100n, decimal) + "0".repeat(digits - 2)

/** A number of parts as wholes and the parts that are left: `-1.05`, `8:05`. */
const fraction = (count: bigint, parts: bigint, mark: string): string => {
  const size = count < 0n ? -count : count
  const digits = `${parts - 1n}`.length
  return `${count < 0n ? "-" : ""}${size / parts}${mark}${`${size % parts}`.padStart(digits, "0")}`
}

const isNumber = ({ value }: Column): boolean => isNumberValue(value) || value === "rows"

const isText = (column: Column): boolean => !isNumber(column) && column.value !== "rate"

/** At which end a cell of the column stands in its width. */
export const alignOf = (column: Column): "left" | "right" => column.align ?? (isText(column) ? "left" : "right")

const lengthOf = (text: string): number => [...text].length

/** A cell in its width, which a longer one keeps: `UnfitCell` then names it. */
export const laidOut = ({ encoding }: Mapping, column: Column, cell: string): string => {
  const text = encoding === "windows-1252" ? cell.normalize("NFC") : cell
  const { pad = " ", width = 0 } = column
  const missing = Math.max(0, width - lengthOf(text))
  if (missing === 0 || text === "" || alignOf(column) === "left")
    return text + (text === "" ? " " : pad).repeat(missing)
  const sign = pad === "0" && isNumber(column) && text.startsWith("-") ? "-" : ""
  return sign + pad.repeat(missing) + text.slice(sign.length)
}

/** A line as it is, or its cells; `place` is its name in errors. */
export type FileLine = string | {
  readonly place: string
  readonly columns: ReadonlyArray<Column>
  readonly cells: ReadonlyArray<string>
}

/** A cell that the mapping cannot write: it is longer than its width, or has what the form cannot show. Nothing is cut. */
export class UnfitCell extends Schema.TaggedError<UnfitCell>("effect-time-punches/PayrollFile/UnfitCell")("UnfitCell", {
  /** Where it stands: a row counted from 1, the titles, or a line such as `trailer[0]`. */
  place: Schema.String,
  /** Its column, counted from 1. */
  column: Schema.Natural,
  /** Its text. */
  text: Schema.String,
  /** Why it does not fit. */
  detail: Schema.String
}) {
  /** The place, the text and why it does not fit. */
  override get message(): string {
    return `${this.place}, column ${this.column}, ${JSON.stringify(this.text)}: ${this.detail}`
  }

  /** Whether the same call may succeed later with nothing changed: no. */
  get isRetryable(): boolean {
    return false
  }
}

/** Signs that XML reads as its own, unless they are written as entities. */
const markup = /[<>"]|&(?!(?:amp|lt|gt|quot|apos|#\d+|#x[\da-f]+);)/i

/** The text of a file, or the first cell that does not fit. */
export const textOf = (mapping: Mapping, lines: ReadonlyArray<FileLine>): string | UnfitCell => {
  const { encoding, lineEnd, quote, separator } = { ...defaults, ...mapping }
  // In a file of widths, quotes would move what stands behind them.
  const isBare = quote === "never" || (quote === "whenNeeded" && separator === "")
  const isMarkup = cellLists(mapping).some(({ cells }) => cells.some(({ constant }) => constant?.includes("<")))
  /** Of a text whose ends are constants alone: whether it has a sign of XML, or of the quotes that they write. */
  const whyUnescaped = (text: string, { width }: Column, columns: ReadonlyArray<Column>): string | undefined => {
    const [sign] = isMarkup ? markup.exec(text) ?? [] : []
    if (sign !== undefined) return `it has ${sign}, and the constants are of XML: write an entity, such as &amp;`
    const isOwn = (quote: string) => text.includes(quote) && columns.some(({ constant }) => constant?.includes(quote))
    const own = isMarkup || width === undefined ? ["\"", "'"].find(isOwn) : undefined
    return own === undefined ? undefined : `it has ${own}, which the constants use as quotes`
  }
  const whyUnfit = (column: Column, text: string, columns: ReadonlyArray<Column>): string | undefined => {
    if (column.width !== undefined && lengthOf(text) > column.width) {
      return `it has ${lengthOf(text)} characters, and the width is ${column.width}`
    }
    if (isBare && column.constant === undefined && isText(column)) {
      if (/[\r\n]/.test(text)) return "it has the end of a line, and nothing is in quotes"
      if (separator !== "" && text.includes(separator)) return "it has the separator, and nothing is in quotes"
      const why = separator === "" ? whyUnescaped(text, column, columns) : undefined
      if (why !== undefined) return why
    }
    const foreign = encoding === "windows-1252" ? [...text].find((char) => windows1252(char) === undefined) : undefined
    return foreign === undefined ? undefined : `windows-1252 has no ${JSON.stringify(foreign)}`
  }
  const quoted = (column: Column, text: string): string => {
    const isQuoted = quote === "always" || (quote === "texts" && isText(column) && text.trim() !== "") ||
      (quote !== "never" && !isBare && (/["\r\n]/.test(text) || (separator !== "" && text.includes(separator))))
    return isQuoted ? `"${text.replaceAll("\"", "\"\"")}"` : text
  }
  const whole: Array<string> = []
  for (const line of lines) {
    const { cells, columns, place } = typeof line === "string"
      ? { cells: [line], columns: [{ constant: "" }], place: "a line" }
      : line
    const texts: Array<string> = []
    for (const [at, cell] of cells.entries()) {
      const column = columns[at] ?? {}
      const text = laidOut(mapping, column, cell)
      const why = whyUnfit(column, text, columns)
      if (why !== undefined) return new UnfitCell({ place, column: at + 1, text, detail: why })
      texts.push(typeof line === "string" ? text : quoted(column, text))
    }
    whole.push(`${texts.join(separator)}${lineEnd}`)
  }
  return `${encoding === "utf-8-bom" ? "\uFEFF" : ""}${whole.join("")}`
}

const bytes1252 = new Map<string, number>()

/** The byte of a character, if it has one. */
const windows1252 = (char: string): number | undefined => {
  if (char <= "\u007F") return char.codePointAt(0)
  if (bytes1252.size === 0) {
    const decoder = new TextDecoder("windows-1252")
    for (let byte = 0x80; byte <= 0xff; byte++) {
      // Five bytes have no character, and are read as controls.
      const char = decoder.decode(Uint8Array.of(byte))
      if (char > "\u009F") bytes1252.set(char, byte)
    }
  }
  return bytes1252.get(char)
}

/** The bytes of the text of a file. */
export const bytesOf = ({ encoding }: Mapping, text: string): Uint8Array =>
  encoding === "windows-1252"
    ? Uint8Array.from(text, (char) => windows1252(char) ?? 0)
    : new TextEncoder().encode(text)
