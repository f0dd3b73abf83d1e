/** Requests from elsewhere to a service on this machine, written byte by byte: DNS rebinding and pages of other sites. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import * as Net from "node:net"
import { FakeServer } from "../../src/testing/FakeServer.ts"
import { defaultCompany, FakeService, generatePunches } from "../../src/testing/index.ts"
import { start } from "../cli/child.ts"
import { pagePath } from "./support.ts"

const punches = generatePunches({ count: 3, companyId: defaultCompany.id, deletedShare: 0 })

const serving = (host?: string) => FakeServer.layer({ host }).pipe(Layer.provideMerge(FakeService.layer({ punches })))

/** Sends the head and body of a request to a port and returns everything that is answered. */
const sendTo = (url: string, head: ReadonlyArray<string>, body = "") =>
  Effect.promise(() =>
    new Promise<string>((resolve, reject) => {
      let text = ""
      const socket = Net.connect(Number(new URL(url).port), "127.0.0.1", () => {
        socket.write([...head, "connection: close", "", body].join("\r\n"))
      })
      socket.setEncoding("utf8")
      socket.on("data", (piece) => (text += piece)).on("error", reject).on("close", () => resolve(text))
    })
  )

const send = (head: ReadonlyArray<string>, body?: string) =>
  Effect.flatMap(FakeServer, ({ url }) => sendTo(url, head, body))

const authorization = `authorization: Bearer ${defaultCompany.accessToken}`

const list = (...headers: ReadonlyArray<string>) => send([`GET ${pagePath} HTTP/1.1`, ...headers, authorization])

const assertListed = (answer: string) => {
  assert.match(answer, /^HTTP\/1\.1 200 /)
  assert.include(answer, `"id":${punches[0]?.id},`)
}

/** A refusal: plain text that says why, and no trace of the request in the service. */
const assertRefused = Effect.fnUntraced(function*(answer: string, reason: string) {
  const service = yield* FakeService
  const [head = "", body = ""] = answer.split("\r\n\r\n")

  assert.match(head, /^HTTP\/1\.1 403 /)
  assert.match(head, /\r\ncontent-type: text\/plain/i)
  assert.strictEqual(body, `this service ${reason}\n`)
  assert.isEmpty(yield* service.requests)
  assert.strictEqual(yield* service.maxInFlight, 0)
})

const foreignHost = "answers only to the host localhost, 127.0.0.0/8 or [::1]"

const foreignOrigin = "refuses requests from pages of other origins"

