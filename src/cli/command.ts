/** `time-punches`: its subcommands, and how usage errors and failures become messages and an exit code. */
import * as CliConfig from "effect/cli/CliConfig"
import * as CliError from "effect/cli/CliError"
import * as CliOutput from "effect/cli/CliOutput"
import * as Command from "effect/cli/Command"
import type { CommandDescriptor } from "effect/cli/Completions"
import * as Flag from "effect/cli/Flag"
import * as GlobalFlag from "effect/cli/GlobalFlag"
import type { HelpDoc } from "effect/cli/HelpDoc"
import type * as Config from "effect/Config"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stdio from "effect/Stdio"
import * as Struct from "effect/Struct"
import type { Terminal } from "effect/Terminal"
import { unknownKey } from "../internal/text/meant.ts"
import { printable } from "../internal/text/printable.ts"
import { version } from "../internal/wire/userAgent.ts"
import { colourFlag, joinMinusValues, withColours } from "./args/arguments.ts"
import { messageFlags, withMessages } from "./args/messages.ts"
import { profileFlags, withProfile } from "./args/profile.ts"
import { completionsFlag } from "./completions.ts"
import { config } from "./config/config.ts"
import { copy } from "./copy/copy.ts"
import { sync } from "./copy/sync.ts"
import { doctor } from "./doctor/doctor.ts"
import { exportCommand } from "./export/export.ts"
import {
  CommandFailure,
  type ExitCode,
  exitCode,
  type ExpectedError,
  type Findings,
  type OutputClosed,
  tooManyOpenOf,
  usageText
} from "./failure.ts"
import { RunFiles } from "./flags/file.ts"
import { fleet } from "./fleet/fleet.ts"
import {
  arranged,
  makeHelp,
  shortened,
  topicList,
  version as versionCommand,
  withChoices,
  withHeadings
} from "./help.ts"
import { list } from "./list/list.ts"
import { mcp } from "./mcp/mcp.ts"
import { payroll } from "./payroll/payroll.ts"
import { Colours, plain } from "./print/colour.ts"
import { printFailure } from "./print/messages.ts"
import { narrowHelp, outputWidth, PrintForCore, printLines } from "./print/output.ts"
import { report } from "./report/report.ts"
import { sandbox } from "./sandbox/sandbox.ts"
import { summary } from "./summary/summary.ts"

const read = [list, exportCommand, summary, report] as const
const copies = [copy, sync, fleet, mcp] as const
const setUp = [doctor, config, sandbox] as const
const commands = [...read, payroll, ...copies, ...setUp, versionCommand] as const

export const command = Command.make("time-punches").pipe(
  Command.withDescription(
    `Lists, exports, sums, checks, copies and compares the punches of a company.

  Further help: time-punches help TOPIC, or help COMMAND for all its flags.
${topicList}`
  ),
  Command.withSubcommands([
    { group: "Read", commands: read },
    { group: "Payroll", commands: [payroll] },
    { group: "Copy", commands: copies },
    { group: "Set up", commands: setUp },
    { group: "Help", commands: [makeHelp(commands), versionCommand] }
  ]),
  Command.withGlobalFlags([colourFlag, ...messageFlags, ...profileFlags]),
  Command.withExamples([
    { command: "time-punches list --limit 20", description: "Print the first punches" },
    { command: "time-punches doctor", description: "A payroll week: 1. the settings, and what the service can do" },
    { command: "time-punches copy sync --history --database punches.db", description: "2. A copy, with its history" },
    {
      command: "time-punches payroll check --week last --zone America/New_York --database punches.db",
      description: "3. The issues that a person must solve"
    },
    {
      command: "time-punches payroll close --week last --zone America/New_York --database punches.db",
      description: "4. Close it"
    },
    {
      command: "time-punches payroll file 1.1 --mapping payroll.json --output week.csv --database punches.db",
      description: "5. The file for the payroll program"
    },
    {
      command: "time-punches payroll correct --database punches.db",
      description: "6. Later: pay what was corrected"
    }
  ])
)

const formatter = Effect.gen(function*() {
  const context = yield* Effect.context<never>()
  return Context.getOrUndefined(context, CliOutput.Formatter) ??
    CliOutput.defaultFormatter({ colors: Context.get(context, Colours).stdout !== plain })
})

