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

/** How records are written. */
export interface CsvForm {
  /** What stands between two cells. Default `,`. */
  readonly separator?: "," | ";" | undefined
  /** Whether texts that could run as a formula are changed. Default `guard`. */
  readonly formulas?: "guard" | "keep" | undefined
}

/** The same in a form: a text is as it is where formulas are kept. */
export const csvCellOf = ({ formulas }: CsvForm = {}): (value: Cell) => string =>
  formulas === "keep" ? (value) => String(value ?? "") : csvCell

const behindComma = /(?<=,)(?=(?:(?![\t\r\n])['"\s\p{C}])*[=+\-@＝＋－＠])/gu

/** The text of such a cell in a file: a program that separates by commas begins a cell behind each comma of a `;` file. */
export const guardedFor = (text: string, { formulas, separator }: CsvForm): string =>
  separator === ";" && formulas !== "keep" ? text.replace(behindComma, "'") : text

/** A record of values, in quotes if RFC 4180 needs them, without its line end. */
export const csvRecord = (cells: ReadonlyArray<Cell>, form: CsvForm): string =>
  guardedRecord(cells.map(csvCellOf(form)), form)

const special = { ",": /[",\r\n]/, ";": /[";\r\n]/ }

/** The same of texts that `csvCellOf` has made. */
export const guardedRecord = (texts: ReadonlyArray<string>, form: CsvForm): string => {
  const { separator = "," } = form
  return texts.map((text) => guardedFor(text, form))
    .map((text) => special[separator].test(text) ? `"${text.replaceAll("\"", "\"\"")}"` : text)
    .join(separator)
}
