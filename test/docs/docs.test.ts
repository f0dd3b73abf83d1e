/** The documents are true: their code is compiled, their links resolve, their tables agree with the source. */
import { assert, describe, it } from "@effect/vitest"
import * as Fs from "node:fs"
import { settings } from "../../src/cli/flags/settings.ts"
import { reference } from "../../src/cli/help/reference.ts"
import { variables } from "../../src/cli/telemetry/otlp.ts"
import { ListError } from "../../src/index.ts"
import { columnNames } from "../../src/internal/wire/columnOrder.ts"
import { breakNames } from "../../src/internal/wire/names.ts"
import { PeriodCheck } from "../../src/payroll/index.ts"
import { Fault } from "../../src/testing/index.ts"
import { command } from "../cli/support.ts"
import { root } from "./support/examples.ts"
import { anchors, examples, fences, links, pages } from "./support/pages.ts"
import { tables } from "./support/tables.ts"

// Runs the tests that a page quotes as tests of this file.
await import("../../docs/examples/kit.test.ts")
await import("../../docs/examples/payroll.test.ts")

const pageAt = (path: string) => pages.find((page) => page.path === path)?.text ?? ""

/** The code of a fence, at each depth of indentation that an example may have it. */
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

/** What the bullets of a page explain: a word, then a colon. */
const bullets = (page: string) => [...pageAt(page).matchAll(/^- `(\w+)`: /gm)].map(([, name = ""]) => name)

describe("the settings", () => {
  it("are all variables that the sources name", () => {
    const named = sources("src").flatMap((text) => text.match(/\bTIME_PUNCHES_[A-Z_]+\b|\bPGPASSWORD\b/g) ?? [])

    const own = settings.map(({ variable }) => variable).filter((name) => !name.startsWith("OTEL_"))
    assert.deepStrictEqual(unique(named), unique(own))
  })
})

describe("the variables of OpenTelemetry", () => {
  it("are those that the reference explains", () => {
    const explained = reference.environment.flatMap(({ rows }) => rows.flatMap(([names]) => names.split(/,\s+/)))
      .filter((name) => name.startsWith("OTEL_"))
    const whole = explained.flatMap((name) =>
      ["TRACES", "METRICS", "LOGS"].map((signal) => name.replace("_SIGNAL_", `_${signal}_`))
    )

    assert.deepStrictEqual(unique(whole), Object.keys(variables).toSorted())
  })
})

describe("the fields of a punch", () => {
  it("are those that the first page names", () => {
    const section = /^## A punch\n+([^]*?)\n\n/m.exec(pageAt("docs/01-start.md"))?.[1] ?? ""
    const named = [...section.matchAll(/`(\w+)`/g)].map(([, name]) => name)

    assert.deepStrictEqual(named, ["TimePunch", ...Object.keys(columnNames), ...Object.keys(breakNames)])
  })
})

