import { assert, describe, it } from "@effect/vitest"
import { Option } from "effect"
import { idOf } from "../../../src/internal/wire/decoder.ts"

describe("idOf", () => {
  it.each([0, 1, 2 ** 53 - 1])("names the id %d", (id) => {
    assert.deepStrictEqual(idOf({ id }), Option.some(id))
  })

  it("names no id that JSON.parse rounded to the id of another row", () => {
    assert.deepStrictEqual(idOf(JSON.parse(`{"id":9007199254740993}`)), Option.none())
  })

  it.each([undefined, null, 7, "7", [], {}, { id: "7" }, { id: 1.5 }, { id: NaN }, { id: null }])(
    "names none in %j",
    (row) => {
      assert.deepStrictEqual(idOf(row), Option.none())
    }
  )
})
