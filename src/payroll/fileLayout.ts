/** How a payroll file is laid out: its numbers and dates, widths, quotes, lines and bytes. */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Struct from "effect/Struct"
import { type BusinessDate } from "../Ids.ts"
import {
  type Column,
  type DateFormat,
  defaultFormat,
  defaults,
  formOf,
  isDateValue,
  isOneOf,
  type Mapping
} from "./mapping.ts"

/** How hours are counted and written: the milliseconds of one unit, how many units an hour shows, and what stands before them. */
export const hourForms: Readonly<Record<Mapping["hours"], NumberForm & { readonly unit: bigint }>> = {
  "decimal:2": { unit: 36_000n, parts: 100n },
  "decimal:4": { unit: 360n, parts: 10_000n },
  "h:mm": { unit: 60_000n, parts: 60n, mark: ":" },
  minutes: { unit: 60_000n, parts: 1n },
  seconds: { unit: 1000n, parts: 1n }
}

interface NumberForm {
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

/** A number of units, such as `-1.05`, `8:05` or `495`, with zeros behind it if the column has more digits. */
export const numberText = (mapping: Mapping, column: Column, count: bigint, isMoney = false): string => {
  if (count === 0n && column.zero !== undefined) return ""
  const form = formOf(column, isMoney)
  const { mark = mapping.decimal ?? defaults.decimal, parts }: NumberForm = form === "hours"
    ? hourForms[mapping.hours]
    : { parts: form === "money" ? 100n : 1n }
  if (parts === 1n) return `${count}`
  const size = count < 0n ? -count : count
  const digits = parts === 100n ? column.digits ?? 2 : `${parts - 1n}`.length
  const rest = `${size % parts}`.padStart(`${parts - 1n}`.length, "0").padEnd(digits, "0")
  return `${count < 0n ? "-" : ""}${size / parts}${mark}${rest}`
}

/** At which end a cell of the column stands in its width. */
export const alignOf = (column: Column): "left" | "right" =>
  column.align ?? (formOf(column) === undefined ? "left" : "right")

const lengthOf = (text: string): number => [...text].length

/** A text in the characters that are printed: one byte has no room for a letter and its accent apart. */
export const printed = ({ encoding }: Mapping, text: string): string =>
  encoding === "windows-1252" ? text.normalize("NFC") : text

/** A cell in its width, which a longer one keeps: `UnfitCell` then names it. */
export const laidOut = (mapping: Mapping, column: Column, cell: string): string => {
  const text = printed(mapping, cell)
  const { pad = " ", width = 0 } = column
  const missing = Math.max(0, width - lengthOf(text))
  if (text === "") return " ".repeat(missing)
  if (alignOf(column) === "left") return text + pad.repeat(missing)
  const sign = pad === "0" && formOf(column) !== undefined && text.startsWith("-") ? "-" : ""
  return sign + pad.repeat(missing) + text.slice(sign.length)
}

/** A line: its cells with their columns; without a column, a text as it is. In errors `place` is its name, and `ids` say whose it is. */
export interface FileLine {
  readonly place: string
  readonly ids?: string
  readonly cells: ReadonlyArray<readonly [column: Column | undefined, cell: string]>
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

/** Forms that constants make, each with the signs that it reads as its own unless they are escaped. */
const escapedForms = {
  XML: { signs: /[<>"&]/, escapes: /&(?:amp|lt|gt|quot|apos|#\d+|#x[\da-f]+);/gi, example: "an entity, such as &amp;" },
  // Other escapes may be meant as they stand, such as that in `SHOP\nina`.
  JSON: { signs: /["\\\p{Cc}]/u, escapes: /\\["\\]/g, example: "\\\" or \\\\" }
}

/** The beginning of a tag of XML, whose name may be the next cell: `<>` and `< ` are none. */
const tag = /<(?=[\p{L}_:/?!]|$)/u

/** A quote of JSON at a bracket or a colon. */
const jsonQuote = /[[{]\s*"|"\s*[:\]}]/

/** A quote, but no apostrophe in a word. */
const quoteSign = /["'](?!(?<=\p{L}['"])\p{L})/gu

/** The text of a file and its bytes, or the first cell that does not fit. */
export const textOf = (
  mapping: Mapping,
  lines: ReadonlyArray<FileLine>
): Result.Result<{ readonly text: string; readonly bytes: Uint8Array }, UnfitCell> => {
  const { encoding, lineEnd, quote, separator } = { ...defaults, ...mapping }
  const bytes1252 = encoding === "windows-1252" ? makeBytes1252() : undefined
  // In a file of widths, quotes would move what stands behind them.
  const isBare = quote === "never" || (quote === "whenNeeded" && separator === "")
  const hasSeparator = (text: string) => separator !== "" && text.includes(separator)
  /** Of a text whose ends are constants alone: whether it has a sign of their form, one of their quotes, or the constant behind it. */
  const whyUnescaped = (column: Column, text: string, cells: FileLine["cells"], at: number): string | undefined => {
    const { value, width } = column
    const constants = cells.flatMap(([column]) => column?.constant ?? [])
    const has = (form: RegExp) => constants.some((constant) => form.test(constant))
    const form = has(tag) ? "XML" : width !== undefined ? "widths" : has(jsonQuote) ? "JSON" : "signs"
    if (form === "XML" || form === "JSON") {
      const { escapes, example, signs } = escapedForms[form]
      const [sign] = signs.exec(text.replaceAll(escapes, " ")) ?? []
      if (sign !== undefined) return `it has ${sign}, and the constants are of ${form}: write ${example}`
    }
    if (form === "JSON") {
      const before = cells.slice(0, at).map(([column]) => column?.constant).join("")
      const isMissing = text === "" && formOf(column) !== undefined && before.split("\"").length % 2 === 1
      return isMissing ? "it is empty, and JSON has no empty number: write it in quotes, or use quantity" : undefined
    }
    if (form === "widths") return undefined
    const quotes = constants.flatMap((constant) => constant.match(quoteSign) ?? [])
    const own = quotes.find((quote) => text.includes(quote))
    if (own !== undefined) return `it has ${own}, which the constants use as quotes`
    const behind = cells[at + 1]?.[0]?.constant ?? ""
    // The length of a date is known, blanks part words, and digits part nothing.
    const isParted = form === "XML" || quotes.length > 0 || isDateValue(value) || !/[^ \d]/.test(behind)
    return isParted || !text.includes(behind)
      ? undefined
      : `it has the constant behind it, ${JSON.stringify(behind)}, and nothing is in quotes`
  }
  const whyUnfit = (column: Column, text: string, cells: FileLine["cells"], at: number): string | undefined => {
    const { constant, width = Infinity } = column
    if (lengthOf(text) > width) return `it has ${lengthOf(text)} characters, and the width is ${width}`
    if (isBare && constant === undefined) {
      if (/[\r\n]/.test(text)) return "it has the end of a line, and nothing is in quotes"
      if (hasSeparator(text)) return "it has the separator, and nothing is in quotes"
      const why = separator === "" ? whyUnescaped(column, text, cells, at) : undefined
      if (why !== undefined) return why
    }
    const foreign = bytes1252 && [...text].find((char) => !bytes1252.has(char))
    return foreign === undefined ? undefined : `windows-1252 has no ${JSON.stringify(foreign)}`
  }
  const quoted = (column: Column, text: string): string => {
    const isQuoted = quote === "always" || (quote === "texts" && formOf(column) === undefined && text.trim() !== "") ||
      (!isBare && (/["\r\n]/.test(text) || hasSeparator(text)))
    return isQuoted ? `"${text.replaceAll("\"", "\"\"")}"` : text
  }
  let text = encoding === "utf-8-bom" ? "\uFEFF" : ""
  for (const { cells, ids = "", place } of lines) {
    const texts: Array<string> = []
    for (const [at, [column, cell]] of cells.entries()) {
      const own = laidOut(mapping, column ?? {}, cell)
      const why = whyUnfit(column ?? { constant: own }, own, cells, at)
      if (why !== undefined) {
        const detail = ids === "" ? why : `${why} (${ids})`
        return Result.fail(new UnfitCell({ place, column: at + 1, text: own, detail }))
      }
      texts.push(column === undefined ? own : quoted(column, own))
    }
    text += `${texts.join(separator)}${lineEnd}`
  }
  const bytes = bytes1252 === undefined
    ? new TextEncoder().encode(text)
    : Uint8Array.from(text, (char) => bytes1252.get(char) ?? 0)
  return Result.succeed({ text, bytes })
}

/** The byte of each character of windows-1252. */
const makeBytes1252 = (): ReadonlyMap<string, number> => {
  const decoder = new TextDecoder("windows-1252")
  const all = Array.from({ length: 256 }, (_, byte) => [decoder.decode(Uint8Array.of(byte)), byte] as const)
  // Five bytes have no character, and are read as controls.
  return new Map(all.filter(([char]) => char < "\u0080" || char > "\u009F"))
}
