/** The text of a page of punches in a file format: what every page makes stands one behind the other in one whole. */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { toCsv } from "../../export/Csv.ts"
import { toNdjson } from "../../export/Ndjson.ts"
import type { TimePunch } from "../../TimePunch.ts"

/** The first page of CSV begins with the names of the columns. */
export const toText = (punches: ReadonlyArray<TimePunch>, format: "ndjson" | "csv", isFirst: boolean) => {
  const rows = Stream.fromIterable(punches)
  if (format === "ndjson") return Stream.mkString(toNdjson(rows))
  const whole = Stream.mkString(toCsv(rows))
  if (isFirst) return whole
  return Effect.zipWith(whole, Stream.mkString(toCsv(Stream.empty)), (text, header) => text.slice(header.length))
}
