/** The reference of the command, written from its tree and from the tables of its topics: `npm run api` writes it. */
import { Array as Arr, Effect, Option, Struct } from "effect"
import type { FlagDoc } from "effect/cli/HelpDoc"
import { assert, describe, expect, it } from "vitest"
import { titleOf, withChoices } from "../../src/cli/help/help.ts"
import { reference, type Table } from "../../src/cli/help/reference.ts"
import { flagsOf, helpOf, subcommands } from "../cli/support.ts"

/** In how many commands a flag has the same meaning before it stands once, at the end. */
const isShared = 4

const code = (text: string) => `\`${text.replaceAll("|", "\\|")}\``

const table = (titles: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>) =>
  [titles, titles.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n")

const textOf = (description: Option.Option<string>) =>
  Option.getOrElse(description, () => "").replaceAll("|", "\\|").replaceAll("<", "&lt;")

const rowOf = (flag: FlagDoc) => {
  const { aliases, description, name, required, type } = withChoices(flag)
  const value = /boolean/.test(type) ? "" : type.startsWith("[") ? type : ` ${type}`
  return [code([`--${name}`, ...aliases].join(", ") + value), `${textOf(description)}${required ? " (required)" : ""}`]
}

const keyOf = (flag: FlagDoc) => rowOf(flag).join("\n")

/** What a person or a program writes, or an exit code. */
const termOf = (term: string) => /^\d+$/.test(term) ? term : term.split(/,\s+/).map(code).join(", ")

/** A table of a topic, with what stands before it. */
const linesOfTable = ({ lead, rows, titles }: Table): ReadonlyArray<string> => [
  lead.replaceAll(/\s+/g, " "),
  table(
    titles.filter((title) => title !== undefined),
    rows.map(([term, ...cells]) => [termOf(term), ...titles.slice(1).map((_, at) => oneLine(cells[at] ?? ""))])
  )
]

const oneLine = (text: string) => text.replaceAll(/\s+/g, " ")

const headingOf: Readonly<Record<keyof typeof reference, string>> = {
  columns: "Columns and keys",
  messages: "Messages",
  environment: "Environment",
  "exit-codes": "Exit codes"
}

const page = Effect.gen(function*() {
  const docs = yield* Effect.forEach(subcommands, (name) => helpOf(name.split(" ")))
  const uses = Arr.groupBy(docs.flatMap(({ flags }) => flags), keyOf)
  const shared = Object.values(uses).flatMap((flags) => flags.length >= isShared ? [flags[0]] : [])
  const isOneOf = (flags: ReadonlyArray<FlagDoc>) => (flag: FlagDoc) =>
    flags.some((each) => keyOf(each) === keyOf(flag))
  const groups = Object.entries(Arr.groupBy(shared, titleOf)).map(([title, flags]) => ({
    heading: title === "FLAGS" ? "Further shared flags" : title.slice(0, 1) + title.slice(1).toLowerCase(),
    flags
  })).toSorted((one, other) => one.heading.localeCompare(other.heading))
  /** A link if a command has all of a group, else its flags. */
  const named = (flags: ReadonlyArray<FlagDoc>) =>
    groups.flatMap((group) =>
      group.flags.every(isOneOf(flags))
        ? [`[${group.heading}](#${group.heading.toLowerCase().replaceAll(" ", "-")})`]
        : group.flags.filter(isOneOf(flags)).map(({ name }) => code(`--${name}`))
    ).join(", ")
  const sections = docs.map((doc, at) => {
    const own = doc.flags.filter((flag) => !isOneOf(shared)(flag))
    const args = (doc.args ?? []).map(({ description, name, type, variadic }) => [
      code(`${type === "string" ? name : type}${variadic ? "…" : ""}`),
      textOf(description)
    ])
    const rows = [...args, ...own.map(rowOf)]
    return [
      `## ${subcommands[at]}`,
      `${/^[\s\S]*?(?=\n\n|$)/.exec(doc.description)?.[0].replaceAll(/\s+/g, " ")}`,
      ...(rows.length === 0 ? [] : [table(["argument or flag", "meaning"], rows)]),
      ...(own.length === doc.flags.length ? [] : [`Shared: ${named(doc.flags)}.`])
    ].join("\n\n")
  })
  const globals = (docs[0]?.globalFlags ?? []).map(rowOf)
  return [
    "# The reference of the command",
    "Every command with its arguments and flags, as its help shows them, then [columns and keys](#columns-and-keys), " +
    "[messages](#messages), [variables](#environment) and [exit codes](#exit-codes). " +
    "[9. The command line](09-command-line.md) explains them. `npm run api` writes this page.",
    ...sections,
    ...groups.flatMap(({ flags, heading }) => [`## ${heading}`, table(["flag", "meaning"], flags.map(rowOf))]),
    "## Flags of every command",
    table(["flag", "meaning"], globals),
    ...Struct.keys(reference).map((name) =>
      [`## ${headingOf[name]}`].concat(reference[name].flatMap(linesOfTable)).join("\n\n")
    )
  ].join("\n\n")
})

describe("the reference of the command", () => {
  it("has every flag of every command, as its help has them", async () => {
    const text = await Effect.runPromise(page)
    const all = await Effect.runPromise(Effect.forEach(subcommands, (name) => flagsOf(name.split(" "))))

    assert.isAbove(all.flat().length, 300)
    for (const { name } of all.flat()) assert.include(text, `\`--${name}`)
    await expect(`${text}\n`).toMatchFileSnapshot("../../docs/commands.md")
  })
})
