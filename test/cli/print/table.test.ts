import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { displayWidth } from "effect/cli/CliOutput"
import { coloured } from "../../../src/cli/print/colour.ts"
import { bar, type Column, fit, makeTable, piped } from "../../../src/cli/print/table.ts"

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
    { title: "place", cell: () => "Main Street", short: () => "Main St", dropOrder: 2 },
    { title: "bar", cell: () => "████", dropOrder: 1 },
    { title: "text", cell: (text: string) => text, minWidth: 8 }
  ]
  const linesAt = (width = Infinity, ...texts: ReadonlyArray<string>) =>
    makeTable(wide, { ...piped, width }).lines(texts)
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
    const { lines } = makeTable(wide, { ...piped, width: 30 })

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

describe("a table with colour", () => {
  interface Row {
    readonly name: string
    readonly net: string
  }
  const columns: ReadonlyArray<Column<Row>> = [
    { title: "name", cell: ({ name }) => name, minWidth: 8, warns: ({ net }) => net === "?" },
    { title: "net", align: "right", cell: ({ net }) => net, warns: ({ net }) => net === "?" }
  ]
  const rows = [
    { name: "Ada", net: "8:00" },
    { name: "-1", net: "-1:30" },
    { name: "Bob", net: "?" },
    { name: "日本", net: "-12,345.60" }
  ]
  // oxlint-disable-next-line no-control-regex
  const withoutCodes = (line: string) => line.replace(/\u001b\[\d+m/g, "")

  it("has bold titles, a red minus in a column of numbers, and yellow warnings", () => {
    assert.deepStrictEqual(makeTable(columns, { width: Infinity, styles: coloured }).lines(rows), [
      "\u001b[1mname         net\u001b[0m",
      "Ada         8:00",
      "-1         \u001b[31m-1:30\u001b[0m",
      "\u001b[33mBob\u001b[0m            \u001b[33m?\u001b[0m",
      "日本  \u001b[31m-12,345.60\u001b[0m"
    ])
  })

  it.prop("is without its codes the table without colour, and a cell neither ends nor begins a style", [
    Schema.Array(Schema.Struct({
      name: Schema.Literals(["Ada", "", "\u001b[0m\u001b[32mgreen", "\u009b31m", "a long name of many words", "東京"]),
      net: Schema.Literals(["8:00", "-0:30", "?", "-\u001b[0m5"])
    })),
    Schema.Int.check(Schema.isBetween({ minimum: 12, maximum: 60 }))
  ], ([rows, width]) => {
    const lines = makeTable(columns, { width, styles: coloured }).lines(rows)

    assert.deepStrictEqual(lines.map(withoutCodes), makeTable(columns, { ...piped, width }).lines(rows))
    for (const line of lines) {
      // oxlint-disable-next-line no-control-regex
      assert.match(
        line,
        /^(?:[^\u0000-\u001f\u007f-\u009f]|\u001b\[(?:1|31|33)m[^\u0000-\u001f\u007f-\u009f]+\u001b\[0m)*$/
      )
    }
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
