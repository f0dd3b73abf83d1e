/** `time-punches`: its subcommands, and how usage errors and failures become messages and an exit code. */
import * as CliConfig from "effect/cli/CliConfig"
import * as CliError from "effect/cli/CliError"
import * as CliOutput from "effect/cli/CliOutput"
import * as Command from "effect/cli/Command"
import { type CommandDescriptor, fromCommand } from "effect/cli/Completions"
import * as Flag from "effect/cli/Flag"
import * as GlobalFlag from "effect/cli/GlobalFlag"
import type { HelpDoc } from "effect/cli/HelpDoc"
import type * as Config from "effect/Config"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stdio from "effect/Stdio"
import type { Terminal } from "effect/Terminal"
import { didYouMean, meantName, unknownKey } from "../internal/text/meant.ts"
import { printable } from "../internal/text/printable.ts"
import { version } from "../internal/wire/userAgent.ts"
import { globalFlags, readGlobals, withMessages } from "./args/globals.ts"
import { withProfile } from "./args/profile.ts"
import { completionsFlag } from "./completions.ts"
import { CommandFailure, type Ending, type ExitCode, exitCode, systemFailureOf, usageText } from "./failure.ts"
import { RunFiles } from "./flags/file.ts"
import { topicList } from "./help/topics.ts"
import { Colours, plain } from "./print/colour.ts"
import { printFailure } from "./print/messages.ts"
import { PrintForCore, printLines } from "./print/output.ts"
import { Called, commandsOf, type Entries, examplesOf, type IsNamed } from "./verb.ts"

/** Every command, under the heading that lists it. */
const groups: Readonly<Record<string, Entries>> = {
  Read: {
    list: ["Print punches", () => import("./list/list.ts")],
    export: ["Write punches to a file, resumably", () => import("./export/export.ts")],
    summary: ["Sum punches, as a table with bars", () => import("./summary/summary.ts")],
    report: ["Write a period, or a close, as a page of HTML", () => import("./report/report.ts")]
  },
  Payroll: { payroll: ["Close payroll periods, and print what they pay", () => import("./payroll/payroll.ts")] },
  Copy: {
    copy: ["Keep, look at, follow and erase a copy", () => import("./copy/copy.ts")],
    sync: ["Keep a copy of the punches in a database", () => import("./copy/sync.ts")],
    fleet: ["Keep copies of many companies on schedules", () => import("./fleet/fleet.ts")],
    mcp: ["Let an assistant read a copy (Model Context Protocol)", () => import("./mcp/mcp.ts")]
  },
  "Set up": {
    doctor: ["Diagnose settings and service", () => import("./doctor/doctor.ts")],
    config: ["Show the settings and where they come from", () => import("./config/config.ts")],
    sandbox: ["Run a local service to try things against", () => import("./sandbox/sandbox.ts")]
  },
  Help: {
    help: ["Show all flags of a command, or a topic", () => import("./help/help.ts")],
    version: ["Show the version", () => import("./help/version.ts")]
  }
}

const all = () => true

/** The whole command, or the part of it that a call names: the files of other verbs are not loaded. */
export const loadCommand = async (isNamed: IsNamed = all) =>
  Command.make("time-punches").pipe(
    Command.withDescription(
      `Lists, exports, sums, checks, copies and compares the punches of a company.

  Further help: time-punches help TOPIC, or help COMMAND for all its flags.
${topicList}`
    ),
    Command.withSubcommands(
      await Promise.all(
        Object.entries(groups).map(async ([group, entries]) => ({
          group,
          commands: await commandsOf(entries, isNamed)
        }))
      )
    ),
    Command.withGlobalFlags(globalFlags),
    Command.withExamples(examplesOf([
      ["list --limit 20", "Print the first punches"],
      ["doctor", "A payroll week: 1. the settings, and what the service can do"],
      ["copy sync --history --database punches.db", "2. A copy, with its history"],
      [
        "payroll check --week last --zone America/New_York --database punches.db",
        "3. The issues that a person must solve"
      ],
      ["payroll close --week last --zone America/New_York --database punches.db", "4. Close it"],
      [
        "payroll file 1.1 --mapping payroll.json --output week.csv --database punches.db",
        "5. The file for the payroll program"
      ],
      ["payroll correct --database punches.db", "6. Later: pay what was corrected"]
    ]))
  )

const formatter = Effect.gen(function*() {
  const context = yield* Effect.context<never>()
  return Context.getOrUndefined(context, CliOutput.Formatter) ??
    CliOutput.defaultFormatter({ colors: Context.get(context, Colours).stdout !== plain })
})

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
      const { textOfHelp } = yield* Effect.promise(() => import("./help/help.ts"))
      return yield* printOrDie([yield* textOfHelp(event, formatHelpDoc)])
    }
    case "Version":
      return yield* printOrDie([formatVersion(event.name, event.version)])
    case "InvalidInvocation": {
      const path = event.commandPath.join(" ")
      const early = yield* earlyFlags(event)
      // The value of a flag that stands too early is not a command.
      const messages = early.length > 0 ?
        early :
        yield* Effect.forEach(event.errors, (error) =>
          error._tag === "UnknownSubcommand"
            ? unknownCommand(error.subcommand, event.helpDoc)
            : Effect.succeed(
              error._tag === "UnrecognizedOption" ? unknownFlag(error.option, event.helpDoc) : usageText(error)
            ))
      const isPeriod = event.errors.some((error) =>
        error._tag === "UnrecognizedOption" && periodWords.includes(error.option)
      )
      const advice = [
        ...(isPeriod && event.helpDoc.flags.some(({ name }) => name === "from")
          ? ["A period has --from and --to, --last, --week or --month: see time-punches help periods."]
          : []),
        `See ${path} --help.`
      ]
      return yield* printFailure(
        { message: messages.join("; "), advice, code: exitCode.usage },
        [...messages.map((message) => `${path}: ${message}`), ...advice]
      )
    }
  }
})

