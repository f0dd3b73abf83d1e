/**
 * An unfinished export on disk, so that a run that was killed at any moment can be gone on with.
 *
 * Beside `FILE` stand `FILE.part`, the rows so far, and `FILE.resume.json`, which says how many bytes of it count and
 * which cursor comes next. The latter is only ever replaced whole, after the bytes are on disk. `FILE` itself appears,
 * or is replaced, in one step at the end.
 */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import type * as PlatformError from "effect/PlatformError"
import * as Schema from "effect/Schema"
import * as Crypto from "node:crypto"
import { Cursor } from "../../Ids.ts"
import { CommandFailure, exitCode, usage } from "../failure.ts"

/** What an export asks for, as flags and their values: the same words mean the same file. */
export type Question = Readonly<Record<string, string>>

const Place = Schema.Struct({
  /** How much of `FILE.part` counts. */
  bytes: Schema.Int,
  pages: Schema.Int,
  punches: Schema.Int,
  /** The page that comes next; null at the start and at the end. */
  cursor: Schema.OptionFromNullOr(Cursor),
  complete: Schema.Boolean
})

/** How far an export is. */
export type Place = typeof Place.Type

const State = Schema.fromJsonString(Schema.Struct({
  about: Schema.String,
  /** The run that wrote it last: another one that still goes on must notice, and stop. */
  run: Schema.String,
  fingerprint: Schema.String,
  question: Schema.Record(Schema.String, Schema.String),
  ...Place.fields
}))

/** Raised when files of this form, or the rows themselves, change, so that no two forms meet in one file. */
const form = 1

const fingerprintOf = (question: Question): string =>
  Crypto.createHash("sha256").update(JSON.stringify([form, Object.entries(question).toSorted()])).digest("hex")

const beginning: Place = { bytes: 0, pages: 0, punches: 0, cursor: Option.none(), complete: false }

type Fails = CommandFailure | PlatformError.PlatformError

export interface Checkpoint {
  /** Where this run begins. */
  readonly begin: Place
  /** Puts the text of a page behind the others and notes the place after it. It happens whole or not at all. */
  readonly append: (text: string, after: Omit<Place, "bytes">) => Effect.Effect<void, Fails>
  /** Makes the rows the file, once `append` noted that they are complete. */
  readonly finish: Effect.Effect<void, Fails>
  /** The place that is on disk. */
  readonly place: Effect.Effect<Place>
  /** Takes the note away where there is nothing in it to go on with. */
  readonly abandon: Effect.Effect<void>
}

