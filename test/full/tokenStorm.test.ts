import { assert, describe, it } from "@effect/vitest"
import { Clock, type Duration, Effect, Exit, Fiber, Layer, Result, Schedule, Scheduler, Stream } from "effect"
import { TestClock } from "effect/testing"
import { Credentials, Endpoints, type ListError, TimePunches, TokenCache, type TokenError } from "../../src/index.ts"
import type { TokenLife } from "../../src/internal/resilience/tokenState.ts"
import { type Prng, prng } from "../../src/testing/base/prng.ts"
import { FakeServer } from "../../src/testing/FakeServer.ts"
import {
  defaultCompany,
  FakeService,
  type FakeServiceOptions,
  Fault,
  generatePunches
} from "../../src/testing/index.ts"
import { otherCompany } from "../../src/testing/service/options.ts"
import { client, company, inject, oauth, pageRequests, stranger } from "../support/client.ts"
import {
  type Between,
  cacheOf,
  clearFaults,
  gaps,
  injectTokenFault,
  oauthClient,
  requestTimes,
  serviceOf
} from "../support/tokens.ts"
import { transports } from "../support/transports.ts"
import { untyped } from "../support/untyped.ts"

const punches = generatePunches({ seed: 3, count: 40, companyId: defaultCompany.id, deletedShare: 0 })

const app = (options: FakeServiceOptions = {}, between?: Between, credentials = oauth) =>
  client(credentials).pipe(
    Layer.provide(FakeService.layerClient),
    Layer.provideMerge(serviceOf({ punches, ...options }, between)),
    Layer.orDie
  )

const page = TimePunches.page(company, {}, { pageSize: 1 })

/** Starts `size` fibers at once. */
const crowd = <A, E, R>(size: number, self: Effect.Effect<A, E, R>) =>
  Effect.tap(
    Effect.all(Array.from({ length: size }, () => Effect.forkChild(Effect.result(self)))),
    () => TestClock.adjust(0)
  )

/** Fetches a token, then has the service revoke it. */
const warmAndRevoke = Effect.gen(function*() {
  const fiber = yield* Effect.forkChild(page)
  yield* TestClock.adjust("2 seconds")
  yield* Fiber.join(fiber)
  const service = yield* FakeService
  yield* service.revokeTokens
})

/** How often each outcome occurs. */
const tally = (results: ReadonlyArray<Result.Result<unknown, ListError>>): Readonly<Record<string, number>> => {
  const counts: Record<string, number> = {}
  for (const result of results) {
    const name = Result.match(result, { onSuccess: () => "ok", onFailure: (error) => error._tag })
    counts[name] = (counts[name] ?? 0) + 1
  }
  return counts
}

/** Spreads the responses to page requests over a second. */
const staggered = (): Between => {
  let count = 0
  return (respond, request) => {
    if (request.method === "POST") return respond(request)
    count += 1
    const delay = 1 + (count * 7919) % 1000
    return Effect.tap(respond(request), Effect.sleep(delay))
  }
}

/** Only token requests take time: no fiber sleeps after the crowd has woken, however long that takes a slow machine. */
const slowTokens: Between = (respond, request) =>
  request.method === "POST" ? Effect.delay(respond(request), "50 millis") : respond(request)

/** A service that issues tokens with the same text, and knows which one it means. */
const sameText = (): Between => {
  let token = ""
  return (respond, request) => {
    if (request.method !== "POST") {
      return respond({ ...request, headers: { ...request.headers, authorization: `Bearer ${token}` } })
    }
    return Effect.map(respond(request), (response) => {
      const body: { readonly access_token: string } = JSON.parse(String(response.body))
      token = body.access_token
      return { ...response, body: JSON.stringify({ ...body, access_token: "always-the-same" }) }
    })
  }
}

const both = (outer: Between, inner: Between): Between => (respond, request) =>
  outer((request) => inner(respond, request), request)

/** The service sees over a socket what the client does, but a moment later. */
const eventually = <A, E, R>(check: Effect.Effect<A, E, R>) =>
  Effect.retry(Effect.catchDefect(check, Effect.fail), Schedule.spaced("10 millis").pipe(Schedule.upTo({ times: 200 })))

