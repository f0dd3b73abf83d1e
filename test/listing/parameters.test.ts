import { assert, describe, it } from "@effect/vitest"
import { parameters, privateParameters, writeParameters } from "../../src/listing/parameters.ts"

describe("privateParameters", () => {
  it("has every parameter that says something of people or places, and the cursor", () => {
    assert.sameMembers([...privateParameters], [
      "cursor",
      "location_id",
      "department_id",
      "role_id",
      "user_id",
      "modified_since",
      "clocked_in[gte]",
      "clocked_in[lte]",
      "clocked_out[gte]",
      "clocked_out[lte]",
      "business_date_start",
      "business_date_end"
    ])
  })
})

describe("writeParameters", () => {
  it("writes nothing for no filter", () => {
    assert.isTrue(writeParameters({}).every(([, value]) => value === undefined))
  })

  it("names each parameter once", () => {
    const names = writeParameters({}).map(([name]) => name)

    assert.deepStrictEqual(names, Object.values(parameters).flatMap(({ wire }) => wire))
    assert.strictEqual(new Set(names).size, names.length)
  })
})
