/**
 * Files that a command writes. `--output`: the file that a command prints into, by one rule for all: whole or not at all, and
 * replaced only with `--force`. Only their owner may read them: rows hold wages.
 */
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import * as PlatformError from "effect/PlatformError"
import type { Scope } from "effect/Scope"
import * as Sink from "effect/Sink"
import * as Stdio from "effect/Stdio"
import * as Fs from "node:fs"
import {
  checkPlanted,
  follow,
  giveRights,
  isDescriptorFolder,
  isStill,
  type Opened,
  removeOwn,
  removeScratch,
  scratchOf,
  withOwn
} from "../../internal/files/whose.ts"
import { printable } from "../../internal/text/printable.ts"
import { CommandFailure, describeFileError, errorCode, failure, Findings, usage } from "../failure.ts"
import { Colours, plain } from "../print/colour.ts"
import { printWarning } from "../print/messages.ts"
import { asOutput, naming, ofFile } from "./file.ts"
import { onFlag } from "./values.ts"

/** `--output`, for a command that needs it. */
export const requiredOutput = Flag.String("output").pipe(
  Flag.withAlias("o"),
  Flag.withMetavar("FILE"),
  Flag.withDescription(
    "Write to this file, whole or not at all; its ending chooses the format, and - is standard output"
  ),
  Flag.filter((file) => file.trim() !== "", () => "the name of a file")
)

const force = onFlag("force", "Replace the file of --output if it exists")

/** `--output` and `--force`, for every other command that prints data. `intoOutput` obeys them. */
export const outputFlags = { output: Flag.optional(requiredOutput), force }

type Refusal = CommandFailure | PlatformError.PlatformError

interface OutputInput {
  readonly output: Option.Option<string>
  readonly force: boolean
  /** The flag that names the file, as errors name it. */
  readonly flag?: string
}

/** The file of `--output`, if it is not standard output. */
export const fileOf = (output: Option.Option<string>): Option.Option<string> =>
  Option.filter(output, (file) => file !== "-")

/** Why a file is left as it is. */
export const fileExists = (output: string, flag = "--output") =>
  usage(`${flag} ${printable(output)} exists`, "Add --force to replace it, or choose another name.")

/** Standard output replaces nothing. */
export const forceNeedsFile = usage("--force goes with --output FILE: it replaces that file")

/**
 * Runs a command that prints to standard output, and lets it print into the file of `--output`. The file appears when the
 * command has succeeded, or has printed what it found; only its owner may read a new one. One that exists is refused at the
 * start without `--force`.
 */
export const intoOutput = <A, E, R>(
  self: Effect.Effect<A, E, R>,
  { flag = "--output", force, output }: OutputInput
): Effect.Effect<A, E | Refusal, R | FileSystem.FileSystem | Path.Path | Stdio.Stdio> =>
  Option.match(fileOf(output), {
    onNone: () => force ? Effect.fail(forceNeedsFile) : self,
    onSome: Effect.fnUntraced(function*(
      file
    ): Effect.fn.Return<A, E | Refusal, R | FileSystem.FileSystem | Path.Path | Stdio.Stdio | Scope> {
      const fs = yield* FileSystem.FileSystem
      const stdio = yield* Stdio.Stdio
      const target = yield* resolveTarget(file, flag)
      yield* asOutput(target, `${flag} ${file}`)
      // Also before a refusal: a run that was killed behind its last step left a second name of the file that is there.
      yield* clear(target)
      if (!force && (yield* fs.exists(target))) return yield* fileExists(file, flag)
      const part = scratchOf(target)
      yield* Effect.addFinalizer(() =>
        Effect.catch(fs.remove(part, { force: true }), (error) =>
          Effect.ignore(printWarning(`what was written beside ${file} stays: ${describeFileError(error).message}`)))
      )
      // Closed before the file gets its name: some systems rename no open file.
      const { exit, opened } = yield* Effect.gen(function*() {
        const handle = yield* naming(file)(fs.open(part, { flag: "wx", mode: ownerOnly }))
        const encoder = new TextEncoder()
        const stdout = () =>
          Sink.forEach((chunk: string | Uint8Array) =>
            naming(file)(handle.writeAll(typeof chunk === "string" ? encoder.encode(chunk) : chunk))
          )
        const exit = yield* Effect.exit(self.pipe(
          Effect.provideService(Stdio.Stdio, Stdio.make({ ...stdio, stdout, stdoutIsTerminal: Effect.succeed(false) })),
          Effect.updateService(Colours, ({ stderr }) => ({ stdout: plain, stderr }))
        ))
        yield* naming(file)(handle.sync)
        return { exit, opened: openedOf(yield* naming(file)(handle.stat)) }
      }).pipe(Effect.scoped)
      if (Exit.isFailure(exit) && !hasFindings(exit))
        return yield* exit
      yield* copyMode(part, opened, target)
      const rename: Effect.Effect<void, Refusal> = Effect.andThen(
        assertStill(part, opened, file),
        naming(file)(fs.rename(part, target))
      )
      yield* force ? rename : Effect.catch(
        // Unlike a rename, it replaces nothing that another program has put there meanwhile.
        fs.link(part, target),
        // Some file systems have no links.
        (error) =>
          Effect.flatMap(
            error.reason._tag === "AlreadyExists" ? Effect.succeed(true) : fs.exists(target),
            (isThere) =>
              isThere ? Effect.fail(fileExists(file, flag)) : rename
          )
      )
      if (!force)
        yield* assertStill(target, opened)
      yield* syncFolder(target, file)
      return yield* exit
    }, Effect.scoped)
  })

