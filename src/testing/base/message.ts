/** Requests and responses of the fake service as plain data, before any transport. */

/**
 * A request as the service sees it. Header names are lower-case; `url` may be absolute or begin with its path.
 *
 * @since 0.1.0
 */
export interface FakeRequest {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/**
 * How much of a response arrives: all of it; all of it and white space up to `bytes` (which may be `Infinity`); none of it,
 * because the connection is reset or nothing ever comes; or its headers and the first `bytes` of its body, followed by
 * silence or by the end of the connection.
 *
 * @since 0.1.0
 */
export type Delivery =
  | { readonly _tag: "Whole" }
  | { readonly _tag: "Padded"; readonly bytes: number }
  | { readonly _tag: "Reset" }
  | { readonly _tag: "Silence" }
  | { readonly _tag: "Stall"; readonly bytes: number }
  | { readonly _tag: "Cut"; readonly bytes: number }

/**
 * A response, and how much of it arrives.
 *
 * @since 0.1.0
 */
export interface FakeResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array
  readonly delivery: Delivery
}

/**
 * A request that the service answered, for a test to look at.
 *
 * @since 0.1.0
 */
export interface RecordedRequest {
  /** 0 for the first request since the service began, then 1, 2, … */
  readonly index: number
  /** 1 for the first request to its endpoint; injected faults count alike. */
  readonly number: number
  readonly endpoint: Endpoint
  readonly method: string
  /** Path without the query. */
  readonly path: string
  /** The query string as it came, percent escapes and all. */
  readonly rawQuery: string
  /** Decoded parameters; empty when the query string itself is broken. */
  readonly query: Readonly<Record<string, string>>
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** Milliseconds since 1970 by the `Clock`. */
  readonly at: number
}

/**
 * The two endpoints of the spec (4.1, 4.2), and everything else.
 *
 * @since 0.1.0
 */
export type Endpoint = "page" | "token" | "other"

/** A whole response. */
export const respondWith = (
  status: number,
  headers: Readonly<Record<string, string>>,
  body: string | Uint8Array
): FakeResponse => ({ status, headers, body, delivery: { _tag: "Whole" } })

/** A whole JSON response. */
export const respondJson = (status: number, text: string, contentType = "application/json"): FakeResponse =>
  respondWith(status, { "content-type": contentType }, text)
