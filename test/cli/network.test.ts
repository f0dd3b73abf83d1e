/** The command behind a proxy, and with a certificate that only the environment trusts. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Fs from "node:fs"
import * as Path from "node:path"
import { authority, proxyTo, service } from "../sockets/support/proxy.ts"
import { start } from "./child.ts"
import { temporaryFolder } from "./support.ts"

/** The end of `list` with these variables, against the service behind the proxy. */
const listed = Effect.fnUntraced(function*(
  variables: Readonly<Record<string, string>>,
  /** Variables of `--variables`. */
  ofFile?: (proxy: string) => Readonly<Record<string, string>>,
  command: ReadonlyArray<string> = ["list", "--source", "service", "--format", "ndjson"]
) {
  const proxy = yield* proxyTo((yield* service).port)
  const folder = yield* temporaryFolder
  const ca = Path.join(folder, "ca.pem")
  Fs.writeFileSync(ca, authority.cert)
  const env = {
    PATH: process.env["PATH"] ?? "",
    TIME_PUNCHES_BASE_URL: "https://service.test",
    TIME_PUNCHES_ACCESS_TOKEN: "an-access-token",
    TIME_PUNCHES_COMPANY_ID: "4021",
    ...(ofFile === undefined ? { HTTPS_PROXY: `http://me:canary@127.0.0.1:${proxy.port}` } : {}),
    NODE_EXTRA_CA_CERTS: ca,
    ...variables
  }
  const file = Path.join(folder, "settings.env")
  const lines = Object.entries(ofFile?.(`http://me:canary@127.0.0.1:${proxy.port}`) ?? {})
  Fs.writeFileSync(file, lines.map(([name, value]) => `${name}=${value}\n`).join(""))
  const given = ofFile === undefined ? [] : ["--variables", file]
  const { child, ended } = start([...command, ...given], { ...env, TIME_PUNCHES_DATABASE_URL: `${folder}/punches.db` })
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
    }).pipe(Effect.scoped))

  it.live.each(["list --source service --format ndjson", "sync", "summary --source service", "doctor"])(
    "sends through the HTTPS_PROXY of a file of --variables: %s",
    (command) =>
      Effect.gen(function*() {
        const { asked, stderr } = yield* listed({}, (proxy) => ({ HTTPS_PROXY: proxy }), command.split(" "))

        assert.include(asked, "service.test:443", stderr)
      }).pipe(Effect.scoped)
  )

  it.live.each<readonly [string, Readonly<Record<string, string>>]>([
    ["NO_PROXY", { NO_PROXY: "service.test" }],
    ["NODE_USE_ENV_PROXY=0", { NODE_USE_ENV_PROXY: "0" }]
  ])("takes %s from that file too", ([, more]) =>
    Effect.gen(function*() {
      const { asked, code } = yield* listed({}, (proxy) => ({ HTTPS_PROXY: proxy, ...more }))

      // The host is known to the proxy alone.
      assert.strictEqual(code, 6)
      assert.isEmpty(asked)
    }).pipe(Effect.scoped))

  it.live("names a proxy of that file that cannot be read, and never its value", () =>
    Effect.gen(function*() {
      const { asked, code, stderr } = yield* listed({}, () => ({ HTTPS_PROXY: "canary:8080" }))

      assert.strictEqual(code, 3)
      assert.include(stderr, "HTTPS_PROXY must be an http or https URL")
      assert.notInclude(stderr, "canary")
      assert.isEmpty(asked)
    }).pipe(Effect.scoped))

  it.live("names NODE_EXTRA_CA_CERTS if nothing trusts the certificate", () =>
    Effect.gen(function*() {
      const { code, stderr } = yield* listed({ NODE_EXTRA_CA_CERTS: "" })

      assert.strictEqual(code, 6)
      assert.include(stderr, "NODE_EXTRA_CA_CERTS adds trusted ones")
    }).pipe(Effect.scoped))

  it.live("names a proxy that cannot be read, and never its value", () =>
    Effect.gen(function*() {
      const { asked, code, stderr } = yield* listed({ HTTPS_PROXY: "canary:8080" })

      assert.strictEqual(code, 3)
      assert.include(stderr, "HTTPS_PROXY must be an http or https URL")
      assert.notInclude(stderr, "canary")
      assert.isEmpty(asked)
    }).pipe(Effect.scoped))
})
