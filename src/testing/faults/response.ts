/** Faults of any response: other statuses, broken bodies, bodies that do not arrive. */
import { gzipStored } from "../base/gzip.ts"
import { type FakeRequest, type FakeResponse, respondJson, respondWith } from "../base/message.ts"
import { problemText } from "../base/problem.ts"
import type { Fault } from "./Fault.ts"
import type { StatusOptions } from "./shapes.ts"

const html = "<!doctype html><html><head><title>Sign in</title></head><body>Sign in to the network</body></html>"

const htmlType = "text/html; charset=utf-8"

const isTokenRequest = (request: FakeRequest) => request.method === "POST"

const usualBody = (status: number, options: StatusOptions, forToken: boolean) => {
  const usual: unknown = JSON.parse(
    forToken
      ? JSON.stringify({ error: "temporarily_unavailable" })
      : problemText(status, { detail: "Injected by the test.", code: 5000 })
  )
  const text = JSON.stringify(Object.assign({}, usual, options.problem))
  return respondJson(status, text, forToken ? "application/json" : "application/problem+json")
}

const bodiless: ReadonlySet<number> = new Set([204, 205, 304])

const statusResponse = (status: number, options: StatusOptions, forToken: boolean): FakeResponse => {
  // HTTP allows no body with these statuses.
  const body = bodiless.has(status) ? "empty" : options.body ?? "problem"
  const response = body === "problem"
    ? usualBody(status, options, forToken)
    : body === "html"
    ? respondWith(status, { "content-type": htmlType }, html)
    : body === "empty"
    ? respondWith(status, {}, "")
    : respondWith(status, { "content-type": body.contentType }, body.text)
  return { ...response, headers: { ...response.headers, ...options.headers } }
}

/** Every secret of a request, raw and decoded. */
const secretsOf = (request: FakeRequest) => {
  const { authorization = "", cookie = "" } = request.headers
  return `authorization ${authorization}, cookie ${cookie}, body ${request.body}, ${
    [...new URLSearchParams(request.body).values()].join(" ")
  }`
}

const echo = (status: number, request: FakeRequest): FakeResponse => {
  const detail = `The request was: ${secretsOf(request)}`
  return isTokenRequest(request)
    ? respondJson(status, JSON.stringify({ error: "invalid_request", error_description: detail }))
    : respondJson(status, problemText(status, { detail, code: 5001 }), "application/problem+json")
}

/** The response of a fault that replaces the service; `undefined` for other faults. */
export const responseOf = (fault: Fault): ((request: FakeRequest) => FakeResponse) | undefined => {
  switch (fault._tag) {
    case "Status":
      return (request) => statusResponse(fault.status, fault.options, isTokenRequest(request))
    case "UnauthorizedOnce":
      return (request) => statusResponse(401, {}, isTokenRequest(request))
    case "Echo":
      return (request) => echo(fault.status, request)
    case "Html200":
      return () => respondWith(200, { "content-type": htmlType }, html)
    case "EmptyBody":
      return () => respondWith(200, { "content-type": "application/json" }, "")
    case "Reset":
      return () => ({ ...respondJson(200, ""), delivery: { _tag: "Reset" } })
    case "StallBeforeHeaders":
      return () => ({ ...respondJson(200, ""), delivery: { _tag: "Silence" } })
    default:
      return undefined
  }
}

const bytesOf = (body: string | Uint8Array) => typeof body === "string" ? new TextEncoder().encode(body) : body

const latin1 = 0xe9

/** Puts a Latin-1 byte into the first note of the body, or into a new member at its end: the JSON stays valid. */
const breakUtf8 = (body: string): Uint8Array => {
  const mark = "\"notes\":\""
  const found = body.indexOf(mark)
  const at = found < 0 ? body.length - 1 : found + mark.length
  const extra = found < 0 ? [",\"note\":\"caf", "\""] as const : ["caf", ""] as const
  const before = bytesOf(body.slice(0, at) + extra[0])
  const after = bytesOf(extra[1] + body.slice(at))
  const bytes = new Uint8Array(before.length + 1 + after.length)
  bytes.set(before)
  bytes.set([latin1], before.length)
  bytes.set(after, before.length + 1)
  return bytes
}

const encoded = (response: FakeResponse, label: string, given: Uint8Array | undefined): FakeResponse => {
  const plain = bytesOf(response.body)
  const body = given ?? (label === "gzip" ? gzipStored(plain) : plain)
  return { ...response, headers: { ...response.headers, "content-encoding": label }, body }
}

const partOf = (response: FakeResponse, share: number) => Math.floor(bytesOf(response.body).length * share)

/** The change that a fault makes to a response with status 200; `undefined` for other faults. */
export const responseEdit = (fault: Fault): ((response: FakeResponse) => FakeResponse) | undefined => {
  switch (fault._tag) {
    case "StallBody":
      return (response) => ({ ...response, delivery: { _tag: "Stall", bytes: partOf(response, fault.share) } })
    case "CutBody":
      return (response) => ({ ...response, delivery: { _tag: "Cut", bytes: partOf(response, fault.share) } })
    case "InvalidJson":
      return (response) => ({ ...response, body: fault.text ?? String(response.body).slice(0, -2) })
    case "InvalidUtf8":
      return (response) => ({ ...response, body: breakUtf8(String(response.body)) })
    case "OversizedBody":
      return (response) => ({ ...response, delivery: { _tag: "Padded", bytes: fault.bytes } })
    case "ContentEncoding":
      return (response) => encoded(response, fault.label, fault.bytes)
    default:
      return undefined
  }
}
