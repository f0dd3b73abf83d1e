/** Text of foreign origin on one line of a log. */
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { printable } from "../../../src/internal/text/printable.ts"

describe("printable", () => {
  it.each([
    ["a plain text", "Over the limit, 時給 🧑‍🍳", "Over the limit, 時給 🧑‍🍳"],
    ["a line end", "one\r\ntwo", "one\\u000d\\u000atwo"],
    ["an escape sequence of a terminal", "\u001b[31mred", "\\u001b[31mred"],
    ["a C1 control character", "\u009b31m", "\\u009b31m"],
    ["a change of direction", "a\u202eb\u2066c", "a\\u202eb\\u2066c"],
    ["an Arabic letter mark", "a\u061cb", "a\\u061cb"],
    ["a line separator of Unicode", "a\u2028b", "a\\u2028b"],
    ["[row 18] a zero-width space", "Ann\u200ba", "Ann\\u200ba"],
    ["[row 18] a zero-width joiner", "Ann\u200da", "Ann\\u200da"],
    ["[row 18] a byte order mark", "\ufeffAnna", "\\ufeffAnna"],
    ["[row 18] a soft hyphen", "An\u00adna", "An\\u00adna"],
    ["[row 18] tags", "Anna\u{e0041}\u{e007f}", "Anna\\u{e0041}\\u{e007f}"],
    ["[row 18] a word joiner", "An\u2060na", "An\\u2060na"],
    ["[row 18] a filler of Hangul", "Anna\u3164", "Anna\\u3164"],
    ["[row 18] a variation selector behind a letter", "Anna\ufe0f", "Anna\\ufe0f"],
    [
      "a joiner that changes a letter",
      "\u0639\u0644\u06cc\u200c\u0631\u0636\u0627",
      "\u0639\u0644\u06cc\u200c\u0631\u0636\u0627"
    ],
    ["a variant of a sign", "\u2600\ufe0f \u845b\u{e0100}", "\u2600\ufe0f \u845b\u{e0100}"]
  ])("writes %s on one line", (_what, text, expected) => {
    assert.strictEqual(printable(text), expected)
  })

  it("keeps 500 characters and cuts the rest", () => {
    assert.strictEqual(printable("a".repeat(500)), "a".repeat(500))
    assert.strictEqual(printable("a".repeat(501)), `${"a".repeat(500)}…`)
  })

  it("does not cut a character in half", () => {
    assert.strictEqual(printable(`${"a".repeat(499)}🧑 and more`), `${"a".repeat(499)}…`)
  })

  it.prop("writes any text on one line without control characters", [Schema.String], ([text]) => {
    assert.notMatch(printable(text), /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/)
  })

  it.prop("[row 18] writes any text without a character that a person cannot see", [Schema.String], ([text]) => {
    const hidden = "\u200b\u2060\ufeff\u00ad\u{e0001}"

    assert.notMatch(
      printable(`${text.slice(0, 200)}${hidden}${text.slice(0, 200)}`),
      /[\u200b\u2060\ufeff\u00ad\u{e0000}-\u{e007f}]/u
    )
  })
})