/** What was found is a result: only the exit code says more. */
const hasFindings = <A, E>(exit: Exit.Exit<A, E>): boolean =>
  Option.exists(Exit.findErrorOption(exit), (error) => error instanceof Findings)

/**
 * Follows `output` to the path of a regular file, which may not exist yet. A command works on that path alone, so that
 * a link stays and the file it points to is replaced. Rejects at the start, by the name of its flag, what cannot be replaced
 * by a file.
 */
export const resolveTarget = Effect.fnUntraced(function*(
  output: string,
  flag = "--output"
): Effect.fn.Return<string, CommandFailure | PlatformError.PlatformError, FileSystem.FileSystem | Path.Path> {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  if (output.endsWith(path.sep)) return yield* isFolder(output, flag)

  const file = yield* ofFile(output, () => follow(output))
  if (file === undefined)
    return yield* usage(`${flag} ${output} is a link that leads to itself`, "Choose another file.")
  if (isDescriptorFolder(path.dirname(file))) return yield* isStream(output, flag)
  yield* fs.realPath(path.dirname(file))
  const found = yield* ifExists(fs.lstat(file))
  if (Option.exists(found, ({ type }) => type === "Directory")) return yield* isFolder(output, flag)
  if (Option.exists(found, ({ type }) => type !== "File")) return yield* isStream(output, flag)
  yield* refusePlanted(file)
  return file
})

/** `None` if there is no such file. */
export const ifExists = <A, E extends CommandFailure | PlatformError.PlatformError, R>(self: Effect.Effect<A, E, R>) =>
  Effect.asSome(self).pipe(
    Effect.catchIf(
      (error: CommandFailure | PlatformError.PlatformError) =>
        error._tag === "PlatformError" && error.reason._tag === "NotFound",
      () => Effect.succeedNone
    )
  )

const isFolder = (output: string, flag: string) =>
  usage(`${flag} ${output} is not a file but a folder`, "Name a file in it.")

const isStream = (output: string, flag: string) =>
  usage(
    `${flag} ${output} is not a regular file: a file appears under its name when it is complete`,
    ...(flag === "--output" ? ["To write to standard output, a pipe or a device: --output - > FILE"] : [])
  )

/** Fails for what another user may have put into a folder as `/tmp`: not even `--force` could remove it. */
export const refusePlanted = (file: string) => ofFile(file, () => checkPlanted(file))

/** Removes what runs of this user that were killed have half written beside a file. */
export const clear = (file: string) => ofFile(file, () => removeScratch(file))

/** Removes a file, if it is a regular one of this user. */
export const removeMine = (file: string) => ofFile(file, () => removeOwn(file))

/** The bytes that an earlier run of this user left. Fails for any other file: what it says decides what this run does. */
export const readMine = (file: string, advice: string) =>
  ofFile(file, () =>
    withOwn(file, advice, (descriptor, { size }) => {
      if (size > 2 ** 24) throw usage(`${printable(file)}: it is larger than 16 MiB`, advice)
      return Fs.readFileSync(descriptor)
    }))

/** The rights of a new file. */
export const ownerOnly = 0o600

/**
 * Opens a file to be written from a position on. At 0 the file is a new one: one that was there, and whatever it links to,
 * keeps its bytes. Behind it, it is the one that `takeMine` has found.
 */
