/** The meaning of the transport's errors: which reason, which code, how many retries. */
import { assert, describe, it } from "@effect/vitest"
import { Option } from "effect"
import { HttpClientError, HttpClientRequest } from "effect/http"
import { transportFailureOf } from "../../../src/internal/http/transportFailure.ts"

const request = HttpClientRequest.get("https://api.test/")

const failureOf = (cause: unknown, phase: "Headers" | "Body" = "Headers") =>
  transportFailureOf(
    new HttpClientError.HttpClientError({ reason: new HttpClientError.TransportError({ request, cause }) }),
    phase
  )

const withCode = (code: string) => Object.assign(new Error("canary"), { code })

describe("transportFailureOf", () => {
  it.each<[string, string, number]>([
    ["CERT_HAS_EXPIRED", "Tls", 0],
    ["ERR_TLS_CERT_ALTNAME_INVALID", "Tls", 0],
    ["ENOTFOUND", "Connect", 1],
    ["ECONNREFUSED", "Connect", Infinity],
    ["UND_ERR_CONNECT_TIMEOUT", "Connect", Infinity],
    ["UND_ERR_BODY_TIMEOUT", "Timeout", Infinity],
    ["UND_ERR_RES_EXCEEDED_MAX_SIZE", "TooLarge", 0],
    ["HPE_INVALID_CONSTANT", "Headers", 1],
    ["Z_DATA_ERROR", "Headers", 2],
    ["ERR_INVALID_CHAR", "Headers", 0],
    ["ECONNRESET", "Headers", Infinity],
    ["A_CODE_OF_THE_FUTURE", "Headers", Infinity]
  ])("%s: reason %s, %d retries", (code, reason, limit) => {
    const failure = failureOf(withCode(code))

    assert.deepStrictEqual({ reason: failure.reason, code: failure.code }, { reason, code: Option.some(code) })
    assert.strictEqual(failure.retry?.limit ?? 0, limit)
  })

  it.each(["EMFILE", "ENFILE", "EACCES", "EPERM", "EADDRNOTAVAIL", "ENOBUFS", "A_CODE_OF_THE_FUTURE"])(
    "says Connect where the system refuses the connection itself: %s",
    (code) => {
      for (const syscall of ["connect", "getaddrinfo"]) {
        const cause = new Error("fetch failed", { cause: Object.assign(withCode(code), { syscall }) })
        assert.strictEqual(failureOf(cause).reason, "Connect")
      }
      assert.strictEqual(failureOf(Object.assign(withCode(code), { syscall: "read" })).reason, "Headers")
    }
  )

  it("names the body where a code does not say the phase", () => {
    assert.strictEqual(failureOf(withCode("ECONNRESET"), "Body").reason, "Body")
    assert.strictEqual(failureOf(withCode("HPE_INVALID_CHUNK_SIZE"), "Body").reason, "Body")
  })

  it("finds the code in causes of causes and in the first of several errors", () => {
    const nested = new Error("fetch failed", { cause: new AggregateError([withCode("ECONNREFUSED"), new Error("x")]) })

    assert.deepStrictEqual(failureOf(nested).code, Option.some("ECONNREFUSED"))
  })

  it.each([
    ["no cause", undefined],
    ["an error without a code", new Error("x")],
    ["a code that is a text", Object.assign(new Error("x"), { code: "secret text" })],
    ["a code that is a number", Object.assign(new Error("x"), { code: 104 })],
    [
      "a cause that is its own cause",
      (() => {
        const error = new Error("x")
        return Object.assign(error, { cause: error })
      })()
    ]
  ])("is unknown with %s, and retried", (_what, cause) => {
    const failure = failureOf(cause)

    assert.deepStrictEqual({ reason: failure.reason, code: failure.code }, { reason: "Unknown", code: Option.none() })
    assert.strictEqual(failure.retry?.limit, Infinity)
  })

  it("does not retry a request that cannot be sent", () => {
    const error = new HttpClientError.HttpClientError({
      reason: new HttpClientError.InvalidUrlError({ request, cause: withCode("ERR_INVALID_URL") })
    })

    assert.deepStrictEqual(transportFailureOf(error, "Headers"), {
      reason: "Unknown",
      code: Option.none(),
      retry: undefined
    })
  })

  it("keeps nothing of the error but its code", () => {
    assert.notInclude(JSON.stringify(failureOf(withCode("ECONNRESET"))), "canary")
  })
})
