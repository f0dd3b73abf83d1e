/** Punches and envelopes in the form of the wire, with the changes of a test. */

export type Wire = Readonly<Record<string, unknown>>

/** A break with every key, and with changes. */
export const wireBreak = (changes: Wire = {}): Wire => ({
  id: 31,
  user_id: 7,
  custom_break_id: 2,
  paid: true,
  in: "2026-03-02T12:00:00+00:00",
  out: "2026-03-02T12:30:00+00:00",
  ...changes
})

/** A punch with every key of the interface, and with changes. */
export const wirePunch = (changes: Wire = {}): Wire => ({
  id: 1,
  shift_id: 5,
  user_id: 7,
  editable_punch: true,
  role_id: 3,
  company_id: 4021,
  location_id: 4,
  department_id: 6,
  hourly_wage: 1550,
  approved: true,
  clocked_in: "2026-03-02T08:00:00+00:00",
  clocked_out: "2026-03-02T16:30:00+00:00",
  notes: "",
  auto_clocked_out: false,
  clocked_in_offline: false,
  clocked_out_offline: false,
  tips: 250,
  pos_type: "web",
  breaks: [wireBreak()],
  created: "2026-03-02T08:00:01+00:00",
  modified: null,
  deleted: false,
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
