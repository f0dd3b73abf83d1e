import { assert, describe, it } from "@effect/vitest"
import { Cause, Duration, Effect, Fiber, Inspectable, Layer, Option, Redacted, Result } from "effect"
import { HttpClient, HttpClientError } from "effect/http"
import { TestClock } from "effect/testing"
import { Endpoints, TokenEndpoint } from "../src/index.ts"
import { type Delivery, FakeService, Fault } from "../src/testing/index.ts"
import {
  type Between,
  bodyOf,
  clearFaults,
  endpointOf,
  injectTokenFault,
  named,
  oauthClient,
  requestToken,
  tokenErrorName,
  tokenResponse
} from "./support/tokens.ts"

/** The result of one run of `requestToken`. */
const tokenOutcome = Effect.gen(function*() {
  const fiber = yield* Effect.forkChild(Effect.result(requestToken))
  yield* TestClock.adjust("1 minute")
  return yield* Fiber.join(fiber)
})

const failureOf = (fault: Fault) =>
  Effect.flatMap(
    injectTokenFault(fault),
    () => Effect.flatMap(tokenOutcome, (result) => Effect.fromResult(Result.flip(result)))
  )

const delivering = (delivery: Delivery): Between => (respond, request) =>
  Effect.map(respond(request), (response) => ({ ...response, delivery }))

/** A client whose every request fails with this code of the platform. */
const failingClient = (code: string) =>
  Layer.succeed(
    HttpClient.HttpClient,
    HttpClient.make((request) =>
      Effect.fail(
        new HttpClientError.HttpClientError({
          reason: new HttpClientError.TransportError({ request, cause: Object.assign(new Error(code), { code }) })
        })
      )
    )
  )

describe("expires_in", () => {
  const lifetimes: ReadonlyArray<readonly [json: string, seconds: number]> = [
    ["null", 300],
    ["0", 0],
    ["-0", 0],
    ["1", 1],
    ["-5", 0],
    ["3600", 3600],
    ["3600.7", 3600],
    ["0.9", 0],
    ["86399", 86_399],
    ["86401", 86_400],
    ["1e12", 86_400],
    ["1e400", 86_400],
    ["-1e400", 0],
    ["\"3600\"", 3600],
    ["\" 3600 \"", 3600],
    ["\"3600.7\"", 3600],
    ["\"-5\"", 0],
    ["\"99999999999999999999\"", 86_400]
  ]

  it.effect.each(lifetimes)("that is %s is read as %i seconds", ([json, seconds]) =>
    Effect.gen(function*() {
      yield* injectTokenFault(bodyOf(`{"token_type":"Bearer","access_token":"tttt","expires_in":${json}}`))
      const { lifetime } = yield* requestToken

      assert.strictEqual(Duration.toSeconds(lifetime), seconds)
    }).pipe(Effect.provide(endpointOf())))

  it.effect("that is missing is read as 300 seconds", () =>
    Effect.gen(function*() {
      yield* injectTokenFault(Fault.expiresIn(undefined))
      const { lifetime } = yield* requestToken

      assert.strictEqual(Duration.toSeconds(lifetime), 300)
    }).pipe(Effect.provide(endpointOf())))

  it.effect.each([
    "\"abc\"",
    "\"\"",
    "\" \"",
    "\"NaN\"",
    "\"Infinity\"",
    "\"1h\"",
    "\"0x10\"",
    "\"1e3\"",
    "\"3600 7\"",
    "\"3600\\u0000\"",
    "true",
    "false",
    "{}",
    "[]",
    "[3600]"
  ])("that is %s makes the response malformed", (json) =>
    Effect.gen(function*() {
      const error = yield* failureOf(
        bodyOf(`{"token_type":"Bearer","access_token":"tttt","expires_in":${json}}`)
      )

      assert.strictEqual(tokenErrorName(error), "Malformed 200")
      assert.isFalse(error.isRetryable)
    }).pipe(Effect.provide(endpointOf())))
})

