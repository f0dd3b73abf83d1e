/** Standard error: the messages of a run as lines or as JSON, its log, and the line that a terminal rewrites. */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import * as Logger from "effect/Logger"
import * as Stdio from "effect/Stdio"
import * as Stream from "effect/Stream"
import { inspect, stripVTControlCharacters } from "node:util"
import { OnRetry, type RetryNotice } from "../../internal/telemetry/metrics.ts"
import { escaped, escapedLines, obeyed, printable } from "../../internal/text/printable.ts"
import type { CommandFailure } from "../failure.ts"
import { Colours } from "./colour.ts"
import { formatElapsed } from "./format.ts"
import { fit } from "./table.ts"

/** The values of `--log-format`. */
export const formats = ["lines", "json"] as const

/** What stands on the line that a terminal rewrites. */
interface Live {
  progress: string
  retry: string
  /** When the wait of the retry is over, in milliseconds of the clock. */
  retryUntil: number
  isShown: boolean
}

/** How a run writes to standard error. */
interface Mode {
  readonly format: typeof formats[number]
  readonly detail: "quiet" | "normal" | "verbose"
  /** The width of the terminal now. */
  readonly columns: Effect.Effect<number>
  /** The flags of this run, as words of a shell, without which a command that is advised would have other settings. */
  readonly settings: string
  readonly live: Live
}

export const makeMode = (options: Omit<Mode, "live">): Mode => ({
  ...options,
  live: { progress: "", retry: "", retryUntil: -Infinity, isShown: false }
})

/** The mode of a run; none outside one: lines, without a flag. */
export class Messages extends Context.Reference<Mode | undefined>("effect-time-punches/cli/Messages", {
  defaultValue: () => undefined
}) {}

/** Whether only errors and warnings are wanted. */
export const isQuiet = Effect.map(Messages, (mode) => mode?.detail === "quiet")

/** Logs to standard error: standard output is for results only. A log of a server has the time and the level of each line. */
export const logOf = (format: Mode["format"], isServer: boolean) =>
  Logger.layer([
    Logger.withConsoleError(
      format === "json"
        ? Logger.map(Logger.formatJson, (line) => line.replace(obeyed, escaped))
        : Logger.map(isServer ? Logger.formatSimple : formatRemark, (text) => {
          // A line of the log may have the words of a service or of a database.
          const line = escapedLines(text)
          return process.stderr.isTTY ? eraseLine + line : line
        })
    )
  ])

/** A log line among the messages of a command. */
const formatRemark = Logger.make(({ cause, logLevel, message }) => {
  const text = (Array.isArray(message) ? message : [message])
    .map((part) => Cause.isCause(part) ? Cause.pretty(part) : typeof part === "string" ? part : inspect(part))
  const lines = [...text, ...(cause.reasons.length === 0 ? [] : [Cause.pretty(cause)])].join(" ")
  return logLevel === "Info" ? lines : `${logLevel === "Warn" ? "warning" : logLevel.toLowerCase()}: ${lines}`
})

/** Runs a server, whose log is what it has to say: every line has a time, and retries are lines of the log. */
export const withServerLog = <A, E, R>(self: Effect.Effect<A, E, R>) =>
  Effect.flatMap(Messages, (mode) =>
    self.pipe(
      Effect.provide(logOf(mode?.format ?? "lines", true)),
      Effect.updateService(OnRetry, (onRetry) => mode?.detail === "quiet" ? onRetry : undefined)
    ))

/** Erases the line of a terminal's cursor, where a progress line may stand. */
export const eraseLine = "\r\u001b[2K"

/** Writes a text to standard error unchanged. Failures are ignored: no result depends on it. */
const writeStderr = (text: string) =>
  Stdio.Stdio.use((stdio) => Effect.ignore(Stream.run(Stream.make(text), stdio.stderr())))

