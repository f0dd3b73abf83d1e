/** `--color`, and the styles that it gives standard output and standard error: the only place that decides on colour. */
import * as Flag from "effect/cli/Flag"
import * as GlobalFlag from "effect/cli/GlobalFlag"
import * as TerminalCapabilities from "effect/cli/TerminalCapabilities"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Stdio from "effect/Stdio"
import { printable } from "../../internal/wire/issue.ts"
import { type CommandFailure, usage } from "../failure.ts"
import { takeFlags } from "../flags/arguments.ts"

const choices = ["auto", "always", "never"] as const

type Choice = typeof choices[number]

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

/** Declared for the help: its value is taken before the arguments are parsed, so that help and every message follow it. */
export const colourFlag = GlobalFlag.Setting("color")({
  flag: Flag.Literals("color", choices).pipe(
    Flag.withMetavar("auto|always|never"),
    Flag.withDescription("Colour of tables, warnings and help (default: auto: in a terminal, unless NO_COLOR is set)"),
    Flag.optional
  )
})

const isChoice = (value: string): value is Choice => choices.some((choice) => choice === value)

/** Takes `--color` out of the arguments. */
const takeColour = (args: ReadonlyArray<string>) =>
  Result.flatMap(takeFlags(args, { color: "auto, always or never" }), ({ rest, values }) => {
    const value = values.get("color") ?? "auto"
    return isChoice(value)
      ? Result.succeed({ choice: value, rest })
      : Result.fail(usage(`--color needs auto, always or never, and not ${printable(value)}`))
  })

/** Whether an output may have colour: a terminal does, unless `NO_COLOR` or `TERM=dumb` says no; `FORCE_COLOR` adds a pipe. */
const isColoured = (isTerminal: Stdio.Stdio["stdoutIsTerminal"]) =>
  Effect.flatMap(
    Stdio.Stdio,
    (stdio) =>
      TerminalCapabilities.TerminalCapabilities.use(({ canColor }) => Effect.succeed(canColor)).pipe(
        // Core looks at standard output alone. Each output is asked for, so the two must not share what is built.
        Effect.provide(Layer.fresh(TerminalCapabilities.layer)),
        Effect.provideService(Stdio.Stdio, Stdio.make({ ...stdio, stdoutIsTerminal: isTerminal }))
      )
  )

const coloursOf = Effect.fnUntraced(function*(choice: Choice) {
  const stdio = yield* Stdio.Stdio
  const stylesOf = (isTerminal: Stdio.Stdio["stdoutIsTerminal"]) =>
    Effect.map(
      choice === "auto" ? isColoured(isTerminal) : Effect.succeed(choice === "always"),
      (isColoured) => isColoured ? coloured : plain
    )
  return { stdout: yield* stylesOf(stdio.stdoutIsTerminal), stderr: yield* stylesOf(stdio.stderrIsTerminal) }
})

/** Runs with the other arguments, and with the colours that `--color` and the environment choose. */
export const withColours = <A, E, R>(
  args: ReadonlyArray<string>,
  use: (rest: Effect.Effect<ReadonlyArray<string>, CommandFailure>) => Effect.Effect<A, E, R>
) => {
  const taken = takeColour(args)
  const choice = Result.isSuccess(taken) ? taken.success.choice : "auto"
  return use(Effect.map(Effect.fromResult(taken), ({ rest }) => rest)).pipe(
    Effect.provideServiceEffect(Colours, coloursOf(choice))
  )
}