const globalsHint = "Flags of every command: time-punches --help"

/** A page of help is read, also in a pipe: longer lines are hard to follow. */
const helpWidth = 100

/** Writes lines. Core has no failure for what cannot be written, so it is a defect, which the run prints as a failure. */
const printOrDie = (lines: ReadonlyArray<string>) =>
  Effect.catch(printLines(lines), (error) =>
    error._tag === "OutputClosed"
      ? Effect.void
      : Effect.flatMap(
        Effect.promise(() => import("./describe.ts")),
        ({ commandFailureOf }) => Effect.die(commandFailureOf(error))
      ))

/** A usage error writes nothing to standard output, and refers to the help instead of printing it. */
const present = Effect.fnUntraced(function*(event: CliOutput.Presenter.Event) {
  const { formatHelpDoc, formatVersion } = yield* formatter
  switch (event._tag) {
    case "Help": {
      // help COMMAND shows all flags, and COMMAND --help the usual ones.
      const doc = event.reason === "Requested" ? shortened(event.helpDoc) : event.helpDoc
      const flags = arranged(doc.flags).map((flag) =>
        withChoices(flag.type === "[=boolean]" ? Struct.assign(flag, { type: "boolean" }) : flag)
      )
      const isTop = (doc.commandPath ?? []).length <= 1
      const text = formatHelpDoc({
        ...doc,
        flags,
        args: (doc.args ?? []).map((arg) =>
          Struct.assign(arg, { name: arg.type === "string" ? arg.name : arg.type, type: "" })
        ),
        // They are the same for each command, and stand once.
        globalFlags: isTop ? (doc.globalFlags ?? []).map(withChoices) : [],
        description: isTop
          ? doc.description
          : `${doc.description}${doc === event.helpDoc ? "\n" : ""}\n  ${globalsHint}`
      })
      const { stdout } = yield* Colours
      // Core leaves no line between a list of subcommands and the examples.
      const titled = withHeadings(text, flags, stdout.bold).replace(/(?<!\n)\n(?=\S*EXAMPLES)/, "\n\n")
      return yield* printOrDie([narrowHelp(titled, Math.min(yield* outputWidth, helpWidth))])
    }
    case "Version":
      return yield* printOrDie([formatVersion(event.name, event.version)])
    case "InvalidInvocation": {
      const path = event.commandPath.join(" ")
      const { fromCommand } = yield* Effect.promise(() => import("effect/cli/Completions"))
      const known = fromCommand(command)
      const early = event.errors.flatMap((error) =>
        error._tag === "UnrecognizedOption" ? Option.toArray(earlyFlag(known, error.option, event.commandPath)) : []
      )
      // The value of a flag that stands too early is not a command.
      const messages = early.length > 0 ? early : event.errors.map((error) =>
        error._tag === "UnrecognizedOption"
          ? unknownFlag(error.option, event.helpDoc)
          : error._tag === "UnknownSubcommand"
          ? unknownCommand(error.subcommand, event.helpDoc)
          : usageText(error)
      )
      const advice = [`See ${path} --help.`]
      return yield* printFailure(
        { message: messages.join("; "), advice, code: exitCode.usage },
        [...messages.map((message) => `${path}: ${message}`), ...advice]
      )
    }
  }
})

// These words are of the arguments, so what a terminal would obey in them is escaped.

const unknownCommand = (name: string, { subcommands = [] }: HelpDoc): string => {
  const known = subcommands.flatMap(({ commands }) => commands.map(({ name }) => name))
  return `${printable(name)} ${unknownKey(name, known, "a command")}`
}

const unknownFlag = (flag: string, { flags, globalFlags = [] }: HelpDoc): string =>
  `${printable(flag)} ${unknownKey(flag, [...flags, ...globalFlags].map(({ name }) => `--${name}`), "a flag")}`

