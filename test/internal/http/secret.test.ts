/** Secrets: which ones can be sent, and how they are removed from a text. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { HttpClientRequest } from "effect/http"
import {
  cookieHeader,
  hostOf,
  isSendable,
  scrub,
  secretsOf,
  validateSecret
} from "../../../src/internal/http/secret.ts"
import { forms } from "../../sockets/support/echo.ts"
import { surfaces } from "../../support/settings.ts"

const redact = (value: string) => Redacted.make(value)

describe("isSendable", () => {
  it.each(
    [
      ["accessToken", "abc.DEF-123_~+/=", true],
      ["accessToken", "with a space", false],
      ["accessToken", "line\nend", false],
      ["accessToken", "é", false],
      ["accessToken", "", false],
      ["accessToken", "a".repeat(16_384), true],
      ["accessToken", "a".repeat(16_385), false],
      ["clientSecret", "inner space", true],
      ["clientSecret", " leading", false],
      ["clientSecret", "trailing ", false],
      ["clientSecret", "x", false],
      ["clientSecret", "xyzw", true],
      ["sessionCookie", "a!#$%&'()*+-./:<=>?@[]^_`{|}~", true],
      ["sessionCookie", "a;b", false],
      ["sessionCookie", "a,b", false],
      ["sessionCookie", "a\"b", false],
      ["bearer", "abc-._~+/==", true],
      ["bearer", "a=b", false],
      ["bearer", "a:b", false]
    ] as const
  )("as %s: %j is %s", (form, value, expected) => {
    assert.strictEqual(isSendable(form, redact(value)), expected)
  })
})

describe("validateSecret", () => {
  it.effect("returns a secret that can be sent unchanged", () =>
    Effect.gen(function*() {
      const secret = redact("some-token")

      assert.strictEqual(yield* validateSecret("accessToken", "accessToken", secret), secret)
    }))

  it.effect("fails with the name of the setting, without the value", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(validateSecret("THE_TOKEN", "accessToken", redact("canary\n")))

      assert.include(error.message, "THE_TOKEN must be a secret of 4 or more visible ASCII characters")
      assert.notInclude(surfaces(error), "canary")
    }))
})

describe("scrub", () => {
  const value = "s +/=%7e&\"q\\<9>'Lm4Tz~"

  it.each(forms(value).map((form) => [form]))("removes the secret in the form %s", (form) => {
    const clean = scrub(`before ${form} after`, [redact(value)])

    assert.match(clean, /^before .*<redacted>.* after$/)
    assert.notInclude(clean, "Lm4Tz")
    assert.notInclude(clean, form)
  })

  it("removes a secret of which only some characters are escaped", () => {
    assert.strictEqual(scrub("a%2Bb+c and a+b%2bc", [redact("a+b+c")]), "<redacted> and <redacted>")
  })

  it("leaves the words of a text alone that contain fewer than four characters by chance", () => {
    assert.strictEqual(scrub("expired, next", [redact("x"), redact("ext"), redact("next")]), "expired, <redacted>")
  })

  it("removes every occurrence of every secret", () => {
    assert.strictEqual(
      scrub("first, other, first", [redact("first"), redact("other")]),
      "<redacted>, <redacted>, <redacted>"
    )
  })

  it("leaves a text without the secret unchanged", () => {
    const text = "Over the limit: 100% of 5 requests"

    assert.strictEqual(scrub(text, [redact("some-token"), redact("")]), text)
  })
})

describe("secretsOf", () => {
  const request = HttpClientRequest.get("https://api.test/")
  const valuesOf = (signed: HttpClientRequest.HttpClientRequest) => secretsOf(signed).map(Redacted.value)

  it("gives the token of the authorization header without its scheme", () => {
    assert.deepStrictEqual(valuesOf(HttpClientRequest.bearerToken(request, "some-token")), ["some-token"])
  })

  it("gives the value of the cookie without its name", () => {
    const header = cookieHeader("svcsession", redact("a=b"))

    assert.strictEqual(header, "svcsession=a=b")
    assert.deepStrictEqual(valuesOf(HttpClientRequest.setHeader(request, "cookie", header)), ["a=b"])
  })

  it("gives the value of every cookie, since a response may repeat only one of them", () => {
    const signed = HttpClientRequest.setHeader(request, "cookie", "svcsession=aa=bb; affinity=node-4; flag=;x")

    assert.deepStrictEqual(valuesOf(signed), ["aa=bb", "node-4", "x"])
    assert.strictEqual(
      scrub("node-4 does not know aa=bb, x", secretsOf(signed)),
      "<redacted> does not know <redacted>, x"
    )
  })

  it("gives none of a request without credentials", () => {
    assert.deepStrictEqual(valuesOf(request), [])
  })
})

describe("hostOf", () => {
  it.each([
    ["postgres://u:p@db.example.com:6432/x", "db.example.com", 6432],
    ["postgres://u:p@db.example.com/x?sslmode=require", "db.example.com", undefined],
    ["postgres://u@[::1]:5433/x", "::1", 5433],
    ["postgres:///x?host=/var/run/postgresql", "/var/run/postgresql", undefined],
    // As in the client: a parameter wins.
    ["postgres://a:1/x?host=b&port=2", "b", 2],
    ["postgres:///x", undefined, undefined]
  ])("%s", (url, host, port) => {
    assert.deepStrictEqual(hostOf(Redacted.make(url)), { host, port })
  })
})
