import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Layer, Option, Stream } from "effect"
import { HttpClient, HttpClientError } from "effect/http"
import { inspect } from "node:util"
import { Endpoints, type ListError, TimePunches } from "../../src/index.ts"
import { prng } from "../../src/testing/base/prng.ts"
import { defaultCompany, FakeService, Fault, generatePunches, type StatusOptions } from "../../src/testing/index.ts"
import { accessToken, app, company, inject, oauth, pageRequests } from "../support/client.ts"
import { says, scripted } from "../support/scripted.ts"
import { letTimePass } from "../support/time.ts"
import { wirePage, wirePunch } from "../support/wire.ts"

const punches = generatePunches({ seed: 12, count: 50, companyId: defaultCompany.id, deletedShare: 0 })

/** The error of a listing whose third page has a status. */
const errorOf = Effect.fnUntraced(function*(status: number, options?: StatusOptions) {
  yield* inject(Fault.status(status, options), { requests: Array.from({ length: 20 }, (_, index) => index + 3) })
  return yield* letTimePass(Effect.flip(Stream.runDrain(TimePunches.list(company, {}, { pageSize: 10 }))))
})

const problemOf = (error: ListError) => "problem" in error ? error.problem : undefined

const tags: ReadonlyArray<readonly [number, ListError["_tag"], number]> = [
  [401, "Unauthorized", 1],
  [403, "Forbidden", 1],
  [422, "UnprocessableEntity", 1],
  [500, "ServerError", 4],
  [429, "RateLimited", 4],
  [408, "ServiceUnavailable", 4],
  [502, "ServiceUnavailable", 4],
  [503, "ServiceUnavailable", 4],
  [504, "ServiceUnavailable", 4],
  // Of what stands in front of the service, and of a service that will not be asked too early.
  ...[425, 506, 507, 510, 512, 520, 521, 522, 523, 524, 525, 526, 527, 529, 530, 598, 599].map((status) =>
    [status, "ServiceUnavailable", 4] as const
  ),
  ...[201, 202, 203, 204, 205, 206, 299, 300, 301, 302, 303, 304, 307, 308].map((status) =>
    [status, "UnexpectedStatus", 1] as const
  ),
  ...[400, 402, 404, 405, 409, 410, 413, 415, 418, 423, 451, 499, 501, 505, 511].map((status) =>
    [status, "UnexpectedStatus", 1] as const
  )
]

describe("no whole response", () => {
  const failing = HttpClient.make((request) =>
    Effect.fail(new HttpClientError.HttpClientError({ reason: new HttpClientError.TransportError({ request }) }))
  )

  /** The error of a page of a service whose transport never gives a response. */
  const errorAt = (baseUrl: string, transport = failing) =>
    letTimePass(Effect.flip(TimePunches.page(company))).pipe(
      Effect.provide(TimePunches.layer.pipe(
        Layer.provide(accessToken),
        Layer.provide(Layer.succeed(Endpoints, { baseUrl, authUrl: baseUrl })),
        Layer.provide(Layer.succeed(HttpClient.HttpClient, transport))
      ))
    )

  it.effect("says its origin, and nothing else of the base URL", () =>
    Effect.gen(function*() {
      const error = yield* errorAt("https://Cnry-user:Cnry-password@api.test:8443/Cnry-path?key=Cnry-query")

      assert.deepInclude<object>(error, { _tag: "TransportError", origin: Option.some("https://api.test:8443") })
      assert.include(error.message, "no whole response from https://api.test:8443: Unknown")
      assert.notInclude(inspect(error, { depth: Infinity }), "Cnry")
    }))

  it.effect("says its origin also if time ran out", () =>
    Effect.gen(function*() {
      const error = yield* errorAt("http://localhost", HttpClient.make(() => Effect.never))

      assert.deepInclude<object>(error, { reason: "Timeout", origin: Option.some("http://localhost") })
    }))
})

