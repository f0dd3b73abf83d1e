/**
 * The files of an unfinished export, from which a run killed at any moment can resume.
 *
 * `FILE.part` holds the rows so far. `FILE.resume.json` says how many of its bytes count and which cursor is next; it is
 * only replaced whole, after those bytes are on disk. `FILE` itself appears, or is replaced, in one step at the end. A page
 * is written as it comes; to wait for the disk takes longer than a page, so that happens at most once a second.
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import type * as PlatformError from "effect/PlatformError"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import type * as Stdio from "effect/Stdio"
import * as Stream from "effect/Stream"
import * as Crypto from "node:crypto"
import type { Cursor } from "../../Ids.ts"
import { printable } from "../../internal/text/printable.ts"
import { CommandFailure, exitCode, type OutputClosed, usage } from "../failure.ts"
import {
  copyMode,
  ifExists,
  openAt,
  removeScratch,
  replaceWhole,
  resolveTarget,
  restrictMode,
  truncate
} from "../files/files.ts"
import { fileExists } from "../files/output.ts"
import { asOutput, naming, readBounded } from "../flags/file.ts"
import { readInstant } from "../flags/values.ts"
import { printText } from "../print/output.ts"
import {
  type ExportProgress,
  type ExportSpec,
  forceHint,
  isSameSpec,
  type Note,
  readNote,
  verifyNote,
  writeNote
} from "./note.ts"

type CheckpointError = CommandFailure | PlatformError.PlatformError

/** The rows of one page as they are written. */
export interface WrittenPage {
  readonly text: string
  readonly punches: number
  /** The cursor of the page after it; none completes the rows. */
  readonly next: Option.Option<Cursor>
}

export interface Checkpoint {
  /** Where this run starts: at the progress of an earlier run, or at the beginning. */
  readonly start: ExportProgress
  /** Writes a page after the earlier ones. It counts once it is saved. */
  readonly append: (page: WrittenPage) => Effect.Effect<void, CheckpointError | OutputClosed>
  /** Waits until the written pages are on disk, and saves the progress after them. */
  readonly save: Effect.Effect<void, CheckpointError>
  /** Saves once a second what was written, and never ends: a kill loses about a second of pages. */
  readonly saveEverySecond: Effect.Effect<never, CheckpointError>
  /** Saves, and replaces the output by the rows. Requires that the last page was appended. */
  readonly finish: Effect.Effect<void, CheckpointError>
  /** The progress that is on disk. */
  readonly saved: Effect.Effect<ExportProgress>
  /** Removes the files if they hold no row. */
  readonly abandon: Effect.Effect<void>
}

const atStart: ExportProgress = { bytes: 0, pages: 0, punches: 0, cursor: Option.none(), complete: false }

