import { assert, describe, it } from "@effect/vitest"
import { Option, Schema } from "effect"
import { CloseNumber, RevisionName } from "../../src/close/index.ts"

const Number9 = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 999_999_999 }))

describe("RevisionName", () => {
  it.prop("reads what it writes", [Number9, Number9], ([given, number]) => {
    const close = CloseNumber.make(given)
    assert.deepStrictEqual(
      RevisionName.parse(RevisionName.print({ close, number })),
      Option.some({ close, number: Option.some(number) })
    )
    assert.deepStrictEqual(RevisionName.parse(`${close}`), Option.some({ close, number: Option.none() }))
  })

  it("refuses what names no revision", () => {
    for (const text of ["", "0", "7.0", "07.1", "7.", ".2", "7.2.1", "7,2", " 7.2", "-7", "1234567890"]) {
      assert.deepStrictEqual(RevisionName.parse(text), Option.none(), text)
    }
  })

  it("follows the last revision of its close", () => {
    assert.strictEqual(RevisionName.print(RevisionName.next(CloseNumber.make(7), 0)), "7.1")
    assert.strictEqual(RevisionName.print(RevisionName.next(CloseNumber.make(7), 2)), "7.3")
  })
})
