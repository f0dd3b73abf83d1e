import { assert, describe, it } from "@effect/vitest"
import { Option } from "effect"
import { readWhole, wholeNumber } from "../../../src/cli/flags/values.ts"
import { readZone } from "../../../src/cli/flags/zones.ts"

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

describe("readZone", () => {
  it("reads names and the offsets of the world, and no other", () => {
    const texts = [
      "Europe/Berlin",
      "UTC",
      "-12:00",
      "+05:45",
      "+14:00",
      "-12:30",
      "+14:01",
      "+24:00",
      "+01:75",
      "local",
      ""
    ]
    const read = texts.filter((text) => Option.isSome(readZone(text)))

    assert.deepStrictEqual(read, ["Europe/Berlin", "UTC", "-12:00", "+05:45", "+14:00"])
  })
})

describe("wholeNumber", () => {
  it("names its bounds", () => {
    assert.deepStrictEqual([wholeNumber(1, 200), wholeNumber(0)], [
      "a whole number from 1 to 200",
      "a whole number from 0 to 9007199254740991"
    ])
  })
})
