/** Requests and responses of the fake service as plain data, before any transport. This room imports no other. */

/**
 * A request as the service sees it.
 *
 * @since 0.1.0
 */
export interface FakeRequest {
  /** Upper-case HTTP method. */
  readonly method: string
  /** Absolute URL, or path and query. The service ignores the host. */
  readonly url: string
  /** Headers with lower-case names. */
  readonly headers: Readonly<Record<string, string>>
  /** Body as text; empty when there is none. */
  readonly body: string
}

/**
 * How much of a response arrives:
 *
 * - `Whole`: all of it.
 * - `Padded`: all of it, then white space up to `bytes` bytes, which may be `Infinity`.
 * - `Reset`: nothing; the connection is reset.
 * - `Silence`: nothing, and the connection stays open.
 * - `Stall`: headers and the first `bytes` bytes of the body, and the connection stays open.
 * - `Cut`: headers and the first `bytes` bytes of the body, then the connection ends.
 *
 * @since 0.1.0
 */
export type Delivery =
  | { readonly _tag: "Whole" }
  | {
    readonly _tag: "Padded"
    /** Size of the padded body in bytes. */
    readonly bytes: number
  }
  | { readonly _tag: "Reset" }
  | { readonly _tag: "Silence" }
  | {
    readonly _tag: "Stall"
    /** Bytes of the body that arrive. */
    readonly bytes: number
  }
  | {
    readonly _tag: "Cut"
    /** Bytes of the body that arrive. */
    readonly bytes: number
  }

/**
 * A response, and how much of it arrives.
 *
 * @since 0.1.0
 */
export interface FakeResponse {
  /** HTTP status. */
  readonly status: number
  /** Headers with lower-case names. */
  readonly headers: Readonly<Record<string, string>>
  /** The whole body, also where `delivery` cuts it. */
  readonly body: string | Uint8Array
  /** How much of the response arrives. */
  readonly delivery: Delivery
}

/**
 * A request that the service received, for assertions.
 *
 * @since 0.1.0
 */
export interface RecordedRequest {
  /** 0 for the first request since the service was built, then 1, 2, … */
  readonly index: number
  /** 1 for the first request to its endpoint, then 2, 3, …; `FaultWhen.requests` uses the same numbers. */
  readonly number: number
  /** The endpoint that the path names. */
  readonly endpoint: Endpoint
  /** Upper-case HTTP method. */
  readonly method: string
  /** Path without the query. */
  readonly path: string
  /** The query string as it arrived, with its percent escapes. */
  readonly rawQuery: string
  /** Decoded parameters; empty when the query string cannot be decoded. */
  readonly query: Readonly<Record<string, string>>
  /** Headers with lower-case names, credentials included. */
  readonly headers: Readonly<Record<string, string>>
  /** Body as text; empty when there is none. */
  readonly body: string
  /** Time of arrival by the `Clock`, in milliseconds since 1970. */
  readonly at: number
}

/**
 * The endpoint of a request: `page` lists punches, `token` issues tokens, `other` is any other path.
 *
 * @since 0.1.0
 */
export type Endpoint = "page" | "token" | "other"

/** A response that arrives whole. */
export const respondWith = (
  status: number,
  headers: Readonly<Record<string, string>>,
  body: string | Uint8Array
): FakeResponse => ({ status, headers, body, delivery: { _tag: "Whole" } })

/** A JSON response that arrives whole. */
export const respondJson = (status: number, text: string, contentType = "application/json"): FakeResponse =>
  respondWith(status, { "content-type": contentType }, text)
