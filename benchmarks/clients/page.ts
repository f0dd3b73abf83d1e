/** The page on which decoders are measured, in two shapes of text. */
import { generatePunches, toWire } from "../../src/testing/index.ts"
import type { Run } from "../sample.ts"
import { companyId } from "./raw.ts"

export const pageSize = 200

/** Whether a page is ASCII, or has notes in other scripts: the engine keeps the text of such a page in two bytes a character. */
export type Shape = "ascii" | "scripts"

export const shapes: ReadonlyArray<Shape> = ["ascii", "scripts"]

/** A note of 300 characters, as a manager might write it. */
const notes: Readonly<Record<Shape, string>> = {
  ascii: "Covered for a colleague who was called away; the manager agreed to it by phone. ".repeat(4).slice(0, 300),
  scripts: "החליפה עמית שנקרא הביתה; the manager agreed to it by phone. ".repeat(6).slice(0, 300)
}

/**
 * The page for measuring decoders: 142 kB, every field of every punch, a break in every second one and so five dates per
 * punch, notes in every second one.
 */
export const fullPage = (shape: Shape): string => {
  const [instant, minute] = [Date.UTC(2026, 0, 5, 8), 60_000]
  const at = (millis: number) => `${new Date(millis).toISOString().slice(0, 19)}+00:00`
  // A field that is not named below has the value of a generated punch.
  const [anyPunch] = generatePunches({ count: 1, companyId }).map(toWire)
  const data = Array.from({ length: pageSize }, (_, i) => {
    const start = instant + i * 137 * 1000
    const user = 1000 + (i * 7919) % 90_000
    return {
      ...anyPunch,
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
      notes: i % 2 === 0 ? "" : notes[shape],
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

/** A run decodes one page. */
export const decoding = (shape: string, decode: (text: string) => unknown): Run => {
  const text = fullPage(shape === "ascii" ? "ascii" : "scripts")
  return () => decode(text) === undefined ? 0 : pageSize
}
