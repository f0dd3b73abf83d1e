/** Settings that must never be part of a request: validated before any is sent. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Redacted, Result } from "effect"
import { ApiVersion, Credentials, TimePunches } from "../../src/index.ts"
import { prng } from "../../src/testing/base/prng.ts"
import { defaultCompany, defaultOAuthClient, FakeService } from "../../src/testing/index.ts"
import { accessToken, client, company, oauth } from "../support/client.ts"
import { untyped } from "../support/untyped.ts"

const service = FakeService.layerClient.pipe(Layer.provideMerge(FakeService.layer()))

/** Whether a call with these settings fails. */
const isRefused = Effect.fnUntraced(function*<E>(app: Layer.Layer<TimePunches, E>, asked: unknown = company) {
  return Result.isFailure(yield* Effect.result(Effect.provide(TimePunches.page(untyped(asked)), app)))
})

describe("a setting with a line end in it", () => {
  const places = {
    "the guid of a company": (text: string) => [client(oauth), { id: company.id, guid: text }] as const,
    "the guid of a layer": (text: string) =>
      [
        client(Credentials.layerOAuth(untyped({
          clientId: defaultOAuthClient.clientId,
          clientSecret: Redacted.make(defaultOAuthClient.clientSecret),
          company: { id: company.id, guid: text }
        }))),
        company.id
      ] as const,
    "an access token": (text: string) => [client(Credentials.layerAccessToken(Redacted.make(text))), company] as const,
    "a session cookie": (text: string) =>
      [client(Credentials.layerSessionCookie(Redacted.make(text))), company] as const,
    "the name of a cookie": (text: string) =>
      [client(Credentials.layerSessionCookie(Redacted.make("value"), { name: text })), company] as const,
    "a token that is looked up": (text: string) =>
      [client(Credentials.layerAccessTokens(() => Effect.succeed(Redacted.make(text)))), company] as const,
    "the API version": (text: string) =>
      [client(accessToken).pipe(Layer.provide(ApiVersion.layer(untyped(text)))), company] as const
  }

  const good = { guid: defaultCompany.guid, token: defaultCompany.accessToken, version: "2026-06-01" }

  it.effect.each(Object.entries(places))(
    "[Q8] never reaches the transport: %s",
    ([name, place]) =>
      Effect.gen(function*() {
        const { clearRequests, requests } = yield* FakeService
        const chance = prng(8)
        const base = name.includes("guid") ? good.guid : name.includes("version") ? good.version : good.token
        const [sound, company] = place(base)
        yield* isRefused(Layer.provide(sound, service), company)
        assert.strictEqual((yield* requests).filter(({ endpoint }) => endpoint === "page").length, 1)
        yield* clearRequests
        for (let round = 0; round < 60; round++) {
          const at = chance.between(0, base.length)
          const end = chance.pick(["\r", "\n", "\r\n", "\r\nx-injected: 1", "\n\r\n{}", "\u0000", "\u2028", "\u010a"])
          const text = base.slice(0, at) + end + base.slice(at)
          const [layer, asked] = place(text)

          assert.isTrue(yield* isRefused(Layer.provide(layer, service), asked), JSON.stringify(text))
        }

        assert.isEmpty(yield* requests)
      }).pipe(Effect.provide(service))
  )
})
