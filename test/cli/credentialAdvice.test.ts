/** What a command advises when there is no token: as much as with any other credential. */
import { assert, describe, it } from "@effect/vitest"
import { Option } from "effect"
import { commandFailureOf, isFinal } from "../../src/cli/describe.ts"
import { exitCode } from "../../src/cli/failure.ts"
import { TokenError, TransportError, UnexpectedStatus } from "../../src/index.ts"

const unreached = (reason: TransportError["reason"], code: string) =>
  new TokenError({
    reason: "Transport",
    transport: Option.some({ reason, code: Option.some(code), origin: "https://auth.test" })
  })

describe("a command without a token", () => {
  it.each([["Tls", "CERT_HAS_EXPIRED"], ["Connect", "ENOTFOUND"], ["Connect", "ECONNREFUSED"]] as const)(
    "[row 19] advises as for a page: %s %s",
    (reason, code) => {
      const token = commandFailureOf(unreached(reason, code))
      const page = commandFailureOf(new TransportError({ reason, code: Option.some(code) }))

      // Of an address that does not answer each names its setting.
      const said = (lines: ReadonlyArray<string>) => lines.map((line) => line.replace(/ (?:at|there).*\)/, ""))
      assert.deepStrictEqual([said(token.advice), token.code], [said(page.advice), page.code])
      if (reason === "Connect") {
        assert.match(token.advice.join(), /at https:\/\/auth\.test: check the auth URL \(TIME_PUNCHES_AUTH_URL\)/)
        assert.match(page.advice.join(), /check the base URL \(TIME_PUNCHES_BASE_URL\)/)
      }
      assert.include(token.message, `${reason} (${code}) at https://auth.test`)
    }
  )

  it("[row 19] advises to fix the trust store, not to wait, if the certificate is bad", () => {
    const { advice } = commandFailureOf(unreached("Tls", "CERT_HAS_EXPIRED"))

    assert.include(advice.join(" "), "NODE_EXTRA_CA_CERTS")
    assert.notInclude(advice.join(" "), "try again later")
  })

  it.each([
    new TokenError({ reason: "Rejected", status: Option.some(302) }),
    new TokenError({ reason: "Rejected", status: Option.some(404) }),
    new TokenError({ reason: "Malformed", status: Option.some(200) })
  ])("[row 19] names the address if something else answers there: %s", (error) => {
    const { advice, code } = commandFailureOf(error)

    // A page in place of a token may be an outage: a command that repeats tries again.
    const isService = error.reason === "Malformed"
    assert.deepStrictEqual([code, isFinal(error)], isService ? [exitCode.later, false] : [exitCode.credential, true])
    assert.include(advice.join(" "), "TIME_PUNCHES_AUTH_URL")
    assert.include(
      commandFailureOf(new UnexpectedStatus({ status: 404 })).advice.join(" "),
      "something else may answer there"
    )
  })

  it.each([
    new TokenError({ reason: "InvalidClient", status: Option.some(401) }),
    new TokenError({ reason: "Rejected", status: Option.some(400), code: Option.some("invalid_request") })
  ])("advises to check the client that the endpoint refused: %s", (error) => {
    assert.include(commandFailureOf(error).advice.join(" "), "TIME_PUNCHES_CLIENT_SECRET")
  })
})
