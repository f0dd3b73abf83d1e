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
import { giveRights, isStill, type Opened } from "../../internal/files/whose.ts"
import { printable } from "../../internal/text/printable.ts"
import { CommandFailure, exitCode, Findings, usage } from "../failure.ts"
import { Colours, plain } from "../print/colour.ts"
import { asOutput, naming } from "./file.ts"
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
}

/** The file of `--output`, if it is not standard output. */
export const fileOf = (output: Option.Option<string>): Option.Option<string> =>
  Option.filter(output, (file) => file !== "-")

/** Why a file is left as it is. */
export const fileExists = (output: string) =>
  usage(`--output ${printable(output)} exists`, "Add --force to replace it, or choose another name.")

/** Standard output replaces nothing. */
export const forceNeedsFile = usage("--force goes with --output FILE: it replaces that file")

/**
 * Runs a command that prints to standard output, and lets it print into the file of `--output`. The file appears when the
 * command has succeeded, or has printed what it found; only its owner may read a new one. One that exists is refused at the
 * start without `--force`.
 */
export const intoOutput = <A, E, R>(
  self: Effect.Effect<A, E, R>,
  { force, output }: OutputInput
): Effect.Effect<A, E | Refusal, R | FileSystem.FileSystem | Path.Path | Stdio.Stdio> =>
  Option.match(fileOf(output), {
    onNone: () => force ? Effect.fail(forceNeedsFile) : self,
    onSome: Effect.fnUntraced(function*(
      file
    ): Effect.fn.Return<A, E | Refusal, R | FileSystem.FileSystem | Path.Path | Stdio.Stdio | Scope> {
      const fs = yield* FileSystem.FileSystem
      const stdio = yield* Stdio.Stdio
      const target = yield* resolveTarget(file)
      yield* asOutput(target, `--output ${file}`)
      if (!force && (yield* fs.exists(target))) return yield* fileExists(file)
      const part = `${target}.${globalThis.crypto.randomUUID()}.tmp`
      yield* Effect.addFinalizer(() => Effect.ignore(fs.remove(part, { force: true })))
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
      if (Exit.isFailure(exit) && !hasFindings(exit)) return yield* exit
      yield* copyMode(part, opened, target)
      const rename: Effect.Effect<void, Refusal> = Effect.andThen(assertStill(part, opened), fs.rename(part, target))
      yield* force ? rename : Effect.catch(
        // Unlike a rename, it replaces nothing that another program has put there meanwhile.
        fs.link(part, target),
        // Some file systems have no links.
        (error) =>
          Effect.flatMap(
            error.reason._tag === "AlreadyExists" ? Effect.succeed(true) : fs.exists(target),
            (isThere) => isThere ? Effect.fail(fileExists(file)) : rename
          )
      )
      if (!force) yield* assertStill(target, opened)
      return yield* exit
    }, Effect.scoped)
  })

/** What was found is a result: only the exit code says more. */
const hasFindings = <A, E>(exit: Exit.Exit<A, E>): boolean =>
  Option.exists(Exit.findErrorOption(exit), (error) => error instanceof Findings)

/** As many as Linux follows. */
const maxLinks = 40

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

  let named = path.resolve(output)
  for (let links = 0; links <= maxLinks; links++) {
    const folder = yield* fs.realPath(path.dirname(named))
    const file = path.join(folder, path.basename(named))
    if (isDescriptorFolder(folder)) return yield* isStream(output, flag)
    const found = yield* ifExists(fs.lstat(file))
    if (Option.isNone(found) || found.value.type === "File") return file
    if (found.value.type === "Directory") return yield* isFolder(output, flag)
    if (found.value.type !== "SymbolicLink") return yield* isStream(output, flag)
    named = path.resolve(folder, yield* fs.readLink(file))
  }
  return yield* usage(`${flag} ${output} is a link that leads to itself`, "Choose another file.")
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

/** `/dev/stdout` is a link into such a folder. What it leads to may be a regular file that a shell has opened. */
const isDescriptorFolder = (folder: string): boolean =>
  /^\/(dev\/fd|proc\/\d+\/(task\/\d+\/)?fd)$/.test(folder.replaceAll("\\", "/"))

const isFolder = (output: string, flag: string) =>
  usage(`${flag} ${output} is not a file but a folder`, "Name a file in it.")

const isStream = (output: string, flag: string) =>
  usage(
    `${flag} ${output} is not a regular file: a file appears under its name when it is complete`,
    ...(flag === "--output" ? ["To write to standard output, a pipe or a device: --output - > FILE"] : [])
  )

