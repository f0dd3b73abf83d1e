import { assert, describe, it } from "@effect/vitest"
import { Duration, Schema } from "effect"
import { bar, fit, hours, makeTable, money } from "../../../src/cli/terminal/table.ts"

const columns = [
  { title: "name", cell: ([name]: readonly [string, number]) => name, most: 6 },
  { title: "n", align: "right" as const, cell: ([, n]: readonly [string, number]) => `${n}` }
]

describe("a table", () => {
  it("stands in columns, and its columns grow with what comes", () => {
    const { lines } = makeTable(columns)

    assert.deepStrictEqual(lines([["a", 1], ["bcd", 22]]), ["name   n", "a      1", "bcd   22"])
    assert.deepStrictEqual(lines([["longer", 333], ["b", 4]]), ["longer  333", "b         4"])
  })

  it("pads by what is seen, not by how it is written", () => {
    const { lines } = makeTable(columns)

    assert.deepStrictEqual(lines([["日本", 1], ["naïve", 2], ["🧑‍🍳", 3]]), [
      "name   n",
      "日本   1",
      "naïve  2",
      "🧑‍🍳     3"
    ])
  })

  it("cuts between characters and escapes what would steer a terminal", () => {
    assert.strictEqual(fit("abcdef", 6), "abcdef")
    assert.strictEqual(fit("abcdefg", 6), "abcde…")
    assert.strictEqual(fit("日本語日本語", 6), "日本…")
    assert.strictEqual(fit("🧑‍🍳🧑‍🍳🧑‍🍳🧑‍🍳", 5), "🧑‍🍳🧑‍🍳…")
    assert.strictEqual(fit("a\nb\u001b[0m", 40), "a\\u000ab\\u001b[0m")
  })
})

describe("a bar", () => {
  it.prop("grows with its share, is seen where there is something, and never too long", [
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

describe("amounts", () => {
  it("are written as hours and minutes, and as major units", () => {
    assert.deepStrictEqual(
      [hours(Duration.seconds(59)), hours(Duration.minutes(61)), hours(Duration.hours(1234))],
      ["0:00", "1:01", "1,234:00"]
    )
    assert.deepStrictEqual([money(0), money(5), money(-1250), money(123_456_789)], [
      "0.00",
      "0.05",
      "-12.50",
      "1,234,567.89"
    ])
  })
})
