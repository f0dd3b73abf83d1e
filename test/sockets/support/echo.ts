/** A service that repeats the secrets it was sent, in every form it can think of and in every place it has. */
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

/** The forms in which a text can be written. */
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

/** All that is secret, in all forms, as one text. */
export const everything = (secrets: ReadonlyArray<{ readonly value: string }>): string =>
  secrets.flatMap(({ value }) => forms(value)).join(" | ")

/** A problem whose every text repeats the secrets. */
const problem = (said: string) =>
  JSON.stringify({ type: said, title: said, detail: said, param: said, instance: said, [said]: said, code: 5001 })

const refusal = (status: number, said: string, headers: Readonly<Record<string, string>> = {}) =>
  whole(status, problem(said), { "content-type": "application/problem+json", ...headers })

const json = { "content-type": "application/json" }

const page = (row: Readonly<Record<string, unknown>>, more: Readonly<Record<string, unknown>> = {}) =>
  whole(200, JSON.stringify({ ...wirePage([wirePunch(row)]), ...more }))

/** The ways in which a page can fail, by the tag that they end in. */
export const pageFailures: ReadonlyArray<
  readonly [tag: ListError["_tag"], what: string, answer: (said: string) => Answer]
> = [
  ["Unauthorized", "401", (said) => refusal(401, said)],
  ["Forbidden", "403", (said) => refusal(403, said)],
  ["UnprocessableEntity", "422", (said) => refusal(422, said)],
  ["ServerError", "500", (said) => refusal(500, said)],
  ["RateLimited", "429", (said) => refusal(429, said, { "retry-after": "9999" })],
  ["ServiceUnavailable", "503", (said) => refusal(503, said)],
  ["UnexpectedStatus", "418", (said) => refusal(418, said)],
  ["UnexpectedStatus", "a redirect", (said) => refusal(302, said, { location: `/${percent(said).slice(0, 2000)}` })],
  ["TransportError", "a reset", () => "RESET"],
  ["TransportError", "what is not HTTP", (said) => [said, "FINISH"]],
  ["TransportError", "a header that cannot be", (said) => [`HTTP/1.1 200 OK\r\nx y${said}: 1\r\n\r\n`, "FINISH"]],
  ["TransportError", "a cut body", (said) => [head(200, { ...json, "content-length": "99999" }), said, "FINISH"]],
  ["TransportError", "a broken chunk", (said) => [
    head(200, { ...json, "transfer-encoding": "chunked" }),
    chunk(said),
    `zz${said}\r\n`,
    "FINISH"
  ]],
  ["TransportError", "silence", () => []],
  ["DecodeError", "what is not JSON", (said) => whole(200, `{"${said}`)],
  ["DecodeError", "HTML", (said) => whole(200, said, { "content-type": "text/html" })],
  ["DecodeError", "a charset", (said) => whole(200, said, { "content-type": "application/json; charset=latin1" })],
  [
    "DecodeError",
    "an encoding",
    () => whole(200, new Uint8Array(50).fill(0xff), { ...json, "content-encoding": "x-unknown" })
  ],
  ["DecodeError", "a row whose instant is secret", (said) => page({ clocked_in: said, notes: said })],
  ["DecodeError", "a row whose keys are secret", (said) => page({ [said]: said, id: said })],
  ["DecodeError", "a count that is secret", (said) => whole(200, JSON.stringify(wirePage([], { count: said })))],
  ["DecodeError", "a row of another company", (said) => page({ company_id: 4022, notes: said })],
  ["PaginationError", "another object", (said) => page({ notes: said }, { object: said })]
]

/** The ways in which a token can fail. */
export const tokenFailures: ReadonlyArray<readonly [what: string, answer: (said: string) => Answer]> = [
  ["400", (said) => whole(400, JSON.stringify({ error: "invalid_request", error_description: said }))],
  ["400 with a secret code", (said) => whole(400, JSON.stringify({ error: said, error_uri: said }))],
  ["401", (said) => whole(401, JSON.stringify({ error: "invalid_client", error_description: said }))],
  ["403", (said) => refusal(403, said)],
  ["429", (said) => refusal(429, said, { "retry-after": "9999" })],
  ["a redirect", (said) => refusal(307, said, { location: `/${percent(said).slice(0, 2000)}` })],
  ["no token", (said) => whole(200, JSON.stringify({ token: said, access_token: 1 }))],
  [
    "a token that no header can carry",
    (said) => whole(200, JSON.stringify({ access_token: said, token_type: "Bearer" }))
  ],
  ["a token of another kind", (said) => whole(200, JSON.stringify({ access_token: "abc", token_type: said }))],
  [
    "a life that is no number",
    (said) => whole(200, JSON.stringify({ access_token: "abc", token_type: "Bearer", expires_in: said }))
  ],
  ["what is not JSON", (said) => whole(200, `{"${said}`)],
  ["HTML", (said) => whole(200, said, { "content-type": "text/html" })]
]

export const isTokenRequest = ({ line }: RawRequest) => line.startsWith("POST")