/** Removes `FILE.*.tmp`: what runs that were killed have half written beside a file. */
export const removeScratch = Effect.fnUntraced(function*(file: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const folder = path.dirname(file)
  for (const name of yield* fs.readDirectory(folder)) {
    if (name.startsWith(`${path.basename(file)}.`) && name.endsWith(".tmp")) {
      yield* fs.remove(path.join(folder, name), { force: true })
    }
  }
})

/** The rights of a new file. */
export const ownerOnly = 0o600

/**
 * Opens a file to be written from a position on. At 0 the file is a new one: one that was there, and whatever it links to,
 * keeps its bytes.
 */
export const openAt = Effect.fnUntraced(function*(file: string, at: number) {
  const fs = yield* FileSystem.FileSystem
  if (at === 0) yield* fs.remove(file, { force: true })
  const handle = yield* fs.open(file, { flag: at === 0 ? "wx" : "r+", mode: ownerOnly })
  if (at > 0) yield* handle.seek(BigInt(at), "start")
  return handle
})

/**
 * Gives a file the rights of a file in progress: an earlier version, or another program, may have left it open to others,
 * and a run that was killed before its last step may have left it without the right to write.
 */
export const restrictMode = Effect.fnUntraced(function*(file: string, { mode }: FileSystem.File.Info) {
  const fs = yield* FileSystem.FileSystem
  if ((mode & 0o777) === ownerOnly) return
  // A file system without such rights, as on many a memory stick, permits no change.
  yield* Effect.catchIf(
    fs.chmod(file, ownerOnly),
    (error) => error.reason._tag === "PermissionDenied",
    () => Effect.void
  )
})

/** What a file that is open is known by. */
export const openedOf = ({ dev, ino }: FileSystem.File.Info): Opened => ({
  dev,
  ino: Option.getOrElse(ino, () => 0n)
})

/**
 * Gives a finished file the owner and the rights of the file that it will replace, before it does: at no moment may
 * anybody read the rows who could not read the file. Without such a file its owner alone may. Fails if another file is there now.
 */
export const copyMode = (file: string, opened: Opened, replaced: string) =>
  Effect.flatMap(
    Effect.try({
      try: () => giveRights(file, opened, replaced),
      catch: (cause) =>
        PlatformError.systemError({
          _tag: "Unknown",
          module: "FileSystem",
          method: "chmod",
          pathOrDescriptor: file,
          cause
        })
    }),
    (isSame) => isSame ? Effect.void : exchanged(file)
  )

/** Fails unless a path still names the file that was opened under it. */
export const assertStill = (file: string, opened: Opened) =>
  Effect.suspend(() => isStill(file, opened) ? Effect.void : exchanged(file))

const exchanged = (file: string) =>
  Effect.fail(
    new CommandFailure({
      message: `${printable(file)} was replaced by another user or program while it was written`,
      advice: ["Write into a folder that only you may write."],
      code: exitCode.system
    })
  )

/**
 * Writes a new file for its owner alone, and returns once it is on disk: it holds wages or secrets. A file that exists is left
 * as it is, and fails with `exists`; one that was written in part does not stay.
 */
export const writeNew = Effect.fnUntraced(function*(file: string, text: string, exists: CommandFailure) {
  const fs = yield* FileSystem.FileSystem
  yield* fs.open(file, { flag: "wx", mode: ownerOnly }).pipe(
    Effect.catchIf((error) => error.reason._tag === "AlreadyExists", () => Effect.fail(exists)),
    Effect.flatMap((handle) =>
      Effect.andThen(handle.writeAll(new TextEncoder().encode(text)), handle.sync).pipe(
        naming(file),
        Effect.onError(() => Effect.ignore(fs.remove(file)))
      )
    ),
    Effect.scoped
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
  const scratch = `${file}.${globalThis.crypto.randomUUID()}.tmp`
  return yield* openAt(scratch, 0).pipe(
    Effect.tap((handle) => handle.writeAll(new TextEncoder().encode(text))),
    Effect.tap((handle) => handle.sync),
    Effect.flatMap((handle) => handle.stat),
    Effect.scoped,
    naming(named),
    Effect.tap((info) => assertStill(scratch, openedOf(info))),
    Effect.tap(guard),
    Effect.tap(fs.rename(scratch, file)),
    Effect.onError(() => Effect.ignore(fs.remove(scratch, { force: true })))
  )
})
