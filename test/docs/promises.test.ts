/** The recipe for punches as JSON writes what the service would. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { lines, toJson } from "../../docs/examples/promises.ts"
import { TimePunch } from "../../src/index.ts"
import { punch, punchBreak } from "../../src/testing/TestClient.ts"

const open = punch({ clockedOut: null, departmentId: null, breaks: [punchBreak({ out: null })] })

describe("docs/examples/promises.ts", () => {
  it("writes plain values that read back as the same punch", () => {
    const text = JSON.stringify(toJson(open))

    assert.notInclude(text, "\"_id\"")
    assert.include(text, "\"clocked_out\":null")
    assert.deepStrictEqual(Schema.decodeUnknownSync(TimePunch.Wire)(JSON.parse(text)), open)
  })

  it.live("writes a line for each punch", () =>
    Effect.gen(function*() {
      const punches = async function*() {
        yield open
        yield punch()
      }
      const written: Array<string> = []
      yield* Effect.promise(async () => {
        for await (const line of lines(punches())) written.push(line)
      })

      assert.lengthOf(written, 2)
      assert.isTrue(written.every((line) => line.endsWith("}\n")))
    }))
})