export const openAt = Effect.fnUntraced(function*(file: string, at: number, taken?: Opened) {
  const fs = yield* FileSystem.FileSystem
  if (at === 0) yield* fs.remove(file, { force: true })
  const handle = yield* fs.open(file, { flag: at === 0 ? "wx" : "r+", mode: ownerOnly })
  if (at > 0) {
    const { dev, ino } = openedOf(yield* handle.stat)
    if (dev !== taken?.dev || ino !== taken.ino) return yield* exchanged(file)
    yield* handle.seek(BigInt(at), "start")
  }
  return handle
})

/**
 * Gives a file of an earlier run of this user the rights of a file in progress: another program may have left it open to others, and
 * a run that was killed before its last step may have left it without the right to write. Fails for any other file, and for one with
 * a second name, which may be that of another file. Returns what it is.
 */
export const takeMine = (file: string, advice: string) =>
  ofFile(file, () =>
    withOwn(file, advice, (descriptor, { mode, nlink, size }) => {
      if (nlink > 1) throw usage(`${printable(file)} has a second name, a hard link`, advice)
      try {
        if ((mode & 0o777) !== ownerOnly) Fs.fchmodSync(descriptor, ownerOnly)
      } catch {
        // A file system without such rights, as on many a memory stick, permits no change.
      }
      const { dev, ino } = Fs.fstatSync(descriptor, { bigint: true })
      return { size, opened: { dev: BigInt.asUintN(64, dev), ino: BigInt.asUintN(64, ino) } }
    }))

/** What a file that is open is known by. */
export const openedOf = ({ dev, ino }: FileSystem.File.Info): Opened => ({
  dev,
  ino: Option.getOrElse(ino, () => 0n)
})

/**
 * Gives a finished file the owner and the rights of the file that it will replace, before it does: at no moment may
 * anybody read the rows who could not read the file. Without such a file its owner alone may. Fails if another file is there now.
 */
export const copyMode = Effect.fnUntraced(function*(file: string, opened: Opened, replaced: string) {
  const given = yield* ofFile(replaced, () => giveRights(file, opened, replaced))
  if (given === "exchanged") return yield* exchanged(replaced)
  if (given === "withoutList") {
    yield* printWarning(
      `the access list (ACL) of ${printable(replaced)} is lost: its group has the rights that all have`
    )
  }
})

/** Fails unless a path still names the file that was opened under it, which is to become `named`. */
export const assertStill = (file: string, opened: Opened, named = file) =>
  Effect.suspend(() => isStill(file, opened) ? Effect.void : exchanged(named))

const exchanged = (file: string) =>
  Effect.fail(
    failure(
      "system",
      `${printable(file)} was replaced by another user or program while it was written`,
      "Write into a folder that only you may write."
    )
  )

/** What a disk fails with. Other codes are of systems that sync no folder, and of a folder that this user may not list. */
const diskErrors = ["EIO", "ENOSPC", "EDQUOT"]

/** Waits until the name that a file was given is on disk too. Where that fails the file is there, whole: it is a warning. */
export const syncFolder = Effect.fnUntraced(function*(file: string, named = file) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  yield* fs.open(path.dirname(file)).pipe(
    Effect.flatMap(({ sync }) => sync),
    Effect.scoped,
    naming(named),
    Effect.catchIf(
      ({ reason }) => Option.exists(errorCode(reason.cause), (code) => diskErrors.includes(code)),
      (error) => printWarning(`a power cut may undo what was written: ${describeFileError(error).message}`),
      () => Effect.void
    )
  )
})

/**
 * Replaces a file as a whole, once the text is on disk beside it, and returns what the new file is. A full disk leaves the file
 * that was there, and so does a failure of `guard`, which runs right before the step. Errors name `named`.
 */
export const replaceWhole = Effect.fnUntraced(function*<E = never>(
  file: string,
  text: string,
  named = file,
  guard: Effect.Effect<void, E, FileSystem.FileSystem> = Effect.void
) {
  const fs = yield* FileSystem.FileSystem
  const scratch = scratchOf(file)
  return yield* openAt(scratch, 0).pipe(
    Effect.tap((handle) => handle.writeAll(new TextEncoder().encode(text))),
    Effect.tap((handle) => handle.sync),
    Effect.flatMap((handle) => handle.stat),
    Effect.scoped,
    naming(named),
    Effect.tap((info) => assertStill(scratch, openedOf(info), named)),
    Effect.tap(guard),
    Effect.tap(naming(named)(fs.rename(scratch, file))),
    Effect.tap(syncFolder(file, named)),
    Effect.onError(() => Effect.ignore(fs.remove(scratch, { force: true })))
  )
})
