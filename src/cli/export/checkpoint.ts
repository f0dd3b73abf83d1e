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
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import type * as Stdio from "effect/Stdio"
import * as Stream from "effect/Stream"
import * as Struct from "effect/Struct"
import { Cursor } from "../../Ids.ts"
import { checkPlanted } from "../../internal/files/whose.ts"
import { printable } from "../../internal/text/printable.ts"
import { issueText } from "../describe.ts"
import { CommandFailure, failure, type OutputClosed, usage } from "../failure.ts"
import { asOutput, naming, ofFile } from "../flags/file.ts"
import {
  assertStill,
  clear,
  copyMode,
  fileExists,
  ifExists,
  openAt,
  openedOf,
  readMine,
  removeMine,
  replaceWhole,
  resolveTarget,
  syncFolder,
  takeMine
} from "../flags/output.ts"
import { readInstant } from "../flags/values.ts"
import type { printCells } from "../print/output.ts"

/** What an export reads and how it writes it, as flags and their values: equal specs give equal files. */
export type ExportSpec = Readonly<Record<string, string>>

/** How far an export is: how many bytes of its part count, and the next cursor, none before the first page and after the last. */
const Progress = {
  bytes: Schema.Natural,
  pages: Schema.Natural,
  punches: Schema.Natural,
  cursor: Schema.OptionFromNullOr(Cursor),
  complete: Schema.Boolean
}

export type ExportProgress = Schema.Struct.Type<typeof Progress>

/** Increased when the form of these files or of the rows changes, so that no file mixes two forms. */
const form = 3

const Note = Schema.fromJsonString(Schema.Struct({
  about: Schema.String,
  form: Schema.Literal(form),
  /** The run that wrote the note last. Any other run that still writes must stop. */
  run: Schema.String,
  spec: Schema.Record(Schema.String, Schema.String),
  ...Progress
}))

const decodeNote = Schema.decodeUnknownEffect(Note)
const encodeNote = Schema.encodeEffect(Note)

const about =
  "An unfinished export of time-punches. To resume it, run the same command again; to start over, add --force."

/** The way out for every note that cannot be resumed. */
const forceHint = "Add --force to discard it and start over."

const atStart: ExportProgress = { bytes: 0, pages: 0, punches: 0, cursor: Option.none(), complete: false }

/** The rows of one page as they are written, and the cursor of the page after it; none completes the rows. */
export interface WrittenPage {
  readonly text: string
  readonly punches: number
  readonly next: Option.Option<Cursor>
}

type CheckpointError = CommandFailure | PlatformError.PlatformError

export interface Checkpoint {
  /** Where this run starts: at the progress of an earlier run, or at the beginning. */
  readonly start: ExportProgress
  /** Writes a page after the earlier ones. It counts once it is saved. */
  readonly append: (page: WrittenPage) => Effect.Effect<void, CheckpointError | OutputClosed>
  /** Waits until the written pages are on disk, and saves the progress after them. */
  readonly save: Effect.Effect<void, CheckpointError>
  /** Saves, and replaces the output by the rows. Requires that the last page was appended. */
  readonly finish: Effect.Effect<void, CheckpointError>
  /** The progress that is on disk. */
  readonly saved: Effect.Effect<ExportProgress>
  /** Removes the files if they hold no row. */
  readonly abandon: Effect.Effect<void>
}