/** The words of a command that has the flag, if the flag stands before the last of these words. */
const earlyFlag = (
  known: CommandDescriptor,
  flag: string,
  path: ReadonlyArray<string>
): Option.Option<string> => {
  const find = (each: CommandDescriptor, above: ReadonlyArray<string>): ReadonlyArray<string> | undefined => {
    const words = [...above, each.name]
    const isOn = words.every((word, at) => at >= path.length || word === path[at])
    if (!isOn) return undefined
    return words.length >= path.length && each.flags.some(({ name }) => flag === `--${name}`)
      ? words
      : each.subcommands.flatMap((subcommand) => Option.toArray(Option.fromUndefinedOr(find(subcommand, words))))[0]
  }
  return Option.map(
    Option.fromUndefinedOr(find(known, [])),
    (words) => `${printable(flag)} goes after the command, as in ${words.join(" ")} ${printable(flag)}`
  )
}

const layerPresenter = Effect.map(
  Effect.context<Stdio.Stdio | Terminal>(),
  (context) =>
    Context.make(CliOutput.Presenter, { present: (event) => Effect.provideContext(present(event), context) }).pipe(
      Context.add(PrintForCore, (lines) => Effect.provideContext(printOrDie(lines), context))
    )
)

/** What a command ends with, except success. */
type Ending = ExpectedError | CommandFailure | OutputClosed | Findings

/** Prints what a run ended with. The words for an error of the library are loaded only here. */
const handleError = Effect.fnUntraced(function*(
  error: Ending | CliError.CliError
): Effect.fn.Return<ExitCode, never, Stdio.Stdio> {
  if (CliError.isCliError(error)) {
    return error._tag === "ShowHelp" && error.errors.length === 0 ? exitCode.ok : exitCode.usage
  }
  if (error._tag === "OutputClosed") return exitCode.ok
  if (error._tag === "Findings") return exitCode.findings
  const failure = error._tag === "CommandFailure"
    ? error
    : (yield* Effect.promise(() => import("./describe.ts"))).commandFailureOf(error)
  yield* printFailure(failure)
  return failure.code
})

/** The end of a run that could not load a module, because too many files are open, or that core could not let fail. */
const handleDefect = (defect: unknown) =>
  Option.match(defect instanceof CommandFailure ? Option.some(defect) : tooManyOpenOf(defect), {
    onNone: () => Effect.die(defect),
    onSome: (failure) => Effect.as(printFailure(failure), failure.code)
  })

/** Without the letter of core, which is of `--verbose` here. */
const versionFlag = GlobalFlag.Action({
  flag: Flag.Boolean("version").pipe(Flag.withDescription("Show version information"), Flag.withDefault(false)),
  run: GlobalFlag.Version.run
})

/** The flags of core. The wizard asks for each of some thirty flags, so it is left out. */
export const builtIns = GlobalFlag.BuiltIns
  .filter((flag) => flag !== GlobalFlag.Wizard)
  .map((flag) => flag === GlobalFlag.Version ? versionFlag : flag === GlobalFlag.Completions ? completionsFlag : flag)

/**
 * Makes the function that runs the command with arguments, once `readable` has read the settings of the process, which `--variables` may have. Expected
 * errors are printed and become an exit code; only bugs fail.
 */
export const makeRun = <Name extends string, Input, Parsed, E extends Ending | CliError.CliError, R>(
  program: Command.Command<Name, Input, Parsed, E, R>
) =>
(args: ReadonlyArray<string>, readable: Effect.Effect<void, Config.ConfigError> = Effect.void) =>
  Effect.flatMap(
    layerPresenter,
    (context) =>
      withMessages(args, (takeRest) =>
        withColours(args, (rest) =>
          rest.pipe(
            Effect.flatMap(takeRest),
            Effect.flatMap((args) => Effect.fromResult(joinMinusValues(args))),
            Effect.flatMap((args) =>
              withProfile(args, (args) => Effect.andThen(readable, Command.runWith(program, { version })(args)))
            ),
            Effect.as<ExitCode>(exitCode.ok),
            Effect.catch(handleError),
            Effect.catchDefect(handleDefect),
            Effect.provideService(CliConfig.CliConfig, CliConfig.make({ builtIns })),
            Effect.provideServiceEffect(RunFiles, RunFiles.make),
            Effect.provideContext(context)
          )))
  )

/** Runs the command, whose client is in the context. */
export const run = makeRun(command)
