/** The credential examples send what their page says, and nothing else. */
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { type Config, ConfigProvider, Context, Effect, FileSystem, Layer, Redacted } from "effect"
import type { HttpClient } from "effect/http"
import { KeyValueStore } from "effect/persistence"
import { TestClock } from "effect/testing"
import { layerTokenFile, withAccessToken, withOAuth, withSession } from "../../docs/examples/credentials.ts"
import { countAll, tokenOfEach } from "../../docs/examples/many-companies.ts"
import { importKey, layerOfProcess } from "../../docs/examples/shared-token.ts"
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

describe("docs/examples/shared-token.ts", () => {
  const makeKey = Effect.suspend(() => importKey(crypto.getRandomValues(new Uint8Array(32))))
  const oauth = {
    clientId: defaultOAuthClient.clientId,
    clientSecret: Redacted.make(defaultOAuthClient.clientSecret)
  }

  /** The client of one process: its own cache, over the store and the service that all of them reach. */
  const makeProcess = (key: CryptoKey) =>
    Layer.build(
      layerOfProcess(oauth, key, "http://localhost").pipe(Layer.provide(FakeService.layerClient))
    ).pipe(Effect.map((context) => Context.get(context, TimePunches).page(company)))

  const shared = Layer.merge(FakeService.layer(), KeyValueStore.layerMemory)

  it.effect("requests one token for two processes, and one more when it ends", () =>
    Effect.gen(function*() {
      const service = yield* FakeService
      const key = yield* makeKey
      const [one, other] = [yield* makeProcess(key), yield* makeProcess(key)]
      yield* one
      yield* other
      assert.strictEqual(yield* service.tokensIssued, 1)

      yield* TestClock.adjust("1 hour")
      yield* one
      yield* other

      assert.strictEqual(yield* service.tokensIssued, 2)
    }).pipe(Effect.scoped, Effect.provide(shared)))

  it.effect("does not take a refused token from the store again", () =>
    Effect.gen(function*() {
      const service = yield* FakeService
      const one = yield* makeProcess(yield* makeKey)
      yield* one
      yield* service.inject(Fault.tokenRevoked, { times: 1 })
      yield* one

      assert.strictEqual(yield* service.tokensIssued, 2)
    }).pipe(Effect.scoped, Effect.provide(shared)))

  it.effect("stores nothing that can be read without the key, and requests its own token with another key", () =>
    Effect.gen(function*() {
      const service = yield* FakeService
      const store = yield* KeyValueStore.KeyValueStore
      yield* yield* makeProcess(yield* makeKey)
      const token = (yield* service.requests).map(({ headers }) => headers["authorization"]).find((text) =>
        text !== undefined
      )
      const stored = Buffer.from((yield* store.getUint8Array("time-punches-token")) ?? []).toString("latin1")
      yield* yield* makeProcess(yield* makeKey)

      assert.isAbove(stored.length, 50)
      assert.notInclude(stored, token?.slice("Bearer ".length) ?? assert.fail("no request was signed"))
      assert.strictEqual(yield* service.tokensIssued, 2)
    }).pipe(Effect.scoped, Effect.provide(shared)))
})
