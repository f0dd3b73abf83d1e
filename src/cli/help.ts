/** `time-punches help` and `time-punches version`: what `--help` and `--version` print, for who looks for a command. */
import * as Argument from "effect/cli/Argument"
import * as CliError from "effect/cli/CliError"
import * as CliOutput from "effect/cli/CliOutput"
import * as Command from "effect/cli/Command"
import { version as current } from "../internal/wire/userAgent.ts"

const root = "time-punches"

/** `help`, which knows these commands and theirs. */
export const makeHelp = (commands: ReadonlyArray<Command.Command.Any>) =>
  Command.make(
    "help",
    {
      words: Argument.String("COMMAND").pipe(
        Argument.withDescription("The command, such as fleet add"),
        Argument.variadic()
      )
    },
    ({ words }) => {
      const commandPath = [root]
      let known: ReadonlyArray<Pick<Command.Command.Any, "name" | "subcommands">> = [
        ...commands,
        { name: "help", subcommands: [] }
      ]
      for (const subcommand of words) {
        const next = known.find(({ name }) => name === subcommand)
        if (next === undefined) {
          const unknown = new CliError.UnknownSubcommand({ subcommand, parent: commandPath, suggestions: [] })
          return new CliError.ShowHelp({ commandPath, errors: [unknown] })
        }
        commandPath.push(next.name)
        known = next.subcommands.flatMap(({ commands }) => commands)
      }
      return new CliError.ShowHelp({ commandPath, errors: [] })
    }
  ).pipe(
    Command.withDescription("Show the help of a command, as --help after it does."),
    Command.withShortDescription("Show the help of a command"),
    Command.withExamples([
      { command: "time-punches help", description: "The commands, the settings and the exit codes" },
      { command: "time-punches help fleet add", description: "One command" }
    ])
  )

export const version = Command.make(
  "version",
  {},
  () => CliOutput.Presenter.use((presenter) => presenter.present({ _tag: "Version", name: root, version: current }))
).pipe(
  Command.withDescription("Show the version, as --version does."),
  Command.withShortDescription("Show the version")
)
