/** A punch as the service sends it, and what the service knows about it without sending it. */

/** A break in the form of the wire. */
export interface WireBreak {
  /** Id of the break. */
  readonly id: number
  /** Id of the user who took the break. */
  readonly user_id: number
  /** Id of the kind of break; 0 for none. */
  readonly custom_break_id: number
  /** Whether the break counts as paid time. */
  readonly paid: boolean
  /** Begin, an ISO 8601 instant. */
  readonly in: string
  /** End, an ISO 8601 instant; null while the break is open. */
  readonly out: string | null
  /** Whether the break is deleted; null or an absent key means false. */
  readonly deleted?: boolean | null
}

/** A time punch in the form of the wire. An optional key may be absent there. */
export interface WirePunch {
  /** Id of the punch, unique within its company. */
  readonly id: number
  /** Id of the shift; 0 for none. */
  readonly shift_id: number
  /** Id of the user who punched. */
  readonly user_id: number
  /** Whether a manager can edit the punch. */
  readonly editable_punch: boolean
  /** Id of the role that was worked. */
  readonly role_id: number
  /** Id of the company. */
  readonly company_id: number
  /** Id of the location. */
  readonly location_id: number
  /** Id of the department; null, 0 or an absent key for none. */
  readonly department_id?: number | null
  /** Hourly wage in cents. */
  readonly hourly_wage: number
  /** Whether a manager approved the punch. */
  readonly approved: boolean
  /** Clock-in, an ISO 8601 instant. */
  readonly clocked_in: string
  /** Clock-out, an ISO 8601 instant; null while the punch is open. */
  readonly clocked_out: string | null
  /** Free text; empty for none. */
  readonly notes: string
  /** Whether the service clocked the user out. */
  readonly auto_clocked_out: boolean
  /** Whether the clock-in was recorded offline. */
  readonly clocked_in_offline: boolean
  /** Whether the clock-out was recorded offline. */
  readonly clocked_out_offline: boolean
  /** Declared tips in cents; may be negative. */
  readonly tips: number
  /** Source of the punch, such as `web`; null or an absent key if it is unknown. */
  readonly pos_type?: string | null
  /** Breaks in this punch; an absent key means none. */
  readonly breaks?: ReadonlyArray<WireBreak>
  /** Creation, an ISO 8601 instant; null if it is unknown. */
  readonly created: string | null
  /** Last change, an ISO 8601 instant; null if it is unknown. */
  readonly modified: string | null
  /** Whether the punch is deleted; an absent key means false. */
  readonly deleted?: boolean
}

/** The usual values of the fields in which most punches are alike. */
export const plainPunch = {
  editable_punch: true,
  notes: "",
  auto_clocked_out: false,
  clocked_in_offline: false,
  clocked_out_offline: false,
  tips: 0,
  deleted: false
} as const satisfies Partial<WirePunch>

/** The flags that a listing can be filtered by. The service does not send them. */
export const punchFlags = ["late", "auto_clocked_out", "missed_break"] as const

/** One of `punchFlags`: the fake's own reading of the spec, which `PunchFlag` of the client must agree with. */
export type WireFlag = typeof punchFlags[number]

/** The employee's own approval states that a listing can be filtered by. The service does not send them. */
export const approvalStatuses = ["pending", "approved", "disputed"] as const

/** One of `approvalStatuses`. */
export type ApprovalStatus = typeof approvalStatuses[number]

/** A punch with what only the service knows: filters read it, and no response contains it. */
export interface StoredPunch extends WirePunch {
  /** The employee's own approval; `employee_approval_statuses` filters by it. */
  readonly employeeApprovalStatus: ApprovalStatus
  /** Flags of the punch; `flags` filters by them. */
  readonly flags: ReadonlyArray<WireFlag>
  /** IANA time zone of the location; `localize_search_time` reads it. */
  readonly timeZone: string
}

/** The punch as a client receives it, without what only the service knows. */
export const toWire = (punch: StoredPunch | WirePunch): WirePunch => {
  if (!("timeZone" in punch)) return punch
  const { employeeApprovalStatus: _status, flags: _flags, timeZone: _zone, ...wire } = punch
  return wire
}

/**
 * The punch as the service stores it. A bare wire punch becomes pending and UTC; its only possible flag is
 * `auto_clocked_out`, taken from the field of that name.
 */
export const toStored = (punch: StoredPunch | WirePunch): StoredPunch =>
  "timeZone" in punch ? punch : {
    ...punch,
    employeeApprovalStatus: "pending",
    flags: punch.auto_clocked_out ? ["auto_clocked_out"] : [],
    timeZone: "UTC"
  }
