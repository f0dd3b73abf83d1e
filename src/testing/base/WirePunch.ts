/** What the service sends for a punch (spec 2.1, 2.2), and what it knows about one without sending it. */

/**
 * A break as it stands on the wire (spec 2.2). `in` and `out` are ISO 8601 instants; `out` is null while the break is open.
 *
 * @since 0.1.0
 */
export interface WireBreak {
  readonly id: number
  readonly user_id: number
  readonly custom_break_id: number
  readonly paid: boolean
  readonly in: string
  readonly out: string | null
}

/**
 * A time punch as it stands on the wire (spec 2.1). Instants are ISO 8601 texts, `tips` are cents, and a key that may be
 * absent is optional here.
 *
 * @since 0.1.0
 */
export interface WirePunch {
  readonly id: number
  readonly shift_id: number
  readonly user_id: number
  readonly editable_punch: boolean
  readonly role_id: number
  readonly company_id: number
  readonly location_id: number
  readonly department_id?: number | null
  readonly hourly_wage: number
  readonly approved: boolean
  readonly clocked_in: string
  readonly clocked_out: string | null
  readonly notes: string
  readonly auto_clocked_out: boolean
  readonly clocked_in_offline: boolean
  readonly clocked_out_offline: boolean
  readonly tips: number
  readonly pos_type?: string | null
  readonly breaks?: ReadonlyArray<WireBreak>
  readonly created: string | null
  readonly modified: string | null
  readonly deleted?: boolean
}

/**
 * The flags that a listing can be filtered by (spec 3). The service sends none of them.
 *
 * @since 0.1.0
 */
export const punchFlags = ["late", "auto_clocked_out", "missed_break"] as const

/**
 * One of `punchFlags`.
 *
 * @since 0.1.0
 */
export type PunchFlag = typeof punchFlags[number]

/**
 * The states of an employee's own approval that a listing can be filtered by (spec 3). The service sends none of them.
 *
 * @since 0.1.0
 */
export const approvalStatuses = ["pending", "approved", "disputed"] as const

/**
 * One of `approvalStatuses`.
 *
 * @since 0.1.0
 */
export type ApprovalStatus = typeof approvalStatuses[number]

/**
 * A punch with what only the service knows: it decides what a filter matches and never leaves the service.
 *
 * @since 0.1.0
 */
export interface StoredPunch extends WirePunch {
  readonly employeeApprovalStatus: ApprovalStatus
  readonly flags: ReadonlyArray<PunchFlag>
  /** IANA name of the zone of the punch's location; `localize_search_time` reads it. */
  readonly timeZone: string
}

/**
 * The punch that a client gets to see: without what only the service knows.
 *
 * @since 0.1.0
 */
export const toWire = (punch: StoredPunch | WirePunch): WirePunch => {
  if (!("timeZone" in punch)) return punch
  const { employeeApprovalStatus: _status, flags: _flags, timeZone: _zone, ...wire } = punch
  return wire
}

/**
 * The punch that the service keeps. A bare wire punch is pending, in UTC, and flagged by what it says about itself.
 *
 * @since 0.1.0
 */
export const toStored = (punch: StoredPunch | WirePunch): StoredPunch =>
  "timeZone" in punch ? punch : {
    ...punch,
    employeeApprovalStatus: "pending",
    flags: punch.auto_clocked_out ? ["auto_clocked_out"] : [],
    timeZone: "UTC"
  }
