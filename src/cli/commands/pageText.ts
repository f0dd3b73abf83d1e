/** The text of one page of punches in a file format, for `list` and `export`: the texts of all pages join to a file. */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { toCsv } from "../../export/Csv.ts"
import { toNdjson } from "../../export/Ndjson.ts"
import type { TimePunch } from "../../TimePunch.ts"

/** Only the first page of CSV has the header. */
export const pageText = (punches: ReadonlyArray<TimePunch>, format: "ndjson" | "csv", isFirst: boolean) => {
  const rows = Stream.fromIterable(punches)
  if (format === "ndjson") return Stream.mkString(toNdjson(rows))
  const whole = Stream.mkString(toCsv(rows))
  if (isFirst) return whole
  return Effect.zipWith(whole, Stream.mkString(toCsv(Stream.empty)), (text, header) => text.slice(header.length))
}
