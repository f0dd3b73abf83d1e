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
    assert.strictEqual(hintOf("WyJuIiwz"), "To resume from there, add --from='WyJuIiwz'")
  })

  it.prop("quotes a cursor as one word of a shell", [
    Schema.String.check(Schema.isPattern(/^[\x20-\x7e]{1,20}$/))
  ], ([cursor]) => {
    const flag = hintOf(cursor).replace(/^.*?(?=--from=)/, "")
    const printed = ChildProcess.execFileSync("sh", ["-c", `printf %s ${flag}`], { encoding: "utf8" })

    assert.strictEqual(printed, `--from=${cursor}`)
  })
})
