/** Writing: results to standard output, everything else to standard error, and a reader that goes away ends quietly. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as PlatformError from "effect/PlatformError"
import * as Sink from "effect/Sink"
import * as Stdio from "effect/Stdio"
import * as Stream from "effect/Stream"
import { codeOf, ReaderGone } from "../failure.ts"

const gone = ["EPIPE", "ERR_STREAM_DESTROYED", "EOF"]

const isGone = ({ reason }: PlatformError.PlatformError): boolean =>
  Option.exists(codeOf(reason.cause), (code) => gone.includes(code))

/** Writes texts to standard output as they come. */
export const print = <E, R>(texts: Stream.Stream<string, E, R>) =>
  Stdio.Stdio.use((stdio) =>
    Stream.run(texts, Sink.mapError(stdio.stdout(), (error) => isGone(error) ? new ReaderGone() : error))
  )

/** Writes lines to standard output. */
export const printLines = (lines: ReadonlyArray<string>) =>
  lines.length === 0 ? Effect.void : print(Stream.make(`${lines.join("\n")}\n`))

/** Erases the line that a terminal's cursor is on, where a progress line may stand. */
export const eraseLine = "\r\u001b[2K"

/** Writes a text to standard error as it is; nothing depends on it, so a closed one does not matter. */
export const tellRaw = (text: string) =>
  Stdio.Stdio.use((stdio) => Effect.ignore(Stream.run(Stream.make(text), stdio.stderr())))

/** Writes lines to standard error. */
export const tell = (...lines: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const stdio = yield* Stdio.Stdio
    const erase = (yield* stdio.stderrIsTerminal) ? eraseLine : ""
    yield* tellRaw(erase + lines.map((line) => `${line}\n`).join(""))
  })
