/** The retry loop and its budget, in virtual time. */
import { assert, describe, it } from "@effect/vitest"
import { Clock, Duration, Effect, Exit, Option, Random } from "effect"
import { TestClock } from "effect/testing"
import { makeBudget, type Retry, retry, transientRetry } from "../../../src/internal/resilience/retry.ts"
import { letTimePass } from "../../support/time.ts"

const limits = {
  attempts: 4,
  total: 120_000,
  baseDelay: 200,
  throttleDelay: 5000,
  maxDelay: 20_000,
  retryAfterCap: 60_000
}

/** A failure is the way in which it may be retried; `undefined` is permanent. */
type Failure = { readonly retry: Retry | undefined }

const transient: Failure = { retry: transientRetry("reset") }
const permanent: Failure = { retry: undefined }
const after = (millis: number, throttled = false): Failure => ({
  retry: transientRetry("503", { throttled, retryAfter: Option.some(Duration.millis(millis)) })
})

/** Fails with each of these in turn, then succeeds; tells how it ended, its attempts, its waits, and the budget left. */
const run = (
  failures: ReadonlyArray<Failure>,
  options: { readonly limits?: Partial<typeof limits>; readonly budget?: number; readonly started?: bigint } = {}
) =>
  Effect.gen(function*() {
    const budget = makeBudget(options.budget ?? 500)
    const waits: Array<number> = []
    let attempts = 0
    const began = yield* Clock.currentTimeMillis
    const exit = yield* letTimePass(Effect.exit(retry({
      attempt: Effect.suspend(() => {
        const failure = failures[attempts++]
        return failure === undefined ? Effect.succeed("done") : Effect.fail(failure)
      }),
      ...(options.started === undefined ? {} : { started: options.started }),
      retryOf: (failure) => failure.retry,
      limits: { ...limits, ...options.limits },
      budget,
      onRetry: (_retry, { delay }) => Effect.sync(() => void waits.push(delay))
    })))
    return { exit, attempts, waits, took: (yield* Clock.currentTimeMillis) - began, left: leftOf(budget, 500) }
  })

/** The tokens in a budget. Takes them. */
const leftOf = (budget: ReturnType<typeof makeBudget>, most: number) => {
  let left = 0
  while (left < most && budget.take(1)) left++
  return left
}

describe("transientRetry", () => {
  it("is not limited, not throttled and waits for the backoff", () => {
    assert.deepStrictEqual(transientRetry("reset"), {
      kind: "reset",
      limit: Infinity,
      throttled: false,
      retryAfter: Option.none()
    })
  })

  it("takes what is given", () => {
    const retryAfter = Option.some(Duration.seconds(3))

    assert.deepStrictEqual(transientRetry("429", { limit: 2, throttled: true, retryAfter }), {
      kind: "429",
      limit: 2,
      throttled: true,
      retryAfter
    })
  })
})

describe("makeBudget", () => {
  it("gives out its capacity and no more", () => {
    const budget = makeBudget(20)

    assert.deepStrictEqual([budget.take(14), budget.take(14), budget.take(5), budget.take(5)], [
      true,
      false,
      true,
      false
    ])
  })

  it("takes back up to its capacity", () => {
    const budget = makeBudget(20)
    budget.take(14)
    budget.give(100)

    assert.strictEqual(leftOf(budget, 500), 20)
  })
})

