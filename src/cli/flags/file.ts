/** The files that a flag or a setting names: what reads one reads it here, so that a rule for all of them has one place. */
import * as NodeStream from "@effect/platform-node/NodeStream"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as PlatformError from "effect/PlatformError"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import * as Fs from "node:fs"
import { basename, dirname } from "node:path"
import { ForeignFile, isPlanted, otherWriter } from "../../internal/files/whose.ts"
import { printable } from "../../internal/text/printable.ts"
import { CommandFailure, failure, noFolderOf, usage } from "../failure.ts"
import { printWarning } from "../print/messages.ts"

/** The bytes of a file or a pipe that the run only reads, whole. Fails if the run also writes that file. */
export const readInput = (file: string, most?: number) => Effect.andThen(asInput(file), readBounded(file, most))

/** The same for a file that the run may replace, such as its own note. Fails for a device, and above `most` MiB. */
export const readBounded = Effect.fnUntraced(function*(
  file: string,
  most?: number
): Effect.fn.Return<Uint8Array, CommandFailure | PlatformError.PlatformError, FileSystem.FileSystem> {
  const fs = yield* FileSystem.FileSystem
  const { type } = yield* fs.stat(file)
  if ((type === "CharacterDevice" || type === "BlockDevice") && !endingDevice.test(file)) {
    return yield* usage(`${printable(file)}: it is a device`, "Name a file or a pipe.")
  }
  return yield* collectBounded(
    type === "FIFO" && process.versions["bun"] === undefined
      ? pipe(file)
      : Stream.mapError(fs.stream(file), named(file)),
    file,
    most
  )
})

/** The text of a file that the run only reads. Fails if it is not in UTF-8, so that no character is replaced. */
export const readText = (file: string, most?: number) =>
  Effect.flatMap(readInput(file, most), (bytes) => {
    const text = new TextDecoder().decode(bytes)
    return text.includes("\uFFFD")
      ? usage(`${printable(file)} is not UTF-8`, "Save it as UTF-8.")
      : Effect.succeed(text)
  })

/** A step on a file, whose errors are failures of the command. */
export const ofFile = <A>(
  file: string,
  evaluate: () => A
): Effect.Effect<A, CommandFailure | PlatformError.PlatformError> =>
  Effect.try({
    try: evaluate,
    catch: (cause) => {
      if (cause instanceof CommandFailure) return cause
      if (cause instanceof ForeignFile) return failure("system", printable(cause.message), cause.advice)
      return Option.getOrElse(noFolderOf(cause), () =>
        PlatformError.systemError({
          _tag: "Unknown",
          module: "FileSystem",
          method: "open",
          pathOrDescriptor: file,
          cause
        }))
    }
  })

/** Warns once a run if another user may write a file that decides where a secret is sent. It may be meant, so it is obeyed. */
export const warnOfWriter = Effect.fnUntraced(function*(file: string) {
  const writer = yield* ofFile(file, () => otherWriter(file))
  if (writer === undefined) return
  yield* warnOnce(
    file,
    `${printable(file)} ${writer}, who can choose where the secret is sent: keep it where only you may write`
  )
})

/** Warns of a file that decides what is paid, if another user may have put it into a folder as `/tmp`. */
export const warnOfPlanted = Effect.fnUntraced(function*(file: string) {
  if (!(yield* ofFile(file, () => isPlanted(file)))) return
  yield* warnOnce(file, `${printable(file)} belongs to another user, who can read and change what is in it`)
})

/** Prints a warning that no other step of this run has printed of the file or folder. */
export const warnOnce = Effect.fnUntraced(function*(file: string, text: string) {
  const files = yield* RunFiles
  if (files?.warned.has(file)) return
  files?.warned.add(file)
  yield* printWarning(text)
})

/** The same error with the name of its file: that of a read or a write names only the number of a descriptor. */
const named = (file: string) => (error: PlatformError.PlatformError): PlatformError.PlatformError => {
  const { reason } = error
  if (reason._tag === "BadArgument") return error
  const { _tag, cause, description, method, module, syscall } = reason
  return PlatformError.systemError({ _tag, module, method, description, syscall, cause, pathOrDescriptor: file })
}

/** Names `file` in an error. */
export const naming =
  (file: string) => <A, E extends CommandFailure | PlatformError.PlatformError, R>(self: Effect.Effect<A, E, R>) =>
    Effect.mapError(self, (error) => error._tag === "PlatformError" ? named(file)(error) : error)

/** What ends, or is bounded by who types it: standard input may be a terminal. */
const endingDevice = /^\/(?:dev\/(?:null|stdin|fd\/\d+)|proc\/(?:self|\d+)\/fd\/\d+)$/

/** The bytes of a stream, whole. Fails above `most` MiB: its writer may never end. `name` is its source in errors. */
export const collectBounded = <E, R>(
  bytes: Stream.Stream<Uint8Array, E, R>,
  name: string,
  most = 16
): Effect.Effect<Uint8Array, E | CommandFailure, R> =>
  Effect.suspend(() => {
    let size = 0
    return Stream.mkUint8Array(Stream.mapEffect(bytes, (chunk) => {
      size += chunk.length
      return size > most * 2 ** 20
        ? usage(`${printable(name)}: it is larger than ${most} MiB`)
        : Effect.succeed(chunk)
    }))
  })

