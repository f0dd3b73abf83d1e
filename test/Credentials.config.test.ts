import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { Credentials, TimePunches } from "../src/index.ts"
import { defaultCompany, defaultOAuthClient, FakeService } from "../src/testing/index.ts"
import { defaultSession } from "../src/testing/service/options.ts"
import { app, company, endpoints, stranger } from "./support/client.ts"
import { sent } from "./support/credentials.ts"
import { building, environment, surfaces } from "./support/settings.ts"

type Environment = Readonly<Record<string, string>>

const token = { TIME_PUNCHES_ACCESS_TOKEN: defaultCompany.accessToken }
const cookie = { TIME_PUNCHES_SESSION_COOKIE: defaultSession.cookie }
const client = {
  TIME_PUNCHES_CLIENT_ID: defaultOAuthClient.clientId,
  TIME_PUNCHES_CLIENT_SECRET: defaultOAuthClient.clientSecret
}
const companyOfClient = { TIME_PUNCHES_COMPANY_ID: String(company.id), TIME_PUNCHES_COMPANY_GUID: company.guid }

const credentials = (env: Environment) => Credentials.layerFromConfig.pipe(Layer.provide(environment(env)))

/** The error of an environment. */
const errorOf = (env: Environment) =>
  Effect.flip(building(credentials(env).pipe(Layer.provide(FakeService.layerClient), Layer.provide(endpoints)))).pipe(
    Effect.provide(FakeService.layer())
  )

/** The scope that is sent in an environment, `null` for none. */
const scopeOf = (env: Environment) =>
  Effect.gen(function*() {
    const service = yield* FakeService
    yield* Effect.exit(TimePunches.page(company))
    return new URLSearchParams((yield* service.requests)[0]?.body).get("scope")
  }).pipe(Effect.provide(app({}, credentials(env))))

