/** Writes results to standard output, everything else to standard error, and fits help and progress to a terminal. */
import { displayWidth } from "effect/cli/CliOutput"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as PlatformError from "effect/PlatformError"
import * as Sink from "effect/Sink"
import * as Stdio from "effect/Stdio"
import * as Stream from "effect/Stream"
import * as Terminal from "effect/Terminal"
import { errorCode, OutputClosed } from "../failure.ts"
import { Colours } from "./colour.ts"
import { counted, countedPunches, formatNumber } from "./format.ts"
import { type Screen, wrap } from "./table.ts"

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

/** Erases the line of a terminal's cursor, where a progress line may stand. */
export const eraseLine = "\r\u001b[2K"

/** Writes a text to standard error unchanged. Failures are ignored: no result depends on it. */
export const writeStderr = (text: string) =>
  Stdio.Stdio.use((stdio) => Effect.ignore(Stream.run(Stream.make(text), stdio.stderr())))

/** Writes lines to standard error, over the progress line of a terminal. */
export const printError = (...lines: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    if (lines.length === 0) return
    const stdio = yield* Stdio.Stdio
    const erase = (yield* stdio.stderrIsTerminal) ? eraseLine : ""
    yield* writeStderr(erase + lines.map((line) => `${line}\n`).join(""))
  })

/** Writes warnings to standard error: what a result does not have, or what needs a look. */
export const printWarning = (...lines: ReadonlyArray<string>) =>
  Effect.flatMap(Colours, ({ stderr }) => printError(...lines.map(stderr.yellow)))

/** A flag, a subcommand or a variable, and what it does. */
const helpRow = /^( +\S.*?) {2,}(\S.*)$/

const indent = " ".repeat(8)

/** Puts the description of each flag below it if a line would not fit. An example stays on one line, so that it can be copied. */
export const narrowHelp = (text: string, width: number): string => {
  const lines = text.split("\n")
  if (lines.every((line) => !helpRow.test(line) || displayWidth(line) <= width)) return text
  return lines.map((line) => {
    const [, left, right] = helpRow.exec(line) ?? []
    return left === undefined || right === undefined
      ? line
      : [left, ...wrap(right, width - indent.length)].join(`\n${indent}`)
  }).join("\n")
}

/** What a run has received so far. */
export interface Totals {
  readonly pages: number
  readonly punches: number
}

/** A count of pages and punches, shown on one line of a terminal. */
export interface Progress {
  /** The current totals, which include those of a resumed run. */
  readonly totals: () => Totals
  /** Adds a page with its number of punches, and shows the totals if the line is due. */
  readonly add: (punches: number) => Effect.Effect<void, never, Stdio.Stdio>
}

/** Milliseconds between two updates of the line: it looks alive and costs nothing. */
const interval = 100

/**
 * Starts at the totals of the run that this one resumes. The line is erased when the scope closes.
 *
 * `printsResults` says that results are printed during the run: on the same terminal, a progress line would break them.
 */
export const makeProgress = Effect.fnUntraced(function*(
  { printsResults, resumed = { pages: 0, punches: 0 } }: {
    readonly printsResults: boolean
    readonly resumed?: Totals
  }
) {
  const stdio = yield* Stdio.Stdio
  const isShown = (yield* stdio.stderrIsTerminal) && !(printsResults && (yield* stdio.stdoutIsTerminal))
  if (isShown) yield* Effect.addFinalizer(() => writeStderr(eraseLine))
  const started = yield* Clock.currentTimeMillis
  let shownAt = -Infinity
  let { pages, punches } = resumed

  const show = Effect.flatMap(Clock.currentTimeMillis, (now) => {
    if (now - shownAt < interval) return Effect.void
    shownAt = now
    const seconds = (now - started) / 1000
    const perSecond = formatNumber(Math.round((punches - resumed.punches) / seconds))
    const rate = seconds < 1 ? "" : `, ${perSecond} a second`
    return writeStderr(`${eraseLine}${counted(pages, "page")}, ${countedPunches(punches)}${rate}`)
  })

  return {
    totals: () => ({ pages, punches }),
    add: (more) =>
      Effect.suspend(() => {
        pages += 1
        punches += more
        return isShown ? show : Effect.void
      })
  } satisfies Progress
})
