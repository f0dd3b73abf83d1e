import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { wholeNumber } from "../../../src/internal/setting/setting.ts"
import { untyped } from "../../support/untyped.ts"

describe("wholeNumber", () => {
  it.each([1, 2, 64])("accepts %d from 1 to 64", (value) => {
    assert.deepStrictEqual(wholeNumber(value, 1, 64), Result.succeed(value))
  })

  it.each([0, -1, 65, 1.5, NaN, Infinity, -Infinity, "2", null])("refuses %j from 1 to 64", (value) => {
    assert.deepStrictEqual(wholeNumber(untyped(value), 1, 64), Result.fail("a whole number from 1 to 64"))
  })

  it("has no upper bound unless given", () => {
    assert.isTrue(Result.isSuccess(wholeNumber(2 ** 60, 1)))
    assert.deepStrictEqual(wholeNumber(0, 1), Result.fail("a whole number from 1 on"))
    assert.isTrue(Result.isFailure(wholeNumber(Infinity, 1)))
  })
})
