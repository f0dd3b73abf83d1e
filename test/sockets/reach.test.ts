/** Failures to reach the service: refused, dropped, not resolved, not trusted. */
import { NodeHttpClient } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, type Layer, Option, Redacted } from "effect"
import type { HttpClient } from "effect/http"
import dns from "node:dns"
import { vi } from "vitest"
import { Credentials } from "../../src/index.ts"
import { defaultOAuthClient } from "../../src/testing/index.ts"
import { company } from "../support/client.ts"
import { client, errorName, listingOutcome, threePages, transports } from "../support/transports.ts"
import { blackHole } from "./support/blackHole.ts"
import { makeAuthority, selfSigned, trust } from "./support/certificate.ts"
import { rawServer, whole } from "./support/rawServer.ts"

const { first, ids, second, third } = threePages
const pages = [whole(200, first), whole(200, second), whole(200, third)]

/** A port whose server has just closed. */
const closedPort = Effect.scoped(Effect.map(rawServer({ answers: [] }), ({ port }) => port))

const authority = makeAuthority()
const names = ["localhost", "127.0.0.1"]
const good = authority.issue({ names })

const untrusted = [
  {
    row: "C19",
    what: "the certificate is self-signed",
    server: selfSigned({ names }),
    code: /^TransportError Tls DEPTH_ZERO_SELF_SIGNED_CERT$/
  },
  {
    row: "C19",
    what: "the certificate is of another host",
    server: authority.issue({ names: ["other.test"] }),
    code: /^TransportError Tls ERR_TLS_CERT_ALTNAME_INVALID$/
  },
  {
    row: "C19",
    what: "the certificate has expired",
    server: authority.issue({ names, years: [2001, 2002] }),
    code: /^TransportError Tls CERT_HAS_EXPIRED$/
  },
  {
    row: "C20",
    what: "the newest protocol of the service is TLS 1.1",
    server: { ...good, minVersion: "TLSv1", maxVersion: "TLSv1.1", ciphers: "DEFAULT:@SECLEVEL=0" },
    code: /^TransportError Tls (ERR_SSL_\w+|EPROTO)$/
  }
] as const

/** Makes the resolution of every name fail with this code. */
const failingLookup = (code: string) =>
  Effect.acquireRelease(
    Effect.sync(() =>
      vi.spyOn(dns, "lookup").mockImplementation((...args: ReadonlyArray<unknown>) => {
        const answer = args.at(-1)
        const error = Object.assign(new Error(`getaddrinfo ${code}`), { code, syscall: "getaddrinfo" })
        if (typeof answer === "function") setImmediate(() => answer(error))
      })
    ),
    (lookup) => Effect.sync(() => lookup.mockRestore())
  )

describe.each(transports)("a listing over $transport", ({ http }) => {
  it.live("[C1] fails after four attempts where no server listens", () =>
    Effect.gen(function*() {
      const url = `http://127.0.0.1:${yield* closedPort}`
      const run = yield* listingOutcome().pipe(Effect.provide(client(url, http)))

      assert.strictEqual(errorName(run.error), "TransportError Connect ECONNREFUSED")
      assert.deepInclude<object | undefined>(run.error, { origin: Option.some(url) })
      assert.strictEqual(run.error?.attempts, 4)
    }))

  it.live("[C1] reaches a service that starts between two attempts", () =>
    Effect.gen(function*() {
      const port = yield* closedPort
      const patient = client(`http://127.0.0.1:${port}`, http, { attempts: 10_000, budget: Infinity })
      const fiber = yield* Effect.forkChild(listingOutcome().pipe(Effect.provide(patient)))
      yield* Effect.sleep("30 millis")
      assert.isUndefined(fiber.pollUnsafe())
      yield* rawServer({ answers: pages, port })

      assert.deepStrictEqual(yield* Fiber.join(fiber), { ids, error: undefined })
    }))

  it.live("[C16] times out on an address that drops its packets", () =>
    Effect.gen(function*() {
      const url = yield* blackHole
      const run = yield* listingOutcome().pipe(
        Effect.provide(client(url, http, { attemptTimeout: "300 millis", attempts: 2 }))
      )

      assert.strictEqual(errorName(run.error), "TransportError Timeout")
      assert.strictEqual(run.error?.attempts, 2)
    }))

  it.live.each([["C17", "ENOTFOUND", 2], ["C18", "EAI_AGAIN", 4]] as const)(
    "[%s] retries a name that does not resolve (%s) as often as its code allows",
    ([_row, code, attempts]) =>
      Effect.gen(function*() {
        const lookup = yield* failingLookup(code)
        const run = yield* listingOutcome().pipe(Effect.provide(client("https://nowhere.test", http)))

        assert.strictEqual(errorName(run.error), `TransportError Connect ${code}`)
        assert.strictEqual(run.error?.attempts, attempts)
        assert.strictEqual(lookup.mock.calls.length, attempts)
      })
  )

  it.live.each(untrusted)("[$row] does not retry where $what", ({ code, server }) =>
    Effect.gen(function*() {
      yield* trust(authority)
      const { connections, received, url } = yield* rawServer({ answers: pages, tls: server })
      const run = yield* listingOutcome().pipe(Effect.provide(client(url, http)))

      assert.match(errorName(run.error), code)
      assert.strictEqual(run.error?.attempts, 1)
      assert.strictEqual(connections.length, 1)
      assert.strictEqual(received(), 0, "the request was sent")
    }))

  it.live("[C19] trusts a certificate of the authority that the machine trusts", () =>
    Effect.gen(function*() {
      yield* trust(authority)
      const server = yield* rawServer({ answers: pages, tls: good })

      assert.deepStrictEqual(yield* listingOutcome().pipe(Effect.provide(client(server.url, http))), {
        ids,
        error: undefined
      })
    }))

  it.live("[C20] does not retry where the service speaks no TLS", () =>
    Effect.gen(function*() {
      const plain = yield* rawServer({ answers: [["HTTP/1.1 400 Bad Request\r\n\r\n", "FINISH"]], at: "byte" })
      const run = yield* listingOutcome().pipe(Effect.provide(client(plain.url.replace("http:", "https:"), http)))

      assert.match(errorName(run.error), /^TransportError Tls (ERR_SSL_WRONG_VERSION_NUMBER|EPROTO)$/)
      assert.strictEqual(run.error?.attempts, 1)
      assert.strictEqual(plain.connections.length, 1)
    }))

  it.live("[C20] fails within its attempts where the service speaks only TLS", () =>
    Effect.gen(function*() {
      const secure = yield* rawServer({ answers: pages, tls: good })
      const run = yield* listingOutcome().pipe(Effect.provide(client(secure.url.replace("https:", "http:"), http)))

      assert.match(errorName(run.error), /^TransportError Headers /)
      assert.isAtMost(run.error?.attempts ?? Infinity, 4)
      assert.isAtMost(secure.connections.length, 4)
    }))
})

