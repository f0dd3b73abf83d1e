import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { ApiVersion, TimePunches } from "../src/index.ts"
import { FakeService, Fault } from "../src/testing/index.ts"
import { client, company, inject } from "./support/client.ts"
import { building, environment, surfaces } from "./support/settings.ts"
import { letTimePass } from "./support/time.ts"

const service = Layer.provideMerge(FakeService.layerClient, FakeService.layer())

/** The version header of a page request, `undefined` where there is none. */
const sent = Effect.gen(function*() {
  const { requests } = yield* FakeService
  yield* TimePunches.page(company)
  return (yield* requests)[0]?.headers["x-api-version"]
})

/** The header that a client with this version sends. */
const sentWith = <E, R>(version: Layer.Layer<never, E, R>) =>
  Effect.provide(sent, client().pipe(Layer.provide(version), Layer.provideMerge(service)))

const layerFromConfig = (env: Readonly<Record<string, string>>) =>
  ApiVersion.layerFromConfig.pipe(Layer.provide(environment(env)))

const variable = "TIME_PUNCHES_API_VERSION"

const wrong = [
  "",
  "2026-6-1",
  "2026-06-1",
  "2026-13-01",
  "2026-02-30",
  "2026-13-45",
  "0000-01-01",
  "20260601",
  "2026-06-01T00:00:00Z",
  "v2.2023.0501",
  " 2026-06-01",
  "2026-06-01\n",
  "2026-06-01\r\nx-injected: canary",
  "latest"
]

describe("ApiVersion", () => {
  it.effect("is 2026-06-01 unless set", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* sentWith(Layer.empty), "2026-06-01")
      assert.deepStrictEqual(yield* ApiVersion, Option.some("2026-06-01"))
    }))

  it.effect("is sent as it is set", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* sentWith(ApiVersion.layer("2022-05-01")), "2022-05-01")
      assert.strictEqual(yield* sentWith(Layer.succeed(ApiVersion, Option.some("2023-05-01"))), "2023-05-01")
    }))

  it.effect("is not sent with layerTokenDefault, so that the version of the token counts", () =>
    Effect.gen(function*() {
      assert.isUndefined(yield* sentWith(ApiVersion.layerTokenDefault))
    }))

  it.effect("is sent with every attempt of every page", () =>
    Effect.gen(function*() {
      const { requests } = yield* FakeService
      yield* inject(Fault.status(503), { requests: 1 })
      yield* Effect.all([TimePunches.page(company), TimePunches.page(company)])

      assert.deepStrictEqual((yield* requests).map(({ headers }) => headers["x-api-version"]), [
        "2024-02-29",
        "2024-02-29",
        "2024-02-29"
      ])
    }).pipe(
      letTimePass,
      Effect.provide(client().pipe(Layer.provide(ApiVersion.layer("2024-02-29")), Layer.provideMerge(service)))
    ))

  it.effect.each(wrong)(
    "refuses %j, which a service would answer with its oldest version",
    (version) =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(building(ApiVersion.layer(version)))

        assert.strictEqual(error._tag, "ConfigError")
        assert.include(error.message, "version must be a real date as YYYY-MM-DD")
        assert.notInclude(surfaces(error), "canary")
      })
  )

  it.effect("takes effect when provided to the layer of the client, beside it, and around both", () =>
    Effect.gen(function*() {
      const version = ApiVersion.layer("2022-05-01")
      const to = client().pipe(Layer.provide(version), Layer.provideMerge(service))
      const beside = Layer.mergeAll(client().pipe(Layer.provideMerge(service)), version)

      assert.strictEqual(yield* Effect.provide(sent, to), "2022-05-01")
      assert.strictEqual(yield* Effect.provide(sent, beside), "2022-05-01")
      assert.strictEqual(
        yield* sent.pipe(Effect.provide(client().pipe(Layer.provideMerge(service))), Effect.provide(version)),
        "2022-05-01"
      )
    }))
})

describe("ApiVersion.layerFromConfig", () => {
  it.effect("reads the variable", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* sentWith(layerFromConfig({ [variable]: "2022-05-01" })), "2022-05-01")
    }))

  it.effect.each([{}, { [variable]: "" }])(
    "keeps the default if it is not set, or empty",
    (env) =>
      Effect.gen(function*() {
        assert.strictEqual(yield* sentWith(layerFromConfig({ ...env })), "2026-06-01")
      })
  )

  it.effect("keeps the setting of an outer layer if the variable is not set", () =>
    Effect.gen(function*() {
      const outer = layerFromConfig({}).pipe(Layer.provide(ApiVersion.layerTokenDefault))

      assert.isUndefined(yield* sentWith(outer))
    }))

  it.effect.each(wrong.slice(1))(
    "refuses %j, by the name of the variable and without its value",
    (version) =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(building(layerFromConfig({ [variable]: version })))

        assert.include(error.message, `${variable} must be`)
        assert.notInclude(surfaces(error), "canary")
      })
  )
})
