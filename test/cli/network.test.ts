/** The command behind a proxy, and with a certificate that only the environment trusts. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Fs from "node:fs"
import * as Path from "node:path"
import { authority, proxyTo, service } from "../sockets/support/proxy.ts"
import { start } from "./child.ts"
import { temporaryFolder } from "./support.ts"

/** The end of `list` with these variables, against the service behind the proxy. */
const listed = Effect.fnUntraced(function*(variables: Readonly<Record<string, string>>) {
  const proxy = yield* proxyTo((yield* service).port)
  const folder = yield* temporaryFolder
  const ca = Path.join(folder, "ca.pem")
  Fs.writeFileSync(ca, authority.cert)
  const env = {
    PATH: process.env["PATH"] ?? "",
    TIME_PUNCHES_BASE_URL: "https://service.test",
    TIME_PUNCHES_ACCESS_TOKEN: "an-access-token",
    TIME_PUNCHES_COMPANY_ID: "4021",
    HTTPS_PROXY: `http://me:canary@127.0.0.1:${proxy.port}`,
    NODE_EXTRA_CA_CERTS: ca,
    ...variables
  }
  const { child, ended } = start(["list", "--format", "ndjson"], env)
  yield* Effect.addFinalizer(() => Effect.sync(() => child.kill("SIGKILL")))
  return { ...yield* Effect.promise(() => ended), asked: proxy.asked.map(({ target }) => target) }
})

describe("time-punches in a closed network", () => {
  it.live("lists through HTTPS_PROXY, over a certificate of NODE_EXTRA_CA_CERTS", () =>
    Effect.gen(function*() {
      const { asked, code, stderr, stdout } = yield* listed({})

      assert.strictEqual(code, 0, stderr)
      assert.lengthOf(stdout.trim().split("\n"), 1)
      assert.deepStrictEqual(asked, ["service.test:443"])
    }).pipe(Effect.scoped), 30_000)

  it.live("names NODE_EXTRA_CA_CERTS if nothing trusts the certificate", () =>
    Effect.gen(function*() {
      const { code, stderr } = yield* listed({ NODE_EXTRA_CA_CERTS: "" })

      assert.strictEqual(code, 6)
      assert.include(stderr, "NODE_EXTRA_CA_CERTS adds trusted ones")
    }).pipe(Effect.scoped), 30_000)

  it.live("names a proxy that cannot be read, and never its value", () =>
    Effect.gen(function*() {
      const { asked, code, stderr } = yield* listed({ HTTPS_PROXY: "canary:8080" })

      assert.strictEqual(code, 3)
      assert.include(stderr, "HTTPS_PROXY must be an http or https URL")
      assert.notInclude(stderr, "canary")
      assert.isEmpty(asked)
    }).pipe(Effect.scoped), 30_000)
})