/** What other commands call a period. */
const periodWords = ["--since", "--until", "--start", "--end", "--after", "--before", "--date", "--day"]

// These words are of the arguments, so what a terminal would obey in them is escaped.

const unknownCommand = Effect.fnUntraced(function*(name: string, { subcommands = [] }: HelpDoc) {
  const known = subcommands.flatMap(({ commands }) => commands.map(({ name }) => name))
  // `feed` is one of `copy`: its whole name is meant, before one that is only spelt alike.
  const groups = fromCommand(yield* Effect.promise(() => loadCommand())).subcommands
  const whole = groups.flatMap((each) =>
    [each.name, ...each.subcommands.map((within) => `${each.name} ${within.name}`)].filter((words) =>
      words.split(" ").at(-1) === name
    )
  )
  return `${printable(name)} is not a command${whole.length > 0 ? didYouMean(whole) : meantName(name, known)}`
})

const unknownFlag = (flag: string, { flags, globalFlags = [] }: HelpDoc): string =>
  `${printable(flag)} ${unknownKey(flag, [...flags, ...globalFlags].map(({ name }) => `--${name}`), "a flag")}`

/** What is said of flags that stand before the verb that has them. Only then are all verbs loaded. */
const earlyFlags = Effect.fnUntraced(
  function*({ commandPath, errors, helpDoc }: CliOutput.Presenter.InvalidInvocation) {
    // A verb that was named has no other verbs, and does not know its own flag before its name.
    const mayBeEarly = (flag: string) =>
      helpDoc.subcommands !== undefined || helpDoc.flags.some(({ name }) => flag === `--${name}`)
    const flags = errors.flatMap((error) =>
      error._tag === "UnrecognizedOption" && mayBeEarly(error.option) ? [error.option] : []
    )
    if (flags.length === 0) return []
    const known = fromCommand(yield* Effect.promise(() => loadCommand()))
    return flags.flatMap((flag) => Option.toArray(earlyFlag(known, flag, commandPath)))
  }
)

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

/** The end of a run that lacks what every run needs, such as one more open file, or that core could not let fail. */
const handleDefect = (defect: unknown) =>
  Option.match(defect instanceof CommandFailure ? Option.some(defect) : systemFailureOf(defect), {
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
 * What a call may name: its first words, or, behind a flag whose value may look like a name, any word. Help names a command by
 * its arguments, and completions name all.
 */
const namesIn = (args: ReadonlyArray<string>): IsNamed => {
  if (args.some((arg) => arg.startsWith("--completions"))) return all
  const words = new Set(args)
  const firstFlag = args.findIndex((arg) => arg.startsWith("-"))
  const path = args[0] === "help" ? [] : firstFlag === -1 ? args : args.slice(0, firstFlag)
  return (name, depth) => depth < path.length ? name === path[depth] : words.has(name)
}

type WholeCommand = Awaited<ReturnType<typeof loadCommand>>

/**
 * Makes the function that runs the command with arguments, once `readable` has read the settings of the process, which `--variables` may have. Expected
 * errors are printed and become an exit code; only bugs fail. `provided` gives its verbs a client.
 */
export const makeRun = <Name extends string, Input, Parsed, R>(
  provided: (command: WholeCommand) => Command.Command<Name, Input, Parsed, Ending | CliError.CliError, R>
) =>
(args: ReadonlyArray<string>, readable: Effect.Effect<void, Config.ConfigError> = Effect.void) =>
  Effect.flatMap(layerPresenter, (context) => {
    const globals = readGlobals(args)
    const call = Effect.fnUntraced(function*(rest: ReadonlyArray<string>) {
      const command = yield* Effect.promise(() => loadCommand(namesIn(rest)))
      yield* readable
      return yield* Command.runWith(provided(command), { version })(rest).pipe(
        Effect.provideService(Called, command.subcommands.flatMap(({ commands }) => commands))
      )
    })
    return withMessages(
      globals,
      Effect.fromResult(globals.args).pipe(
        Effect.flatMap((rest) => withProfile(globals, call(rest))),
        Effect.as<ExitCode>(exitCode.ok),
        Effect.catch(handleError),
        Effect.catchDefect(handleDefect),
        Effect.provideService(CliConfig.CliConfig, CliConfig.make({ builtIns })),
        Effect.provideServiceEffect(RunFiles, RunFiles.make),
        Effect.provideContext(context)
      )
    )
  })

/** Runs the command, whose client is in the context. */
export const run = makeRun((command) => command)