describe("One OAuth client", () => {
  it.effect("requests one token when ten thousand fibers want a page at once", () =>
    Effect.gen(function*() {
      const fibers = yield* crowd(10_000, page)
      yield* TestClock.adjust("1 second")

      assert.deepStrictEqual(tally(yield* Fiber.joinAll(fibers)), { ok: 10_000 })
      assert.strictEqual((yield* requestTimes).length, 1)
      assert.strictEqual((yield* pageRequests).length, 10_000)
    }).pipe(Effect.provide(app({}, slowTokens))))

  it.effect.each([5, 6, 7, 8, 13, 21, 34, 55])(
    "requests one token in whatever order its fibers take turns (%i)",
    (ops) =>
      Effect.gen(function*() {
        const fibers = yield* crowd(100, Effect.provideService(page, Scheduler.MaxOpsBeforeYield, ops))
        yield* TestClock.adjust("5 seconds")

        assert.deepStrictEqual(tally(yield* Fiber.joinAll(fibers)), { ok: 100 })
        assert.strictEqual((yield* requestTimes).length, 1)
      }).pipe(Effect.provide(app()))
  )

  const texts: ReadonlyArray<readonly [name: string, between: () => Between]> = [
    ["every token has another text", staggered],
    ["every token has the same text", () => both(staggered(), sameText())]
  ]

  it.effect.each(texts)(
    "renews once for a thousand 401s that come one after another, when %s",
    ([, between]) =>
      Effect.gen(function*() {
        const service = yield* FakeService
        const warm = yield* Effect.forkChild(page)
        yield* TestClock.adjust("1 second")
        yield* Fiber.join(warm)
        yield* service.revokeTokens
        const fibers = yield* crowd(1000, page)
        yield* TestClock.adjust("3 seconds")

        assert.deepStrictEqual(tally(yield* Fiber.joinAll(fibers)), { ok: 1000 })
        assert.strictEqual((yield* requestTimes).length, 2)
        assert.strictEqual((yield* pageRequests).length, 1 + 2 * 1000)
      }).pipe(Effect.provide(app({}, between())))
  )

  it.effect.each([1, 200])(
    "whose tokens are all refused sends two requests for each of %i pages, and renews once",
    (size) =>
      Effect.gen(function*() {
        yield* inject(Fault.status(401))
        const fibers = yield* crowd(size, page)
        yield* TestClock.adjust("10 seconds")

        assert.deepStrictEqual(tally(yield* Fiber.joinAll(fibers)), { Unauthorized: size })
        assert.strictEqual((yield* pageRequests).length, 2 * size)
        assert.strictEqual((yield* requestTimes).length, 2)
      }).pipe(Effect.provide(app({ latency: "10 millis" })))
  )

  it.effect("does not renew for a 403", () =>
    Effect.gen(function*() {
      yield* inject(Fault.status(403))
      const fibers = yield* crowd(100, page)

      assert.deepStrictEqual(tally(yield* Fiber.joinAll(fibers)), { Forbidden: 100 })
      assert.strictEqual((yield* pageRequests).length, 100)
      assert.strictEqual((yield* requestTimes).length, 1)
    }).pipe(Effect.provide(app())))

  it.effect("sends three token requests for a thousand pages while the token endpoint is down", () =>
    Effect.gen(function*() {
      yield* warmAndRevoke
      yield* injectTokenFault(Fault.status(503))
      const fibers = yield* crowd(1000, page)
      yield* TestClock.adjust("1 minute")
      const results = yield* Fiber.joinAll(fibers)

      assert.deepStrictEqual(tally(results), { TokenError: 1000 })
      assert.strictEqual((yield* requestTimes).length, 1 + 3)
      assert.strictEqual((yield* pageRequests).length, 1 + 1000)
    }).pipe(Effect.provide(app({}, staggered()))))

  it.effect("sends one token request for a thousand pages when it is unknown, and no other for half a minute", () =>
    Effect.gen(function*() {
      const first = yield* crowd(1000, page)
      yield* TestClock.adjust("29 seconds")
      const second = yield* crowd(1000, page)

      assert.deepStrictEqual(tally(yield* Fiber.joinAll([...first, ...second])), { TokenError: 2000 })
      assert.strictEqual((yield* requestTimes).length, 1)
      assert.deepStrictEqual(yield* pageRequests, [])
    }).pipe(Effect.provide(app({ oauthClients: [] }))))

  it.effect("fetches its pages although the stream that requested the token is interrupted", () =>
    Effect.gen(function*() {
      const leader = yield* Effect.forkChild(Stream.runDrain(TimePunches.list(company)))
      yield* TestClock.adjust(0)
      const others = yield* crowd(100, page)
      yield* TestClock.adjust("50 millis")
      yield* Fiber.interrupt(leader)
      yield* TestClock.adjust("1 second")

      assert.deepStrictEqual(tally(yield* Fiber.joinAll(others)), { ok: 100 })
      assert.strictEqual((yield* requestTimes).length, 1)
      assert.strictEqual((yield* pageRequests).length, 100)
    }).pipe(Effect.provide(app({ latency: "100 millis" }))))

  it.effect("shares its token between companies, and never a guid", () =>
    Effect.gen(function*() {
      const pages = [company, stranger].map((each) => TimePunches.page(each, {}, { pageSize: 1 }))
      const fibers = (yield* Effect.all(pages.map((each) => crowd(100, each)))).flat()
      yield* TestClock.adjust("2 seconds")

      assert.deepStrictEqual(tally(yield* Fiber.joinAll(fibers)), { ok: 200 })
      const sent = (yield* pageRequests).map(({ headers, path }) =>
        [path, headers["x-company-guid"], headers["authorization"]].join(" ")
      )
      const [token = ""] = (yield* pageRequests).map(({ headers }) => headers["authorization"])
      assert.match(token, /^Bearer /)
      assert.deepStrictEqual(
        new Set(sent),
        new Set([defaultCompany, otherCompany].map(({ guid, id }) => `/v2/company/${id}/time_punches ${guid} ${token}`))
      )
      assert.strictEqual((yield* requestTimes).length, 1)
    }).pipe(Effect.provide(app({}, staggered()))))

  it.effect("uses its guid for its company only, and sends nothing for another without one", () =>
    Effect.gen(function*() {
      yield* TimePunches.page(company.id)
      const error = yield* Effect.flip(TimePunches.page(stranger.id))
      const [request, ...more] = yield* pageRequests

      assert.deepInclude(error, { _tag: "InvalidRequest", field: "company.guid", companyId: stranger.id })
      assert.strictEqual(request?.headers["x-company-guid"], defaultCompany.guid)
      assert.deepStrictEqual(more, [])
    }).pipe(Effect.provide(app({}, undefined, Credentials.layerOAuth({ ...oauthClient, company })))))

  it.effect("lists every punch once while its tokens are revoked", () =>
    Effect.gen(function*() {
      yield* inject(Fault.tokenRevoked, { requests: [3, 5, 8, 12] })
      const fiber = yield* Effect.forkChild(Stream.runCollect(TimePunches.list(company, {}, { pageSize: 4 })))
      yield* TestClock.adjust("1 minute")
      const ids = (yield* Fiber.join(fiber)).map(({ id }) => Number(id))

      assert.deepStrictEqual(ids.toSorted(), punches.map(({ id }) => id).toSorted())
      assert.strictEqual(new Set(ids).size, punches.length)
      assert.strictEqual((yield* requestTimes).length, 1 + 4)
    }).pipe(Effect.provide(app())))

  it.effect("lists every punch once when a token lives no longer than a page takes", () =>
    Effect.gen(function*() {
      const service = yield* FakeService
      const fiber = yield* Effect.forkChild(Stream.runCollect(TimePunches.list(company, {}, { pageSize: 4 })))
      yield* TestClock.adjust("1 minute")
      const ids = (yield* Fiber.join(fiber)).map(({ id }) => Number(id))
      const times = yield* requestTimes

      assert.strictEqual(new Set(ids).size, punches.length)
      assert.strictEqual(ids.length, punches.length)
      assert.isAtLeast(times.length, 5)
      assert.isAtLeast(Math.min(...gaps(times)), 1)
      assert.isAtMost(yield* service.maxInFlight, 2)
    }).pipe(Effect.provide(app({ latency: "600 millis", tokenLifetime: "2 seconds" }))))
})

