/** The measured pages: 200 punches each, all 22 fields, breaks, generated from a seed. */
import { generatePunches, toWire } from "../src/testing/index.ts"
import { companyId } from "./floor.ts"

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

/** A note of 300 characters, as a manager might write it. */
const note = "Covered for a colleague who was called away; the manager agreed to it by phone. ".repeat(4).slice(0, 300)

/**
 * The page for measuring decoders: 142 kB, every field of every punch, a break in every second one and so five dates per
 * punch, notes in every second one.
 */
export const fullPage = (): string => {
  const [instant, minute] = [Date.UTC(2026, 0, 5, 8), 60_000]
  const at = (millis: number) => `${new Date(millis).toISOString().slice(0, 19)}+00:00`
  const data = Array.from({ length: pageSize }, (_, i) => {
    const start = instant + i * 137 * 1000
    const user = 1000 + (i * 7919) % 90_000
    return {
      id: 1_234_567 + i * 3,
      shift_id: i % 5 === 0 ? 0 : 1_000_000 + i * 911,
      user_id: user,
      editable_punch: i % 10 !== 0,
      role_id: 1000 + i,
      company_id: companyId,
      location_id: 100 + i % 9,
      department_id: i % 3 === 0 ? null : 100 + i % 40,
      hourly_wage: 1200 + i * 7,
      approved: i % 2 === 0,
      clocked_in: at(start),
      clocked_out: i % 50 === 0 ? null : at(start + 480 * minute),
      notes: i % 2 === 0 ? "" : note,
      auto_clocked_out: false,
      clocked_in_offline: false,
      clocked_out_offline: false,
      tips: (i * 37) % 9000,
      pos_type: "web",
      breaks: i % 2 === 0
        ? [{
          id: 9_000_000 + i,
          user_id: user,
          custom_break_id: 1 + i % 9,
          paid: i % 4 === 0,
          in: at(start + 180 * minute),
          out: at(start + 210 * minute)
        }]
        : [],
      created: at(start),
      modified: at(start + 540 * minute),
      deleted: false
    }
  })
  return JSON.stringify({
    object: "time_punches",
    data,
    meta: { cursor: { current: null, prev: null, next: "bmV4dC1wYWdlLW9mLXRoZS1saXN0aW5n", count: data.length } }
  })
}
