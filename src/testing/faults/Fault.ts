/** The faults that the fake service can speak, as values. What each does is in the files of the `fault…` functions. */
import type * as Duration from "effect/Duration"

/**
 * Any JSON value.
 *
 * @since 0.1.0
 */
export type Json = null | boolean | number | string | ReadonlyArray<Json> | { readonly [key: string]: Json }

/**
 * A piece of JSON text that no JavaScript value writes, such as `1e400` or a number of twenty digits.
 *
 * @since 0.1.0
 */
export interface RawJson {
  readonly rawJson: string
}

/**
 * What to change in a row: a value replaces a member or adds one, undefined takes it away.
 *
 * @since 0.1.0
 */
export type RowPatch = Readonly<Record<string, Json | RawJson | undefined>>

/**
 * The body of an injected status: a problem (spec 7), a page of HTML, nothing, or a text of your own.
 *
 * @since 0.1.0
 */
export type FaultBody = "problem" | "html" | "empty" | { readonly contentType: string; readonly text: string }

/**
 * How an injected status looks. Members of `problem` replace those of the usual body; undefined takes one away.
 *
 * @since 0.1.0
 */
export interface StatusOptions {
  readonly body?: FaultBody | undefined
  readonly problem?: Readonly<Record<string, Json | undefined>> | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/**
 * Ways in which a token response can be wrong.
 *
 * @since 0.1.0
 */
export type TokenDefect =
  | "html"
  | "empty"
  | "notJson"
  | "noAccessToken"
  | "emptyAccessToken"
  | "numberAccessToken"
  | "crlfAccessToken"
  | "spaceAccessToken"
  | "hugeAccessToken"
  | "noTokenType"
  | "macTokenType"

/**
 * A fault. `Fault` the value holds the constructors.
 *
 * @since 0.1.0
 */
export type Fault =
  | { readonly _tag: "Status"; readonly status: number; readonly options: StatusOptions }
  | { readonly _tag: "UnauthorizedOnce" }
  | { readonly _tag: "Echo"; readonly status: number }
  | { readonly _tag: "Html200" }
  | { readonly _tag: "EmptyBody" }
  | { readonly _tag: "Reset" }
  | { readonly _tag: "StallBeforeHeaders" }
  | { readonly _tag: "StallBody"; readonly share: number }
  | { readonly _tag: "CutBody"; readonly share: number }
  | { readonly _tag: "Slow"; readonly delay: Duration.Input }
  | { readonly _tag: "TokenRevoked" }
  | { readonly _tag: "InvalidJson"; readonly text: string | undefined }
  | { readonly _tag: "InvalidUtf8" }
  | { readonly _tag: "OversizedBody"; readonly bytes: number }
  | { readonly _tag: "ContentEncoding"; readonly label: string; readonly bytes: Uint8Array | undefined }
  | { readonly _tag: "RepeatedCursor" }
  | { readonly _tag: "CursorCycle"; readonly length: number }
  | { readonly _tag: "EmptyPage"; readonly endless: boolean }
  | { readonly _tag: "WrongObject"; readonly object: string }
  | { readonly _tag: "WrongCompany"; readonly companyId: number | undefined }
  | { readonly _tag: "MissingCursorKey"; readonly key: "current" | "prev" | "next" | "count" }
  | { readonly _tag: "EmptyCursor" }
  | { readonly _tag: "CountMismatch"; readonly delta: number }
  | { readonly _tag: "BadRow"; readonly index: number; readonly patch: RowPatch }
  | { readonly _tag: "TokenMalformed"; readonly defect: TokenDefect }
  | { readonly _tag: "ExpiresIn"; readonly value: Json | undefined }

/** Faults of the whole exchange; they fit both endpoints. */
const ofTheExchange = {
  /** An answer of this status, whatever was asked. */
  status: (status: number, options: StatusOptions = {}): Fault => ({ _tag: "Status", status, options }),
  /** 429 or another status with this very `Retry-After` text. */
  retryAfter: (value: string, status = 429): Fault => ({
    _tag: "Status",
    status,
    options: { headers: { "retry-after": value } }
  }),
  /** 401 to one request, although its credentials are good and stay so. */
  unauthorizedOnce: { _tag: "UnauthorizedOnce" },
  /** A 3xx to `location`. */
  redirect: (status: number, location: string): Fault => ({
    _tag: "Status",
    status,
    options: { body: "empty", headers: { location } }
  }),
  /** A status whose body repeats the secrets of the request. */
  echo: (status: number): Fault => ({ _tag: "Echo", status }),
  /** 200 with a page of HTML, as a captive portal sends it. */
  html200: { _tag: "Html200" },
  /** 200 with nothing in it. */
  emptyBody: { _tag: "EmptyBody" },
  /** The connection is reset before any byte of the answer. */
  reset: { _tag: "Reset" },
  /** No answer ever. */
  stallBeforeHeaders: { _tag: "StallBeforeHeaders" },
  /** Headers and this share of the body (0 to 1), then silence. */
  stallBody: (share = 0.5): Fault => ({ _tag: "StallBody", share }),
  /** A `content-length` larger than the share of the body that is sent, then the end of the connection. */
  cutBody: (share = 0.5): Fault => ({ _tag: "CutBody", share }),
  /** The right answer, but late. */
  slow: (delay: Duration.Input): Fault => ({ _tag: "Slow", delay }),
  /** All issued tokens become invalid before one request is looked at. */
  tokenRevoked: { _tag: "TokenRevoked" },
  /** A 200 with this text, or with the right one broken off, as a complete body. */
  invalidJson: (text?: string): Fault => ({ _tag: "InvalidJson", text }),
  /** The right body with a Latin-1 byte among its UTF-8. */
  invalidUtf8: { _tag: "InvalidUtf8" },
  /** The right body, padded with white space to this many bytes; `Infinity` never ends. */
  oversizedBody: (bytes: number): Fault => ({ _tag: "OversizedBody", bytes }),
  /** A `content-encoding` that nobody asked for, over these bytes, or over the right body, truly wrapped when it is `gzip`. */
  contentEncoding: (label = "gzip", bytes?: Uint8Array): Fault => ({ _tag: "ContentEncoding", label, bytes })
} as const satisfies Record<string, Fault | ((...args: never) => Fault)>

/** Faults of the envelope and its rows; the page endpoint only. */
const ofThePage = {
  /** `next` is the cursor that was sent. A request without a cursor is answered rightly. */
  repeatedCursor: { _tag: "RepeatedCursor" },
  /** After this many cursors the walk is led back to the first of them, for ever. */
  cursorCycle: (length: number): Fault => ({ _tag: "CursorCycle", length }),
  /** Once no rows and a fresh `next`, which leads to the rows that belonged here. */
  emptyPage: { _tag: "EmptyPage", endless: false },
  /** Nothing but such pages. */
  endlessEmptyPages: { _tag: "EmptyPage", endless: true },
  /** `object` is another word. */
  wrongObject: (object = "shifts"): Fault => ({ _tag: "WrongObject", object }),
  /** The rows name another company than the one asked for. */
  wrongCompany: (companyId?: number): Fault => ({ _tag: "WrongCompany", companyId }),
  /** A required key of `meta.cursor` is not there. */
  missingCursorKey: (key: "current" | "prev" | "next" | "count" = "next"): Fault => ({ _tag: "MissingCursorKey", key }),
  /** `next` is the empty text. */
  emptyCursor: { _tag: "EmptyCursor" },
  /** `count` differs from the number of rows. */
  countMismatch: (delta = 1): Fault => ({ _tag: "CountMismatch", delta }),
  /** The row at this index is changed; an index beyond the page means its last row. */
  badRow: (index: number, patch: RowPatch): Fault => ({ _tag: "BadRow", index, patch })
} as const satisfies Record<string, Fault | ((...args: never) => Fault)>

/** Faults of the token response; the token endpoint only. */
const ofTheToken = {
  /** A 200 that is not a token response. */
  tokenMalformed: (defect: TokenDefect): Fault => ({ _tag: "TokenMalformed", defect }),
  /** `expires_in` is this value, or missing when it is undefined. The token lives as long as ever. */
  expiresIn: (value: Json | undefined): Fault => ({ _tag: "ExpiresIn", value })
} as const satisfies Record<string, Fault | ((...args: never) => Fault)>

/**
 * Constructors of faults: `Fault.reset`, `Fault.status(503)`, `Fault.badRow(0, { id: "1" })`.
 *
 * @since 0.1.0
 */
export const Fault = { ...ofTheExchange, ...ofThePage, ...ofTheToken }

/**
 * Which requests a fault befalls: those that fit everything that is given. Nothing given: every one until `clearFaults`,
 * but a single one for `unauthorizedOnce`, `tokenRevoked` and `emptyPage`.
 *
 * @since 0.1.0
 */
export interface FaultWhen {
  /** Default: the page endpoint, and the token endpoint for faults of the token. */
  readonly target?: "page" | "token" | undefined
  /** Numbers of requests to that endpoint, from 1. */
  readonly requests?: number | ReadonlyArray<number> | undefined
  /** The cursor that was sent; null for a request without one. */
  readonly cursor?: string | null | undefined
  /** A share of the requests, drawn from a seed. */
  readonly probability?: { readonly chance: number; readonly seed: number } | undefined
  /** So many times at most. A fault that could not show, because the request was refused anyway, does not count. */
  readonly times?: number | undefined
}