describe("Credentials.layerFromConfig", () => {
  it.effect("reads an access token", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* sent(company), { authorization: `Bearer ${defaultCompany.accessToken}` })
    }).pipe(Effect.provide(app({}, credentials(token)))))

  it.effect("reads a session cookie", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* sent(company), { cookie: `svcsession=${defaultSession.cookie}` })
    }).pipe(Effect.provide(app({}, credentials(cookie)))))

  it.effect("reads an OAuth client", () =>
    Effect.gen(function*() {
      assert.strictEqual((yield* sent(company))["x-company-guid"], company.guid)
      assert.deepInclude(yield* Effect.flip(TimePunches.page(company.id)), { field: "company.guid" })
    }).pipe(Effect.provide(app({}, credentials(client)))))

  it.effect("reads the company of an OAuth client, whose guid is sent for no other", () =>
    Effect.gen(function*() {
      assert.strictEqual((yield* sent(company.id))["x-company-guid"], company.guid)
      assert.deepInclude(yield* Effect.flip(TimePunches.page(stranger.id)), { field: "company.guid" })
    }).pipe(Effect.provide(app({}, credentials({ ...client, ...companyOfClient })))))

  it.effect("reads scopes, separated by any white space", () =>
    Effect.gen(function*() {
      const scopes = (text: string) => scopeOf({ ...client, TIME_PUNCHES_SCOPES: text })

      assert.strictEqual(yield* scopeOf(client), "time_punches:read")
      assert.strictEqual(yield* scopes(""), "time_punches:read")
      assert.strictEqual(yield* scopes("v1_access"), "v1_access")
      assert.strictEqual(yield* scopes(" time_punches:read \t users:write\n"), "time_punches:read users:write")
    }))

  it.effect("treats an empty variable as one that is not set", () =>
    Effect.gen(function*() {
      const empty = { TIME_PUNCHES_SESSION_COOKIE: "", TIME_PUNCHES_CLIENT_ID: "", TIME_PUNCHES_CLIENT_SECRET: "" }

      assert.deepStrictEqual(
        yield* Effect.provide(sent(company), app({}, credentials({ ...token, ...empty }))),
        { authorization: `Bearer ${defaultCompany.accessToken}` }
      )
    }))

  it.effect.each([{}, { TIME_PUNCHES_ACCESS_TOKEN: "" }, companyOfClient])(
    "names every variable that would do, when none is set",
    (env) =>
      Effect.gen(function*() {
        const { message } = yield* errorOf({ ...env })

        for (const name of [...Object.keys(token), ...Object.keys(client), ...Object.keys(cookie)]) {
          assert.include(message, name)
        }
      })
  )

  const several: ReadonlyArray<Environment> = [
    { ...token, ...cookie },
    { ...token, ...client },
    { ...cookie, ...client },
    { ...token, ...cookie, ...client }
  ]

  it.effect.each(several)(
    "names every kind of credential that is set, when there are several",
    (env) =>
      Effect.gen(function*() {
        const error = yield* errorOf(env)

        assert.include(error.message, "one kind of credential")
        for (const name of Object.keys(env)) {
          if (name !== "TIME_PUNCHES_CLIENT_SECRET") assert.include(error.message, name)
        }
        for (const value of Object.values(env)) assert.notInclude(surfaces(error), value)
      })
  )

  const halves: ReadonlyArray<readonly [string, Environment]> = [
    ["TIME_PUNCHES_CLIENT_SECRET", { TIME_PUNCHES_CLIENT_ID: "canary" }],
    ["TIME_PUNCHES_CLIENT_ID", { TIME_PUNCHES_CLIENT_SECRET: "canary" }],
    ["TIME_PUNCHES_COMPANY_GUID", { ...client, TIME_PUNCHES_COMPANY_ID: "4021" }],
    ["TIME_PUNCHES_COMPANY_ID", { ...client, TIME_PUNCHES_COMPANY_GUID: companyOfClient.TIME_PUNCHES_COMPANY_GUID }]
  ]

  it.effect.each(halves)("names %s when only its other half is set", ([name, env]) =>
    Effect.gen(function*() {
      const error = yield* errorOf(env)

      assert.include(error.message, `${name} must be set with`)
      assert.notInclude(surfaces(error), "canary")
    }))

  const malformed: ReadonlyArray<readonly [string, string, Environment]> = [
    ...["canary\n", " canary", "canary ", "canary token", "canary\u0000", "canäry"].map((value) =>
      ["TIME_PUNCHES_ACCESS_TOKEN", value, {}] as const
    ),
    ...["canary\r\n", "canary;", "a canary", "\"canary\""].map((value) =>
      ["TIME_PUNCHES_SESSION_COOKIE", value, {}] as const
    ),
    ["TIME_PUNCHES_CLIENT_ID", "canary\n", client],
    ...["canary\n", " canary", "canary ", "canary\t", "\ncanary", "can\nary", "canäry"].map((value) =>
      ["TIME_PUNCHES_CLIENT_SECRET", value, client] as const
    ),
    ...["canary", "time_punches:canary", "time_punches:read,canary", "Time_Punches:Read canary"].map((value) =>
      ["TIME_PUNCHES_SCOPES", value, client] as const
    ),
    ...["canary", "-1", "1.5", "9007199254740993", "1e3", "0x10", "1/../2"].map((value) =>
      ["TIME_PUNCHES_COMPANY_ID", value, { ...client, ...companyOfClient }] as const
    ),
    ...["canary", `${company.guid}\r\n`, `{${company.guid}}`].map((value) =>
      ["TIME_PUNCHES_COMPANY_GUID", value, { ...client, ...companyOfClient }] as const
    )
  ]

  it.effect.each(malformed)(
    "refuses %s as %j, by its name and without its value",
    ([name, value, others]) =>
      Effect.gen(function*() {
        const error = yield* errorOf({ ...others, [name]: value })

        assert.strictEqual(error._tag, "ConfigError")
        assert.include(error.message, name)
        assert.notMatch(surfaces(error), /can.?.ry/)
        assert.notInclude(surfaces(error), defaultOAuthClient.clientSecret)
      })
  )

  it.effect.each<readonly [name: string, value: string, others: Environment, text: string]>([
    ...["\"canary\"", "'canary'", "`canary`"].flatMap((value) => [
      ["TIME_PUNCHES_ACCESS_TOKEN", value, {}, "has quotes around it: remove the quotes"] as const,
      ["TIME_PUNCHES_SESSION_COOKIE", value, {}, "has quotes around it: remove the quotes"] as const,
      ["TIME_PUNCHES_CLIENT_SECRET", value, client, "has quotes around it: remove the quotes"] as const,
      ["TIME_PUNCHES_CLIENT_ID", value, client, "has quotes around it: remove the quotes"] as const
    ]),
    ["TIME_PUNCHES_ACCESS_TOKEN", "<canary>", {}, "is a placeholder"],
    ["TIME_PUNCHES_ACCESS_TOKEN", "<your canary>", {}, "is a placeholder"],
    ["TIME_PUNCHES_CLIENT_SECRET", "<canary>", client, "is a placeholder"],
    ["TIME_PUNCHES_ACCESS_TOKEN", "Bearer canary", {}, "begins with the word Bearer: give it without the word Bearer"],
    ["TIME_PUNCHES_ACCESS_TOKEN", "Authorization: bearer canary", {}, "begins with the word Bearer: give it without"]
  ])("says what is wrong with %s as %j, and not its value", ([name, value, others, text]) =>
    Effect.gen(function*() {
      const error = yield* errorOf({ ...others, [name]: value })

      assert.include(error.message, `${name} ${text}`)
      assert.notInclude(surfaces(error), "canary")
    }))

  it.effect("accepts a client secret with quotes and signs inside", () =>
    Effect.gen(function*() {
      const service = yield* FakeService
      yield* Effect.exit(TimePunches.page(company))

      const secret = new URLSearchParams((yield* service.requests)[0]?.body).get("client_secret")
      assert.strictEqual(secret, "\"a<b>'c")
    }).pipe(Effect.provide(app({}, credentials({ ...client, TIME_PUNCHES_CLIENT_SECRET: "\"a<b>'c" })))))

  it.effect("accepts a client secret with a space inside", () =>
    Effect.gen(function*() {
      const service = yield* FakeService
      yield* Effect.exit(TimePunches.page(company))

      assert.strictEqual(
        new URLSearchParams((yield* service.requests)[0]?.body).get("client_secret"),
        "a b&c=d+%20"
      )
    }).pipe(Effect.provide(app({}, credentials({ ...client, TIME_PUNCHES_CLIENT_SECRET: "a b&c=d+%20" })))))
})

