/** A program over a mock, over the fake service in memory, and over the fake server: each in one layer of the kit. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Redacted, Stream } from "effect"
import { Credentials, Endpoints, TimePunches, TokenCache } from "effect-time-punches"
import { NodeTransport } from "effect-time-punches/node"
import { FakeService, Fault, TestClient } from "effect-time-punches/testing"
import { FakeServer } from "effect-time-punches/testing/node"

/** The program under test. */
const openPunches = TimePunches.list(TestClient.company).pipe(
  Stream.filter(({ clockedOut }) => clockedOut._tag === "None"),
  Stream.map(({ userId }) => Number(userId)),
  Stream.runCollect
)

const lunch = TestClient.punchBreak({ in: "2026-03-02T17:00:00Z", out: "2026-03-02T17:30:00Z" })
const punches = [
  TestClient.punch({ userId: 7, clockedIn: "2026-03-02T14:00:00Z", breaks: [lunch] }),
  TestClient.punch({ userId: 8, clockedIn: "2026-03-02T15:00:00Z", clockedOut: null })
]

describe("open punches", () => {
  it.effect("are found in what the client lists", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* openPunches, [8])
    }).pipe(Effect.provide(Layer.mock(TimePunches)({ list: () => Stream.fromIterable(punches) }))))

  it.effect("are found after a fault, with the real client over the fake service", () =>
    Effect.gen(function*() {
      yield* FakeService.use((service) => service.inject(Fault.unauthorizedOnce))

      assert.strictEqual((yield* Effect.flip(openPunches))._tag, "Unauthorized")
      assert.deepStrictEqual(yield* openPunches, [8])
    }).pipe(Effect.provide(TestClient.layer({ punches }))))
})

/** A client whose tokens come from the test: no token is requested. */
const withFixedToken = TimePunches.layer.pipe(
  Layer.provide(Credentials.layerOAuthNoDeps()),
  Layer.provide(Layer.succeed(TokenCache, {
    get: Effect.succeed({
      token: Redacted.make("fake-access-token-of-company-4021"),
      generation: 1
    }),
    invalidate: () => Effect.void
  })),
  Layer.provide(Endpoints.layer({ baseUrl: "https://punches.example.com" })),
  Layer.provide(FakeService.layerClient),
  Layer.provideMerge(FakeService.layer())
)

describe("open punches, of an OAuth client", () => {
  it.effect("are none in an empty service, with a fixed token", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* openPunches, [])
      assert.strictEqual(yield* FakeService.use((service) => service.tokensIssued), 0)
    }).pipe(Effect.provide(withFixedToken)))
})

/** The client over a socket, to a fake server on a free port. */
const overSocket = Layer.unwrap(Effect.map(FakeServer, ({ url }) =>
  TimePunches.layerWith({
    baseUrl: url,
    credentials: Credentials.layerAccessToken(Redacted.make("fake-access-token-of-company-4021"))
  }))).pipe(
    Layer.provide(NodeTransport.layer()),
    Layer.provide(FakeServer.layer()),
    Layer.provideMerge(FakeService.layer())
  )

describe("open punches, over a socket", () => {
  it.live("are none in an empty service", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* openPunches, [])
    }).pipe(Effect.provide(overSocket)))
})