/** Opens the checkpoint of `output`. Rejects one of another spec, or one in doubt, unless `force` discards it. */
export const openCheckpoint = Effect.fnUntraced(function*(
  output: string,
  spec: ExportSpec,
  force: boolean
): Effect.fn.Return<Checkpoint, CheckpointError, FileSystem.FileSystem | Path.Path> {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const services = yield* Effect.context<FileSystem.FileSystem | Path.Path>()
  const target = yield* resolveTarget(output)
  const folder = path.dirname(target)
  const partFile = `${target}.part`
  const noteFile = `${target}.resume.json`
  const run = Crypto.randomUUID()
  for (const file of [target, partFile, noteFile]) yield* asOutput(file, `--output ${output}`)

  const currentNote = Effect.gen(function*() {
    const bytes = yield* ifExists(readBounded(noteFile))
    return Option.isNone(bytes)
      ? Option.none()
      : Option.some(yield* readNote(new TextDecoder().decode(bytes.value), noteFile))
  })

  yield* fs.access(folder, { writable: true })
  const note: Option.Option<Note> = force ? Option.none() : yield* currentNote
  if (Option.isSome(note) && !isSameSpec(note.value.spec, spec)) {
    return yield* usage(
      `${noteFile} belongs to an export with other flags: ${differences(note.value.spec, spec)}`,
      "Resume that export with its own flags, or choose another --output.",
      ...windowHint(note.value.spec, spec),
      forceHint
    )
  }

  if (Option.isSome(note)) yield* verifyNote(note.value, noteFile)
  const found = Option.isSome(note)
    ? yield* findRows(note.value, { target, partFile, noteFile })
    : Option.none()
  if (Option.isNone(found) && !force && (yield* fs.exists(target))) return yield* fileExists(output)
  const { isRenamed, start } = Option.getOrElse(found, () => ({ isRenamed: false, start: atStart }))
  const hash = Option.match(found, { onNone: () => Crypto.createHash("sha256"), onSome: ({ hash }) => hash })
  let written = start
  let saved = start

  /** The note of this run as it was when it was saved. */
  let ownNote = ""

  const writeProgress = Effect.fnUntraced(function*(progress: ExportProgress, rows: string) {
    const text = yield* writeNote({ ...progress, run, spec, rows })
    ownNote = stampOf(yield* replaceWhole(noteFile, text))
    saved = progress
  })

  /** This run's note is no longer there: another run's is, or its folder is gone. */
  const stopped = Effect.flatMap(
    fs.exists(folder),
    (isThere) => Effect.fail(isThere ? takenOver(output) : gone(folder))
  )

  /**
   * Two runs must not write to the same files. The later run saves its id when it starts; the earlier one finds it
   * before it writes its next page, and stops. The pages that it had not saved are not lost: the later run starts at the
   * progress that is on disk, and requests them again.
   *
   * If the earlier one is just saving, its id is the last, and the later one stops. Its note then counts the bytes that it
   * wrote itself, after those that both runs found there. If a stalled disk writes the page of one run over that of the
   * other, the bytes are not those of any note: `finish` compares them, and fails.
   */
  const assertOwner = Effect.gen(function*() {
    const current = yield* currentNote
    if (!Option.exists(current, (owner) => owner.run === run)) return yield* stopped
  })

  /** `assertOwner` for each page: a note that is the same file with the same bytes is not read again. */
  const assertNoteKept = Effect.flatMap(
    fs.stat(noteFile),
    (info) => stampOf(info) === ownNote ? Effect.void : assertOwner
  )

  /** Files of this run disappear only when another run has taken over, or has finished, or with their folder. */
  const stopIfGone = <A, E extends CheckpointError, R>(self: Effect.Effect<A, E, R>) =>
    Effect.catchIf(
      self,
      (error: CheckpointError) => error._tag === "PlatformError" && error.reason._tag === "NotFound",
      () => stopped
    )

  const partScope = yield* Scope.make()
  let handle: FileSystem.File | undefined
  /** `FILE.part`, open from the first page on. The last step of a run closes it. */
  const part = Effect.suspend(() =>
    handle === undefined
      ? openAt(partFile, start.bytes).pipe(
        Scope.provide(partScope),
        Effect.tap((opened) => {
          handle = opened
          return Effect.void
        })
      )
      : Effect.succeed(handle)
  )
  const closePart = Scope.close(partScope, Exit.void)

  /** One at a time: a note must not replace a later one. */
  const saving = Semaphore.makeUnsafe(1)

  const save = Effect.suspend(() => {
    // The pages that are written meanwhile are for the next note.
    const [progress, rows] = [written, hash.copy().digest("hex")]
    if (progress === saved) return Effect.void
    return assertOwner.pipe(
      // A file that was removed stays open, and no later run would find its rows.
      Effect.andThen(fs.access(partFile)),
      Effect.andThen(Effect.flatMap(part, ({ sync }) => sync).pipe(naming(partFile))),
      Effect.andThen(writeProgress(progress, rows))
    )
  }).pipe(saving.withPermit, stopIfGone, Effect.uninterruptible, Effect.provideContext(services))

  yield* removeScratch(noteFile)
  yield* writeProgress(start, hash.copy().digest("hex"))

  return {
    start,
    saved: Effect.sync(() => saved),
    append: (page) =>
      Effect.gen(function*() {
        yield* assertNoteKept
        // Overwrites what a killed run wrote beyond its saved bytes; `finish` cuts off the rest.
        const bytes = encoder.encode(page.text)
        yield* Effect.flatMap(part, (file) => file.writeAll(bytes)).pipe(naming(partFile))
        hash.update(bytes)
        written = after(written, page, bytes.length)
      }).pipe(stopIfGone, Effect.uninterruptible, Effect.provideContext(services)),
    save,
    saveEverySecond: Effect.forever(Effect.andThen(Effect.sleep("1 second"), save)),
    finish: Effect.gen(function*() {
      yield* save
      yield* closePart
      yield* assertOwner
      if (!isRenamed) {
        yield* truncate(partFile, saved.bytes)
        yield* verifyRows(partFile, saved.bytes, hash)
        yield* copyMode(partFile, target)
        // The rows took a while to read. A run that took over meanwhile has put its own rows under this name.
        yield* assertOwner
        yield* fs.rename(partFile, target)
        yield* assertOwner
      }
      yield* fs.remove(noteFile, { force: true })
    }).pipe(stopIfGone, Effect.uninterruptible, Effect.provideContext(services)),
    abandon: Effect.suspend(() =>
      saved.bytes > 0 || saved.complete
        ? Effect.void
        : assertOwner.pipe(
          Effect.andThen(fs.remove(partFile, { force: true })),
          Effect.andThen(fs.remove(noteFile, { force: true }))
        )
    ).pipe(Effect.ensuring(closePart), Effect.ignore, Effect.uninterruptible, Effect.provideContext(services))
  }
})

/** Standard output in place of a file: each page is printed as it comes, and nothing can be resumed. */
export const standardOutput = Effect.map(Effect.context<Stdio.Stdio>(), (context): Checkpoint => {
  let printed = atStart
  return {
    start: atStart,
    saved: Effect.sync(() => printed),
    append: (page) =>
      Effect.andThen(
        Effect.provideContext(printText(page.text), context),
        Effect.sync(() => {
          printed = after(printed, page, Buffer.byteLength(page.text))
        })
      ),
    save: Effect.void,
    saveEverySecond: Effect.never,
    finish: Effect.void,
    abandon: Effect.void
  }
})

