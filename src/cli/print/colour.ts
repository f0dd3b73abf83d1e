/** Whether standard output and standard error have colour, and the styles of tables and warnings. */
import * as TerminalCapabilities from "effect/cli/TerminalCapabilities"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stdio from "effect/Stdio"

/** The values of `--color`. */
export const colourChoices = ["auto", "always", "never"] as const

export type ColourChoice = typeof colourChoices[number]

/** Encloses a text in the codes of a style. The text must be printable: a code within it would end the style. */
export type Style = (text: string) => string

/** The styles of an output. Without colour each returns its text. */
export interface Styles {
  /** Titles of columns. */
  readonly bold: Style
  /** What is negative: a minus, lost hours, a failed check. */
  readonly red: Style
  /** Warnings. */
  readonly yellow: Style
  /** A check that passed. */
  readonly green: Style
}

const style = (code: number): Style => (text) => text === "" ? "" : `\u001b[${code}m${text}\u001b[0m`

const same: Style = (text) => text

export const coloured: Styles = { bold: style(1), red: style(31), yellow: style(33), green: style(32) }

export const plain: Styles = { bold: same, red: same, yellow: same, green: same }

/** The styles of both outputs of a run. */
export class Colours extends Context.Reference<{ readonly stdout: Styles; readonly stderr: Styles }>(
  "effect-time-punches/cli/Colours",
  { defaultValue: () => ({ stdout: plain, stderr: plain }) }
) {}

/** A terminal has colour, unless `NO_COLOR` is set or `TERM` is `dumb`. With `FORCE_COLOR` a pipe has it too. */
const isColoured = (isTerminal: Stdio.Stdio["stdoutIsTerminal"]) =>
  Effect.flatMap(
    Stdio.Stdio,
    (stdio) =>
      TerminalCapabilities.TerminalCapabilities.use(({ canColor }) => Effect.succeed(canColor)).pipe(
        // Core looks at standard output alone, so its layer is built for each output, and not shared.
        Effect.provide(Layer.fresh(TerminalCapabilities.layer)),
        Effect.provideService(Stdio.Stdio, Stdio.make({ ...stdio, stdoutIsTerminal: isTerminal }))
      )
  )

/** The colours of a run. A choice replaces what the environment says. */
export const coloursOf = Effect.fnUntraced(function*(choice: ColourChoice) {
  const stdio = yield* Stdio.Stdio
  const stylesOf = (isTerminal: Stdio.Stdio["stdoutIsTerminal"]) =>
    Effect.map(
      choice === "auto" ? isColoured(isTerminal) : Effect.succeed(choice === "always"),
      (isColoured) => isColoured ? coloured : plain
    )
  return { stdout: yield* stylesOf(stdio.stdoutIsTerminal), stderr: yield* stylesOf(stdio.stderrIsTerminal) }
})
