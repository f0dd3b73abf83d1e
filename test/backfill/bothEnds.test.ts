import { assert, describe, it } from "@effect/vitest"
import { bothEndsOf, instantBetween, rowsBetween } from "../../src/backfill/bothEnds.ts"
import { prng } from "../../src/testing/base/prng.ts"

const start = Date.UTC(2026, 2, 1)
const month = 30 * 86_400_000

/** The rows of 53 pages at `at(share)` of a month, and what their first and last page show. */
const pagesOf = (at: (share: number) => number) => {
  const rows = Array.from({ length: 53 * 200 }, (_, index) => start + Math.round(at(index / (53 * 200 - 1)) * month))
  const ends = bothEndsOf(rows.slice(0, 200), rows.slice(-200)) ?? assert.fail("nothing lies between the ends")
  return { rows: rows.slice(200, -200), ends }
}

describe("both ends of a range", () => {
  it.each<[string, (share: number) => number]>([
    ["even", (share) => share],
    ["dense at its end", (share) => 1 - (1 - share) ** 3],
    ["dense at its start", (share) => share ** 3],
    ["denser at its end", (share) => 1 - (1 - share) ** 6],
    ["denser at its start", (share) => share ** 6]
  ])("cut a range that is %s into eight parts, none with more than a fifth of the rows", (_, at) => {
    const { ends, rows } = pagesOf(at)
    const all = rowsBetween(ends, ends.from, ends.to)
    const cuts = [1, 2, 3, 4, 5, 6, 7].map((part) => instantBetween(ends, ends.from, ends.to, all * part / 8))
    const borders = [ends.from, ...cuts, ends.to]
    const parts = cuts.concat(ends.to).map((to, index) =>
      rows.filter((row) => row >= (borders[index] ?? 0) && row < to).length
    )

    assert.isAtMost(Math.max(...parts), rows.length / 5)
    assert.isAtLeast(Math.min(...parts), rows.length / 20)
  })

  it("expect as many rows before a cut as the caller wants", () => {
    for (let seed = 1; seed <= 200; seed++) {
      const { between, next } = prng(seed)
      const pages = [between(1, 200), between(1, 200)].map((rows, index) => {
        const span = between(0, 10) === 0 ? 0 : between(0, 1_000_000)
        return Array.from({ length: rows }, () => start + index * month + Math.floor(next() * span))
          .toSorted((a, b) => a - b)
      })
      const ends = bothEndsOf(pages[0] ?? [], pages[1] ?? []) ?? assert.fail("nothing lies between the ends")
      const from = ends.from + between(0, 1000)
      const all = rowsBetween(ends, from, ends.to)
      const cut = instantBetween(ends, from, ends.to, all / 3)

      assert.isTrue(all > 0 && cut > from && cut < ends.to, `seed ${seed}`)
      assert.approximately(rowsBetween(ends, from, cut), all / 3, all / 1e6, `seed ${seed}`)
    }
  })

  it.each([
    ["an empty first page", [], [start]],
    ["an empty last page", [start], []],
    ["pages that overlap", [start, start + 2000], [start + 1000]],
    ["pages that touch", [start], [start, start + 1000]]
  ])("are not known of %s", (_, first, last) => {
    assert.isUndefined(bothEndsOf(first, last))
  })

  it("expect the rate of even ends between them", () => {
    const page = (from: number) => Array.from({ length: 100 }, (_, index) => start + from + index * 1000)
    const ends = bothEndsOf(page(0), page(1_000_000)) ?? assert.fail("nothing lies between the ends")

    assert.approximately(rowsBetween(ends, ends.from, ends.from + 100_000), 101, 1)
  })
})
