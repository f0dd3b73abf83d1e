/** START HERE. Requests of the fake service and its responses as plain data, before any transport: problems, tokens, pages. */
import type { WirePunch } from "./WirePunch.ts"

/** A request as the service sees it. */
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

/** A response, and how much of it arrives. */
export interface FakeResponse {
  /** HTTP status. */
  readonly status: number
  /** Headers with lower-case names. */
  readonly headers: Readonly<Record<string, string>>
  /** The whole body, even if `delivery` cuts it. */
  readonly body: string | Uint8Array
  /** How much of the response arrives. */
  readonly delivery: Delivery
}

/** A request that the service received, for assertions. */
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

/** The endpoint of a request: `page` lists punches, `token` issues tokens, `other` is any other path. */
export type Endpoint = "page" | "token" | "other"

/** A response that arrives whole. */
export const respondWith = (
  status: number,
  headers: Readonly<Record<string, string>>,
  body: string | Uint8Array
): FakeResponse => ({ status, headers, body, delivery: { _tag: "Whole" } })

/** A body as bytes. */
export const bytesOf = (body: string | Uint8Array): Uint8Array =>
  typeof body === "string" ? new TextEncoder().encode(body) : body

/** The bytes of all parts, one after the other. */
export const joinBytes = (parts: ReadonlyArray<ArrayLike<number>>): Uint8Array => {
  const joined = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    joined.set(part, at)
    at += part.length
  }
  return joined
}

/** A JSON response that arrives whole. */
export const respondJson = (status: number, text: string, contentType = "application/json"): FakeResponse =>
  respondWith(status, { "content-type": contentType }, text)

/** The variable members of a problem. An `undefined` member is absent from the JSON. */
interface ProblemDetail {
  readonly detail: string
  readonly code?: number | undefined
  readonly param?: string | undefined
}

const titles = new Map<number, string>([
  [400, "Bad Request"],
  [401, "Unauthorized"],
  [403, "Forbidden"],
  [404, "Not Found"],
  [405, "Method Not Allowed"],
  [408, "Request Timeout"],
  [422, "Unprocessable Entity"],
  [429, "Too Many Requests"],
  [500, "Server Error"],
  [502, "Bad Gateway"],
  [503, "Service Unavailable"],
  [504, "Gateway Timeout"]
])

/** A problem as JSON text, with every member that the spec requires. */
export const problemText = (status: number, { code, detail, param }: ProblemDetail): string =>
  JSON.stringify({
    type: `/problems/${status}`,
    title: titles.get(status) ?? `Status ${status}`,
    status,
    detail,
    code,
    param
  })

/** A problem as a response. */
export const problem = (status: number, detail: ProblemDetail): FakeResponse =>
  respondJson(status, problemText(status, detail), "application/problem+json")

/** The members of a token response, in its order. */
export interface TokenBody {
  readonly token_type: string
  readonly expires_in: number
  readonly access_token: string
}

/** The response that the spec describes. */
export const respondWithToken = (body: TokenBody): FakeResponse => ({
  ...respondJson(200, JSON.stringify(body)),
  headers: { "content-type": "application/json", "cache-control": "no-store" }
})

/** The list envelope before it becomes JSON, with its rows as JSON text. */
export interface Envelope {
  readonly object: string
  readonly data: ReadonlyArray<string>
  readonly cursor: Readonly<Record<string, string | number | null>>
}

/** The page that an envelope describes. */
interface PageOrigin {
  readonly companyId: number
  /** Fingerprint of company and query, the same for all pages of a walk. */
  readonly query: number
  readonly rows: ReadonlyArray<WirePunch>
  /** The cursor of the request; `undefined` for the first page. */
  readonly sent: string | undefined
  /** A cursor with another text that leads to the rows of this page; each `nonce` gives another text. */
  readonly cursorAtSamePosition: (nonce: number) => string
}

/** A change to an envelope before it is written. */
export type EnvelopeEdit = (envelope: Envelope, origin: PageOrigin) => Envelope

/** The JSON text of an envelope. */
export const writeEnvelope = ({ cursor, data, object }: Envelope): string =>
  `{"object":${JSON.stringify(object)},"data":[${data.join(",")}],"meta":{"cursor":${JSON.stringify(cursor)}}}`
