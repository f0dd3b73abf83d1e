/** Results for programs: a JSON array with an element a line, its instants, and CSV as records. */
import * as DateTime from "effect/DateTime"
import * as Option from "effect/Option"
import { type Cell, type CsvForm, csvRecord, guardedRecord } from "../../internal/wire/csv.ts"

/** Elements of a JSON array, each a line, after `printed` earlier ones. `jsonEnd` ends the array. */
export const jsonElements = (elements: ReadonlyArray<string>, printed: number): string =>
  elements.length === 0 ? "" : (printed === 0 ? "[\n" : ",\n") + elements.join(",\n")

/**
 * The end of the array. An array without its end is not JSON: the rows of a run that failed cannot pass for all of
 * them.
 */
export const jsonEnd = (printed: number): string => printed === 0 ? "[]" : "\n]"

/** A whole JSON array. */
export const jsonArray = (elements: ReadonlyArray<unknown>): string => {
  const lines = elements.map((element) => JSON.stringify(element))
  return jsonElements(lines, 0) + jsonEnd(lines.length)
}

/** An instant, or null, as a value of JSON. */
export const isoOf = (at: Option.Option<DateTime.Utc>) => Option.getOrNull(Option.map(at, DateTime.formatIso))

/** How CSV is written, and what stands before the header. */
export interface CsvStyle extends Required<CsvForm> {
  readonly start: "" | "\uFEFF"
}

/** A whole CSV file, with its header. A text that a spreadsheet could run as a formula is guarded, unless formulas are kept. */
export const csvFile = (
  header: ReadonlyArray<string>,
  rows: ReadonlyArray<ReadonlyArray<Cell>>,
  style: CsvStyle
): string => style.start + csvRecords([header, ...rows], style)

/** Records of cells. */
export const csvRecords = (rows: ReadonlyArray<ReadonlyArray<Cell>>, form: CsvForm): string =>
  rows.map((cells) => `${csvRecord(cells, form)}\r\n`).join("")

/** Records of cells that are guarded already. */
export const guardedRecords = (rows: ReadonlyArray<ReadonlyArray<string>>, form: CsvForm): string =>
  rows.map((cells) => `${guardedRecord(cells, form)}\r\n`).join("")
