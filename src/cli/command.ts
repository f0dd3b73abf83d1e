/** `time-punches`: its subcommands, how a wrong call and a failure are told, and what exit code comes of them. */
import * as CliError from "effect/cli/CliError"
import * as CliOutput from "effect/cli/CliOutput"
import * as Command from "effect/cli/Command"
import { TerminalCapabilities } from "effect/cli/TerminalCapabilities"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Stdio from "effect/Stdio"
import * as Stream from "effect/Stream"
import { doctor } from "./commands/doctor.ts"
import { exportCommand } from "./commands/export.ts"
import { list } from "./commands/list.ts"
import { sandbox } from "./commands/sandbox.ts"
import { summary } from "./commands/summary.ts"
import { type CommandFailure, type ExitCode, exitCode, explain, type Foreseen, type ReaderGone } from "./failure.ts"
import { print, tell } from "./terminal/output.ts"
import { version } from "./version.ts"

const settings = `  Settings come from the environment, and secrets from there only:
    TIME_PUNCHES_BASE_URL        where the service is; https, or http on this machine
    TIME_PUNCHES_AUTH_URL        where its tokens are, if elsewhere
    TIME_PUNCHES_ACCESS_TOKEN    one of these: an access token,
    TIME_PUNCHES_CLIENT_ID         an OAuth client with
    TIME_PUNCHES_CLIENT_SECRET     its secret (and TIME_PUNCHES_SCOPES),
    TIME_PUNCHES_SESSION_COOKIE    or a session
    TIME_PUNCHES_COMPANY_ID      instead of --company
    TIME_PUNCHES_COMPANY_GUID    instead of --guid
    TIME_PUNCHES_API_VERSION     another version than the default`

export const command = Command.make("time-punches").pipe(
  Command.withDescription(`Lists, exports and sums up the time punches of a company.\n\n${settings}`),
  Command.withSubcommands([list, exportCommand, summary, doctor, sandbox]),
  Command.withExamples([
    { command: "time-punches list --take 20", description: "Print the first punches" }
  ])
)

const formatter = Effect.gen(function*() {
  const context = yield* Effect.context<never>()
  return Context.getOrUndefined(context, CliOutput.Formatter) ??
    CliOutput.defaultFormatter({ colors: Context.get(context, TerminalCapabilities).canColor })
})

/** A wrong call leaves standard output alone, and names the way to the help instead of printing it whole. */
const present = Effect.fnUntraced(function*(event: CliOutput.Presenter.Event) {
  const { formatCliError, formatHelpDoc, formatVersion } = yield* formatter
  switch (event._tag) {
    case "Help":
      return yield* printText(formatHelpDoc(event.helpDoc))
    case "Version":
      return yield* printText(formatVersion(event.name, event.version))
    case "InvalidInvocation": {
      const path = event.commandPath.join(" ")
      return yield* tell(...event.errors.map((error) => `${path}: ${formatCliError(error)}`), `See ${path} --help.`)
    }
  }
})

const printText = (text: string) => Effect.ignore(print(Stream.make(`${text}\n`)))

const layerPresenter = Effect.map(Stdio.Stdio, (stdio) =>
  Context.make(CliOutput.Presenter, {
    present: (event) => Effect.provideService(present(event), Stdio.Stdio, stdio)
  }))

const tellFailure = ({ advice, code, message }: CommandFailure): Effect.Effect<ExitCode, never, Stdio.Stdio> =>
  Effect.as(tell(`time-punches: ${message}`, ...advice.map((line) => `  ${line}`)), code)

const ended = (
  error: Foreseen | CommandFailure | ReaderGone | CliError.CliError
): Effect.Effect<ExitCode, never, Stdio.Stdio> => {
  if (CliError.isCliError(error)) {
    return Effect.succeed(error._tag === "ShowHelp" && error.errors.length === 0 ? exitCode.ok : exitCode.usage)
  }
  if (error._tag === "ReaderGone") return Effect.succeed(exitCode.ok)
  return tellFailure(error._tag === "CommandFailure" ? error : explain(error))
}

/** Runs the command with these arguments; whatever is foreseen to go wrong is told and becomes an exit code. */
export const run = (args: ReadonlyArray<string>) =>
  Effect.flatMap(layerPresenter, (context) =>
    Command.runWith(command, { version })(args).pipe(
      Effect.as<ExitCode>(exitCode.ok),
      Effect.catch(ended),
      Effect.provideContext(context)
    ))