describe("a status", () => {
  it.effect.each(tags)(
    "%d is %s after %d requests, with its problem and its place in the run",
    ([status, tag, attempts]) =>
      Effect.gen(function*() {
        const error = yield* errorOf(status)

        assert.deepInclude<object>(error, { _tag: tag, status, attempts, pagesCompleted: 2, companyId: company.id })
        assert.isTrue(Option.isSome(error.resumeFrom))
        assert.strictEqual((yield* pageRequests).length, 2 + attempts)
        if (![204, 205, 304].includes(status)) {
          assert.deepInclude(problemOf(error), { type: `/problems/${status}`, status, code: 5000 })
          assert.include(error.message, problemOf(error)?.detail ?? "no detail")
        }
      }).pipe(Effect.provide(app({ punches })))
  )

  it.effect("decides the tag, whatever status the body names", () =>
    Effect.gen(function*() {
      const error = yield* errorOf(403, { problem: { status: 500, type: "/problems/500" } })

      assert.deepInclude(error, { _tag: "Forbidden", status: 403 })
      assert.deepInclude(problemOf(error), { status: 500, type: "/problems/500" })
    }).pipe(Effect.provide(app({ punches }))))

  it.effect("names the parameter that the service refused, by its wire name", () =>
    Effect.gen(function*() {
      const error = yield* errorOf(422, { problem: { param: "cursor", code: 2100, detail: "expired" } })

      assert.deepInclude(problemOf(error), { param: "cursor", code: 2100, detail: "expired" })
    }).pipe(Effect.provide(app({ punches }))))

  it.effect("of 429 fails at once with the wait, where the policy does not wait that long", () =>
    Effect.gen(function*() {
      yield* inject(Fault.retryAfter("3600"))
      const error = yield* Effect.flip(TimePunches.page(company))

      assert.deepStrictEqual(error._tag === "RateLimited" && error.retryAfter, Option.some(Duration.hours(1)))
      assert.strictEqual((yield* pageRequests).length, 1)
    }).pipe(Effect.provide(app({ punches }))))
})

describe("the body of an error response", () => {
  const bodies: ReadonlyArray<readonly [string, StatusOptions, object]> = [
    ["a page of HTML", { body: "html" }, {}],
    ["nothing", { body: "empty" }, {}],
    ["text", { body: { contentType: "text/plain", text: "{\"title\":\"not a problem\"}" } }, {}],
    ["broken JSON", { body: { contentType: "application/json", text: "{\"title\":" } }, {}],
    ["a JSON list", { body: { contentType: "application/json", text: "[1]" } }, {}],
    ["JSON null", { body: { contentType: "application/json", text: "null" } }, {}],
    ["a JSON text", { body: { contentType: "application/json", text: "\"down\"" } }, {}],
    ["a problem as plain JSON", { body: { contentType: "application/json", text: "{\"title\":\"A\"}" } }, {
      title: "A"
    }],
    ["another shape of error", {
      body: { contentType: "application/json", text: "{\"error\":\"A\",\"message\":\"B\"}" }
    }, { title: "A", detail: "B" }],
    ["members of other types", {
      body: {
        contentType: "application/problem+json",
        text: "{\"type\":1,\"title\":\"A\",\"status\":\"500\",\"detail\":null,\"code\":\"7\",\"param\":[]}"
      }
    }, { title: "A" }],
    ["a code too large", {
      body: { contentType: "application/problem+json", text: "{\"code\":1e999,\"detail\":\"B\"}" }
    }, { detail: "B" }],
    ["members from __proto__", {
      body: { contentType: "application/problem+json", text: "{\"__proto__\":{\"title\":\"canary\"}}" }
    }, {}]
  ]

  it.effect.each(bodies)(
    "can be %s: the tag stays, and only well-typed members are kept",
    ([, options, problem]) =>
      Effect.gen(function*() {
        const error = yield* errorOf(403, options)

        assert.strictEqual(error._tag, "Forbidden")
        assert.deepStrictEqual<unknown>(problemOf(error), problem)
      }).pipe(Effect.provide(app({ punches })))
  )

  it.effect("can have any members: a malformed body never becomes another error", () =>
    Effect.gen(function*() {
      const chance = prng(12)
      const values = [null, 1, -1.5, "text", "", true, [], {}, { deep: [1] }] as const
      for (let run = 0; run < 100; run++) {
        const members = ["type", "title", "status", "detail", "code", "param", "error", "message"]
        const body = Object.fromEntries(
          members.filter(() => chance.chance(0.6)).map((name) => [name, chance.pick(values)])
        )
        const listing = scripted(() =>
          new Response(JSON.stringify(body), { status: 403, headers: { "content-type": "application/json" } })
        )
        const error = yield* Effect.flip(Effect.provide(TimePunches.page(company), listing))

        assert.strictEqual(error._tag, "Forbidden")
        for (const [name, value] of Object.entries(problemOf(error) ?? {})) {
          assert.strictEqual(typeof value, name === "status" || name === "code" ? "number" : "string")
        }
      }
    }))

  it.effect.each(["cut", "stall"])(
    "can end in a %s: the status is known and does not wait for it",
    (how) =>
      Effect.gen(function*() {
        const listing = scripted(() =>
          new Response(
            new ReadableStream({
              pull: (controller) => {
                controller.enqueue(new TextEncoder().encode("{\"title\":"))
                if (how === "cut") controller.error(new Error("cut"))
                return how === "cut" ? Promise.resolve() : new Promise(() => {})
              }
            }),
            { status: 422, headers: { "content-type": "application/problem+json" } }
          )
        )
        const error = yield* letTimePass(Effect.flip(Effect.provide(TimePunches.page(company), listing)))

        assert.deepInclude(error, { _tag: "UnprocessableEntity", attempts: 1 })
        assert.deepStrictEqual(problemOf(error), {})
      })
  )

  it.effect("is scrubbed of the token that it repeats, also under OAuth", () =>
    Effect.gen(function*() {
      yield* inject(Fault.echo(403))
      const service = yield* FakeService
      const error = yield* Effect.flip(TimePunches.page(company))
      const token = (yield* service.requests).at(-1)?.headers["authorization"]?.slice("Bearer ".length) ?? "none"

      assert.include(problemOf(error)?.detail, "<redacted>")
      assert.notInclude(JSON.stringify(error), token)
    }).pipe(Effect.provide(app({ punches }, oauth))))
})

