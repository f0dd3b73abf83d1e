/** What each fault does while the service handles a request: one row of a table for each tag, then the broken bodies. */
import * as Duration from "effect/Duration"
import * as Match from "effect/Match"
import {
  bytesOf,
  type Envelope,
  type EnvelopeEdit,
  type FakeRequest,
  type FakeResponse,
  joinBytes,
  problemText,
  respondJson,
  respondWith,
  respondWithToken,
  type TokenBody
} from "../base/message.ts"
import type { Fault, RowPatch, StatusOptions, TokenDefect } from "./Fault.ts"

/** The points at which the service calls a fault. An absent hook changes nothing. */
export interface FaultHooks {
  /** Responds in place of the service, which never handles the request; `undefined`: it does. `now`: the time of the `Clock`. */
  readonly replaceResponse?: ((request: FakeRequest, now: number) => FakeResponse | undefined) | undefined
  /** Whether all tokens are revoked before the service handles the request. */
  readonly revokesTokens?: boolean
  /** Additional milliseconds before the response. */
  readonly delay?: number
  /** Changes the envelope of a page. */
  readonly editPage?: EnvelopeEdit | undefined
  /** Writes a token response. A fault with this hook affects the token endpoint unless `FaultWhen` says otherwise. */
  readonly writeToken?: ((body: TokenBody) => FakeResponse) | undefined
  /** Changes a response with status 200. */
  readonly editResponse?: ((response: FakeResponse) => FakeResponse) | undefined
  /** Whether the fault affects a single request unless `FaultWhen` says otherwise. */
  readonly happensOnce?: boolean
}

/** The hooks of a fault. Some keep state, so call it once for each injection. */
export const hooksOf = Match.typeTags<Fault, FaultHooks>()({
  Status: ({ options, status }) => ({
    replaceResponse: (request) => statusResponse(status, options, isTokenRequest(request))
  }),
  RateLimit: ({ block, perSecond }) => ({ replaceResponse: rateLimit(perSecond, Duration.toMillis(block)) }),
  UnauthorizedOnce: () => ({
    replaceResponse: (request) => statusResponse(401, {}, isTokenRequest(request)),
    happensOnce: true
  }),
  Echo: ({ status }) => ({ replaceResponse: (request) => echo(status, request) }),
  Html200: () => ({ replaceResponse: () => respondWith(200, { "content-type": htmlType }, html) }),
  EmptyBody: () => ({ replaceResponse: () => respondWith(200, { "content-type": "application/json" }, "") }),
  Reset: () => ({ replaceResponse: () => ({ ...respondJson(200, ""), delivery: { _tag: "Reset" } }) }),
  StallBeforeHeaders: () => ({ replaceResponse: () => ({ ...respondJson(200, ""), delivery: { _tag: "Silence" } }) }),
  StallBody: ({ share }) => ({
    editResponse: (response) => ({ ...response, delivery: { _tag: "Stall", bytes: partOf(response, share) } })
  }),
  CutBody: ({ share }) => ({
    editResponse: (response) => ({ ...response, delivery: { _tag: "Cut", bytes: partOf(response, share) } })
  }),
  Slow: ({ delay }) => ({ delay: Duration.toMillis(delay) }),
  TokenRevoked: () => ({ revokesTokens: true, happensOnce: true }),
  InvalidJson: ({ text }) => ({
    editResponse: (response) => ({ ...response, body: text ?? String(response.body).slice(0, -2) })
  }),
  InvalidUtf8: () => ({ editResponse: (response) => ({ ...response, body: breakUtf8(String(response.body)) }) }),
  OversizedBody: ({ bytes }) => ({
    editResponse: (response) => ({ ...response, delivery: { _tag: "Padded", bytes } })
  }),
  ContentEncoding: ({ bytes, label }) => ({ editResponse: (response) => encoded(response, label, bytes) }),
  RepeatedCursor: () => ({
    editPage: (envelope, { sent }) => sent === undefined ? envelope : withCursor(envelope, { next: sent })
  }),
  CursorCycle: ({ length }) => ({ editPage: cursorCycle(length) }),
  EmptyPage: ({ endless }) => ({ editPage: emptyPage(), happensOnce: !endless }),
  ApiVersion: ({ value }) => ({
    editResponse: ({ headers: { "x-api-version": _, ...headers }, ...response }) => ({
      ...response,
      headers: value === null ? headers : { ...headers, "x-api-version": value }
    })
  }),
  WrongObject: ({ object }) => ({ editPage: (envelope) => ({ ...envelope, object }) }),
  WrongCompany: ({ companyId }) => ({
    editPage: (envelope, origin) => ({
      ...envelope,
      data: origin.rows.map((row) => patchRow(row, { company_id: companyId ?? origin.companyId + 1 }))
    })
  }),
  MissingCursorKey: ({ key }) => ({
    editPage: (envelope) => {
      const { [key]: _gone, ...cursor } = envelope.cursor
      return { ...envelope, cursor }
    }
  }),
  EmptyCursor: () => ({ editPage: (envelope) => withCursor(envelope, { next: "" }) }),
  CountMismatch: ({ delta }) => ({
    editPage: (envelope) => withCursor(envelope, { count: envelope.data.length + delta })
  }),
  DuplicateRow: ({ index }) => ({
    editPage: (envelope) => {
      const row = envelope.data.at(Math.min(index, envelope.data.length - 1))
      if (row === undefined) return envelope
      const data = [...envelope.data, row]
      return { ...withCursor(envelope, { count: data.length }), data }
    }
  }),
  BadRow: ({ index, patch }) => ({
    editPage: (envelope, { rows }) => {
      const at = Math.min(index, rows.length - 1)
      const row = rows[at]
      return row === undefined ? envelope : { ...envelope, data: envelope.data.with(at, patchRow(row, patch)) }
    }
  }),
  TokenMalformed: ({ defect }) => ({ writeToken: (body) => malformedTokens[defect](body) }),
  ExpiresIn: ({ value }) => ({
    writeToken: (body) => ({ ...respondWithToken(body), body: JSON.stringify({ ...body, expires_in: value }) })
  })
})

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

