/** Punches into files, and out of one again: bounded memory, whatever their number. */
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Console, Effect, FileSystem, Layer, Stream } from "effect"
import { type Company, type CompanyId, TimePunches } from "effect-time-punches"
import { fromNdjson, toCsv, toNdjson } from "effect-time-punches/export"
import { app, company } from "./app.ts"

/** One line of JSON a punch, in the form that it has on the wire. */
export const writeNdjson = Effect.fn("writeNdjson")(function*(company: CompanyId | Company, path: string) {
  const files = yield* FileSystem.FileSystem
  yield* toNdjson(TimePunches.list(company)).pipe(Stream.encodeText, Stream.run(files.sink(path)))
})

/** For a spreadsheet, which takes the mark at the beginning as a sign of UTF-8. */
export const writeCsv = Effect.fn("writeCsv")(function*(company: CompanyId | Company, path: string) {
  const files = yield* FileSystem.FileSystem
  yield* toCsv(TimePunches.list(company)).pipe(
    Stream.prepend(["\uFEFF"]),
    Stream.encodeText,
    Stream.run(files.sink(path))
  )
})

/** The same punches again, from a file. */
export const readNdjson = (path: string) =>
  Stream.unwrap(Effect.map(FileSystem.FileSystem, (files) => files.stream(path))).pipe(Stream.decodeText, fromNdjson)

export const roundTrip = Effect.fn("roundTrip")(function*(company: CompanyId | Company, directory: string) {
  yield* writeNdjson(company, `${directory}/punches.ndjson`)
  yield* writeCsv(company, `${directory}/punches.csv`)
  const punches = yield* readNdjson(`${directory}/punches.ndjson`).pipe(Stream.runCount)
  yield* Console.log(`${punches} punches written and read`)
})

export const main = Effect.flatMap(company, (id) => roundTrip(id, "."))

if (import.meta.main) NodeRuntime.runMain(Effect.provide(main, Layer.merge(app, NodeServices.layer)))
