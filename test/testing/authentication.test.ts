import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import {
  defaultCompany,
  defaultOAuthClient,
  type FakeResponse,
  FakeService,
  type FakeServiceOptions,
  generatePunches
} from "../../src/testing/index.ts"
import { defaultSession, otherCompany } from "../../src/testing/service/options.ts"
import { bearer, pagePath, problemOf, queryString, textOf } from "./support.ts"

type Headers = Readonly<Record<string, string>>

const form = {
  grant_type: "client_credentials",
  client_id: defaultOAuthClient.clientId,
  client_secret: defaultOAuthClient.clientSecret
}

const formHeaders = { "content-type": "application/x-www-form-urlencoded" }

const requestToken = (body: string, headers: Headers = formHeaders, method = "POST") =>
  FakeService.use((service) => service.respond({ method, url: "https://auth.test/oauth2/token", headers, body }))

const tokenOf = (response: FakeResponse): { access_token: string; token_type: string; expires_in: number } =>
  JSON.parse(textOf(response))

const issue = (scope?: string) =>
  Effect.map(
    requestToken(queryString(scope === undefined ? form : { ...form, scope })),
    (response) => tokenOf(response).access_token
  )

const get = (headers: Headers, url = pagePath, method = "GET") =>
  FakeService.use((service) => service.respond({ method, url, headers, body: "" }))

const guid = (value: string) => ({ "x-company-guid": value })

const tokenStatus = (token: string) =>
  Effect.map(get({ ...bearer(token), ...guid(defaultCompany.guid) }), (response) => response.status)

const scopedStatus = (scope?: string) => Effect.flatMap(issue(scope), tokenStatus)

const getVersion = (text: string) => get({ ...bearer(defaultCompany.accessToken), "x-api-version": text })

const fake = (options: FakeServiceOptions = {}) =>
  FakeService.layer({ punches: generatePunches({ count: 3, companyId: defaultCompany.id }), ...options })

const otherPath = `/v2/company/${otherCompany.id}/time_punches`

describe("a listing request", () => {
  const cases: ReadonlyArray<readonly [name: string, headers: Headers, url: string, status: number, param?: string]> = [
    ["without credentials", {}, pagePath, 401],
    ["with a wrong token", bearer("nonsense"), pagePath, 401],
    ["with an empty token", { authorization: "Bearer " }, pagePath, 401],
    ["with a token of another scheme", { authorization: `Basic ${defaultCompany.accessToken}` }, pagePath, 401],
    ["with an access token", bearer(defaultCompany.accessToken), pagePath, 200],
    [
      "with an access token and a guid, which it ignores",
      { ...bearer(defaultCompany.accessToken), ...guid("x") },
      pagePath,
      200
    ],
    ["with the access token of another company", bearer(otherCompany.accessToken), pagePath, 403],
    ["with a session", { cookie: `theme=dark; svcsession=${defaultSession.cookie}` }, pagePath, 200],
    ["with a wrong session", { cookie: "svcsession=nonsense" }, pagePath, 401],
    [
      "with a version",
      { ...bearer(defaultCompany.accessToken), "x-api-version": "2031-01-01" },
      pagePath,
      200
    ],
    [
      "with an invalid version",
      { ...bearer(defaultCompany.accessToken), "x-api-version": "v2.2023.0501" },
      pagePath,
      422,
      "x-api-version"
    ],
    [
      "for a company id that is not a number",
      bearer(defaultCompany.accessToken),
      "/v2/company/abc/time_punches",
      422,
      "company_id"
    ],
    [
      "for an unknown company",
      { cookie: `svcsession=${defaultSession.cookie}` },
      "/v2/company/1/time_punches",
      403
    ],
    ["to another path", bearer(defaultCompany.accessToken), "/v2/company/4021/shifts", 404]
  ]

  for (const [name, headers, url, status, param] of cases) {
    it.effect(`${name} gets ${status}`, () =>
      Effect.gen(function*() {
        const response = yield* get(headers, url)

        assert.strictEqual(response.status, status)
        if (status !== 200) assert.deepInclude(problemOf(response), { status, ...(param && { param }) })
      }).pipe(Effect.provide(fake())))
  }

  it.effect("must be a GET", () =>
    Effect.gen(function*() {
      assert.strictEqual((yield* get(bearer(defaultCompany.accessToken), pagePath, "POST")).status, 405)
    }).pipe(Effect.provide(fake())))

  it.effect("gets 403 when the plan does not cover it", () =>
    Effect.gen(function*() {
      assert.strictEqual((yield* get(bearer(defaultCompany.accessToken))).status, 403)
    }).pipe(Effect.provide(fake({ planOk: false }))))

  it.effect("gets 422 for a version that the service does not accept", () =>
    Effect.gen(function*() {
      assert.strictEqual((yield* getVersion("2026-06-01")).status, 200)
      assert.strictEqual(problemOf(yield* getVersion("2022-05-01")).param, "x-api-version")
    }).pipe(Effect.provide(fake({ apiVersions: ["2026-06-01"] }))))

  it.effect("gets 403 with a session of another company", () =>
    Effect.gen(function*() {
      assert.strictEqual((yield* get({ cookie: "svcsession=s" })).status, 403)
      assert.strictEqual((yield* get({ cookie: "svcsession=s" }, otherPath)).status, 200)
    }).pipe(Effect.provide(fake({ sessions: [{ cookie: "s", companyIds: [otherCompany.id] }] }))))

  it.effect("has a path under the base path, if there is one", () =>
    Effect.gen(function*() {
      assert.strictEqual((yield* get(bearer(defaultCompany.accessToken), `https://h.test/api${pagePath}`)).status, 200)
      assert.strictEqual((yield* get(bearer(defaultCompany.accessToken))).status, 404)
    }).pipe(Effect.provide(fake({ basePath: "/api" }))))
})

