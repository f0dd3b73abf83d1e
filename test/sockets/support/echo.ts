/** A service that repeats the secrets of a request, in many encodings and in every part of its response. */
import type { ListError } from "../../../src/index.ts"
import { wirePage, wirePunch } from "../../support/wire.ts"
import { type Answer, chunk, head, type RawRequest, whole } from "./rawServer.ts"

const percent = (text: string) => encodeURIComponent(text)
const form = (text: string) => new URLSearchParams([["", text]]).toString().slice(1)
const lowerCase = (text: string) => text.replace(/%[\dA-F]{2}/g, (code) => code.toLowerCase())
const base64 = (text: string) => Buffer.from(text).toString("base64")
const base64url = (text: string) => Buffer.from(text).toString("base64url")
const html = (text: string) =>
  text.replaceAll("&", "&amp;").replaceAll("\"", "&quot;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")
const htmlNumbers = (text: string) => text.replace(/[^A-Za-z\d]/g, (char) => `&#${char.charCodeAt(0)};`)
const htmlHex = (text: string) => text.replace(/[^A-Za-z\d]/g, (char) => `&#x${char.charCodeAt(0).toString(16)};`)
const jsonInJson = (text: string) => JSON.stringify(text).slice(1, -1)
const unicode = (text: string) =>
  text.replace(/[^A-Za-z\d]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`)

/** The encodings of a text. */
export const forms = (text: string): ReadonlyArray<string> => [
  text,
  percent(text),
  form(text),
  lowerCase(percent(text)),
  lowerCase(form(text)),
  base64(text),
  base64url(text),
  base64(`Bearer ${text}`),
  base64(`client:${text}`),
  base64url(`client:${text}!`),
  html(text),
  htmlNumbers(text),
  htmlHex(text),
  jsonInJson(text),
  unicode(text)
]

/** All secrets in all encodings, as one text. */
export const everything = (secrets: ReadonlyArray<{ readonly value: string }>): string =>
  secrets.flatMap(({ value }) => forms(value)).join(" | ")

/** A problem that repeats the secrets in every text. */
const problem = (echo: string) =>
  JSON.stringify({ type: echo, title: echo, detail: echo, param: echo, instance: echo, [echo]: echo, code: 5001 })

const refusal = (status: number, echo: string, headers: Readonly<Record<string, string>> = {}) =>
  whole(status, problem(echo), { "content-type": "application/problem+json", ...headers })

const json = { "content-type": "application/json" }

const page = (row: Readonly<Record<string, unknown>>, more: Readonly<Record<string, unknown>> = {}) =>
  whole(200, JSON.stringify({ ...wirePage([wirePunch(row)]), ...more }))

/** The ways in which a page can fail, with the tag of the error. */
export const pageFailures: ReadonlyArray<
  readonly [tag: ListError["_tag"], what: string, answer: (echo: string) => Answer]
> = [
  ["Unauthorized", "401", (echo) => refusal(401, echo)],
  ["Forbidden", "403", (echo) => refusal(403, echo)],
  ["UnprocessableEntity", "422", (echo) => refusal(422, echo)],
  ["ServerError", "500", (echo) => refusal(500, echo)],
  ["RateLimited", "429", (echo) => refusal(429, echo, { "retry-after": "9999" })],
  ["ServiceUnavailable", "503", (echo) => refusal(503, echo)],
  ["UnexpectedStatus", "418", (echo) => refusal(418, echo)],
  ["UnexpectedStatus", "a redirect", (echo) => refusal(302, echo, { location: `/${percent(echo).slice(0, 2000)}` })],
  ["TransportError", "a reset", () => "RESET"],
  ["TransportError", "a response that is not HTTP", (echo) => [echo, "FINISH"]],
  ["TransportError", "an invalid header name", (echo) => [`HTTP/1.1 200 OK\r\nx y${echo}: 1\r\n\r\n`, "FINISH"]],
  ["TransportError", "a cut body", (echo) => [head(200, { ...json, "content-length": "99999" }), echo, "FINISH"]],
  ["TransportError", "a broken chunk", (echo) => [
    head(200, { ...json, "transfer-encoding": "chunked" }),
    chunk(echo),
    `zz${echo}\r\n`,
    "FINISH"
  ]],
  ["TransportError", "silence", () => []],
  ["DecodeError", "a body that is not JSON", (echo) => whole(200, `{"${echo}`)],
  ["DecodeError", "HTML", (echo) => whole(200, echo, { "content-type": "text/html" })],
  ["DecodeError", "a charset", (echo) => whole(200, echo, { "content-type": "application/json; charset=latin1" })],
  [
    "DecodeError",
    "an encoding",
    () => whole(200, new Uint8Array(50).fill(0xff), { ...json, "content-encoding": "x-unknown" })
  ],
  ["DecodeError", "a row whose instant is secret", (echo) => page({ clocked_in: echo, notes: echo })],
  ["DecodeError", "a row whose keys are secret", (echo) => page({ [echo]: echo, id: echo })],
  ["DecodeError", "a count that is secret", (echo) => whole(200, JSON.stringify(wirePage([], { count: echo })))],
  ["DecodeError", "a row of another company", (echo) => page({ company_id: 4022, notes: echo })],
  ["PaginationError", "another object", (echo) => page({ notes: echo }, { object: echo })]
]

/** The ways in which a token request can fail. */
export const tokenFailures: ReadonlyArray<readonly [what: string, answer: (echo: string) => Answer]> = [
  ["400", (echo) => whole(400, JSON.stringify({ error: "invalid_request", error_description: echo }))],
  ["400 with a secret code", (echo) => whole(400, JSON.stringify({ error: echo, error_uri: echo }))],
  ["401", (echo) => whole(401, JSON.stringify({ error: "invalid_client", error_description: echo }))],
  ["403", (echo) => refusal(403, echo)],
  ["429", (echo) => refusal(429, echo, { "retry-after": "9999" })],
  ["a redirect", (echo) => refusal(307, echo, { location: `/${percent(echo).slice(0, 2000)}` })],
  ["no token", (echo) => whole(200, JSON.stringify({ token: echo, access_token: 1 }))],
  [
    "a token that no header can carry",
    (echo) => whole(200, JSON.stringify({ access_token: echo, token_type: "Bearer" }))
  ],
  ["a token of another kind", (echo) => whole(200, JSON.stringify({ access_token: "abc", token_type: echo }))],
  [
    "a lifetime that is no number",
    (echo) => whole(200, JSON.stringify({ access_token: "abc", token_type: "Bearer", expires_in: echo }))
  ],
  ["a body that is not JSON", (echo) => whole(200, `{"${echo}`)],
  ["HTML", (echo) => whole(200, echo, { "content-type": "text/html" })]
]

export const isTokenRequest = ({ line }: RawRequest) => line.startsWith("POST")