/** Counts what it lets through: what it refuses in a block does not lengthen the block. */
const rateLimit = (perSecond: number, block: number): NonNullable<FaultHooks["replaceResponse"]> => {
  let sent: Array<number> = []
  let blockedUntil = -Infinity
  return (request, now) => {
    if (now >= blockedUntil) {
      sent = sent.filter((at) => at > now - 1000)
      if (sent.length < perSecond) {
        sent.push(now)
        return undefined
      }
      blockedUntil = now + block
    }
    return statusResponse(429, {}, isTokenRequest(request))
  }
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

const latin1 = 0xe9

/** Puts a Latin-1 byte into the first note of the body, or into a new member at its end: the JSON stays valid. */
const breakUtf8 = (body: string): Uint8Array => {
  const mark = "\"notes\":\""
  const found = body.indexOf(mark)
  const at = found < 0 ? body.length - 1 : found + mark.length
  const extra = found < 0 ? [",\"note\":\"caf", "\""] as const : ["caf", ""] as const
  return joinBytes([bytesOf(body.slice(0, at) + extra[0]), [latin1], bytesOf(extra[1] + body.slice(at))])
}

const encoded = (response: FakeResponse, label: string, given: Uint8Array | undefined): FakeResponse => {
  const plain = bytesOf(response.body)
  const body = given ?? (label === "gzip" ? gzipStored(plain) : plain)
  return { ...response, headers: { ...response.headers, "content-encoding": label }, body }
}

const partOf = (response: FakeResponse, share: number) => Math.floor(bytesOf(response.body).length * share)

const ok = (body: object) => respondJson(200, JSON.stringify(body))

/** The token responses with a defect. */
export const malformedTokens: { readonly [Defect in TokenDefect]: (body: TokenBody) => FakeResponse } = {
  html: ({ access_token }) =>
    respondWith(200, { "content-type": "text/html" }, `<html><body>${access_token}</body></html>`),
  empty: () => respondJson(200, ""),
  notJson: ({ access_token }) => respondJson(200, `access_token=${access_token}`),
  noAccessToken: ({ expires_in, token_type }) => ok({ token_type, expires_in }),
  emptyAccessToken: (body) => ok({ ...body, access_token: "" }),
  numberAccessToken: (body) => ok({ ...body, access_token: 12_345 }),
  crlfAccessToken: (body) => ok({ ...body, access_token: `${body.access_token}\r\nx-injected: 1` }),
  spaceAccessToken: (body) => ok({ ...body, access_token: ` ${body.access_token} ` }),
  hugeAccessToken: (body) => ok({ ...body, access_token: body.access_token + "a".repeat(1_000_000) }),
  noTokenType: ({ access_token, expires_in }) => ok({ expires_in, access_token }),
  macTokenType: (body) => ok({ ...body, token_type: "mac" })
}

/** The table of the CRC of gzip. */
const crcTable = Uint32Array.from({ length: 256 }, (_, index) => {
  let value = index
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? 0xedb88320 ^ (value >>> 1) : value >>> 1
  return value
})

const crc32 = (bytes: Uint8Array) => {
  let crc = 0xffffffff
  for (const byte of bytes) crc = (crcTable[(crc ^ byte) & 0xff] ?? 0) ^ (crc >>> 8)
  return (crc ^ 0xffffffff) >>> 0
}

const little = (value: number, width: number) =>
  Array.from({ length: width }, (_, index) => (value >>> (8 * index)) & 0xff)

/** Largest size of a stored block in deflate. */
const block = 0xffff

/** A valid gzip file (RFC 1952) of the bytes in stored blocks, which needs neither a library nor a promise. */
export const gzipStored = (bytes: Uint8Array): Uint8Array => {
  const parts: Array<ArrayLike<number>> = [[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]]
  for (let from = 0; from === 0 || from < bytes.length; from += block) {
    const stored = bytes.subarray(from, from + block)
    const last = from + block >= bytes.length ? 1 : 0
    parts.push([last, ...little(stored.length, 2), ...little(~stored.length & 0xffff, 2)], stored)
  }
  parts.push([...little(crc32(bytes), 4), ...little(bytes.length, 4)])
  return joinBytes(parts)
}
