/** A redirect is a response like any other: its target gets no byte, whatever the application sets for fetch. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { FetchHttpClient } from "effect/http"
import { TimePunches } from "../../src/index.ts"
import { company, oauth } from "../support/client.ts"
import { client, errorName, listingOutcome, threePages, transports } from "../support/transports.ts"
import { makeAuthority, trust } from "./support/certificate.ts"
import { head, rawServer, whole } from "./support/rawServer.ts"

const statuses = [301, 302, 303, 307, 308]

const page = whole(200, threePages.third)
const token = whole(200, JSON.stringify({ access_token: "issued", token_type: "Bearer", expires_in: 3600 }))

const redirect = (status: number, location: string) => head(status, { location, "content-length": "0" })

/** A service that redirects the page request, or the token request, to `location`. */
const service = (method: "GET" | "POST", status: number, location: string) =>
  rawServer({
    answers: ({ line }) => line.startsWith(method) ? redirect(status, location) : line.startsWith("POST") ? token : page
  })

/** Another origin, with a good response to every request. */
const elsewhere = rawServer({ answers: ({ line }) => line.startsWith("POST") ? token : page })

describe.each(transports)("a redirect over $transport", ({ http }) => {
  it.live.each(statuses)(
    "[H24] of a page request with %s sends no byte to another origin",
    (status) =>
      Effect.gen(function*() {
        const other = yield* elsewhere
        const { requests, url } = yield* service("GET", status, `${other.url}/v2/company/4021/time_punches`)
        const run = yield* listingOutcome().pipe(Effect.provide(client(url, http)))

        assert.strictEqual(errorName(run.error), `UnexpectedStatus ${status}`)
        assert.strictEqual(requests.length, 1)
        assert.strictEqual(other.connections.length, 0)
        assert.strictEqual(other.received(), 0)
      })
  )

  it.live.each(statuses)(
    "[H25] of a token request with %s sends no byte to another origin",
    (status) =>
      Effect.gen(function*() {
        const other = yield* elsewhere
        const { requests, url } = yield* service("POST", status, `${other.url}/oauth2/token`)
        const run = yield* listingOutcome().pipe(Effect.provide(client(url, http, { credentials: oauth })))

        assert.strictEqual(errorName(run.error), "TokenError Rejected")
        assert.strictEqual(requests.length, 1)
        assert.strictEqual(other.connections.length, 0)
        assert.strictEqual(other.received(), 0)
      })
  )

  it.live.each(statuses)("[H23] with %s to the same origin is not followed either", (status) =>
    Effect.gen(function*() {
      const { requests, url } = yield* service("GET", status, "/v3/company/4021/time_punches")
      const run = yield* listingOutcome().pipe(Effect.provide(client(url, http)))

      assert.strictEqual(errorName(run.error), `UnexpectedStatus ${status}`)
      assert.strictEqual(requests.length, 1)
    }))

  it.live.each([
    "file:///etc/hostname",
    "data:application/json,{}",
    "http://169.254.169.254/",
    "//other.test/",
    "http://["
  ])(
    "[H26] to %s is not followed",
    (location) =>
      Effect.gen(function*() {
        const { requests, url } = yield* service("GET", 302, location)
        const run = yield* listingOutcome().pipe(Effect.provide(client(url, http)))

        assert.strictEqual(errorName(run.error), "UnexpectedStatus 302")
        assert.strictEqual(requests.length, 1)
      })
  )

  it.live("[H26] from https to http is not followed", () =>
    Effect.gen(function*() {
      const other = yield* elsewhere
      const authority = makeAuthority()
      yield* trust(authority)
      const tls = authority.issue({ names: ["127.0.0.1"] })
      const { requests, url } = yield* rawServer({ answers: [redirect(307, other.url)], tls })
      const run = yield* listingOutcome().pipe(Effect.provide(client(url, http)))

      assert.strictEqual(errorName(run.error), "UnexpectedStatus 307")
      assert.strictEqual(requests.length, 1)
      assert.strictEqual(other.received(), 0)
    }))
})

/** Settings of an application for fetch, and the ways to provide them. */
const settings = Layer.succeed(FetchHttpClient.RequestInit, {
  redirect: "follow",
  headers: { "x-application": "kept", authorization: "Bearer of-the-application" }
})

const fetchWithSettings = FetchHttpClient.layer.pipe(Layer.provide(settings))

const ways = [
  {
    way: "to the layer of fetch itself",
    provide: <A, E>(run: Effect.Effect<A, E, TimePunches>, url: string) =>
      Effect.provide(run, client(url, fetchWithSettings, { credentials: oauth }))
  },
  {
    way: "around the run",
    provide: <A, E>(run: Effect.Effect<A, E, TimePunches>, url: string) =>
      run.pipe(Effect.provide(client(url, FetchHttpClient.layer, { credentials: oauth })), Effect.provide(settings))
  },
  {
    way: "to the layer of the client",
    provide: <A, E>(run: Effect.Effect<A, E, TimePunches>, url: string) =>
      Effect.provide(
        run,
        client(url, FetchHttpClient.layer, { credentials: oauth }).pipe(Layer.provide(Layer.fresh(settings)))
      )
  }
]

describe.each(ways)("a RequestInit given $way", ({ provide }) => {
  it.live.each(statuses.flatMap((status) => [[status, "GET"], [status, "POST"]] as const))(
    "[H24] keeps its other settings, but cannot follow a %s of a %s",
    ([status, method]) =>
      Effect.gen(function*() {
        const other = yield* elsewhere
        const { requests, url } = yield* service(method, status, other.url)
        const run = yield* provide(listingOutcome(), url)
        const [first, last] = [requests[0], requests.at(-1)]

        assert.strictEqual(
          errorName(run.error),
          method === "GET" ? `UnexpectedStatus ${status}` : "TokenError Rejected"
        )
        assert.strictEqual(other.connections.length, 0)
        assert.strictEqual(other.received(), 0)
        assert.strictEqual(first?.headers["x-application"], "kept")
        assert.strictEqual(last?.headers["x-application"], "kept")
        assert.strictEqual(last?.line.slice(0, method.length), method)
      })
  )

  it.live("[H24] cannot replace the client's authorization", () =>
    Effect.gen(function*() {
      const { requests, url } = yield* rawServer({ answers: [token, page] })
      yield* provide(TimePunches.page(company), url)

      assert.strictEqual(requests[1]?.headers["authorization"], "Bearer issued")
    }))
})

describe("a client of the application that follows redirects", () => {
  const eager = FetchHttpClient.layer.pipe(
    Layer.provide(Layer.succeed(FetchHttpClient.Fetch, (input, init) => fetch(input, { ...init, redirect: "follow" })))
  )

  it.live("[H24] adds no row of another origin to a listing", () =>
    Effect.gen(function*() {
      const other = yield* elsewhere
      const { url } = yield* service("GET", 302, other.url)
      const run = yield* listingOutcome().pipe(Effect.provide(client(url, eager)))

      assert.strictEqual(other.requests.length, 1)
      assert.deepStrictEqual(run.ids, [])
      assert.strictEqual(errorName(run.error), "UnexpectedStatus 200")
    }))
})