describe("Over a socket", () => {
  it.live.each(transports)(
    "a token request without waiters is closed, with $transport",
    ({ http }) =>
      Effect.gen(function*() {
        const service = yield* FakeService
        const { url } = yield* FakeServer
        yield* injectTokenFault(Fault.stallBeforeHeaders)
        yield* Effect.gen(function*() {
          const fibers = yield* Effect.all(Array.from({ length: 20 }, () => Effect.forkChild(page)))
          yield* eventually(Effect.map(service.inFlight, (count) => assert.strictEqual(count, 1)))
          yield* Fiber.interruptAll(fibers)
          yield* eventually(Effect.map(service.inFlight, (count) => assert.strictEqual(count, 0)))
          yield* clearFaults
          yield* page

          assert.strictEqual((yield* requestTimes).length, 2)
        }).pipe(Effect.provide(
          TimePunches.layer.pipe(
            Layer.provide(oauth),
            Layer.provide(Endpoints.layer({ baseUrl: url })),
            Layer.provide(http)
          )
        ))
      }).pipe(Effect.provide(FakeServer.layer().pipe(Layer.provideMerge(FakeService.layer({ punches })))))
  )
})

describe("TokenCache in random schedules", () => {
  const moods: readonly [Fault | undefined, ...ReadonlyArray<Fault | undefined>] = [
    undefined,
    undefined,
    Fault.expiresIn(0),
    Fault.expiresIn(1),
    Fault.expiresIn(5),
    Fault.expiresIn(60),
    Fault.expiresIn(undefined),
    Fault.slow("4 seconds"),
    Fault.stallBeforeHeaders,
    Fault.reset,
    Fault.cutBody(),
    Fault.html200,
    Fault.status(400),
    Fault.status(401),
    Fault.status(500),
    Fault.status(429),
    Fault.retryAfter("7"),
    Fault.retryAfter("90")
  ]
  const waits = [0, 1, 50, 299, 300, 301, 900, 1000, 5000, 31_000, 150_000, 3_300_000] as const

  /** The tokens that callers got, and the generations that the service refused. */
  interface History {
    readonly given: Array<TokenLife>
    readonly refused: Set<number>
  }

  const newest = ({ given, refused }: History): { readonly generation: number; readonly renewAt: bigint } => {
    const [first, ...others] = given
    if (first === undefined) return { generation: 0, renewAt: BigInt(0) }
    const { generation, renewAt } = others.reduce((a, b) => b.generation > a.generation ? b : a, first)
    return { generation, renewAt: refused.has(generation) ? BigInt(0) : renewAt }
  }

  interface Caller {
    readonly fiber: Fiber.Fiber<Result.Result<TokenLife, TokenError>>
    /** When it started. */
    readonly startedAt: bigint
    /** The generation of the newest token that any caller had by then. */
    readonly newest: number
  }

  const now = Clock.monotonicTimeNanos

  /** Runs one schedule and checks the invariants at each of its steps. */
  const run = (seed: number) => {
    const draw = prng(seed)
    const history: History = { given: [], refused: new Set() }
    const watched: Between = (respond, request) =>
      Effect.flatMap(now, (at) => {
        const { renewAt } = newest(history)
        assert.isTrue(at >= renewAt, "requested a token although the current one was good")
        return respond(request)
      })
    const latency = draw.pick([0, 1, 300])
    return Effect.provide(schedule(draw, history, latency), cacheOf({ latency }, watched))
  }

  const schedule = Effect.fnUntraced(function*(
    { between, chance, pick }: Prng,
    { given, refused }: History,
    latency: number
  ) {
    const service = yield* FakeService
    const cache = yield* TokenCache
    const callers: Array<Caller> = []
    const refusals: Array<number> = []

    // In some schedules callers take turns after very few steps; they must all wait before the clock moves.
    const turns = chance(0.1) ? between(5, 50) : 2048
    const settle = turns < 2048 ? Effect.repeat(Effect.yieldNow, { times: 200 }) : Effect.void
    const pass = (duration: Duration.Input) => Effect.andThen(settle, TestClock.adjust(duration))

    const call = Effect.gen(function*() {
      const startedAt = yield* now
      const fiber = yield* Effect.forkChild(
        Effect.result(
          Effect.flatMap(
            Effect.map(cache.get, (token): TokenLife => untyped(token)),
            (token) =>
              Effect.flatMap(now, (at) =>
                Effect.sync(() => {
                  answered(caller, token, at)
                  return token
                }))
          )
        ).pipe(Effect.provideService(Scheduler.MaxOpsBeforeYield, turns))
      )
      const caller: Caller = {
        fiber,
        startedAt,
        newest: newest({ given, refused }).generation
      }
      callers.push(caller)
    })

    const answered = (caller: Caller, token: TokenLife, at: bigint) => {
      given.push(token)
      assert.isAtLeast(token.generation, caller.newest)
      if (at < token.expiresAt) return
      // A token without lifetime answers the callers that waited for it, and no others.
      const waited = latency === 0 || at > caller.startedAt
      assert.isTrue(waited && token.generation > caller.newest, "a token past its end")
    }

    const steps: readonly [Effect.Effect<void>, ...ReadonlyArray<Effect.Effect<void>>] = [
      call,
      call,
      Effect.suspend(() => Effect.forEach(Array.from({ length: between(2, 5) }), () => call, { discard: true })),
      Effect.suspend(() => pass(pick(waits))),
      Effect.suspend(() => pass(pick(waits))),
      Effect.suspend(() => pass(between(0, 3000))),
      Effect.suspend(() => {
        const waiting = callers.filter(({ fiber }) => fiber.pollUnsafe() === undefined)
        const leaving = chance(0.3) ? waiting : waiting.filter(() => chance(0.4))
        return Fiber.interruptAll(leaving.map(({ fiber }) => fiber))
      }),
      Effect.gen(function*() {
        const token = chance(0.7) ? given.at(-1) : given[between(0, given.length - 1)]
        if (token === undefined) return
        refusals.push((yield* Clock.currentTimeMillis) / 1000)
        refused.add(token.generation)
        yield* cache.invalidate(token)
      }),
      Effect.suspend(() => {
        const fault = pick(moods)
        const when = chance(0.5) ? {} : { times: between(1, 3) }
        return Effect.andThen(
          service.clearFaults,
          fault === undefined ? Effect.void : service.inject(fault, { ...when, target: "token" })
        )
      })
    ]
    for (let step = 0; step < 25; step++) yield* pick(steps)

    yield* service.clearFaults
    yield* pass("400 seconds")
    for (const { fiber } of callers) {
      const exit = fiber.pollUnsafe()
      assert.isDefined(exit, "a caller hangs")
      if (exit !== undefined && Exit.hasDies(exit)) yield* exit
    }
    yield* call
    yield* pass("3 seconds")
    const last = callers.at(-1)?.fiber.pollUnsafe()
    assert.isTrue(last !== undefined && Exit.isSuccess(last) && Result.isSuccess(last.value), "the next one fails")
    assert.isAtMost(yield* service.maxInFlight, 1)

    const times = yield* requestTimes
    const pauses = gaps(times)
    let immediate = 0
    pauses.forEach((gap, index) => {
      if (gap >= 1) return
      immediate += 1
      assert.isAtLeast(pauses[index - 1] ?? 1, 1, "two requests in a row that skip the wait")
      const [from = 0, to = 0] = times.slice(index)
      assert.isTrue(refusals.some((at) => from <= at && at <= to), "a request that skips the wait without a refusal")
    })
    return { requests: times.length, immediate, given: given.length }
  })

  it.effect("keeps its invariants in two thousand random schedules", () =>
    Effect.gen(function*() {
      const totals = { requests: 0, immediate: 0, given: 0 }
      for (let seed = 1; seed <= 2000; seed++) {
        const { given, immediate, requests } = yield* run(seed).pipe(
          Effect.catchDefect((defect) => Effect.die(new Error(`seed ${seed}: ${defect}`)))
        )
        totals.requests += requests
        totals.immediate += immediate
        totals.given += given
      }
      assert.isAbove(totals.requests, 2000)
      assert.isAbove(totals.immediate, 50)
      assert.isAbove(totals.given, 7000)
    }))
})
