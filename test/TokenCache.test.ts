import { assert, describe, it } from "@effect/vitest"
import {
  Clock,
  Context,
  Deferred,
  Duration,
  Effect,
  Exit,
  Fiber,
  Layer,
  Logger,
  Redacted,
  References,
  Result,
  Scheduler,
  Scope
} from "effect"
import { TestClock } from "effect/testing"
import { type CachedToken, TokenCache, type TokenError } from "../src/index.ts"
import { FakeService, Fault } from "../src/testing/index.ts"
import { askedAt, brief, cacheOf, gaps, get, grants, inject, mend } from "./support/tokens.ts"

const invalidate = (used: CachedToken) => TokenCache.use((cache) => cache.invalidate(used))

/** Starts a `get`, and lets it come as far as it does without time. */
const start = Effect.tap(Effect.forkChild(Effect.result(get)), () => TestClock.adjust(0))

/** What comes of a `get`, however long it takes. */
const outcome = Effect.gen(function*() {
  const fiber = yield* start
  yield* TestClock.adjust("2 minutes")
  return yield* Fiber.join(fiber)
})

const said = (result: Result.Result<CachedToken, TokenError>): string =>
  Result.match(result, { onSuccess: (token) => `generation ${token.generation}`, onFailure: brief })

/** One `get` a second, for so many seconds: what came of each that was answered at once. */
const everySecond = Effect.fnUntraced(function*(times: number) {
  const answers: Array<string> = []
  for (let second = 0; second < times; second++) {
    const fiber = yield* start
    const exit = fiber.pollUnsafe()
    answers.push(exit === undefined ? "waits" : Exit.isSuccess(exit) ? said(exit.value) : "died")
    yield* TestClock.adjust("1 second")
  }
  return answers
})

const Who = Context.Reference<string>("test/Who", { defaultValue: () => "nobody" })

/** The test's clock, but that its wall clock can be stepped while its monotonic one goes on as before. */
const steppedClock = TestClock.testClockWith((clock) => {
  let step = 0
  const wall = () => clock.currentTimeMillisUnsafe() + step
  const stepped: Clock.Clock = {
    ...clock,
    currentTimeMillisUnsafe: wall,
    currentTimeMillis: Effect.sync(wall),
    currentTimeNanosUnsafe: () => BigInt(wall()) * BigInt(1e6),
    currentTimeNanos: Effect.sync(() => BigInt(wall()) * BigInt(1e6))
  }
  return Effect.succeed({
    layer: Layer.succeed(Clock.Clock, stepped),
    stepBy: (millis: number) =>
      Effect.sync(() => {
        step += millis
      })
  })
})

const rejected = Fault.status(400)

