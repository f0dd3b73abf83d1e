/** The credential examples send what their page says, and nothing else. */
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { type Config, ConfigProvider, Effect, FileSystem, Layer, Redacted } from "effect"
import type { HttpClient } from "effect/http"
import { layerTokenFile, withAccessToken, withOAuth, withSession } from "../../docs/examples/credentials.ts"
import { countAll, tokenOfEach } from "../../docs/examples/many-companies.ts"
import { CompanyGuid, CompanyId, Endpoints, TimePunches } from "../../src/index.ts"
import { defaultCompany, defaultOAuthClient, FakeService, Fault } from "../../src/testing/index.ts"
import { defaultSession, otherCompany } from "../../src/testing/service/options.ts"

const { accessToken, guid } = defaultCompany
const company = { id: CompanyId.make(defaultCompany.id), guid: CompanyGuid.make(guid) }

const withService = <E>(client: Layer.Layer<TimePunches, E, HttpClient.HttpClient>) =>
  client.pipe(Layer.provide(FakeService.layerClient), Layer.provideMerge(FakeService.layer()))

/** The identifying headers of the last request, as the service received them. */
const shown = Effect.gen(function*() {
  const service = yield* FakeService
  const headers = (yield* service.requests).at(-1)?.headers ?? {}
  return Object.fromEntries(
    ["authorization", "cookie", "x-company-guid"].flatMap((name) =>
      headers[name] === undefined ? [] : [[name, headers[name]]]
    )
  )
})

describe("docs/examples/credentials.ts", () => {
  const sends = (client: Layer.Layer<TimePunches, Config.ConfigError, HttpClient.HttpClient>) =>
    Effect.andThen(TimePunches.page(company), shown).pipe(Effect.provide(withService(client)))

  it.effect("sends a token, a token with a guid, or a cookie", () =>
    Effect.gen(function*() {
      const oauth = yield* sends(withOAuth(Redacted.make(defaultOAuthClient.clientSecret), company))

      assert.deepStrictEqual(yield* sends(withAccessToken(Redacted.make(accessToken))), {
        authorization: `Bearer ${accessToken}`
      })
      assert.deepStrictEqual(yield* sends(withSession(Redacted.make(defaultSession.cookie))), {
        cookie: `svcsession=${defaultSession.cookie}`
      })
      assert.deepStrictEqual(Object.keys(oauth), ["authorization", "x-company-guid"])
      assert.strictEqual(oauth["x-company-guid"], guid)
    }))

  it.effect("reads a token file for each request, and again after a 401", () =>
    Effect.gen(function*() {
      const files = yield* FileSystem.FileSystem
      const path = yield* files.makeTempFileScoped()
      const app = withService(TimePunches.layer.pipe(
        Layer.provide(layerTokenFile(path)),
        Layer.provide(NodeServices.layer),
        Layer.provide(Endpoints.layer({ baseUrl: "http://localhost" }))
      ))
      yield* Effect.gen(function*() {
        const service = yield* FakeService
        yield* files.writeFileString(path, `${accessToken}\n`)
        yield* service.inject(Fault.unauthorizedOnce)
        yield* TimePunches.page(company)
        yield* files.remove(path)
        const error = yield* Effect.flip(TimePunches.page(company))

        assert.deepStrictEqual(yield* shown, { authorization: `Bearer ${accessToken}` })
        assert.strictEqual((yield* service.requests).length, 2)
        assert.strictEqual(error._tag === "InvalidRequest" ? error.field : error._tag, "tokenFile")
      }).pipe(Effect.provide(app))
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)))

  it.effect("looks up the token of each company, and fails for the one that has none", () =>
    Effect.gen(function*() {
      const app = withService(TimePunches.layer.pipe(
        Layer.provide(tokenOfEach),
        Layer.provide(Endpoints.layer({ baseUrl: "http://localhost" })),
        Layer.provide(
          ConfigProvider.layer(ConfigProvider.fromUnknown({ [`TOKEN_OF_COMPANY_${company.id}`]: accessToken }))
        )
      ))
      const counted = yield* countAll([company, { id: CompanyId.make(otherCompany.id) }]).pipe(Effect.provide(app))

      assert.deepStrictEqual(
        counted.map(({ result }) => result._tag === "Success" ? result.success : result.failure._tag),
        [0, "Unauthorized"]
      )
    }))
})
