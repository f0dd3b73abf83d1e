import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { displayWidth } from "effect/cli/CliOutput"
import { bar, fit, makeTable } from "../../../src/cli/terminal/table.ts"

const columns = [
  { title: "name", cell: ([name]: readonly [string, number]) => name, maxWidth: 6 },
  { title: "n", align: "right" as const, cell: ([, n]: readonly [string, number]) => `${n}` }
]

describe("a table", () => {
  it("aligns its columns, and widens them for later rows", () => {
    const { lines } = makeTable(columns)

    assert.deepStrictEqual(lines([["a", 1], ["bcd", 22]]), ["name   n", "a      1", "bcd   22"])
    assert.deepStrictEqual(lines([["longer", 333], ["b", 4]]), ["longer  333", "b         4"])
  })

  it("pads by display width, not by length", () => {
    const { lines } = makeTable(columns)

    assert.deepStrictEqual(lines([["日本", 1], ["naïve", 2], ["🧑‍🍳", 3]]), [
      "name   n",
      "日本   1",
      "naïve  2",
      "🧑‍🍳     3"
    ])
  })

  it("cuts between characters, and escapes what controls a terminal", () => {
    assert.strictEqual(fit("abcdef", 6), "abcdef")
    assert.strictEqual(fit("abcdefg", 6), "abcde…")
    assert.strictEqual(fit("日本語日本語", 6), "日本…")
    assert.strictEqual(fit("🧑‍🍳🧑‍🍳🧑‍🍳🧑‍🍳", 5), "🧑‍🍳🧑‍🍳…")
    assert.strictEqual(fit("a\nb\u001b[0m", 40), "a\\u000ab\\u001b[0m")
  })
})

describe("a table in a terminal", () => {
  const wide = [
    { title: "id", align: "right" as const, cell: () => "17" },
    { title: "place", cell: () => "Main Street", short: () => "Main St", leaves: 2 },
    { title: "bar", cell: () => "████", leaves: 1 },
    { title: "text", cell: (text: string) => text, least: 8 }
  ]
  const linesAt = (width?: number, ...texts: ReadonlyArray<string>) => makeTable(wide, width).lines(texts)
  const text = "It has no clock-out."

  it("shortens its cells, then leaves columns out, then puts words below each other", () => {
    assert.deepStrictEqual(linesAt(undefined, text), [
      "id  place        bar   text",
      "17  Main Street  ████  It has no clock-out."
    ])
    assert.deepStrictEqual(linesAt(43, text), linesAt(undefined, text))
    assert.deepStrictEqual(linesAt(30, text), [
      "id  place    bar   text",
      "17  Main St  ████  It has no",
      "                   clock-out."
    ])
    assert.deepStrictEqual(linesAt(26, text), [
      "id  place    text",
      "17  Main St  It has no",
      "             clock-out."
    ])
    assert.deepStrictEqual(linesAt(14, text), ["id  text", "17  It has no", "    clock-out."])
    assert.deepStrictEqual(linesAt(3, "日本語日本語"), ["id  text", "17  日本語日", "    本語"])
  })

  it("keeps its columns for later rows, which may be wider", () => {
    const { lines } = makeTable(wide, 30)

    assert.deepStrictEqual(lines(["short"]), ["id  place        bar   text", "17  Main Street  ████  short"])
    assert.deepStrictEqual(lines([text]), [
      "17  Main Street  ████  It has",
      "                       no",
      "                       clock-ou",
      "                       t."
    ])
  })

  it.prop("is no wider than the terminal where that has space for what stays, and loses no word", [
    Schema.Array(Schema.Literals(["a", "bcd", "日本", "clocked", "2026-03-02"])).check(Schema.isMinLength(1)),
    Schema.Int.check(Schema.isBetween({ minimum: 12, maximum: 80 }))
  ], ([words, width]) => {
    const [, ...lines] = linesAt(width, words.join(" "))
    const texts = lines.map((line) => line.replace(/^17 *(Main St(reet)? *)?(████ *)?/, "").trim())

    for (const line of lines) assert.isAtMost(displayWidth(line), width)
    assert.strictEqual(texts.join("").replaceAll(" ", ""), words.join(""))
  })
})

describe("a bar", () => {
  it.prop("grows with its share, is empty only for 0, and never exceeds its cells", [
    Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 })),
    Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 }))
  ], ([a, b]) => {
    const [less, more] = a <= b ? [a, b] : [b, a]

    assert.isAtMost(bar(less, 24).length, bar(more, 24).length)
    assert.isAtMost(bar(more, 24).length, 24)
    assert.strictEqual(bar(more, 24) === "", more === 0)
  })

  it("is exact to the eighth of a cell", () => {
    assert.deepStrictEqual([bar(1, 2), bar(0.5, 2), bar(0.3125, 2), bar(0.01, 2)], ["██", "█", "▋", "▏"])
  })
})