describe("TokenCache.get", () => {
  it.effect("asks for nothing before it is run", () =>
    Effect.gen(function*() {
      yield* TokenCache
      yield* TestClock.adjust("1 hour")

      assert.deepStrictEqual(yield* askedAt, [])
    }).pipe(Effect.provide(cacheOf())))

  it.effect("answers from memory without waiting for anything", () =>
    Effect.gen(function*() {
      const cache = yield* TokenCache
      const first = yield* get

      assert.strictEqual(Effect.runSync(cache.get), first)
      assert.deepStrictEqual(yield* askedAt, [0])
    }).pipe(Effect.provide(cacheOf())))

  /** Lifetime, when the background renewal begins, when the token is not given out any more; in seconds. */
  const lives: ReadonlyArray<readonly [lifetime: number | undefined, renewAt: number, expiresAt: number]> = [
    [3600, 3300, 3570],
    [1000, 700, 970],
    [600, 300, 570],
    [400, 200, 370],
    [300, 150, 270],
    [undefined, 150, 270],
    [299, 149.5, 269.1],
    [60, 30, 54],
    [10, 5, 9],
    [90_000, 86_100, 86_370]
  ]

  describe.each(lives)("of a token that lives for %s seconds", (lifetime, renewAt, expiresAt) => {
    const app = cacheOf({ latency: "1 second" })
    const renewal = Duration.millis(renewAt * 1000 - 1000)
    const end = Duration.millis((expiresAt - renewAt) * 1000)

    it.effect(`renews it in the background from second ${renewAt} on`, () =>
      Effect.gen(function*() {
        yield* inject(Fault.expiresIn(lifetime))
        const first = yield* Effect.forkChild(get)
        yield* TestClock.adjust("1 second")
        const token = yield* Fiber.join(first)
        yield* TestClock.adjust(Duration.subtract(renewal, Duration.millis(1)))

        assert.strictEqual(yield* get, token)
        yield* TestClock.adjust("1 millis")
        assert.deepStrictEqual(yield* askedAt, [0])
        assert.strictEqual(yield* get, token)
        assert.strictEqual(yield* get, token)
        yield* TestClock.adjust("1 second")
        assert.strictEqual((yield* get).generation, 2)
        assert.deepStrictEqual(yield* askedAt, [0, renewAt])
      }).pipe(Effect.provide(app, { local: true })))

    it.effect(`does not give it out from second ${expiresAt} on`, () =>
      Effect.gen(function*() {
        yield* inject(Fault.expiresIn(lifetime))
        const first = yield* Effect.forkChild(get)
        yield* TestClock.adjust("1 second")
        const token = yield* Fiber.join(first)
        yield* TestClock.adjust(renewal)
        yield* TestClock.adjust(Duration.subtract(end, Duration.millis(1)))
        yield* mend
        yield* inject(Fault.stallBeforeHeaders)

        assert.strictEqual(yield* get, token)
        yield* TestClock.adjust("1 millis")
        const late = yield* start
        assert.isUndefined(late.pollUnsafe())
      }).pipe(Effect.provide(app, { local: true })))
  })

  it.effect("counts the life of a token from before its request", () =>
    Effect.gen(function*() {
      yield* TestClock.adjust("100 seconds")
      const fiber = yield* start
      yield* TestClock.adjust("5 seconds")
      const { expiresAt, renewAt } = yield* Effect.fromResult(yield* Fiber.join(fiber))

      assert.deepStrictEqual([renewAt, expiresAt], [BigInt(130e9), BigInt(154e9)])
    }).pipe(Effect.provide(cacheOf({ tokenLifetime: "1 minute", latency: "5 seconds" }))))

  it.effect("joins the renewal under way when the token ends meanwhile", () =>
    Effect.gen(function*() {
      yield* get
      yield* inject(Fault.slow("8 seconds"))
      yield* TestClock.adjust("3565 seconds")
      yield* get
      yield* TestClock.adjust("6 seconds")
      const late = yield* start
      yield* TestClock.adjust("2 seconds")

      assert.strictEqual(said(yield* Fiber.join(late)), "generation 2")
      assert.deepStrictEqual(yield* askedAt, [0, 3565])
    }).pipe(Effect.provide(cacheOf())))

  it.effect("gives a token without life to those who waited for it, and asks once a second for the others", () =>
    Effect.gen(function*() {
      yield* inject(Fault.expiresIn(0))
      const crowd = yield* Effect.all(Array.from({ length: 10 }, () => start))
      yield* TestClock.adjust("100 millis")
      const late = yield* start
      yield* TestClock.adjust("10 seconds")

      assert.deepStrictEqual(
        new Set((yield* Fiber.joinAll([...crowd, late])).map(said)),
        new Set(["generation 1", "generation 2"])
      )
      assert.deepStrictEqual(yield* askedAt, [0, 1])
    }).pipe(Effect.provide(cacheOf({ latency: "10 millis" }))))

  it.effect("does not ask twice within a second, however often it is run", () =>
    Effect.gen(function*() {
      yield* inject(Fault.expiresIn(1))
      for (let count = 0; count < 399; count++) {
        yield* start
        yield* TestClock.adjust("10 millis")
      }

      assert.deepStrictEqual(yield* askedAt, [0, 1, 2, 3])
    }).pipe(Effect.provide(cacheOf())))
})

