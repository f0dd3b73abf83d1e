/** `time-punches help` and `time-punches version`: all flags of a command, and topics that many commands share. */
import * as Argument from "effect/cli/Argument"
import * as CliError from "effect/cli/CliError"
import * as CliOutput from "effect/cli/CliOutput"
import * as Command from "effect/cli/Command"
import type { FlagDoc, HelpDoc } from "effect/cli/HelpDoc"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Struct from "effect/Struct"
import { version as current } from "../../internal/wire/userAgent.ts"
import { filterFlags, flagNameOf } from "../flags/filter.ts"
import { csvFlags } from "../flags/form.ts"
import { makePageSizeFlag } from "../flags/paging.ts"
import { periodFlags } from "../flags/period.ts"
import { Colours, type Style } from "../print/colour.ts"
import { narrowHelp, outputWidth } from "../print/output.ts"
import { Called, makeVerb } from "../verb.ts"
import type { reference } from "./reference.ts"
import { topicList, topics } from "./topics.ts"

const root = "time-punches"

/** A topic of tables, whose texts few calls need. */
const tables = (name: keyof typeof reference) => (width: number) =>
  import("./reference.ts").then(({ reference, textOf }) => textOf(reference[name], width))

/** No line of a topic is longer. */
const topicWidth = 80

/** What a topic says, and the flags that it lists. Their descriptions are those of the commands. */
interface Topic {
  readonly text: string | ((width: number) => Promise<string>)
  readonly flags?: Command.Command.Config
}

const contents: { readonly [Name in keyof typeof topics]: Topic } = {
  periods: {
    text: `The period of a command, in local dates.

  A period needs a clock: --zone, or --zone-file with the zone of each location.
  A punch belongs, whole, to the period in which it was clocked in.`,
    flags: periodFlags
  },
  filters: {
    text: "The filters of list, export and summary. With several a punch must match all.",
    flags: { ...filterFlags, pageSize: makePageSizeFlag() }
  },
  csv: { text: "How CSV is written, by --format csv or into a file that ends in .csv.", flags: csvFlags },
  columns: { text: tables("columns") },
  messages: { text: tables("messages") },
  environment: { text: tables("environment") },
  "exit-codes": { text: tables("exit-codes") }
}

const isTopic = (name: string | undefined): name is keyof typeof topics =>
  name !== undefined && Object.hasOwn(topics, name)

/** Shows a topic as the help of a command that has its flags. */
const showTopic = Effect.fnUntraced(function*(name: keyof typeof topics) {
  const { flags = {}, text } = contents[name]
  const width = Math.min(yield* outputWidth, topicWidth)
  const description = typeof text === "string" ? text : yield* Effect.promise(() => text(width))
  const presenter = yield* CliOutput.Presenter
  yield* Command.runWith(
    Command.make(name, flags).pipe(Command.withDescription(description)),
    { version: current }
  )(["--help"]).pipe(Effect.provideService(CliOutput.Presenter, {
    present: (event) =>
      presenter.present(
        event._tag === "Help"
          ? {
            ...event,
            reason: "Implicit",
            helpDoc: { ...event.helpDoc, usage: `${root} COMMAND [flags]`, globalFlags: [] }
          }
          : event
      )
  }))
})

/** Flags that few calls need. */
const rare =
  /^(clocked-|business-date-|(localize-search-time|page-size|excel|separator|formulas|sort-by-id|allow-missing)$)/

/** The filters by name; a window has one for each end. */
const isFilter = (name: string) =>
  Struct.keys(filterFlags).map(flagNameOf).some((filter) => name === filter || name.startsWith(`${filter}-`))

/** The help of a command without the flags that few calls need, and where these are. */
const shortened = (doc: HelpDoc): HelpDoc => {
  const [, ...path] = doc.commandPath ?? []
  const isRare = ({ name }: FlagDoc) => rare.test(name) || (path[0] === "doctor" && isFilter(name))
  const flags = doc.flags.filter((flag) => !isRare(flag))
  return flags.length === doc.flags.length
    ? doc
    : { ...doc, flags, description: `${doc.description}\n\n  All flags: ${root} help ${path.join(" ")}` }
}

const periodNames = Struct.keys(periodFlags).map(flagNameOf)

