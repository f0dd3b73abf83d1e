/** The changes that a fault makes while the service handles a request. */
import {
  type Envelope,
  type EnvelopeEdit,
  type FakeRequest,
  type FakeResponse,
  problemText,
  respondJson,
  respondWith,
  respondWithToken,
  type TokenBody
} from "../base/message.ts"
import type { Fault, RowPatch, StatusOptions, TokenDefect } from "./Fault.ts"

/** The points at which the service calls a fault. An absent hook changes nothing. */
export interface FaultHooks {
  /** Responds in place of the service, which never handles the request. */
  readonly replaceResponse?: (request: FakeRequest) => FakeResponse
  /** Runs before the service handles the request. */
  readonly beforeRequest?: () => void
  /** Additional milliseconds before the response. */
  readonly delay?: number
  /** Changes the envelope of a page. */
  readonly editPage?: EnvelopeEdit
  /** Writes a token response. */
  readonly writeToken?: (body: TokenBody) => FakeResponse
  /** Changes a response with status 200. */
  readonly editResponse?: (response: FakeResponse) => FakeResponse
}

// MERGED page.ts: Faults of a page: wrong cursors, wrong counts, wrong rows.

type Tagged<Tag extends Fault["_tag"]> = Extract<Fault, { readonly _tag: Tag }>

/** A row with a patch, as JSON text. Written member by member, because a patch may hold text that no value produces. */
const patchRow = (row: object, patch: RowPatch): string => {
  const members = Object.entries<unknown>({ ...row, ...patch }).flatMap(([key, value]) => {
    if (value === undefined) return []
    const raw = typeof value === "object" && value !== null && "rawJson" in value ? value.rawJson : undefined
    return [`${JSON.stringify(key)}:${typeof raw === "string" ? raw : JSON.stringify(value)}`]
  })
  return `{${members.join(",")}}`
}

const withCursor = (envelope: Envelope, change: Envelope["cursor"]): Envelope => ({
  ...envelope,
  cursor: { ...envelope.cursor, ...change }
})

/** Leads every walk of a query back to its first cursor after `length` cursors. */
const cursorCycle = (length: number): EnvelopeEdit => {
  const cursorsOf = new Map<number, Array<string>>()
  return (envelope, { query, sent }) => {
    const next = envelope.cursor["next"]
    const cursors = cursorsOf.get(query) ?? []
    cursorsOf.set(query, cursors)
    const index = sent === undefined ? -1 : cursors.indexOf(sent)
    // A listing with fewer pages turns back at its last one.
    const full = index + 1 >= length || typeof next !== "string"
    const [first] = cursors
    if (full && first !== undefined) return withCursor(envelope, { next: first })
    if (typeof next === "string" && !cursors.includes(next)) cursors.push(next)
    return envelope
  }
}

const emptyPage = (): EnvelopeEdit => {
  let nonce = 0
  return (envelope, { cursorAtSamePosition }) => {
    nonce += 1
    return { ...withCursor(envelope, { next: cursorAtSamePosition(nonce), count: 0 }), data: [] }
  }
}

const badRow = ({ index, patch }: Tagged<"BadRow">): EnvelopeEdit => (envelope, { rows }) => {
  const at = Math.min(index, rows.length - 1)
  const row = rows[at]
  return row === undefined ? envelope : { ...envelope, data: envelope.data.with(at, patchRow(row, patch)) }
}

const wrongCompany = (companyId: number | undefined): EnvelopeEdit => (envelope, origin) => ({
  ...envelope,
  data: origin.rows.map((row) => patchRow(row, { company_id: companyId ?? origin.companyId + 1 }))
})

const missingKey = (key: string): EnvelopeEdit => (envelope) => {
  const { [key]: _gone, ...cursor } = envelope.cursor
  return { ...envelope, cursor }
}