describe("A background renewal that fails", () => {
  it.effect("leaves the old token in service until its end, and is tried again after 30 seconds", () =>
    Effect.gen(function*() {
      yield* get
      yield* inject(rejected)
      yield* TestClock.adjust("3290 seconds")
      const answers = yield* everySecond(281)

      assert.deepStrictEqual(answers, [
        ...Array.from({ length: 280 }, () => "generation 1"),
        "Rejected 400"
      ])
      assert.deepStrictEqual(yield* askedAt, [0, 3300, 3330, 3360, 3390, 3420, 3450, 3480, 3510, 3540, 3570])
    }).pipe(Effect.provide(cacheOf())))

  it.effect("is forgotten with the next success", () =>
    Effect.gen(function*() {
      yield* get
      yield* inject(Fault.status(401), { times: 1 })
      yield* TestClock.adjust("3300 seconds")
      const answers = yield* everySecond(40)

      assert.deepStrictEqual(answers, [
        ...Array.from({ length: 31 }, () => "generation 1"),
        ...Array.from({ length: 9 }, () => "generation 2")
      ])
      yield* TestClock.adjust("3200 seconds")
      assert.strictEqual((yield* get).generation, 2)
      assert.deepStrictEqual(yield* askedAt, [0, 3300, 3330])
    }).pipe(Effect.provide(cacheOf())))

  it.effect("is told to the log, without what the caller who noticed has to say about itself", () =>
    Effect.gen(function*() {
      const lines: Array<readonly [message: unknown, annotations: unknown]> = []
      const logger = Logger.make<unknown, void>(({ fiber, message }) => {
        lines.push([message, fiber.getRef(References.CurrentLogAnnotations)])
      })
      yield* Effect.gen(function*() {
        yield* get
        yield* inject(rejected)
        yield* TestClock.adjust("3300 seconds")
        yield* Effect.annotateLogs(get, { caller: "payroll" })
        yield* TestClock.adjust("1 second")
      }).pipe(Effect.provide(cacheOf()), Effect.provide(Logger.layer([logger])))

      assert.deepStrictEqual(lines, [[["token not renewed ahead of time: Rejected"], {}]])
    }))

  it.effect("is begun for sure by the one who noticed, however soon that one is interrupted", () =>
    Effect.gen(function*() {
      for (let turns = 0; turns < 40; turns++) {
        yield* Effect.gen(function*() {
          yield* get
          yield* TestClock.adjust("3300 seconds")
          const hasty = yield* Effect.forkChild(Effect.provideService(get, Scheduler.MaxOpsBeforeYield, 5))
          for (let turn = 0; turn < turns; turn++) yield* Effect.yieldNow
          yield* Fiber.interrupt(hasty)
          yield* get
          yield* TestClock.adjust("1 second")
          assert.strictEqual((yield* get).generation, 2, `interrupted after ${turns} turns`)
        }).pipe(Effect.provide(cacheOf()))
      }
    }))

  it.effect("keeps nobody waiting while it hangs", () =>
    Effect.gen(function*() {
      yield* get
      yield* inject(Fault.stallBeforeHeaders)
      yield* TestClock.adjust("3300 seconds")
      const answers = yield* everySecond(60)

      assert.deepStrictEqual(new Set(answers), new Set(["generation 1"]))
      assert.isAtMost((yield* askedAt).length, 1 + 2 * 3)
    }).pipe(Effect.provide(cacheOf())))

  it.effect("does not take a new token away that came by another way", () =>
    Effect.gen(function*() {
      const first = yield* get
      yield* inject(Fault.slow("3 seconds"), { times: 1 })
      yield* TestClock.adjust("3300 seconds")
      yield* get
      yield* invalidate(first)
      const waiting = yield* start
      yield* TestClock.adjust("3 seconds")

      assert.strictEqual(said(yield* Fiber.join(waiting)), "generation 2")
      assert.strictEqual((yield* get).generation, 2)
      assert.deepStrictEqual(yield* askedAt, [0, 3300])
    }).pipe(Effect.provide(cacheOf())))
})

