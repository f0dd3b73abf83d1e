import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { Endpoints, TimePunches } from "../src/index.ts"
import { FakeService } from "../src/testing/index.ts"
import { accessToken, company, oauth } from "./support/client.ts"
import { building, environment, surfaces } from "./support/settings.ts"

const base = "TIME_PUNCHES_BASE_URL"
const auth = "TIME_PUNCHES_AUTH_URL"

const layerOf = (baseUrl: string | URL) => Endpoints.layer({ baseUrl })

const normalized = (baseUrl: string | URL) =>
  Effect.map(Endpoints, (endpoints) => endpoints.baseUrl).pipe(Effect.provide(layerOf(baseUrl)))

const bad: ReadonlyArray<readonly [string, string]> = [
  ["http elsewhere than on loopback", "http://api.canary.test"],
  ["a host that begins like loopback", "http://127.0.0.1.canary.test"],
  ["a host that ends like loopback", "http://canary.localhost.test"],
  ["another host that begins like loopback", "http://localhost.canary.test"],
  ["all addresses", "http://0.0.0.0:8080/canary"],
  ["a private address", "http://192.168.0.1/canary"],
  ["a file", "file:///etc/canary"],
  ["data", "data:text/html,canary"],
  ["a script", "javascript:canary()"],
  ["a blob", "blob:https://api.canary.test/1"],
  ["a web socket", "wss://api.canary.test"],
  ["a user name", "https://canary@api.test"],
  ["a password", "https://user:canary@api.test"],
  ["a password with a raw slash", "https://user:12/canary@api.test"],
  ["a query", "https://api.test/?canary=1"],
  ["a fragment", "https://api.test/#canary"],
  ["an empty query", "https://api.canary.test/?"],
  ["an empty fragment", "https://api.canary.test/#"],
  ["no scheme", "api.canary.test"],
  ["a path", "/canary"],
  ["no URL", "canary canary"],
  ["no host", "https://"]
]

/** Addresses that have what the client appends. */
const whole: ReadonlyArray<readonly [option: "baseUrl" | "authUrl", address: string, before: string]> = [
  ["baseUrl", "https://api.test/v2", "/v2"],
  ["baseUrl", "https://api.test/canary/v2/", "/v2"],
  ["baseUrl", "https://api.test/v2/company", "/v2"],
  ["baseUrl", "https://api.test/v2/company/4021/time_punches", "/v2"],
  ["authUrl", "https://auth.test/canary/oauth2/token/", "/oauth2"]
]

const good: ReadonlyArray<readonly [string, string]> = [
  ["https://api.test", "https://api.test"],
  ["https://api.test/", "https://api.test"],
  ["https://api.test///", "https://api.test"],
  ["https://api.test/base", "https://api.test/base"],
  ["https://api.test/base/", "https://api.test/base"],
  ["https://api.test/a/b//", "https://api.test/a/b"],
  ["https://api.test/gateway", "https://api.test/gateway"],
  ["https://api.test/v2/gateway", "https://api.test/v2/gateway"],
  ["https://api.test/apiv2", "https://api.test/apiv2"],
  ["https://api.test/v20", "https://api.test/v20"],
  ["https://api.test:8443/a", "https://api.test:8443/a"],
  ["https://api.test:443", "https://api.test"],
  ["HTTPS://API.Test/Base", "https://api.test/Base"],
  ["  https://api.test/a b  ", "https://api.test/a%20b"],
  ["https://api.test/a/../b", "https://api.test/b"],
  ["http://localhost:3000/", "http://localhost:3000"],
  ["http://127.0.0.1:80", "http://127.0.0.1"],
  ["http://127.255.0.9/x", "http://127.255.0.9/x"],
  ["http://[::1]:9/", "http://[::1]:9"]
]

