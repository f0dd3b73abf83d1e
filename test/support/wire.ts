/** Punches and envelopes in the form of the wire, with the changes of a test. */
import { plainPunch } from "../../src/testing/base/WirePunch.ts"
import { defaultCompany, type WirePunch } from "../../src/testing/index.ts"
import { sampleBreak, samplePair } from "./punchPair.ts"

export type Wire = Readonly<Record<string, unknown>>

/** A break with every key, and with changes. */
export const wireBreak = (changes: Wire = {}): Wire => ({ ...sampleBreak, ...changes })

/** A punch with every key of the interface, and with changes. */
export const wirePunch = (changes: Wire = {}): Wire => ({ ...samplePair.wire, ...changes })

/** A closed, approved punch of eight hours for the fake service, with changes. */
export const servicePunch = (changes: Partial<WirePunch> = {}): WirePunch => ({
  ...plainPunch,
  id: 1,
  company_id: defaultCompany.id,
  user_id: 1,
  role_id: 11,
  location_id: 301,
  department_id: null,
  shift_id: 0,
  clocked_in: "2026-03-02T08:00:00Z",
  clocked_out: "2026-03-02T16:00:00Z",
  hourly_wage: 1000,
  approved: true,
  pos_type: "web",
  breaks: [],
  created: "2026-03-02T08:00:00Z",
  modified: "2026-03-02T16:00:00Z",
  ...changes
})

/** A record without some of its keys. */
export const without = (record: Wire, ...keys: ReadonlyArray<string>): Wire =>
  Object.fromEntries(Object.entries(record).filter(([key]) => !keys.includes(key)))

/** An envelope of these rows; `cursor` replaces members of the cursor of a single page. */
export const wirePage = (rows: ReadonlyArray<unknown>, cursor: Wire = {}): Wire => ({
  object: "time_punches",
  data: rows,
  meta: { cursor: { current: null, prev: null, next: null, count: rows.length, ...cursor } }
})