describe("token_type", () => {
  it.effect.each(["Bearer", "bearer", "BEARER", "bEaReR"])("may be %s", (type) =>
    Effect.gen(function*() {
      yield* injectTokenFault(tokenResponse({ token_type: type }))

      assert.strictEqual(Redacted.value((yield* requestToken).token), "some-token")
    }).pipe(Effect.provide(endpointOf())))

  it.effect.each([undefined, null, "", "mac", "DPoP", "Bearer ", "bearer,mac", 1, ["Bearer"]])(
    "that is %j makes the response malformed",
    (type) =>
      Effect.gen(function*() {
        const error = yield* failureOf(tokenResponse({ token_type: type }))

        assert.strictEqual(tokenErrorName(error), "Malformed 200")
      }).pipe(Effect.provide(endpointOf()))
  )
})

describe("access_token", () => {
  const tokens: ReadonlyArray<readonly [name: string, token: string]> = [
    ["four letters", "abcd"],
    ["of every sign that a header takes", "abc.DEF-123_~+/=="],
    ["of 16384 characters", "x".repeat(16_384)]
  ]

  it.effect.each(tokens)("may be %s", ([, token]) =>
    Effect.gen(function*() {
      yield* injectTokenFault(tokenResponse({ access_token: token }))

      assert.strictEqual(Redacted.value((yield* requestToken).token), token)
    }).pipe(Effect.provide(endpointOf())))

  const others = [
    undefined,
    null,
    "",
    " ",
    "two words",
    " padded",
    "padded ",
    "line\r\nx-injected: 1",
    "line\n",
    "nul\0",
    "é",
    "😀",
    "=leading",
    "in=side",
    "quote\"",
    "comma,",
    "x".repeat(16_385),
    "x".repeat(20_000),
    12_345,
    true,
    ["some-token"],
    { value: "some-token" }
  ]

  it.effect.each(others.map(named))("that is %s makes the response malformed", ([, token]) =>
    Effect.gen(function*() {
      const error = yield* failureOf(tokenResponse({ access_token: token }))

      assert.strictEqual(tokenErrorName(error), "Malformed 200")
      assert.isFalse(error.isRetryable)
    }).pipe(Effect.provide(endpointOf())))
})

