/** `--completions`: the script of a shell, which also completes the files and the words that a flag takes. */
import * as CliOutput from "effect/cli/CliOutput"
import * as Completions from "effect/cli/Completions"
import * as GlobalFlag from "effect/cli/GlobalFlag"
import type { FlagDoc, HelpDoc } from "effect/cli/HelpDoc"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { topics } from "./help/topics.ts"
import { PrintForCore } from "./print/output.ts"

/** A word of the form of a value: what is in capitals stands for something else, as in `DATE|last|current`. */
const word = /^[a-z][A-Za-z_-]*$/

/** What a flag completes by the form of its value, as the help shows it. Core completes its own choices. */
const typeOf = (type: string): Completions.FlagType | undefined => {
  if (/^FILE\b/.test(type)) return { _tag: "Path", pathType: "file" }
  const values = type.split(/[|,<>]/).filter((each) => word.test(each))
  return type.startsWith("FIELD") || !/[|,]/.test(type) || values.length === 0 ? undefined : { _tag: "Choice", values }
}

/** The help of a command: its flags, and those of every command. */
const helpOf = (context: GlobalFlag.HandlerContext, commandPath: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const docs: Array<HelpDoc> = []
    yield* GlobalFlag.Help.run(true, { ...context, commandPath }).pipe(
      Effect.provideService(CliOutput.Presenter, {
        present: (event) => Effect.sync(() => void (event._tag === "Help" && docs.push(event.helpDoc)))
      })
    )
    return {
      flags: docs.flatMap(({ flags }) => flags),
      globals: docs.flatMap(({ globalFlags = [] }) => globalFlags)
    }
  })

/** Core leaves the flags of every command out of a description. */
const describeGlobal = ({ aliases, description, name, type }: FlagDoc): Completions.FlagDescriptor => ({
  name,
  aliases: aliases.map((alias) => alias.replace(/^-+/, "")),
  description: Option.getOrUndefined(description),
  type: type === "boolean" ? { _tag: "Boolean" } : typeOf(type) ?? { _tag: "String" },
  negation: false
})

type Descriptor = Completions.CommandDescriptor

const described = Effect.fnUntraced(function*(
  context: GlobalFlag.HandlerContext,
  descriptor: Descriptor,
  path: ReadonlyArray<string>
): Effect.fn.Return<Descriptor> {
  const { flags, globals } = yield* helpOf(context, path)
  return {
    ...descriptor,
    flags: [
      ...descriptor.flags.map((flag) => ({
        ...flag,
        type: flag.type._tag === "String"
          ? typeOf(flags.find(({ name }) => name === flag.name)?.type ?? "") ?? flag.type
          : flag.type
      })),
      ...globals.map(describeGlobal)
    ],
    subcommands: yield* Effect.forEach(
      descriptor.subcommands,
      (each) => described(context, each, [...path, each.name])
    )
  }
})

/** What `help` takes: a command or a topic. */
const withWords = ({ subcommands, ...descriptor }: Descriptor): Descriptor => {
  const values = [...subcommands.map(({ name }) => name), ...Object.keys(topics)]
  return {
    ...descriptor,
    subcommands: subcommands.map((each) =>
      each.name === "help"
        ? { ...each, arguments: each.arguments.map((words) => ({ ...words, type: { _tag: "Choice", values } })) }
        : each
    )
  }
}

/** In zsh a flag of every command that follows a command would hide it: behind the first word, all words are the command's. */
const afterCommand = (script: string): string => script.replaceAll("_arguments -C \"", "_arguments -C -A \"-*\" \"")

/** The flag of core, with what it does not know: that a text names a file, or is one of some words. */
export const completionsFlag = GlobalFlag.Action({
  flag: GlobalFlag.Completions.flag,
  run: Effect.fnUntraced(function*(shell, context) {
    if (Option.isNone(shell)) return
    const { command } = context
    const descriptor = yield* described(context, Completions.fromCommand(command), [command.name])
    const script = Completions.generate(command.name, shell.value, withWords(descriptor))
    yield* (yield* PrintForCore)([shell.value === "zsh" ? afterCommand(script) : script])
  })
})
