/** Writes punches to files and reads them back, in bounded memory. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Console, Effect, FileSystem, Layer, Stream } from "effect"
import { type Company, type CompanyId, TimePunches } from "effect-time-punches"
import { Csv, Ndjson } from "effect-time-punches/export"
import { app, company } from "./app.ts"

/** One line of JSON per punch, in its wire form. */
export const writeNdjson = Effect.fn("writeNdjson")(function*(company: CompanyId | Company, path: string) {
  const files = yield* FileSystem.FileSystem
  yield* Ndjson.encode(TimePunches.list(company)).pipe(Stream.encodeText, Stream.run(files.sink(path)))
})

/** For spreadsheets, which recognise UTF-8 by the byte order mark at the start. */
export const writeCsv = Effect.fn("writeCsv")(function*(company: CompanyId | Company, path: string) {
  const files = yield* FileSystem.FileSystem
  yield* Csv.encode(TimePunches.list(company)).pipe(
    Stream.prepend(["\uFEFF"]),
    Stream.encodeText,
    Stream.run(files.sink(path))
  )
})

/** Reads the punches back from a file. */
export const readNdjson = (path: string) =>
  Stream.unwrap(Effect.map(FileSystem.FileSystem, (files) => files.stream(path))).pipe(Stream.decodeText, Ndjson.decode)

export const roundTrip = Effect.fn("roundTrip")(function*(company: CompanyId | Company, directory: string) {
  yield* writeNdjson(company, `${directory}/punches.ndjson`)
  yield* writeCsv(company, `${directory}/punches.csv`)
  const punches = yield* readNdjson(`${directory}/punches.ndjson`).pipe(Stream.runCount)
  yield* Console.log(`${punches} punches written and read`)
})

export const main = Effect.flatMap(company, (id) => roundTrip(id, "."))

if (import.meta.main) NodeRuntime.runMain(Effect.provide(main, Layer.merge(app, NodeServices.layer)))
