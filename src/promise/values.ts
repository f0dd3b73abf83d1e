/** What a caller without Effect passes and reads: numbers, texts, `Date`s, and `undefined` in place of `None`. */

/** A break taken during a punch. */
export interface Break {
  /** Identifies the break. */
  readonly id: number
  /** The user who took the break: the user of the punch. */
  readonly userId: number
  /** The type of break, as the company defines it; 0 is a value that services send. */
  readonly customBreakId: number
  /** Whether the break counts as paid time. */
  readonly paid: boolean
  /** Start of the break. */
  readonly in: Date
  /** End of the break; `undefined` while the break is open. */
  readonly out: Date | undefined
  /** Whether the break was deleted: it counts nowhere. */
  readonly deleted: boolean
}

/** When a user clocked in and out, with role, place, wage, tips and breaks. Amounts are cents. */
export interface TimePunch {
  /** Identifies the punch. */
  readonly id: number
  /** The company that the punch belongs to. */
  readonly companyId: number
  /** The user who clocked in. */
  readonly userId: number
  /** The role that the user worked in. */
  readonly roleId: number
  /** The location where the user worked. */
  readonly locationId: number
  /** The scheduled shift; `undefined` without one. */
  readonly shiftId: number | undefined
  /** The department; `undefined` without one. */
  readonly departmentId: number | undefined
  /** Start of the punch. */
  readonly clockedIn: Date
  /** End of the punch; `undefined` while the user is clocked in. */
  readonly clockedOut: Date | undefined
  /** Wage per hour in cents, 0 or more. */
  readonly hourlyWage: number
  /** Tips in cents, of any sign. */
  readonly tips: number
  /** Whether a manager approved the punch. */
  readonly approved: boolean
  /** Whether the punch may be edited. */
  readonly editablePunch: boolean
  /** Free text; empty if the punch has none. */
  readonly notes: string
  /** The source of the punch, such as `web`; `undefined` without one. */
  readonly posType: string | undefined
  /** The breaks in the order of the service, also those that were deleted. */
  readonly breaks: ReadonlyArray<Break>
  /** Whether the service clocked the user out. */
  readonly autoClockedOut: boolean
  /** Whether the clock in was recorded while the device was offline. */
  readonly clockedInOffline: boolean
  /** Whether the clock out was recorded while the device was offline. */
  readonly clockedOutOffline: boolean
  /** When the record was created; `undefined` if the service does not say. */
  readonly created: Date | undefined
  /** When the record was last changed; `undefined` if the service does not say. */
  readonly modified: Date | undefined
  /** Whether the punch was deleted. */
  readonly deleted: boolean
}

/** What `measure` finds. */
export interface WorkedTime {
  /** In milliseconds: the time between the two clocks, in paid and in unpaid breaks, and the paid time. `undefined` if it is unknown. */
  readonly times: Record<"gross" | "paidBreaks" | "unpaidBreaks" | "net", number> | undefined
  /** Whether the punch has no clock-out. */
  readonly open: boolean
  /** What is odd about it, such as `BreaksOverlap`. */
  readonly anomalies: ReadonlyArray<string>
}

/** How a punch is priced. */
export interface CostOptions {
  /** How a fraction of a cent is rounded. */
  readonly rounding: "halfUp" | "halfEven" | "down" | "up"
  /** Stands in for the clock-out of an open punch. Default: none. */
  readonly asOf?: Date | undefined
}

