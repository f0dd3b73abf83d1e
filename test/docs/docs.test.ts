/** The documents are true: their code is compiled code, their links lead somewhere, their tables agree with the source. */
import { assert, describe, it } from "@effect/vitest"
import * as Fs from "node:fs"
import { ListError } from "../../src/index.ts"
import { root } from "./support/examples.ts"
import { anchors, examples, fences, links, pages, tables } from "./support/pages.ts"

// The tests that a page quotes are tests of this file.
await import("../../docs/examples/payroll.test.ts")

const pageAt = (path: string) => pages.find((page) => page.path === path)?.text ?? ""

/** The code of a fence, or the same as it stands inside of something. */
const indented = (code: string): ReadonlyArray<string> =>
  ["", "  ", "    "].map((indent) => code.replaceAll(/^(?=.)/gm, indent))

const sources = (folder: string): ReadonlyArray<string> =>
  Fs.readdirSync(root + folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => Fs.readFileSync(`${root}${folder}/${name}`, "utf8"))

const unique = (names: Iterable<string>) => [...new Set(names)].toSorted()

const firstCells = (page: string, header: string) =>
  tables(pageAt(page)).filter(([head]) => head?.[0] === header).flatMap(([, ...rows]) =>
    rows.map(([cell = ""]) => cell.replaceAll("`", ""))
  )

describe("the documents", () => {
  it("quote only what is compiled", () => {
    const quotes = fences("ts")

    assert.isAbove(quotes.length, 20)
    for (const { code, page } of quotes) {
      assert.isTrue(
        indented(code).some((piece) => examples.some(({ text }) => text.includes(piece))),
        `${page} has code that is no piece of an example:\n${code}`
      )
    }
  })

  it("use every whole example, or name it", () => {
    const prose = pages.map(({ text }) => text).join("\n")

    for (const { path } of examples) assert.include(prose, path.replace("docs/", ""))
  })

  it("link to files and headings that exist", () => {
    const targets = pages.flatMap(links)

    assert.isAbove(targets.length, 40)
    for (const { file, from, heading } of targets) {
      assert.isTrue(Fs.existsSync(root + file), `${from} links to ${file}, which is not there`)
      if (heading !== "") {
        assert.include(anchors(Fs.readFileSync(root + file, "utf8")), heading, `${from} links to ${file}#${heading}`)
      }
    }
  })

  it("name scripts that exist, and the README all of them", () => {
    const { scripts }: { readonly scripts: Record<string, string> } = JSON.parse(
      Fs.readFileSync(`${root}package.json`, "utf8")
    )
    const named = pages.flatMap(({ text }) => [...text.matchAll(/npm run ([\w:-]+)/g)].map(([, name = ""]) => name))
    const listed = firstCells("README.md", "script").map((command) => command.replace(/^npm (run )?/, ""))

    for (const name of named) assert.include(Object.keys(scripts), name)
    assert.deepStrictEqual(unique(listed), unique(Object.keys(scripts)))
  })

  it("name the variables that the source reads, and no others", () => {
    const read = sources("src").flatMap((text) => text.match(/TIME_PUNCHES_[A-Z_]+/g) ?? [])

    assert.deepStrictEqual(unique(firstCells("README.md", "variable")), unique(read))
  })

  it("have the errors of a listing in their tables, in the order of the union", () => {
    const tags = ListError.members.map(({ identifier }) => identifier.split("/").at(-1))

    assert.deepStrictEqual(firstCells("README.md", "tag"), tags)
    assert.deepStrictEqual(firstCells("docs/05-errors-and-retries.md", "tag"), tags)
  })

  it("have the metrics of the source in their table", () => {
    const counted = sources("src/internal").flatMap((text) =>
      [...text.matchAll(/"(time_punches_[a-z_]+)"/g)].map(([, name = ""]) => name)
    )

    assert.deepStrictEqual(unique(firstCells("docs/10-looking-inside.md", "metric")), unique(counted))
  })

  it("explain every knob of the retry policy", () => {
    const explained = pageAt("docs/05-errors-and-retries.md")
    const [, knobs = ""] =
      /interface RetryOptions \{([^}]*)\}/.exec(Fs.readFileSync(`${root}src/RetryPolicy.ts`, "utf8")) ?? []
    const names = [...knobs.matchAll(/readonly (\w+):/g)].map(([, name = ""]) => name)

    assert.strictEqual(names.length, 8)
    for (const name of names) assert.include(explained, `\`${name}\``)
  })
})
