/**
 * The files of an unfinished export, from which a run killed at any moment can resume.
 *
 * `FILE.part` holds the rows so far. `FILE.resume.json` says how many of its bytes count and which cursor is next; it is
 * only replaced whole, after those bytes are on disk. `FILE` itself appears, or is replaced, in one step at the end.
 */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import type * as PlatformError from "effect/PlatformError"
import * as Schema from "effect/Schema"
import * as Crypto from "node:crypto"
import { Cursor } from "../../Ids.ts"
import { printable } from "../../internal/base/printable.ts"
import { CommandFailure, exitCode, usage } from "../failure.ts"

/** What an export reads and how it writes it, as flags and their values: equal specs give equal files. */
export type ExportSpec = Readonly<Record<string, string>>

const ExportProgress = Schema.Struct({
  /** How many bytes of `FILE.part` count. */
  bytes: Schema.Int,
  pages: Schema.Int,
  punches: Schema.Int,
  /** Cursor of the next page; null before the first page and after the last. */
  cursor: Schema.OptionFromNullOr(Cursor),
  complete: Schema.Boolean
})

/** How far an export is. */
export type ExportProgress = typeof ExportProgress.Type

const State = Schema.fromJsonString(Schema.Struct({
  about: Schema.String,
  /** The run that wrote the state last. Any other run that still writes must stop. */
  run: Schema.String,
  fingerprint: Schema.String,
  spec: Schema.Record(Schema.String, Schema.String),
  ...ExportProgress.fields
}))

/** Increased when the form of these files or of the rows changes, so that no file mixes two forms. */
const form = 1

const fingerprintOf = (spec: ExportSpec): string =>
  Crypto.createHash("sha256").update(JSON.stringify([form, Object.entries(spec).toSorted()])).digest("hex")

const atStart: ExportProgress = { bytes: 0, pages: 0, punches: 0, cursor: Option.none(), complete: false }

const progressOf = ({ bytes, complete, cursor, pages, punches }: typeof State.Type): ExportProgress => ({
  bytes,
  pages,
  punches,
  cursor,
  complete
})

type CheckpointError = CommandFailure | PlatformError.PlatformError

export interface Checkpoint {
  /** Where this run starts: at the progress of an earlier run, or at the beginning. */
  readonly start: ExportProgress
  /** Appends the text of a page and saves the progress after it, both or neither. No `next` completes the rows. */
  readonly append: (
    text: string,
    page: { readonly punches: number; readonly next: Option.Option<Cursor> }
  ) => Effect.Effect<void, CheckpointError>
  /** Replaces the output by the rows. Requires that `append` has saved the last page. */
  readonly finish: Effect.Effect<void, CheckpointError>
  /** The progress that is on disk. */
  readonly saved: Effect.Effect<ExportProgress>
  /** Removes the state if it holds no page. */
  readonly abandon: Effect.Effect<void>
}

