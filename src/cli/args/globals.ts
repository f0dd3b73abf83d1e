/**
 * START HERE. The flags of every command. They are taken out of the arguments in one pass before these are parsed, so that help
 * and every message follow them.
 */
import * as Cause from "effect/Cause"
import * as Flag from "effect/cli/Flag"
import * as GlobalFlag from "effect/cli/GlobalFlag"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as References from "effect/References"
import * as Result from "effect/Result"
import type * as Stdio from "effect/Stdio"
import * as Struct from "effect/Struct"
import * as Terminal from "effect/Terminal"
import { OnRetry, type RetryNotice } from "../../internal/telemetry/metrics.ts"
import { printable } from "../../internal/text/printable.ts"
import { type CommandFailure, usage } from "../failure.ts"
import { colourChoices, Colours, coloursOf } from "../print/colour.ts"
import { shellWord } from "../print/format.ts"
import { clearLine, formats, logOf, makeMode, Messages, showRetry } from "../print/messages.ts"

type GlobalName = "color" | "quiet" | "verbose" | "log-format" | "profile" | "variables"

interface Global {
  readonly what: string
  /** Of a switch. A flag without a letter has a value. */
  readonly letter?: string
  /** What the value must be. */
  readonly needs?: string
  readonly choices?: ReadonlyArray<string>
  readonly metavar?: string
}

const globals: Readonly<Record<GlobalName, Global>> = {
  color: {
    choices: colourChoices,
    needs: "auto, always or never",
    what: "When tables, warnings and help have colour; auto: in a terminal, unless NO_COLOR is set"
  },
  quiet: { letter: "q", what: "No progress, retries, hints or lines of a sync run; errors and warnings stay" },
  verbose: { letter: "v", what: "The library's log on standard error, from level debug" },
  "log-format": {
    choices: formats,
    needs: "lines or json",
    what: "How standard error is written; json: one object a line, for a log collector (default: lines)"
  },
  profile: {
    metavar: "NAME",
    needs: "a name",
    what: "Settings and defaults of flags from this table of config.json (default: TIME_PUNCHES_PROFILE)"
  },
  variables: {
    metavar: "FILE",
    needs: "the name of a file",
    what: "Variables from this file, such as secrets; a variable of the environment comes first"
  }
}

const flagOf = (name: GlobalName): Flag.Flag<unknown> => {
  const { choices, letter, metavar = choices?.join("|") ?? "", what } = globals[name]
  if (letter !== undefined) {
    return Flag.Boolean(name).pipe(Flag.withAlias(letter), Flag.withDescription(what), Flag.withDefault(false))
  }
  const flag = choices === undefined ? Flag.String(name) : Flag.Literals(name, choices)
  return flag.pipe(Flag.withMetavar(metavar), Flag.withDescription(what), Flag.optional)
}

const names = Struct.keys(globals)

/** Declared for the help. */
export const globalFlags = names.map((name) => GlobalFlag.Setting(name)({ flag: flagOf(name) }))

const switchOf = (arg: string | undefined) =>
  names.find((each) =>
    globals[each].letter !== undefined && (arg === `--${each}` || arg === `-${globals[each].letter}`)
  )

/** Not a flag, but a value: neither `-h`, nor `-o=FILE`, nor a long flag, nor the `-` of standard input. */
const minusValue = /^-(?!-|$|[A-Za-z](?:=|$))/

/** A flag whose value is the next argument. */
const openFlag = /^(?:--[^=]+|-[A-Za-z])$/

/** Node reads the file of such a flag wherever it stands, and runs what its options name, before this line. */
const fileOfNode = /^--(?:env-file(?:-if-exists)?|experimental-(?:default-)?config-file)(?==|$)/

export interface Globals {
  readonly values: ReadonlyMap<GlobalName, string>
  /** The other arguments, or why these are refused. */
  readonly args: Result.Result<ReadonlyArray<string>, CommandFailure>
}

/**
 * Takes them out, wherever they stand before `--`, and joins a value that begins with a minus to its flag, as in
 * `--zone=-05:00`: the parser would take `-16h` for the flags `-1`, `-6` and `-h`, and print the help as a success.
 */