describe("a fake server on a loopback address", () => {
  it.live.each([
    "localhost",
    "localhost:4010",
    "LocalHost:4010",
    "127.0.0.1",
    "127.0.0.1:65535",
    "127.255.9.10",
    "[::1]",
    "[::1]:4010"
  ])("answers to the host %s", (host) =>
    Effect.gen(function*() {
      assertListed(yield* list(`host: ${host}`))
    }).pipe(Effect.provide(serving())))

  it.live.each([
    "rebound.test",
    "rebound.test:4010",
    "localhost.rebound.test",
    "127.0.0.1.rebound.test",
    "notlocalhost",
    "localhost.",
    "LOCALHOST.:4010",
    "127.0.0.1.",
    "user@localhost",
    "user:password@127.0.0.1:4010",
    "localhost@rebound.test",
    "localhost, rebound.test",
    "localhost/",
    "localhost:",
    "localhost:4010:4010",
    "128.0.0.1",
    "127.0.0.256",
    "127.1",
    "2130706433",
    "0.0.0.0",
    "192.168.0.1:4010",
    "::1",
    "[::2]",
    "[::1",
    "[::1%25lo]",
    "[::ffff:127.0.0.1]",
    ""
  ])("refuses the host %s", (host) =>
    Effect.gen(function*() {
      yield* assertRefused(yield* list(`host: ${host}`), foreignHost)
    }).pipe(Effect.provide(serving())))

  it.live("refuses a request without a host", () =>
    Effect.gen(function*() {
      yield* assertRefused(yield* send([`GET ${pagePath} HTTP/1.0`, authorization]), foreignHost)
      // Without one, HTTP/1.1 is invalid: Node answers before the service could.
      assert.match(yield* list(), /^HTTP\/1\.1 400 /)
      assert.isEmpty(yield* (yield* FakeService).requests)
    }).pipe(Effect.provide(serving())))

  it.live.each(["http://localhost:3000", "https://localhost", "http://127.0.0.1:4010", "http://[::1]:4010"])(
    "answers to a page of the origin %s",
    (origin) =>
      Effect.gen(function*() {
        assertListed(yield* list("host: localhost", `origin: ${origin}`))
      }).pipe(Effect.provide(serving()))
  )

  it.live.each([
    "null",
    "http://rebound.test",
    "https://localhost.rebound.test",
    "http://localhost.",
    "http://user@localhost",
    "file://localhost",
    "localhost",
    "http://localhost http://rebound.test",
    "http://localhost/rebound.test",
    ""
  ])("refuses a page of the origin %s", (origin) =>
    Effect.gen(function*() {
      yield* assertRefused(yield* list("host: localhost", `origin: ${origin}`), foreignOrigin)
    }).pipe(Effect.provide(serving())))

  it.live("refuses a second origin beside its own", () =>
    Effect.gen(function*() {
      const answer = yield* list("host: localhost", "origin: http://localhost", "origin: http://rebound.test")

      yield* assertRefused(answer, foreignOrigin)
    }).pipe(Effect.provide(serving())))

  it.live("issues no token and answers no preflight for another host", () =>
    Effect.gen(function*() {
      const service = yield* FakeService
      const form = "grant_type=client_credentials&client_id=fake-client&client_secret=fake-client-secret"
      const token = yield* send([
        "POST /oauth2/token HTTP/1.1",
        "host: rebound.test",
        "content-type: application/x-www-form-urlencoded",
        `content-length: ${form.length}`
      ], form)
      const preflight = yield* send([`OPTIONS ${pagePath} HTTP/1.1`, "host: rebound.test"])

      yield* assertRefused(token, foreignHost)
      yield* assertRefused(preflight, foreignHost)
      assert.strictEqual(yield* service.tokensIssued, 0)
    }).pipe(Effect.provide(serving())))
})

describe("time-punches sandbox", () => {
  it.live("answers to this machine, and refuses a foreign host and a foreign origin", () =>
    Effect.gen(function*() {
      const { printed } = yield* Effect.acquireRelease(
        Effect.sync(() => start(["sandbox", "--port", "0", "--punches", "3"], { PATH: process.env["PATH"] ?? "" })),
        ({ child }) => Effect.sync(() => child.kill("SIGKILL"))
      )
      const settings = yield* Effect.promise(() => printed("# a first page"))
      const url = /TIME_PUNCHES_BASE_URL=(\S+)/.exec(settings)?.[1] ?? ""
      const ask = (...headers: ReadonlyArray<string>) =>
        sendTo(url, [`GET ${pagePath} HTTP/1.1`, ...headers, authorization])

      assert.match(yield* ask("host: localhost"), /^HTTP\/1\.1 200 /)
      assert.match(yield* ask("host: rebound.test"), /^HTTP\/1\.1 403 [^]*this service answers only to the host/)
      assert.match(yield* ask("host: localhost", "origin: null"), /^HTTP\/1\.1 403 [^]*pages of other origins/)
    }).pipe(Effect.scoped))
})

describe("a fake server on every address of the machine", () => {
  it.live("answers to any host, since other machines are meant to reach it", () =>
    Effect.gen(function*() {
      assertListed(yield* list("host: service.test", "origin: http://elsewhere.test"))
    }).pipe(Effect.provide(serving("0.0.0.0"))))
})