/** Finds where an export of `output` stands. Refuses one that was begun with another question, unless `force` is set. */
export const openCheckpoint = Effect.fnUntraced(function*(
  output: string,
  question: Question,
  force: boolean
): Effect.fn.Return<Checkpoint, Fails, FileSystem.FileSystem | Path.Path> {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const part = `${output}.part`
  const note = `${output}.resume.json`
  const run = Crypto.randomUUID()
  const scratch = `${note}.${run}.tmp`
  const fingerprint = fingerprintOf(question)

  const sizeOf = (file: string) => whenThere(Effect.map(fs.stat(file), ({ size }) => Number(size)))
  const read = Effect.gen(function*() {
    const text = yield* whenThere(fs.readFileString(note))
    if (Option.isNone(text)) return Option.none()
    const state = Schema.decodeUnknownOption(State)(text.value)
    return Option.isSome(state) ? state : yield* usage(`${note} cannot be read`, startAnew)
  })

  /** Writes into a file so that the bytes are on disk before whatever comes next. */
  const write = (file: string, bytes: Uint8Array, options: { readonly flag: "w" | "r+"; readonly at: number }) =>
    Effect.scoped(Effect.gen(function*() {
      const handle = yield* fs.open(file, { flag: options.flag })
      yield* handle.seek(BigInt(options.at), "start")
      yield* handle.writeAll(bytes)
      yield* handle.sync
    }))

  yield* refuseOddTarget(output)
  yield* fs.access(path.dirname(path.resolve(output)), { writable: true })
  const before: Option.Option<typeof State.Type> = force ? Option.none() : yield* read
  if (Option.isSome(before) && before.value.fingerprint !== fingerprint) {
    return yield* usage(
      `${note} is of an export that was begun with other flags: ${differences(before.value.question, question)}`,
      "Run that one again to go on with it, or choose another --output.",
      startAnew
    )
  }

  // Rows that were counted and are gone (or cut) cannot be gone on with; and the last step may be all that is missing.
  const partSize = yield* sizeOf(part)
  const moved = Option.isSome(before) && before.value.complete && Option.isNone(partSize) &&
    Option.contains(yield* sizeOf(output), before.value.bytes)
  const begin = before.pipe(
    Option.filter(({ bytes }) => moved || Option.exists(partSize, (size) => size >= bytes)),
    Option.getOrElse(() => beginning)
  )
  let place: Place = begin

  const save = Effect.fnUntraced(function*(next: Place) {
    const text = yield* Effect.orDie(Schema.encodeEffect(State)({ ...next, about, run, fingerprint, question }))
    yield* write(scratch, encode(text), { flag: "w", at: 0 })
    yield* fs.rename(scratch, note)
    place = next
  })

  /**
   * Two runs would write into one another. The later one sets its mark, long before it has a page to write; the earlier
   * one finds it, and stops. If it was just noting a page, its own mark comes last, and the later one stops.
   */
  const own = Effect.gen(function*() {
    const state = yield* read
    if (!Option.exists(state, (now) => now.run === run)) return yield* takenOver(output)
  })

  yield* clearScratch(note)
  yield* save(begin)

  return {
    begin,
    place: Effect.sync(() => place),
    append: (text, after) =>
      Effect.gen(function*() {
        yield* own
        const bytes = encode(text)
        // What a killed run left beyond the noted bytes is written over, and cut off in the end.
        yield* write(part, bytes, { flag: place.bytes === 0 ? "w" : "r+", at: place.bytes })
        yield* save({ ...after, bytes: place.bytes + bytes.length })
      }).pipe(unlessGone(output), Effect.uninterruptible),
    finish: Effect.gen(function*() {
      yield* own
      if (!moved) {
        yield* fs.truncate(part, place.bytes)
        yield* fs.rename(part, output)
      }
      yield* fs.remove(note, { force: true })
    }).pipe(unlessGone(output), Effect.uninterruptible),
    // Where nothing was noted there is nothing to go on with.
    abandon: Effect.suspend(() => place.pages > 0 ? Effect.void : Effect.andThen(own, fs.remove(note, { force: true })))
      .pipe(Effect.ignore, Effect.uninterruptible)
  }
})

const takenOver = (output: string) =>
  new CommandFailure({
    message: `another run has taken over the export to ${output}`,
    advice: ["This one has stopped, and that one goes on."],
    code: exitCode.system
  })

/** Files that this run made vanish only when another one has taken over, or finished. */
const unlessGone = (output: string) => <A, E extends Fails, R>(self: Effect.Effect<A, E, R>) =>
  Effect.catchIf(
    self,
    (error: Fails) => error._tag === "PlatformError" && error.reason._tag === "NotFound",
    () => Effect.fail(takenOver(output))
  )

/** Takes away what killed runs left half-written. */
const clearScratch = Effect.fnUntraced(function*(note: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const folder = path.dirname(path.resolve(note))
  for (const name of yield* fs.readDirectory(folder)) {
    if (name.startsWith(`${path.basename(note)}.`) && name.endsWith(".tmp")) {
      yield* fs.remove(path.join(folder, name), { force: true })
    }
  }
})

const about =
  "An unfinished export of time-punches. Run the same command again to go on, or with --force to start anew."

const startAnew = "Add --force to throw it away and start anew."

const encoder = new TextEncoder()
const encode = (text: string): Uint8Array => encoder.encode(text)

const whenThere = <A, R>(self: Effect.Effect<A, PlatformError.PlatformError, R>) =>
  Effect.map(self, Option.some).pipe(
    Effect.catchIf((error) => error.reason._tag === "NotFound", () => Effect.succeedNone)
  )

/** Found now rather than after an hour: what cannot be replaced by a file at the end. */
const refuseOddTarget = Effect.fnUntraced(function*(output: string) {
  const fs = yield* FileSystem.FileSystem
  const there = yield* whenThere(fs.stat(output))
  if (Option.isSome(there) && there.value.type !== "File") return yield* usage(`--output ${output} is not a file`)
})

const differences = (then: Question, now: Question): string =>
  [...new Set([...Object.keys(then), ...Object.keys(now)])]
    .filter((name) => then[name] !== now[name])
    .map((name) => `${name} ${then[name] ?? "(none)"}, now ${now[name] ?? "(none)"}`)
    .join("; ") || "another version of this command"
