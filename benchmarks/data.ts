/** The pages that are measured: 200 punches each, all 22 fields, breaks, made from a seed. */
import { generatePunches, toWire } from "../src/testing/index.ts"

export const companyId = 4021
export const pageSize = 200

/** Bodies of a listing, page by page; the cursor of page `n` is `p<n>`. */
export const bodies = (pages: number): ReadonlyArray<string> => {
  const punches = generatePunches({
    seed: 7,
    count: pages * pageSize,
    companyId,
    timestampForms: false,
    deletedShare: 0
  })
  return Array.from({ length: pages }, (_, page) => {
    const data = punches.slice(page * pageSize, (page + 1) * pageSize).map(toWire)
    return JSON.stringify({
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
  })
}

export const emptyBodies = (pages: number): ReadonlyArray<string> =>
  bodies(1).flatMap(() =>
    Array.from({ length: pages }, (_, page) =>
      JSON.stringify({
        data: [],
        meta: { cursor: { current: null, prev: null, next: page + 1 === pages ? null : `p${page + 1}`, count: 0 } },
        object: "time_punches"
      }))
  )
