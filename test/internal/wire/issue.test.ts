/** The first issue of a schema error, without the value. */
import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { firstIssue } from "../../../src/internal/wire/issue.ts"

const decode = Schema.decodeUnknownResult(Schema.Struct({
  data: Schema.Array(Schema.Struct({ id: Schema.Int, name: Schema.String }))
}))

const issueOf = (value: unknown) => firstIssue(Result.getOrThrow(Result.flip(decode(value))))

describe("firstIssue", () => {
  it.each([
    ["the value itself", null, "", []],
    ["a missing field", {}, "data", ["data"]],
    ["an element", { data: [{ id: 1, name: "a" }, 7] }, "data[1]", ["data", 1]],
    ["a field of an element", { data: [{ id: 1.5, name: "a" }] }, "data[0].id", ["data", 0, "id"]]
  ])("gives the path of %s", (_what, value, path, at) => {
    const issue = issueOf(value)

    assert.deepStrictEqual({ path: issue.path, at: issue.at }, { path, at })
    assert.notStrictEqual(issue.detail, "")
  })

  it("does not show the value", () => {
    assert.notInclude(JSON.stringify(issueOf({ data: [{ id: "canary", name: "a" }] })), "canary")
  })
})
