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
  429: "throttled",
  500: "serverError",
  502: "unavailable",
  503: "unavailable",
  504: "unavailable"
}

/** The kind of a status. A redirect and a 2xx other than 200 are `"other"`. */
export const statusOf = (status: number): StatusKind => kinds[status] ?? "other"

/** Whether a client that follows redirects would send the request again, to another address. */
export const isRedirect = (status: number): boolean => status >= 300 && status < 400