/** One page of a listing. */
export interface Page {
  /** The punches in the order of the service; may be empty while `cursor.next` is set. */
  readonly items: ReadonlyArray<TimePunch>
  /** The place of the page in this run, counted from 0. */
  readonly index: number
  /** The cursors of the page. The listing ends when `next` is `undefined`. */
  readonly cursor: {
    /** The cursor that this page was requested with; `undefined` for the first page. */
    readonly sent: string | undefined
    /** What the service calls this page; `undefined` if it has no name for it. */
    readonly current: string | undefined
    /** The page before this one; even a first page may have one. */
    readonly prev: string | undefined
    /** The page after this one; `undefined` on the last page only. */
    readonly next: string | undefined
    /** How many rows the service says it sent; `undefined` if it does not say. */
    readonly count: number | undefined
  }
  /** What the response says beside its rows. */
  readonly response: {
    /** The page has every change before this time of the service's clock; `undefined` without a valid `Date` header. */
    readonly asOf: Date | undefined
    /** The local clock when the request that brought the page was sent. */
    readonly sentAt: Date
    /** The service's name for the request, for its support. */
    readonly requestId: string | undefined
    /** How many requests were sent for the page, at least 1. */
    readonly attempts: number
    /** How many requests the rate limit still allows; `undefined` if the service does not say. */
    readonly remaining: number | undefined
    /** The version of the interface that answered, as a date; `undefined` if the service does not say. */
    readonly apiVersion: string | undefined
    /** The version that the request asked for; `undefined` if it named none. */
    readonly askedVersion: string | undefined
  }
}

/** A window on an instant; each end may be left open. With both `lte` and `lt` the earlier one counts. */
export interface InstantRange {
  /** The earliest instant, inclusive. Default: no earliest. */
  readonly gte?: Date | undefined
  /** The latest instant, inclusive. Default: no latest. */
  readonly lte?: Date | undefined
  /** The end, exclusive, so that windows can adjoin. Not together with `localizeSearchTime`. Default: no end. */
  readonly lt?: Date | undefined
}

/** What to list, except for windows of time. The conditions combine with AND; a key that is left out does not filter. */
export interface PunchCriteria {
  /** Only punches at this location. */
  readonly locationId?: number | undefined
  /** Only punches of this department. */
  readonly departmentId?: number | undefined
  /** Only punches in this role. */
  readonly roleId?: number | undefined
  /** Only punches of this user. */
  readonly userId?: number | undefined
  /** `true`: only approved punches; `false`: only unapproved ones. Default: both. */
  readonly approved?: boolean | undefined
  /** Whether to leave deleted punches out, to list only them, or to list both. Default `"exclude"`. */
  readonly deleted?: "exclude" | "only" | "include" | undefined
  /** Only punches that were modified after this instant. */
  readonly modifiedSince?: Date | undefined
  /** Only punches with at least one of these flags. An empty list is refused. */
  readonly flags?: ReadonlyArray<"auto_clocked_out" | "late" | "missed_break"> | undefined
  /** Only punches with one of these approvals of the employee. An empty list is refused. */
  readonly employeeApprovalStatuses?: ReadonlyArray<"pending" | "approved" | "disputed"> | undefined
  /** Whether the service reads the UTC digits of every window as wall-clock time where the punch is. Default `false`. */
  readonly localizeSearchTime?: boolean | undefined
  /** Sorts by the first field, then by the next. Default: the order of the service. */
  readonly sortBy?: ReadonlyArray<readonly [Exclude<keyof TimePunch, "breaks">, "asc" | "desc"]> | undefined
}

/** Which punches to list: clock windows or business dates, not both. */
export type PunchFilter =
  & PunchCriteria
  & (
    | {
      readonly businessDate?: undefined
      /** Only punches that were clocked in within this window. Not together with `businessDate`. */
      readonly clockedIn?: InstantRange | undefined
      /** Only punches that were clocked out within this window. Not together with `businessDate`. */
      readonly clockedOut?: InstantRange | undefined
    }
    | {
      readonly clockedIn?: undefined
      readonly clockedOut?: undefined
      /** Only punches of these business dates, `YYYY-MM-DD`, both inclusive. Not together with a clock window. */
      readonly businessDate?: {
        /** The first date. Default: no first. */
        readonly first?: string | undefined
        /** The last date. Default: no last. */
        readonly last?: string | undefined
      } | undefined
    }
  )

