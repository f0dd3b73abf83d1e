import { assert, describe, it } from "@effect/vitest"
import { Cause, Duration, Effect, Inspectable, Layer, Redacted } from "effect"
import type { OAuthClient } from "../src/index.ts"
import { FakeService } from "../src/testing/index.ts"
import { endpointOf, named, oauthClient, requestToken } from "./support/tokens.ts"

/** The one request that is sent for a client: its form as a service reads it. */
const formOf = (client: Partial<OAuthClient>) =>
  Effect.gen(function*() {
    yield* Effect.result(requestToken)
    const service = yield* FakeService
    const [request] = yield* service.requests
    return { request, form: [...new URLSearchParams(request?.body)] }
  }).pipe(Effect.provide(endpointOf({ ...oauthClient, ...client })))

describe("TokenEndpoint.requestToken", () => {
  it.effect("posts a form with the grant, the client and the scope, to the auth URL", () =>
    Effect.gen(function*() {
      const { form, request } = yield* formOf({})

      assert.deepStrictEqual(form, [
        ["grant_type", "client_credentials"],
        ["client_id", "fake-client"],
        ["client_secret", "fake-client-secret"],
        ["scope", "time_punches:read"]
      ])
      assert.deepInclude(request, { method: "POST", path: "/oauth2/token", rawQuery: "" })
      assert.deepInclude(request?.headers, {
        accept: "application/json",
        "content-type": "application/x-www-form-urlencoded"
      })
      assert.notProperty(request?.headers, "authorization")
      assert.notProperty(request?.headers, "traceparent")
    }))

  it.effect("reads the token and how long it lives", () =>
    Effect.gen(function*() {
      const service = yield* FakeService
      const { lifetime, token } = yield* requestToken

      assert.match(Redacted.value(token), /^[\w-]+\.[\w-]+\.[\w-]+$/)
      assert.strictEqual(Duration.toSeconds(lifetime), 1800)
      assert.strictEqual(yield* service.tokensIssued, 1)
    }).pipe(Effect.provide(endpointOf(oauthClient, { tokenLifetime: "30 minutes" }))))

  it.effect("sends a request each time", () =>
    Effect.gen(function*() {
      const [one, other] = [yield* requestToken, yield* requestToken]

      assert.notStrictEqual(Redacted.value(one.token), Redacted.value(other.token))
    }).pipe(Effect.provide(endpointOf())))

  const scopes: ReadonlyArray<readonly [OAuthClient["scopes"], string | undefined]> = [
    [undefined, "time_punches:read"],
    [[], undefined],
    [["shifts:read"], "shifts:read"],
    [["time_punches:read", "shifts:read", "users:read"], "time_punches:read shifts:read users:read"]
  ]

  it.effect.each(scopes)("sends the scopes %j as %j", ([given, sent]) =>
    Effect.gen(function*() {
      const { form } = yield* formOf({ scopes: given })

      assert.strictEqual(new Map(form.map(([name, value]) => [name, value])).get("scope"), sent)
      assert.strictEqual(form.length, sent === undefined ? 3 : 4)
    }))

  it.effect.each([
    "two words",
    "a+b+",
    "a&client_id=b",
    "100%",
    "%2B%",
    "k=v==",
    "semi;colon#hash?",
    "\"quoted\" <and> 'so' \\on"
  ])("sends %j as it is, as an id and as a secret", (text) =>
    Effect.gen(function*() {
      const { form, request } = yield* formOf({ clientId: text, clientSecret: Redacted.make(text) })

      assert.deepStrictEqual(form.slice(1, 3), [["client_id", text], ["client_secret", text]])
      assert.match(request?.body ?? "", /^[\w\-.*+%&=]+$/)
    }))

  it.effect("is understood by the service with any characters in the id and the secret", () =>
    Effect.gen(function*() {
      const service = yield* FakeService
      yield* requestToken

      assert.strictEqual(yield* service.tokensIssued, 1)
    }).pipe(Effect.provide(
      endpointOf({ clientId: "a b+c&d=e%f", clientSecret: Redacted.make("%20 +&=;") }, {
        oauthClients: [{ clientId: "a b+c&d=e%f", clientSecret: "%20 +&=;" }]
      })
    )))

  const unsendable = [
    "",
    " padded",
    "padded ",
    "line\nend",
    "return\r",
    "tab\t",
    "nul\0",
    "é",
    "ключ",
    "😀",
    "x".repeat(20_000)
  ]

  it.effect.each(unsendable.map(named))(
    "is not built with the id or the secret %s, which is not printed",
    ([, text]) =>
      Effect.gen(function*() {
        const clients: ReadonlyArray<readonly [name: string, client: OAuthClient]> = [
          ["clientId", { ...oauthClient, clientId: text }],
          ["clientSecret", { ...oauthClient, clientSecret: Redacted.make(text) }]
        ]
        for (const [name, client] of clients) {
          const error = yield* Effect.flip(Effect.scoped(Layer.build(endpointOf(client))))
          const printed = Inspectable.toStringUnknown(error) + Cause.pretty(Cause.fail(error))

          assert.include(printed, `${name} must be`)
          if (text.trim() !== "") assert.notInclude(printed, text.trim())
        }
      })
  )
})
