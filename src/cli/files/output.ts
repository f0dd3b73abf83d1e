/**
 * START HERE. Files that a command writes. `--output`: the file that a command prints into, by one rule for all: whole or not
 * at all, and replaced only with `--force`.
 */
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import type { Path } from "effect/Path"
import type { PlatformError } from "effect/PlatformError"
import type { Scope } from "effect/Scope"
import * as Sink from "effect/Sink"
import * as Stdio from "effect/Stdio"
import { printable } from "../../internal/text/printable.ts"
import { type CommandFailure, Findings, usage } from "../failure.ts"
import { asOutput, naming } from "../flags/file.ts"
import { onFlag } from "../flags/values.ts"
import { Colours, plain } from "../print/colour.ts"
import { assertStill, copyMode, openedOf, ownerOnly, resolveTarget } from "./files.ts"

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

type Refusal = CommandFailure | PlatformError

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
): Effect.Effect<A, E | Refusal, R | FileSystem.FileSystem | Path | Stdio.Stdio> =>
  Option.match(fileOf(output), {
    onNone: () => force ? Effect.fail(forceNeedsFile) : self,
    onSome: Effect.fnUntraced(function*(
      file
    ): Effect.fn.Return<A, E | Refusal, R | FileSystem.FileSystem | Path | Stdio.Stdio | Scope> {
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
