import { assert, describe, it } from "@effect/vitest"
import { Option, Schema } from "effect"
import * as ChildProcess from "node:child_process"
import { resumeHint } from "../../../src/cli/flags/paging.ts"
import { Cursor } from "../../../src/index.ts"

const hintOf = (cursor: string) => resumeHint(Option.some(Cursor.make(cursor))).join("\n")

describe("resumeHint", () => {
  it("is empty without a cursor", () => {
    assert.deepStrictEqual(resumeHint(Option.none()), [])
  })

  it("names the flag that resumes at a cursor", () => {
    assert.strictEqual(hintOf("WyJuIiwz"), "To resume from there, add --cursor='WyJuIiwz'")
  })

  it.each([
    ["a\u001b[2J", "$'a\\x1b[2J'"],
    ["'; touch p \n", "$'\\x27; touch p \\x0a'"],
    ["\\ and !\u0007", "$'\\x5c and \\x21\\x07'"],
    ["\u009b\u202e\u061c", "$'\\xc2\\x9b\\xe2\\x80\\xae\\xd8\\x9c'"],
    ["時給\u00a0", "$'時給\\xc2\\xa0'"],
    ["it's 時給", "'it'\\''s 時給'"]
  ])("escapes what a terminal does not show: %j as %s", (cursor, word) => {
    assert.strictEqual(hintOf(cursor), `To resume from there, add --cursor=${word}`)
  })

  it("has no word for a cursor with a NUL, at which an argument ends", () => {
    assert.strictEqual(
      hintOf("a\u0000b"),
      "It cannot be resumed from there: the cursor contains a NUL, which no argument can."
    )
  })

  const troubles = [
    ..."\u0001\u0007\t\n\r\u001b\u007f\u0085\u009b\u061c\u200b\u200e\u202e\u2028\u2066\ufeff\u{e0001}",
    ..."a1fA0 '\"\\$`!;&|<>(){}*?~#é時🧑"
  ]

  it.prop("gives bash every cursor byte for byte, in any locale", [
    Schema.Array(Schema.Literals(troubles)).check(Schema.isMinLength(1)),
    Schema.Literals(["C", "C.UTF-8"])
  ], ([characters, locale]) => {
    const cursor = characters.join("")
    const word = hintOf(cursor).replace(/^.*?(?=--cursor=)/, "")
    const bytes = ChildProcess.execFileSync("bash", ["--norc", "-c", `printf %s ${word}`], { env: { LC_ALL: locale } })

    assert.notMatch(word, /[\p{C}\p{Zl}\p{Zp}]/u)
    assert.strictEqual(bytes.toString("utf8"), `--cursor=${cursor}`)
  }, { arbitrary: { runs: 150, seed: 1 } })

  it.prop("quotes a cursor as one word of a shell", [
    Schema.String.check(Schema.isPattern(/^[\x20-\x7e]{1,20}$/))
  ], ([cursor]) => {
    const flag = hintOf(cursor).replace(/^.*?(?=--cursor=)/, "")
    const printed = ChildProcess.execFileSync("sh", ["-c", `printf %s ${flag}`], { encoding: "utf8" })

    assert.strictEqual(printed, `--cursor=${cursor}`)
  })
})
