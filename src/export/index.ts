/** The names of the `./export` subpath: punches as NDJSON and CSV, chunk by chunk. */
export * as Csv from "./Csv.ts"
export * as Ndjson from "./Ndjson.ts"
export { UnreadableLine, UnwritablePunch } from "./rows.ts"
