/** The text of one page of punches in a file format, for `list` and `export`: the texts of all pages join to a file. */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { writeCsv } from "../../export/Csv.ts"
import { writeNdjson } from "../../export/Ndjson.ts"
import type { FurtherColumns, UnwritablePunch } from "../../export/rows.ts"
import type { TimePunch } from "../../TimePunch.ts"
import type { FileFormat } from "../flags/values.ts"
import { type CsvStyle, jsonElements } from "../print/machine.ts"

type Write = (
  rows: Stream.Stream<TimePunch>,
  isFirst: boolean,
  style: CsvStyle,
  further: FurtherColumns | undefined
) => Stream.Stream<string, UnwritablePunch>

/** Only the first page of CSV has the header, and the mark before it. */
const writers: Record<FileFormat, Write> = {
  ndjson: (rows, _isFirst, _style, further) => writeNdjson(rows, further),
  csv: (rows, isFirst, { separator, start }, further) => {
    const records = writeCsv(rows, { headers: isFirst, separator }, further)
    return isFirst ? Stream.prepend(records, [start]) : records
  }
}

/** `further`: columns after the columns of the punch. */
export const pageText = (
  punches: ReadonlyArray<TimePunch>,
  format: FileFormat,
  isFirst: boolean,
  style: CsvStyle,
  further?: FurtherColumns
) => Stream.mkString(writers[format](Stream.fromArray(punches), isFirst, style, further))

/** The same as elements of a JSON array, which `jsonEnd` ends. */
export const jsonText = (punches: ReadonlyArray<TimePunch>, printed: number, further?: FurtherColumns) =>
  Effect.map(
    pageText(punches, "ndjson", false, { start: "", separator: "," }, further),
    (lines) => jsonElements(lines.split("\n").slice(0, -1), printed)
  )