describe("Endpoints.layer", () => {
  it.effect.each(good)("normalizes %s to %s", ([given, expected]) =>
    Effect.gen(function*() {
      assert.strictEqual(yield* normalized(given), expected)
      assert.strictEqual(yield* normalized(new URL(given)), expected)
    }))

  it.effect.each(bad)(
    "refuses %s, by the name of the option and without its value",
    ([, address]) =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(building(layerOf(address)))
        const authError = yield* Effect.flip(
          building(Endpoints.layer({ baseUrl: "https://api.test", authUrl: address }))
        )

        assert.strictEqual(error._tag, "ConfigError")
        assert.include(error.message, "baseUrl must be")
        assert.include(authError.message, "authUrl must be")
        assert.notInclude(surfaces([error, authError]), "canary")
      })
  )

  it.effect.each(whole)(
    "refuses %s %s, and says what to remove",
    ([option, address, before]) =>
      Effect.gen(function*() {
        const variable = option === "baseUrl" ? base : auth
        const given = yield* Effect.flip(building(Endpoints.layer({ baseUrl: "https://api.test", [option]: address })))
        const set = yield* Effect.flip(building(
          Endpoints.layerFromConfig.pipe(
            Layer.provide(environment({ [base]: "https://api.test", [variable]: address }))
          )
        ))

        assert.include(given.message, `${option} must be a URL that ends before ${before}: remove the rest`)
        assert.include(set.message, `${variable} must be a URL that ends before ${before}: remove the rest`)
        assert.notInclude(surfaces([given, set]), "canary")
      })
  )

  it.effect("uses the base URL as the auth URL if none is given", () =>
    Effect.gen(function*() {
      const both = Effect.map(Endpoints, (endpoints) => endpoints)
      const given = { baseUrl: "https://api.test/v", authUrl: new URL("https://auth.test/t/") }

      assert.deepStrictEqual(yield* Effect.provide(both, layerOf("https://api.test/v")), {
        baseUrl: "https://api.test/v",
        authUrl: "https://api.test/v"
      })
      assert.deepStrictEqual(yield* Effect.provide(both, Endpoints.layer(given)), {
        baseUrl: "https://api.test/v",
        authUrl: "https://auth.test/t"
      })
    }))

  it.effect("is where page and token requests are sent, with one slash between the parts", () =>
    Effect.gen(function*() {
      const service = yield* FakeService
      yield* TimePunches.page(company)

      assert.deepStrictEqual((yield* service.requests).map(({ path }) => path), [
        "/base/oauth2/token",
        `/base/v2/company/${company.id}/time_punches`
      ])
    }).pipe(Effect.provide(TimePunches.layer.pipe(
      Layer.provide(oauth),
      Layer.provide(layerOf("https://api.test/base//")),
      Layer.provide(FakeService.layerClient),
      Layer.provideMerge(FakeService.layer({ basePath: "/base" }))
    ))))
})

describe("Endpoints.layerFromConfig", () => {
  const built = (env: Readonly<Record<string, string>>) =>
    Effect.map(Endpoints, (endpoints) => endpoints).pipe(
      Effect.provide(Endpoints.layerFromConfig.pipe(Layer.provide(environment(env))))
    )

  it.effect("reads the two variables", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* built({ [base]: "https://api.test/", [auth]: "https://auth.test/" }), {
        baseUrl: "https://api.test",
        authUrl: "https://auth.test"
      })
    }))

  it.effect.each([{ [base]: "https://api.test" }, { [base]: "https://api.test", [auth]: "" }])(
    "uses the base URL as the auth URL if that is not set, or empty",
    (env) =>
      Effect.gen(function*() {
        assert.strictEqual((yield* built(env)).authUrl, "https://api.test")
      })
  )

  it.effect.each([{}, { [base]: "" }, { [auth]: "https://auth.test" }])(
    "names the variable that is missing",
    (env) =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(built({ ...env }))

        assert.include(error.message, base)
        assert.notInclude(error.message, auth)
      })
  )

  it.effect.each(bad)(
    "refuses %s, by the name of the variable and without its value",
    ([, address]) =>
      Effect.gen(function*() {
        const wrongBase = yield* Effect.flip(built({ [base]: address }))
        const wrongAuth = yield* Effect.flip(built({ [base]: "https://api.test", [auth]: address }))

        assert.include(wrongBase.message, `${base} must be`)
        assert.include(wrongAuth.message, `${auth} must be`)
        assert.notInclude(surfaces([wrongBase, wrongAuth]), "canary")
      })
  )
})

describe("a client", () => {
  it.effect("accepts a base URL that is a URL object", () =>
    Effect.gen(function*() {
      assert.isEmpty((yield* TimePunches.page(company)).items)
    }).pipe(Effect.provide(TimePunches.layer.pipe(
      Layer.provide(accessToken),
      Layer.provide(layerOf(new URL("http://localhost:1/"))),
      Layer.provide(FakeService.layerClient),
      Layer.provide(FakeService.layer())
    ))))
})
