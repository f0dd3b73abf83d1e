/** The one file with status numbers: what a status means, for either endpoint. */

/** What a status says about a request. */
export type StatusKind =
  | "ok"
  | "unauthorized"
  | "forbidden"
  | "unprocessable"
  | "throttled"
  | "serverError"
  | "unavailable"
  | "other"

/** The usual status of each kind of error. */
export const usualStatus = {
  unauthorized: 401,
  forbidden: 403,
  unprocessable: 422,
  throttled: 429,
  serverError: 500,
  unavailable: 503
} as const

const kinds: { readonly [status: number]: StatusKind } = {
  200: "ok",
  401: "unauthorized",
  403: "forbidden",
  408: "unavailable",
  422: "unprocessable",
  425: "unavailable",
  429: "throttled",
  500: "serverError",
  // Not implemented, another version of HTTP, a network that asks for a login: an attempt at once does not help.
  501: "other",
  505: "other",
  511: "other"
}

/**
 * The kind of a status. A redirect and a 2xx other than 200 are `"other"`. Every 5xx that is not named says that something
 * before the service did not reach it: a content network has its own ones, such as 522.
 */
export const statusOf = (status: number): StatusKind =>
  kinds[status] ?? (isServerSide(status) ? "unavailable" : "other")

/** Whether a status says that the service failed, or what stands in front of it: 500 to 599. */
export const isServerSide = (status: number): boolean => status >= 500 && status < 600

/** Whether a client that follows redirects would send the request again, to another address. */
export const isRedirect = (status: number): boolean => status >= 300 && status < 400

/** Whether nothing is at an address. */
export const isNotFound = (status: number): boolean => status === 404

/** Whether a request is refused as a whole, without naming a parameter. */
export const isBadRequest = (status: number): boolean => status === 400