describe("A token response", () => {
  const readable: ReadonlyArray<readonly [name: string, fault: Fault]> = [
    ["with unknown members", tokenResponse({ scope: "time_punches:read", refresh_token: "no", __proto__x: 1 })],
    ["without a content type", bodyOf("{\"token_type\":\"bearer\",\"access_token\":\"some-token\"}", "")],
    [
      "of another kind of JSON",
      bodyOf("{\"token_type\":\"bearer\",\"access_token\":\"some-token\"}", "application/x+json")
    ],
    [
      "with a charset and a byte order mark",
      bodyOf("\uFEFF{\"token_type\":\"bearer\",\"access_token\":\"some-token\"}", "application/json; charset=utf-8")
    ]
  ]

  it.effect.each(readable)("%s is read", ([, fault]) =>
    Effect.gen(function*() {
      yield* injectTokenFault(fault)

      assert.strictEqual(Redacted.value((yield* requestToken).token), "some-token")
    }).pipe(Effect.provide(endpointOf())))

  const token = "{\"token_type\":\"Bearer\",\"access_token\":\"some-token\"}"
  const failures: ReadonlyArray<readonly [name: string, fault: Fault, failure: string]> = [
    ["HTML", Fault.html200, "Malformed 200"],
    ["JSON that is called HTML", bodyOf(token, "text/html"), "Malformed 200"],
    ["JSON that is called text", bodyOf(token, "text/plain"), "Malformed 200"],
    ["empty", Fault.emptyBody, "Malformed 200"],
    ["not JSON", Fault.tokenMalformed("notJson"), "Malformed 200"],
    ["truncated JSON", bodyOf(token.slice(0, -5)), "Malformed 200"],
    ["null", bodyOf("null"), "Malformed 200"],
    ["a list", bodyOf(`[${token}]`), "Malformed 200"],
    ["a text", bodyOf("\"some-token\""), "Malformed 200"],
    ["an error that is called text", bodyOf("{\"error\":\"invalid_client\"}", "text/plain"), "Malformed 200"],
    ["not UTF-8", Fault.invalidUtf8, "Malformed 200"],
    ["encoded although no encoding was accepted", Fault.contentEncoding("gzip"), "Malformed 200"],
    ["larger than any token", Fault.oversizedBody(65_537), "Malformed 200"],
    ["without end", Fault.oversizedBody(Infinity), "Malformed 200"],
    ["cut", Fault.cutBody(0.5), "Transport"],
    ["stalled", Fault.stallBody(0.5), "Transport"],
    ["never begun", Fault.stallBeforeHeaders, "Transport"],
    ["a reset", Fault.reset, "Transport"],
    ["a 204", Fault.status(204), "Rejected 204"],
    ["a 302", Fault.redirect(302, "https://evil.test/oauth2/token"), "Rejected 302"],
    ["a 307", Fault.redirect(307, "https://evil.test/oauth2/token"), "Rejected 307"],
    ["a 400 of nothing", Fault.status(400, { body: "empty" }), "Rejected 400"],
    ["a 401 of nothing", Fault.status(401, { body: "empty" }), "InvalidClient 401"],
    // A 500 and its like are not repeated at once, and never the fault of the client.
    ...Object.entries({
      InvalidClient: [401],
      Rejected: [400, 403, 404, 405, 422],
      Throttled: [429],
      Transport: [408, 500, 501, 502, 503, 504, 505, 511, 522]
    }).flatMap(([reason, statuses]) =>
      statuses.flatMap((status) => [
        [`a ${status}`, Fault.status(status), `${reason} ${status}`] as const,
        [`a ${status} of HTML`, Fault.status(status, { body: "html" }), `${reason} ${status}`] as const
      ])
    )
  ]

  const assertFailed = Effect.fnUntraced(function*(fault: Fault, failure: string) {
    const service = yield* FakeService
    const error = yield* failureOf(fault)

    assert.strictEqual(tokenErrorName(error), failure)
    assert.strictEqual(error.isRetryable, /^(?:Transport|Throttled)/.test(failure))
    assert.strictEqual((yield* service.requests).length, 1)
    assert.strictEqual(yield* service.inFlight, 0)
    return error
  })

  it.effect.each(failures)(
    "that is %s fails with its reason",
    ([, fault, failure]) => assertFailed(fault, failure).pipe(Effect.provide(endpointOf()))
  )

  const problems: ReadonlyArray<readonly [status: number, reason: string, codes: ReadonlyArray<string>]> = [
    [200, "InvalidClient", ["invalid_client"]],
    [200, "Rejected", ["invalid_scope"]],
    [200, "Malformed", ["server_error", "oops"]],
    [400, "InvalidClient", ["invalid_client", "unauthorized_client"]],
    [400, "Rejected", ["invalid_scope", "invalid_request", "invalid_grant", "unsupported_grant_type"]],
    [401, "InvalidClient", ["invalid_client"]],
    [401, "Rejected", ["invalid_scope"]],
    [403, "Rejected", ["access_denied"]],
    [429, "Throttled", ["invalid_client"]],
    [500, "InvalidClient", ["invalid_client", "invalid_credentials", "unauthorized_client"]],
    [500, "Rejected", ["invalid_scope", "invalid_grant", "unsupported_grant_type", "access_denied"]],
    // What stands in front may say it of any request, and ours is always the same.
    [500, "Transport", ["invalid_request", "server_error", "temporarily_unavailable", "oops"]],
    [503, "InvalidClient", ["invalid_client"]]
  ]

  it.effect.each(problems.flatMap(([status, reason, codes]) => codes.map((code) => [status, code, reason] as const)))(
    "that is a %i and says %s fails with %s, and with the code",
    ([status, code, reason]) =>
      Effect.gen(function*() {
        const error = yield* assertFailed(Fault.status(status, { problem: { error: code } }), `${reason} ${status}`)

        if (reason !== "InvalidClient" && reason !== "Rejected") return
        assert.deepStrictEqual(error.code, Option.some(code))
        assert.match(error.message, new RegExp(`^no token: ${reason} \\(${status} ${code}\\)`))
      }).pipe(Effect.provide(endpointOf()))
  )

  it.effect.each(["some-secret", "invalid_scope ", "toString", 7, null, ["invalid_scope"]])(
    "that is refused with the unknown code %j fails without a code",
    (code) =>
      Effect.gen(function*() {
        const error = yield* failureOf(Fault.status(400, { problem: { error: code } }))

        assert.deepStrictEqual([error.reason, error.code], ["Rejected", Option.none()])
      }).pipe(Effect.provide(endpointOf()))
  )

  const deliveries: ReadonlyArray<Delivery> = [
    { _tag: "Stall", bytes: 3 },
    { _tag: "Cut", bytes: 3 },
    { _tag: "Padded", bytes: Infinity }
  ]

  it.effect.each(deliveries)("keeps its status when its body is delivered as %j", (delivery) =>
    Effect.gen(function*() {
      const statuses = [[400, "Rejected 400"], [401, "InvalidClient 401"], [429, "Throttled 429"], [
        503,
        "Transport 503"
      ]]
      for (const [status, failure] of statuses) {
        const error = yield* failureOf(Fault.status(Number(status)))
        yield* clearFaults

        assert.strictEqual(tokenErrorName(error), failure)
      }
    }).pipe(Effect.provide(endpointOf(oauthClient, {}, delivering(delivery)))))

  it.effect.each(
    [
      ["text/html", "Transport 500", Option.none()],
      ["application/problem+json", "Rejected 500", Option.some("invalid_scope")],
      ["", "Rejected 500", Option.some("invalid_scope")]
    ] as const
  )("with a code and the content type %j fails with %s", ([contentType, failure, code]) =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(requestToken)

      assert.deepStrictEqual([tokenErrorName(error), error.code], [failure, code])
    }).pipe(Effect.provide(endpointOf(oauthClient, {}, () =>
      Effect.succeed({
        status: 500,
        headers: { "content-type": contentType },
        body: "{\"error\":\"invalid_scope\"}",
        delivery: { _tag: "Whole" }
      })))))

  it.effect.each([429, 503])(
    "that is a %i says how long the next request is to wait",
    (status) =>
      Effect.gen(function*() {
        const error = yield* failureOf(Fault.retryAfter("17", status))

        assert.deepStrictEqual(error.retryAfter, Option.some(Duration.seconds(17)))
        assert.isTrue(error.isRetryable)
        assert.strictEqual(error.reason, status === 429 ? "Throttled" : "Transport")
      }).pipe(Effect.provide(endpointOf()))
  )

  it.effect("that does not arrive is aborted after ten seconds", () =>
    Effect.gen(function*() {
      const service = yield* FakeService
      yield* injectTokenFault(Fault.stallBeforeHeaders)
      const fiber = yield* Effect.forkChild(Effect.flip(requestToken))
      yield* TestClock.adjust("9999 millis")

      assert.isUndefined(fiber.pollUnsafe())
      assert.strictEqual(yield* service.inFlight, 1)
      yield* TestClock.adjust("1 millis")
      assert.strictEqual(tokenErrorName(yield* Fiber.join(fiber)), "Transport")
      assert.strictEqual(yield* service.inFlight, 0)
    }).pipe(Effect.provide(endpointOf())))

  it.effect("that is slow is read", () =>
    Effect.gen(function*() {
      yield* injectTokenFault(Fault.slow("9 seconds"))

      assert.isTrue(Result.isSuccess(yield* tokenOutcome))
    }).pipe(Effect.provide(endpointOf())))

  const codes: ReadonlyArray<readonly [code: string, retryable: boolean]> = [
    ["ECONNRESET", true],
    ["ECONNREFUSED", true],
    ["ENOTFOUND", true],
    ["HPE_INVALID_CONSTANT", true],
    ["CERT_HAS_EXPIRED", false],
    ["UND_ERR_INVALID_ARG", true]
  ]

  it.effect.each(codes)(
    "that fails with %s may be worth another request: %s",
    ([code, expected]) =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(requestToken)

        assert.strictEqual(tokenErrorName(error), "Transport")
        assert.strictEqual(error.isRetryable, expected)
        assert.deepStrictEqual(error.retryAfter, Option.none())
      }).pipe(Effect.provide(
        TokenEndpoint.layer(oauthClient).pipe(
          Layer.provide(Endpoints.layer({ baseUrl: "https://api.test" })),
          Layer.provide(failingClient(code))
        )
      ))
  )

  it.effect.each([
    Fault.echo(400),
    Fault.echo(401),
    Fault.echo(500),
    Fault.tokenMalformed("html"),
    Fault.tokenMalformed("spaceAccessToken")
  ])(
    "of %j leaves nothing secret in the failure",
    (fault) =>
      Effect.gen(function*() {
        const failure = yield* failureOf(fault)
        const printed = [
          Inspectable.toStringUnknown(failure),
          Cause.pretty(Cause.fail(failure)),
          JSON.stringify(failure)
        ]

        assert.notMatch(printed.join(), /fake-client|unsigned-0/)
      }).pipe(Effect.provide(endpointOf()))
  )
})
