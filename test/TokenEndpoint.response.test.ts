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
  const failures: ReadonlyArray<readonly [name: string, fault: Fault, failure: string, retryable: boolean]> = [
    ["HTML", Fault.html200, "Malformed 200", false],
    ["JSON that is called HTML", bodyOf(token, "text/html"), "Malformed 200", false],
    ["JSON that is called text", bodyOf(token, "text/plain"), "Malformed 200", false],
    ["empty", Fault.emptyBody, "Malformed 200", false],
    ["not JSON", Fault.tokenMalformed("notJson"), "Malformed 200", false],
    ["truncated JSON", bodyOf(token.slice(0, -5)), "Malformed 200", false],
    ["null", bodyOf("null"), "Malformed 200", false],
    ["a list", bodyOf(`[${token}]`), "Malformed 200", false],
    ["a text", bodyOf("\"some-token\""), "Malformed 200", false],
    // As with any other status, the code says more.
    ["an error with status 200", bodyOf("{\"error\":\"invalid_client\"}"), "InvalidClient 200", false],
    ["a refused scope with status 200", bodyOf("{\"error\":\"invalid_scope\"}"), "Rejected 200", false],
    ["an unknown error with status 200", bodyOf("{\"error\":\"other\"}"), "Malformed 200", false],
    ["an error that is called text", bodyOf("{\"error\":\"invalid_client\"}", "text/plain"), "Malformed 200", false],
    ["not UTF-8", Fault.invalidUtf8, "Malformed 200", false],
    ["encoded although no encoding was accepted", Fault.contentEncoding("gzip"), "Malformed 200", false],
    ["larger than any token", Fault.oversizedBody(65_537), "Malformed 200", false],
    ["without end", Fault.oversizedBody(Infinity), "Malformed 200", false],
    ["cut", Fault.cutBody(0.5), "Transport", true],
    ["stalled", Fault.stallBody(0.5), "Transport", true],
    ["never begun", Fault.stallBeforeHeaders, "Transport", true],
    ["a reset", Fault.reset, "Transport", true],
    ["a 204", Fault.status(204), "Rejected 204", false],
    ["a 302", Fault.redirect(302, "https://evil.test/oauth2/token"), "Rejected 302", false],
    ["a 307", Fault.redirect(307, "https://evil.test/oauth2/token"), "Rejected 307", false],
    ["a 400", Fault.status(400), "Rejected 400", false],
    ["a 400 of HTML", Fault.status(400, { body: "html" }), "Rejected 400", false],
    ["a 400 of nothing", Fault.status(400, { body: "empty" }), "Rejected 400", false],
    ["a 400 invalid_client", Fault.status(400, { problem: { error: "invalid_client" } }), "InvalidClient 400", false],
    [
      "a 400 unauthorized_client",
      Fault.status(400, { problem: { error: "unauthorized_client" } }),
      "InvalidClient 400",
      false
    ],
    ["a 400 invalid_scope", Fault.status(400, { problem: { error: "invalid_scope" } }), "Rejected 400", false],
    ["a 400 invalid_request", Fault.status(400, { problem: { error: "invalid_request" } }), "Rejected 400", false],
    [
      "a 400 with a code that is no text",
      Fault.status(400, { problem: { error: ["invalid_client"] } }),
      "Rejected 400",
      false
    ],
    ["a 401", Fault.status(401, { body: "empty" }), "InvalidClient 401", false],
    [
      "a 401 with another code",
      Fault.status(401, { problem: { error: "invalid_scope" } }),
      "Rejected 401",
      false
    ],
    ["a 401 of HTML", Fault.status(401, { body: "html" }), "InvalidClient 401", false],
    ["a 403 of HTML", Fault.status(403, { body: "html" }), "Rejected 403", false],
    ["a 405 of HTML", Fault.status(405, { body: "html" }), "Rejected 405", false],
    ["a 403", Fault.status(403), "Rejected 403", false],
    ["a 404", Fault.status(404, { body: "html" }), "Rejected 404", false],
    ["a 422", Fault.status(422), "Rejected 422", false],
    ["a 403 access_denied", Fault.status(403, { problem: { error: "access_denied" } }), "Rejected 403", false],
    ["a 408", Fault.status(408), "Transport 408", true],
    ["a 429", Fault.status(429), "Throttled 429", true],
    ["a 500", Fault.status(500, { body: "html" }), "Transport 500", true],
    [
      "a 500 that says invalid_client",
      Fault.status(500, { problem: { error: "invalid_client" } }),
      "InvalidClient 500",
      false
    ],
    ...["invalid_credentials", "unauthorized_client"].map((error) =>
      [`a 500 that says ${error}`, Fault.status(500, { problem: { error } }), "InvalidClient 500", false] as const
    ),
    ...["invalid_scope", "invalid_grant", "unsupported_grant_type", "access_denied"].map((error) =>
      [`a 500 that says ${error}`, Fault.status(500, { problem: { error } }), "Rejected 500", false] as const
    ),
    [
      "a 503 that says invalid_client",
      Fault.status(503, { problem: { error: "invalid_client" } }),
      "InvalidClient 503",
      false
    ],
    // What stands in front may say it of any request, and ours is always the same.
    ...["invalid_request", "server_error", "temporarily_unavailable", "oops"].map((error) =>
      [`a 500 that says ${error}`, Fault.status(500, { problem: { error } }), "Transport 500", true] as const
    ),
    [
      "a 429 that says invalid_client",
      Fault.status(429, { problem: { error: "invalid_client" } }),
      "Throttled 429",
      true
    ],
    ["a 522", Fault.status(522, { body: "html" }), "Transport 522", true],
    ["a 502", Fault.status(502), "Transport 502", true],
    ["a 503", Fault.status(503), "Transport 503", true],
    ["a 504", Fault.status(504), "Transport 504", true],
    // Not repeated at once, and never the fault of the client.
    ...[501, 505, 511].map((status) =>
      [`a ${status}`, Fault.status(status, { body: "html" }), `Transport ${status}`, true] as const
    )
  ]

  it.effect.each(failures)(
    "that is %s fails with its reason",
    ([, fault, failure, expected]) =>
      Effect.gen(function*() {
        const service = yield* FakeService
        const error = yield* failureOf(fault)

        assert.strictEqual(tokenErrorName(error), failure)
        assert.strictEqual(error.isRetryable, expected)
        assert.strictEqual((yield* service.requests).length, 1)
        assert.strictEqual(yield* service.inFlight, 0)
      }).pipe(Effect.provide(endpointOf()))
  )

  it.effect.each([
    ["InvalidClient", "invalid_client", 400],
    ["InvalidClient", "invalid_client", 401],
    ["InvalidClient", "unauthorized_client", 400],
    ["Rejected", "invalid_scope", 400],
    ["Rejected", "invalid_request", 400],
    ["Rejected", "invalid_grant", 400],
    ["Rejected", "unsupported_grant_type", 400]
  ])("that is refused fails with %s and the code %s of a %i", ([reason, code, status]) =>
    Effect.gen(function*() {
      const error = yield* failureOf(Fault.status(Number(status), { problem: { error: code } }))

      assert.deepStrictEqual([error.reason, error.code], [reason, Option.some(code)])
      assert.match(error.message, new RegExp(`^no token: ${reason} \\(${status} ${code}\\)`))
    }).pipe(Effect.provide(endpointOf())))

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
