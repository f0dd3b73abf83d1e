/** The one shape of a verb: its flags, what it does with them, and its help. Its file is loaded when a call names it. */
import type * as CliError from "effect/cli/CliError"
import * as Command from "effect/cli/Command"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { HttpClient } from "effect/http/HttpClient"
import type { Ending } from "./failure.ts"

/** What the help of a command says, and calls as examples, without the name of the program. */
interface Help {
  readonly text: string
  readonly examples: ReadonlyArray<readonly [call: string, what: string]>
}

/** What a verb may ask for: the platform, and a client that is built at its first request. */
type Services = Command.Environment | HttpClient

/** The commands of a run, as far as its call names them. */
export class Called extends Context.Reference<ReadonlyArray<Command.Command.Any>>("effect-time-punches/cli/Called", {
  defaultValue: () => []
}) {}

export type Verb = Command.Command<string, never, {}, Ending | CliError.CliError, Services>

export const makeVerb = <const Flags extends Command.Command.Config>(
  name: string,
  flags: Flags,
  run: (input: Command.Command.Config.Infer<Flags>) => Effect.Effect<void, Ending | CliError.CliError, Services>,
  { examples, text }: Help
): Verb =>
  Command.make(name, flags, run).pipe(Command.withDescription(text), Command.withExamples(examplesOf(examples)))

/** Calls as core takes them. */
export const examplesOf = (examples: Help["examples"]) =>
  examples.map(([call, description]) => ({ command: `time-punches ${call}`, description }))

/** A verb, or a group of them, by name: what the list of its parent says of it, and its file. */
export type Entries = Readonly<
  Record<string, readonly [about: string, load: () => Promise<{ readonly verb: Verb } | { readonly group: Group }>]>
>

export interface Group extends Help {
  readonly entries: Entries
}

/** Whether a call may name the command. `depth`: of how many groups it is a verb. */
export type IsNamed = (name: string, depth: number) => boolean

/** The commands of some entries. Those that `isNamed` does not name have a line for the list alone: their files are not loaded. */
export const commandsOf = (entries: Entries, isNamed: IsNamed, depth = 0): Promise<ReadonlyArray<Verb>> =>
  Promise.all(
    Object.entries(entries).map(async ([name, [about, load]]): Promise<Verb> => {
      if (!isNamed(name, depth)) return Command.make(name).pipe(Command.withShortDescription(about))
      const found = await load()
      if ("verb" in found) return found.verb.pipe(Command.withShortDescription(about))
      const { entries, examples, text } = found.group
      return Command.make(name).pipe(
        Command.withDescription(text),
        Command.withShortDescription(about),
        Command.withExamples(examplesOf(examples)),
        Command.withSubcommands(await commandsOf(entries, isNamed, depth + 1))
      )
    })
  )
