/** Runs the command as a Node process: its platform, log, signals and exit code. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeStdio from "@effect/platform-node/NodeStdio"
import * as NodeTerminal from "@effect/platform-node/NodeTerminal"
import * as Cause from "effect/Cause"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as PlatformError from "effect/PlatformError"
import * as ChildProcessSpawner from "effect/process/ChildProcessSpawner"
import type * as Runtime from "effect/Runtime"
import * as Sink from "effect/Sink"
import * as Stdio from "effect/Stdio"
import * as Fs from "node:fs"
import { readProxies } from "../node/proxy.ts"
import { makeRun } from "./command.ts"
import { exitCode } from "./failure.ts"
import { StdoutFile } from "./print/output.ts"

export const main = () => {
  // Without listeners, a reader that closes the pipe between two writes ends the process with a stack trace.
  process.stdout.on("error", () => {})
  process.stderr.on("error", () => {})
  endAtSecondSignal()
  NodeRuntime.runMain(
    runProcess(process.argv.slice(2), Effect.asVoid(readProxies)).pipe(
      Effect.provide(layerProcess)
    ),
    // The run reports a bug itself, in its own format.
    { teardown, disableErrorReporting: true }
  )
}

/** Those of a terminal that closes, and of its second key for an end, are one more SIGTERM. */
const others = ["SIGHUP", "SIGQUIT"] as const
const signals = ["SIGINT", "SIGTERM"] as const

/**
 * The first signal interrupts the run, and a second one ends the process at once, by that signal: an exit waits for the
 * threads of Node, and one of them may wait for a disk or a network that is away.
 */
const endAtSecondSignal = () => {
  let count = 0
  const onSignal = (signal: NodeJS.Signals) => {
    count += 1
    if (count === 1) return
    unhandleSignals()
    process.kill(process.pid, signal)
  }
  for (const signal of signals) process.on(signal, onSignal)
  for (const signal of others) process.on(signal, () => process.emit("SIGTERM", "SIGTERM"))
}

/** From here each signal ends the process, as if nothing had ever listened. */
const unhandleSignals = () => {
  for (const signal of [...signals, ...others]) process.removeAllListeners(signal)
}

const teardown: Runtime.Teardown = (exit, onExit) => {
  unhandleSignals()
  if (Exit.isSuccess(exit)) return onExit(typeof exit.value === "number" ? exit.value : exitCode.ok)
  return onExit(Cause.hasInterruptsOnly(exit.cause) ? exitCode.interrupted : exitCode.bug)
}

/**
 * Standard output that accepts a text only after the previous one has left this process. Node writes to a pipe in the
 * background: text still buffered at exit would be lost, and the cursor for resuming would be past it.
 */
const stdout = () =>
  Sink.forEach((text: string | Uint8Array) => {
    const size = sizeOfFile()
    return size === undefined
      ? Effect.callback<void, PlatformError.PlatformError>((resume) => {
        process.stdout.write(
          text,
          (cause) => resume(cause === null || cause === undefined ? Effect.void : Effect.fail(outputError(cause)))
        )
      })
      : writeWhole(text, size)
  })

const outputError = (cause: unknown, pathOrDescriptor?: string) =>
  PlatformError.systemError({ _tag: "Unknown", module: "Stdio", method: "stdout", pathOrDescriptor, cause })

/** The size of the file that is standard output, if it is one. */
const sizeOfFile = (): number | undefined => {
  try {
    const stat = Fs.fstatSync(1)
    return stat.isFile() ? stat.size : undefined
  } catch {
    return undefined
  }
}

/** A text was taken back. Without append, the system would write the next one where that one ended, behind a gap. */
let hasGap = false

/**
 * Writes a text to the file that is standard output, or takes back what was written of it: the next run appends to whole
 * lines. Node writes to a file once and ignores how much the system took, which on a disk that is nearly full is only a part.
 */
const writeWhole = Effect.fnUntraced(function*(text: string | Uint8Array, size: number) {
  const bytes = typeof text === "string" ? Buffer.from(text) : text
  let written = 0
  try {
    while (written < bytes.length) {
      const count = Fs.writeSync(1, bytes, written, bytes.length - written, hasGap ? size + written : null)
      if (count === 0) throw new Error("it takes nothing more")
      written += count
    }
  } catch (cause) {
    return yield* outputError(cause, takeBack(size, written) ? undefined : "stdout, whose last line is cut")
  }
})

/** Whether what was written is gone again: what another process has written behind it stays. */
const takeBack = (size: number, written: number): boolean => {
  try {
    if (written === 0) return true
    if (Fs.fstatSync(1).size !== size + written) return false
    Fs.ftruncateSync(1, size)
    hasGap = true
    return true
  } catch {
    return false
  }
}

/** The file that is standard output, for what is kept once a text is on disk. */
const stdoutFile = Effect.sync(() => {
  const size = sizeOfFile()
  return size === undefined ? undefined : {
    size,
    isCut: Effect.sync(() => size === 0 ? false : isCutAt(size)),
    sync: Effect.callback<void, PlatformError.PlatformError>((resume) => {
      Fs.fsync(1, (cause) => resume(cause === null ? Effect.void : Effect.fail(outputError(cause))))
    })
  }
})

/** What a shell has opened to append to it is read by another descriptor, of which only some systems let a process have one. */
const isCutAt = (size: number): boolean | undefined => {
  try {
    const file = Fs.openSync("/proc/self/fd/1", "r")
    try {
      const byte = Buffer.alloc(1)
      return Fs.readSync(file, byte, 0, 1, size - 1) === 1 && byte.toString() !== "\n"
    } finally {
      Fs.closeSync(file)
    }
  } catch {
    return undefined
  }
}

/** The types of core ask for it, and neither core nor a command starts a process: the code that does is not loaded. */
const layerSpawner = Layer.succeed(
  ChildProcessSpawner.ChildProcessSpawner,
  ChildProcessSpawner.make(() => Effect.die(new Error("the command starts no process")))
)

const layerNode = Layer.mergeAll(
  NodeFileSystem.layer,
  NodePath.layer,
  NodeStdio.layer,
  NodeTerminal.layer,
  layerSpawner
)

/** The platform of a run: the outputs of this process. */
export const layerProcess = Layer.effect(
  Stdio.Stdio,
  Effect.map(Stdio.Stdio, (stdio) => Stdio.make({ ...stdio, stdout }))
).pipe(Layer.merge(Layer.succeed(StdoutFile, stdoutFile)), Layer.provideMerge(layerNode))

/** Only what runs a command needs a client: help does not load its modules. */
const layerTransport = Layer.unwrap(Effect.map(Effect.promise(() => import("./transport.ts")), ({ layer }) => layer))

const runProcess = makeRun(Command.provide(layerTransport))
