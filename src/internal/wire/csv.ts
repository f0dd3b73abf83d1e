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

/** The text of a cell, not yet quoted: empty where there is no value, guarded where it could run as a formula. */
export const csvCell = (value: Cell): string => {
  if (value === null || value === undefined) return ""
  return typeof value === "string" && suspicious.test(value) ? value.replace(formula, "'") : String(value)
}

/** A record of such cells, in quotes where RFC 4180 needs them, without its line end. */
export const csvRecord = (cells: ReadonlyArray<Cell>): string => guardedRecord(cells.map(csvCell))

/** The same of texts that `csvCell` has made. */
export const guardedRecord = (texts: ReadonlyArray<string>): string =>
  texts.map((text) => /[",\r\n]/.test(text) ? `"${text.replaceAll("\"", "\"\"")}"` : text).join(",")