describe("A token request that fails", () => {
  it.effect("is one for fifty waiters, who share its failure", () =>
    Effect.gen(function*() {
      yield* inject(rejected)
      const waiters = yield* Effect.all(Array.from({ length: 50 }, () => start))
      yield* TestClock.adjust("10 millis")
      const failures = yield* Fiber.joinAll(waiters)

      assert.deepStrictEqual(failures.map(said), Array.from({ length: 50 }, () => "Rejected 400"))
      assert.deepStrictEqual(yield* askedAt, [0])
    }).pipe(Effect.provide(cacheOf({ latency: "10 millis" }))))

  const lasting: ReadonlyArray<readonly [name: string, fault: Fault, failure: string, requests: number]> = [
    ["is answered with 500", Fault.status(500), "Transport 500", 3],
    ["is answered with 503", Fault.status(503), "Transport 503", 3],
    ["is reset", Fault.reset, "Transport", 3],
    ["is cut", Fault.cutBody(), "Transport", 3],
    ["is never answered", Fault.stallBeforeHeaders, "Transport", 3],
    ["is throttled", Fault.status(429), "Throttled 429", 3],
    ["is throttled for longer than it may take", Fault.retryAfter("31"), "Throttled 429", 1],
    ["is put off for longer than it may take", Fault.retryAfter("31", 503), "Transport 503", 1],
    ["is refused", Fault.status(400), "Rejected 400", 1],
    ["is refused for who asks", Fault.status(401), "InvalidClient 401", 1],
    ["is led elsewhere", Fault.redirect(307, "https://evil.test/"), "Rejected 307", 1],
    ["is answered with nonsense", Fault.html200, "Malformed 200", 1]
  ]

  it.effect.each(lasting)(
    "and %s is made no more than it makes sense",
    ([, fault, failure, requests]) =>
      Effect.gen(function*() {
        yield* inject(fault)

        assert.strictEqual(said(yield* outcome), failure)
        const times = yield* askedAt
        assert.strictEqual(times.length, requests)
        assert.isAtLeast(Math.min(...gaps(times), Infinity), 1)
        assert.isBelow(times.at(-1) ?? 0, 30)
      }).pipe(Effect.provide(cacheOf()))
  )

  it.effect.each([
    Fault.status(500),
    Fault.reset,
    Fault.stallBody(),
    Fault.retryAfter("9"),
    Fault.retryAfter("9", 503)
  ])(
    "twice with %j is made good by the third",
    (fault) =>
      Effect.gen(function*() {
        yield* inject(fault, { times: 2 })

        assert.strictEqual(said(yield* outcome), "generation 1")
        assert.strictEqual((yield* askedAt).length, 3)
      }).pipe(Effect.provide(cacheOf()))
  )

  it.effect("waits as long as it was told to", () =>
    Effect.gen(function*() {
      yield* inject(Fault.retryAfter("9"), { times: 2 })
      yield* outcome

      assert.deepStrictEqual(yield* askedAt, [0, 9, 18])
    }).pipe(Effect.provide(cacheOf())))

  it.effect("is told of as a wait in steps when it is throttled without a word", () =>
    Effect.gen(function*() {
      yield* inject(Fault.status(429))
      yield* outcome
      const [first = 0, second = 0, third = 0] = yield* askedAt

      assert.strictEqual(first, 0)
      assert.isTrue(second >= 4.5 && second <= 5.5)
      assert.isTrue(third - second >= 13.5 && third - second <= 16.5)
    }).pipe(Effect.provide(cacheOf())))

  /** For how many seconds the failure is given without asking again. */
  const kept: ReadonlyArray<readonly [name: string, fault: Fault, failure: string, seconds: number]> = [
    ["401", Fault.status(401), "InvalidClient 401", 30],
    ["400 invalid_client", Fault.status(400, { problem: { error: "invalid_client" } }), "InvalidClient 400", 30],
    ["400 invalid_scope", Fault.status(400, { problem: { error: "invalid_scope" } }), "InvalidClient 400", 30],
    ["429 for 45 seconds", Fault.retryAfter("45"), "Throttled 429", 45],
    ["429 for an hour", Fault.retryAfter("3600"), "Throttled 429", 300],
    ["429 until a date", Fault.retryAfter("Thu, 01 Jan 1970 00:02:00 GMT"), "Throttled 429", 120],
    ["429 until the end of time", Fault.retryAfter("99999999999999999999"), "Throttled 429", 300],
    ["429 until now", Fault.retryAfter("0"), "Throttled 429", 0],
    ["429 without a word", Fault.status(429), "Throttled 429", 0],
    ["503 for 45 seconds", Fault.retryAfter("45", 503), "Transport 503", 0],
    ["400", Fault.status(400), "Rejected 400", 0],
    ["200 without a token", Fault.emptyBody, "Malformed 200", 0]
  ]

  it.effect.each(kept)(
    "with %s is given without asking again for as long as it holds",
    ([, fault, failure, keep]) =>
      Effect.gen(function*() {
        yield* inject(fault)
        const fiber = yield* start
        let passed = 0
        for (; fiber.pollUnsafe() === undefined; passed++) yield* TestClock.adjust("1 second")
        assert.strictEqual(said(yield* Fiber.join(fiber)), failure)
        yield* mend
        const before = (yield* askedAt).length

        if (keep > 0) {
          yield* TestClock.adjust(Duration.millis(keep * 1000 - 1))
          assert.strictEqual(said(yield* Effect.result(get)), failure)
          assert.strictEqual((yield* askedAt).length, before)
          yield* TestClock.adjust("1 millis")
        } else {
          yield* TestClock.adjust("1 second")
        }
        assert.strictEqual(said(yield* Effect.result(get)), "generation 1")
      }).pipe(Effect.provide(cacheOf()))
  )

  it.effect("for good does not shorten the life of a token that is still good", () =>
    Effect.gen(function*() {
      yield* get
      yield* inject(Fault.status(401))
      yield* TestClock.adjust("3560 seconds")
      yield* get
      yield* TestClock.adjust("9999 millis")

      assert.strictEqual((yield* get).generation, 1)
      yield* TestClock.adjust("1 millis")
      assert.strictEqual(said(yield* Effect.result(get)), "InvalidClient 401")
      assert.deepStrictEqual(yield* askedAt, [0, 3560])
    }).pipe(Effect.provide(cacheOf())))
})