/** An OAuth client whose token endpoint is the service itself. */
const oauth = Credentials.layerOAuth({
  clientId: defaultOAuthClient.clientId,
  clientSecret: Redacted.make(defaultOAuthClient.clientSecret),
  company
})

/** The failure of a listing without a token, and the reason, code and origin of its transport. */
const withoutToken = (url: string, http: Layer.Layer<HttpClient.HttpClient>) =>
  Effect.gen(function*() {
    const { error } = yield* Effect.provide(listingOutcome(), client(url, http, { credentials: oauth }))
    if (error?._tag !== "TokenError") return yield* Effect.die(new Error(`not a TokenError: ${errorName(error)}`))
    const { code, origin, reason } = yield* Effect.fromOption(error.transport)
    return {
      error,
      origin,
      text: `TransportError ${reason}${Option.match(code, { onNone: () => "", onSome: (c) => ` ${c}` })}`
    }
  })

describe.each(transports)("a token requested over $transport", ({ http }) => {
  it.live.each(untrusted)(
    "[row 19] is not requested again if $what, and the error says so",
    ({ code, server }) =>
      Effect.gen(function*() {
        yield* trust(authority)
        const { connections, received, url } = yield* rawServer({ answers: pages, tls: server })
        const { error, origin, text } = yield* withoutToken(url, http)

        assert.match(text, code)
        assert.strictEqual(origin, url)
        assert.strictEqual(error.attempts, 1)
        assert.include(error.message, `no token: Transport: Tls (${text.split(" ")[2]}) at ${url} [`)
        assert.deepStrictEqual(connections.length, 1)
        assert.strictEqual(received(), 0, "the request was sent")
      })
  )
})

// Three requests, a second apart: all transports wait at once.
describe("a token requested over each transport", () => {
  const overEach = <E, R>(test: (transport: typeof transports[number]) => Effect.Effect<void, E, R>) =>
    Effect.forEach(transports, test, { concurrency: "unbounded", discard: true })

  it.live("[row 19] says that no server listens", () =>
    Effect.gen(function*() {
      const url = `http://127.0.0.1:${yield* closedPort}`
      yield* overEach(Effect.fnUntraced(function*({ http, transport }) {
        const { error, origin, text } = yield* withoutToken(url, http)

        assert.strictEqual(text, "TransportError Connect ECONNREFUSED", transport)
        assert.strictEqual(origin, url, transport)
        assert.strictEqual(error.attempts, 3, transport)
        assert.include(
          error.message,
          `Connect (ECONNREFUSED) at ${url} [company ${company.id}, page 1, 3 token requests]`,
          transport
        )
      }))
    }))

  it.live("[row 19] says that its host is unknown", () =>
    Effect.gen(function*() {
      yield* failingLookup("ENOTFOUND")
      yield* overEach(Effect.fnUntraced(function*({ http, transport }) {
        const { origin, text } = yield* withoutToken("https://nowhere.test/auth", http)

        assert.strictEqual(text, "TransportError Connect ENOTFOUND", transport)
        assert.strictEqual(origin, "https://nowhere.test", transport)
      }))
    }))
})

describe("a listing over undici", () => {
  it.live("[C16] reports a connect timeout where the agent has one", () =>
    Effect.gen(function*() {
      const http = NodeHttpClient.layerUndiciOptions({ connections: 16, connect: { timeout: 200 } })
      const run = yield* listingOutcome().pipe(Effect.provide(client(yield* blackHole, http, { attempts: 1 })))

      assert.strictEqual(errorName(run.error), "TransportError Connect UND_ERR_CONNECT_TIMEOUT")
    }))
})