/** The change that a fault makes to pages, or `undefined`. Some keep state, so call it once per injection. */
export const pageEdit = (fault: Fault): EnvelopeEdit | undefined => {
  switch (fault._tag) {
    case "RepeatedCursor":
      return (envelope, { sent }) => sent === undefined ? envelope : withCursor(envelope, { next: sent })
    case "CursorCycle":
      return cursorCycle(fault.length)
    case "EmptyPage":
      return emptyPage()
    case "WrongObject":
      return (envelope) => ({ ...envelope, object: fault.object })
    case "WrongCompany":
      return wrongCompany(fault.companyId)
    case "MissingCursorKey":
      return missingKey(fault.key)
    case "EmptyCursor":
      return (envelope) => withCursor(envelope, { next: "" })
    case "CountMismatch":
      return (envelope) => withCursor(envelope, { count: envelope.data.length + fault.delta })
    case "BadRow":
      return badRow(fault)
    default:
      return undefined
  }
}

// MERGED gzip.ts: Gzip (RFC 1952) without compression, so that it needs neither a library nor a promise.

const table = Uint32Array.from({ length: 256 }, (_, index) => {
  let value = index
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? 0xedb88320 ^ (value >>> 1) : value >>> 1
  return value
})

const crc32 = (bytes: Uint8Array) => {
  let crc = 0xffffffff
  for (const byte of bytes) crc = (table[(crc ^ byte) & 0xff] ?? 0) ^ (crc >>> 8)
  return (crc ^ 0xffffffff) >>> 0
}

const little = (value: number, width: number) =>
  Array.from({ length: width }, (_, index) => (value >>> (8 * index)) & 0xff)

/** Largest size of a stored block in deflate. */
const block = 0xffff

/** A valid gzip file of the bytes, in stored blocks. */
export const gzipStored = (bytes: Uint8Array): Uint8Array => {
  const parts: Array<ArrayLike<number>> = [[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]]
  for (let from = 0; from === 0 || from < bytes.length; from += block) {
    const stored = bytes.subarray(from, from + block)
    const last = from + block >= bytes.length ? 1 : 0
    parts.push([last, ...little(stored.length, 2), ...little(~stored.length & 0xffff, 2)], stored)
  }
  parts.push([...little(crc32(bytes), 4), ...little(bytes.length, 4)])
  const result = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    result.set(part, at)
    at += part.length
  }
  return result
}

// MERGED response.ts: Faults of any response: other statuses, broken bodies, bodies that do not arrive.

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

// MERGED token.ts: Faults of a token response with status 200.

const ok = (body: object) => respondJson(200, JSON.stringify(body))

const malformed = (body: TokenBody, defect: TokenDefect): FakeResponse => {
  const { access_token, expires_in, token_type } = body
  switch (defect) {
    case "html":
      return respondWith(200, { "content-type": "text/html" }, `<html><body>${access_token}</body></html>`)
    case "empty":
      return respondJson(200, "")
    case "notJson":
      return respondJson(200, `access_token=${access_token}`)
    case "noAccessToken":
      return ok({ token_type, expires_in })
    case "emptyAccessToken":
      return ok({ ...body, access_token: "" })
    case "numberAccessToken":
      return ok({ ...body, access_token: 12_345 })
    case "crlfAccessToken":
      return ok({ ...body, access_token: `${access_token}\r\nx-injected: 1` })
    case "spaceAccessToken":
      return ok({ ...body, access_token: ` ${access_token} ` })
    case "hugeAccessToken":
      return ok({ ...body, access_token: access_token + "a".repeat(1_000_000) })
    case "noTokenType":
      return ok({ expires_in, access_token })
    case "macTokenType":
      return ok({ ...body, token_type: "mac" })
  }
}

/** How a fault writes a token response; `undefined` for other faults. */
export const tokenWriter = (fault: Fault): ((body: TokenBody) => FakeResponse) | undefined => {
  switch (fault._tag) {
    case "TokenMalformed":
      return (body) => malformed(body, fault.defect)
    case "ExpiresIn":
      return (body) => ({ ...respondWithToken(body), body: JSON.stringify({ ...body, expires_in: fault.value }) })
    default:
      return undefined
  }
}
