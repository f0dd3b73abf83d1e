import { assert, describe, it } from "@effect/vitest"
import { Option } from "effect"
import { readWhole, wholeNumber } from "../../../src/cli/flags/values.ts"

describe("readWhole", () => {
  it.each([
    ["0", 0],
    ["007", 7],
    ["9007199254740991", Number.MAX_SAFE_INTEGER]
  ])("reads %s", (text, expected) => {
    assert.deepStrictEqual(readWhole(text), Option.some(expected))
  })

  it.each(["", " 1", "1 ", "-1", "+1", "1.0", "1e3", "0x10", "١", "9007199254740992", "99999999999999999"])(
    "rejects %j",
    (text) => {
      assert.deepStrictEqual(readWhole(text), Option.none())
    }
  )

  it("rejects a number outside its bounds, which are inclusive", () => {
    const read = ["0", "1", "200", "201"].map((text) => Option.isSome(readWhole(text, 1, 200)))

    assert.deepStrictEqual(read, [false, true, true, false])
  })
})

describe("wholeNumber", () => {
  it("names its bounds", () => {
    assert.deepStrictEqual([wholeNumber(1, 200), wholeNumber(0)], [
      "a whole number from 1 to 200",
      "a whole number from 0 on"
    ])
  })
})
