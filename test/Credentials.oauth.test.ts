import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option, Redacted } from "effect"
import { CompanyGuid, Credentials, type OAuthScope, TimePunches } from "../src/index.ts"
import { defaultCompany, defaultOAuthClient, FakeService, Fault } from "../src/testing/index.ts"
import { otherCompany } from "../src/testing/service/options.ts"
import { app, company, endpoints, inject, oauth, pageRequests, stranger } from "./support/client.ts"
import { sent } from "./support/credentials.ts"
import { building, surfaces } from "./support/settings.ts"
import { letTimePass } from "./support/time.ts"
import { untyped } from "./support/untyped.ts"

const client = { clientId: defaultOAuthClient.clientId, clientSecret: Redacted.make(defaultOAuthClient.clientSecret) }

describe("Credentials.layerOAuth", () => {
  const withCompany = Credentials.layerOAuth({ ...client, company })

  it.effect("sends a token and the guid of the requested company", () =>
    Effect.gen(function*() {
      const credentials = yield* sent(company)

      assert.match(credentials["authorization"] ?? "", /^Bearer [\w-]+\.[\w-]+\.[\w-]+$/)
      assert.strictEqual(credentials["x-company-guid"], defaultCompany.guid)
      assert.notProperty(credentials, "cookie")
    }).pipe(Effect.provide(app({}, oauth))))

  it.effect("refuses a company without its guid before it sends anything, a token request included", () =>
    Effect.gen(function*() {
      const service = yield* FakeService
      const error = yield* Effect.flip(TimePunches.page(company.id))

      assert.deepInclude(error, { _tag: "InvalidRequest", field: "company.guid", companyId: company.id, attempts: 0 })
      assert.include(error.message, "give { id, guid }, as Company.config does with TIME_PUNCHES_COMPANY_GUID")
      assert.isEmpty(yield* service.requests)
    }).pipe(Effect.provide(app({}, oauth))))

  it.effect("fails a listing with the error code of the token endpoint", () =>
    Effect.gen(function*() {
      yield* inject(Fault.status(400, { problem: { error: "invalid_scope" } }), { target: "token" })
      const error = yield* Effect.flip(TimePunches.page(company))

      assert.deepInclude(error, { _tag: "TokenError", reason: "Rejected", code: Option.some("invalid_scope") })
    }).pipe(Effect.provide(app({}, oauth))))

  it.effect("uses the guid of the layer for its company, and never for another", () =>
    Effect.gen(function*() {
      assert.strictEqual((yield* sent(company.id))["x-company-guid"], defaultCompany.guid)
      assert.strictEqual((yield* sent({ id: company.id, guid: undefined }))["x-company-guid"], defaultCompany.guid)
      yield* FakeService.use((service) => service.clearRequests)
      const error = yield* Effect.flip(TimePunches.page(stranger.id))

      assert.deepInclude(error, { _tag: "InvalidRequest", field: "company.guid", companyId: stranger.id })
      assert.isEmpty(yield* pageRequests)
    }).pipe(Effect.provide(app({}, withCompany))))

  it.effect("prefers the guid that a call gives", () =>
    Effect.gen(function*() {
      const guid = CompanyGuid.make("00000000-0000-4000-8000-000000000000")

      assert.strictEqual((yield* sent({ id: company.id, guid }))["x-company-guid"], guid)
      assert.strictEqual((yield* sent(stranger))["x-company-guid"], otherCompany.guid)
    }).pipe(Effect.provide(app({}, withCompany))))

  it.effect("shares one token between companies, each with its own guid", () =>
    Effect.gen(function*() {
      const service = yield* FakeService
      const pages = [company, stranger, company, stranger].map((each) => TimePunches.page(each))
      yield* Effect.all(pages, { concurrency: "unbounded" })

      assert.strictEqual(yield* service.tokensIssued, 1)
      for (const { headers, path } of yield* pageRequests) {
        assert.strictEqual(headers["x-company-guid"], path.includes(`/${company.id}/`) ? company.guid : stranger.guid)
      }
    }).pipe(Effect.provide(app({}, oauth))))

  it.effect("renews a token that a 401 refuses, once a page", () =>
    Effect.gen(function*() {
      const service = yield* FakeService
      yield* TimePunches.page(company)
      yield* service.revokeTokens
      yield* TimePunches.page(company)
      assert.strictEqual(yield* service.tokensIssued, 2)
      assert.strictEqual((yield* pageRequests).length, 3)

      yield* service.clearRequests
      yield* inject(Fault.status(401))
      const error = yield* letTimePass(Effect.flip(TimePunches.page(company)))
      assert.strictEqual(error._tag, "Unauthorized")
      assert.strictEqual((yield* pageRequests).length, 2)
    }).pipe(Effect.provide(app({}, oauth))))

  it.effect("does not renew a second time for one page, with a 503 between", () =>
    Effect.gen(function*() {
      yield* inject(Fault.status(401), { requests: [1, 3] })
      yield* inject(Fault.status(503), { requests: 2 })
      const error = yield* letTimePass(Effect.flip(TimePunches.page(company)))

      assert.deepInclude<object>(error, { _tag: "Unauthorized", attempts: 3 })
      assert.strictEqual((yield* pageRequests).length, 3)
    }).pipe(Effect.provide(app({}, oauth))))

  it.effect("scrubs the client secret from a problem body, although no page request carries it", () =>
    Effect.gen(function*() {
      yield* inject(Fault.status(403, { problem: { detail: `you are ${defaultOAuthClient.clientSecret}` } }))
      const error = yield* Effect.flip(TimePunches.page(company))

      assert.include(error.message, "you are <redacted>")
      assert.notInclude(surfaces(error), defaultOAuthClient.clientSecret)
    }).pipe(Effect.provide(app({}, oauth))))

  it.effect("does not renew for a 403", () =>
    Effect.gen(function*() {
      const service = yield* FakeService
      yield* inject(Fault.status(403))
      const error = yield* Effect.flip(TimePunches.page(company))

      assert.strictEqual(error._tag, "Forbidden")
      assert.deepStrictEqual([yield* service.tokensIssued, (yield* pageRequests).length], [1, 1])
    }).pipe(Effect.provide(app({}, oauth))))

  const scopes: ReadonlyArray<readonly [string | null, ReadonlyArray<OAuthScope> | undefined]> = [
    ["time_punches:read", undefined],
    ["time_punches:read users:write", ["time_punches:read", "users:write"]],
    [null, []]
  ]

  it.effect.each(scopes)("sends the scope %j", ([scope, given]) =>
    Effect.gen(function*() {
      const service = yield* FakeService
      yield* Effect.exit(TimePunches.page(company))
      const [token] = yield* service.requests

      assert.strictEqual(new URLSearchParams(token?.body).get("scope"), scope)
    }).pipe(Effect.provide(app({}, Credentials.layerOAuth({ ...client, scopes: given })))))

  const wrongCompanies = [{ id: company.id }, { ...company, guid: "canary" }, { guid: company.guid }, {
    ...company,
    id: -1
  }]

  it.effect.each(wrongCompanies)("refuses %j as the company of the layer", (wrong) =>
    Effect.gen(function*() {
      const layer = Credentials.layerOAuth({ ...client, company: untyped(wrong) })
      const error = yield* Effect.flip(
        building(layer.pipe(Layer.provide(FakeService.layerClient), Layer.provide(endpoints)))
      )

      assert.include(String(error), "company must be")
      assert.notInclude(surfaces(error), "canary")
    }).pipe(Effect.provide(FakeService.layer())))
})
