/** The text of one page of punches in a file format, for `list` and `export`: the texts of all pages join to a file. */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { writeCsv } from "../../export/Csv.ts"
import { writeNdjson } from "../../export/Ndjson.ts"
import type { FurtherColumns } from "../../export/rows.ts"
import type { TimePunch } from "../../TimePunch.ts"
import { jsonElements } from "../terminal/machine.ts"

/** Only the first page of CSV has the header. `further`: columns after those of the punch. */
export const pageText = (
  punches: ReadonlyArray<TimePunch>,
  format: "ndjson" | "csv",
  isFirst: boolean,
  further?: FurtherColumns
) => {
  const rows = Stream.fromArray(punches)
  return Stream.mkString(
    format === "ndjson" ? writeNdjson(rows, further) : writeCsv(rows, { headers: isFirst }, further)
  )
}

/** The same as elements of a JSON array, which `jsonEnd` ends. */
export const jsonText = (punches: ReadonlyArray<TimePunch>, printed: number, further?: FurtherColumns) =>
  Effect.map(
    pageText(punches, "ndjson", false, further),
    (lines) => jsonElements(lines.split("\n").slice(0, -1), printed)
  )
