/** The words that must not come back into code, tests and documents, each with what to write instead. */
import { assert, describe, it } from "@effect/vitest"
import * as Fs from "node:fs"
import { root } from "./support/examples.ts"

interface Word {
  readonly name: string
  /** A space stands for any gap between two words, a line end with its comment marker included. */
  readonly pattern: RegExp
  readonly instead: string
  /** A text that has the word once. */
  readonly planted: string
}

const be = "(?:is|are|was|were|be|been|being)"

const words: ReadonlyArray<Word> = [
  { name: "mend", pattern: /\bmend(?:s|ed|ing)?\b/, instead: "fix", planted: "mend the call" },
  { name: "befall", pattern: /\bbef(?:all(?:s|en)?|ell)\b/, instead: "affect", planted: "a fault that befalls it" },
  { name: "anew", pattern: /\banew\b/, instead: "again, new", planted: "starts anew" },
  { name: "whoever", pattern: /\bwhoever\b/, instead: "name the subject", planted: "whoever reads it" },
  { name: "nobody", pattern: /\bnobody\b/, instead: "name the subject", planted: "nobody waits" },
  {
    name: "is asked for",
    pattern: new RegExp(String.raw`\b${be} (?:\w+ly )?asked for\b`),
    instead: "is requested",
    planted: "the page that is\n * asked for"
  },
  {
    name: "is told",
    pattern: new RegExp(String.raw`\b${be} told\b`),
    instead: "receives, learns; is configured",
    planted: "says what it is told"
  },
  {
    name: "go on",
    pattern: /\b(?:go|goes|going|gone|went) on\b(?! (?:the|a|an|and|each|every|top)\b)/,
    instead: "continue, resume",
    planted: "where to go on."
  },
  {
    name: "come back",
    pattern: /\b(?:come|comes|coming|came) back\b/,
    instead: "return, repeat, recover",
    planted: "a cursor that comes back"
  },
  { name: "came first", pattern: /\bcame first\b/, instead: "the first caller", planted: "the one who came first" },
  {
    name: "break off",
    pattern: /\b(?:breaks?|broke|broken|breaking) off\b/,
    instead: "is interrupted, fails, is cut",
    planted: "a body that breaks off"
  },
  {
    name: "leave the house",
    pattern: /\b(?:leaves?|leaving|left) the house\b/,
    instead: "is sent to the service",
    planted: "headers leave the house"
  },
  { name: "deaf to", pattern: /\bdeaf to\b/, instead: "ignores", planted: "deaf to signals" },
  {
    name: "has its say",
    pattern: /\b(?:has|have|had) (?:its|their) say\b/,
    instead: "affects, decides",
    planted: "the machine has its say"
  },
  {
    name: "noise of the",
    pattern: /\bno more than noise of the\b/,
    instead: "within the noise of the",
    planted: "no more than noise of the machine"
  },
  { name: "at hand", pattern: /\bat hand\b/, instead: "current", planted: "the page at hand" },
  {
    name: "are had",
    pattern: new RegExp(String.raw`\b${be} had\b`),
    instead: "exist, are available",
    planted: "as cheap as they are had"
  },
  {
    name: "of its own",
    pattern:
      /\b(?:of (?:one's|its|their) own\b(?=[\s*/]*(?:[^\w\s*/]|(?:and|as|at|for|from|in|is|on|or|so|that|to|which|with)\b|$))|an own\b)/,
    instead: "its own …, separate",
    planted: "a connection of its own."
  },
  {
    name: "a try",
    pattern:
      /\b(?:a|an|another|any|each|every|first|further|last|more|next|no|one|other|per|second|that|the|this|third) try\b(?!(?: |-)?(?:block|catch|finally|\/|\{))/,
    instead: "attempt",
    planted: "the time of one try"
  },
  {
    name: "tries",
    pattern:
      /\b(?:\d+|a few|all|between|both|few|five|four|further|its|many|more|no|of|other|six|some|the|their|these|three|two|without|your) tries\b/,
    instead: "attempts",
    planted: "after four tries"
  },
  {
    name: "this very",
    pattern: /\b(?:this|that|these|those) very\b(?! (?:often|much|few|large|little|long|short|small)\b)/,
    instead: "this, the same",
    planted: "for this very id"
  },
  {
    name: "look whether",
    pattern: /\blook(?:s|ed|ing)? whether\b/,
    instead: "check whether",
    planted: "looks whether it is there"
  },
  { name: "see to it", pattern: /\b(?:sees?|saw|seeing) to it\b/, instead: "ensure", planted: "sees to it that" },
  {
    name: "thereof, whereof, hence",
    pattern: /\b(?:thereof|whereof|hence)\b/,
    instead: "of it, so",
    planted: "hence the name"
  },
  {
    name: "the number of errors",
    pattern: /\b(?:ten|eleven|twelve|thirteen|fourteen|1[0-4]) (?:tagged |typed )*errors\b/,
    instead: "no number: it changes with each new tag",
    planted: "one of twelve tagged errors"
  }
]

/** A blank, or a line end with the markers of a comment or a list around it. */
const gap = String.raw`(?:[ \t]|\r?\n[ \t]*(?:\*|//|>)?)+`

const searched = words.map((word) => ({ ...word, pattern: new RegExp(word.pattern.source.replaceAll(" ", gap), "gi") }))

/** Every word of the list in a text, as `path:line: what is there -> what to write`. */
const find = (path: string, text: string): ReadonlyArray<string> =>
  searched.flatMap(({ instead, pattern }) =>
    [...text.matchAll(pattern)].map((match) => {
      const line = text.slice(0, match.index).split("\n").length
      return `${path}:${line}: "${match[0].replaceAll(new RegExp(gap, "g"), " ")}" -> ${instead}`
    })
  )

const below = (folder: string, ending: RegExp): ReadonlyArray<string> =>
  Fs.readdirSync(root + folder, { recursive: true, encoding: "utf8" })
    .map((name) => `${folder}/${name.replaceAll("\\", "/")}`)
    .filter((path) => ending.test(path) && !/\/(?:node_modules|\.[^/]+)\//.test(path))

const files = [
  ...below("src", /\.ts$/),
  ...below("test", /\.ts$/),
  ...below("docs", /\.(?:md|ts)$/),
  ...below("benchmarks", /\.ts$/),
  ...["README.md", "CHANGELOG.md", "CONTRIBUTING.md"].filter((name) => Fs.existsSync(root + name))
].filter((path) => path !== "test/docs/words.test.ts" && !path.startsWith("docs/api/"))

describe("the finder of words", () => {
  it.each(words)("finds a planted $name, and says where it is and what to write", ({ instead, planted }) => {
    const [found, ...more] = find("planted.md", `A line before.\n${planted}\n`)

    assert.deepStrictEqual(more, [])
    assert.match(found ?? "", /^planted\.md:2: "/)
    assert.include(found ?? "", ` -> ${instead}`)
  })

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
    "comes from a back page"
  ])("leaves alone: %s", (text) => {
    assert.deepStrictEqual(find("planted.md", text), [])
  })
})

describe("the words of code, tests and documents", () => {
  it("has none that must not come back", () => {
    assert.isAbove(files.length, 250)

    const found = files.flatMap((path) => find(path, Fs.readFileSync(root + path, "utf8")))

    assert.strictEqual(found.length, 0, `${found.length} words that must not come back:\n${found.join("\n")}`)
  })
})
