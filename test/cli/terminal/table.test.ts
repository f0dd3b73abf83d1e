import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
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