describe("A token request whose waiters go", () => {
  const app = () => cacheOf({ latency: "100 millis" })

  it.effect("goes on for those who stay", () =>
    Effect.gen(function*() {
      const leader = yield* start
      const others = yield* Effect.all(Array.from({ length: 100 }, () => start))
      yield* TestClock.adjust("50 millis")
      yield* Fiber.interrupt(leader)
      yield* TestClock.adjust("50 millis")
      const tokens = yield* Fiber.joinAll(others)

      assert.deepStrictEqual(tokens.map(said), Array.from({ length: 100 }, () => "generation 1"))
      assert.deepStrictEqual(yield* askedAt, [0])
    }).pipe(Effect.provide(app())))

  it.effect("is aborted with the last of them, and the next starts clean", () =>
    Effect.gen(function*() {
      const service = yield* FakeService
      const crowd = yield* Effect.all(Array.from({ length: 100 }, () => start))
      yield* TestClock.adjust("50 millis")
      assert.strictEqual(yield* service.inFlight, 1)
      yield* Fiber.interruptAll(crowd)
      assert.strictEqual(yield* service.inFlight, 0)
      const next = yield* start
      yield* TestClock.adjust("1049 millis")
      assert.isUndefined(next.pollUnsafe())
      yield* TestClock.adjust("1 millis")

      assert.strictEqual(said(yield* Fiber.join(next)), "generation 1")
      assert.deepStrictEqual(yield* askedAt, [0, 1])
    }).pipe(Effect.provide(app())))

  it.effect("is aborted while it waits for its second, or between two tries", () =>
    Effect.gen(function*() {
      yield* inject(Fault.status(503))
      const first = yield* start
      yield* TestClock.adjust("500 millis")
      yield* Fiber.interrupt(first)
      const second = yield* start
      yield* TestClock.adjust("400 millis")
      yield* Fiber.interrupt(second)
      yield* mend
      const third = yield* start
      yield* TestClock.adjust("200 millis")

      assert.strictEqual(said(yield* Fiber.join(third)), "generation 1")
      assert.deepStrictEqual(yield* askedAt, [0, 1])
    }).pipe(Effect.provide(app())))

  it.effect("is let end before the next one begins", () =>
    Effect.gen(function*() {
      const log: Array<string> = []
      const note = (text: string) =>
        Effect.map(
          TestClock.testClockWith((clock) => clock.currentTimeMillis),
          (now) => void log.push(`${text} ${now}`)
        )
      const slowToAbort = cacheOf({ latency: "2 seconds" }, (respond, request) =>
        Effect.andThen(note("asked"), respond(request)).pipe(
          Effect.onInterrupt(() =>
            Effect.andThen(Effect.sleep("3 seconds"), note("aborted"))
          )
        ))
      yield* Effect.gen(function*() {
        const first = yield* start
        yield* TestClock.adjust("1500 millis")
        yield* Effect.forkChild(Fiber.interrupt(first))
        yield* TestClock.adjust("10 millis")
        const second = yield* start
        yield* TestClock.adjust("10 seconds")
        assert.strictEqual(said(yield* Fiber.join(second)), "generation 1")
      }).pipe(Effect.provide(slowToAbort))

      assert.deepStrictEqual(log, ["asked 0", "aborted 4500", "asked 4500"])
    }))

  it.effect("is not made again for a caller who came as it ended", () =>
    Effect.gen(function*() {
      for (let turns = 0; turns < 40; turns++) {
        for (let steps = 0; steps < 8; steps++) {
          const gate = yield* Deferred.make<void>()
          const gated = cacheOf({}, (respond, request) => Effect.andThen(Deferred.await(gate), respond(request)))
          yield* Effect.gen(function*() {
            const first = yield* start
            yield* Deferred.succeed(gate, undefined)
            for (let turn = 0; turn < turns; turn++) yield* Effect.yieldNow
            const late = yield* Effect.repeat(Effect.void, { times: steps }).pipe(
              Effect.andThen(Effect.result(get)),
              Effect.provideService(Scheduler.MaxOpsBeforeYield, 8),
              Effect.forkChild
            )
            yield* TestClock.adjust("2 seconds")
            assert.deepStrictEqual(
              (yield* Fiber.joinAll([first, late])).map(said),
              ["generation 1", "generation 1"],
              `after ${turns} turns and ${steps} steps`
            )
          }).pipe(Effect.provide(gated))
        }
      }
    }))

  it.effect("goes on in the background when the one who noticed is gone", () =>
    Effect.gen(function*() {
      const first = yield* start
      yield* TestClock.adjust("3300 seconds")
      yield* Fiber.join(first)
      const impatient = yield* Effect.forkChild(Effect.andThen(get, Effect.never))
      yield* TestClock.adjust("50 millis")
      yield* Fiber.interrupt(impatient)
      yield* TestClock.adjust("50 millis")

      assert.strictEqual((yield* get).generation, 2)
    }).pipe(Effect.provide(app())))

  it.effect("in the background is aborted with the layer, and the token at hand stays good", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const context = yield* Layer.buildWithScope(app(), scope)
      const service = Context.get(context, FakeService)
      const { get } = Context.get(context, TokenCache)
      const first = yield* Effect.forkChild(get)
      yield* TestClock.adjust("3300 seconds")
      yield* Fiber.join(first)
      yield* get
      yield* TestClock.adjust("50 millis")
      assert.strictEqual(yield* service.inFlight, 1)
      yield* Scope.close(scope, Exit.void)

      assert.strictEqual(yield* service.inFlight, 0)
      assert.strictEqual((yield* get).generation, 1)
      yield* TestClock.adjust("1 minute")
      assert.strictEqual((yield* get).generation, 1)
    }))

  it.effect("of the layer that closes goes on for those who wait themselves", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const context = yield* Layer.buildWithScope(app(), scope)
      const waiting = yield* Effect.forkChild(Context.get(context, TokenCache).get)
      yield* TestClock.adjust("50 millis")
      yield* Scope.close(scope, Exit.void)
      yield* TestClock.adjust("50 millis")

      assert.strictEqual((yield* Fiber.join(waiting)).generation, 1)
    }))
})

