/** The names of the `./export` subpath: punches as NDJSON and CSV, chunk by chunk. */
export { csvColumns, type CsvOptions, toCsv } from "./Csv.ts"
export { fromNdjson, toNdjson } from "./Ndjson.ts"
export { UnreadableLine, UnwritablePunch } from "./rows.ts"
