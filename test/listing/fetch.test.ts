/** The attempts of one page, over a credential and a service that a test scripts. */
import { assert, describe, it } from "@effect/vitest"
import { Clock, DateTime, Effect, Fiber, Option, Redacted, Result } from "effect"
import { HttpClientRequest, HttpClientResponse } from "effect/http"
import { TestClock } from "effect/testing"
import { type Company, CompanyId, Cursor, InvalidRequest, RetryPolicy, TokenError } from "../../src/index.ts"
import { fetchRows } from "../../src/listing/fetch.ts"
import { buildQuery } from "../../src/listing/request.ts"
import { decodePunches } from "../../src/listing/rows.ts"
import { type Client, makePolicy, startRun } from "../../src/listing/run.ts"
import { letTimePass } from "../support/time.ts"
import { wirePage, wirePunch } from "../support/wire.ts"

const company: Company = { id: CompanyId.make(4021) }
const query = Result.getOrThrow(buildQuery(company))
const cursor = Option.some(Cursor.make("third"))

const ok = () => Response.json(wirePage([wirePunch(), wirePunch({ id: 2 })]))
const status = (status: number) => () => Response.json({}, { status })

interface Script {
  /** The responses, in order; the last one repeats. */
  readonly responses: ReadonlyArray<() => Response>
  /** How long each response takes, in milliseconds. Default: 0. */
  readonly delay?: number
  /** How long signing takes, in milliseconds. Default: 0. */
  readonly signing?: number
  /** What a 401 leads to. Default: a fresh credential at once. */
  readonly onUnauthorized?: Effect.Effect<boolean>
}

/** A client that follows a script, and the requests that it sends: the credential of each and its time. */
const scripted = Effect.fnUntraced(
  function*({ delay = 0, onUnauthorized = Effect.succeed(true), responses, signing = 0 }: Script) {
    const sent: Array<{ readonly credential: string | undefined; readonly at: number }> = []
    let credentials = 0
    const retry = yield* RetryPolicy
    const client: Client = {
      baseUrl: "https://api.test",
      pageSize: 200,
      version: Option.some("2026-06-01"),
      retry,
      policy: makePolicy(retry),
      budgets: new WeakMap(),
      spellings: new Map(),
      sign: ({ request }) =>
        Effect.sync(() => ({
          request: HttpClientRequest.setHeader(request, "authorization", `Bearer ${++credentials}`),
          onUnauthorized
        })).pipe(Effect.delay(signing)),
      send: Effect.fnUntraced(function*(request, { response }) {
        const answer = responses[Math.min(sent.length, responses.length - 1)] ?? ok
        sent.push({ credential: request.headers["authorization"], at: yield* Clock.currentTimeMillis })
        yield* Effect.sleep(delay)
        return yield* response(HttpClientResponse.fromWeb(request, answer()))
      })
    }
    return { client, sent }
  }
)

const fetchOf = (client: Client) =>
  Effect.scoped(
    Effect.flatMap(startRun(client, { ...client, timeout: Infinity }), (run) =>
      fetchRows(run, decodePunches, query, cursor, 2))
  )

/** The page or the error of a script, with the requests sent. */
const fetched = Effect.fnUntraced(function*(script: Script) {
  const { client, sent } = yield* scripted(script)
  const result = yield* letTimePass(Effect.result(fetchOf(client)))
  return {
    sent,
    page: Option.getOrUndefined(Result.getSuccess(result)),
    error: Option.getOrUndefined(Result.getFailure(result))
  }
})

const credentialsOf = (sent: ReadonlyArray<{ readonly credential: string | undefined }>) =>
  sent.map(({ credential }) => credential)