describe("a 200 that is not a page", () => {
  const page = wirePage([wirePunch()])
  const json = JSON.stringify(page)
  const text = (body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) =>
    new Response(body, { headers: { "content-type": "application/json", ...headers } })
  const latin = new Uint8Array([...new TextEncoder().encode(json.slice(0, -1)), 0xe9, 0x7d])
  const gzip = new Uint8Array([0x1f, 0x8b, 8, 0])

  const bodies: ReadonlyArray<readonly [string, string, number, () => Response, detail?: string]> = [
    ["HTML", "ContentType", 2, () => says(page, { "content-type": "text/html" }), "Expected JSON"],
    ["nothing", "Empty", 2, () => text("")],
    ["broken JSON", "NotJson", 3, () => text(json.slice(0, -1))],
    ["two documents", "NotJson", 3, () => text(json + json)],
    ["JSON with NaN", "NotJson", 3, () => text("{\"data\":NaN}")],
    ["bytes that are not UTF-8", "Charset", 1, () => text(latin)],
    [
      "another charset",
      "Charset",
      1,
      () => says(page, { "content-type": "application/json; charset=iso-8859-1" }),
      "Expected UTF-8"
    ],
    [
      "a body that is still encoded",
      "ContentEncoding",
      1,
      () => text(gzip, { "content-encoding": "gzip" }),
      "Expected a plain body"
    ],
    ["an encoded body that is cut", "NotJson", 3, () => text(json.slice(0, -1), { "content-encoding": "gzip" })],
    [
      "a row of another company",
      "WrongCompany",
      1,
      () => says(wirePage([wirePunch({ company_id: 4022 })])),
      "Expected the company of the request"
    ],
    ["a piece that is JSON by chance", "Schema", 1, () => says({})],
    ["null", "Schema", 1, () => says(null)],
    ["a list", "Schema", 1, () => says([page])]
  ]

  it.effect.each(bodies)(
    "but %s fails with DecodeError %s after %d requests",
    ([, reason, attempts, answer, detail]) =>
      Effect.gen(function*() {
        const error = yield* letTimePass(Effect.flip(Effect.provide(TimePunches.page(company), scripted(answer))))

        assert.deepInclude<object>(error, { _tag: "DecodeError", reason, attempts })
        if (detail !== undefined) assert.deepInclude<object>(error, { detail })
      })
  )

  it.effect("is read where a retry brings a page", () =>
    Effect.gen(function*() {
      const listing = scripted(({ index }) => index < 2 ? text("{\"data\":") : says(page))
      const { items } = yield* letTimePass(Effect.provide(TimePunches.page(company), listing))

      assert.strictEqual(items.length, 1)
    }))
})
