import { assert, describe, it } from "@effect/vitest"
import { expectedRows, forecastOf, instantAfterRows } from "../../src/backfill/window.ts"
import { prng } from "../../src/testing/base/prng.ts"

const start = Date.UTC(2026, 2, 1)

describe("a forecast", () => {
  it("cuts a range so that both sides expect the same number of rows", () => {
    for (let seed = 1; seed <= 200; seed++) {
      const { between } = prng(seed)
      const forecast = forecastOf(between(1, 5000), start - between(0, 1_000_000), start)
      const from = start + between(0, 100_000)
      const to = from + between(1, 1_000_000_000)
      const cut = instantAfterRows(forecast, from, expectedRows(forecast, from, to) / 2)

      assert.isTrue(cut > from && cut < to, `seed ${seed}`)
      assert.approximately(expectedRows(forecast, from, cut), expectedRows(forecast, cut, to), 1e-3, `seed ${seed}`)
    }
  })

  it.each([
    ["nothing for no time", 0, 0],
    ["the observed rate nearby", 10_000, 10],
    ["fewer rows per second farther off", 1_000_000, 1000 * Math.log(2)]
  ])("expects %s", (_, milliseconds, rows) => {
    const even = forecastOf(1000, start - 1_000_000, start)

    assert.approximately(expectedRows(even, start, start + milliseconds), rows, 0.1)
    assert.approximately(instantAfterRows(even, start, rows) - start, milliseconds, 100)
  })

  it("halves a gap of days within minutes of a rush", () => {
    const rush = forecastOf(200, start - 5, start)
    const half = instantAfterRows(rush, start, expectedRows(rush, start, start + 3 * 86_400_000) / 2)

    assert.isBelow(half, start + 10 * 60_000)
  })

  it("spreads rows on one instant over a second", () => {
    assert.deepStrictEqual(forecastOf(200, start, start), { rows: 200, at: start, span: 1000 })
  })
})
