/** The measured listings: all fields, breaks, notes, generated from a seed. */
import { toWire } from "../src/testing/index.ts"
import { generatePlain } from "../test/support/densities.ts"
import { pageSize, type Shape } from "./clients/page.ts"
import { companyId } from "./clients/raw.ts"

const ascii = (text: string) => text.replaceAll(/[^\x00-\x7f]/g, "e")

/** Bodies of a listing, page by page; the cursor of page `n` is `p<n>`. */
export const bodies = (pages: number, shape: Shape, size = pageSize): ReadonlyArray<string> => {
  const punches = generatePlain({
    seed: 7,
    count: pages * size,
    companyId,
    deletedShare: 0
  })
  return Array.from({ length: pages }, (_, page) => {
    const data = punches.slice(page * size, (page + 1) * size).map(toWire)
    const text = JSON.stringify({
      data,
      meta: {
        cursor: {
          current: page === 0 ? null : `p${page}`,
          prev: page === 0 ? null : `p${page - 1}`,
          next: page + 1 === pages ? null : `p${page + 1}`,
          count: data.length
        }
      },
      object: "time_punches"
    })
    return shape === "ascii" ? ascii(text) : text
  })
}
