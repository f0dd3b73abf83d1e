/** Error bodies of the listing (spec 7): `application/problem+json` with every required member. */
import { type FakeResponse, respondJson } from "./message.ts"

/** The variable members of a problem. An `undefined` member is absent from the JSON. */
export interface ProblemDetail {
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

/** A problem as JSON text. */
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