/** Opens the checkpoint of `output`. Rejects one of another spec unless `force` discards it. */
export const openCheckpoint = Effect.fnUntraced(function*(
  output: string,
  spec: ExportSpec,
  force: boolean
): Effect.fn.Return<Checkpoint, CheckpointError, FileSystem.FileSystem | Path.Path | Stdio.Stdio> {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const services = yield* Effect.context<FileSystem.FileSystem | Path.Path | Stdio.Stdio>()
  const target = yield* resolveTarget(output)
  const [partFile, noteFile] = [`${target}.part`, `${target}.resume.json`]
  const run = globalThis.crypto.randomUUID()
  for (const file of [target, partFile, noteFile]) {
    yield* asOutput(file, `--output ${output}`)
    // Not even --force could remove it.
    yield* ofFile(file, () => checkPlanted(file))
  }
  yield* fs.access(path.dirname(target), { writable: true })

  const currentNote = Effect.gen(function*() {
    const bytes = yield* readMine(noteFile, forceHint)
    if (bytes === undefined) return undefined
    return yield* Effect.mapError(
      decodeNote(new TextDecoder().decode(bytes)),
      (error) => usage(`${noteFile} cannot be read: ${issueText(error)}`, forceHint)
    )
  })
  const note = force ? undefined : yield* currentNote
  if (note !== undefined) yield* refuseOther(noteFile, note.spec, spec)
  // Pages without rows, whose text may be empty, cost only the request for them.
  const bytes = note?.bytes ?? 0
  const part = force ? undefined : yield* takeMine(partFile, forceHint)
  const old = yield* ifExists(fs.stat(target))
  // An earlier run stopped between its last two steps, with the rows renamed and the note not yet removed.
  const isRenamed = note?.complete === true && bytes > 0 && part === undefined &&
    Option.exists(old, ({ size }) => Number(size) === bytes)
  const start = note !== undefined && bytes > 0 && (isRenamed || (part?.size ?? 0) >= bytes)
    ? Struct.pick(note, Struct.keys(Progress))
    : atStart
  if (start === atStart && !force && Option.isSome(old)) return yield* fileExists(output)

  /**
   * Two runs must not write to the same files. The later run saves its id when it starts; the earlier one finds it
   * before it writes its next page, and stops. The pages that it had not saved are not lost: the later run starts at the
   * progress that is on disk, requests them again, and cuts off what the earlier one wrote behind its last row.
   */
  const assertOwner = currentNote.pipe(
    // A note that cannot be read any more is not of this run either.
    Effect.catchTag("CommandFailure", () => Effect.fail(takenOver(output))),
    Effect.flatMap((note) => note?.run === run ? Effect.void : Effect.fail(takenOver(output)))
  )

  let written = start
  let saved = start
  /** The note of this run as it was when it was saved. */
  let ownNote = ""
  const writeNote = Effect.fnUntraced(function*(progress: ExportProgress, guard?: typeof assertOwner) {
    const text = yield* Effect.orDie(encodeNote({ ...progress, about, form, run, spec }))
    ownNote = stampOf(yield* replaceWhole(noteFile, text, noteFile, guard))
    saved = progress
  })

  /** `assertOwner` for each page: a note that is the same file with the same bytes is not read again. */
  const assertNoteKept = Effect.flatMap(
    ifExists(fs.stat(noteFile)),
    (info) => Option.exists(info, (info) => stampOf(info) === ownNote) ? Effect.void : assertOwner
  )

  const scope = yield* Scope.make()
  /** `FILE.part`, from the first page on. */
  const rows = yield* Effect.cached(Scope.provide(naming(partFile)(openAt(partFile, start.bytes, part?.opened)), scope))

  /** Cuts it to its first bytes, on disk, and returns what it is known by. */
  const cut = (file: FileSystem.File, bytes: number) =>
    Effect.gen(function*() {
      const info = yield* file.stat
      if (Number(info.size) !== bytes) yield* Effect.andThen(file.truncate(bytes), file.sync)
      return openedOf(info)
    }).pipe(naming(partFile))

  /** One at a time: a note must not replace a later one. */
  const saving = Semaphore.makeUnsafe(1)
  const save = Effect.gen(function*() {
    // The pages that are written meanwhile are for the next note.
    const progress = written
    if (progress === saved) return
    yield* naming(partFile)(Effect.flatMap(rows, ({ sync }) => sync))
    // Disks take long, and another run may have taken over meanwhile: its note stays.
    yield* writeNote(progress, assertOwner)
  }).pipe(saving.withPermit, Effect.uninterruptible, Effect.provideContext(services))

  yield* clear(noteFile)
  yield* writeNote(start)

  return {
    start,
    saved: Effect.sync(() => saved),
    append: (page) =>
      Effect.gen(function*() {
        yield* assertNoteKept
        const bytes = new TextEncoder().encode(page.text)
        yield* naming(partFile)(Effect.flatMap(rows, (file) => file.writeAll(bytes)))
        written = after(written, page, bytes.length)
      }).pipe(Effect.uninterruptible, Effect.provideContext(services)),
    save,
    finish: Effect.gen(function*() {
      yield* save
      yield* assertOwner
      if (!isRenamed) {
        // Behind the last row may stand what a killed run, or one that this run has taken over, has not saved.
        const opened = yield* cut(yield* rows, saved.bytes)
        yield* Scope.close(scope, Exit.void)
        yield* assertOwner
        yield* copyMode(partFile, opened, target)
        yield* assertOwner
        yield* assertStill(partFile, opened)
        yield* naming(output)(fs.rename(partFile, target))
        yield* syncFolder(target, output)
        // A run that took over meanwhile may have written to these rows, and needs its note.
        yield* assertOwner
      }
      yield* fs.remove(noteFile, { force: true })
    }).pipe(Effect.uninterruptible, Effect.provideContext(services)),
    abandon: Effect.gen(function*() {
      yield* Scope.close(scope, Exit.void)
      if (saved.bytes > 0 || saved.complete) return
      yield* assertOwner
      for (const file of [partFile, noteFile]) yield* removeMine(file)
    }).pipe(Effect.ignore, Effect.uninterruptible, Effect.provideContext(services))
  }
})