describe("fetchRows", () => {
  it.effect("signs, sends and decodes a page", () =>
    Effect.gen(function*() {
      const { page, sent } = yield* fetched({ responses: [ok] })

      assert.deepStrictEqual(page?.rows.map(({ id }) => Number(id)), [1, 2])
      assert.deepStrictEqual(page?.cursor.next, Option.none())
      assert.strictEqual(page?.response.attempts, 1)
      assert.deepStrictEqual(credentialsOf(sent), ["Bearer 1"])
    }))

  it.effect("fails with the place in the run", () =>
    Effect.gen(function*() {
      const { error } = yield* fetched({ responses: [status(403)] })

      assert.deepInclude<object>(error ?? {}, {
        _tag: "Forbidden",
        companyId: company.id,
        resumeFrom: cursor,
        pagesCompleted: 2,
        attempts: 1
      })
    }))

  it.effect("counts the requests of the page, retries and the replay included", () =>
    Effect.gen(function*() {
      const { page, sent } = yield* fetched({ responses: [status(503), status(401), status(500), ok] })

      assert.strictEqual(page?.response.attempts, 4)
      assert.strictEqual(sent.length, 4)
    }))

  it.effect("says of the response what the last of its attempts said", () =>
    Effect.gen(function*() {
      const dated = (date: string, status: number) => () =>
        Response.json(wirePage([]), { status, headers: { date, "x-request-id": date.slice(0, 7) } })
      const { page, sent } = yield* fetched({
        responses: [dated("Tue, 10 Mar 2026 12:00:00 GMT", 503), dated("Wed, 11 Mar 2026 12:00:00 GMT", 200)],
        delay: 2_000
      })

      assert.deepStrictEqual(
        Option.map(page?.response.asOf ?? Option.none(), DateTime.formatIso),
        Option.some("2026-03-11T11:59:58.000Z")
      )
      assert.deepStrictEqual(page?.response.requestId, Option.some("Wed, 11"))
      assert.strictEqual(page?.response.sentAt.epochMilliseconds, Math.trunc(sent[1]?.at ?? 0))
      assert.isAtLeast(sent[1]?.at ?? 0, 2_000)
    }))

  it.effect("counts each run of the effect separately", () =>
    Effect.gen(function*() {
      const { client } = yield* scripted({ responses: [status(401), ok, status(401), ok] })
      const page = fetchOf(client)

      assert.deepStrictEqual([(yield* page).response.attempts, (yield* page).response.attempts], [2, 2])
    }))

  it.effect("fails where the response is of another origin, without a retry", () =>
    Effect.gen(function*() {
      const { error, sent } = yield* fetched({
        responses: [() => Object.defineProperty(ok(), "url", { value: "https://elsewhere.test/page" })]
      })

      assert.deepInclude<object>(error ?? {}, { _tag: "UnexpectedStatus", status: 200, attempts: 1 })
      assert.strictEqual(sent.length, 1)
    }))

  const failures: ReadonlyArray<readonly [string, TokenError | InvalidRequest]> = [
    ["TokenError", new TokenError({ reason: "Rejected", status: Option.some(400) })],
    ["InvalidRequest", new InvalidRequest({ field: "company.guid", detail: "is required" })]
  ]

  it.effect.each(failures)(
    "adds the place in the run to a %s of the credential",
    ([, failure]) =>
      Effect.gen(function*() {
        const { client, sent } = yield* scripted({ responses: [ok] })
        const error = yield* Effect.flip(fetchOf({ ...client, sign: () => Effect.fail(failure) }))

        assert.deepStrictEqual<object>(
          { ...error },
          { ...failure, companyId: company.id, resumeFrom: cursor, pagesCompleted: 2, attempts: 0 }
        )
        assert.isEmpty(sent)
      })
  )

  it.effect("scrubs the secrets of the request and of the credential from a problem", () =>
    Effect.gen(function*() {
      const { client } = yield* scripted({
        responses: [() => Response.json({ detail: "canary and crumb" }, { status: 422 })]
      })
      const error = yield* Effect.flip(fetchOf({
        ...client,
        sign: ({ request }) =>
          Effect.succeed({
            request: HttpClientRequest.setHeader(request, "authorization", "Bearer canary"),
            onUnauthorized: Effect.succeed(false),
            secrets: [Redacted.make("crumb")]
          })
      }))

      assert.deepInclude<object>(error, { problem: { detail: "<redacted> and <redacted>" } })
    }))
})

describe("the replay after a 401", () => {
  it.effect("is signed again, and needs no retry of the policy", () =>
    Effect.gen(function*() {
      const { page, sent } = yield* fetched({ responses: [status(401), ok] }).pipe(
        Effect.provide(RetryPolicy.layerNone)
      )

      assert.strictEqual(page?.response.attempts, 2)
      assert.deepStrictEqual(sent, [{ credential: "Bearer 1", at: 0 }, { credential: "Bearer 2", at: 0 }])
    }))

  it.effect("is not sent where the credential has no other", () =>
    Effect.gen(function*() {
      const { error, sent } = yield* fetched({ responses: [status(401)], onUnauthorized: Effect.succeed(false) })

      assert.deepInclude<object>(error ?? {}, { _tag: "Unauthorized", attempts: 1 })
      assert.strictEqual(sent.length, 1)
    }))

  it.effect.each(
    [
      ["a 401", [401, 401], "Unauthorized"],
      ["a 403", [401, 403], "Forbidden"],
      ["a 401 after a retry", [401, 503, 401], "Unauthorized"],
      ["a 401 after retries before and behind", [503, 401, 503, 401], "Unauthorized"]
    ] as const
  )("is sent once a page: %s behind it is final", ([, statuses, tag]) =>
    Effect.gen(function*() {
      let refreshes = 0
      const { error, sent } = yield* fetched({
        responses: [...statuses.map(status), ok],
        onUnauthorized: Effect.sync(() => ++refreshes > 0)
      })

      assert.deepInclude<object>(error ?? {}, { _tag: tag, attempts: statuses.length })
      assert.strictEqual(sent.length, statuses.length)
      assert.strictEqual(refreshes, 1)
    }))

  it.effect("is retried as any request", () =>
    Effect.gen(function*() {
      const { page, sent } = yield* fetched({ responses: [status(401), status(503), ok] })

      assert.strictEqual(page?.response.attempts, 3)
      assert.deepStrictEqual(credentialsOf(sent), ["Bearer 1", "Bearer 2", "Bearer 3"])
    }))
})

