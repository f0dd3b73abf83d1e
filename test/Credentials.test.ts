import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Option, Redacted, Ref, Stream } from "effect"
import { HttpClientRequest } from "effect/http"
import { CompanyId, Credentials, InvalidRequest, TimePunches, TokenError } from "../src/index.ts"
import { defaultCompany, Fault, generatePunches } from "../src/testing/index.ts"
import { defaultSession, otherCompany } from "../src/testing/service/options.ts"
import { app, company, credentialKinds, inject, pageRequests, sessionCookie, stranger } from "./support/client.ts"
import { sent } from "./support/credentials.ts"
import { building, surfaces } from "./support/settings.ts"

const punches = generatePunches({ seed: 5, count: 450, companyId: defaultCompany.id })

describe.each(credentialKinds)("a program with %s", (_name, credentials) => {
  it.effect("lists the same punches, unchanged", () =>
    Effect.gen(function*() {
      const listed = yield* Stream.runCollect(TimePunches.list(company, { deleted: "include" }))

      assert.deepStrictEqual(listed.map(({ id }) => Number(id)), punches.map(({ id }) => id))
    }).pipe(Effect.provide(app({ punches }, credentials))))

  it.effect("fails for a company that the credential does not cover", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(TimePunches.page({ ...stranger, id: CompanyId.make(9999) }))

      assert.include(["Forbidden", "Unauthorized", "UnprocessableEntity"], error._tag)
    }).pipe(Effect.provide(app({}, credentials))))
})

describe("Credentials.layerAccessToken", () => {
  it.effect("sends the token, and no guid even when given one", () =>
    Effect.gen(function*() {
      const only = { authorization: `Bearer ${defaultCompany.accessToken}` }

      assert.deepStrictEqual(yield* sent(company.id), only)
      assert.deepStrictEqual(yield* sent(company), only)
    }).pipe(Effect.provide(app())))

  it.effect("treats a 401 as final, since nothing can renew the token", () =>
    Effect.gen(function*() {
      yield* inject(Fault.status(401))
      const error = yield* Effect.flip(TimePunches.page(company))

      assert.strictEqual(error._tag, "Unauthorized")
      assert.strictEqual((yield* pageRequests).length, 1)
    }).pipe(Effect.provide(app())))

  const unfit: ReadonlyArray<readonly [string, string]> = [
    ["that is empty", ""],
    ["of a space", " "],
    ["of three characters", "can"],
    ["with a space in it", "canary token"],
    ["that begins with a space", " canary"],
    ["that ends its line", "canary\n"],
    ["that begins a header", "canary\r\nx-injected: 1"],
    ["with a control character", "canary\u0000"],
    ["beyond ASCII", "canäry"],
    ["of 20 kB", "canary".repeat(3500)]
  ]

  it.effect.each(unfit)(
    "refuses a token %s, which a header cannot carry, without printing it",
    ([, token]) =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(building(Credentials.layerAccessToken(Redacted.make(token))))

        assert.strictEqual(error._tag, "ConfigError")
        assert.include(error.message, "accessToken must be")
        assert.notMatch(surfaces(error), /can.ry/)
      })
  )

  it.effect.each(["abcd", "abc.def-ghi_jkl~+/==", "!#$%&'*,:;<=>?@[]^`{|}\""])(
    "sends the token %s unchanged",
    (token) =>
      Effect.gen(function*() {
        assert.deepStrictEqual(yield* sent(company), { authorization: `Bearer ${token}` })
      }).pipe(Effect.provide(app({}, Credentials.layerAccessToken(Redacted.make(token)))))
  )
})

