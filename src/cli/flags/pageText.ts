/** The text of one page of punches in a file format, for `list` and `export`: the texts of all pages join to a file. */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { writeCsv } from "../../export/Csv.ts"
import { writeNdjson } from "../../export/Ndjson.ts"
import type { ExtraColumns, UnwritablePunch } from "../../export/rows.ts"
import type { TimePunch } from "../../TimePunch.ts"
import { type CsvStyle, jsonElements } from "../print/machine.ts"
import type { FileFormat } from "./form.ts"

/** `extra`: columns after the columns of the punch. Only the first page of CSV has the header, and the mark before it. */
export const pageText = (
  punches: ReadonlyArray<TimePunch>,
  format: FileFormat,
  isFirst: boolean,
  { start, ...form }: CsvStyle,
  extra?: ExtraColumns
): Effect.Effect<string, UnwritablePunch> => {
  const rows = Stream.fromArray(punches)
  switch (format) {
    case "ndjson":
      return Stream.mkString(writeNdjson(rows, extra))
    case "csv": {
      const records = Stream.mkString(writeCsv(rows, { headers: isFirst, ...form }, extra))
      return isFirst ? Effect.map(records, (text) => start + text) : records
    }
  }
}

/** The same as elements of a JSON array, which `jsonEnd` ends. */
export const jsonText = (punches: ReadonlyArray<TimePunch>, printed: number, extra?: ExtraColumns) =>
  Effect.map(
    Stream.mkString(writeNdjson(Stream.fromArray(punches), extra)),
    (lines) => jsonElements(lines.split("\n").slice(0, -1), printed)
  )