/** Opens the checkpoint of `output`. Rejects one of another spec, unless `force` discards it. */
export const openCheckpoint = Effect.fnUntraced(function*(
  output: string,
  spec: ExportSpec,
  force: boolean
): Effect.fn.Return<Checkpoint, CheckpointError, FileSystem.FileSystem | Path.Path> {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const partFile = `${output}.part`
  const stateFile = `${output}.resume.json`
  const run = Crypto.randomUUID()
  const scratch = `${stateFile}.${run}.tmp`
  const fingerprint = fingerprintOf(spec)

  const sizeOf = (file: string) => ifExists(Effect.map(fs.stat(file), ({ size }) => Number(size)))

  const readState = Effect.gen(function*() {
    const text = yield* ifExists(fs.readFileString(stateFile))
    if (Option.isNone(text)) return Option.none()
    const state = Schema.decodeUnknownOption(State)(text.value)
    return Option.isSome(state) ? state : yield* usage(`${stateFile} cannot be read`, forceHint)
  })

  /** Returns once the bytes are on disk, so that no later step can survive a crash without them. */
  const write = (file: string, bytes: Uint8Array, options: { readonly flag: "w" | "r+"; readonly at: number }) =>
    Effect.scoped(Effect.gen(function*() {
      const handle = yield* fs.open(file, { flag: options.flag })
      yield* handle.seek(BigInt(options.at), "start")
      yield* handle.writeAll(bytes)
      yield* handle.sync
    }))

  yield* validateTarget(output)
  yield* fs.access(path.dirname(path.resolve(output)), { writable: true })
  const state: Option.Option<typeof State.Type> = force ? Option.none() : yield* readState
  if (Option.isSome(state) && state.value.fingerprint !== fingerprint) {
    return yield* usage(
      `${stateFile} belongs to an export with other flags: ${differences(state.value.spec, spec)}`,
      "Resume that export with its own flags, or choose another --output.",
      forceHint
    )
  }

  // An earlier run may have stopped between its last two steps: the rows are renamed, the state is not yet removed.
  const partSize = yield* sizeOf(partFile)
  const isRenamed = Option.isSome(state) && state.value.complete && Option.isNone(partSize) &&
    Option.contains(yield* sizeOf(output), state.value.bytes)
  // An export whose saved rows are missing or cut cannot resume.
  const start: ExportProgress = state.pipe(
    Option.filter(({ bytes }) => isRenamed || Option.exists(partSize, (size) => size >= bytes)),
    Option.match({ onNone: () => atStart, onSome: progressOf })
  )
  let saved = start

  const save = Effect.fnUntraced(function*(next: ExportProgress) {
    const text = yield* Effect.orDie(Schema.encodeEffect(State)({ ...next, about, run, fingerprint, spec }))
    yield* write(scratch, encode(text), { flag: "w", at: 0 })
    yield* fs.rename(scratch, stateFile)
    saved = next
  })

  /**
   * Two runs must not write to the same files. The later run saves its id long before it has a page to write; the
   * earlier one finds it and stops. If the earlier one is just saving a page, its id is the last, and the later one
   * stops.
   */
  const assertOwner = Effect.gen(function*() {
    const current = yield* readState
    if (!Option.exists(current, (owner) => owner.run === run)) return yield* takenOver(output)
  })

  yield* removeScratch(stateFile)
  yield* save(start)

  return {
    start,
    saved: Effect.sync(() => saved),
    append: (text, { next, punches }) =>
      Effect.gen(function*() {
        yield* assertOwner
        const bytes = encode(text)
        // Overwrites what a killed run wrote beyond its saved bytes; `finish` cuts off the rest.
        yield* write(partFile, bytes, { flag: saved.bytes === 0 ? "w" : "r+", at: saved.bytes })
        yield* save({
          bytes: saved.bytes + bytes.length,
          pages: saved.pages + 1,
          punches: saved.punches + punches,
          cursor: next,
          complete: Option.isNone(next)
        })
      }).pipe(failIfTakenOver(output), Effect.uninterruptible),
    finish: Effect.gen(function*() {
      yield* assertOwner
      if (!isRenamed) {
        yield* fs.truncate(partFile, saved.bytes)
        yield* fs.rename(partFile, output)
      }
      yield* fs.remove(stateFile, { force: true })
    }).pipe(failIfTakenOver(output), Effect.uninterruptible),
    abandon: Effect.suspend(() =>
      saved.pages > 0 ? Effect.void : Effect.andThen(assertOwner, fs.remove(stateFile, { force: true }))
    ).pipe(Effect.ignore, Effect.uninterruptible)
  }
})

const takenOver = (output: string) =>
  new CommandFailure({
    message: `another run has taken over the export to ${output}`,
    advice: ["This run has stopped; the other one continues."],
    code: exitCode.system
  })

/** Files of this run disappear only when another run has taken over, or has finished. */
const failIfTakenOver = (output: string) => <A, E extends CheckpointError, R>(self: Effect.Effect<A, E, R>) =>
  Effect.catchIf(
    self,
    (error: CheckpointError) => error._tag === "PlatformError" && error.reason._tag === "NotFound",
    () => Effect.fail(takenOver(output))
  )

/** Removes the half-written state files of killed runs. */
const removeScratch = Effect.fnUntraced(function*(stateFile: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const folder = path.dirname(path.resolve(stateFile))
  for (const name of yield* fs.readDirectory(folder)) {
    if (name.startsWith(`${path.basename(stateFile)}.`) && name.endsWith(".tmp")) {
      yield* fs.remove(path.join(folder, name), { force: true })
    }
  }
})

const about =
  "An unfinished export of time-punches. To resume it, run the same command again; to start over, add --force."

const forceHint = "Add --force to discard it and start over."

const encoder = new TextEncoder()
const encode = (text: string): Uint8Array => encoder.encode(text)

const ifExists = <A, R>(self: Effect.Effect<A, PlatformError.PlatformError, R>) =>
  Effect.map(self, Option.some).pipe(
    Effect.catchIf((error) => error.reason._tag === "NotFound", () => Effect.succeedNone)
  )

/** Rejects at the start, not after an hour, an output that cannot be replaced by a file. */
const validateTarget = Effect.fnUntraced(function*(output: string) {
  const fs = yield* FileSystem.FileSystem
  const target = yield* ifExists(fs.stat(output))
  if (Option.isSome(target) && target.value.type !== "File") return yield* usage(`--output ${output} is not a file`)
})

const differences = (then: ExportSpec, now: ExportSpec): string =>
  [...new Set([...Object.keys(then), ...Object.keys(now)])]
    .filter((name) => then[name] !== now[name])
    .map((name) => printable(`${name} ${then[name] ?? "(none)"}, now ${now[name] ?? "(none)"}`))
    .join("; ") || "another version of this command"
