/** The process around the command: what it runs on, its log, its signals and its exit. */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as PlatformError from "effect/PlatformError"
import * as Runtime from "effect/Runtime"
import * as Sink from "effect/Sink"
import * as Stdio from "effect/Stdio"
import { run } from "./command.ts"
import { eraseLine } from "./terminal/output.ts"

/**
 * undici opens sockets without limit, and waits for a connection as long as the system does, unless options say otherwise.
 * Bun has its own undici, which the transport cannot use; fetch works there.
 */
const layerHttp = process.versions["bun"] === undefined
  ? NodeHttpClient.layerUndiciOptions({ connections: 16, connect: { timeout: 5000 } })
  : FetchHttpClient.layer

/** Standard output is for results. */
const layerLog = Logger.layer([
  Logger.withConsoleError(Logger.map(Logger.formatSimple, (line) => process.stderr.isTTY ? eraseLine + line : line))
])

const teardown: Runtime.Teardown = (exit, onExit) => {
  if (Exit.isSuccess(exit)) return onExit(typeof exit.value === "number" ? exit.value : 0)
  return Runtime.defaultTeardown(exit, onExit)
}

/**
 * Standard output that takes the next text when the one before has left this process. A pipe is written to in the
 * background: what still waits here when the process exits would be lost, and a listing that failed after it would be
 * gone on with too late.
 */
const stdout = () =>
  Sink.forEach((text: string | Uint8Array) =>
    Effect.callback<void, PlatformError.PlatformError>((resume) => {
      process.stdout.write(text, (cause) =>
        resume(
          cause === null || cause === undefined
            ? Effect.void
            : Effect.fail(PlatformError.systemError({ _tag: "Unknown", module: "Stdio", method: "stdout", cause }))
        ))
    })
  )

const layerStdio = Layer.effect(
  Stdio.Stdio,
  Effect.map(Stdio.Stdio, (stdio) => Stdio.make({ ...stdio, stdout }))
).pipe(Layer.provideMerge(NodeServices.layer))

export const main = () => {
  // A reader that goes away while nothing is being written would else end the process with a stack trace.
  process.stdout.on("error", () => {})
  process.stderr.on("error", () => {})
  NodeRuntime.runMain(
    run(process.argv.slice(2)).pipe(Effect.provide(Layer.mergeAll(layerStdio, layerHttp, layerLog))),
    { teardown }
  )
}
