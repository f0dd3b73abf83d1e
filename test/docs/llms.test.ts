/** `llms.txt` of the package: a line for each page and each public name, for a reader that has no browser. */
import * as Fs from "node:fs"
import { describe, expect, it } from "vitest"
import { root } from "./support/examples.ts"
import { readHovers } from "./support/hovers.ts"
import { pages } from "./support/pages.ts"

const firstSentence = (text: string): string => /^[\s\S]*?[.?](?=\s|$)/.exec(text.trim())?.[0] ?? text.trim()

const oneLine = (text: string): string => text.replaceAll(/\s+/g, " ").trim()

const plain = (markdown: string): string => markdown.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")

/** The heading of a page, and the first sentence below it. */
const pageLine = ({ path, text }: { readonly path: string; readonly text: string }): string => {
  const [, title = "", lead = ""] = /^# (.+)\n+(?:##.+\n+|```[\s\S]*?```\n+)*([\s\S]*?)(?:\n\n|$)/.exec(text) ?? []
  return `- [${title}](${path}): ${oneLine(firstSentence(plain(lead)))}`
}

describe("llms.txt", () => {
  it("is in the package", () => {
    const { files }: { readonly files: ReadonlyArray<string> } = JSON.parse(
      Fs.readFileSync(`${root}package.json`, "utf8")
    )

    expect(files).toContain("llms.txt")
  })

  it("has a line for each page and each public name", async () => {
    const { hovers } = readHovers(root)
    // A member of a member is read where its owner is, and what every error has stands once in the pages.
    const names = hovers.filter(({ file, name }) =>
      /^\w+(\.\w+)?$/.test(name) && !/\.(?:message|isRetryable)$/.test(name) && !file.startsWith("src/internal/")
    )
    const lines = [
      "# effect-time-punches",
      "",
      "> An Effect 4 client for `GET /v2/company/{id}/time_punches`: every matching row once, or a typed error to resume from.",
      "",
      "## Pages",
      "",
      ...pages.map(pageLine),
      "",
      "## Public names",
      "",
      "Declarations with their types: dist/**/*.d.ts. A name stands with the file that declares it.",
      "",
      ...names.toSorted((a, b) => `${a.file} ${a.name}`.localeCompare(`${b.file} ${b.name}`, "en")).map(
        ({ file, name, text }) => `- ${name} (${file}): ${oneLine(firstSentence(text))}`
      ),
      ""
    ]

    expect(pages.every((page) => !pageLine(page).startsWith("- []"))).toBe(true)
    expect(names.length).toBeGreaterThan(300)
    await expect(lines.join("\n")).toMatchFileSnapshot("../../llms.txt")
  })
})
