/** Describes what the file system refused: the file, the reason, and what to do about that reason. */
import * as Option from "effect/Option"
import type * as PlatformError from "effect/PlatformError"
import { printable } from "../internal/base/printable.ts"

interface Reason {
  readonly what: string
  readonly advice?: string
}

const denied: Reason = {
  what: "permission denied",
  advice: "Get the permission to write there, or choose another file."
}

/** Reasons by the platform's code of an error. */
const byCode: Partial<Record<string, Reason>> = {
  EACCES: denied,
  EBUSY: { what: "it is in use" },
  EDQUOT: { what: "the disk quota is used up (EDQUOT)", advice: "Free space within the quota, or have it raised." },
  EEXIST: { what: "it already exists" },
  EIO: {
    what: "the disk cannot be read or written (EIO)",
    advice: "Check the disk, or the connection to it, before the next run."
  },
  EISDIR: { what: "it is a folder" },
  ENOENT: { what: "there is no such file or folder" },
  ENOSPC: { what: "no space is left on the disk (ENOSPC)", advice: "Free space on that disk." },
  EPERM: denied,
  EROFS: {
    what: "the file system is read-only (EROFS)",
    advice: "Choose a file on another file system, or have this one mounted for writing."
  }
}

/** The platform's code of an error, such as `ENOSPC`. */
export const errorCode = (cause: unknown): Option.Option<string> =>
  cause instanceof Error && "code" in cause && typeof cause.code === "string" ? Option.some(cause.code) : Option.none()

/** One line that names the file and the reason, and the advice for that reason. */
export const describeFileError = (
  { reason }: PlatformError.PlatformError
): { readonly message: string; readonly advice: ReadonlyArray<string> } => {
  if (reason._tag === "BadArgument") return { message: printable(reason.message), advice: [] }
  const file = reason.pathOrDescriptor === undefined ? reason.method : `${reason.pathOrDescriptor}`
  const code = Option.getOrElse(errorCode(reason.cause), () => reason.message)
  const { advice, what } = byCode[code] ?? { what: code }
  return { message: printable(`${file}: ${what}`), advice: advice === undefined ? [] : [advice] }
}