describe("an OAuth token", () => {
  it.effect("needs the guid of the company in the path, which granted access to its client", () =>
    Effect.gen(function*() {
      const token = yield* issue()
      const missing = yield* get(bearer(token))
      const broken = yield* get({ ...bearer(token), ...guid("4021") })

      assert.deepInclude(problemOf(missing), { status: 422, param: "x-company-guid" })
      assert.deepInclude(problemOf(broken), { status: 422, param: "x-company-guid" })
      assert.strictEqual((yield* get({ ...bearer(token), ...guid(defaultCompany.guid) })).status, 200)
      assert.strictEqual((yield* get({ ...bearer(token), ...guid(defaultCompany.guid.toUpperCase()) })).status, 200)
      assert.strictEqual((yield* get({ ...bearer(token), ...guid(otherCompany.guid) })).status, 403)
      assert.strictEqual(
        (yield* get({ ...bearer(token), ...guid("00000000-0000-4000-8000-000000000000") })).status,
        403
      )
      assert.strictEqual((yield* get({ ...bearer(token), ...guid(otherCompany.guid) }, otherPath)).status, 200)
    }).pipe(Effect.provide(fake())))

  it.effect("does not reach a company that granted no access", () =>
    Effect.gen(function*() {
      const token = yield* issue()

      assert.strictEqual((yield* get({ ...bearer(token), ...guid(defaultCompany.guid) })).status, 200)
      assert.strictEqual((yield* get({ ...bearer(token), ...guid(otherCompany.guid) }, otherPath)).status, 403)
    }).pipe(Effect.provide(fake({ oauthClients: [{ ...defaultOAuthClient, grantedGuids: [defaultCompany.guid] }] }))))

  it.effect("needs the scope to read time punches, or a token request without scopes", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* scopedStatus(), 200)
      assert.strictEqual(yield* scopedStatus(""), 200)
      assert.strictEqual(yield* scopedStatus("shifts:read time_punches:read"), 200)
      assert.strictEqual(yield* scopedStatus("time_punches:write"), 403)
      assert.strictEqual(yield* scopedStatus("v1_access"), 403)
    }).pipe(Effect.provide(fake())))

  it.effect("expires", () =>
    Effect.gen(function*() {
      const token = yield* issue()
      const status = tokenStatus(token)

      yield* TestClock.adjust("3599 seconds")
      assert.strictEqual(yield* status, 200)
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* status, 401)
    }).pipe(Effect.provide(fake())))

  it.effect("is invalid once revoked, and its successor is valid", () =>
    Effect.gen(function*() {
      const service = yield* FakeService
      const first = yield* issue()
      yield* service.revokeTokens
      const second = yield* issue()

      assert.notStrictEqual(first, second)
      assert.strictEqual(yield* tokenStatus(first), 401)
      assert.strictEqual(yield* tokenStatus(second), 200)
      assert.strictEqual(yield* service.tokensIssued, 2)
    }).pipe(Effect.provide(fake())))
})

describe("the token endpoint", () => {
  it.effect("issues a bearer token with the lifetime of the service", () =>
    Effect.gen(function*() {
      const response = yield* requestToken(queryString(form))
      const token = tokenOf(response)

      assert.strictEqual(response.status, 200)
      assert.deepStrictEqual(Object.keys(token).toSorted(), ["access_token", "expires_in", "token_type"])
      assert.deepInclude(token, { token_type: "Bearer", expires_in: 60 })
      assert.match(token.access_token, /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/)
    }).pipe(Effect.provide(fake({ tokenLifetime: "1 minute" }))))

  const cases: ReadonlyArray<readonly [name: string, body: string, status: number, error: string]> = [
    ["a wrong secret", queryString({ ...form, client_secret: "no" }), 401, "invalid_client"],
    ["an unknown client", queryString({ ...form, client_id: "no" }), 401, "invalid_client"],
    ["no client", "grant_type=client_credentials", 401, "invalid_client"],
    ["no grant type", queryString({ client_id: "a", client_secret: "b" }), 400, "invalid_request"],
    ["another grant type", queryString({ ...form, grant_type: "refresh_token" }), 400, "unsupported_grant_type"],
    [
      "an unknown scope",
      queryString({ ...form, scope: "time_punches:read time_punches:delete" }),
      400,
      "invalid_scope"
    ],
    ["a field sent twice", `${queryString(form)}&client_id=fake-client`, 400, "invalid_request"],
    ["an empty body", "", 400, "invalid_request"]
  ]

  for (const [name, body, status, error] of cases) {
    it.effect(`answers ${name} with ${status} ${error}`, () =>
      Effect.gen(function*() {
        const service = yield* FakeService
        const response = yield* requestToken(body)
        const read: { readonly error: string } = JSON.parse(textOf(response))

        assert.strictEqual(response.status, status)
        assert.strictEqual(read.error, error)
        assert.strictEqual(response.headers["content-type"], "application/json")
        assert.strictEqual(yield* service.tokensIssued, 0)
      }).pipe(Effect.provide(fake())))
  }

  it.effect("accepts only forms, and only by POST", () =>
    Effect.gen(function*() {
      assert.strictEqual(
        (yield* requestToken(JSON.stringify(form), { "content-type": "application/json" })).status,
        415
      )
      assert.strictEqual((yield* requestToken(queryString(form), {})).status, 415)
      assert.strictEqual((yield* requestToken("", {}, "GET")).status, 405)
      assert.strictEqual(
        (yield* requestToken(queryString(form), { "content-type": "application/x-www-form-urlencoded; charset=utf-8" }))
          .status,
        200
      )
    }).pipe(Effect.provide(fake())))
})
