/** The charts of a report as golden drawings, and with names that try to break out of them. */
import { assert, describe, expect, it } from "@effect/vitest"
import * as Charts from "../../src/report/charts.ts"

const wide = { label: "A chart", width: 900 }
const narrow = { label: "A chart", width: 343 }

/** Markup, quotation marks, a change of direction, controls, the rich text of a chart, a long word. */
const hostile = [
  "<script>alert(1)</script>",
  "\"><img src=x onerror=\"alert(1)\">",
  "]]></style><svg onload='alert(1)'>",
  "\u202egnp.exe\u202c",
  "a\u0000b\u001b[31m\nc\u2028d",
  "{a|red} {b} {c}",
  "W".repeat(500),
  "山田 花子 山田 花子 山田 花子 山田 花子 山田 花子"
]

const week = ["03-02", "03-03", "03-04", "03-05", "03-06", "03-07", "03-08"]

const people = ["Mon", "Tue"].map((_, day) =>
  Array.from({ length: 24 }, (_, hour) => hour < 6 ? 0 : (hour * (day + 1)) % 13)
)

const drawings = {
  "hours-by-day": Charts.hoursByDay(week, [
    { colour: Charts.colours.of(0), values: [8, 8, 7.5, 8, 9, 0, 0] },
    { colour: Charts.colours.of(1), values: [4, 0, 4, 0, 4, 12, 6] }
  ], wide),
  "cost-by-location": Charts.costByLocation(["Harbour", "Market"], [123_456, 9_900], narrow),
  "hours-by-person": Charts.hoursByPerson(["▲ Ana", "Ben"], [
    { colour: Charts.colours.accent, values: [40, 32.5] },
    { colour: Charts.colours.over, values: [2.25, 0] }
  ], wide),
  "people-on-the-clock": Charts.heatMap(["Mon", "Tue"], people, narrow)
}

describe("the charts of a report", () => {
  it.each(Object.entries(drawings))("draw %s as before", async (name, drawing) => {
    await expect(`${drawing.html}\n`).toMatchFileSnapshot(`${name}.svg`)
  })

  it.each([
    ...Object.entries(drawings),
    ...hostile.map((name) =>
      [name, Charts.hoursByPerson([name], [{ colour: Charts.colours.accent, values: [1] }], narrow)] as const
    )
  ])(
    "have only shapes and texts, and attributes without a style or an address: %s",
    (_, { html }) => {
      const tags = html.match(/<[^>]*>/g) ?? []

      assert.strictEqual(html.split("<").length - 1, tags.length)
      for (const tag of tags) {
        assert.match(
          tag,
          /^<(?:\/?svg|\/?g|\/?path|\/?rect|\/?text|\/?title)(?: (?:viewBox|role|aria-label|d|x|y|width|height|fill|fill-opacity|stroke|stroke-linecap|transform|text-anchor|dominant-baseline|font-size|xml:space|opacity)="[^"<>]*")*>$/
        )
      }
    }
  )

  it("show hostile names as text", () => {
    const { html } = Charts.costByLocation(hostile, hostile.map(() => 1), wide)

    assert.notMatch(html, /<script|<img|onerror="|[\0\u001b\u2028\u202c\u202e]/)
    assert.include(html, ">&lt;script&gt;alert(1)")
    assert.include(html, ">\\u202egnp.exe\\u202c</text>")
    assert.include(html, ">a\\u0000b\\u001b[31m\\u000a")
    assert.include(html, ">{a|red} {b} {c}</text>")
  })

  it("cut a long name before its id, and have it whole as the title of its bar", () => {
    const name = `${"A location with a long name ".repeat(4)}(4711)`
    const { html } = Charts.costByLocation([name, "Market (7)"], [1, 2], narrow)

    assert.match(html, />A loc[^<]*… \(4711\)<\/text>/)
    assert.include(html, `<title>${name}</title>`)
    assert.include(html, ">Market (7)</text>")
  })

  it("have round steps that enclose the longest day, and the line of 0", () => {
    const { html } = Charts.hoursByDay(["03-02", "03-03"], [{ colour: "var(--series-1)", values: [317.25, 12] }], wide)

    assert.deepStrictEqual(html.match(/>\d+ h</g), [">0 h<", ">100 h<", ">200 h<", ">300 h<", ">400 h<"])
  })

  it("have colours of the stylesheet alone, so that one drawing is right in light and in dark", () => {
    const colours = Object.values(drawings).flatMap(({ html }) => html.match(/ (?:fill|stroke)="[^"]*"/g) ?? [])

    for (const colour of colours) assert.match(colour, /="(?:none|var\(--[\w-]+\))"$/)
  })

  it("draw the same twice", () => {
    const draw = () => Charts.costByLocation(["a"], [1], wide).html

    assert.strictEqual(draw(), draw())
  })
})
