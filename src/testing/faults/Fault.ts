/**
 * START HERE. The faults of the fake service as values, and the requests that they affect; `hooks.ts` says what each one does.
 */
import type * as Duration from "effect/Duration"

/** A fault to inject, as plain data. Make one with the constructors of the same name, which say what it does. */
export type Fault =
  | { readonly _tag: "Status"; readonly status: number; readonly options: StatusOptions }
  | { readonly _tag: "RateLimit"; readonly perSecond: number; readonly block: Duration.Input }
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
  | { readonly _tag: "ApiVersion"; readonly value: string | null }
  | { readonly _tag: "WrongObject"; readonly object: string }
  | { readonly _tag: "WrongCompany"; readonly companyId: number | undefined }
  | { readonly _tag: "MissingCursorKey"; readonly key: "current" | "prev" | "next" | "count" }
  | { readonly _tag: "EmptyCursor" }
  | { readonly _tag: "CountMismatch"; readonly delta: number }
  | { readonly _tag: "DuplicateRow"; readonly index: number }
  | { readonly _tag: "BadRow"; readonly index: number; readonly patch: RowPatch }
  | { readonly _tag: "TokenMalformed"; readonly defect: TokenDefect }
  | { readonly _tag: "ExpiresIn"; readonly value: Json | undefined }

/**
 * Constructors of faults for `FakeService.inject`: `Fault.reset`, `Fault.status(503)`, `Fault.badRow(0, { id: "1" })`.
 */
export const Fault = {
  /** A response with this status, whatever the request. */
  status: (status: number, options: StatusOptions = {}): Fault => ({ _tag: "Status", status, options }),
  /** Status 429, or another one, with this text as `Retry-After`. */
  retryAfter: (value: string, status = 429): Fault => ({
    _tag: "Status",
    status,
    options: { headers: { "retry-after": value } }
  }),
  /**
   * Status 429 without `Retry-After` to the request that is one too many in any second, and to every request in the `block`
   * after it, by default a minute. Requests of all credentials are counted together.
   */
  rateLimit: (perSecond: number, block: Duration.Input = "1 minute"): Fault => ({
    _tag: "RateLimit",
    perSecond,
    block
  }),
  /** Status 401 to one request; its credentials stay valid. */
  unauthorizedOnce: { _tag: "UnauthorizedOnce" },
  /** A 3xx status with this `Location`. */
  redirect: (status: number, location: string): Fault => ({
    _tag: "Status",
    status,
    options: { body: "empty", headers: { location } }
  }),
  /** A response with this status whose body repeats the secrets of the request. */
  echo: (status: number): Fault => ({ _tag: "Echo", status }),
  /** Status 200 with a page of HTML, as a captive portal sends it. */
  html200: { _tag: "Html200" },
  /** Status 200 with an empty body. */
  emptyBody: { _tag: "EmptyBody" },
  /** A connection reset before the first byte of the response. */
  reset: { _tag: "Reset" },
  /** A connection that stays open without a response. */
  stallBeforeHeaders: { _tag: "StallBeforeHeaders" },
  /** Headers and this share of the body, 0 to 1 and by default 0.5, on a connection that then stays open. */
  stallBody: (share = 0.5): Fault => ({ _tag: "StallBody", share }),
  /** Headers and this share of the body, 0 to 1 and by default 0.5; then the connection ends too early. */
  cutBody: (share = 0.5): Fault => ({ _tag: "CutBody", share }),
  /** The correct response after this delay. */
  slow: (delay: Duration.Input): Fault => ({ _tag: "Slow", delay }),
  /** Revokes all issued tokens before the service handles the request. */
  tokenRevoked: { _tag: "TokenRevoked" },
  /** Status 200 with this text as its complete body; by default the correct body without its end. */
  invalidJson: (text?: string): Fault => ({ _tag: "InvalidJson", text }),
  /** The correct body with one Latin-1 byte in its UTF-8. */
  invalidUtf8: { _tag: "InvalidUtf8" },
  /** The correct body, padded with white space to this many bytes; `Infinity` never ends. */
  oversizedBody: (bytes: number): Fault => ({ _tag: "OversizedBody", bytes }),
  /** A `content-encoding`, by default `gzip`, with these bytes or the correct body, which `gzip` really encodes. */
  contentEncoding: (label = "gzip", bytes?: Uint8Array): Fault => ({ _tag: "ContentEncoding", label, bytes }),

  /** `next` repeats the cursor of the request; the response to a request without one is correct. */
  repeatedCursor: { _tag: "RepeatedCursor" },
  /** After this many cursors, `next` leads back to the first of them. */
  cursorCycle: (length: number): Fault => ({ _tag: "CursorCycle", length }),
  /** A page without rows whose new `next` leads to the rows it should hold. */
  emptyPage: { _tag: "EmptyPage", endless: false },
  /** The same for every page. */
  endlessEmptyPages: { _tag: "EmptyPage", endless: true },
  /** A page with this `x-api-version`, by default `2022-05-01`; null removes the header. */
  apiVersion: (value: string | null = "2022-05-01"): Fault => ({ _tag: "ApiVersion", value }),
  /** Another value of `object`, by default `shifts`. */
  wrongObject: (object = "shifts"): Fault => ({ _tag: "WrongObject", object }),
  /** Rows of another company, by default the requested id plus 1. */
  wrongCompany: (companyId?: number): Fault => ({ _tag: "WrongCompany", companyId }),
  /** A `meta.cursor` without one of its required keys, by default `next`. */
  missingCursorKey: (key: "current" | "prev" | "next" | "count" = "next"): Fault => ({ _tag: "MissingCursorKey", key }),
  /** A `next` of the empty text. */
  emptyCursor: { _tag: "EmptyCursor" },
  /** A `count` that differs from the number of rows, by default by 1. */
  countMismatch: (delta = 1): Fault => ({ _tag: "CountMismatch", delta }),
  /** The row at this index, from 0 and by default 0, a second time at the end of the page, which `count` counts too. */
  duplicateRow: (index = 0): Fault => ({ _tag: "DuplicateRow", index }),
  /** A change to the row at this index, from 0; beyond the end of the page, to its last row. */
  badRow: (index: number, patch: RowPatch): Fault => ({ _tag: "BadRow", index, patch }),

  /** A token response with status 200 and a defect. */
  tokenMalformed: (defect: TokenDefect): Fault => ({ _tag: "TokenMalformed", defect }),
  /** A token response with this `expires_in`; `undefined` removes it. The token keeps its real lifetime. */
  expiresIn: (value: Json | undefined): Fault => ({ _tag: "ExpiresIn", value })
} as const satisfies Record<string, Fault | ((...args: never) => Fault)>

