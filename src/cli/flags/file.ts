/** The files that a flag or a setting names: what reads one reads it here, so that a rule for all of them has one place. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import type * as PlatformError from "effect/PlatformError"
import * as Stream from "effect/Stream"
import { printable } from "../../internal/wire/issue.ts"
import { type CommandFailure, usage } from "../failure.ts"

/** The bytes of a file or a pipe, whole. Fails above `most` MiB: a device may never end. */
export const readBounded = Effect.fnUntraced(function*(
  file: string,
  most = 16
): Effect.fn.Return<Uint8Array, CommandFailure | PlatformError.PlatformError, FileSystem.FileSystem> {
  const fs = yield* FileSystem.FileSystem
  const bytes = yield* Stream.mkUint8Array(fs.stream(file, { bytesToRead: most * 2 ** 20 + 1 }))
  return bytes.length > most * 2 ** 20
    ? yield* usage(`${printable(file)}: it is larger than ${most} MiB`)
    : bytes
})