/** Writes lines to standard error, over the line that a terminal rewrites. */
const writeLines = (lines: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const stdio = yield* Stdio.Stdio
    const mode = yield* Messages
    if (mode !== undefined) mode.live.isShown = false
    const erased = (yield* stdio.stderrIsTerminal) ? eraseLine : ""
    yield* writeStderr(erased + lines.map((line) => `${line}\n`).join(""))
  })

/** Writes an event as one JSON object on a line: its first members are those of a line of the log. */
const writeEvent = (level: "INFO" | "WARN" | "ERROR", message: string, fields: Readonly<Record<string, unknown>>) =>
  Effect.flatMap(DateTime.now, (now) =>
    writeStderr(
      `${
        JSON.stringify({
          message: stripVTControlCharacters(message),
          level,
          timestamp: DateTime.formatIso(now),
          ...fields
        }).replace(obeyed, escaped)
      }\n`
    ))

const message = (
  event: "remark" | "warning" | "hint",
  texts: ReadonlyArray<string>,
  colour?: "red" | "yellow"
): Effect.Effect<void, never, Stdio.Stdio> =>
  Effect.gen(function*() {
    const mode = yield* Messages
    const { stderr } = yield* Colours
    const lines = (yield* shown(texts)).map(colour === undefined ? identity : stderr[colour])
    const [first, ...details] = lines
    if (first === undefined || (event === "hint" && mode?.detail === "quiet")) return
    if (mode?.format !== "json") return yield* writeLines(lines)
    const more = details.length === 0 ? {} : { details: details.map(stripVTControlCharacters) }
    yield* writeEvent(event === "warning" ? "WARN" : "INFO", first, { event, ...more })
  })

/** Each command that a text advises, with the flags that give it the settings of this run. */
export const runnable = Effect.map(Messages, (mode) => {
  const settings = mode?.settings ?? ""
  return (text: string) => text.replaceAll(/(?<!\S)time-punches (?=[a-z])(?!help )/g, () => `time-punches ${settings}`)
})

/**
 * What a message shows of its texts: every message passes here once, before it is coloured. A value within it is cut and
 * escaped where it is quoted; this keeps a text that was not from controlling the terminal.
 */
const shown = (lines: ReadonlyArray<string>) =>
  Effect.map(runnable, (runnable) => lines.map(runnable).map(escapedLines))

/** Writes lines about the result to standard error, also with `--quiet`: nothing was found, or what was. */
export const printError = (...lines: ReadonlyArray<string>) => message("remark", lines)

/** The same for what somebody loses. */
export const printLoss = (...lines: ReadonlyArray<string>) => message("remark", lines, "red")

/** Writes warnings to standard error: what a result does not have, or what needs a look. */
export const printWarning = (...lines: ReadonlyArray<string>) => message("warning", lines, "yellow")

/** Writes what is good to know to standard error, but not with `--quiet`. */
export const printHint = (...lines: ReadonlyArray<string>) => message("hint", lines)

/** Writes a failure to standard error: what happened, what to do, and the exit code that it has. `lines`: its text for people. */
export const printFailure = (
  { advice, code, message }: Pick<CommandFailure, "advice" | "code" | "message">,
  lines?: ReadonlyArray<string>
) =>
  Effect.gen(function*() {
    const mode = yield* Messages
    const advised = yield* shown(advice)
    if (mode?.format === "json") {
      return yield* writeEvent("ERROR", escaped(message), { event: "error", advice: advised, code })
    }
    yield* writeLines(
      lines?.map(escapedLines) ??
        [escapedLines(`time-punches: ${message}`), ...advised.map((line) => `  ${line}`)]
    )
  })

/** `503, retrying in 1 s (2nd of 4)`. */
export const retryText = ({ attempt, attempts, delay, reason, what }: RetryNotice): string =>
  `${what === "token" ? "token: " : ""}${printable(reason)}, retrying in ${formatElapsed(delay)} (${
    ordinal(attempt)
  } of ${attempts})`

const ordinal = (value: number): string =>
  `${value}${value % 100 > 10 && value % 100 < 14 ? "th" : ["th", "st", "nd", "rd"][value % 10] ?? "th"}`