/** The headings of the flags of a command, after its own flags, and which flags each has. */
const headings: ReadonlyArray<readonly [title: string, has: (name: string) => boolean]> = [
  ["PERIOD", (name) => periodNames.includes(name)],
  ["FILTERS", isFilter],
  ["OUTPUT", (name) => /^(format|json|excel|separator|formulas|rows|output|force|names)$/.test(name)],
  ["COMPANY AND DATABASE", (name) => /^(company|source|database|max-age)$/.test(name)]
]

const headingOf = ({ name }: FlagDoc) => headings.findIndex(([, has]) => has(name))

/** The title under which the help shows a flag. */
export const titleOf = (flag: FlagDoc): string => headings[headingOf(flag)]?.[0] ?? "FLAGS"

/** The flags of a command by their headings, those without one first. */
const arranged = (flags: ReadonlyArray<FlagDoc>): ReadonlyArray<FlagDoc> =>
  flags.toSorted((one, other) => headingOf(one) - headingOf(other))

/** Puts the headings into a help with arranged flags. A short list of flags has none. */
const withHeadings = (text: string, flags: ReadonlyArray<FlagDoc>, bold: Style): string => {
  const own = flags.filter((flag) => headingOf(flag) === -1)
  if (flags.length < 12 || own.length === 0) return text
  const [start, ...lines] = text.split(/^(?=\S*FLAGS)/m)
  const firstOf = new Map(headings.flatMap(([title], at) => {
    const first = flags.find((flag) => headingOf(flag) === at)
    return first === undefined ? [] : [[first.name, title]]
  }))
  const titled = lines.join("").replace(/^ {2}(?:\S*\[\d+m)?--([a-z-]+)/gm, (row, name: string) => {
    const title = firstOf.get(name)
    return title === undefined ? row : `\n${bold(title)}\n${row}`
  })
  return `${start}${titled}`
}

/** The choices of a flag stand once: as the form of its value. */
export const withChoices = (flag: FlagDoc): FlagDoc => {
  const [text = "", choices] = Option.getOrElse(flag.description, () => "").split(/ ?\(choices: ([^)]*)\)$/)
  if (choices === undefined) return flag
  const type = flag.type === "choice" ? choices.replaceAll(", ", "|") : flag.type
  return { ...flag, type, description: Option.some(text) }
}

/** The whole text of a help event: `help COMMAND` shows all flags, and `COMMAND --help` the usual ones. */
export const textOfHelp = Effect.fnUntraced(function*(
  event: CliOutput.Presenter.Help,
  formatHelpDoc: (doc: HelpDoc) => string
) {
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
    description: isTop ? doc.description : `${doc.description}${doc === event.helpDoc ? "\n" : ""}\n  ${globalsHint}`
  })
  const { stdout } = yield* Colours
  // Core leaves no line between a list of subcommands and the examples.
  const titled = withHeadings(text, flags, stdout.bold).replace(/(?<!\n)\n(?=\S*EXAMPLES)/, "\n\n")
  return narrowHelp(titled, Math.min(yield* outputWidth, helpWidth))
})

const globalsHint = "Flags of every command: time-punches --help"

/** A page of help is read, also in a pipe: longer lines are hard to follow. */
const helpWidth = 100

export const verb = makeVerb(
  "help",
  {
    words: Argument.String("COMMAND|TOPIC").pipe(
      Argument.withDescription("The command, such as fleet add, or a topic, such as periods"),
      Argument.variadic()
    )
  },
  Effect.fnUntraced(function*({ words }) {
    const [word, ...others] = words
    const topic = others.length > 0 ? undefined : [word, `${word}s`].find(isTopic)
    if (topic !== undefined) return yield* showTopic(topic)
    const commandPath = [root]
    let known: ReadonlyArray<Pick<Command.Command.Any, "name" | "subcommands">> = yield* Called
    for (const subcommand of words) {
      const next = known.find(({ name }) => name === subcommand)
      if (next === undefined) {
        const unknown = new CliError.UnknownSubcommand({ subcommand, parent: commandPath, suggestions: [] })
        return yield* new CliError.ShowHelp({ commandPath, errors: [unknown] })
      }
      commandPath.push(next.name)
      known = next.subcommands.flatMap(({ commands }) => commands)
    }
    return yield* new CliError.ShowHelp({ commandPath, errors: [] })
  }),
  {
    text: `Show the help of a command with all its flags, or of a topic.\n\n${topicList}`,
    examples: [
      ["help", "The commands and the topics"],
      ["help periods", "One topic"],
      ["help fleet add", "One command"]
    ]
  }
)
