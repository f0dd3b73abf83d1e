import { assert, describe, it } from "@effect/vitest"
import { DateTime, Duration, Option } from "effect"
import { readSweepRange } from "../../../src/cli/copy/sync.ts"
import { windowOf } from "../../../src/cli/copy/sync.ts"
import { readInterval } from "../../../src/cli/flags/values.ts"

describe("an interval", () => {
  it.each([
    ["5s", 5_000],
    ["15m", 900_000],
    ["2h", 7_200_000],
    ["1d", 86_400_000],
    ["366d", 366 * 86_400_000]
  ])("of %s is %d ms", (text, millis) => {
    assert.deepStrictEqual(Option.map(readInterval(text), Duration.toMillis), Option.some(millis))
  })

  it.each(["", "0s", "15", "m", "-1m", "1.5h", "1 h", "1w", "1M", "500ms", "367d", "1e3s"])("is not %j", (text) => {
    assert.deepStrictEqual(readInterval(text), Option.none())
  })
})

describe("the window of a sweep", () => {
  const now = DateTime.makeUnsafe("2026-03-31T12:00:00Z")

  it("begins so long ago, and is open at its end", () => {
    const range = Option.getOrThrow(readSweepRange("35d"))

    assert.deepStrictEqual(windowOf(range, now), { gte: DateTime.makeUnsafe("2026-02-24T12:00:00Z") })
  })

  it("is everything for all", () => {
    assert.deepStrictEqual(windowOf("all", now), {})
  })

  it("is nothing else", () => {
    assert.deepStrictEqual(readSweepRange("everything"), Option.none())
  })
})
