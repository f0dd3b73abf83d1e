import { assert, describe, it } from "@effect/vitest"
import { Clock, Duration, Effect, Exit, Layer, Option, Stream } from "effect"
import { TestClock } from "effect/testing"
import { CompanyGuid, CompanyId, RetryPolicy, TimePunches } from "../src/index.ts"
import { defaultCompany, FakeService, Fault, generatePunches } from "../src/testing/index.ts"
import { accessToken, client, company, inject, oauth, pageRequests } from "./support/client.ts"
import { building, surfaces } from "./support/settings.ts"
import { letTimePass } from "./support/time.ts"
import { untyped } from "./support/untyped.ts"

const punches = generatePunches({ seed: 3, count: 60, companyId: defaultCompany.id, deletedShare: 0 })

/** A client with this policy, and its service. */
const under = <E>(policy: Layer.Layer<never, E>, credentials: Parameters<typeof client>[0] = accessToken) =>
  client(credentials).pipe(
    Layer.provide(policy),
    Layer.provide(FakeService.layerClient),
    Layer.provideMerge(FakeService.layer({ punches }))
  )

/**
 * One page under a lasting fault: its error, its end and the times of its attempts, in milliseconds since it began. The
 * clock does not start at zero, since a deadline must not be right only there.
 */
const failing = Effect.fnUntraced(function*(fault: Fault) {
  yield* inject(fault)
  yield* TestClock.adjust("1 hour")
  const began = yield* Clock.currentTimeMillis
  const run = Effect.flip(TimePunches.page(company))
  const [error, ended] = yield* letTimePass(Effect.all([run, Clock.currentTimeMillis]))
  return { error, ended: ended - began, at: (yield* pageRequests).map(({ at }) => at - began) }
})

const gaps = (at: ReadonlyArray<number>) => at.slice(1).map((time, index) => time - (at[index] ?? 0))

describe("RetryPolicy", () => {
  it.effect("is by default four attempts within their deadlines and a budget of 500", () =>
    Effect.gen(function*() {
      const { attempts, budget, ...durations } = yield* RetryPolicy

      assert.deepStrictEqual({ attempts, budget }, { attempts: 4, budget: 500 })
      assert.deepStrictEqual(Object.entries(durations).map(([setting, time]) => [setting, Duration.toMillis(time)]), [
        ["attemptTimeout", 30_000],
        ["pageTimeout", 120_000],
        ["baseDelay", 200],
        ["throttleDelay", 5000],
        ["maxDelay", 20_000],
        ["retryAfterCap", 60_000]
      ])
    }))

  it.effect("waits at random, at most 200 ms, 400 ms, 800 ms, before a retry", () =>
    Effect.gen(function*() {
      const longest = [0, 0, 0]
      for (let run = 0; run < 100; run++) {
        const { at, error } = yield* Effect.provide(failing(Fault.status(503)), under(Layer.empty))
        assert.deepInclude<object>(error, { _tag: "ServiceUnavailable", attempts: 4 })
        assert.strictEqual(at.length, 4)
        for (const [index, gap] of gaps(at).entries()) longest[index] = Math.max(longest[index] ?? 0, gap)
      }

      for (const [index, wait] of longest.entries()) {
        assert.isAtMost(wait, 200 * 2 ** index)
        assert.isAbove(wait, 100 * 2 ** index)
      }
    }))

  it.effect("waits 5, 15 and 50 seconds after a 429 without Retry-After, or up to a fifth more", () =>
    Effect.gen(function*() {
      const { at, error } = yield* failing(Fault.status(429))

      assert.strictEqual(error._tag, "RateLimited")
      const [first = 0, second = 0, third = 0] = gaps(at)
      for (const [wait, least] of [[first, 5000], [second, 15_000], [third, 50_000]] as const) {
        assert.isAtLeast(wait, least)
        assert.isAtMost(wait, least * 1.2)
      }
    }).pipe(Effect.provide(under(Layer.empty))))

  it.effect.each([Fault.status(429), Fault.retryAfter("1"), Fault.retryAfter("0")])(
    "makes one attempt where no throttle is waited for, and retries other failures: %j",
    (fault) =>
      Effect.gen(function*() {
        const { at, ended, error } = yield* failing(fault)
        assert.deepStrictEqual([error._tag, at.length, ended], ["RateLimited", 1, 0])
        yield* Effect.flatMap(FakeService, (fake) => Effect.andThen(fake.clearFaults, fake.clearRequests))
        assert.lengthOf((yield* failing(Fault.retryAfter("1", 503))).at, 4)
      }).pipe(Effect.provide(under(RetryPolicy.layer({ throttleDelay: Duration.infinity }))))
  )
})

