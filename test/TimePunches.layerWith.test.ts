/** The settings of a client as options, each with the meaning of the layer that it stands for. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Option, Stream } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import { TestClock } from "effect/testing"
import { ApiVersion, type ClientOptions, type Credentials, RetryPolicy, TimePunches } from "../src/index.ts"
import { defaultCompany, FakeService, Fault, generatePunches } from "../src/testing/index.ts"
import { accessToken, company, inject, oauth, pageRequests } from "./support/client.ts"
import { building } from "./support/settings.ts"

const baseUrl = "http://localhost"

/** A client over the fake service, with these options. */
const app = <E, R>(
  options: Partial<ClientOptions<E, R>> & { readonly credentials: Layer.Layer<Credentials, E, R> }
) =>
  TimePunches.layerWith({ baseUrl, ...options }).pipe(
    Layer.provide(FakeService.layerClient),
    Layer.provideMerge(FakeService.layer())
  )

const page = TimePunches.page(company)
const versions = Effect.map(pageRequests, (all) => all.map(({ headers }) => headers["x-api-version"]))

describe("TimePunches.layerWith", () => {
  it.effect("lists with an address and credentials alone, which get the address too", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* Stream.runCount(TimePunches.list(company)), 30)
      const requests = yield* FakeService.use(({ requests }) => requests)
      assert.deepStrictEqual(requests.map(({ endpoint }) => endpoint), ["token", "page"])
    }).pipe(Effect.provide(
      TimePunches.layerWith({ baseUrl, credentials: oauth }).pipe(
        Layer.provide(FakeService.layerClient),
        Layer.provideMerge(FakeService.layer({
          punches: generatePunches({ seed: 1, count: 30, companyId: defaultCompany.id, deletedShare: 0 })
        }))
      )
    )))

  it.effect("asks its own address for a token, where two clients have one value of credentials", () =>
    Effect.gen(function*() {
      const clientOf = (authUrl: string) =>
        Layer.effectDiscard(page).pipe(Layer.provide(TimePunches.layerWith({ baseUrl, authUrl, credentials: oauth })))
      const requested: Array<string> = []
      const transport = Layer.effect(
        HttpClient.HttpClient,
        Effect.map(
          HttpClient.HttpClient,
          HttpClient.tapRequest((request) => Effect.sync(() => requested.push(new URL(request.url).host)))
        )
      )
      yield* Effect.scoped(Layer.build(
        Layer.mergeAll(clientOf("http://localhost:1"), clientOf("http://localhost:2")).pipe(Layer.provide(transport))
      ))

      assert.includeMembers(requested, ["localhost:1", "localhost:2"])
    }).pipe(Effect.provide(FakeService.layerClient), Effect.provide(FakeService.layer())))

  it.effect.each<[string, Partial<ClientOptions<never, never>>, string | undefined]>([
    ["the default version", {}, "2026-06-01"],
    ["the default version where it is undefined", { apiVersion: undefined, retry: undefined }, "2026-06-01"],
    ["a date", { apiVersion: "2026-01-15" }, "2026-01-15"],
    ["a date in an Option", { apiVersion: Option.some("2026-01-15") }, "2026-01-15"],
    ["no version", { apiVersion: Option.none() }, undefined]
  ])("sends %s", ([_what, { apiVersion, retry }, expected]) =>
    Effect.gen(function*() {
      yield* page

      assert.deepStrictEqual(yield* versions, [expected])
    }).pipe(Effect.provide(app({ credentials: accessToken, apiVersion, retry }))))

  it.effect("keeps the settings that are provided to it where it has no option for them", () =>
    Effect.gen(function*() {
      yield* inject(Fault.status(503))

      assert.deepInclude(yield* Effect.flip(page), { _tag: "ServiceUnavailable", attempts: 1 })
      assert.deepStrictEqual(yield* versions, ["2026-01-15"])
    }).pipe(Effect.provide(
      app({ credentials: accessToken }).pipe(Layer.provide([RetryPolicy.layerNone, ApiVersion.layer("2026-01-15")]))
    )))

  it.effect("retries as its option says", () =>
    Effect.gen(function*() {
      yield* inject(Fault.status(503))
      const failing = yield* Effect.forkChild(Effect.flip(page))
      yield* TestClock.adjust("10 minutes")

      assert.deepInclude(yield* Fiber.join(failing), { _tag: "ServiceUnavailable", attempts: 2 })
    }).pipe(Effect.provide(app({ credentials: accessToken, retry: { attempts: 2, budget: undefined } }))))

  it.effect.each<[string, Partial<ClientOptions<never, never>>]>([
    ["baseUrl", { baseUrl: "http://api.example.com" }],
    ["authUrl", { authUrl: "nowhere" }],
    ["attempts", { retry: { attempts: 0 } }],
    ["version", { apiVersion: "2026-02-30" }]
  ])(
    "fails with the name of a bad setting: %s",
    ([name, { apiVersion, authUrl, baseUrl: base = baseUrl, retry }]) =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(
          building(app({ credentials: accessToken, apiVersion, authUrl, baseUrl: base, retry }))
        )

        assert.include(String(error), name)
      })
  )

  it.effect("changes page requests and no token request", () =>
    Effect.gen(function*() {
      yield* page
      const requests = yield* FakeService.use(({ requests }) => requests)

      assert.deepStrictEqual(requests.map(({ endpoint, headers }) => [endpoint, headers["x-application"]]), [
        ["token", undefined],
        ["page", "kept"]
      ])
    }).pipe(Effect.provide(app({
      credentials: oauth,
      transformClient: HttpClient.mapRequest(HttpClientRequest.setHeader("x-application", "kept"))
    }))))

  it.effect("counts what a transform does against the limit of one attempt", () =>
    Effect.gen(function*() {
      const failing = yield* Effect.forkChild(Effect.flip(page))
      yield* TestClock.adjust("10 minutes")

      assert.deepInclude(yield* Fiber.join(failing), { _tag: "TransportError", reason: "Timeout", attempts: 1 })
      assert.deepStrictEqual(yield* pageRequests, [])
    }).pipe(Effect.provide(app({
      credentials: accessToken,
      retry: { attempts: 1 },
      transformClient: HttpClient.tapRequest(() => Effect.sleep("1 hour"))
    }))))
})
