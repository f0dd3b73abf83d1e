/** The text of one page of punches in a file format, for `list` and `export`: the texts of all pages join to a file. */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { writeCsv } from "../../export/Csv.ts"
import { writeNdjson } from "../../export/Ndjson.ts"
import type { FurtherColumns } from "../../export/rows.ts"
import type { TimePunch } from "../../TimePunch.ts"

/** Only the first page of CSV has the header. `further`: columns after those of the punch. */
export const pageText = (
  punches: ReadonlyArray<TimePunch>,
  format: "ndjson" | "csv",
  isFirst: boolean,
  further?: FurtherColumns
) => {
  const rows = Stream.fromArray(punches)
  if (format === "ndjson") return Stream.mkString(writeNdjson(rows, further))
  const whole = Stream.mkString(writeCsv(rows, {}, further))
  if (isFirst) return whole
  return Effect.zipWith(
    whole,
    Stream.mkString(writeCsv(Stream.empty, {}, further)),
    (text, header) => text.slice(header.length)
  )
}

/**
 * The same as a JSON array, a punch a line, which `jsonEnd` ends. An array without its end is not JSON: rows of a run that
 * failed cannot pass for all of them.
 */
export const jsonText = (punches: ReadonlyArray<TimePunch>, printed: number, further?: FurtherColumns) =>
  Effect.map(
    pageText(punches, "ndjson", false, further),
    (lines) => lines === "" ? "" : (printed === 0 ? "[\n" : ",\n") + lines.slice(0, -1).replaceAll("\n", ",\n")
  )

/** The end of the array. */
export const jsonEnd = (printed: number): string => printed === 0 ? "[]\n" : "\n]\n"
