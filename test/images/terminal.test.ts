/** The drawing of a terminal: columns, colours, wide characters, and transcripts that try to break out of it. */
import { assert, describe, expect, it } from "@effect/vitest"
import { drawTerminal } from "./terminal.ts"

/** The texts of a drawing with their column and their attributes but the width. */
const texts = (svg: string) =>
  [...svg.matchAll(/<text x="(\d+)" y="(\d+)" textLength="(\d+)"([^>]*) xml:space="preserve">([^<]*)<\/text>/g)].map(
    (
      [, x, y, length, look = "", text]
    ) => [(Number(x) - 16) / 8, (Number(y) - 54) / 19, Number(length) / 8, look.trim(), text]
  )

const draw = (transcript: string, columns = 40) => texts(drawTerminal("A terminal", transcript, columns))

describe("the picture of a terminal", () => {
  it("is drawn as before", async () => {
    const transcript =
      "\u001b[1m$ time-punches list\u001b[0m\r\n\u001b[31mred\u001b[0m plain \u001b[38;5;208morange\u001b[0m\r\n" +
      "\u001b[7minverse\u001b[27m \u001b[4;2mdim\u001b[0m <&> \u001b[48;2;1;2;3mground\u001b[m\r\n▊ 山田"

    await expect(drawTerminal("A terminal", transcript, 40)).toMatchFileSnapshot("terminal.svg")
  })

  it.each([
    ["bold, and an end of it", "\u001b[1ma\u001b[22mb", [[0, 0, 1, `font-weight="700"`, "a"], [1, 0, 1, "", "b"]]],
    ["a colour of the terminal", "\u001b[32mok", [[0, 0, 2, `class="c2"`, "ok"]]],
    ["a bright one, and the end of it", "\u001b[94ma\u001b[39mb", [[0, 0, 1, `class="c12"`, "a"], [1, 0, 1, "", "b"]]],
    ["one of 256", "\u001b[38;5;196ma\u001b[0;38;5;244mb", [
      [0, 0, 1, `fill="#ff0000"`, "a"],
      [1, 0, 1, `fill="#808080"`, "b"]
    ]],
    ["one of all, with more codes behind it", "\u001b[38;2;10;20;30;1ma", [[
      0,
      0,
      1,
      `fill="#0a141e" font-weight="700"`,
      "a"
    ]]],
    ["a reset without a number", "\u001b[1ma\u001b[mb", [[0, 0, 1, `font-weight="700"`, "a"], [1, 0, 1, "", "b"]]],
    ["a line that is written over", "12 pages\r\u001b[2Kdone\r\n", [[0, 0, 4, "", "done"]]],
    ["a full line", "abcde", [[0, 0, 3, "", "abc"], [0, 1, 2, "", "de"]]],
    ["wide characters", "山a", [[0, 0, 3, "", "山a"]]],
    ["other sequences, which are left out", "\u001b]0;title\u0007\u001b[?25la\u001b[5Cb", [[0, 0, 2, "", "ab"]]]
  ])("shows %s", (_, transcript, expected) => {
    assert.deepStrictEqual(draw(transcript, 3 + (transcript.length > 5 ? 20 : 0)), expected)
  })

  it("draws a bar as one shape, in which no font leaves a gap, and the text around it in its columns", () => {
    const svg = drawTerminal("A terminal", "a  ███▌ b\r\n\u001b[32m██\u001b[0m ▏", 40)
    const bars = [...svg.matchAll(/<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="15" ([^/]*)\/>/g)].map(
      ([, x, y, width, look]) => [(Number(x) - 16) / 8, (Number(y) - 42) / 19, Number(width) / 8, look]
    )

    assert.deepStrictEqual(bars, [
      [3, 0, 3.5, `class="text"`],
      [0, 1, 2, `class="c2"`],
      [3, 1, 0.125, `class="text"`]
    ])
    assert.deepStrictEqual(texts(svg), [[0, 0, 9, "", "a       b"]])
  })

  it("shows markup as text, and nothing that XML cannot have", () => {
    const svg = drawTerminal("\"><script>", "</text></svg><script>alert(1)</script>\u0000\u0008\ufffe&", 80)

    assert.notMatch(svg, /<script|[\u0000\u0008\ufffe]/)
    assert.deepStrictEqual(texts(svg).map(([, , , , text]) => text), [
      "&lt;/text&gt;&lt;/svg&gt;&lt;script&gt;alert(1)&lt;/script&gt;&amp;"
    ])
    assert.include(svg, `aria-label="&quot;&gt;&lt;script&gt;"`)
  })
})
