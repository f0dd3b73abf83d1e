/** Writes results to standard output and everything else to standard error. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as PlatformError from "effect/PlatformError"
import * as Sink from "effect/Sink"
import * as Stdio from "effect/Stdio"
import * as Stream from "effect/Stream"
import * as Terminal from "effect/Terminal"
import { OutputClosed } from "../failure.ts"
import { errorCode } from "../fileFailure.ts"

const closedCodes = ["EPIPE", "ERR_STREAM_DESTROYED", "EOF"]

const isClosed = ({ reason }: PlatformError.PlatformError): boolean =>
  Option.exists(errorCode(reason.cause), (code) => closedCodes.includes(code))

/** Writes each text to standard output as it arrives. Fails with `OutputClosed` once the reader has closed it. */
export const print = <E, R>(texts: Stream.Stream<string, E, R>) =>
  Stdio.Stdio.use((stdio) =>
    Stream.run(texts, Sink.mapError(stdio.stdout(), (error) => isClosed(error) ? new OutputClosed() : error))
  )

/** Writes lines to standard output. */
export const printLines = (lines: ReadonlyArray<string>) =>
  lines.length === 0 ? Effect.void : print(Stream.make(`${lines.join("\n")}\n`))

/** How wide a line of standard output may be: no limit where that is no terminal. */
export const outputWidth = Effect.gen(function*() {
  const { stdoutIsTerminal } = yield* Stdio.Stdio
  const { columns } = yield* Terminal.Terminal
  return (yield* stdoutIsTerminal) ? (yield* columns) || Infinity : Infinity
})

/** Erases the line of a terminal's cursor, where a progress line may stand. */
export const eraseLine = "\r\u001b[2K"

/** Writes a text to standard error unchanged. Failures are ignored: no result depends on it. */
export const writeStderr = (text: string) =>
  Stdio.Stdio.use((stdio) => Effect.ignore(Stream.run(Stream.make(text), stdio.stderr())))

/** Writes lines to standard error, over the progress line of a terminal. */
export const printError = (...lines: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const stdio = yield* Stdio.Stdio
    const erase = (yield* stdio.stderrIsTerminal) ? eraseLine : ""
    yield* writeStderr(erase + lines.map((line) => `${line}\n`).join(""))
  })
