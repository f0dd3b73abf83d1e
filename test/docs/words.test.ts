/** The words and constructions that must not come back into code, tests and documents, each with what to write instead. */
import { assert, describe, it } from "@effect/vitest"
import * as Fs from "node:fs"
import { root } from "./support/examples.ts"

/** What to avoid, what to write instead, and a text that has it once. A space stands for any gap, a line end included. */
type Rule = readonly [avoided: RegExp, instead: string, planted: string]

const words: ReadonlyArray<Rule> = [
  [/\bmend(?:s|ed|ing)?\b/, "fix", "mend the call"],
  [/\bbef(?:all(?:s|en)?|ell)\b/, "affect", "a fault that befalls it"],
  [/\banew\b/, "again, new", "starts anew"],
  [/\b(?:whoever|nobody)\b/, "name the subject", "nobody waits"],
  [/\b(?:is|are|was|were|be|been|being) (?:\w+ly )?asked for\b/, "is requested", "the page that is\n * asked for"],
  [/\b(?:is|are|was|were|be|been|being) told\b/, "receives, learns; is configured", "says what it is told"],
  [/\b(?:is|are|was|were|be|been|being) had\b/, "exist, are available", "as cheap as they are had"],
  [/\b(?:goe?s?|going|gone|went) on\b(?! (?:the|an?|and|each|every|top)\b)/, "continue, resume", "where to go on."],
  [/\b(?:comes?|coming|came) back\b/, "return, repeat, recover", "a cursor that comes back"],
  [/\bcame first\b/, "the first caller", "the one who came first"],
  [/\b(?:breaks?|broken?|breaking) off\b/, "is interrupted, fails, is cut", "a body that breaks off"],
  [/\b(?:leaves?|leaving|left) the house\b/, "is sent to the service", "headers leave the house"],
  [/\bdeaf to\b/, "ignores", "deaf to signals"],
  [/\b(?:has|have|had) (?:its|their) say\b/, "affects, decides", "the machine has its say"],
  [/\bno more than noise of the\b/, "within the noise of the", "no more than noise of the machine"],
  [/\bat hand\b/, "current", "the page at hand"],
  [
    /\b(?:of (?:one's|its|their) own(?=[^\w\s]|$| (?:and|as|at|for|from|in|is|on|or|so|that|to|which|with)\b)|an own\b)/,
    "its own …, separate",
    "a connection of its own and"
  ],
  [
    /\b(?:an?|another|each|every|further|last|more|next|no|one|per|second|the|this) try\b(?!(?: |-)?(?:block|catch|[/{]))/,
    "attempt",
    "the time of one try"
  ],
  [
    /\b(?:\d+|all|both|few|five|four|its|many|more|no|of|other|six|some|the|three|two|without) tries\b/,
    "attempts",
    "after four tries"
  ],
  [
    /\b(?:this|that|these|those) very\b(?! (?:often|much|few|large|little|long|short|small)\b)/,
    "this, the same",
    "for this very id"
  ],
  [/\blook(?:s|ed|ing)? whether\b/, "check whether", "looks whether it exists"],
  [/\b(?:sees?|saw|seeing) to it\b/, "ensure", "sees to it that"],
  [/\b(?:thereof|whereof|hence)\b/, "of it, so", "hence the name"],
  [
    /\b(?:ten|eleven|twelve|thirteen|fourteen|1[0-4]) (?:tagged |typed )*errors\b/,
    "no number: it changes",
    "one of twelve errors"
  ]
]

/** Names that were replaced. The change log may have them. */
const replaced: ReadonlyArray<Rule> = [
  [
    /\b(?:state \d+\.\d+|newest state|(?:there is )?no such state|states? (?:before it|of (?:a|the|this|that|each) close))\b/,
    "revision",
    "the sums of state 7.2"
  ],
  [/\b(?:close|state|revision)s? that stands?\b/, "active", "each revision that stands"],
  [
    /\btime-punches (?:check|close|closes|changes|correct|void)\b/,
    "time-punches payroll check, close, list, diff, correct, void",
    "time-punches closes --json"
  ],
  [/\bsync --status\b/, "copy status", "time-punches sync --status"],
  [/(?:summary|closes) --map\b/, "payroll file", "summary --map payroll.json"]
]

/** In a comment the noun may be too far away to repeat. */
const repeat = "repeat the noun"

/** Constructions that a reader has to read twice. */
const constructions: ReadonlyArray<Rule> = [
  [
    /(?<!there )\b(?:is|are|was|were) no\b(?! (?:longer|more|less|other|\w+er)\b)/,
    "is not a",
    "a text that is no date"
  ],
  [/\bwhere (?:there|no|none|nothing)\b/, "if", "empty where there is no row"],
  [/\bbut for\b/, "except", "all but for the first"],
  [/\bso (?:many|long)\b(?! (?:that|as)\b)/, "name the number", "after so many rows"],
  [/(?<!so )\b(?:that|those) of\b/, repeat, "the clock is that of the service"]
]

/** A blank, or a line end with the markers of a comment or a list around it. */
const gap = String.raw`(?:[ \t]|\r?\n[ \t]*(?:\*|//|>)?)+`

/** Every rule that a text breaks, as `path:line: what is there -> what to write`. */
const find = (rules: ReadonlyArray<Rule>, path: string, text: string): ReadonlyArray<string> =>
  rules.flatMap(([avoided, instead]) =>
    [...text.matchAll(new RegExp(avoided.source.replaceAll(" ", gap), "gim"))].map((match) => {
      const line = text.slice(0, match.index).split("\n").length
      return `${path}:${line}: "${match[0].replaceAll(new RegExp(gap, "g"), " ")}" -> ${instead}`
    })
  )

const below = (folder: string): ReadonlyArray<string> =>
  Fs.readdirSync(root + folder, { recursive: true, encoding: "utf8" })
    .map((name) => `${folder}/${name.replaceAll("\\", "/")}`)
    .filter((path) => /\.(?:md|ts)$/.test(path) && !/\/(?:node_modules|\.[^/]+)\//.test(path))

const files = [
  ...["src", "test", "docs", "benchmarks"].flatMap(below),
  "README.md",
  "CHANGELOG.md",
  "CONTRIBUTING.md",
  "SECURITY.md"
].filter((path) => path !== "test/docs/words.test.ts" && !path.startsWith("docs/api/"))

const read = (path: string): string => Fs.readFileSync(root + path, "utf8")

describe("the finder of words", () => {
  const rules = [...words, ...replaced, ...constructions]

  it.each(rules.map(([, instead, planted]) => [planted, instead]))(
    "finds %j, and says to write %s",
    (planted, instead) => {
      const [found, ...more] = find(rules, "planted.md", `A line before.\n${planted}\n`)

      assert.deepStrictEqual(more, [])
      assert.match(found ?? "", /^planted\.md:2: "/)
      assert.include(found ?? "", ` -> ${instead}`)
    }
  )

  it.each([
    "const value = Effect.try({ try: () => JSON.parse(text) })",
    "a try block, a try/catch",
    "the client tries each page four times",
    "the header goes on the request",
    "the note went on and on",
    "a text of your own",
    "those very long notes",
    "a copy of its own state",
    "what the manager told the team",
    "recommended, amended, whence",
    "comes from a back page",
    "is no longer gone, is no later than the first",
    "so long as it runs, so that of two one is left"
  ])("leaves alone: %s", (text) => {
    assert.deepStrictEqual(find(rules, "planted.md", text), [])
  })
})

describe("code, tests and documents", () => {
  it("have no word that must not come back", () => {
    assert.isAbove(files.length, 250)
    assert.deepStrictEqual(files.flatMap((path) => find(words, path, read(path))), [])
    const others = files.filter((path) => path !== "CHANGELOG.md")
    assert.deepStrictEqual(others.flatMap((path) => find(replaced, path, read(path))), [])
  })

  it("have no construction that must be read twice", () => {
    const found = files.flatMap((path) => {
      if (path.startsWith("src/"))
        return find(constructions.filter(([, instead]) => instead !== repeat), path, read(path))
      // A document may quote a test by its title.
      const isProse = path.endsWith(".md") && path !== "CHANGELOG.md"
      return isProse ? find(constructions, path, read(path).replaceAll(/`[^`\n]*`/g, "")) : []
    })

    assert.deepStrictEqual(found, [])
  })
})
