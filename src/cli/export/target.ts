/** The file that an export replaces: the output with its links followed, and nothing but a regular file. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import type * as PlatformError from "effect/PlatformError"
import { type CommandFailure, usage } from "../failure.ts"

/** As many as Linux follows. */
const maxLinks = 40

/**
 * Follows `output` to the path of a regular file, which may not exist yet. An export works on that path alone, so that
 * a link stays and the file it points to is replaced. Rejects at the start what cannot be replaced by a file.
 */
export const resolveTarget = Effect.fnUntraced(function*(
  output: string
): Effect.fn.Return<string, CommandFailure | PlatformError.PlatformError, FileSystem.FileSystem | Path.Path> {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  if (/[/\\]$/.test(output) && output.endsWith(path.sep)) return yield* isFolder(output)

  let named = path.resolve(output)
  for (let links = 0; links <= maxLinks; links++) {
    const folder = yield* fs.realPath(path.dirname(named))
    const file = path.join(folder, path.basename(named))
    if (isDescriptorFolder(folder)) return yield* isStream(output, "an open file of a process")
    const found = yield* ifExists(fs.lstat(file))
    if (Option.isNone(found) || found.value.type === "File") return file
    if (found.value.type === "Directory") return yield* isFolder(output)
    if (found.value.type !== "SymbolicLink")
      return yield* isStream(output, kinds[found.value.type] ?? "of another kind")
    named = path.resolve(folder, yield* fs.readLink(file))
  }
  return yield* usage(`--output ${output} is a link that leads to itself`, "Choose another file.")
})

/** None where there is no such file. */
export const ifExists = <A, R>(self: Effect.Effect<A, PlatformError.PlatformError, R>) =>
  Effect.map(self, Option.some).pipe(
    Effect.catchIf((error) => error.reason._tag === "NotFound", () => Effect.succeedNone)
  )

/** `/dev/stdout` is a link into such a folder. What it leads to may be a regular file that a shell has opened. */
const isDescriptorFolder = (folder: string): boolean =>
  /^\/(dev\/fd|proc\/\d+\/(task\/\d+\/)?fd)$/.test(folder.replaceAll("\\", "/"))

const kinds: Partial<Record<FileSystem.File.Type, string>> = {
  BlockDevice: "a device",
  CharacterDevice: "a device",
  FIFO: "a pipe",
  Socket: "a socket"
}

const isFolder = (output: string) =>
  usage(`--output ${output} is not a file but a folder`, "Name a file in it, such as punches.ndjson.")

const isStream = (output: string, kind: string) =>
  usage(
    `--output ${output} is not a regular file but ${kind}: an export replaces its file when it is complete`,
    "To write to standard output, a pipe or a device: time-punches list --format ndjson > FILE"
  )
