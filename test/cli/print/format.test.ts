import { assert, describe, it } from "@effect/vitest"
import { Duration } from "effect"
import { counted, countedPunches, formatHours, formatMoney } from "../../../src/cli/print/format.ts"

describe("a count", () => {
  it("has grouped digits and the right number of its noun", () => {
    assert.deepStrictEqual(
      [counted(0, "page"), counted(1, "page"), counted(1234, "page"), countedPunches(1), countedPunches(2)],
      ["0 pages", "1 page", "1,234 pages", "1 punch", "2 punches"]
    )
  })
})

describe("a duration", () => {
  it("is written as hours and minutes, with the seconds if there are some", () => {
    assert.deepStrictEqual(
      [0, 59_000, 3_600_000, 61 * 60_000, 1234 * 3_600_000, 3_690_500, 61].map((millis) =>
        formatHours(Duration.millis(millis))
      ),
      ["0:00", "0:00:59", "1:00", "1:01", "1,234:00", "1:01:30.5", "0:00:00.061"]
    )
  })
})

describe("an amount of money", () => {
  it("is written in major units", () => {
    assert.deepStrictEqual([0, 5, -1250, 123_456_789].map(formatMoney), ["0.00", "0.05", "-12.50", "1,234,567.89"])
  })
})