describe("A token request", () => {
  it.effect("runs in the context of the layer, not of the caller who came first", () =>
    Effect.gen(function*() {
      const seen: Array<string> = []
      const app = cacheOf({}, (respond, request) =>
        Effect.flatMap(Who, (who) => {
          seen.push(who)
          return respond(request)
        }))
      yield* Effect.gen(function*() {
        yield* Effect.provideService(get, Who, "first caller")
        yield* TestClock.adjust("3300 seconds")
        yield* Effect.provideService(get, Who, "second caller")
        yield* TestClock.adjust("1 second")
      }).pipe(Effect.provide(app), Effect.provideService(Who, "layer"))

      assert.deepStrictEqual(seen, ["layer", "layer"])
    }))
})

describe("TokenCache.invalidate", () => {
  it.effect("drops the token that was used, and the next get asks at once", () =>
    Effect.gen(function*() {
      const first = yield* get
      yield* TestClock.adjust("10 millis")
      yield* invalidate(first)
      const second = yield* get

      assert.strictEqual(second.generation, 2)
      assert.notStrictEqual(Redacted.value(second.token), Redacted.value(first.token))
      assert.deepStrictEqual(yield* askedAt, [0, 0.01])
    }).pipe(Effect.provide(cacheOf())))

  it.effect("asks for nothing by itself", () =>
    Effect.gen(function*() {
      yield* Effect.flatMap(get, invalidate)
      yield* TestClock.adjust("1 hour")

      assert.deepStrictEqual(yield* askedAt, [0])
    }).pipe(Effect.provide(cacheOf())))

  it.effect("does not evict the successor of the token that was used", () =>
    Effect.gen(function*() {
      const first = yield* get
      yield* invalidate(first)
      const second = yield* get
      yield* invalidate(first)
      yield* invalidate({ ...first })

      assert.strictEqual(yield* get, second)
      assert.deepStrictEqual(yield* askedAt, [0, 0])
    }).pipe(Effect.provide(cacheOf())))

  it.effect("knows a token by its generation, since the service may issue the same text again", () =>
    Effect.gen(function*() {
      yield* inject(grants({ access_token: "always-the-same" }))
      const first = yield* get
      yield* invalidate(first)
      const second = yield* get
      yield* invalidate(first)

      assert.strictEqual(Redacted.value(second.token), Redacted.value(first.token))
      assert.strictEqual(yield* get, second)
      assert.strictEqual((yield* askedAt).length, 2)
    }).pipe(Effect.provide(cacheOf())))

  it.effect("hurries once: a service that refuses every token is asked once a second", () =>
    Effect.gen(function*() {
      const caller = yield* Effect.forkChild(Effect.forever(Effect.flatMap(get, invalidate)))
      yield* TestClock.adjust("1 millis")
      yield* TestClock.adjust("5 seconds")
      yield* Fiber.interrupt(caller)

      assert.deepStrictEqual(yield* askedAt, [0, 0, 1, 2, 3, 4, 5])
    }).pipe(Effect.provide(cacheOf())))

  it.effect("hurries again when an ordinary renewal lay between", () =>
    Effect.gen(function*() {
      yield* Effect.flatMap(get, invalidate)
      yield* get
      yield* TestClock.adjust("3300 seconds")
      yield* get
      yield* TestClock.adjust("10 millis")
      yield* Effect.flatMap(get, invalidate)
      yield* get

      assert.deepStrictEqual(yield* askedAt, [0, 0, 3300, 3300.01])
    }).pipe(Effect.provide(cacheOf())))

  it.effect("does not hurry a request that is tried again", () =>
    Effect.gen(function*() {
      yield* Effect.flatMap(get, invalidate)
      yield* inject(Fault.status(500))
      yield* outcome

      assert.deepStrictEqual(yield* askedAt, [0, 0, 1, 2])
    }).pipe(Effect.provide(cacheOf())))

  it.effect("counts a request that was waiting for its second as the one that need not wait", () =>
    Effect.gen(function*() {
      yield* inject(Fault.expiresIn(1), { times: 1 })
      yield* inject(Fault.status(500), { requests: 2 })
      const first = yield* get
      yield* TestClock.adjust("950 millis")
      const waiting = yield* start
      yield* invalidate(first)
      yield* TestClock.adjust("10 seconds")

      assert.strictEqual(said(yield* Fiber.join(waiting)), "generation 2")
      assert.deepStrictEqual(yield* askedAt, [0, 1, 2])
    }).pipe(Effect.provide(cacheOf())))

  it.effect("does not have a client asked for that was refused", () =>
    Effect.gen(function*() {
      const first = yield* get
      yield* inject(Fault.status(401))
      yield* TestClock.adjust("3300 seconds")
      yield* get
      yield* TestClock.adjust("1 second")
      yield* invalidate(first)

      assert.strictEqual(said(yield* Effect.result(get)), "InvalidClient 401")
      assert.deepStrictEqual(yield* askedAt, [0, 3300])
    }).pipe(Effect.provide(cacheOf())))
})