/**
 * What removes an unfinished export to `output`, once other rows are to take its place; a note that stayed would let it replace
 * them. Refuses one without `force`.
 */
export const replaceUnfinished = Effect.fnUntraced(function*(output: string, force: boolean) {
  const fs = yield* FileSystem.FileSystem
  const target = yield* resolveTarget(output)
  const [partFile, noteFile] = [`${target}.part`, `${target}.resume.json`]
  for (const file of [partFile, noteFile]) yield* asOutput(file, `--output ${output}`)
  if (!force && (yield* fs.exists(noteFile))) {
    return yield* usage(`${printable(noteFile)} belongs to an unfinished export from the service`, forceHint)
  }
  return { remove: Effect.forEach([noteFile, partFile], removeMine, { discard: true }) }
})

/** Standard output in place of a file: each page is printed as it comes, and nothing can be resumed. */
export const standardOutput = (write: typeof printCells) =>
  Effect.map(Effect.context<Stdio.Stdio>(), (context): Checkpoint => {
    let printed = atStart
    return {
      start: atStart,
      saved: Effect.sync(() => printed),
      append: (page) =>
        Effect.map(Effect.provideContext(write(Stream.make(page.text)), context), () => {
          printed = after(printed, page, Buffer.byteLength(page.text))
        }),
      save: Effect.void,
      finish: Effect.void,
      abandon: Effect.void
    }
  })

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

const takenOver = (output: string) =>
  failure(
    "system",
    `another run has taken over the export to ${output}, or has removed its files`,
    "This run has stopped; the other one continues."
  )

/** Refuses to resume an export with other flags. The names and values come from a file, which anybody may have edited. */
const refuseOther = (noteFile: string, then: ExportSpec, now: ExportSpec) => {
  const differing = [...new Set([...Object.keys(then), ...Object.keys(now)])].filter((name) => then[name] !== now[name])
  if (differing.length === 0) return Effect.void
  // A period such as --last was resolved on another day. By several zones a window is not the period.
  const ends = ["--clocked-in-gte", "--clocked-in-lt"]
  const isWindow = ends.some((name) => differing.includes(name)) && then["--zone-file"] === undefined &&
    ends.every((name) => Option.isSome(readInstant(then[name] ?? "")))
  return usage(
    `${noteFile} belongs to an export with other flags: ${
      differing.map((name) => printable(`${name} ${then[name] ?? "(none)"}, now ${now[name] ?? "(none)"}`)).join("; ")
    }`,
    "Resume that export with its own flags, or choose another --output.",
    ...(isWindow
      ? [`Its window, in place of a period: ${ends.map((name) => `${name} ${then[name]}`).join(" ")}`]
      : []),
    forceHint
  )
}
