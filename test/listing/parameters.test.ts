import { assert, describe, it } from "@effect/vitest"
import { parameters, privateParameters, writeParameters } from "../../src/listing/parameters.ts"

describe("privateParameters", () => {
  it("has the cursor and every parameter but those that say nothing of people or places", () => {
    const shown = Object.values(parameters).flatMap(({ wire }) => wire).filter((name) =>
      !privateParameters.includes(name)
    )

    assert.include(privateParameters, "cursor")
    assert.sameMembers(shown, [
      "approved",
      "deleted",
      "localize_search_time",
      "flags",
      "employee_approval_statuses",
      "sort_by"
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
