/** `llms.txt` and `llms-full.txt` of the package: for a reader that has no browser. */
import * as Fs from "node:fs"
import * as Path from "node:path"
import { describe, expect, it } from "vitest"
import { mostLinked } from "../../docs/site/pages.ts"
import { examplesIn, sources } from "./support/docstrings.ts"
import { root } from "./support/examples.ts"
import { readHovers } from "./support/hovers.ts"
import { pages } from "./support/pages.ts"

/** A status at the start of a text is not its sentence. */
const firstSentence = (text: string): string =>
  /^(?:\d{3}\.\s)?[\s\S]*?[.?](?=\s|$)/.exec(text.trim())?.[0] ?? text.trim()

const oneLine = (text: string): string => text.replaceAll(/\s+/g, " ").trim()

const plain = (markdown: string): string => markdown.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")

/** The heading of a page, and the first sentence below it. */
const pageLine = ({ path, text }: { readonly path: string; readonly text: string }): string => {
  const [, title = "", lead = ""] = /^# (.+)\n+(?:##.+\n+|```[\s\S]*?```\n+)*([\s\S]*?)(?:\n\n|$)/.exec(text) ?? []
  return `- [${title}](${path}): ${oneLine(firstSentence(plain(lead)))}`
}

const manifest: {
  readonly name: string
  readonly description: string
  readonly exports: Readonly<Record<string, string | null | { readonly "effect-time-punches:source": string }>>
  readonly files: ReadonlyArray<string>
} = JSON.parse(Fs.readFileSync(`${root}package.json`, "utf8"))

/** The name by which a program imports a file. The modules that stand alone have all their names in the main entry too. */
const imports = new Map(
  Object.entries(manifest.exports).flatMap(([subpath, target]) =>
    target === null || typeof target === "string" || subpath.includes("*")
      ? []
      : [[Path.normalize(target["effect-time-punches:source"]), Path.join(manifest.name, subpath)] as const]
  )
)

/** What the first comment of a file says, without the name of its subpath. */
const subjectOf = (file: string): string => {
  const [, comment = ""] = /^\/\*\*([\s\S]*?)\*\//.exec(Fs.readFileSync(root + file, "utf8")) ?? []
  return oneLine(
    firstSentence(comment.replaceAll("\n *", "").replace(/^ The (?:names of the )?`[^`]+` subpaths?: /, ""))
  )
}

/** Programs that the tests of docstrings compile, by the name that they document. */
const programs = [
  ["List the punches of last week", "TimePunches"],
  ["Resume a run that failed", "TimePunches.list"],
  ["Write the payroll of a week as CSV", "Labor.toCsv"],
  ["Keep a copy in a file", "SqlStore.layer"],
  ["Test a program that meets an outage", "TestClient.layer"]
] as const

const docstrings = sources.flatMap(({ path, text }) => examplesIn(path, text))

const programLines = ([title, documented]: (typeof programs)[number]): ReadonlyArray<string> => {
  const code = docstrings.find(({ name }) => name === documented)?.code
  return [`### ${title}`, "", "```ts", (code ?? `no example of ${documented}`).trim(), "```", ""]
}

const head = [`# ${manifest.name}`, "", `> ${manifest.description}.`, ""]

describe("llms.txt", () => {
  it("is in the package, with the whole text beside it", () => {
    expect(manifest.files).toContain("llms.txt")
    expect(manifest.files).toContain("llms-full.txt")
  })

  it("has the pages, the subpaths and five programs", async () => {
    const readme = pages.find(({ path }) => path === "README.md")?.text ?? ""
    const text = [
      ...head,
      "Every public name with what it is: [llms-full.txt](llms-full.txt). Types: `dist/**/*.d.ts`.",
      "",
      "## Pages",
      "",
      mostLinked(readme).trim(),
      "",
      "## Subpaths",
      "",
      ...[...imports].map(([file, name]) => `- \`${name}\`: ${subjectOf(file)}`),
      "",
      "## Programs",
      "",
      ...programs.flatMap(programLines)
    ].join("\n")

    expect(text).not.toContain("no example of")
    expect(Buffer.byteLength(text)).toBeLessThan(7000)
    await expect(text).toMatchFileSnapshot("../../llms.txt")
  })
})

describe("llms-full.txt", () => {
  it("has a line for each page of the package, and for each public name under the subpath that a program imports", async () => {
    const { hovers } = readHovers(root)
    // A member of a member is read where its owner is, and what every error has stands once in the pages.
    const names = hovers.filter(({ file, name }) =>
      /^\w+(\.\w+)?$/.test(name) && !/\.(?:message|isRetryable)$/.test(name) && !file.startsWith("src/internal/")
    )
    const importOf = ({ from }: (typeof names)[number]) => imports.get(from) ?? manifest.name
    const namesOf = (subpath: string) =>
      names.filter((found) => importOf(found) === subpath).toSorted((a, b) => a.name.localeCompare(b.name, "en"))
        .map(({ name, text }) => `- ${name}: ${oneLine(firstSentence(text))}\n`).join("")
    const lines = [
      ...head,
      "## Pages",
      "",
      ...pages.filter(({ path }) => !manifest.files.includes(`!${path}`)).map(pageLine),
      "",
      ...[...imports.values()].map((subpath) => `## ${subpath}\n\n${namesOf(subpath)}`)
    ]

    expect(pages.every((page) => !pageLine(page).startsWith("- []"))).toBe(true)
    expect(names.length).toBeGreaterThan(300)
    await expect(lines.join("\n")).toMatchFileSnapshot("../../llms-full.txt")
  })
})