describe("the time of an attempt", () => {
  /** Longer than an attempt may take, shorter than a page. */
  const long = 40_000

  it.effect("does not include signing", () =>
    Effect.gen(function*() {
      const { page, sent } = yield* fetched({ responses: [ok], signing: long, delay: 29_000 })

      assert.strictEqual(page?.response.attempts, 1)
      assert.deepStrictEqual(sent.map(({ at }) => at), [long])
    }))

  it.effect("does not include the refresh of a credential, and starts again for the replay", () =>
    Effect.gen(function*() {
      const { page, sent } = yield* fetched({
        responses: [status(401), ok],
        delay: 29_000,
        onUnauthorized: Effect.as(Effect.sleep(long), true)
      })

      assert.strictEqual(page?.response.attempts, 2)
      assert.deepStrictEqual(sent.map(({ at }) => at), [0, 29_000 + long])
    }))

  it.effect("ends a replay that takes too long", () =>
    Effect.gen(function*() {
      const { client, sent } = yield* scripted({ responses: [status(401)], delay: 29_000 }).pipe(
        Effect.provide(RetryPolicy.layerNone)
      )
      const fiber = yield* Effect.forkChild(Effect.flip(fetchOf({
        ...client,
        send: (request, on) => sent.length === 0 ? client.send(request, on) : Effect.never
      })))
      yield* TestClock.adjust(29_000 + 29_999)
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust(1)

      assert.deepInclude<object>(yield* Fiber.join(fiber), { _tag: "TransportError", reason: "Timeout", attempts: 2 })
    }))

  it.effect("is not what bounds a refresh: the page's deadline is", () =>
    Effect.gen(function*() {
      const { client } = yield* scripted({ responses: [status(401)], onUnauthorized: Effect.never })
      const fiber = yield* Effect.forkChild(Effect.flip(fetchOf(client)))
      yield* TestClock.adjust(119_999)
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust(1)

      assert.deepInclude<object>(yield* Fiber.join(fiber), { _tag: "TransportError", reason: "Timeout", attempts: 1 })
    }))

  it.effect("begins with the request, however late that is, and ends by the deadline of the page", () =>
    Effect.gen(function*() {
      const { error, sent } = yield* fetched({ responses: [ok], signing: 100_000, delay: 29_000 })

      assert.deepInclude<object>(error ?? {}, { _tag: "TransportError", reason: "Timeout", attempts: 1 })
      assert.deepStrictEqual(sent.map(({ at }) => at), [100_000])
    }))

  /** The failure of a page whose request never ends, and how long it takes. */
  const stuck = (options: Parameters<typeof RetryPolicy.layer>[0]) =>
    Effect.gen(function*() {
      const { client } = yield* scripted({ responses: [ok] })
      const began = yield* Clock.currentTimeMillis
      const fiber = yield* Effect.forkChild(Effect.zip(
        Effect.flip(fetchOf({ ...client, send: () => Effect.never })),
        Clock.currentTimeMillis
      ))
      yield* TestClock.adjust("1 hour")
      const [error, at] = yield* Fiber.join(fiber)
      assert.deepInclude<object>(error, { _tag: "TransportError", reason: "Timeout" })
      return at - began
    }).pipe(Effect.provide(RetryPolicy.layer({ attempts: 1, ...options })))

  it.effect("may be infinite: the deadline of the page holds", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* stuck({ attemptTimeout: Infinity }), 120_000)
    }))

  it.effect("may be as long as the page, which may be infinite", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* stuck({ pageTimeout: Infinity }), 30_000)
    }))

  it.effect("may be zero: a request that waits fails at once", () =>
    Effect.gen(function*() {
      assert.isAtMost(yield* stuck({ attemptTimeout: 0 }), 1)
      assert.isAtMost(yield* stuck({ pageTimeout: 0 }), 1)
    }))

  it.effect("is over for a request that cannot be interrupted when that ends", () =>
    Effect.gen(function*() {
      const { client } = yield* scripted({ responses: [ok] }).pipe(Effect.provide(RetryPolicy.layerNone))
      const fiber = yield* Effect.forkChild(Effect.flip(fetchOf({
        ...client,
        send: (request, on) => Effect.uninterruptible(Effect.andThen(Effect.sleep(40_000), client.send(request, on)))
      })))
      yield* TestClock.adjust(39_999)
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust(1)

      assert.deepInclude<object>(yield* Fiber.join(fiber), { _tag: "TransportError", reason: "Timeout", attempts: 1 })
    }))
})