/** What every call may have. */
export interface CallOptions {
  /** The company of this call. Default: the one of the client. */
  readonly companyId?: number | undefined
  /** The guid of the company of this call, for an OAuth client. */
  readonly companyGuid?: string | undefined
  /** Ends the run and its request in flight: the call rejects with the reason of the signal. */
  readonly signal?: AbortSignal | undefined
  /** The time of the whole run in milliseconds; then it rejects with `LimitReached`. Default: none. */
  readonly deadline?: number | undefined
  /** Rows in one request, 1 to 200. Default: that of the client. */
  readonly pageSize?: number | undefined
}

/** How a listing starts and what bounds it. */
export interface ListOptions extends CallOptions {
  /** The cursor of the first page to read, such as `resumeFrom` of an error. Default: the first page. */
  readonly cursor?: string | undefined
  /** A guard: a run that would read more pages rejects with `LimitReached`. Default: no guard. */
  readonly maxPages?: number | undefined
  /** Pages to read ahead of the loop. Default 0. */
  readonly prefetchPages?: number | undefined
}

/** Which page to request. */
export interface PageOptions extends CallOptions {
  /** The cursor of the page, such as `next` or `prev` of another one. Default: the first page. */
  readonly cursor?: string | undefined
}

/** A filter with a closed range of clock-ins: `gte`, and one of `lte` and `lt`. */
export type BackfillFilter =
  & Omit<PunchCriteria, "sortBy" | "localizeSearchTime">
  & {
    /** The range of clock-ins to read. */
    readonly clockedIn: { readonly gte: Date; readonly lte: Date } | { readonly gte: Date; readonly lt: Date }
  }

/** How to backfill. */
export interface BackfillOptions extends CallOptions {
  /** Pages to read at once, 1 to 64. */
  readonly concurrency: number
  /** `"asCompleted"`, the default, or `"byTime"`. */
  readonly order?: "asCompleted" | "byTime" | undefined
  /** What is to be read: `unfinished` of a `BackfillError` of the same company and filter. Default: the whole range. */
  readonly segments?: ReadonlyArray<string> | undefined
}

/** One credential of the service. */
export type Credentials =
  | {
    readonly clientId?: undefined
    readonly sessionCookie?: undefined
    /** A long-lived token of one company. */
    readonly accessToken: string
  }
  | {
    readonly accessToken?: undefined
    readonly sessionCookie?: undefined
    /** The id of an OAuth client. */
    readonly clientId: string
    /** The secret of the OAuth client. */
    readonly clientSecret: string
    /** Default: the scopes of the client. */
    readonly scopes?: ReadonlyArray<string> | undefined
  }
  | {
    readonly accessToken?: undefined
    readonly clientId?: undefined
    /** The session cookie of a person. */
    readonly sessionCookie: string
  }

/** Where the service is, and what every call of the client has. */
export interface ClientOptions {
  /** The base URL of the listing, https, or http on this machine. */
  readonly baseUrl: string | URL
  /** The base URL of the token endpoint. Default: `baseUrl`. */
  readonly authUrl?: string | URL | undefined
  /** The credential that signs each request. */
  readonly credentials: Credentials
  /** The company of a call that names none. */
  readonly companyId: number
  /** Its guid: an OAuth client sends it with every request. */
  readonly companyGuid?: string | undefined
  /** The version that requests name, a date as `YYYY-MM-DD`; `null`: the one of the access token. */
  readonly apiVersion?: string | null | undefined
  /** Rows in one request of a call that names no `pageSize`, 1 to 200. Default: 200. */
  readonly pageSize?: number | undefined
  /** Attempts per page, at least 1. Default: 4. */
  readonly attempts?: number | undefined
  /** The most requests in a second, at least 1. Default: no limit. */
  readonly requestsPerSecond?: number | undefined
  /** Sends the requests. Default: the `fetch` of the platform. */
  readonly fetch?: typeof globalThis.fetch | undefined
}