/**
 * Selects the requests that a fault affects. Conditions combine with AND. Without any, it affects every request until
 * `clearFaults`; `unauthorizedOnce`, `tokenRevoked` and `emptyPage` then affect a single one.
 */
export interface FaultWhen {
  /** Endpoint. Default: `token` for `tokenMalformed` and `expiresIn`, `page` for every other fault. */
  readonly target?: "page" | "token" | undefined
  /** Numbers of requests to that endpoint, counted from 1 since the service was built. Default: all. */
  readonly requests?: number | ReadonlyArray<number> | undefined
  /** The cursor of the request; null selects requests without one. Default: any. */
  readonly cursor?: string | null | undefined
  /** A random share of the requests, the same ones for the same seed. Default: all. */
  readonly probability?: {
    /** Share of the requests, 0 to 1. */
    readonly chance: number
    /** Seed of the draws, an integer. */
    readonly seed: number
  } | undefined
  /** Maximum number of requests to affect. A request that fails before the fault takes effect does not count. */
  readonly times?: number | undefined
}

/** Any JSON value. */
export type Json = null | boolean | number | string | ReadonlyArray<Json> | { readonly [key: string]: Json }

/** JSON text that `JSON.stringify` cannot produce, such as `1e400` or a number of twenty digits. */
export interface RawJson {
  /** The text, written as it is. */
  readonly rawJson: string
}

/** A change to a row: a value replaces or adds a member, `undefined` removes it. */
export type RowPatch = Readonly<Record<string, Json | RawJson | undefined>>

/**
 * The body of an injected status: a problem (`error` for the token endpoint), a page of HTML, nothing, or a given text.
 */
export type FaultBody = "problem" | "html" | "empty" | {
  /** The `content-type` header. */
  readonly contentType: string
  /** The body. */
  readonly text: string
}

/** Body and headers of an injected status. */
export interface StatusOptions {
  /** The body. Default `problem`; statuses 204, 205 and 304 never have one. */
  readonly body?: FaultBody | undefined
  /** Members that replace those of the usual problem; `undefined` removes one. Default: none. */
  readonly problem?: Readonly<Record<string, Json | undefined>> | undefined
  /** Additional headers, with lower-case names. Default: none. */
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/** A defect of a token response with status 200: another body, or a wrong `access_token` or `token_type`. */
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
