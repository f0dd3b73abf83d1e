/** The page of a fake server over HTTP: its routes, who may use them, what its buttons inject, and what loads it. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import * as Http from "node:http"
import { networkInterfaces } from "node:os"
import { rolldown } from "rolldown"
import { foreignMachine } from "../../../src/internal/page/guard.ts"
import { FakeServer } from "../../../src/testing/FakeServer.ts"
import { defaultCompany, FakeService, Fault, generatePunches } from "../../../src/testing/index.ts"
import { scriptText } from "../../../src/testing/page/browser/script.ts"
import { faultButtons } from "../../../src/testing/page/faults.ts"
import { browser, hasChromium, looksRight, noChromium } from "../../full/browser.ts"
import { needs } from "../../support/needs.ts"

const punches = generatePunches({ count: 3, companyId: defaultCompany.id, deletedShare: 0 })
const id = punches[0]?.id ?? 0

const served = (options: { readonly page?: boolean } = { page: true }) =>
  FakeServer.layer(options).pipe(Layer.provideMerge(FakeService.layer({ punches })))

interface Answer {
  readonly status: number
  readonly headers: Http.IncomingHttpHeaders
  readonly body: string
}

/** Sends these headers and no other, as `fetch` cannot. An event stream is read until its first event. */
const ask = (
  method: string,
  path: string,
  headers: Readonly<Record<string, string>> = {},
  body = "",
  address?: string
) =>
  Effect.flatMap(FakeServer, ({ url }) =>
    Effect.callback<Answer>((resume) => {
      const to = address === undefined ? {} : { host: address, localAddress: address }
      const request = Http.request(`${url}${path}`, { method, headers, ...to }, (response) => {
        let text = ""
        const end = () => {
          resume(Effect.succeed({ status: response.statusCode ?? 0, headers: response.headers, body: text }))
          request.destroy()
        }
        response.setEncoding("utf8").on("data", (piece: string) => {
          text += piece
          if (response.headers["content-type"] === "text/event-stream") end()
        }).on("end", end)
      })
      request.on("error", () => undefined).end(body)
    }))

const press = (name: string, choice: number, times = "once", target = "usual") =>
  ask("POST", "/sandbox/faults", {}, JSON.stringify({ name, choice, times, target }))

const routes = [
  ["GET", "/", 200, ""],
  ["GET", "/sandbox/page.css", 200, ""],
  ["GET", "/sandbox/page.js", 200, ""],
  ["GET", "/sandbox/log", 200, ""],
  ["GET", "/sandbox/companies/4021", 200, ""],
  ["POST", "/sandbox/faults", 204, "{\"name\":\"reset\",\"choice\":0,\"times\":\"once\",\"target\":\"usual\"}"],
  ["DELETE", "/sandbox/faults", 204, ""],
  ["PATCH", `/sandbox/time_punches/${id}`, 204, "{\"notes\":\"corrected\"}"]
] as const