export const readGlobals = (args: ReadonlyArray<string>): Globals => {
  const end = args.indexOf("--")
  const own = end === -1 ? args : args.slice(0, end)
  const values = new Map<GlobalName, string>()
  const others: Array<string> = []
  const refusals: Array<CommandFailure> = []
  const refuse = (...words: Parameters<typeof usage>) => void refusals.push(usage(...words))
  const take = (name: GlobalName, value: string) =>
    values.has(name) ? refuse(`--${name} is given twice`) : void values.set(name, value)
  for (let at = 0; at < own.length; at++) {
    const arg = own[at] ?? ""
    const [, flag, joined] = /^--([^=]+)(?:=(.*))?$/s.exec(arg) ?? []
    const isOn = switchOf(arg)
    const name = names.find((each) => each === flag && globals[each].letter === undefined)
    if (isOn !== undefined) take(isOn, "")
    else if (name !== undefined) {
      const value = joined ?? own[++at]
      const isFlag = joined === undefined && (value?.startsWith("--") || switchOf(value) !== undefined)
      if (value === undefined || value.trim() === "" || isFlag) refuse(`--${name} needs ${globals[name].needs}`)
      else take(name, value)
    } else if (minusValue.test(arg)) {
      const last = others.at(-1) ?? ""
      if (openFlag.test(last)) others[others.length - 1] = `${last}=${arg}`
      else {
        refuse(
          `${printable(arg)} is not a flag, and no flag before it takes a value`,
          "A value that begins with a minus follows its flag, as in --zone -05:00 or --zone=-05:00."
        )
      }
    } else {
      const [ofNode] = fileOfNode.exec(arg) ?? []
      if (ofNode !== undefined) {
        refuse(`${ofNode} is a flag of Node, which reads it first`, "--variables FILE reads variables from a file.")
      }
      others.push(arg)
    }
  }
  for (const name of names) {
    const { choices, needs } = globals[name]
    const value = values.get(name)
    if (value !== undefined && choices?.includes(value) === false) {
      refuse(`--${name} needs ${needs}, and not ${printable(value)}`)
    }
  }
  if (values.has("quiet") && values.has("verbose")) {
    refuse("--quiet and --verbose are opposites", "Give one or the other.")
  }
  const [refusal] = refusals
  return {
    values,
    args: refusal === undefined
      ? Result.succeed(end === -1 ? others : [...others, ...args.slice(end)])
      : Result.fail(refusal)
  }
}

/** The flags that a command which is advised needs for the same settings. A pipe of the shell names nothing after this run. */
const wordsOf = ({ values }: Globals): string =>
  Array.from(values, ([name, value]) => {
    const isNeeded = name === "profile" || (name === "variables" && !/^\/(dev|proc)\//.test(value))
    return isNeeded ? `--${name} ${shellWord(value)} ` : ""
  }).join("")

/** Runs with the messages and the colours that these flags choose: a log, and the retries of the library as one line each. */
export const withMessages = <A, E, R>(globals: Globals, self: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const { values } = globals
    const { columns } = yield* Terminal.Terminal
    const mode = makeMode({
      format: values.get("log-format") === "json" ? "json" : "lines",
      detail: values.has("quiet") ? "quiet" : values.has("verbose") ? "verbose" : "normal",
      columns,
      settings: wordsOf(globals)
    })
    const context = Context.add(yield* Effect.context<Stdio.Stdio>(), Messages, mode)
    const showNotice = (notice: RetryNotice) => Effect.provideContext(showRetry(notice), context)
    const choice = colourChoices.find((each) => each === values.get("color")) ?? "auto"
    return yield* self.pipe(
      Effect.provideServiceEffect(Colours, coloursOf(choice)),
      // Here a bug has the format of the run.
      Effect.tapCause((cause) => Cause.hasInterruptsOnly(cause) ? Effect.void : Effect.logError(cause)),
      Effect.ensuring(clearLine),
      Effect.provide(logOf(mode.format, mode.detail === "verbose")),
      Effect.provideService(OnRetry, mode.detail === "verbose" ? undefined : showNotice),
      Effect.provideService(References.MinimumLogLevel, leastLevel[mode.detail]),
      Effect.provideService(Messages, mode)
    )
  })

const leastLevel = { quiet: "Warn", normal: "Info", verbose: "Debug" } as const