describe("Credentials.layerAccessTokens", () => {
  const tokens = new Map<number, string>([defaultCompany, otherCompany].map(({ accessToken, id }) => [id, accessToken]))

  const missing = new InvalidRequest({ field: "accessToken", detail: "there is none for this company" })

  const lookup = Credentials.layerAccessTokens((id) =>
    Effect.fromOption(Option.fromUndefinedOr(tokens.get(id))).pipe(Effect.mapBoth({
      onFailure: () => missing,
      onSuccess: (token) => Redacted.make(token)
    }))
  )

  it.effect("sends each company its own token", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* sent(company.id), { authorization: `Bearer ${defaultCompany.accessToken}` })
      assert.deepStrictEqual(yield* sent(stranger), { authorization: `Bearer ${otherCompany.accessToken}` })
    }).pipe(Effect.provide(app({}, lookup))))

  it.effect("fails with the error of the lookup and its place in the run, and sends nothing", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(TimePunches.page(CompanyId.make(1)))

      assert.deepInclude(error, {
        _tag: "InvalidRequest",
        detail: missing.detail,
        companyId: CompanyId.make(1),
        attempts: 0
      })
      assert.isEmpty(yield* pageRequests)
    }).pipe(Effect.provide(app({}, lookup))))

  it.effect("fails with a token error of the lookup", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(TimePunches.page(company))

      assert.deepInclude(error, { _tag: "TokenError", reason: "Rejected", companyId: company.id })
    }).pipe(
      Effect.provide(app({}, Credentials.layerAccessTokens(() => Effect.fail(new TokenError({ reason: "Rejected" })))))
    ))

  it.effect.each(["canary\n", "can"])(
    "refuses the token %j, which a header cannot carry, without printing it",
    (token) =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(TimePunches.page(company))

        assert.deepInclude(error, { _tag: "InvalidRequest", field: "accessToken" })
        assert.notInclude(surfaces(error), "canary")
        assert.isEmpty(yield* pageRequests)
      }).pipe(Effect.provide(app({}, Credentials.layerAccessTokens(() => Effect.succeed(Redacted.make(token))))))
  )

  it.effect.each<readonly [string, unknown]>([
    ["an Error", new Error("canary-token not found")],
    ["a text", "canary-token not found"],
    ["a tagged value", { _tag: "VaultDown", token: "canary-token" }]
  ])("fails as a lookup, and keeps nothing of %s", ([, error]) =>
    Effect.gen(function*() {
      const failure = yield* Effect.flip(TimePunches.page(company))

      assert.deepInclude(failure, { _tag: "TokenError", reason: "Lookup", companyId: company.id, attempts: 0 })
      assert.isFalse(failure.isRetryable)
      assert.notInclude(surfaces(failure), "canary")
      assert.isEmpty(yield* pageRequests)
    }).pipe(Effect.provide(app({}, Credentials.layerAccessTokens(() => Effect.fail(error))))))

  it.effect("looks the token up at each request, in the context of its layer", () =>
    Effect.gen(function*() {
      class Vault extends Context.Service<Vault, Ref.Ref<string>>()("test/Vault") {}
      const vault = yield* Ref.make(defaultCompany.accessToken)
      const credentials = Credentials.layerAccessTokens(() =>
        Effect.map(Effect.flatMap(Vault, Ref.getAndSet("the-next-one")), (token) => Redacted.make(token))
      ).pipe(Layer.provide(Layer.succeed(Vault, vault)))

      yield* Effect.gen(function*() {
        assert.deepStrictEqual(yield* sent(company), { authorization: `Bearer ${defaultCompany.accessToken}` })
        assert.deepStrictEqual(yield* sent(company), { authorization: "Bearer the-next-one" })
      }).pipe(Effect.provide(app({}, credentials)))
    }))
})

describe("Credentials.layerSessionCookie", () => {
  it.effect("sends the cookie, and neither a token nor a guid", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* sent(company), { cookie: `svcsession=${defaultSession.cookie}` })
    }).pipe(Effect.provide(app({}, sessionCookie))))

  it.effect("sends it under another name", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* sent(company), { cookie: "sid=abcd" })
    }).pipe(Effect.provide(app({}, Credentials.layerSessionCookie(Redacted.make("abcd"), { name: "sid" })))))

  it.effect.each(["", "canary canary", "canary;", "canary,", "\"canary\"", "canary\\", "canary\r\n", "canäry"])(
    "refuses the cookie %j, which would be cut or split, without printing it",
    (cookie) =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(building(Credentials.layerSessionCookie(Redacted.make(cookie))))

        assert.match(error.message, /sessionCookie (must be|has quotes)/)
        assert.notMatch(surfaces(error), /can.ry/)
      })
  )

  it.effect.each(["", "a b", "a=b", "a;b", "a\r\nb", "ä"])("refuses the name %j", (name) =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(building(Credentials.layerSessionCookie(Redacted.make("abc"), { name })))

      assert.include(error.message, "name must be")
    }))

  it.effect("treats a 401 as final", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(TimePunches.page(company))

      assert.strictEqual(error._tag, "Unauthorized")
      assert.strictEqual((yield* pageRequests).length, 1)
    }).pipe(Effect.provide(app({}, Credentials.layerSessionCookie(Redacted.make("of-yesterday"))))))
})

describe("Credentials", () => {
  it.effect("may be a user's: its headers are sent, and its secrets are scrubbed from the response", () =>
    Effect.gen(function*() {
      yield* inject(Fault.echo(422))
      const error = yield* Effect.flip(TimePunches.page(company))

      assert.strictEqual((yield* pageRequests)[0]?.headers["x-signature"], "canary-signature")
      assert.strictEqual(error._tag, "UnprocessableEntity")
      assert.notInclude(surfaces(error), "canary-token")
    }).pipe(Effect.provide(app(
      {},
      Layer.succeed(Credentials, {
        sign: ({ request }) =>
          Effect.succeed({
            request: HttpClientRequest.setHeaders(request, {
              "x-signature": "canary-signature",
              authorization: "Bearer canary-token"
            }),
            onUnauthorized: Effect.succeed(false)
          })
      })
    ))))
})