describe("The wall clock", () => {
  const hour = 3_600_000

  it.effect.each([-10 * hour, -hour, hour, 10 * hour])(
    "stepped by %i ms changes nothing for a token",
    (step) =>
      Effect.gen(function*() {
        const { layer, stepBy } = yield* steppedClock
        yield* Effect.gen(function*() {
          const first = yield* get
          yield* TestClock.adjust("100 seconds")
          yield* stepBy(step)
          yield* TestClock.adjust("3199 seconds")
          assert.strictEqual(yield* get, first)
          assert.strictEqual((yield* askedAt).length, 1)
          yield* TestClock.adjust("1 second")
          yield* inject(rejected)
          assert.strictEqual(yield* get, first)
          yield* TestClock.adjust("269999 millis")
          assert.strictEqual(yield* get, first)
          yield* TestClock.adjust("30 seconds")
          assert.strictEqual(said(yield* Effect.result(get)), "Rejected 400")
        }).pipe(Effect.provide(Layer.provideMerge(cacheOf(), layer)))
      })
  )

  it.effect.each([-hour, hour])(
    "stepped by %i ms neither keeps a failure longer nor drops it sooner",
    (step) =>
      Effect.gen(function*() {
        const { layer, stepBy } = yield* steppedClock
        yield* Effect.gen(function*() {
          yield* inject(Fault.status(401), { times: 1 })
          assert.strictEqual(said(yield* Effect.result(get)), "InvalidClient 401")
          yield* stepBy(step)
          yield* TestClock.adjust("29999 millis")
          assert.strictEqual(said(yield* Effect.result(get)), "InvalidClient 401")
          yield* TestClock.adjust("1 millis")
          assert.strictEqual((yield* get).generation, 1)
        }).pipe(Effect.provide(Layer.provideMerge(cacheOf(), layer)))
      })
  )

  it.effect("set back by an hour as TestClock does it changes nothing either", () =>
    Effect.gen(function*() {
      const first = yield* get
      yield* TestClock.adjust("3000 seconds")
      yield* TestClock.setTime(-600_000)
      yield* TestClock.adjust("299 seconds")
      assert.strictEqual(yield* get, first)
      assert.strictEqual((yield* askedAt).length, 1)
      yield* TestClock.adjust("1 second")
      yield* get
      yield* TestClock.adjust(0)

      assert.strictEqual((yield* get).generation, 2)
    }).pipe(Effect.provide(cacheOf())))

  it.effect("of the caller is not asked: a token ends by the clock that it was dated with", () =>
    Effect.gen(function*() {
      const first = yield* get
      yield* TestClock.adjust("3570 seconds")
      yield* inject(rejected)
      const result = yield* TestClock.testClockWith((clock) =>
        Effect.result(get).pipe(
          Effect.provideService(Clock.Clock, { ...clock, monotonicTimeNanosUnsafe: () => BigInt(0) })
        )
      )

      assert.strictEqual(first.generation, 1)
      assert.strictEqual(said(result), "Rejected 400")
    }).pipe(Effect.provide(cacheOf())))
})