describe("RetryPolicy.layer", () => {
  const changed = (options: Parameters<typeof RetryPolicy.layer>[0]) =>
    Effect.provide(Effect.map(RetryPolicy, (policy) => policy), RetryPolicy.layer(options))

  it.effect("changes only the settings that are given and not undefined", () =>
    Effect.gen(function*() {
      const defaults = yield* RetryPolicy

      assert.deepStrictEqual(yield* changed({}), defaults)
      assert.deepStrictEqual(yield* changed({ attempts: 7, maxDelay: "1 second" }), {
        ...defaults,
        attempts: 7,
        maxDelay: "1 second"
      })
      assert.deepStrictEqual(yield* changed({ attempts: undefined, pageTimeout: undefined }), defaults)
    }))

  const wrong: ReadonlyArray<readonly [string, unknown]> = [
    ...[0, -1, 1.5, NaN, Infinity, "4", null].map((value) => ["attempts", value] as const),
    ...[-1, NaN, "many"].map((value) => ["budget", value] as const),
    ...["attemptTimeout", "pageTimeout", "baseDelay", "throttleDelay", "maxDelay", "retryAfterCap"].flatMap((setting) =>
      [-1, "-3 seconds", "canary", "5 canaries", null].map((value) => [setting, value] as const)
    )
  ]

  it.effect.each(wrong)(
    "refuses %s %j, by its name and without its value",
    ([setting, value]) =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(building(RetryPolicy.layer(untyped({ [setting]: value }))))

        assert.strictEqual(error._tag, "ConfigError")
        assert.include(error.message, `${setting} must be`)
        assert.notInclude(surfaces(error), "canar")
      })
  )

  it.effect.each<readonly [object, string]>([
    [{ attempt: 2 }, "attempt is not an option; did you mean attempts?"],
    [{ attemptTimeOut: "1 second" }, "attemptTimeOut is not an option; did you mean attemptTimeout?"],
    [{ retries: undefined }, "retries is not an option"]
  ])("refuses a name that is not a setting: %j", ([options, message]) =>
    Effect.gen(function*() {
      const given: Parameters<typeof RetryPolicy.layer>[0] = untyped(options)
      const client = TimePunches.layerWith({ baseUrl: "https://a.test", credentials: accessToken, retry: given })
      const ofLayer = yield* Effect.flip(building(RetryPolicy.layer(given)))
      const ofClient = yield* Effect.flip(building(Layer.provide(client, FakeService.layerClient)))

      for (const error of [ofLayer, ofClient]) {
        assert.strictEqual(error._tag, "ConfigError")
        assert.match(error.message, new RegExp(`^.*${message.replace("?", "\\?")}(\n|$)`))
      }
    }).pipe(Effect.provide(FakeService.layer())))

  it.effect.each([1, 2, 6])("makes %d attempts", (attempts) =>
    Effect.gen(function*() {
      const { at, error } = yield* failing(Fault.status(500))

      assert.strictEqual(at.length, attempts)
      assert.strictEqual(error.attempts, attempts)
    }).pipe(Effect.provide(under(RetryPolicy.layer({ attempts })))))

  it.effect("waits no longer than maxDelay, and not at all without a baseDelay", () =>
    Effect.gen(function*() {
      const short = RetryPolicy.layer({ attempts: 9, maxDelay: "300 millis", baseDelay: "10 seconds" })
      const none = RetryPolicy.layer({ baseDelay: 0 })

      const waits = gaps((yield* Effect.provide(failing(Fault.reset), under(short))).at)
      assert.strictEqual(waits.length, 8)
      assert.isAtMost(Math.max(...waits), 300)
      assert.deepStrictEqual((yield* Effect.provide(failing(Fault.reset), under(none))).at.length, 4)
      assert.strictEqual(Math.max(...gaps((yield* Effect.provide(failing(Fault.reset), under(none))).at)), 0)
    }))

  it.effect("waits as long as Retry-After says, up to retryAfterCap, and fails at once beyond it", () =>
    Effect.gen(function*() {
      const policy = under(RetryPolicy.layer({ retryAfterCap: "10 seconds", attempts: 2 }))
      const within = yield* Effect.provide(failing(Fault.retryAfter("10")), policy)
      const beyond = yield* Effect.provide(failing(Fault.retryAfter("11")), policy)

      assert.deepStrictEqual(gaps(within.at), [10_000])
      assert.deepStrictEqual(beyond.at.length, 1)
      assert.deepStrictEqual(
        beyond.error._tag === "RateLimited" && beyond.error.retryAfter,
        Option.some(Duration.seconds(11))
      )
    }))

  it.effect("bounds an attempt by attemptTimeout, and a page by pageTimeout", () =>
    Effect.gen(function*() {
      const policy = RetryPolicy.layer({
        attemptTimeout: "2 seconds",
        pageTimeout: "5 seconds",
        attempts: 9,
        baseDelay: 0
      })
      const { at, ended, error } = yield* Effect.provide(failing(Fault.stallBody()), under(policy))

      assert.deepInclude(error, { _tag: "TransportError", reason: "Timeout" })
      assert.deepStrictEqual(at, [0, 2000, 4000])
      assert.strictEqual(ended, 5000)
      assert.strictEqual(error.attempts, 3)
    }))

  it.effect("does not start a wait that would end after the deadline of the page", () =>
    Effect.gen(function*() {
      const policy = RetryPolicy.layer({ pageTimeout: "30 seconds" })
      const { ended, error } = yield* Effect.provide(failing(Fault.retryAfter("30")), under(policy))

      assert.strictEqual(error._tag, "RateLimited")
      assert.strictEqual(ended, 0)
    }))

  it.effect("accepts infinite durations", () =>
    Effect.gen(function*() {
      const policy = RetryPolicy.layer({ attemptTimeout: "Infinity", pageTimeout: Duration.infinity })
      const page = yield* Effect.provide(TimePunches.page(company), under(policy))

      assert.strictEqual(page.items.length, punches.length)
    }))

  it.effect("spends a budget that all pages of a client share, and that success refunds", () =>
    Effect.gen(function*() {
      yield* inject(Fault.status(503), { requests: [1, 3, 5, 6] })
      const page = TimePunches.page(company)
      // The first page spends 14 of 20 and refunds them; so does the second.
      yield* letTimePass(Effect.all([page, page]))
      const error = yield* letTimePass(Effect.flip(page))

      // The third page spends 14 and has no 14 left for its second failure.
      assert.strictEqual(error.attempts, 2)
      assert.strictEqual((yield* pageRequests).length, 6)
    }).pipe(Effect.provide(under(RetryPolicy.layer({ budget: 20 })))))

  it.effect("never has a larger budget than at first, however many pages succeed", () =>
    Effect.gen(function*() {
      const page = TimePunches.page(company)
      yield* Effect.all(Array.from({ length: 50 }, () => page))
      yield* inject(Fault.status(503))
      const error = yield* letTimePass(Effect.flip(page))

      // 20 are enough for one retry; with 50 on top there would be three.
      assert.strictEqual(error.attempts, 2)
    }).pipe(Effect.provide(under(RetryPolicy.layer({ budget: 20 })))))

  it.effect("is one for the companies of a client, and full again after an outage in front of the service", () => {
    const companies = [5001, 5002, 5003].map((company) => ({
      id: CompanyId.make(company),
      guid: CompanyGuid.make(`3b2f7c1e-5a94-4d0b-8e6f-${String(company).padStart(12, "0")}`)
    }))
    return Effect.gen(function*() {
      const all = Effect.forEach(companies, (company) => Effect.exit(TimePunches.page(company)), {
        concurrency: "unbounded"
      })
      /** How many requests three pages of each company make. */
      const requested = Effect.gen(function*() {
        const before = (yield* pageRequests).length
        const ended = yield* letTimePass(Effect.all([all, all, all]))
        return { requests: (yield* pageRequests).length - before, failed: ended.flat().filter(Exit.isFailure).length }
      })
      yield* inject(Fault.status(522, { body: "html" }))
      // A retry costs 14 of 500: nine pages have three retries each, the next nine share the eight that are left.
      assert.deepStrictEqual(yield* requested, { requests: 9 + 27, failed: 9 })
      assert.deepStrictEqual(yield* requested, { requests: 9 + 8, failed: 9 })
      assert.deepStrictEqual(yield* requested, { requests: 9, failed: 9 })

      yield* FakeService.use((service) => service.clearFaults)
      assert.deepStrictEqual(yield* requested, { requests: 9, failed: 0 })
      // Each success gives one back: with the ten that were left, that is one retry.
      yield* inject(Fault.status(522, { body: "html" }))
      assert.deepStrictEqual(yield* requested, { requests: 9 + 1, failed: 9 })
      yield* FakeService.use((service) => service.clearFaults)
      yield* Effect.repeat(all, { times: 180 })
      yield* inject(Fault.status(522, { body: "html" }))
      assert.deepStrictEqual(yield* requested, { requests: 9 + 27, failed: 9 })
    }).pipe(Effect.provide(
      client(oauth).pipe(
        Layer.provide(FakeService.layerClient),
        Layer.provideMerge(FakeService.layer({
          companies: companies.map(({ guid, id }) => ({ id, guid, accessToken: `token-${id}` }))
        }))
      )
    ))
  })

  it.effect("spends less on a throttled retry, and retries nothing without a budget", () =>
    Effect.gen(function*() {
      const throttled = yield* Effect.provide(failing(Fault.status(429)), under(RetryPolicy.layer({ budget: 10 })))
      const none = yield* Effect.provide(failing(Fault.status(503)), under(RetryPolicy.layer({ budget: 0 })))

      assert.strictEqual(throttled.at.length, 3)
      assert.strictEqual(none.at.length, 1)
    }))
})

