/**
 * START HERE. Results, tables, messages and progress. Writes results to standard output, and fits them and the help to a
 * terminal.
 */
import { displayWidth } from "effect/cli/CliOutput"
import * as Console from "effect/Console"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as PlatformError from "effect/PlatformError"
import * as Predicate from "effect/Predicate"
import * as Sink from "effect/Sink"
import * as Stdio from "effect/Stdio"
import * as Stream from "effect/Stream"
import * as Terminal from "effect/Terminal"
import { escaped, obeyed } from "../../internal/text/printable.ts"
import { errorCode, OutputClosed } from "../failure.ts"
import { Colours } from "./colour.ts"
import { clearLine, printWarning } from "./messages.ts"
import { type Screen, wrap } from "./table.ts"

const closedCodes = ["EPIPE", "ERR_STREAM_DESTROYED", "EOF"]

const isClosed = ({ reason }: PlatformError.PlatformError): boolean =>
  Option.exists(errorCode(reason.cause), (code) => closedCodes.includes(code))

/** Writes each text to standard output as it arrives. Fails with `OutputClosed` once the reader has closed it. */
export const print = <E, R>(texts: Stream.Stream<string | Uint8Array, E, R>) =>
  Stdio.Stdio.use((stdio) =>
    Stream.run(
      Stream.mapEffect(texts, (text) =>
        Effect.flatMap(stdio.stdoutIsTerminal, (isTerminal) =>
          isTerminal && Predicate.isString(text)
            // A line that is rewritten would stand before the text. A reader of JSON takes an escape for its character.
            ? Effect.as(clearLine, text.replace(obeyed, escaped))
            : Effect.succeed(text))),
      Sink.mapError(stdio.stdout(), (error) => isClosed(error) ? new OutputClosed() : error)
    )
  )

/** A cell in quotes, which may go over lines. */
const quotedCell = /(?<=^|[,;|\t\r\n])"(?:[^"]|"")*"(?=[,;|\t\r\n]|$)/g

const control = /[\u0000-\u001f\u007f-\u009f]/g

/** Every control but the line ends. */
const loose = /[\u0000-\u0009\u000b\u000c\u000e-\u001f\u007f-\u009f]|\r(?!\n)/g

/** The same text as a terminal may have it: controls are escaped, and only the separator and the ends of records stay. */
export const shownCells = (text: string, separator: string): string =>
  text.replace(quotedCell, (cell) => cell.replace(control, escaped))
    .replace(loose, (char) => char === separator ? char : escaped(char))

/**
 * Writes texts of CSV, or of another file of cells. A terminal obeys what any employee may have written into a note, so there it is
 * escaped; files and pipes have each byte, as `bytesOf` gives them. Not in `print`, which also has the colours of tables.
 */
export const printCells = <E, R>(
  texts: Stream.Stream<string, E, R>,
  separator = ",",
  bytesOf: (text: string) => string | Uint8Array = (text) => text
) =>
  print(
    Stream.mapEffect(
      Stream.filter(texts, (text) => text !== ""),
      (text) =>
        Stdio.Stdio.use(({ stdoutIsTerminal }) =>
          Effect.map(stdoutIsTerminal, (isTerminal) => isTerminal ? shownCells(text, separator) : bytesOf(text))
        )
    )
  )

/** A regular file that is the standard output of this process. */
interface OutputFile {
  readonly size: number
  /** Whether it ends within a line; `undefined` where the system does not let it be read. */
  readonly isCut: Effect.Effect<boolean | undefined>
  /** Returns once all that was written is on disk. */
  readonly sync: Effect.Effect<void, PlatformError.PlatformError>
}

/** The file that is standard output now; `undefined` for a pipe or a terminal. */
export class StdoutFile extends Context.Reference<Effect.Effect<OutputFile | undefined>>(
  "effect-time-punches/cli/StdoutFile",
  { defaultValue: () => Effect.undefined }
) {}

/** Writes a text to standard output, unless it is empty. */
export const printText = (text: string) => text === "" ? Effect.void : print(Stream.make(text))

/** Writes lines to standard output. */
export const printLines = (lines: ReadonlyArray<string>) => printText(lines.map((line) => `${line}\n`).join(""))

/**
 * Writes what a command has changed, as JSON if that is given. If it cannot be written, standard error has the sentence: the
 * change stays.
 */
export const printDone = (sentence: string, json?: string) =>
  Effect.onError(printLines([json ?? sentence]), () => printWarning(sentence))

/**
 * Writes lines for what core runs itself, such as `--completions`: it has neither services nor failures. Outside of a run they are
 * the console's.
 */
export class PrintForCore extends Context.Reference<(lines: ReadonlyArray<string>) => Effect.Effect<void>>(
  "effect-time-punches/cli/PrintForCore",
  { defaultValue: () => (lines) => Console.log(lines.join("\n")) }
) {}

/** How wide a line of standard output may be: no limit outside a terminal. */
export const outputWidth = Effect.gen(function*() {
  const { stdoutIsTerminal } = yield* Stdio.Stdio
  const { columns } = yield* Terminal.Terminal
  return (yield* stdoutIsTerminal) ? (yield* columns) || Infinity : Infinity
})

/** What standard output shows a table on. */
export const screen = Effect.gen(function*() {
  const { stdout } = yield* Colours
  return { width: yield* outputWidth, styles: stdout } satisfies Screen
})

/** A flag, a subcommand or a variable, and what it does. */
const helpRow = /^( +\S.*?) {2,}(\S.*)$/

const indent = " ".repeat(8)

/**
 * Puts the description of each flag below it, in each list of which a line would not fit. An example stays on one line, so
 * that it can be copied.
 */
export const narrowHelp = (text: string, width: number): string =>
  text.split("\n\n").map((section) => {
    const lines = section.split("\n")
    if (lines.every((line) => !helpRow.test(line) || displayWidth(line) <= width)) return section
    return lines.map((line) => {
      const [, left, right] = helpRow.exec(line) ?? []
      return left === undefined || right === undefined
        ? line
        : [left, ...wrap(right, width - indent.length)].join(`\n${indent}`)
    }).join("\n")
  }).join("\n\n")