/** A retry on the line that a terminal rewrites, in a pipe as a separate line, or as an event. */
export const showRetry = (notice: RetryNotice) =>
  Effect.gen(function*() {
    const mode = yield* Messages
    if (mode === undefined || mode.detail === "quiet") return
    const text = retryText(notice)
    if (mode.format === "json") {
      const { attempt, attempts, delay, reason, what } = notice
      const fields = { what, reason, attempt, attempts, waitSeconds: Math.round(delay) / 1000 }
      return yield* writeEvent("WARN", text, { event: "retry", ...fields })
    }
    if (!(yield* Stdio.Stdio.use(({ stderrIsTerminal }) => stderrIsTerminal))) return yield* writeLines([text])
    mode.live.retry = text
    mode.live.retryUntil = (yield* Clock.currentTimeMillis) + notice.delay
    yield* draw(mode)
  })

/** The line in a width: the retry first, since what does not fit is cut. A terminal would wrap a line of its whole width. */
export const liveText = ({ progress, retry }: Pick<Live, "progress" | "retry">, width: number): string =>
  fit([retry, progress].filter((part) => part !== "").join("; "), width - 1)

const draw = ({ columns, live }: Mode) =>
  Effect.flatMap(columns, (width) => {
    live.isShown = true
    return writeStderr(eraseLine + liveText(live, width || Infinity))
  })

/** Erases the line that a terminal rewrites, if it stands there. */
export const clearLine: Effect.Effect<void, never, Stdio.Stdio> = Effect.flatMap(
  Messages,
  (mode) => mode === undefined ? Effect.void : erase(mode.live)
)

const erase = (live: Live) => {
  const { isShown } = live
  Object.assign(live, { progress: "", retry: "", isShown: false })
  return isShown ? writeStderr(eraseLine) : Effect.void
}

/** Shows how far a run is. */
interface Reporter {
  /** Shows a state if one is due. `elapsed`: milliseconds since the run began. */
  readonly show: (
    state: (elapsed: number) => { readonly text: string; readonly fields: Readonly<Record<string, unknown>> }
  ) => Effect.Effect<void, never, Stdio.Stdio>
  /** Erases the line, before a result stands there. */
  readonly clear: Effect.Effect<void, never, Stdio.Stdio>
}

/** Milliseconds between two updates of the line: it looks alive and costs nothing. */
const lineInterval = 100

/** Milliseconds between two events of progress: a log is kept. */
const eventInterval = 10_000

/**
 * Begins the progress of a run: a line of a terminal, an event every ten seconds, in a pipe nothing. `printsResults` says that
 * results are printed during the run: on the same terminal, a progress line would break them.
 */
export const startReport = Effect.fnUntraced(function*({ printsResults }: { readonly printsResults: boolean }) {
  const stdio = yield* Stdio.Stdio
  const mode = (yield* Messages) ??
    makeMode({ format: "lines", detail: "normal", columns: Effect.succeed(Infinity), settings: "" })
  const started = yield* Clock.currentTimeMillis
  const isJson = mode.format === "json"
  const isLine = (yield* stdio.stderrIsTerminal) && !(printsResults && (yield* stdio.stdoutIsTerminal))
  const interval = isJson ? eventInterval : lineInterval
  let shownAt = isJson ? started : -Infinity
  const { live } = mode
  const show: Reporter["show"] = (state) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => {
      if (now - shownAt < interval) return Effect.void
      shownAt = now
      const { fields, text } = state(now - started)
      if (isJson) return writeEvent("INFO", text, { event: "progress", ...fields })
      live.progress = text
      if (now >= live.retryUntil) live.retry = ""
      return draw(mode)
    })
  const isShown = mode.detail !== "quiet" && (isJson || isLine)
  const clear = Effect.suspend(() => erase(live))
  return { show: isShown ? show : () => Effect.void, clear } satisfies Reporter
})