describe("the documents", () => {
  it("quote only compiled code", () => {
    const quotes = fences("ts")

    assert.isAbove(quotes.length, 20)
    for (const { code, page } of quotes) {
      assert.isTrue(
        indented(code).some((piece) => examples.some(({ text }) => text.includes(piece))),
        `${page} has code that is in no example:\n${code}`
      )
    }
  })

  it("use or name every example", () => {
    const prose = pages.map(({ text }) => text).join("\n")

    for (const { path } of examples) assert.include(prose, path.replace("docs/", ""))
  })

  it("link to files and headings that exist", () => {
    const targets = pages.flatMap(links)

    assert.isAbove(targets.length, 40)
    for (const { file, from, heading } of targets) {
      assert.isTrue(Fs.existsSync(root + file), `${from} links to ${file}, which does not exist`)
      if (heading !== "") {
        assert.include(anchors(Fs.readFileSync(root + file, "utf8")), heading, `${from} links to ${file}#${heading}`)
      }
    }
  })

  it("name only existing scripts, and CONTRIBUTING names all", () => {
    const { scripts }: { readonly scripts: Record<string, string> } = JSON.parse(
      Fs.readFileSync(`${root}package.json`, "utf8")
    )
    const named = pages.flatMap(({ text }) => [...text.matchAll(/npm run ([\w:-]+)/g)].map(([, name = ""]) => name))
    const listed = firstCells("CONTRIBUTING.md", "script").map((command) =>
      command.replace(/^npm (run )?/, "").replace(/ -- .*/, "")
    )

    for (const name of named) assert.include(Object.keys(scripts), name)
    assert.deepStrictEqual(unique(listed), unique(Object.keys(scripts)))
  })

  it("name only existing files", () => {
    const named = pages.flatMap(({ path, text }) =>
      [...text.matchAll(/`((?:src|test|docs|benchmarks)\/[\w./-]+)/g)].map(([, file = ""]) => ({ path, file }))
    )
    const missing = named.filter(({ file }) => !Fs.existsSync(root + file))

    assert.isAbove(named.length, 100)
    assert.deepStrictEqual(unique(missing.map(({ file, path }) => `${path} names ${file}`)), [])
  })

  it("have the two commands of a clone in the README", () => {
    assert.include(pageAt("README.md"), "npm ci && npm run demo")
    assert.include(pageAt("README.md"), "\nnpm test\n")
  })

  it("name every page of the documents in the README", () => {
    const linked = links({ path: "README.md", text: pageAt("README.md") }).map(({ file }) => file)
    // The table of faults belongs to the page on how it is tested.
    const named = pages.map(({ path }) => path).filter((path) =>
      path.startsWith("docs/") && path !== "docs/reliability-faults.md"
    )

    assert.includeMembers(linked, named)
  })

  it("leave figures that are measured to the pages that measure them", () => {
    const prose = pageAt("README.md").split("```").filter((_, at) => at % 2 === 0).join("\n")
    const figures = (text: string) => text.match(/\b\d+(?:\.\d+)? times\b|\b\d+[ ,]\d{3}\b|\b\d+(?:\.\d+)? ?%/g) ?? []

    assert.lengthOf(figures("1.09 times the time, 9 518 plans, 96 % of them"), 3)
    assert.deepStrictEqual(figures(prose), [])
  })

  it("take what the page on performance begins with from the results", () => {
    const [lead = ""] = pageAt("docs/performance.md").split("\n## ")
    const results = Fs.readFileSync(`${root}/benchmarks/RESULTS.md`, "utf8")
    const figures = lead.match(/\b\d+\.\d\d\b(?!\.)/g) ?? []

    assert.isAbove(figures.length, 4)
    for (const figure of figures) assert.include(results, figure)
  })

  it("answer questions about messages that the source writes", () => {
    const asked = firstCells("docs/05-errors-and-retries.md", "message")
    const texts = sources("src").join("\n")

    assert.isAbove(asked.length, 8)
    for (const message of asked) assert.include(texts, message)
  })

  it("list the errors of a listing in their tables, in the order of the union", () => {
    const tags = ListError.members.map(({ identifier }) => identifier.split("/").at(-1))

    assert.deepStrictEqual(firstCells("docs/05-errors-and-retries.md", "tag"), tags)
  })

  it("list the subcommands of the command, in its order", () => {
    const names = command.subcommands.flatMap(({ commands }) => commands.map(({ name }) => name))

    // The groups of the help, one bullet each.
    const [groups = ""] = /^- \*\*Read\.\*\*[\s\S]*?\n\n/m.exec(pageAt("docs/09-command-line.md")) ?? []
    const listed = [...groups.matchAll(/`([a-z]+)`/g)].map(([, name]) => name)

    assert.deepStrictEqual(listed, names)
  })

  it("list the kinds of issue of a check, in their order", () => {
    assert.deepStrictEqual(bullets("docs/09-command-line.md"), [...PeriodCheck.IssueKind.literals])
  })

  it("list the metrics of the source", () => {
    const counted = ["src/internal", "src/cli/copy"].flatMap(sources).flatMap((text) =>
      [...text.matchAll(/"(time_punches_[a-z_]+)"/g)].map(([, name = ""]) => name)
    )
    const fleet = Fs.readFileSync(`${root}src/fleet/node/metrics.ts`, "utf8")
    const ofFleet = [...fleet.matchAll(/(?:gauge|counter|histogram)\(\s*"(?:time_punches_fleet_)?([a-z_]+)"/g)]

    assert.isNotEmpty(counted)
    assert.deepStrictEqual(
      unique(bullets("docs/10-looking-inside.md")),
      unique([...counted, ...ofFleet.map(([, name]) => `time_punches_fleet_${name}`)])
    )
    // Alerts ask for metrics that exist.
    const alerts = pageAt("docs/fleet.md").match(/time_punches_fleet_[a-z_]+/g) ?? []
    assert.isNotEmpty(alerts)
    assert.includeMembers(ofFleet.map(([, name]) => `time_punches_fleet_${name}`), alerts)
  })

  it("list every fault of the fake service, and every condition of one", () => {
    const [, when = ""] = /interface FaultWhen \{([\s\S]*?)\n\}/.exec(
      Fs.readFileSync(`${root}src/testing/faults/Fault.ts`, "utf8")
    ) ?? []

    // A bullet for each kind, in which a function has parentheses.
    const [faults = ""] = /^- Statuses:[\s\S]*?\n\n/m.exec(pageAt("docs/06-testing.md")) ?? []
    assert.deepStrictEqual(
      unique([...faults.matchAll(/`(\w+(?:\(\))?)`/g)].map(([, name = ""]) => name)),
      unique(Object.entries(Fault).map(([name, fault]) => typeof fault === "function" ? `${name}()` : name))
    )
    const [, conditions = ""] = /second argument of `inject`([^:]*):/.exec(pageAt("docs/06-testing.md")) ?? []
    assert.deepStrictEqual(
      [...conditions.matchAll(/`(\w+)`/g)].map(([, name = ""]) => name),
      [...when.matchAll(/^ {2}readonly (\w+)\?/gm)].map(([, name = ""]) => name)
    )
  })

  it("explain every option of the retry policy", () => {
    const explained = pageAt("docs/05-errors-and-retries.md")
    const [, options = ""] = /interface RetrySettings \{([\s\S]*?)\n\}/.exec(
      Fs.readFileSync(`${root}src/internal/wire/retryOptions.ts`, "utf8")
    ) ?? []
    const names = [...options.matchAll(/readonly (\w+):/g)].map(([, name = ""]) => name)

    assert.strictEqual(names.length, 8)
    for (const name of names) assert.include(explained, `\`${name}\``)
  })
})
