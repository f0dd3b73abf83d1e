/** Cells of a CSV file that no spreadsheet runs as a formula, and records of them. Pure. */

/**
 * Where a spreadsheet reads the start of a formula, in either width, also behind blanks, quotes and invisible characters
 * that some of them skip. A program that separates by `;` or tabs does not take the quotes of a field for quotes, so for
 * it a cell begins behind each of these and behind each line break. A `'` counts in, so that removing one `'` at each
 * such place restores the text.
 */
const formula =
  /^(?=['"\s\p{C}]*[=+\-@＝＋－＠]|'*[\t\r\n])|(?<=[;\t\r\n])(?=(?:(?![\t\r\n])['"\s\p{C}])*[=+\-@＝＋－＠])/gu

/** What every text with such a place contains; most texts do not, and this test takes a third of the time. */
const suspicious = /^['"\s\p{C}=+\-@＝＋－＠]|[;\t\r\n]/u

/** A value of a cell; a number stays a number, also a negative one. */
export type Cell = string | number | boolean | null | undefined

/** The text of a cell, not yet quoted: empty without a value, guarded if it could run as a formula. */
export const csvCell = (value: Cell): string => {
  if (value === null || value === undefined) return ""
  return typeof value === "string" && suspicious.test(value) ? value.replace(formula, "'") : String(value)
}

/** What stands between two cells. */
export type CsvSeparator = "," | ";"

const behindComma = /(?<=,)(?=(?:(?![\t\r\n])['"\s\p{C}])*[=+\-@＝＋－＠])/gu

/** The text of `csvCell` between these: a program that separates by commas begins a cell behind each comma of a `;` file. */
export const guardedFor = (text: string, separator: CsvSeparator): string =>
  separator === ";" ? text.replace(behindComma, "'") : text

/** A record of such cells, in quotes if RFC 4180 needs them, without its line end. */
export const csvRecord = (cells: ReadonlyArray<Cell>, separator?: CsvSeparator): string =>
  guardedRecord(cells.map(csvCell), separator)

const special = { ",": /[",\r\n]/, ";": /[";\r\n]/ }

/** The same of texts that `csvCell` has made. */
export const guardedRecord = (texts: ReadonlyArray<string>, separator: CsvSeparator = ","): string =>
  texts.map((text) => guardedFor(text, separator))
    .map((text) => special[separator].test(text) ? `"${text.replaceAll("\"", "\"\"")}"` : text)
    .join(separator)