/** A pipe by its events: to open one without a writer would hold a thread, and the process could not end. */
const pipe = (file: string) => {
  const failed = (method: string) => (cause: unknown) =>
    PlatformError.systemError({ _tag: "Unknown", module: "FileSystem", method, pathOrDescriptor: file, cause })
  return Stream.unwrap(Effect.gen(function*() {
    const { Socket } = yield* Effect.promise(() => import("node:net"))
    const fd = yield* Effect.try({
      try: () => Fs.openSync(file, Fs.constants.O_RDONLY | Fs.constants.O_NONBLOCK),
      catch: failed("open")
    })
    return NodeStream.fromReadable({
      evaluate: () => new Socket({ fd, readable: true, writable: false }),
      onError: failed("read")
    })
  }))
}

/**
 * The files of a run, by device and inode: a link and another spelling of a path have the same. Outside of a run nothing is
 * compared: a default is shared by all that has none, and an inode is used again once its file is gone.
 */
export class RunFiles extends Context.Reference<
  | {
    readonly inputs: Map<string, string>
    readonly outputs: Map<string, string>
    /** Files and folders that a warning has named. */
    readonly warned: Set<string>
  }
  | undefined
>("effect-time-punches/cli/RunFiles", { defaultValue: () => undefined }) {
  /** No files yet. */
  static readonly make = Effect.sync(() => ({
    inputs: new Map<string, string>(),
    outputs: new Map<string, string>(),
    warned: new Set<string>()
  }))
}

/** The value of a text of JSON, or that it is none, and at which line. The text is not quoted: it may hold a secret. */
export const parseJson = (text: string): Result.Result<unknown, string> =>
  Result.try({
    try: (): unknown => JSON.parse(text),
    catch: (cause) => {
      const line = brokenLine(text, Predicate.isError(cause) ? cause.message : "")
      return `is not JSON${line === undefined ? "" : `: look at line ${line}`}`
    }
  })

/** The line with the first error, with the column in a file of one line. V8 names the place of some errors only, so the lines up to it are sought. */
const brokenLine = (text: string, message: string): string | undefined => {
  // Another engine has other words for a text that is cut.
  if (!/JSON input|in JSON|valid JSON|after JSON/.test(message)) return undefined
  const lines = text.trimEnd().split("\n")
  const line = firstOf(lines.length, (count) => isBroken(`${lines.slice(0, count).join("\n")}\n`))
  // A whole file in one line has no other place.
  return lines.length > 1
    ? `${line}`
    : `1, column ${firstOf(text.trimEnd().length, (count) => isBroken(text.slice(0, count)))}`
}

/** The least count, up to `most`, that fails: all from it on do. */
const firstOf = (most: number, fails: (count: number) => boolean): number => {
  let [whole, broken] = [0, most]
  while (whole + 1 < broken) {
    const middle = Math.floor((whole + broken) / 2)
    if (fails(middle)) broken = middle
    else whole = middle
  }
  return broken
}

/** Whether a text is the beginning of no JSON. */
const isBroken = (text: string): boolean =>
  Result.match(Result.try(() => JSON.parse(text)), {
    onFailure: (cause) => {
      const message = Predicate.isError(cause) ? cause.message : ""
      const at = / position (\d+)/.exec(message)?.[1]
      return !/end of JSON/.test(message) && (at === undefined || Number(at) < text.length)
    },
    onSuccess: () => false
  })

const identityOf = Effect.fnUntraced(function*(file: string) {
  const fs = yield* FileSystem.FileSystem
  const info = yield* Effect.option(fs.stat(file))
  // What is not there yet has its folder and its name. What cannot be looked at is refused when it is opened.
  if (Option.isNone(info)) {
    const folder = yield* Effect.option(fs.stat(dirname(file)))
    return Option.flatMap(folder, ({ dev, ino }) => Option.map(ino, (ino) => `${dev} ${ino} ${basename(file)}`))
  }
  const { dev, ino, type } = info.value
  return type === "File" ? Option.map(ino, (ino) => `${dev} ${ino}`) : Option.none()
})

/** `name`: as errors name the file. */
const record = Effect.fnUntraced(function*(side: "inputs" | "outputs", file: string, name: string) {
  const identity = yield* identityOf(file)
  const files = yield* RunFiles
  if (Option.isNone(identity) || files === undefined) return
  files[side].set(identity.value, name)
  const [input, output] = [files.inputs.get(identity.value), files.outputs.get(identity.value)]
  if (input === undefined || output === undefined) return
  return yield* usage(
    `${printable(output)} would replace ${printable(input)}, which this command reads`,
    "Choose another name."
  )
})

/** The run reads this file, so that it must not write it. */
export const asInput = (file: string) => record("inputs", file, file)

/** The run writes this file, so that it must not read it. `name` is the flag with its value, as errors name it. */
export const asOutput = (file: string, name: string) => record("outputs", file, name)
