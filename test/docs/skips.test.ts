/** No test is skipped, singled out, left open or expected to fail. Only `needs` skips one, at run time, with a reason. */
import { assert, describe, it } from "@effect/vitest"
import * as Fs from "node:fs"
import { parseAst } from "vitest/node"
import { root } from "./support/examples.ts"

const refused = ["skip", "only", "todo", "fails", "skipIf", "runIf"]

/** Functions of other runners that Vitest may be given as globals. */
const globals = ["xit", "xtest", "xdescribe", "fdescribe"]

/** What two files may say: the helper that skips, and the reporter, which counts such a test as failed. */
const exempt: Readonly<Record<string, ReadonlyArray<string>>> = {
  "test/support/needs.ts": ["skip"],
  "test/support/faultReporter.ts": ["fails"]
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null

/** The name that a node stands for: `skip` or `"skip"`. */
const nameOf = (node: unknown): string => isRecord(node) ? String(node["name"] ?? node["value"] ?? "") : ""

const isText = (node: unknown): boolean =>
  isRecord(node) && (node["type"] === "TemplateLiteral" || typeof node["value"] === "string")

/** The function at the start of a chain of members: `it` of `it.effect.each`. */
const headOf = (node: unknown): string =>
  isRecord(node) && node["type"] === "MemberExpression" ? headOf(node["object"]) : nameOf(node)

/** What a node refuses: a member, a property that is set or taken out of the context, a call, a test without a body. */
const refusedBy = (node: Readonly<Record<string, unknown>>): string | undefined => {
  const named = (name: unknown) => refused.includes(nameOf(name)) ? nameOf(name) : undefined
  if (node["type"] === "MemberExpression") return named(node["property"])
  // An option is a boolean; a table of texts may have the word as a key.
  if (node["type"] === "Property") return isText(node["value"]) ? undefined : named(node["key"])
  if (node["type"] !== "CallExpression" || !Array.isArray(node["arguments"])) return undefined
  if (globals.includes(nameOf(node["callee"]))) return nameOf(node["callee"])
  const isOpen = ["it", "test", "describe"].includes(headOf(node["callee"])) && node["arguments"].length === 1
  return isOpen && isText(node["arguments"][0]) ? "a test without a body" : undefined
}

/** Every way to leave out a test that a source has. */
const skipsIn = (source: string): ReadonlyArray<string> => {
  const found: Array<string> = []
  const visit = (node: unknown): void => {
    if (Array.isArray(node)) return node.forEach(visit)
    if (!isRecord(node)) return
    const name = refusedBy(node)
    if (name !== undefined) found.push(name)
    for (const key in node) visit(node[key])
  }
  visit(parseAst(source, { lang: "ts" }))
  return found
}

const sources = ["test", "docs/examples"].flatMap((folder) =>
  Fs.readdirSync(`${root}${folder}`, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts") && !name.includes("node_modules"))
    .map((name) => `${folder}/${name}`)
)

describe("the sources of the tests", () => {
  it("leave out no test, except the helper that skips with a reason", () => {
    const found = sources.flatMap((path) => {
      const names = skipsIn(Fs.readFileSync(root + path, "utf8"))
      return names.length === 0 ? [] : [[path, names] as const]
    })

    assert.isAbove(sources.length, 200)
    assert.deepStrictEqual(Object.fromEntries(found), exempt)
  })

  it.each([
    ["skip", "it.effect.skip(\"is skipped\", () => Effect.void)"],
    ["skip", "it[\"skip\"](\"is skipped\", () => {})"],
    ["skip", "it(\"is skipped\", (context) => context?.skip(true, \"why\"))"],
    ["skip", "it(\"is skipped\", ({ skip: leave }) => leave())"],
    ["skip", "it(\"is skipped\", { skip: true }, () => {})"],
    ["only", "describe.only(\"is the only one\", () => {})"],
    ["todo", "it.todo(\"is left open\")"],
    ["a test without a body", "it.effect(`is left open`)"],
    ["fails", "it.fails(\"is expected to fail\", () => {})"],
    ["skipIf", "it.skipIf(process.platform === \"win32\")(\"is skipped\", () => {})"],
    ["runIf", "it.effect.runIf(false)(\"is skipped\", () => Effect.void)"],
    ["fdescribe", "fdescribe(\"is the only one\", () => {})"]
  ])("would show %s in %s", (name, source) => {
    assert.include(skipsIn(source), name)
  })

  it.each([
    "it(\"skips the header, and only that\", () => {})",
    "// it.skip(\"is a comment\", () => {})",
    "const words = { only: \"true\" }",
    "const rest = [...only?.attributes ?? []]",
    "it(\"runs or says why not\", (context) => needs(context, canLink, \"no links\"))"
  ])("accept %s", (source) => {
    assert.deepStrictEqual(skipsIn(source), [])
  })
})