describe("TimePunches.layerFromConfig", () => {
  const layer = (env: Environment) => TimePunches.layerFromConfig.pipe(Layer.provide(environment(env)))
  const base = { TIME_PUNCHES_BASE_URL: "http://localhost/" }

  it.effect("builds a client from the environment and an HttpClient", () =>
    Effect.gen(function*() {
      const service = yield* FakeService
      yield* TimePunches.page(company.id)
      const [request] = yield* service.requests

      assert.strictEqual(request?.headers["authorization"], `Bearer ${defaultCompany.accessToken}`)
      assert.strictEqual(request?.headers["x-api-version"], "2023-01-31")
    }).pipe(Effect.provide(
      layer({ ...base, ...token, TIME_PUNCHES_API_VERSION: "2023-01-31" }).pipe(
        Layer.provide(FakeService.layerClient),
        Layer.provideMerge(FakeService.layer())
      )
    )))

  it.effect.each([
    ["TIME_PUNCHES_BASE_URL", { ...token }],
    ["TIME_PUNCHES_ACCESS_TOKEN", { ...base }],
    ["TIME_PUNCHES_API_VERSION", { ...base, ...token, TIME_PUNCHES_API_VERSION: "latest" }],
    ["TIME_PUNCHES_AUTH_URL", { ...base, ...client, TIME_PUNCHES_AUTH_URL: "auth.test" }]
  ])("fails to build without a valid %s", ([name, env]) =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(building(layer({ ...Object(env) }).pipe(Layer.provide(FakeService.layerClient))))

      assert.include(error.message, String(name))
    }).pipe(Effect.provide(FakeService.layer())))
})
