/** Text of foreign origin on one line of a log. */
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { printable } from "../../../src/internal/wire/issue.ts"

describe("printable", () => {
  it.each([
    ["a plain text", "Over the limit, 時給 🧑‍🍳", "Over the limit, 時給 🧑‍🍳"],
    ["a line end", "one\r\ntwo", "one\\u000d\\u000atwo"],
    ["an escape sequence of a terminal", "\u001b[31mred", "\\u001b[31mred"],
    ["a C1 control character", "\u009b31m", "\\u009b31m"],
    ["a change of direction", "a\u202eb\u2066c", "a\\u202eb\\u2066c"],
    ["an Arabic letter mark", "a\u061cb", "a\\u061cb"],
    ["a line separator of Unicode", "a\u2028b", "a\\u2028b"]
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
})
