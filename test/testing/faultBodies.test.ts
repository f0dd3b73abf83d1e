import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Zlib from "node:zlib"
import { defaultCompany, type FakeResponse, FakeService, Fault, generatePunches } from "../../src/testing/index.ts"
import { ask, bearer, envelopeOf, inject, requestToken, textOf } from "./support.ts"

const punches = generatePunches({ seed: 9, count: 50, companyId: defaultCompany.id, deletedShare: 0 })

const withPunches = FakeService.layer({ punches })

const bytesOf = ({ body }: FakeResponse) => typeof body === "string" ? new TextEncoder().encode(body) : body

describe("a fault of the body", () => {
  it.effect("makes invalid JSON, invalid UTF-8, nothing, or a page of HTML", () =>
    Effect.gen(function*() {
      yield* inject(Fault.invalidJson(), { requests: 1 })
      yield* inject(Fault.invalidJson("{,}"), { requests: 2 })
      yield* inject(Fault.invalidUtf8, { requests: 3 })
      yield* inject(Fault.emptyBody, { requests: 4 })
      yield* inject(Fault.html200, { requests: 5 })
      const [truncated, odd, latin1, empty, html] = yield* Effect.replicateEffect(ask({ limit: "2" }), 5)
      if (truncated === undefined || odd === undefined || latin1 === undefined) return assert.fail("no responses")

      assert.throws(() => JSON.parse(textOf(truncated)))
      assert.strictEqual(textOf(odd), "{,}")
      assert.throws(() => new TextDecoder("utf-8", { fatal: true }).decode(bytesOf(latin1)))
      assert.include(new TextDecoder("latin1").decode(bytesOf(latin1)), "\"notes\":\"café")
      assert.lengthOf(envelopeOf(latin1).data, 2)
      assert.deepInclude(empty, { status: 200, body: "" })
      assert.deepInclude(html?.headers, { "content-type": "text/html; charset=utf-8" })
    }).pipe(Effect.provide(withPunches)))

  it.effect("names a content encoding, and really encodes for gzip", () =>
    Effect.gen(function*() {
      yield* inject(Fault.contentEncoding(), { requests: 1 })
      yield* inject(Fault.contentEncoding("br", new Uint8Array([1, 2])), { requests: 2 })
      yield* inject(Fault.contentEncoding("br"), { requests: 3 })
      const [gzip, br, plain] = yield* Effect.replicateEffect(ask({ limit: "200" }), 3)
      if (gzip === undefined) return assert.fail("no response")

      assert.strictEqual(gzip.headers["content-encoding"], "gzip")
      assert.strictEqual(Zlib.gunzipSync(bytesOf(gzip)).toString("utf8"), plain && textOf(plain))
      assert.deepInclude(br, { body: new Uint8Array([1, 2]) })
    }).pipe(Effect.provide(withPunches)))

  it("encodes bytes of any length as gzip", async () => {
    const { gzipStored } = await import("../../src/testing/faults/hooks.ts")
    for (const length of [0, 1, 65_535, 65_536, 200_000]) {
      const bytes = new Uint8Array(length).map((_, index) => index % 251)

      assert.isTrue(Zlib.gunzipSync(gzipStored(bytes)).equals(bytes))
    }
  })
})

describe("a fault of the token", () => {
  const defects = [
    ["html", /^<html>/],
    ["empty", /^$/],
    ["notJson", /^access_token=/],
    ["noAccessToken", /^\{"token_type":"Bearer","expires_in":3600\}$/],
    ["emptyAccessToken", /"access_token":""/],
    ["numberAccessToken", /"access_token":12345/],
    ["crlfAccessToken", /\\r\\n/],
    ["spaceAccessToken", /"access_token":" /],
    ["hugeAccessToken", /a{1000000}/],
    ["noTokenType", /^\{"expires_in"/],
    ["macTokenType", /"token_type":"mac"/]
  ] as const

  it.effect.each(defects)("makes a response that is %s", ([defect, pattern]) =>
    Effect.gen(function*() {
      yield* inject(Fault.tokenMalformed(defect))
      const response = yield* requestToken

      assert.strictEqual(response.status, 200)
      assert.match(textOf(response), pattern)
    }).pipe(Effect.provide(withPunches)))

  it.effect("sends any lifetime, or none", () =>
    Effect.gen(function*() {
      yield* inject(Fault.expiresIn("3600"), { requests: 1 })
      yield* inject(Fault.expiresIn(undefined), { requests: 2 })
      yield* inject(Fault.expiresIn(-1.5), { requests: 3 })
      const texts = (yield* Effect.replicateEffect(requestToken, 3)).map(textOf)

      assert.match(texts[0] ?? "", /"expires_in":"3600"/)
      assert.notMatch(texts[1] ?? "", /expires_in/)
      assert.match(texts[2] ?? "", /"expires_in":-1.5/)
    }).pipe(Effect.provide(withPunches)))

  it.effect("revokes all tokens before the service handles a request", () =>
    Effect.gen(function*() {
      const token: { readonly access_token: string } = JSON.parse(textOf(yield* requestToken))
      const headers = { ...bearer(token.access_token), "x-company-guid": defaultCompany.guid }
      assert.strictEqual((yield* ask({}, headers)).status, 200)
      yield* inject(Fault.tokenRevoked)
      assert.strictEqual((yield* ask({}, headers)).status, 401)
    }).pipe(Effect.provide(withPunches)))
})