describe("retry", () => {
  it.effect("runs once where the first attempt succeeds", () =>
    Effect.gen(function*() {
      const { attempts, exit, waits } = yield* run([])

      assert.deepStrictEqual({ attempts, exit, waits }, { attempts: 1, exit: Exit.succeed("done"), waits: [] })
    }))

  it.effect("retries until an attempt succeeds, and waits for Retry-After", () =>
    Effect.gen(function*() {
      const { attempts, exit, took, waits } = yield* run([after(300), after(1500)])

      assert.deepStrictEqual({ attempts, exit }, { attempts: 3, exit: Exit.succeed("done") })
      assert.deepStrictEqual(waits, [300, 1500])
      assert.isAtLeast(took, 1800)
    }))

  it.effect("does not retry a permanent failure", () =>
    Effect.gen(function*() {
      const { attempts, exit } = yield* run([transient, permanent])

      assert.deepStrictEqual({ attempts, exit }, { attempts: 2, exit: Exit.fail(permanent) })
    }))

  it.effect("fails with the last failure when the attempts are used up", () =>
    Effect.gen(function*() {
      const { attempts, exit } = yield* run([transient, transient, transient, after(1)])

      assert.deepStrictEqual({ attempts, exit }, { attempts: 4, exit: Exit.fail(after(1)) })
    }))

  it.effect("counts the limit of a kind for that kind alone", () =>
    Effect.gen(function*() {
      const once = (kind: string): Failure => ({ retry: transientRetry(kind, { limit: 1 }) })

      assert.strictEqual((yield* run([once("a"), once("b"), transient])).attempts, 4)
      assert.strictEqual((yield* run([once("a"), transient, once("a")])).attempts, 3)
    }))

  it.effect("fails at once where Retry-After exceeds its cap", () =>
    Effect.gen(function*() {
      const { attempts, exit, waits } = yield* run([after(60_001)])

      assert.deepStrictEqual({ attempts, exit, waits }, { attempts: 1, exit: Exit.fail(after(60_001)), waits: [] })
      assert.strictEqual((yield* run([after(60_000)])).attempts, 2)
    }))

  it.effect("fails at once where the wait would reach the total time", () =>
    Effect.gen(function*() {
      const { exit, waits } = yield* run([after(40_000), after(40_000), after(40_000)], {
        limits: { total: 120_000 }
      })

      assert.deepStrictEqual(exit, Exit.fail(after(40_000)))
      assert.deepStrictEqual(waits, [40_000, 40_000])
    }))

  it.effect("counts the total time from `started`", () =>
    Effect.gen(function*() {
      yield* TestClock.adjust("100 seconds")
      const early = yield* Clock.monotonicTimeNanos
      yield* TestClock.adjust("90 seconds")

      assert.strictEqual((yield* run([after(40_000)], { started: early })).attempts, 1)
      assert.strictEqual((yield* run([after(40_000)])).attempts, 2)
    }))

  it.effect("fails at once where the budget does not cover the retry", () =>
    Effect.gen(function*() {
      const { attempts, left } = yield* run([transient, transient], { budget: 20 })

      assert.deepStrictEqual({ attempts, left }, { attempts: 2, left: 6 })
    }))

  it.effect("pays 14 for a retry and 5 for a throttled one", () =>
    Effect.gen(function*() {
      assert.strictEqual((yield* run([transient, permanent], { budget: 100 })).left, 86)
      assert.strictEqual((yield* run([after(1, true), permanent], { budget: 100 })).left, 95)
    }))

  it.effect("gets back what it paid when an attempt succeeds", () =>
    Effect.gen(function*() {
      assert.strictEqual((yield* run([transient, after(1, true)], { budget: 100 })).left, 100)
    }))

  it.effect("gets one token for a first attempt that succeeds", () =>
    Effect.gen(function*() {
      const budget = makeBudget(20)
      budget.take(10)
      yield* retry({ attempt: Effect.void, retryOf: () => undefined, limits, budget, onRetry: () => Effect.void })

      assert.strictEqual(leftOf(budget, 500), 11)
    }))

  it.effect("waits for Retry-After after a throttle too, not for its steps", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual((yield* run([after(300, true)])).waits, [300])
    }))

  it.effect("waits at most the backoff, which doubles up to its maximum", () =>
    Effect.gen(function*() {
      const many = Array.from({ length: 12 }, () => transient)
      const { waits } = yield* run(many, { limits: { attempts: 13, maxDelay: 1000 } })

      assert.strictEqual(waits.length, 12)
      for (const [index, wait] of waits.entries()) assert.isAtMost(wait, Math.min(200 * 2 ** index, 1000))
    }))

  it.effect("waits 1, 3, 10 and 10 steps, or up to a fifth more, after a throttle without Retry-After", () =>
    Effect.gen(function*() {
      const throttled: Failure = { retry: transientRetry("429", { throttled: true }) }
      const { waits } = yield* run(Array.from({ length: 4 }, () => throttled), {
        limits: { attempts: 5, throttleDelay: 1000 }
      })

      assert.strictEqual(waits.length, 4)
      for (const [index, step] of [1000, 3000, 10_000, 10_000].entries()) {
        assert.isAtLeast(waits[index] ?? 0, step)
        assert.isAtMost(waits[index] ?? 0, step * 1.2)
      }
    }))

  it.effect("makes its last attempt after a block of a minute, and within the time of a page, whatever is drawn", () =>
    Effect.gen(function*() {
      const throttled: Failure = { retry: transientRetry("429", { throttled: true }) }
      for (let seed = 0; seed < 2000; seed++) {
        const { attempts, waits } = yield* Random.withSeed(run([throttled, throttled, throttled]), seed)
        const took = waits.reduce((sum, wait) => sum + wait, 0)
        assert.strictEqual(attempts, 4)
        assert.isAtLeast(took, 60_000)
        assert.isAtMost(took, 84_000)
      }
    }))
})