const encoder = new TextEncoder()

/** What differs between two notes: each is another file, renamed to its name when it is whole. */
const stampOf = ({ ino, mtime, size }: FileSystem.File.Info): string =>
  `${Option.getOrNull(ino)} ${Option.match(mtime, { onNone: () => null, onSome: (time) => time.getTime() })} ${size}`

const after = ({ bytes, pages, punches }: ExportProgress, page: WrittenPage, more: number): ExportProgress => ({
  bytes: bytes + more,
  pages: pages + 1,
  punches: punches + page.punches,
  cursor: page.next,
  complete: Option.isNone(page.next)
})

/**
 * The rows that a note counts, if they are there; none makes the export start over. Fails if there are others.
 * `isRenamed`: an earlier run stopped between its last two steps, with the rows renamed and the note not yet removed.
 */
const findRows = Effect.fnUntraced(function*(
  { bytes, complete, cursor, pages, punches, rows }: Note,
  { noteFile, partFile, target }: { readonly target: string; readonly partFile: string; readonly noteFile: string }
) {
  const fs = yield* FileSystem.FileSystem
  // Pages without rows, whose text may be empty, cost only the request for them.
  if (bytes === 0) return Option.none()
  const start: ExportProgress = { bytes, pages, punches, cursor, complete }
  const part = yield* ifExists(fs.lstat(partFile))
  if (Option.isNone(part)) {
    const output = complete ? yield* ifExists(fs.stat(target)) : Option.none()
    if (!Option.exists(output, ({ size }) => Number(size) === bytes)) return Option.none()
    const { hash } = yield* hashStart(target, bytes)
    return hash.copy().digest("hex") === rows ? Option.some({ start, hash, isRenamed: true }) : Option.none()
  }
  if (part.value.type !== "File") {
    return yield* usage(`${partFile} is not a regular file`, "Move it away, or choose another --output.")
  }
  if (Number(part.value.size) < bytes) return Option.none()
  yield* restrictMode(partFile, part.value)
  const { endsLine, hash } = yield* hashStart(partFile, bytes)
  if (!endsLine || hash.copy().digest("hex") !== rows) {
    return yield* usage(
      `${partFile} does not hold the rows that ${noteFile} counts: one of them was changed`,
      forceHint
    )
  }
  return Option.some({ start, hash, isRenamed: false })
})

/** Fails unless the rows on disk are those that this export wrote: the file that they replace is still there. */
const verifyRows = Effect.fnUntraced(function*(partFile: string, bytes: number, hash: Crypto.Hash) {
  const found = bytes === 0 ? undefined : (yield* hashStart(partFile, bytes)).hash.digest("hex")
  if (found === undefined || found === hash.copy().digest("hex")) return
  return yield* new CommandFailure({
    message: `${partFile} was changed by another program during the export`,
    advice: [forceHint],
    code: exitCode.system
  })
})

const takenOver = (output: string) =>
  new CommandFailure({
    message: `another run has taken over the export to ${output}, or has removed its files`,
    advice: ["This run has stopped; the other one continues."],
    code: exitCode.system
  })

const gone = (folder: string) =>
  new CommandFailure({
    message: `the folder ${folder} is gone: it was removed or renamed during the export`,
    advice: ["With its folder back in place, the same command resumes the export; else it starts from the beginning."],
    code: exitCode.system
  })

/** The names and values come from a file, which anybody may have edited. */
const differences = (then: ExportSpec, now: ExportSpec): string =>
  [...new Set([...Object.keys(then), ...Object.keys(now)])]
    .filter((name) => then[name] !== now[name])
    .map((name) => printable(`${name} ${then[name] ?? "(none)"}, now ${now[name] ?? "(none)"}`))
    .join("; ")

/**
 * The flags of a window of clock-ins that has moved, because a period such as --last was resolved on another day. The note
 * may have been edited, so only instants are named as something to type. By several zones a window is not the period.
 */
const windowHint = (then: ExportSpec, now: ExportSpec): ReadonlyArray<string> => {
  const ends = ["--clocked-in-gte", "--clocked-in-lt"]
  const isMoved = ends.some((name) => then[name] !== now[name])
  const isKnown = ends.every((name) => Option.isSome(readInstant(then[name] ?? "")))
  return isMoved && isKnown && then["--zone-file"] === undefined
    ? [`Its window, in place of a period: ${ends.map((name) => `${name} ${then[name]}`).join(" ")}`]
    : []
}

/** The SHA-256 of the first bytes of a file, still open for more, and whether a line ends with them. */
const hashStart = Effect.fnUntraced(function*(file: string, bytes: number) {
  const fs = yield* FileSystem.FileSystem
  const hash = Crypto.createHash("sha256")
  let last: number | undefined
  yield* fs.stream(file, { bytesToRead: bytes, chunkSize: 1 << 20 }).pipe(
    Stream.runForEach((chunk) =>
      Effect.sync(() => {
        hash.update(chunk)
        last = chunk.at(-1)
      })
    ),
    naming(file)
  )
  return { hash, endsLine: last === newline }
})

const newline = 0x0a