const foreign: ReadonlyArray<readonly [string, Readonly<Record<string, string>>]> = [
  ["a foreign host", { host: "rebound.test" }],
  ["a foreign host with its own origin", { host: "rebound.test", origin: "http://rebound.test" }],
  ["another port of this machine", { origin: "http://127.0.0.1:1" }],
  ["another name of this machine", { host: "127.0.0.1:1", origin: "http://localhost:1" }],
  ["another site", { origin: "http://elsewhere.test" }],
  ["no origin that it names", { origin: "null" }],
  ["another site that sends no origin", { "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors" }],
  ["another port that sends no origin", { "sec-fetch-site": "same-site", "sec-fetch-mode": "no-cors" }],
  ["a frame", { "sec-fetch-site": "same-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "iframe" }]
]

describe("a body of more than 64 KiB", () => {
  const paths = [
    ["POST", "/sandbox/faults"],
    ["PATCH", `/sandbox/time_punches/${id}`],
    ["DELETE", "/sandbox/faults"],
    ["POST", "/oauth2/token"]
  ] as const

  it.live("gets status 413 where it would be read", () =>
    Effect.gen(function*() {
      const most = `{"notes":"${"x".repeat(65_536 - 12)}"}`
      assert.strictEqual((yield* ask("PATCH", `/sandbox/time_punches/${id}`, {}, most)).status, 204)
      for (const [method, path] of paths) {
        const { body, status } = yield* ask(method, path, {}, `${most} `)
        assert.strictEqual(status, method === "DELETE" ? 204 : 413, path)
        if (status === 413) assert.strictEqual(body, "A body has at most 64 KiB.\n")
      }
      assert.strictEqual((yield* ask("GET", "/")).status, 200)
    }).pipe(Effect.provide(served())))
})

describe("the page of a fake server", () => {
  it.live("has a strict policy on every route, and is in no cache", () =>
    Effect.gen(function*() {
      for (const [method, path, status, body] of routes) {
        const { headers, status: found } = yield* ask(method, path, {}, body)
        const policy = String(headers["content-security-policy"])

        assert.strictEqual(found, status, path)
        assert.match(policy, /^default-src 'none'; .*frame-ancestors 'none'$/, path)
        assert.notMatch(policy, /script-src[^;]*unsafe|\*|https?:/, path)
        assert.strictEqual(headers["cache-control"], "no-store", path)
        assert.strictEqual(headers["x-content-type-options"], "nosniff", path)
      }
    }).pipe(Effect.provide(served())))

  it.live.each(foreign)("refuses %s on every route, and does nothing", ([, headers]) =>
    Effect.gen(function*() {
      const service = yield* FakeService
      for (const [method, path, , body] of routes) {
        const { status } = yield* ask(method, path, headers, body)

        assert.strictEqual(status, 403, `${method} ${path}`)
      }
      assert.deepStrictEqual(yield* service.faults, [])
      const { body } = yield* ask("GET", `/v2/company/4021/time_punches`, {
        authorization: `Bearer ${defaultCompany.accessToken}`
      })
      assert.notInclude(body, "corrected")
    }).pipe(Effect.provide(served())))

  it.live("answers to itself, to a program, and to a link of another page", () =>
    Effect.gen(function*() {
      const { url } = yield* FakeServer
      const headers: ReadonlyArray<Readonly<Record<string, string>>> = [
        {},
        { origin: url, "sec-fetch-site": "same-origin" },
        { "sec-fetch-site": "none", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" },
        { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" }
      ]
      for (const each of headers) assert.strictEqual((yield* ask("GET", "/", each)).status, 200)
    }).pipe(Effect.provide(served())))

  it.live("answers only to this machine, also on an address that others can reach", () =>
    Effect.gen(function*() {
      assert.strictEqual((yield* ask("GET", "/", { host: "service.test" })).status, 403)
      assert.strictEqual((yield* ask("GET", "/v2/company/4021/time_punches", { host: "service.test" })).status, 401)
    }).pipe(Effect.provide(
      FakeServer.layer({ page: true, host: "0.0.0.0" }).pipe(Layer.provideMerge(FakeService.layer()))
    )))

  it.live("answers to no other machine that names this one, and does nothing for it", (context) => {
    const address = Object.values(networkInterfaces()).flat()
      .find((each) => each?.family === "IPv4" && !each.internal)?.address
    needs(context, address !== undefined, "no address on a network")
    return Effect.gen(function*() {
      const service = yield* FakeService
      const port = new URL((yield* FakeServer).url).port
      for (const [method, path, , body] of routes) {
        for (
          const named of [{ host: "localhost" }, { host: `127.0.0.1:${port}`, origin: `http://127.0.0.1:${port}` }]
        ) {
          const { body: refusal, status } = yield* ask(method, path, named, body, address)

          assert.deepStrictEqual(
            [status, refusal],
            [403, "this page answers only to the machine that serves it\n"],
            `${method} ${path}`
          )
        }
      }
      assert.deepStrictEqual(yield* service.faults, [])
      assert.strictEqual((yield* ask("GET", "/", { host: "localhost" }, "", "127.0.0.1")).status, 200)
      const listing = yield* ask(
        "GET",
        "/v2/company/4021/time_punches",
        {
          authorization: `Bearer ${defaultCompany.accessToken}`
        },
        "",
        address
      )
      assert.strictEqual(listing.status, 200)
      assert.notInclude(listing.body, "corrected")
    }).pipe(Effect.provide(
      FakeServer.layer({ page: true, host: "0.0.0.0" }).pipe(Layer.provideMerge(FakeService.layer({ punches })))
    ))
  })

  it.each(["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"])("takes %s for this machine", (address) => {
    assert.isUndefined(foreignMachine(Option.some(address)))
  })

  it.each(["192.0.2.7", "::ffff:192.0.2.7", "fe80::1%eth0", "127.0.0.1.test", "::", ""])(
    "takes %j for another machine",
    (address) => {
      assert.isString(foreignMachine(Option.some(address)))
    }
  )

  it("takes a connection that was reset for another machine", () => {
    assert.isString(foreignMachine(Option.none()))
  })

  it.live("is left out by default: both paths are as unknown as in a real service", () =>
    Effect.gen(function*() {
      for (const [method, path, , body] of routes) {
        assert.strictEqual((yield* ask(method, path, {}, body)).status, 404, path)
      }
    }).pipe(Effect.provide(served({}))))

  it.live("adds no request to the record of the service, and refuses other methods", () =>
    Effect.gen(function*() {
      for (const [, path] of routes) {
        const { headers, status } = yield* ask("PUT", path)

        assert.strictEqual(status, 405, path)
        assert.match(String(headers.allow), /^(GET|POST|DELETE|PATCH)/)
      }
      assert.deepStrictEqual(yield* FakeService.use(({ requests }) => requests), [])
    }).pipe(Effect.provide(served())))

  it.live("answers to what does not exist with the reason", () =>
    Effect.gen(function*() {
      const { body, status } = yield* ask("GET", "/sandbox/companies/no%20id")

      assert.deepStrictEqual([status, body], [404, "There is no company no id.\n"])
      assert.strictEqual((yield* ask("GET", "/sandbox/companies/%E0%A4%A")).status, 404)
      for (const path of ["/docs", "/Sandbox/page.css", "/sandbox/page.css/", "//sandbox/page.css"])
        assert.strictEqual((yield* ask("GET", path)).status, 404, path)
      assert.strictEqual((yield* press("missing", 0)).status, 422)
      assert.strictEqual((yield* press("reset", 9)).status, 422)
      assert.strictEqual((yield* press("toString", 0)).status, 422)
      assert.strictEqual((yield* ask("POST", "/sandbox/faults", {}, "{")).status, 422)
      assert.strictEqual((yield* ask("PATCH", `/sandbox/time_punches/${id}`, {}, "{\"tips\":1.5}")).status, 422)
    }).pipe(Effect.provide(served())))

  it.live("tells who reads its log the last requests without their secrets, and the faults", () =>
    Effect.gen(function*() {
      yield* ask("GET", "/v2/company/4021/time_punches?limit=1&cursor=no", { authorization: "Bearer a-real-secret" })
      yield* ask("GET", "/v2/company/4021/time_punches?deleted=null", { "sec-fetch-site": "same-origin" })
      yield* press("slow", 1, "always")
      const { body } = yield* ask("GET", "/sandbox/log")

      assert.match(body, /^event: faults\ndata: \[\{"text":"Slow [^\n]*","left":null\}\]\n\n/)
      assert.match(
        body,
        /id: 0\nevent: request\ndata: \{"index":0,[^\n]*"query":\[\["limit","1"\],\["cursor","no"\]\],"answer":"401","isGood":false,[^\n]*"isOwn":false\}\n\n/
      )
      assert.match(body, /id: 1\nevent: request\ndata: [^\n]*"isOwn":true\}/)
      assert.notInclude(body, "secret")
    }).pipe(Effect.provide(served())))
})

describe("the buttons of the page", () => {
  it.live("inject a fault for each constructor of Fault, with the requests that are chosen", () =>
    Effect.gen(function*() {
      const service = yield* FakeService
      assert.deepStrictEqual(Object.keys(faultButtons).toSorted(), Object.keys(Fault).toSorted())
      for (const [name, { choices, lasts }] of Object.entries(faultButtons)) {
        for (const [choice, [label, fault]] of choices.entries()) {
          yield* service.clearFaults
          const { status } = yield* press(name, choice, "thrice", "first")
          const [active] = yield* service.faults

          assert.strictEqual(status, 204, `${name} ${label}`)
          assert.deepStrictEqual(active?.fault, fault, `${name} ${label}`)
          assert.deepStrictEqual(active?.when, {
            ...(lasts === true ? {} : { times: 3 }),
            target: "page",
            cursor: null
          })
        }
      }
    }).pipe(Effect.provide(served())))
})

describe("what loads the page", () => {
  /** The modules that a bundle has in each of its chunks, by the entry. */
  const bundled = (entry: string) =>
    Effect.promise(async () => {
      const bundle = await rolldown({
        input: new URL(`../../../src/testing/${entry}`, import.meta.url).pathname,
        platform: "node",
        external: /^(node:|@effect)/,
        logLevel: "silent"
      })
      const { output } = await bundle.generate({ format: "esm" })
      await bundle.close()
      return output.flatMap((chunk) => chunk.type === "chunk" ? [chunk] : [])
    })

  const isOfPage = (id: string) => /testing\/page\/(?!edits|environment)|http-api/.test(id)

  it.effect("is never the fake service itself, which imports no module of Node either", () =>
    Effect.gen(function*() {
      const chunks = yield* bundled("index.ts")

      assert.deepStrictEqual(chunks.flatMap(({ moduleIds }) => moduleIds.filter(isOfPage)), [])
      // The list of imports of a chunk names a module of the bundler's own that its code does not import.
      assert.deepStrictEqual(
        chunks.flatMap(({ code }) => code.match(/\b(?:from|import)\s*\(?\s*["']node:[^"']*/g) ?? []),
        []
      )
    }), 60_000)

  it.effect(
    "is a fake server, in chunks that it loads on request",
    () =>
      Effect.gen(function*() {
        const chunks = yield* bundled("FakeServer.ts")
        const first = chunks.find(({ isEntry }) => isEntry)
        const ofPage = chunks.filter(({ moduleIds }) => moduleIds.some((id) => id.endsWith("testing/page/routes.ts")))

        assert.deepStrictEqual(first?.moduleIds.filter(isOfPage), [])
        assert.lengthOf(ofPage, 1)
        assert.isBelow(ofPage[0]?.code.length ?? 0, 600_000)
      }),
    60_000
  )
})

describe("the script of the page", () => {
  it("stands on its own: the browser gets its text", () => {
    const text = scriptText("(a)")

    assert.doesNotThrow(() => new Function(text))
    assert.notMatch(text, /\bimport\b|__vi_|require\(/)
  })

  it.live("runs in a browser without an error", (context) => {
    needs(context, hasChromium, noChromium)
    return Effect.gen(function*() {
      const { url } = yield* FakeServer
      const page = yield* (yield* browser).open(`${url}/`)
      yield* Effect.promise(() => page.locator("#rows tr").first().waitFor())
      yield* looksRight(page)
    }).pipe(Effect.scoped, Effect.provide(served()))
  })
})
