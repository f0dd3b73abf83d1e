/** Requests through the proxy of the environment, to a service with TLS, over real sockets. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { HttpClient } from "effect/http"
import { NodeTransport } from "../../src/node/index.ts"
import { readProxies } from "../../src/node/proxy.ts"
import { authority, proxyTo, service } from "../sockets/support/proxy.ts"
import { environment } from "../support/settings.ts"

const transport = (env: Readonly<Record<string, string>>) =>
  NodeTransport.layer({ tls: { ca: authority.cert }, connectTimeout: "2 seconds" }).pipe(
    Layer.provide(environment(env))
  )

const status = (url: string, env: Readonly<Record<string, string>>) =>
  Effect.map(HttpClient.get(url), (response) => response.status).pipe(Effect.provide(transport(env)))

describe("NodeTransport behind a proxy", () => {
  it.live.each(["HTTPS_PROXY", "https_proxy", "HTTP_PROXY"])(
    "connects through the proxy of %s",
    (name) =>
      Effect.gen(function*() {
        const { port } = yield* service
        const proxy = yield* proxyTo(port)

        assert.strictEqual(
          yield* status("https://service.test/v2", { [name]: `http://me:p%40ss@127.0.0.1:${proxy.port}` }),
          200
        )
        assert.deepStrictEqual(proxy.asked, [{
          target: "service.test:443",
          authorization: `Basic ${Buffer.from("me:p@ss").toString("base64")}`
        }])
      }).pipe(Effect.scoped)
  )

  it.live("reaches this machine directly, whatever NO_PROXY says", () =>
    Effect.gen(function*() {
      const { port } = yield* service
      const proxy = yield* proxyTo(port)

      assert.strictEqual(
        yield* status(`https://127.0.0.1:${port}/`, {
          HTTPS_PROXY: `http://127.0.0.1:${proxy.port}`,
          NO_PROXY: "elsewhere.test"
        }),
        200
      )
      assert.isEmpty(proxy.asked)
    }).pipe(Effect.scoped))

  it.live.each([
    { NO_PROXY: "other.test, service.test" },
    { no_proxy: ".test" },
    { NO_PROXY: "*" },
    { NODE_USE_ENV_PROXY: "0" }
  ])("connects directly with %j", (env) =>
    Effect.gen(function*() {
      const { port } = yield* service
      const proxy = yield* proxyTo(port)

      // The name has no address, so the direct way fails.
      assert.strictEqual(
        (yield* Effect.flip(status("https://service.test/", { HTTPS_PROXY: `http://127.0.0.1:${proxy.port}`, ...env })))
          ._tag,
        "HttpClientError"
      )
      assert.isEmpty(proxy.asked)
    }).pipe(Effect.scoped))

  it.live("fails if the proxy refuses, without its password", () =>
    Effect.gen(function*() {
      const { port } = yield* service
      const proxy = yield* proxyTo(port, true)
      const error = yield* Effect.flip(
        status("https://service.test/", { HTTPS_PROXY: `http://me:canary@127.0.0.1:${proxy.port}` })
      )

      assert.strictEqual(error._tag, "HttpClientError")
      assert.notInclude(String(error), "canary")
    }).pipe(Effect.scoped))
})

describe("the proxies of the environment", () => {
  it.effect.each(["proxy.test:8080", "socks5://proxy.test", "canary", "http://user:12/canary@proxy.test"])(
    "names HTTPS_PROXY if it is %s",
    (text) =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(Effect.provide(readProxies, environment({ HTTPS_PROXY: text })))

        assert.include(error.message, "HTTPS_PROXY must be an http or https URL")
        assert.notInclude(error.message, text)
      })
  )

  it.effect.each([{}, { HTTPS_PROXY: "" }, { NO_PROXY: "*" }])("are none in %j", (env) =>
    Effect.gen(function*() {
      assert.isTrue((yield* Effect.provide(readProxies, environment(env)))._tag === "None")
    }))
})
