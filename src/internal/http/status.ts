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