describe("RetryPolicy.layerNone", () => {
  it.effect("makes one attempt per page", () =>
    Effect.gen(function*() {
      const { at, error } = yield* failing(Fault.status(503))

      assert.deepStrictEqual(at, [0])
      assert.strictEqual(error.attempts, 1)
    }).pipe(Effect.provide(under(RetryPolicy.layerNone))))

  it.effect("still replays a page once after a 401 that a new token resolves", () =>
    Effect.gen(function*() {
      yield* inject(Fault.tokenRevoked, { requests: 1 })
      const page = yield* TimePunches.page(company)

      assert.strictEqual(page.items.length, punches.length)
      assert.strictEqual((yield* pageRequests).length, 2)
    }).pipe(Effect.provide(under(RetryPolicy.layerNone, oauth))))

  it.effect("still has deadlines", () =>
    Effect.gen(function*() {
      const { at, error } = yield* failing(Fault.stallBeforeHeaders)

      assert.deepInclude(error, { _tag: "TransportError", reason: "Timeout" })
      assert.strictEqual(at.length, 1)
    }).pipe(Effect.provide(under(RetryPolicy.layerNone))))
})

describe("a policy that is provided", () => {
  const attempts = Effect.map(failing(Fault.status(503)), ({ at }) => at.length)
  const service = Layer.provideMerge(FakeService.layerClient, FakeService.layer())

  it.effect("takes effect when it is provided to the layer of the client, or around the whole program", () =>
    Effect.gen(function*() {
      const to = client().pipe(Layer.provide(RetryPolicy.layerNone), Layer.provideMerge(service))
      const around = client().pipe(Layer.provideMerge(service), Layer.provide(RetryPolicy.layerNone))

      assert.strictEqual(yield* Effect.provide(attempts, to), 1)
      assert.strictEqual(yield* Effect.provide(attempts, around), 1)
    }))

  it.effect("takes effect when it is provided beside that layer, or to the program only", () =>
    Effect.gen(function*() {
      const plain = client().pipe(Layer.provideMerge(service))

      assert.strictEqual(yield* Effect.provide(attempts, Layer.merge(plain, RetryPolicy.layerNone)), 1)
      assert.strictEqual(yield* attempts.pipe(Effect.provide(RetryPolicy.layerNone), Effect.provide(plain)), 1)
    }))

  it.effect("belongs to one client: another client has another one", () =>
    Effect.gen(function*() {
      const drain = Stream.runDrain(TimePunches.list(company))
      yield* inject(Fault.status(503), { requests: [1, 3] })
      const patient = client().pipe(Layer.provide(FakeService.layerClient))
      const strict = client().pipe(Layer.provide(RetryPolicy.layerNone), Layer.provide(FakeService.layerClient))
      yield* letTimePass(Effect.provide(drain, patient))
      const error = yield* Effect.flip(Effect.provide(drain, strict))

      assert.strictEqual(error._tag, "ServiceUnavailable")
    }).pipe(Effect.provide(FakeService.layer({ punches }))))
})
